"""Every command gives the same result for any number of ranks and any mapping."""

from functools import cache

import pytest
from mpi.cli.invariant import MAPPED, UNMAPPED, outcome

from mpinet.machine.transport import Local, world


@cache
def alone(command: str) -> str:
    """The digest on one rank: only rank 0, which holds every result, asks for it."""
    return outcome(command, Local())


@pytest.mark.costly
@pytest.mark.parametrize("command", [*MAPPED, *UNMAPPED])
def test_the_result_does_not_depend_on_the_number_of_ranks(command):
    transport = world()
    together = outcome(command, transport)
    assert transport.rank != 0 or together == alone(command)


@pytest.mark.costly
@pytest.mark.parametrize("mapping", ["random", "clusters"])
@pytest.mark.parametrize("command", MAPPED)
def test_the_result_does_not_depend_on_the_mapping(command, mapping):
    transport = world()
    mapped = outcome(f"{command} --mapping {mapping}", transport)
    assert transport.rank != 0 or mapped == alone(command)
