"""``mpinet run``: what it prints, and how it ends."""

import json
import re

import pytest

from mpinet.cli.session import CommandSession

PROGRAMS = """
def greet(node, word, times=1):
    yield node.send(node.ports, word * times)
    greetings = yield node.receive_each(node.ports)
    return sorted(greetings.values())


def deadlock(node):
    yield node.receive(0)


def division(node):
    yield node.idle(2)
    return node.id / (node.id - 3)


def neglect(node):
    yield node.send(0, "unread")
    return float("nan"), {"c", "a", "b"}, type(node), object(), {2: (1,)}
"""


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Runs a command; its status, and what it has printed on standard output and error."""
    (tmp_path / "own.py").write_text(PROGRAMS)
    monkeypatch.chdir(tmp_path)

    def run(command):
        status = CommandSession(command.split()).run()
        return status, *capsys.readouterr()

    return run


def test_a_program_of_ones_own_runs_on_every_processor(said):
    status, out, _ = said("run own.py:greet --on mesh:3 --arg ab --arg times=2 --json")
    document = json.loads(out)
    assert (status, document["topology"], document["model"]["ports"]) == (0, "mesh:3", "all")
    assert document["result"] == {
        "program": "own.py:greet",
        "processors": 3,
        "steps": 1,
        "messages": 4,
        "unreceived": 0,
        "unreceived_at": [],
        "values": [["abab"], ["abab", "abab"], ["abab"]],
    }


def test_a_person_reads_the_counts_and_the_first_values(said):
    status, out, _ = said("run own.py:greet --on mesh:2x9 --arg hi")
    assert status == 0
    assert out.startswith("own.py:greet on mesh:2x9\nprocessors  18\nsteps        1\n")
    assert re.search(r"\n +0 +0,0 +\['hi', 'hi'\]\n", out) and out.endswith(".. and 2 more\n")
    status, out, _ = said("run own.py:neglect --on ring:5")
    assert re.search(r"\nunreceived +5\n", out)
    assert re.search(r"\nfirst of these +1 at processor 0\n", out)
    assert "every processor returns ['nan', " in out


@pytest.mark.parametrize(
    ("command", "status", "sentence"),
    [
        ("own.py:deadlock --on ring:5", 1, "Deadlock after step 0: 5 processors wait"),
        ("own.py:division --on ring:5", 1, "Processor 3 after step 2, own.py:14 in division: Z"),
        ("own.py:greet --on ring:5 --arg a --ports one", 1, "Step 1: processor 0 sends on port 1"),
        ("own.py:greet --on ring:5", 2, "The program greet does not fit its arguments: missing"),
        ("own.py:nobody --on ring:5", 2, "own.py has no function 'nobody'."),
        ("none.py:greet --on ring:5", 2, "There is no file none.py."),
        ("own.py --on ring:5", 2, "'own.py' is not the name of a program: give FILE.py:NAME or"),
        ("own.py:greet --on ring:5 --routing far", 2, "ring:5 has no routing 'far'"),
        ("own.py:greet --on ring:5 --arg word=a --arg word=b", 2, "--arg: an argument is given"),
        ("own.py:greet", 2, "the following arguments are required: --on"),
    ],
)
def test_what_goes_wrong_is_told_with_a_status(said, command, status, sentence):
    told = said(f"run {command}")
    assert told[0] == status
    assert told[1] == "" and told[2].startswith(f"mpinet: {sentence}")
    told = said(f"run {command} --json")
    error = json.loads(told[1])
    assert (told[0], error["status"]) == (status, status) and error["error"].startswith(sentence)


def test_values_that_json_does_not_know_stand_as_text(said):
    status, out, _ = said("run own.py:neglect --on ring:3 --json")
    told = ["nan", ["a", "b", "c"], "<class 'mpinet.process.node.Node'>", "<object>", {"2": [1]}]
    assert (status, json.loads(out)["result"]["values"]) == (0, [told] * 3)
