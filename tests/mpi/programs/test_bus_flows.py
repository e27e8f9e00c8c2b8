"""Scatter, gather, gossip and exchange over busses against searches of all that could be done."""

from itertools import product

import pytest
from mpi.machine.ranks import machine_of

import mpinet
from mpinet.programs.exchange import exchange
from mpinet.programs.gather import gather
from mpinet.programs.gossip import gossip
from mpinet.programs.scatter import scatter

SMALL = ["lens:2,3,2", "lens:3,2,2", "lens:2,2,3", "clens:2,3", "plens:3,4", "snowflake:2,2"]
"""Up to six processors, on up to six busses."""


def members(topology):
    """Who is on which bus, asked port by port."""
    found = {}
    for node, port in product(range(topology.size), range(topology.ports)):
        if topology.neighbor(node, port) >= 0:
            found.setdefault(int(topology.channel(node, port)), set()).add(node)
    return [sorted(found[bus]) for bus in sorted(found)]


def transmissions(busses, able, one_port):
    """What busses may carry in a step, each nothing or something of one member."""
    each = [[None, *((u, what) for u in bus for what in able(u, bus))] for bus in busses]
    for chosen in product(*each):
        senders = [one[0] for one in chosen if one]
        if not one_port or len(set(senders)) == len(senders):
            yield [(bus, *one) for bus, one in zip(busses, chosen, strict=True) if one]


def nearer(busses, places, one_port):
    """Where items may be after a step, all of them alike: how many each processor has."""
    for sends in transmissions(busses, lambda u, bus: set(bus) - {u}, one_port):
        sent, got = ([send[end] for send in sends] for end in (1, 2))
        if any(sent.count(u) > places[u] for u in sent) or (one_port and len(set(got)) < len(got)):
            continue
        yield tuple(n - sent.count(u) + got.count(u) for u, n in enumerate(places))


def fewest_to_gather(busses, size, root, one_port):
    """Search: steps until one processor has everybody's item."""
    states, steps = {(1,) * size}, 0
    known = set(states)
    while not any(places[root] == size for places in states):
        states = {new for at in states for new in nearer(busses, at, one_port)} - known
        known |= states
        steps += 1
    return steps


@pytest.mark.costly
@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", SMALL)
def test_flows_over_busses_take_the_fewest_steps_of_all(name, ports):
    topology = mpinet.open(name)
    for root in range(topology.size):
        best = fewest_to_gather(members(topology), topology.size, root, ports == "one")
        for run in (gather, scatter):  # a scatter is a gather backwards, also over a bus
            found = run(machine_of(topology, ports), root, "flow", seed=root)
            assert (found.steps, found.lower_bound, found.correct) == (best, best, True)


def heard(busses, known, one_port):
    """What processors may know after a step: on a bus all members hear one item of one."""
    for sends in transmissions(busses, lambda u, bus: known[u], one_port):
        hears = [[(u, item) for bus, u, item in sends if v in bus and u != v] for v in range(99)]
        hears = [list(dict.fromkeys(each)) for each in hears[: len(known)]]
        choices = [[(one,) for one in each] or [()] if one_port else [each] for each in hears]
        for taken in product(*choices):
            yield tuple(k | {i for _, i in got} for k, got in zip(known, taken, strict=True))


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", ["lens:2,3,2", "lens:2,2,3", "clens:2,3", "plens:3,3"])
def test_the_bound_of_a_gossip_over_busses_is_at_most_the_optimum(name, ports):
    topology = mpinet.open(name)
    busses, everybody = members(topology), frozenset(range(topology.size))
    states, steps = {tuple(frozenset([u]) for u in everybody)}, 0
    while (everybody,) * topology.size not in states:
        states = {new for known in states for new in heard(busses, known, ports == "one")}
        steps += 1
    found = mpinet.optimum(name, collective="gossip", ports=ports)
    assert found.lower <= steps <= found.upper
    assert found.correct and found.upper - found.lower <= 1


def carried(busses, places, one_port):
    """Where items may be after a step, all of them different."""
    able = [[item for item, at in enumerate(places) if at == u] for u in range(9)]
    for sends in transmissions(busses, lambda u, bus: product(able[u], set(bus) - {u}), one_port):
        items, got = ([send[2][part] for send in sends] for part in (0, 1))
        if len(set(items)) < len(items) or (one_port and len(set(got)) < len(got)):
            continue
        moved = dict(zip(items, got, strict=True))
        yield tuple(moved.get(item, at) for item, at in enumerate(places))


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", ["lens:2,3,2", "lens:2,2,3", "clens:2,3", "plens:3,3"])
def test_the_bound_of_an_exchange_over_busses_is_at_most_the_optimum(name, ports):
    topology = mpinet.open(name)
    busses = members(topology)
    pairs = [(u, v) for u in range(topology.size) for v in range(topology.size) if u != v]
    goal, states, steps = tuple(v for _, v in pairs), {tuple(u for u, _ in pairs)}, 0
    known = set(states)
    while goal not in states:
        states = {new for at in states for new in carried(busses, at, ports == "one")} - known
        known |= states
        steps += 1
    found = mpinet.optimum(name, collective="exchange", ports=ports)
    assert found.lower <= steps <= exchange(machine_of(topology, ports)).steps


@pytest.mark.parametrize(("ports", "algorithm"), [("one", "matching"), ("all", "rarest")])
@pytest.mark.parametrize("name", ["lens:2,3,3", "clens:3,2", "plens:3,9", "busstar:3,2"])
def test_gossips_over_busses_bring_every_item_to_everybody(name, ports, algorithm):
    found = gossip(machine_of(name, ports), algorithm, seed=5)
    assert found.correct and found.lower_bound <= found.steps
    assert found.steps < gossip(machine_of(name, ports), "routed").steps


def test_a_large_gossip_over_busses_is_not_routed_to_be_compared():
    found = mpinet.optimum("plens:3,130", collective="gossip")
    assert (found.own, found.own_algorithm, found.upper_by) == (None, None, "matching")
    assert found.correct and 129 <= found.lower <= found.upper
