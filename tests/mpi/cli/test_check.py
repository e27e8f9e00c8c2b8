"""``mpinet exec --check``: statuses, documents and files, on any number of ranks."""

import json

import pytest
from mpi.machine.ranks import everyone, transport

from mpinet.cli.commands import parse
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.mpi.checks.findings import CheckedEnd

pytestmark = pytest.mark.mpi

SCRIPT = """
from mpi4py import MPI
import numpy as np
import sys

comm = MPI.COMM_WORLD
COUNT = 3 if "short" in sys.argv else 6
if "types" in sys.argv:
    if comm.rank == 0:
        comm.Send(np.zeros(3), 1)
    elif comm.rank == 1:
        comm.Recv(np.zeros(COUNT, "f4"), 0)
if "handle" in sys.argv:
    comm.Dup()
if "deadlock" in sys.argv:
    comm.recv(source=comm.rank)
if "order" in sys.argv:
    if comm.rank:
        comm.send(comm.rank, 0)
    elif comm.recv() == 2:
        comm.recv(source=2)
    else:
        comm.recv()
if "rank" in sys.argv:
    comm.send(1, 9)
if "exit" in sys.argv:
    comm.Barrier()
    sys.exit(7)
if "python" in sys.argv:
    1 / 0
"""


def ended(folder, options, *mistakes):
    """The status of a checked run, and its result or its error."""
    file = folder / "script.py"
    file.write_text(SCRIPT)
    words = ["exec", "--on", "ring:3", *options, str(file), *mistakes]
    job = module_of("exec").prepare(parse(words))
    try:
        result = job.run(transport(), lambda *_: None)
    except CheckedEnd as error:
        return everyone(error.status)[0], everyone(job.told.get("findings"))[0]
    row = everyone(result)[0]
    return everyone(job.status(result))[0], row.get("findings")


@pytest.mark.parametrize(
    ("options", "mistakes", "status", "kinds"),
    [
        (["--check"], [], 0, []),
        (["--check"], ["types"], 3, ["type-mismatch"]),
        (["--check=handles"], ["types"], 0, []),
        (["--check", "--no-check=types"], ["types"], 0, []),
        (["--check"], ["handle"], 0, ["communicator-alive"]),
        (["--check", "--check-strict"], ["handle"], 3, ["communicator-alive"]),
        (["--check"], ["deadlock"], 3, ["deadlock"]),
        (["--check"], ["rank"], 3, ["invalid-argument"]),
        (["--check"], ["types", "exit"], 7, ["type-mismatch"]),
        (["--check"], ["python"], 1, []),
        (["--check"], ["types", "short"], 3, ["truncation", "type-mismatch"]),
        ([], ["types"], 0, None),
    ],
)
def test_the_status_tells_errors_from_warnings_and_from_the_scripts_own_status(
    tmp_path, options, mistakes, status, kinds
):
    found, findings = ended(tmp_path, options, *mistakes)
    assert found == status
    assert findings is None if kinds is None else [one["kind"] for one in findings] == kinds


def test_a_file_for_editors_has_a_result_at_the_line_of_each_finding(tmp_path):
    file = tmp_path / "found.sarif"
    _, findings = ended(tmp_path, ["--check", "--sarif", str(file)], "types", "handle")
    if transport().rank == 0:
        document = json.loads(file.read_text())
        (run,) = document["runs"]
        found = {
            (
                one["ruleId"],
                one["level"],
                one["locations"][0]["physicalLocation"]["region"]["startLine"],
            )
            for one in run["results"]
        }
        assert document["version"] == "2.1.0"
        assert found == {("type-mismatch", "error", 10), ("communicator-alive", "warning", 14)}
        assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {one[0] for one in found}
    assert [one["places"][0]["line"] for one in findings] == [10, 14]


def test_a_file_for_editors_has_the_findings_of_the_first_of_several_orders(tmp_path):
    file = tmp_path / "found.sarif"
    options = ["--check", "--arrivals", "all", "--sarif", str(file)]
    status, findings = ended(tmp_path, options, "handle", "order")
    assert (status, [one["kind"] for one in findings]) == (3, ["communicator-alive"])
    if transport().rank == 0:
        (run,) = json.loads(file.read_text())["runs"]
        assert [one["ruleId"] for one in run["results"]] == ["communicator-alive"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--check=leaks"], "--check: 'leaks' is no check; choose from types, requests"),
        (["--check="], "--check: '' is no check"),
        (["--check=types,"], "--check: '' is no check"),
        (["--check", "--no-check="], "--no-check: '' is no check"),
        (["--check", "--no-check=x"], "--no-check: 'x' is no check"),
        (["--no-check=rma"], "--no-check applies only with --check"),
        (["--check-strict"], "--check-strict applies only with --check"),
        (["--sarif", "x.sarif"], "--sarif applies only with --check"),
    ],
)
def test_a_wrong_option_is_one_sentence(tmp_path, options, said):
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        ended(tmp_path, options)
