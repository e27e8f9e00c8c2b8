"""The router moves every message in the step in which docs/model, 5, moves it."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serial.machine.busgrid import BusGrid
from serial.machine.scenario import Network, Scenario, bus_grid, classic
from shares import some

import mpinet
from mpinet import Machine
from mpinet.errors import UsageError
from mpinet.machine import router
from mpinet.machine.model import PortModel
from mpinet.machine.router import Router
from mpinet.networks.graph import from_networkx
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic

LOWEST_CLOSER = """ring:4 mesh:2x2 mesh:3x4 torus:5 torus:2x2x2 torus:4x4 hypercube:1 complete:9
debruijn:3 shuffleexchange:3 circulant:10,jumps=1-5 chordalring:6,3 ring:3*hypercube:2""".split()
"""Networks whose routing takes the lowest port that leads closer."""

CLASSIC = {name: classic(name) for name in LOWEST_CLOSER}

LIMITS = st.sampled_from([None, 1])


BUSSES = {shape: bus_grid(*shape) for shape in [(1, 2), (1, 6), (2, 2), (3, 4)]}


@st.composite
def graphs(draw: st.DrawFn) -> Network:
    """A random connected graph of 2..9 processors."""
    size = draw(st.integers(2, 9))
    graph = networkx.Graph()
    graph.add_edges_from((u, draw(st.integers(0, u - 1))) for u in range(1, size))
    node = st.integers(0, size - 1)
    extra = draw(st.lists(st.tuples(node, node), max_size=10))
    graph.add_edges_from((u, v) for u, v in extra if u != v)
    wiring = [sorted(graph.neighbors(u)) for u in range(size)]
    return Network(from_networkx(graph), wiring)


@st.composite
def scenarios(draw: st.DrawFn, network: Network, faulty: bool = False) -> Scenario:
    """Any traffic and any port model on a network."""
    topology = network.topology
    node = st.integers(0, topology.size - 1)
    batches = st.lists(st.lists(st.tuples(node, node), max_size=20), min_size=1, max_size=3)
    dead: list[int] = []
    cut: list[tuple[int, int]] = []
    if faulty:
        edges = [(u, v) for u, ports in enumerate(network.wiring) for v in ports if v is not None]
        dead = draw(st.lists(node, max_size=2, unique=True))
        cut = draw(st.lists(st.sampled_from(edges), max_size=3))
    return Scenario(
        network,
        draw(batches),
        send=draw(LIMITS),
        receive=draw(LIMITS),
        half_duplex=topology.links and draw(st.booleans()),
        mode=draw(st.sampled_from(["queued", "queued", "queued", "ideal"])),
        policy=draw(st.sampled_from(["oldest", "fifo"])),
        pause=draw(st.integers(0, 3)),
        dead=tuple(dead),
        cut=tuple(cut),
    )


@settings(max_examples=len(some(range(300), 4)))
@given(st.data())
def test_random_graphs_deliver_in_the_steps_of_brute_force(data):
    scenario = data.draw(scenarios(data.draw(graphs())))
    assert scenario.measured() == scenario.expected()


@settings(max_examples=len(some(range(200), 4)))
@given(st.data())
def test_classic_networks_deliver_in_the_steps_of_brute_force(data):
    network = CLASSIC[data.draw(st.sampled_from(LOWEST_CLOSER))]
    scenario = data.draw(scenarios(network))
    assert scenario.measured() == scenario.expected()


@settings(max_examples=len(some(range(200), 4)))
@given(st.data())
def test_busses_deliver_in_the_steps_of_brute_force(data):
    scenario = data.draw(scenarios(BUSSES[data.draw(st.sampled_from(list(BUSSES)))]))
    assert scenario.measured() == scenario.expected()


@settings(max_examples=len(some(range(200), 4)))
@given(st.data())
def test_messages_get_stuck_at_the_last_processor_before_a_fault(data):
    scenario = data.draw(scenarios(data.draw(graphs()), faulty=True))
    assert scenario.measured() == scenario.expected()


@pytest.mark.parametrize("network", ["torus:4x4", "mesh:3x4"])
@pytest.mark.parametrize("policy", ["oldest", "fifo"])
def test_oldest_and_fifo_agree_with_brute_force_where_they_differ(network, policy):
    size = CLASSIC[network].topology.size
    batch = [(u, (u * u + 3 * k) % size) for k in range(4) for u in range(size)]
    runs = [Scenario(CLASSIC[network], [batch, batch], 1, 1, policy=p) for p in ("oldest", "fifo")]
    assert runs[0].expected() != runs[1].expected()
    run = Scenario(CLASSIC[network], [batch, batch], 1, 1, policy=policy)
    assert run.measured() == run.expected()


def test_ideal_mode_delivers_after_as_many_steps_as_hops():
    everybody = [(u, v) for u in range(16) for v in range(16)]
    outcome = Scenario(CLASSIC["torus:4x4"], [everybody], mode="ideal").measured()
    assert all(hops == step for _, _, hops, step in outcome["delivered"])
    assert outcome["queue_max"] == 0


def test_router_refuses_what_it_does_not_know():
    machine = Machine("ring:4")
    routing = machine.topology.routing()
    with pytest.raises(UsageError, match="no mode 'best'"):
        Router(machine, routing, mode="best")
    with pytest.raises(UsageError, match="no policy 'newest'"):
        Router(machine, routing, policy="newest")
    two_ports = Machine("torus:4x4", PortModel(send=2))
    with pytest.raises(UsageError, match="one port or all"):
        Router(two_ports, two_ports.topology.routing())


@pytest.mark.parametrize("name", ["hypercube:40", "complete:16777217"])
def test_router_refuses_networks_whose_numbers_do_not_fit_into_a_message(name):
    machine = Machine(name)
    with pytest.raises(UsageError, match=f"{name} has {machine.topology.size} with"):
        Router(machine, machine.topology.routing())


def test_messages_whose_ends_are_drawn_in_parts_end_like_those_given_at_once(monkeypatch):
    monkeypatch.setattr(router, "DRAWN_AT_ONCE", 7)
    pattern = traffic(mpinet.open("torus:4x5"), "random:60", 3)
    numbers, found = np.arange(60, dtype=np.uint8), []
    for drawn in (True, False):
        routed = Router(Machine("torus:4x5"), pattern.topology.routing(), keep=True)
        if drawn:
            routed.inject_drawn(numbers, pattern.ends, 60)
        else:
            routed.inject(*pattern.ends(numbers), numbers, 60)
        routed.run()
        ended = routed.delivered
        found.append([ended.numbers.tolist(), ended.nodes.tolist(), ended.steps.tolist()])
    assert found[0] == found[1]
    assert found[0][:2] == [numbers.tolist(), pattern.ends(numbers)[1].tolist()]


def test_busses_have_no_half_duplex():
    with pytest.raises(UsageError, match="half duplex"):
        Machine(BusGrid(2, 2), PortModel(half_duplex=True))


@pytest.mark.costly
@pytest.mark.parametrize("name", ["ring:5*mesh:3x3", "clens:3,3"])
@pytest.mark.parametrize("policy", ["oldest", "fifo"])
def test_rules_that_are_compiled_in_route_as_those_that_are_called(name, policy, monkeypatch):
    topology = mpinet.open(name)
    pattern = traffic(topology, "all", 0)
    found = []
    for least in (0, 1 << 40):
        monkeypatch.setattr(router, "INLINED_FROM", least)
        machine = Machine(topology, loads=True)
        found.append(route(machine, pattern, policy=policy))
    assert found[0] == found[1]
    assert found[0].delivered == topology.size * (topology.size - 1)


def routed_from_step(step):
    """Latencies of one-port routing by fifo on a router that has made so many steps."""
    machine = Machine("torus:4x4", "one")
    pattern = traffic(machine.topology, "random:300", 5)
    one = Router(machine, machine.topology.routing(), policy="fifo")
    one._ledger.step = step
    numbers = pattern.sent_by(machine)
    one.inject(*pattern.ends(numbers), numbers, pattern.total)
    one.run()
    return np.trim_zeros(one.latencies, "b").tolist()


def test_who_waits_longest_goes_first_however_late_it_is():
    assert routed_from_step(2**23 - 10) == routed_from_step(0)


def test_a_step_that_no_longer_fits_into_a_priority_gets_a_sentence():
    with pytest.raises(UsageError, match="at most 16777215 steps"):
        routed_from_step(2**24 - 10)
