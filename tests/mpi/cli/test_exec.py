"""Scripts give the same result on any number of ranks; the examples do what they promise."""

import io
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, mapping_of, transport

import mpinet
from mpinet import examples
from mpinet.cli.commands import parse
from mpinet.commands.exec import ExecResult, Tried
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.machine.transport import Local
from mpinet.mpi.script import ScriptOptions, run_script
from mpinet.report.envelope import digest

FOLDER = Path(examples.__file__).parent / "mpi"


def check_ring(network, size, output):
    assert output == f"the token comes back with {sum(range(size))}\n"


def check_pi(network, size, output):
    assert output == f"pi is about {np.pi:.6f}\n"


def check_matvec(network, size, output):
    numbers = np.arange(4.0 * size)
    product = np.add.outer(numbers, numbers) @ numbers
    said = [int(number) for number in re.findall(r"\d+", output)]
    assert said == [product[0], product[-1]]


def check_oddeven(network, size, output):
    rows = sorted([int(word) for word in line.split()] for line in output.splitlines())
    keys = np.concatenate([np.random.default_rng(r).integers(0, 1000, 8) for r in range(size)])
    assert [row[0] for row in rows] == list(range(size))
    assert [key for row in rows for key in row[1:]] == sorted(keys)


def check_samplesort(network, size, output):
    assert output == f"{100 * size * size} keys in order: True\n"


RUNS = [
    ("ring", "ring:9", (), check_ring),
    ("ring", "hypercube:3", (), check_ring),
    ("pi", "torus:3x3", ("2000",), check_pi),
    ("pi", "ccc:3", ("1000",), check_pi),
    ("matvec", "hypercube:3", (), check_matvec),
    ("matvec", "ring:7", (), check_matvec),
    ("oddeven", "mesh:8", (), check_oddeven),
    ("oddeven", "torus:3x3", (), check_oddeven),
    ("samplesort", "hypercube:3", (), check_samplesort),
    ("samplesort", "complete:5", (), check_samplesort),
]


@pytest.mark.parametrize("case", RUNS, ids=[f"{name} on {network}" for name, network, *_ in RUNS])
def test_an_example_does_what_it_promises(case):
    name, network, words, check = case
    topology = mpinet.open(network)
    mapping = mapping_of(topology, MAPPINGS[RUNS.index(case) % len(MAPPINGS)])
    machine = mpinet.Machine(topology, "one", transport(), mapping)
    output = io.StringIO()
    outcome = run_script(machine, FOLDER / f"{name}.py", ScriptOptions(arguments=words, out=output))
    assert (outcome.steps, outcome.unreceived) == (machine.steps, 0)
    if transport().rank == 0:
        check(network, outcome.processors, output.getvalue())


def test_every_example_runs_on_two_machines():
    files = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    assert sorted(2 * files) == sorted(name for name, *_ in RUNS)
    assert all(len((FOLDER / f"{file}.py").read_text().splitlines()) < 40 for file in files)


def ran(options: str, script: Path, among: Local) -> str:
    """The digest of a script's result, run in this process."""
    typed = parse([*f"exec {options}".split(), str(script), "--json", "-x"])
    job = module_of("exec").prepare(typed)
    return digest(job.run(among, lambda *done: None))


@cache
def alone(options: str, script: Path) -> str:
    """The digest on one rank."""
    return ran(options, script, Local())


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize(
    "options",
    [
        "--on hypercube:3",
        "--on torus:3x3 --ports all",
        "--on ring:7 --packet 8",
        "--on fattree:2,3 --duplex half",
    ],
)
@pytest.mark.parametrize("name", ["everything", "strangers"])
def test_results_and_output_depend_neither_on_ranks_nor_on_the_mapping(name, options, mapping):
    script = Path(__file__).parent / "scripts" / f"{name}.py"
    together = ran(f"{options} --mapping {mapping}", script, transport())
    assert transport().rank > 0 or together == alone(options, script)


@pytest.mark.parametrize(
    ("second", "status", "said"),
    [
        ("MPI.ANY_SOURCE", 0, "2 orders were run, with the same outcome; there is no other."),
        ("2", 1, "2 orders were run: the outcome of the last one differs (deadlock)."),
    ],
)
def test_all_orders_are_a_part_of_the_document_and_the_status_tells_another_outcome(
    tmp_path, second, status, said
):
    script = tmp_path / "any.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "comm = MPI.COMM_WORLD\n"
        "if comm.rank:\n"
        "    comm.send(None, 0)\n"
        "else:\n"
        "    comm.recv(source=MPI.ANY_SOURCE)\n"
        f"    comm.recv(source={second})\n"
    )
    none = parse([*"exec --on ring:3 --arrivals all --most-orders 0".split(), str(script)])
    with pytest.raises(UsageError, match=r"^--most-orders is 1"):
        module_of("exec").prepare(none)
    for options, tried in (("--arrivals all", 2), ("--arrivals all --most-orders 1", 1)):
        typed = parse([*f"exec --on ring:3 --loads {options}".split(), str(script)])
        job = module_of("exec").prepare(typed)
        row = job.run(transport(), lambda *done: None)
        assert row.keys() <= ExecResult.__annotations__.keys()
        assert row["orders"].keys() == Tried.__annotations__.keys()
        assert row["orders"]["tried"] == tried
        assert row["orders"]["all"] is (tried == 2 and status == 0)
        if tried == 2:
            assert job.status(row) == status
            if transport().rank == 0:
                assert job.show(row).endswith(said)
