"""`mpinet demo` and the templates: what does not agree is said."""

import json
import re
import subprocess
from base64 import b64decode
from html import unescape
from pathlib import Path

import pytest

from mpinet.cli.session import CommandSession
from mpinet.errors import MpinetError
from mpinet.jobs.demopage import NETWORKS, TITLE, write_demo_page
from mpinet.launching import demo
from mpinet.launching.templates import TEMPLATES, template


def fail(*_) -> str:
    raise MpinetError("it went wrong")


def test_a_job_that_disagrees_with_its_closed_form_says_no() -> None:
    (job,) = (job for job in demo.JOBS if job.command == "broadcast")
    for steps, agrees in ((48, "yes"), (47, "NO")):
        document = json.dumps({"result": {"steps": steps, "informed": 32**3}})
        assert job.row(document)[-1] == agrees
    assert job.row(None)[-1] == "NO"


def test_a_demo_keeps_each_jobs_document(tmp_path: Path) -> None:
    assert (
        CommandSession(["demo", "-n", "1", "--results", str(tmp_path), "--page", "none"]).run() == 0
    )
    for job in demo.JOBS:
        document = json.loads((tmp_path / f"{job.command}.json").read_text())
        assert document["command"][:-1] == ["mpinet", *job.arguments.split()]
        assert job.agrees(document["result"])


def test_a_demo_with_a_failed_job_ends_with_1(monkeypatch, capsys) -> None:
    monkeypatch.setattr(demo, "launch_lines", fail)
    assert CommandSession(["demo", "-n", "1", "--page", "none"]).run() == 1
    said = capsys.readouterr()
    assert said.out.count(" NO") == len(demo.JOBS) and "it went wrong" in said.err


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A demo's page."""
    file = tmp_path_factory.mktemp("demo") / "demo.html"
    write_demo_page(file)
    return file.read_text()


def test_a_demos_page_has_three_pictures_and_a_line_for_every_message(page: str) -> None:
    pictures = [
        b64decode(text).decode()
        for text in re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', page)
    ]
    assert len(pictures) == 3 and all("<svg" in picture for picture in pictures)
    lines = re.findall(r'<g id="LineCollection_\d+">(.*?)</g>', pictures[2], re.DOTALL)
    counts = [each.count("<path") for each in lines]
    assert counts[-2:] == [32, 31]  # the informed processors, and a message to each but the root
    assert all(name in page for name in NETWORKS)


def test_a_demo_without_numba_has_no_curve_of_latency_and_names_what_it_needs(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("mpinet.jobs.demopage.can_compile", lambda: False)
    monkeypatch.setattr("mpinet.jobs.demopage.library_of_package", lambda: None)
    write_demo_page(tmp_path / "demo.html")
    page = (tmp_path / "demo.html").read_text()
    assert page.count("<figure>") == 2 and "mpinet[fast]" in page
    assert not all(name in page for name in NETWORKS)


def test_every_picture_of_a_demo_has_a_sentence_and_the_command_that_makes_it(
    page: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    figures = re.findall(
        r'base64,(.*?)" alt="(.*?)">\n<figcaption>(.*?)<pre><code>(.*?)</code>', page
    )
    assert len(figures) == 3
    for picture, alt, sentence, command in figures:
        assert alt == sentence and sentence.endswith(".")
        program, *words = unescape(command).split()
        assert program == "mpinet" and CommandSession(words).run() == 0
        (name,) = [word for word in words if word.endswith(".svg")]
        assert Path(name).read_bytes() == b64decode(picture)


def test_a_demo_overwrites_its_own_page_alone(monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "launch_lines", fail)
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "demo.html"
    page.write_text("somebody's work")
    assert CommandSession(["demo", "-n", "1"]).run() == 2
    assert "is no demo page" in capsys.readouterr().err
    assert page.read_text() == "somebody's work"
    monkeypatch.setattr("mpinet.jobs.demo.write_demo_page", lambda path: path.write_text(TITLE))
    page.unlink()
    for _ in ("new", "again"):
        assert CommandSession(["demo", "-n", "1"]).run() == 1
        assert page.read_text() == TITLE


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["demo", "-n", "0"], "the number of ranks is 1 or more"),
        (["demo", "--results", "/no/such/folder"], "its folder does not exist"),
        (["template", "pbs", "-o", 300 * "a"], "File name too long"),
        (["demo", "--results", 300 * "a"], "File name too long"),
        (["demo", "--results", __file__], "test_demo.py: File exists"),
        (["template", "lsf"], "invalid choice: 'lsf'"),
        (["doctor", "--jsn"], "doctor has no option --jsn: did you mean --json?"),
    ],
)
def test_wrong_words_get_a_sentence(capsys, typed: list[str], sentence: str) -> None:
    assert CommandSession(typed).run() == 2
    assert sentence in capsys.readouterr().err


def test_nothing_here_runs_on_every_rank_of_a_job(monkeypatch, capsys) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert CommandSession(["doctor"]).run() == 2
    assert "start the command without a launcher" in capsys.readouterr().err


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_names_no_folder_of_a_checkout(name: str) -> None:
    text = template(name)
    assert "launch/" not in text and "hostfiles/" not in text
    if not name.endswith("hosts"):
        done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_template_overwrites_nothing(tmp_path: Path, capsys) -> None:
    file = tmp_path / "job.sh"
    assert CommandSession(["template", "pbs", "-o", str(file)]).run() == 0
    assert file.read_text() == template("pbs")
    file.write_text("edited")
    assert CommandSession(["template", "pbs", "-o", str(file)]).run() == 2
    assert file.read_text() == "edited" and "already exists" in capsys.readouterr().err
