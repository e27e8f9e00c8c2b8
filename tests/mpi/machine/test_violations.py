"""Who breaks the port model is told so on every rank: step, processor, port and rule."""

import numpy as np
import pytest
from mpi.machine.ranks import everyone, machine_of, mapping_of, own, transport
from serial.machine.busgrid import BusGrid

import mpinet
from mpinet import ModelViolation
from mpinet.machine.model import PortModel

HALF_DUPLEX = PortModel(half_duplex=True)
ONE_RECEIVE = PortModel(receive=1)
TWO_SENDS = PortModel(send=2)

GRID = BusGrid(2, 3)
"""Processors 0 1 2 on bus 0, 3 4 5 on bus 1, 0 3 on bus 2, 1 4 on bus 3, 2 5 on bus 4; ports 0 and
1 lead along the row, port 2 along the column."""

SENDERS = {
    "no such port": ("ring:6", "all", [(4, 2)], "processor 4 sends on port 2: .* only ports 0..1"),
    "negative port": ("ring:6", "all", [(4, -1)], "processor 4 sends on port -1: .* ports 0..1"),
    "unwired": ("mesh:6", "all", [(1, 0), (5, 0)], "processor 5 sends on port 0: .* not wired"),
    "twice": (
        "ring:6",
        "all",
        [(3, 0), (3, 1), (3, 0)],
        "processor 3 sends on port 0: a channel carries one message per direction",
    ),
    "one-port": (
        "ring:6",
        "one",
        [(3, 0), (3, 1)],
        r"processor 3 sends on port 1: a processor sends at most 1 message",
    ),
    "two sends": (
        "hypercube:3",
        TWO_SENDS,
        [(6, 0), (6, 2), (6, 1)],
        r"processor 6 sends on port 1: a processor sends at most 2 message",
    ),
    "twice on a bus": (GRID, "all", [(4, 1), (4, 1)], "processor 4 sends on port 1: a channel"),
    "two busses, one-port": (
        GRID,
        "one",
        [(1, 0), (1, 1), (1, 2)],
        r"processor 1 sends on port 2: a processor sends at most 1 message",
    ),
}
"""Name -> network, port model, sends (node, port), what is said."""

RECEIVERS = {
    "one-port": (
        "ring:6",
        "one",
        [(0, 0), (2, 1), (4, 0)],
        r"processor 1 receives on port 1: a processor accepts at most 1 message",
    ),
    "one receiving port": (
        "hypercube:3",
        ONE_RECEIVE,
        [(u, p) for u in (1, 2) for p in range(3)],
        r"processor 0 receives on port 1: a processor accepts at most 1 message",
    ),
    "half duplex": (
        "ring:6",
        HALF_DUPLEX,
        [(3, 0), (4, 1), (1, 0)],
        "processor [34] sends and receives on port [01]: a half-duplex link carries one message",
    ),
    "one receiving port on busses": (
        GRID,
        ONE_RECEIVE,
        [(0, 0), (4, 2)],
        r"processor 1 receives on port 2: a processor accepts at most 1 message",
    ),
    "two transmissions on a bus": (
        GRID,
        "all",
        [(3, 0), (5, 0)],
        "processor 5 sends on port 0: bus 1 carries one transmission .* processor 3",
    ),
    "two transmissions on a bus, over ports of other numbers": (
        "plens:3,8",  # bus 4 is behind ports 0 and 1 of processor 0, behind 2 and 3 of processor 1
        "all",
        [(0, 0), (1, 2)],
        "processor 1 sends on port 2: bus 4 carries one transmission .* processor 0",
    ),
}


def everybody_is_told(machine, text, act):
    """The violation is raised on every rank, in its next collective at the latest."""
    with pytest.raises(ModelViolation, match=text) as error:
        act()
        machine.sum(0)
    assert len(set(everyone(str(error.value)))) == 1


def ranks_are_in_step(topology):
    """The ranks' next collectives belong together, on a new machine and its transport."""
    assert machine_of(topology).sum(1, transport().rank) == [
        transport().size,
        sum(range(transport().size)),
    ]
    machine = machine_of("ring:3")
    inbox = machine.step(machine.nodes, np.zeros_like(machine.nodes), machine.nodes)
    assert inbox.payload.tolist() == [(u - 1) % 3 for u in machine.nodes.tolist()]


def of_this_rank(machine, sends):
    sends = np.array(sends)
    mine = own(machine, sends[:, 0])
    return sends[mine, 0], sends[mine, 1]


@pytest.mark.parametrize("act", ["step", "plan"])
@pytest.mark.parametrize("name", [*SENDERS, *(f"receiver: {name}" for name in RECEIVERS)])
def test_violations_are_raised_on_every_rank(name, act):
    case = SENDERS[name] if name in SENDERS else RECEIVERS[name.removeprefix("receiver: ")]
    topology, model, sends, text = case
    machine = machine_of(topology, model)
    machine.step([], [])
    nodes, ports = of_this_rank(machine, sends)
    everybody_is_told(machine, f"Step 2: {text}", lambda: getattr(machine, act)(nodes, ports))
    ranks_are_in_step(topology)


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize("which", ["hosted elsewhere", "nobody's", "negative"])
def test_a_rank_sends_for_its_own_processors_only(mapping, which):
    topology = mpinet.open("hypercube:4")
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    others = everyone(machine.nodes[:1].tolist())[1:] or [[]]
    foreign = {"hosted elsewhere": (others[0] or [16])[0], "nobody's": 16, "negative": -1}[which]
    nodes = [foreign] if transport().rank == 0 else []
    text = f"Step 1: processor {foreign} is not hosted by rank 0"
    everybody_is_told(machine, text, lambda: machine.step(nodes, [0] * len(nodes)))
    ranks_are_in_step(topology)


def test_of_several_strangers_the_first_is_told():
    machine = machine_of("hypercube:4")
    nodes = [18, 17, 16] if transport().rank == 0 else []
    text = "Step 1: processor 18 is not hosted by rank 0"
    everybody_is_told(machine, text, lambda: machine.step(nodes, [0] * len(nodes)))
    ranks_are_in_step("hypercube:4")


def test_what_the_lowest_guilty_rank_did_is_told_when_several_are_guilty():
    machine = machine_of("ring:16")
    nodes = np.repeat(machine.nodes[:1], 2)
    text = "Step 1: processor 0 sends on port 0: a channel carries one message per direction"
    everybody_is_told(machine, text, lambda: machine.step(nodes, np.zeros_like(nodes)))
    ranks_are_in_step("ring:16")


def test_different_messages_on_the_ports_of_one_bus_are_a_violation():
    machine = machine_of(GRID)
    nodes, ports = of_this_rank(machine, [(4, 0), (4, 2), (4, 1)])
    machine.step(nodes, ports, np.array([[1.5, 2.0], [0.0, 0.0], [1.5, 2.0]])[: len(nodes)])
    text = "Step 2: processor 4 sends on port 1: sends on several ports of bus 1 .* one message"
    different = np.array([[1.5, 2.0], [1.5, 2.0], [1.5, 0.0]])[: len(nodes)]
    everybody_is_told(machine, text, lambda: machine.step(nodes, ports, different))
    ranks_are_in_step(GRID)


def test_plans_carry_one_message_on_the_ports_of_one_bus_too():
    machine = machine_of(GRID)
    nodes, ports = of_this_rank(machine, [(4, 0), (4, 2), (4, 1)])
    plan = machine.plan(nodes, ports)
    plan(np.array([1, 2, 1])[: len(nodes)])
    text = "Step 2: processor 4 sends on port 1: sends on several ports of bus 1 .* one message"
    everybody_is_told(machine, text, lambda: plan(np.array([1, 2, 3])[: len(nodes)]))
    ranks_are_in_step(GRID)


def test_several_ports_of_one_bus_are_one_transmission():
    machine = machine_of(GRID, "one")
    nodes, ports = of_this_rank(machine, [(4, 0), (4, 1), (2, 2)])
    nodes, ports = of_this_rank(machine, [(4, 0), (0, 0)])
    machine.step(nodes, ports)
    nodes, ports = of_this_rank(machine, [(4, 0), (4, 1)])
    machine.step(nodes, ports)
    assert (machine.steps, machine.messages) == (2, 3)


def test_a_processor_that_listens_to_one_port_accepts_one_message():
    machine = machine_of("ring:6", "one")
    nodes, ports = of_this_rank(machine, [(0, 0), (2, 1)])
    listen = of_this_rank(machine, [(1, 0)])
    inbox = machine.step(nodes, ports, nodes, listen=listen)
    assert inbox.payload.tolist() == [2] * (1 in machine.nodes)
    listen = of_this_rank(machine, [(1, 0), (1, 1)])
    text = "Step 2: processor 1 receives on port 1: a processor accepts at most 1 message"
    everybody_is_told(machine, text, lambda: machine.step(nodes, ports, nodes, listen=listen))


def test_a_half_duplex_link_carries_one_message_even_if_nobody_listens():
    machine = machine_of("ring:6", HALF_DUPLEX)
    nodes, ports = of_this_rank(machine, [(3, 0), (4, 1)])
    text = "Step 1: processor [34] sends and receives on port [01]: a half-duplex link"
    everybody_is_told(machine, text, lambda: machine.step(nodes, ports, nodes, listen=([], [])))
    ranks_are_in_step("ring:6")


SPREADS = {
    "one end of every link": (
        "ring:12",
        [(u, 0) for u in range(12)],
        "receives on port 1, but does",
    ),
    "one end of one link": ("ring:4", [(0, 0)], "1 receives on port 1, but does not send there: "),
    "one end of one of many": (
        "mesh:3x3",
        [(4, p) for p in range(4)] + [(1, 0), (1, 2), (3, 0), (5, 1), (7, 1), (7, 3)],
        "receives on port .* both directions of a link or none",
    ),
    "not wired": ("mesh:3x3", [(0, 1)], "processor 0 sends on port 1: this port is not wired"),
    "twice": ("ring:4", [(0, 0), (0, 0), (1, 1)], "processor 0 sends on port 0: a channel carries"),
    "no such port": ("ring:4", [(2, 2)], "processor 2 sends on port 2: there are only ports 0"),
    "one end of a bus": (GRID, [(4, 0)], "receives on port .* both directions of a link or none"),
}
"""Name -> network, processors and ports of a spread, what is said."""


@pytest.mark.parametrize("options", [{}, {"loads": True}], ids=["plain", "metered"])
@pytest.mark.parametrize("name", SPREADS)
def test_a_spread_goes_both_ways_over_links_that_are_there(name, options):
    topology, sends, text = SPREADS[name]
    machine = machine_of(topology, **options)
    machine.step([], [])
    ports = of_this_rank(machine, sends)
    everybody_is_told(machine, f"Step 2: .*{text}", lambda: machine.local_broadcast(ports))
    ranks_are_in_step(topology)


def test_a_spread_over_both_ends_of_some_links_brings_what_their_other_ends_send():
    machine = machine_of("ring:12")
    nodes = machine.nodes
    spread = machine.local_broadcast((nodes, (nodes + 1) % 2))
    rows = spread.room()
    rows[: len(nodes)] = nodes + 100
    spread(rows)
    partners = np.where(nodes % 2, nodes + 1, nodes - 1) % 12
    assert rows[spread.origins].tolist() == (partners + 100).tolist()


@pytest.mark.parametrize("model", ["one", "all", TWO_SENDS])
def test_what_a_step_used_is_free_in_the_next(model):
    machine = machine_of("hypercube:3", model)
    at_once = 2 if model is TWO_SENDS else {"one": 1, "all": 3}[model]
    nodes = np.repeat(machine.nodes, at_once)
    ports = np.tile(np.arange(at_once), len(machine.nodes))
    for _ in range(4):
        machine.step(nodes, ports)
    assert (machine.steps, machine.messages) == (4, 4 * 8 * at_once)
    assert not machine.used_ports.any() and not machine.sent.any()


@pytest.mark.parametrize("model", ["one", "all"])
def test_what_a_refused_step_used_is_free_in_the_next(model):
    machine = machine_of("hypercube:3", model)
    nodes = machine.nodes[:2].tolist()
    with pytest.raises(ModelViolation, match="Step 1"):
        machine.step(nodes + nodes[-1:], [0] * (len(nodes) + 1))
    machine.step(machine.nodes, np.zeros_like(machine.nodes))
    assert (machine.steps, machine.messages) == (1, 8)
