"""Every command gives the same result for any number of ranks and any mapping."""

import pytest

from mpinet.cli.commands import module_of, parse
from mpinet.machine.transport import Local, world
from mpinet.report.envelope import digest

MAPPED = [
    "show ccc:4 --distances",
    "show fattree:3,2 --distances",
    "flood debruijn:6 --root 5",
    "broadcast torus:5x4x3 --root 7 --schedule",
    "broadcast fattree:2,3 --schedule",
    "broadcast ccc:4 --schedule --algorithm tree",
    "route hypercube:6 --pairs all --mode ideal --paths",
    "route hypercube:6 --pairs all",
    "route torus:6x7 --pairs random:300 --seed 5 --ports one",
    "route torus:6x7 --pairs random:300 --policy fifo",
    "route ring:12*mesh:2x3 --pairs permutation --duplex half",
    "route fattree:2,4 --pairs permutation --ports one --policy fifo",
    "route debruijn:6 --pairs transpose --paths",
    "route hypercube:6 --pairs hotspot:9 --faults node:3,link:0-1",
    "ascend hypercube:7 --operator prefix",
    "ascend hypercube:6 --operator fft --ports one",
    "descend ring:16 --operator bitonic-sort",
]

UNMAPPED = [
    "topologies",
    "show circulant:20,jumps=1-4",
    "check moebius:5",
    "neighbors chordalring:14,3 6",
    "path ccc:3 1 17",
]


def outcome(command: str, transport: Local) -> str:
    """The digest of a command's result, run in this process."""
    options = parse(command.split())
    job = module_of(options.command).prepare(options)
    return digest(job.run(transport, lambda done: None))


@pytest.mark.parametrize("command", [*MAPPED, *UNMAPPED])
def test_the_result_does_not_depend_on_the_number_of_ranks(command):
    transport = world()
    together, alone = outcome(command, transport), outcome(command, Local())
    assert transport.rank != 0 or together == alone


@pytest.mark.parametrize("command", MAPPED)
def test_the_result_does_not_depend_on_the_mapping(command):
    transport = world()
    scattered = outcome(f"{command} --mapping random", transport)
    alone = outcome(command, Local())
    assert transport.rank != 0 or scattered == alone
