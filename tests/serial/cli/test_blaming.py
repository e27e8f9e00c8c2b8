"""An error in a user's own class, wherever it is called from, is a sentence with file and line."""

from pathlib import Path

import pytest

from mpinet.cli.session import CommandSession

OPERATORS = """import numpy as np
from mpinet import Topology, rule
from mpinet.programs.operators import Operator

class Sum(Operator):
    def oper(self, j, i, low, high):
        return low + high, low + high
    def expected(self, values):
        return np.full(len(values), values.sum())

class Ring(Topology):
    def __init__(self, n: int):
        super().__init__(f"{n}", size=n, ports=2)
    @rule
    def neighbor(node, port, params):
        return (node + 1 - 2 * port) % params[0]

"""
FIRST = OPERATORS.count("\n") + 1

OPERS = {
    "def oper(self, j, i, low, high): return values, both": "NameError: name 'values'",
    "def expected(self, values): return 1 // 0": "ZeroDivisionError",
    "def finish(self, state): return state.nothing": "AttributeError",
    "def draw(self, seed, q, index): raise OSError('gone')": "OSError: gone",
    "def prepare(self, values): return values[1000]": "IndexError",
    "def passes(self, kind, q): raise KeyError('q')": "KeyError",
    "def reads(self, kind, q, index): return missing": "NameError",
    "def holds(self, kind, q, index): return missing": "NameError",
}
"""Methods of an operator that raise, and what."""

RETURNS = (
    "def oper(self, j, i, low, high): pass",
    "def oper(self, j, i, low, high): return low, high, low",
    "def oper(self, j, i, low, high): return 'a', 'b'",
    "def prepare(self, values): return None",
    "def finish(self, state): return None",
    "def passes(self, kind, q): return [1]",
    "def passes(self, kind, q): return None",
    "def reads(self, kind, q, index): return None",
    "def holds(self, kind, q, index): return index + 100",
    "kinds = None",
    "dtype = 'int65'",
)
"""What nobody can use: no line of the user's fails, but it is the operator's fault."""

NETWORKS = {
    "def address(self, node): return missing": "route own.py:Bad:8",
    "routings = property(lambda self: missing)": "route own.py:Bad:8",
    "def schedules(self, root): return missing": "broadcast own.py:Bad:8",
    "stated = property(lambda self: missing)": "show own.py:Bad:8",
    "ascend_schedules = property(lambda self: missing)": "ascend own.py:Bad:8 --operator sum",
}
"""Methods of a network that raise, and a command that calls them."""


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    number = iter(range(1000))

    def run(base, line, words):
        name = f"own{next(number)}.py"  # a module that was imported stays imported
        Path(name).write_text(f"{OPERATORS}class Bad({base}):\n    {line}\n")
        status = CommandSession(words.replace("own.py", name).split()).run()
        text = capsys.readouterr().err
        assert (status, text.count("\n")) == (2, 1), (line, text)
        return text, f"mpinet: {name}:{FIRST + 1}: "

    return run


def test_methods_of_an_operator_that_fail_are_named_by_their_line(said):
    for line, error in OPERS.items():
        for command in ("ascend", "descend"):
            text, where = said("Sum", line, f"{command} hypercube:3 --operator own.py:Bad")
            assert text.startswith(f"{where}{error}"), line


def test_what_an_operator_returns_and_nobody_can_use_is_its_fault(said):
    for line in RETURNS:
        text, _ = said("Sum", line, "ascend hypercube:3 --operator own.py:Bad")
        assert "Bad" in text and "Traceback" not in text, line


def test_methods_of_a_network_that_fail_are_named_by_their_line(said):
    for line, words in NETWORKS.items():
        text, where = said("Ring", line, words)
        assert text == f"{where}NameError: name 'missing' is not defined.\n", line


CLAIM = """from mpinet.claims import claim, points

@claim("OWN-1", statement="one", claimed=lambda n: 1, grid=points("one", [{"n": 1}]))
def one(n):
    return n // 0
"""


def test_an_error_in_a_claim_is_a_sentence_in_its_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("claimsowned.py").write_text(CLAIM)
    assert CommandSession(["verify", "claimsowned.py", "--out", "found.csv"]).run() == 1
    printed = capsys.readouterr().out + Path("found.csv").read_text()
    assert "claimsowned.py:5: ZeroDivisionError: integer division or modulo by zero" in printed
    assert "Traceback" not in printed


def test_an_error_of_mpinets_own_keeps_its_traceback(monkeypatch, capsys):
    monkeypatch.setattr("mpinet.programs.ascend.CHUNK", None)
    assert CommandSession("ascend hypercube:3 --operator sum".split()).run() == 1
    assert "Traceback" in capsys.readouterr().err
