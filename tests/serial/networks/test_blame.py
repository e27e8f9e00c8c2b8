"""What is wrong in a user's own topology file is one sentence with the file and the line."""

import json
from pathlib import Path

import numpy as np
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import RuleError

CLASS = """
from mpinet import Topology, rule

def helper(node):
    return node


class Bad(Topology):
    def __init__(self, n: int):
        super().__init__(f"{{n}}", size=n, ports=2, params=(0,))

    @rule
    def neighbor({arguments}):
        {body}
"""
FORM = "12: the arguments of a rule are (node, port, params), not "
RING = "return (node + 1 - 2 * port) % params[0]"

ARGUMENTS = {
    "self, node, port": f"{FORM}(self, node, port).",
    "self, node, port, params": f"{FORM}(self, node, port, params).",
    "node, port": f"{FORM}(node, port).",
    "*all": f"{FORM}(all).",
}

BODIES = {
    "return (node + 1 - 2 * port) % sise": "14: name 'sise' is not defined.",
    "return (node + 1 - 2 * port) % self.size": "14: name 'self' is not defined.",
    f"print(node)\n        {RING}": "14: a rule must not print",
    "return node / 2": "returned 0.0, not a whole number: // divides whole numbers.",
    "return 'a'": "neighbor(0, 0, ..) returned 'a', not a whole number.",
    "return (node, port)": "neighbor(0, 0, ..) returned (0, 0), not a whole number.",
    "pass": "neighbor(0, 0, ..) returned None, not a whole number.",
    "raise ValueError('no such luck')": "14: neighbor(0, 0, ..) raised ValueError: no such luck.",
    "return node // (node - node)": "14: neighbor(0, 0, ..) raised ZeroDivisionError",
    "return node // params[2] + 5 % params[2]": "14: neighbor(0, 0, ..) raised ZeroDivisionError",
    "x = [1]\n        return x[5]": "15: neighbor(0, 0, ..) raised IndexError",
    "return params[9]": "14: neighbor(0, 0, ..) raised IndexError",
    "if node > 0:\n            x = 1\n        return x": "16: ",
}

COMPILED = {
    "if node == 250:\n            return sise\n        " + RING: "15: name 'sise' is not defined.",
    "if node == 250:\n            return node // (node - 250)\n        " + RING: (
        "15: neighbor(250, 0, ..) raised ZeroDivisionError"
    ),
    "if node == 250:\n            return 'a'\n        " + RING: (
        "12: neighbor(250, 0, ..) returned 'a', not a whole number"
    ),
    "if node == 250:\n            return node.bits\n        " + RING: (
        "15: neighbor(250, 0, ..) raised AttributeError: 'int' object has no attribute 'bits'"
    ),
    "with open('x') as file:\n            pass\n        " + RING: "14: neighbor(0, 0, ..) raised",
}
"""What fails for one node of many, whether the rule can be compiled or not."""

NOT_COMPILED = {
    "if node == 250:\n            return helper(node + 1 - 2 * port)\n        " + RING: (
        "15: a rule calls helper: mark helper with @inlined (mpinet.inlined)."
    ),
    "if node == 250:\n            import math\n        " + RING: (
        "15: neighbor cannot be compiled: Use of unsupported opcode (IMPORT_NAME) found"
    ),
    "return sum((node, 1 - 2 * port, 0 * len({}))) % params[0]": "14: neighbor cannot be compiled",
    "return sum(u for u in (node, 1 - 2 * port)) % params[0]": "14: neighbor cannot be compiled",
}
"""Rules of a ring that are right, and that Numba cannot compile."""

SLOW = " It runs as plain Python, which is slow."


def refusal(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that ``mpinet check`` prints, behind a notice of what cannot be compiled."""
    assert CommandSession(["check", words]).run() == 2
    told = capsys.readouterr()
    assert told.out == ""
    *notices, line = told.err.splitlines(keepends=True)
    assert len(notices) <= 1
    assert all(each.startswith("mpinet: ") and each.endswith(f"{SLOW}\n") for each in notices)
    return line


def written(folder: Path, body: str = RING, arguments: str = "node, port, params") -> Path:
    file = folder / "bad.py"
    file.write_text(CLASS.format(arguments=arguments, body=body))
    return file


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_rule_with_other_arguments_is_refused(arguments, tmp_path, capsys):
    file = written(tmp_path, arguments=arguments)
    assert f"{file}:{ARGUMENTS[arguments]}" in refusal(f"{file}:Bad:500", capsys)


@pytest.mark.parametrize("body", BODIES)
def test_a_rule_that_fails_is_refused_with_the_line(body, tmp_path, capsys):
    file = written(tmp_path, body)
    told = refusal(f"{file}:Bad:9", capsys)
    assert f"{file}:" in told
    assert BODIES[body] in told


@pytest.mark.parametrize("body", COMPILED)
def test_what_only_compiling_finds_is_told_with_the_line_too(body, tmp_path, capsys):
    file = written(tmp_path, body)
    assert f"{file}:{COMPILED[body]}" in refusal(f"{file}:Bad:500", capsys)


@pytest.mark.parametrize("body", NOT_COMPILED)
def test_a_rule_that_cannot_be_compiled_runs_as_plain_python_and_one_notice_says_so(
    body, tmp_path, capsys
):
    file = written(tmp_path, body)
    name = f"{file}:Bad:500"
    assert CommandSession(["check", name]).run() == 0
    assert CommandSession(["flood", name, "--json"]).run() == 0
    told = capsys.readouterr()
    (notice,) = told.err.splitlines()
    assert notice.startswith(f"mpinet: {file}:{NOT_COMPILED[body]}") and notice.endswith(SLOW)
    assert json.loads(told.out[told.out.index("{") :])["result"]["steps"] == 250


def test_a_rule_that_fails_is_told_in_python_too(tmp_path):
    topology = mpinet.open(f"{written(tmp_path, 'return node // (node - node)')}:Bad:9")
    for nodes in (0, np.arange(9), np.arange(2, 9).repeat(50)):
        with pytest.raises(RuleError, match=r"bad\.py:14: neighbor\(\d, 0, \.\.\) raised Zero"):
            topology.neighbor(nodes, 0)


@pytest.mark.parametrize(
    "raising",
    ["KeyboardInterrupt", "SystemExit(0)", "BaseException('x')", "GeneratorExit", "1 / 0"],
)
@pytest.mark.parametrize("where", ["import", "init"])
def test_a_class_may_raise_anything(raising, where, tmp_path, capsys):
    file = written(tmp_path)
    text = raising if "/" in raising else f"raise {raising}"
    beginning = file.read_text()
    if where == "import":
        file.write_text(text + beginning)
    else:
        file.write_text(beginning.replace("super()", f"{text}\n        super()"))
    line = 1 if where == "import" else 10
    assert f"{file}:{line}: " in refusal(f"{file}:Bad:500", capsys)


@pytest.mark.parametrize(
    "method",
    ["address(self, node)", "schedules(self, root)", "cycle(self)", "read_address(self, a)"],
)
def test_a_method_that_fails_is_told_with_the_line(method, tmp_path, capsys):
    file = written(tmp_path)
    file.write_text(f"{file.read_text()}\n    def {method}:\n        return self.sise\n")
    told = refusal(f"{file}:Bad:9", capsys)
    assert f"{file}:17: AttributeError: 'Bad' object has no attribute 'sise'." in told


PARALLEL = "return (node + 1 - 2 * (port // 2)) % params[0]"


def test_parallel_links_without_a_way_back_are_told_as_such(tmp_path, capsys):
    file = written(tmp_path, PARALLEL)
    file.write_text(file.read_text().replace("ports=2", "ports=4"))
    told = "ports 0 and 1 of node 0 both lead to node 1: with parallel links define the rule"
    assert told in refusal(f"{file}:Bad:9", capsys)


def test_links_that_go_one_way_are_told_as_such(tmp_path, capsys):
    file = written(tmp_path, "return (node + 1 + port) % params[0]")
    told = "neighbor(0, 0) = 1, but no port of 1 leads to 0: links go both ways in mpinet."
    assert told in refusal(f"{file}:Bad:9", capsys)


def test_a_search_for_ways_back_that_would_not_end_is_refused(tmp_path, capsys):
    file = written(tmp_path, "return port + 1 if node == 0 else (0 if port == 0 else -1)")
    file.write_text(file.read_text().replace("ports=2", "ports=n - 1"))
    assert CommandSession(["check", f"{file}:Bad:1000"]).run() == 0
    capsys.readouterr()
    told = refusal(f"{file}:Bad:2147483647", capsys)
    assert "which has no rule 'reverse_port', would read " in told


@pytest.mark.parametrize("said", ['("N",)', '"N"', "None", "{'N': 3}"])
def test_parameters_that_describe_none_are_refused_with_the_remedy(said, tmp_path, capsys):
    file = written(tmp_path)
    line = f"class Bad(Topology):\n    parameters = {said}\n"
    file.write_text(file.read_text().replace("class Bad(Topology):\n", line))
    told = refusal(f"{file}:Bad:9", capsys)
    assert "Bad.parameters has " in told and 'write parameters = (whole_number("N", 1),)' in told


def test_parameters_that_are_described_are_read(tmp_path, capsys):
    file = written(tmp_path)
    text = file.read_text().replace("n: int", "N: int").replace("n}", "N}").replace("=n", "=N")
    line = 'class Bad(Topology):\n    parameters = (whole_number("N", 3),)\n'
    text = text.replace("class Bad(Topology):\n", line)
    file.write_text(f"from mpinet.networks.parameters import whole_number\n{text}")
    assert CommandSession(["check", f"{file}:Bad:9"]).run() == 0
    capsys.readouterr()
    assert "its parameters are N (>= 3)" in refusal(f"{file}:Bad:M=9", capsys)
