"""Claims judged here and by a program of its own lie side by side; what differs is told."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet.claims.independent import same
from mpinet.cli.session import CommandSession

HERE = Path(__file__)
OWN = str(HERE.with_name("own.py"))
PROGRAM = HERE.parents[2] / "independent/program.py"

SAYS = "import json; print(json.dumps({}))"
RINGS = {f"n={n}": n // 2 for n in range(3, 9)}


def program(folder, text):
    """A program in a file."""
    file = folder / "second.py"
    file.write_text(text)
    return str(file)


def verified(folder, text, *more):
    """Exit status and rows of the user's claims beside a program."""
    file, out = program(folder, text), folder / "rows.json"
    status = CommandSession(["verify", OWN, "--independent", file, "--out", str(out), *more]).run()
    return status, json.loads(out.read_text())["result"] if out.exists() else None


def test_a_program_that_finds_the_same_agrees(tmp_path, capsys):
    said = {
        "RING-D": {"verdict": "holds", "values": {**RINGS, "n=99": 0}},
        "RING-TABLE": {"verdict": "refuted", "values": {"": {"N=4": 2, "N=5": 2, "N=6": 3}}},
    }
    status, rows = verified(tmp_path, SAYS.format(said))
    assert status == 0
    assert [(row["id"], row["verdict"]) for row in rows] == [
        ("RING-D", "holds"),
        ("RING-TABLE", "refuted"),
    ]
    assert [row["independent"]["points"] for row in rows] == [len(RINGS), 1]
    assert all(row["independent"]["agrees"] for row in rows)
    assert "2 of 2 agree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "differing"),
    [
        ({"verdict": "refuted", "values": RINGS}, []),
        ({"verdict": "holds", "values": RINGS | {"n=5": 3}}, ["n=5"]),
        ({"verdict": "holds", "values": RINGS | {"n=5": 2.5}}, ["n=5"]),
    ],
)
def test_another_verdict_or_value_differs(tmp_path, answer, differing, capsys):
    status, rows = verified(tmp_path, SAYS.format({"RING-D": answer}))
    found = rows[0]["independent"]
    assert status == 1 and not found["agrees"]
    assert [point["point"] for point in found["differing"]] == differing
    assert "0 of 1 agree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("raise ValueError('no rings here')", "ended with status 1: ValueError: no rings here"),
        ("print('rings')", "must be one JSON object"),
        ("print('[1]')", 'has to print {"CLAIM"'),
        (SAYS.format({"RING-D": {"verdict": "maybe", "values": {}}}), 'has to print {"CLAIM"'),
        (SAYS.format({"STAR-D": {"verdict": "holds", "values": {}}}), "knows none of these claims"),
    ],
)
def test_a_program_that_says_nothing_of_use_is_refused(tmp_path, text, sentence, capsys):
    status, rows = verified(tmp_path, text)
    assert (status, rows) == (2, None)
    said = capsys.readouterr().err
    assert sentence in said and "Traceback" not in said


@pytest.mark.parametrize(
    "more",
    [["--html", "page.html"], ["--list"], ["--from", "rows.json"]],
)
def test_options_without_effect_are_refused(tmp_path, more, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    named = [] if "--from" in more else [OWN]
    words = ["verify", *named, "--independent", program(tmp_path, "print({})"), *more]
    assert CommandSession(words).run() == 2
    assert "does not apply with" in capsys.readouterr().err or "--from" in more
    assert CommandSession(["verify", OWN, "--independent", "no.py"]).run() == 2
    assert "there is no such file" in capsys.readouterr().err


def test_values_are_the_same_exactly_but_for_fractions():
    assert same({"a": [1, 2.0]}, {"a": [1, 2.0 + 1e-12]})
    assert not same(1.0, 1.001) and not same(True, 1) and not same("1", 1) and not same([1], [1, 1])


def test_the_second_implementation_shares_nothing_with_mpinet():
    for file in PROGRAM.parent.glob("*.py"):
        found = set(re.findall(r"^(?:from|import) (\w+)", file.read_text(), re.MULTILINE))
        beside = {path.stem for path in PROGRAM.parent.glob("*.py")}
        allowed = {"networkx", *beside, *sys.stdlib_module_names}
        assert found <= allowed, (file.name, found - allowed)


CHEAP = ("GBSN-F1-*", "GBSN-S3-size", "GMN-S-*deg*", "GMN-F2", "GMN-TB1-96-*", "HDN-Th1-nodes",
         "HDN-Tab3-1-3", "LENS-S3-*", "LENS-F2-B-saving", "STH-L3-lst-*", "STH-T1-m2",
         "STH-F3-*")  # fmt: skip

CHOOSING = f"""
import runpy, sys
from fnmatch import fnmatch
sys.path.insert(0, {str(PROGRAM.parent)!r})
import program
chosen = {{chosen!r}} or ("*",)
sys.argv[1:] = [id for id in program.CLAIMS if any(fnmatch(id, each) for each in chosen)]
runpy.run_path({str(PROGRAM)!r}, run_name="__main__")
"""
"""The second implementation, which finds no more than what is compared."""


@pytest.mark.parametrize("chosen", [CHEAP, pytest.param((), marks=pytest.mark.long, id="all")])
def test_both_implementations_find_the_same(chosen, tmp_path, capsys):
    out = tmp_path / "both.json"
    second = program(tmp_path, CHOOSING.format(chosen=chosen))
    words = ["verify", *chosen, "--independent", second, "--out", str(out)]
    assert CommandSession(words).run() == 0
    rows = json.loads(out.read_text())["result"]
    assert {row["paper"] for row in rows} == {"gbsn", "gmn", "hdn", "lens", "sth"}
    assert all(row["independent"]["points"] for row in rows)
    capsys.readouterr()


def test_the_program_knows_sixty_claims_at_least():
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import program; "
    code += "print(len(program.CLAIMS))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 60
