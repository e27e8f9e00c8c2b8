"""The timed machine is what its specification says, on any number of ranks."""

from io import BytesIO

import pytest
from mpi.machine.ranks import transport
from mpi.machine.timedruns import BUSSED, golden, played, random_case, referred

import mpinet
from mpinet.bench.replay import linear_alltoall
from mpinet.errors import UsageError
from mpinet.machine.timed.costs import Costs
from mpinet.programs.messages.writing import write_goal

MAPPINGS = ("blocks", "random")

RANDOM = range(120 if transport().size <= 3 else 24)
"""On many ranks, which share two cores here, some programs have to do."""


@pytest.mark.parametrize("mapping", MAPPINGS if transport().size > 1 else MAPPINGS[:1])
@pytest.mark.parametrize("number", range(len(golden())))
def test_every_value_is_the_one_of_the_specification(number, mapping):
    known = golden()[number]
    found = played(known["program"], mapping, **known["setting"])
    assert {name: found.get(name) for name in known["result"]} == known["result"]
    assert ("stuck" in found) == ("stuck" in known["result"])


@pytest.mark.costly
@pytest.mark.parametrize("number", RANDOM)
def test_random_programs_take_the_time_of_the_reference(number):
    text, setting = random_case(number)
    known = referred(text, **setting)
    found = played(text, ("blocks", "random")[number % 2], **setting)
    assert {name: found.get(name) for name in known} == known
    assert ("stuck" in found) == ("stuck" in known)


@pytest.mark.parametrize("number", RANDOM[:24])
def test_both_directions_of_a_link_and_a_bus_are_one_server(number):
    text, setting = random_case(number)
    if setting["on"] is None:
        setting["on"] = BUSSED[number % 2]
    half = mpinet.open(setting["on"]).links
    known = referred(text, half, **setting)
    found = played(text, ("blocks", "random")[number % 2], half, **setting)
    assert {name: found.get(name) for name in known} == known


def test_messages_that_need_more_room_long_after_the_begin_keep_their_windows():
    # A link takes 20,000 for a message, and processors send one every 6,000: more and more wait.
    text = BytesIO()
    write_goal(linear_alltoall(16), text)
    costs = {"o": 150, "O": 0, "g": 100, "G": 6, "S": None, "flat": 1}
    setting = {"on": "mesh:4x4", "mode": "cut", "hop": [20], "byte": [20], **costs}
    known = referred(text.getvalue().decode(), **setting)
    found = played(text.getvalue().decode(), "blocks", **setting)
    assert {name: found.get(name) for name in known} == known


@pytest.mark.parametrize(("overhead", "flat", "answers"), [(0, 0, False), (9, 0, True)])
def test_processors_that_nothing_parts_are_refused(overhead, flat, answers):
    with pytest.raises(UsageError, match="of 1 or more has to part two processors"):
        Costs(overhead=overhead, flat=flat).window(True, answers)
