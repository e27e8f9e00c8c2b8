"""The timed machine is what its specification says, on any number of ranks."""

from io import BytesIO

import pytest
from mpi.machine.ranks import machine_of, transport
from mpi.machine.timedruns import BUSSED, costs_of, golden, played, random_case, referred

import mpinet
from mpinet.bench.replay import linear_alltoall
from mpinet.compiled import rule
from mpinet.errors import RoutingError, Stalled, UsageError
from mpinet.machine.timed import run
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.results import result_of
from mpinet.machine.timed.run import TimedRun
from mpinet.networks.routing import ARRIVED, STUCK, Routing, path
from mpinet.programs.messages.goal import program_of
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


@pytest.mark.parametrize("number", RANDOM[:40:2])
def test_routings_that_write_their_header_on_the_way_take_the_time_of_the_reference(number):
    text, setting = random_case(number)
    if setting["on"] is None:
        setting["on"] = "torus:4x4"
    known = referred(text, routing="updown", **setting)
    found = played(text, ("blocks", "random")[number % 4 // 2], routing="updown", **setting)
    assert {name: found.get(name) for name in known} == known


@pytest.mark.parametrize("network", ["ring:8", "torus:4x4", "dgx1"])
def test_a_collective_by_updown_routing_crosses_the_links_of_its_ways(network):
    # Each of n processors sends 2(n-1) messages to the next one.
    topology = mpinet.open(network)
    routing, n = topology.routing("updown"), topology.hosts
    hops = sum(len(path(topology, routing, node, (node + 1) % n)[1]) for node in range(n))
    found = mpinet.replay(
        "allreduce:ring,1kB", on=network, latency=3, time_byte=2, overhead=5, routing="updown"
    )
    assert (found.messages, found.hops) == (2 * n * (n - 1), 2 * (n - 1) * hops)


@rule
def stuck_at_three(node, header, params):
    """Go up round a ring, and leave processor 3 by no port."""
    if node == header[0]:
        return ARRIVED
    return STUCK if node == 3 else 0


@pytest.mark.parametrize("source", [3, 1])
def test_a_routing_that_is_stuck_where_a_message_begins_or_passes_is_an_error(source):
    ring = mpinet.open("ring:8")
    routing = Routing("stuck", stuck_at_three, ring.params, lambda *ends: 3, shortest=False)
    text = f"num_ranks 8\nrank {source} {{\nl1: send 9b to 5\n}}\n"
    timed = TimedRun(machine_of(ring), program_of(text.encode()), costs_of(PLAIN), routing)
    with pytest.raises(RoutingError, match=f"stopped at node 3 with a message from {source} to 5"):
        timed.run()


PLAIN = {"o": 5, "O": 0, "g": 0, "G": 1, "S": None, "flat": 900, "mode": "cut", "hop": [3]} | {
    "byte": [2]
}


def late_arrivals(senders):
    """A program in which the messages of senders, which begin one by one, meet a receiver later."""
    lines = ["rank 0 {\nl1: calc 9000\n}"]
    for rank in range(1, senders + 1):
        lines.append(f"rank {rank} {{\nl1: calc {20 * rank}\nl2: send 1b to 0\nl2 requires l1\n}}")
    return "\n".join([f"num_ranks {senders + 1}", *lines]) + "\n"


@pytest.mark.parametrize(("most", "stalls"), [(8, True), (40, False)])
def test_turns_without_an_event_end_a_run_if_there_are_too_many_in_a_row(monkeypatch, most, stalls):
    # The receiver calculates; so the twelve messages that come cause turns in which nothing begins.
    monkeypatch.setattr(run, "IDLE_LEAST", most)
    monkeypatch.setattr(run, "IDLE_EACH", 0)
    machine = machine_of("complete:13")
    timed = TimedRun(machine, program_of(late_arrivals(12).encode()), costs_of(PLAIN), None)
    if not stalls:
        assert result_of(timed.run())["messages"] == 12
        return
    with pytest.raises(Stalled, match="makes no progress: processors of one rank had 9 turns"):
        timed.run()


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
    with pytest.raises(UsageError, match="of 1 or more between two processors"):
        Costs(overhead=overhead, flat=flat).lookahead(True, answers)
