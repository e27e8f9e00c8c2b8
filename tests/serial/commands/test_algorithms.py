"""The table of collectives, next to the programs that it names."""

import inspect
import re
from importlib import import_module

import pytest

import mpinet
from mpinet.commands import function_of
from mpinet.commands.algorithms import ALGORITHMS, COLLECTIVES, CollectiveProgram
from mpinet.commands.collectiveresult import CollectiveResult
from mpinet.commands.signature import options_of
from mpinet.errors import UsageError
from mpinet.networks import open as open_topology

PROGRAMS = sorted(
    {
        (collective, program)
        for collective, row in COLLECTIVES.items()
        for program in (row.one, row.many)
        if program is not None
    }
)

COMPUTED = {"model", "half_duplex", "collective"}
"""Values that functions of programs get besides options."""


@pytest.mark.parametrize(("collective", "program"), PROGRAMS)
def test_every_parameter_of_a_program_is_an_option_or_is_found(
    collective: str, program: CollectiveProgram
) -> None:
    known = {option.name for option in options_of(function_of(collective))} | COMPUTED | {"root"}
    later = {
        "require": set(),
        "run": {"machine", *program.finds},
        "needs": {"share", *program.finds},
        "once": {"share", *program.finds},
        "rehearse": {"machine", "dry", *program.finds},
    }
    for which, more in later.items():
        if not (name := getattr(program, which)):
            continue
        module, _, function = name.partition(":")
        parameters = inspect.signature(getattr(import_module(module), function)).parameters
        required = {
            name for name, one in parameters.items() if one.default is inspect.Parameter.empty
        }
        assert required <= known | more, f"{program}: {which}"


def offered(collective: str, network: str, **options: object) -> set[str]:
    """The algorithms that a command lists when it is asked for one that is not there."""
    with pytest.raises(UsageError) as refused:
        getattr(mpinet, collective)(network, algorithm="another", **options)
    return set(re.split(", ", str(refused.value).rpartition(": ")[2].rstrip(".")))


ONE_ITEM = [name for name, row in COLLECTIVES.items() if any(name in a.one for a in ALGORITHMS)]
SEVERAL = [name for name in COLLECTIVES if any(name in a.many for a in ALGORITHMS)]


@pytest.mark.parametrize("collective", ONE_ITEM)
def test_help_lists_the_algorithms_that_the_program_offers(collective: str) -> None:
    found: set[str] = set()
    # Switches that do not combine make a reduction of one item a pipeline.
    more = {"switches": "combine"} if collective == "reduce" else {}
    for network in ("hypercube:3", "petersen", "fattree:2,2", "clens:3,2"):
        own = {*open_topology(network).schedules(0)}
        found |= offered(collective, network, ports="all", **more) - own
    # The shortest of all is no broadcast of a network, and errors list these alone.
    assert found == {a.name for a in ALGORITHMS if collective in a.one} - {"best"}


@pytest.mark.parametrize("collective", SEVERAL)
def test_help_lists_the_pipelines_that_the_program_offers(collective: str) -> None:
    if collective == "exchange":
        with pytest.raises(UsageError, match="needs 'farthest'"):
            mpinet.exchange("petersen", items=2, algorithm="another")
        return
    found: set[str] = set()
    for network in ("hypercube:3", "fattree:2,2", "clens:3,2"):
        for ports in ("one", "all"):
            found |= offered(collective, network, ports=ports, items=2)
    assert found == {a.name for a in ALGORITHMS if collective in a.many}


def test_a_collective_shows_the_fields_of_its_row_alone() -> None:
    found = mpinet.gossip("pancake:4", ports="all", algorithm="translations")
    assert found.by_orbit is False
    assert {*found.value} <= {*CollectiveResult.hints_for("gossip")}
    assert "by_orbit" not in CollectiveResult.hints_for("broadcast")
    assert "correct" not in mpinet.broadcast("ring:6").value
    assert "correct" in mpinet.broadcast("ring:6", items=2).value
