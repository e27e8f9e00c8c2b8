"""Exchanges over a dimension, and beeps, do what the steps that they stand for do."""

from itertools import pairwise

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, own, transport
from serial.networks.reference import EVERYTHING

import mpinet
from mpinet.errors import ModelViolation, UsageError
from mpinet.machine.model import PortModel
from mpinet.machine.trace import Trace


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.complex128, [("a", "i2"), ("b", "f8")]])
@pytest.mark.parametrize("dimension", range(5))
def test_a_swap_brings_every_processor_its_partners_message(dimension, dtype):
    machine = machine_of("hypercube:5", "one")
    swap = machine.swap(dimension, 1 << dimension)
    assert len(set(everyone(swap is None))) == 1
    assert swap is not None or transport().size not in (1, 2, 4, 8)
    if swap is None:  # what serves instead brings the same
        swap = machine.plan(machine.nodes, np.full_like(machine.nodes, dimension))
    payload = np.zeros(len(machine.nodes), dtype)
    payload.view(np.uint8).reshape(len(payload), -1)[:] = machine.nodes[:, np.newaxis]
    received = np.ascontiguousarray(swap(payload)).reshape(-1)
    senders = received.view(np.uint8).reshape(len(payload), -1)
    assert (machine.nodes ^ (1 << dimension) == senders.T).all()
    assert (machine.steps, machine.messages) == (1, 32)


@pytest.mark.parametrize("dimension", range(3))
def test_a_swap_wants_a_message_of_every_processor(dimension):
    machine = machine_of("hypercube:3")
    swap = machine.swap(dimension, 1 << dimension)
    if swap is not None:
        surplus = np.zeros(len(machine.nodes) + (transport().rank == 0))
        with pytest.raises(UsageError, match="messages, one per processor"):
            swap(surplus)
            machine.sum(1)


@pytest.mark.parametrize(
    ("network", "port", "bit", "options"),
    [
        ("hypercube:4", 1, 4, {}),
        ("hypercube:4", 4, 1, {}),
        ("ring:16", 0, 1, {}),
        ("mesh:4x4", 0, 1, {}),
        ("hypercube:4", 1, 2, {"loads": True}),
        ("hypercube:4", 1, 2, {"trace": Trace()}),
        ("hypercube:4", 1, 2, {"ports": PortModel(half_duplex=True)}),
    ],
)
def test_only_exchanges_of_all_processors_over_one_dimension_are_swaps(network, port, bit, options):
    assert machine_of(network, **options).swap(port, bit) is None


@pytest.mark.parametrize("mapping", ["random", "table"])
def test_swaps_need_contiguous_blocks(mapping):
    scattered = mapping_of(mpinet.open("hypercube:4"), mapping)
    assert machine_of("hypercube:4", mapping=scattered).swap(0, 1) is None


@pytest.mark.parametrize("options", [{}, {"loads": True}, {"ports": PortModel(half_duplex=False)}])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("network", ["ring:3", "hypercube:5", "mesh:3x4", "torus:2x3x5"])
def test_a_beep_is_received_by_the_neighbors(network, mapping, options):
    topology, wiring = mpinet.open(network), EVERYTHING[network]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping), **options)
    for every in (1, 3, topology.size):
        senders = range(0, topology.size, every)
        before = machine.messages
        mine = np.arange(0, topology.size, every)[own(machine, np.array(senders))]
        heard = machine.beep(mine[::-1])
        links = [v for u in senders for v in wiring[u] if v is not None]
        assert heard.tolist() == sorted(set(links) & set(machine.nodes.tolist()))
        assert machine.messages - before == len(links)
    assert machine.steps == 3


def test_a_beep_on_busses_is_a_step_like_any_other():
    machine = machine_of("busstar:3,2")
    mine = machine.nodes[machine.nodes == 0]
    fellows = {v for v in machine.topology.neighbor(0, np.arange(machine.topology.ports)) if v >= 0}
    assert machine.beep(mine).tolist() == sorted(fellows & set(machine.nodes.tolist()))


def test_beeps_of_one_port_processors_are_refused():
    machine = machine_of("hypercube:3", "one")
    with pytest.raises(ModelViolation, match=r"Step 1: processor .* at most 1 message"):
        machine.beep(machine.nodes)


def test_a_processor_cannot_beep_twice_in_a_step():
    machine = machine_of("ring:8")
    with pytest.raises(ModelViolation, match="one message per direction"):
        machine.beep(np.repeat(machine.nodes, 2))


@pytest.mark.parametrize("options", [{}, {"loads": True}])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("network", ["ring:3", "ccc:3", "torus:2x3x5", "fattree:2,3"])
def test_a_spread_brings_every_processor_its_neighbors_rows(network, mapping, options):
    topology, wiring = mpinet.open(network), EVERYTHING[network]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping), **options)
    spread = machine.local_broadcast()
    heard = brought(machine, spread)
    assert heard == [[v for v in wiring[u] if v is not None] for u in machine.nodes.tolist()]
    sent = sum(v is not None for row in wiring for v in row)
    assert (machine.steps, machine.messages) == (1, sent)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_spread_may_leave_links_out(mapping):
    topology, wiring = mpinet.open("hypercube:5"), EVERYTHING["hypercube:5"]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    ends = [(u, p) for u in machine.nodes.tolist() for p in range(5) if (u | 1 << p) % 3]
    heard = brought(
        machine, machine.local_broadcast(tuple(np.array(ends, np.int64).reshape(-1, 2).T))
    )
    assert heard == [[wiring[u][p] for v, p in ends if v == u] for u in machine.nodes.tolist()]
    assert machine.messages == sum(len(part) for part in everyone(ends))


def brought(machine, spread):
    """Whose rows come to this rank's processors, which send their numbers."""
    rows, count = spread.room(2), len(machine.nodes)
    rows[:count] = np.stack([machine.nodes, machine.nodes * 7], axis=1)
    assert spread(rows, 3 + transport().rank) == sum(3 + r for r in range(transport().size))
    assert (rows[:, 0] * 7 == rows[:, 1]).all()
    heard = rows[spread.origins, 0].astype(int)
    return [heard[begin:end].tolist() for begin, end in pairwise(spread.starts.astype(int))]


def test_a_spread_over_half_duplex_links_is_refused():
    machine = machine_of("ring:6", PortModel(half_duplex=True))
    with pytest.raises(ModelViolation, match=r"half.duplex"):
        machine.local_broadcast()
        machine.sum(1)
