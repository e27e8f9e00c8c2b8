"""The comparison of command lines under two checkouts finds what differs, and uses all options."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet.commands.catalogue import COMMANDS

FOLDER = Path(__file__).parents[2] / "commandlines"

PROGRAM = """
import json, sys
from pathlib import Path

word, status, field = {told}
if "--json" in sys.argv:
    print(json.dumps({{"result": [field], "seconds": status, "made": word}}))
elif "--size" in sys.argv:
    sys.exit(status)
elif "help" not in sys.argv:
    print("one", word, file=sys.stderr)
    print(word, file=open("written.txt", "w"))
"""
"""The program of a checkout that is made for a test."""


def checkout(folder: Path, *told: object) -> Path:
    """Make a checkout whose command has a word, a status and a field."""
    (folder / "mpinet").mkdir(parents=True)
    (folder / "mpinet/__init__.py").touch()
    (folder / "mpinet/__main__.py").write_text(PROGRAM.format(told=told))
    return folder


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        (("first", 3, 4), []),
        (
            ("two", 3, 4),
            [
                "mpinet show",
                "  command 1, standard error:",
                "    @@ -1 +1 @@",
                "    -one first",
                "    +one two",
                "  file written.txt:",
                "    @@ -1 +1 @@",
                "    -first",
                "    +two",
            ],
        ),
        (
            ("first", 5, 4),
            [
                "mpinet help ; show --size 3",
                "  command 2, status:",
                "    @@ -1 +1 @@",
                "    -3",
                "    +5",
            ],
        ),
        (
            ("first", 3, 8),
            [
                "mpinet show --json",
                "  command 1, standard output:",
                "    @@ -2,3 +2,3 @@",
                '      "result": [',
                "    -  4",
                "    +  8",
                "      ]",
            ],
        ),
    ],
)
def test_a_planted_difference_is_printed_with_its_line(tmp_path, planted, told):
    lines = tmp_path / "lines.txt"
    lines.write_text("# a comment\n\nshow\nshow --json\nhelp ; show --size 3\n")
    old = checkout(tmp_path / "old", "first", 3, 4)
    new = checkout(tmp_path / "new", *planted)
    words = [old, new, "--real", "--lines", lines, "--only", "show"]
    program = [sys.executable, FOLDER / "commandlines.py", *words]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    *differing, last = done.stdout.splitlines()
    assert differing == told, done.stderr
    assert last == f"3 lines compared, {bool(told):d} differ."
    assert done.returncode == bool(told)


def test_the_list_has_300_lines_of_all_commands_with_all_their_options(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    script = runpy.run_path(str(FOLDER / "commandlines.py"))
    lines = script["lines_of"](script["LINES"])
    assert len({*lines}) == len(lines) >= 300
    words = [sys.executable, str(script["PROBE"])]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout
    known = json.loads(told)
    assert known.keys() == COMMANDS.keys()
    assert ["--pairs", "--pattern"] in known["route"] and ["-o", "--output"] in known["draw"]
    assert [*script["unused"](lines, known)] == []
    assert [*script["unused"](["show ring:4"], {"show": [["--json"], ["-x", "--exact"]]})] == [
        "No line uses show --json.",
        "No line uses show -x|--exact.",
    ]
    assert [*script["unused"](["show ring:4"], {"flood": []})] == ["No line uses flood."]
