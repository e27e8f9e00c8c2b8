"""The report's PDF needs a browser, and says so before anything is built."""

import json
import shutil
import subprocess
import sys

import pytest
from launch.conftest import CHECKOUT


@pytest.fixture
def bare_path(tmp_path):
    """A PATH without a browser."""
    for program in ("bash", "dirname"):
        (tmp_path / program).symlink_to(shutil.which(program))
    return str(tmp_path)


@pytest.mark.parametrize("option", ["--pdf", "--report"])
def test_without_a_browser_a_pdf_is_refused_in_a_sentence(option, bare_path):
    command = [shutil.which("bash"), str(CHECKOUT / "launch" / "docs"), option]
    done = subprocess.run(command, env={"PATH": bare_path}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "launch/docs: --pdf and --report print with chromium, which is not there"
    )


@pytest.mark.parametrize("words", [["--ledger"], ["--paper"]])
def test_words_that_docs_does_not_know_are_refused(words):
    done = subprocess.run([CHECKOUT / "launch/docs", *words], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


ARTICLE = CHECKOUT / "docs/report/article.py"

READ = """
import sys
from pypdf import PdfReader
for page in PdfReader(sys.argv[1]).pages:
    print(page.extract_text())
"""


@pytest.mark.long
def test_the_report_is_also_a_replication_article(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    needed = ["pypandoc-binary", "typst", "pypdf"]
    subprocess.run([python, "-m", "pip", "install", "-q", *needed], check=True)
    if not (CHECKOUT / "docs/_build/html/report/index.html").exists():
        subprocess.run([CHECKOUT / "launch/docs"], check=True)
    subprocess.run([python, ARTICLE, tmp_path / "article.pdf"], check=True)
    command = [python, "-c", READ, tmp_path / "article.pdf"]
    text = " ".join(subprocess.check_output(command, text=True).split())
    for part in ("Replication / Computer science", "[Re] Five papers", "Reviewed by", "Abstract"):
        assert part in text
    for section in range(1, 9):
        assert f" {section}. " in text
    verdicts = json.loads((CHECKOUT / "docs/ledger/verdicts.json").read_text())["result"]
    papers = ("gbsn", "gmn", "hdn", "lens", "sth")
    stated = [row for row in verdicts if not row["ours"] and row["paper"] in papers]
    holding = sum(row["verdict"] == "holds" for row in stated)
    assert f"Of {len(stated)} statements {holding} hold" in text
    assert "best chordal ring" in text and "image.decode" not in text
