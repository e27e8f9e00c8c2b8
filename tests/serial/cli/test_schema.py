"""Every command's document is as the published JSON schema says."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mpi.cli.invariant import MAPPED, UNMAPPED

from mpinet.cli.session import CommandSession
from mpinet.commands.catalogue import COMMANDS

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/reference/document.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)


def closed(schema: Any) -> Any:
    """A schema that refuses fields which it does not name."""
    if isinstance(schema, list):
        return [*map(closed, schema)]
    if not isinstance(schema, dict):
        return schema
    whole = "properties" in schema and "required" in schema
    made = {name: closed(part) for name, part in schema.items()}
    return {"additionalProperties": False} | made if whole else made


RESULTS = closed({kind: said for kind, said in SCHEMA["$defs"].items() if kind[0].isupper()})
CLOSED = Draft202012Validator(SCHEMA | {"$defs": SCHEMA["$defs"] | RESULTS})

LINES = [
    "topologies",
    "topologies ring --size 16..20",
    "show ring:6 --distances",
    "show lens:2,2,2",
    "show fattree:2,2 --distances",
    "compare ring:6 fattree:2,2",
    "find --processors 8..8 --degree ..3",
    "measure ring:6 diameter",
    "check ring:6",
    "neighbors mesh:3x3 0",
    "path torus:3x4 0 5",
    "route ring:6 --paths",
    "route ring:6 --pairs hotspot:0 --no-loads",
    "flood ring:6",
    "broadcast ring:6 --schedule",
    "optimum ring:6",
    "certify {folder}/bound.json",
    "optimum bisection ring:6",
    "optimum allreduce ring:6",
    "certify {folder}/width.json",
    "schedule export gossip ring:6 --out {folder}/gossip.csv",
    "schedule export gossip ring:6 --items 2 --out {folder}/gossip2.csv",
    "tune allgather --on ring:6 --bytes 60 --time-byte 300GB/s",
    "pareto allgather ring:6 --chunks 2 --alpha 1 --beta 1 --bytes 60",
    "schedule generate allreduce:ring,1kB,processors=4 --out {folder}/ring.goal",
    "schedule run {folder}/ring.csv --on ring:6",
    "gossip ring:6",
    "exchange ring:6",
    "scatter ring:6",
    "gather ring:6",
    "circulate ring:8",
    "reduce ring:6",
    "reduce ring:6 --items 2",
    "allreduce ring:6",
    "reducescatter ring:6",
    "broadcast ring:6 --items 2",
    "gossip ring:6 --items 2",
    "ascend ring:8 --operator sum",
    "descend ring:8 --operator sum",
    "embed ring:8 hypercube:3",
    "run mpinet.examples.flood:flood --on ring:4",
    "draw ring:6 -o {folder}/ring.html",
    "load ring:6 --rate 0.05 --warmup 10 --steps 20",
    "sweep {folder}/plan.json --out {folder}/runs",
    "plot {folder}/rows.csv --x seed --y steps",
    "trace {folder}/flood.npz -o {folder}/trace.json",
    "play {folder}/flood.npz -o {folder}/flood.html",
    "predict flood ring:6 --ranks 2",
    "verify --list hdn",
]

KNOWN = {line.split()[0] for line in LINES}
LINES += {
    line.split()[0]: line for line in [*MAPPED, *UNMAPPED] if line.split()[0] not in KNOWN
}.values()

ELSEWHERE = {"exec", "bench", "launch", "template", "doctor", "demo", "resume"}
"""Commands that need a process of their own, take long, or print no document of theirs."""


def document(line: str, folder: Path, capsys: pytest.CaptureFixture) -> dict:
    (folder / "plan.json").write_text('{"command": "flood", "topology": "ring:6"}')
    (folder / "rows.csv").write_text("seed,steps\n0,3\n1,4\n")
    (folder / "ring.csv").write_text('# collective: "gossip"\nstep,from,to,chunk\n1,0,1,0\n')
    if "flood.npz" in line:
        CommandSession(["flood", "ring:6", "--record", f"{folder}/flood.npz"]).run()
    if "bound.json" in line:
        CommandSession(["optimum", "ring:6", "--save", f"{folder}/bound.json"]).run()
    if "width.json" in line:
        CommandSession(["optimum", "bisection", "ring:6", "--save", f"{folder}/width.json"]).run()
    capsys.readouterr()
    CommandSession([*line.format(folder=folder).split(), "--json"]).run()
    found: dict = json.loads(capsys.readouterr().out)
    return found


def test_the_schema_is_made_of_the_classes_of_results():
    place = Path(__file__).parents[3] / "docs/_extensions/schema.py"
    spec = spec_from_file_location("schema", place)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.text() == module.FILE.read_text(), "python docs/_extensions/schema.py writes it"


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("line", LINES)
def test_a_document_is_as_the_schema_says(line, tmp_path, capsys):
    found = document(line, tmp_path, capsys)
    assert "result" in found
    VALIDATOR.validate(found)
    CLOSED.validate(found)  # and it has no field that its class does not name


def test_a_field_that_no_class_names_is_found(tmp_path, capsys):
    found = document("route ring:6", tmp_path, capsys)
    CLOSED.validate(found)
    found["result"]["latency"]["p98"] = 3
    assert VALIDATOR.is_valid(found) and not CLOSED.is_valid(found)


def test_an_error_is_as_the_schema_says(tmp_path, capsys):
    found = document("show tors:6", tmp_path, capsys)
    assert "error" in found
    VALIDATOR.validate(found)


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("flood ring:6", "steps", "3"),
        ("route ring:6", "latency", {}),
        ("gossip ring:6", "correct", None),
        ("neighbors ring:6 0", 0, {}),
    ],
)
def test_the_schema_refuses_a_result_with_another_field(line, field, value, tmp_path, capsys):
    found = document(line, tmp_path, capsys)
    found["result"][field] = value
    assert not VALIDATOR.is_valid(found)


def test_every_command_with_a_document_is_looked_at():
    tried = {line.split()[0] for line in LINES}
    described = {
        part["if"]["properties"]["command"]["prefixItems"][1]["const"]
        for part in SCHEMA["$defs"]["document"]["allOf"]
    }
    assert described <= tried | {"exec", "bench"}
    assert described | ELSEWHERE >= {command.split()[0] for command in COMMANDS}
