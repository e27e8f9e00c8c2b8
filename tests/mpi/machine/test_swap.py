"""Exchanges over a dimension, and calls, do what the steps that they stand for do."""

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
    if swap is None:
        assert transport().size not in (1, 2, 4, 8)
        return
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
        with pytest.raises(UsageError, match="processors send a message each"):
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
def test_a_call_is_heard_by_the_neighbors(network, mapping, options):
    topology, wiring = mpinet.open(network), EVERYTHING[network]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping), **options)
    for every in (1, 3, topology.size):
        callers = range(0, topology.size, every)
        before = machine.messages
        mine = np.arange(0, topology.size, every)[own(machine, np.array(callers))]
        heard = machine.call(mine[::-1])
        links = [v for u in callers for v in wiring[u] if v is not None]
        assert heard.tolist() == sorted(set(links) & set(machine.nodes.tolist()))
        assert machine.messages - before == len(links)
    assert machine.steps == 3


def test_a_call_on_busses_is_a_step_like_any_other():
    machine = machine_of("busstar:3,2")
    mine = machine.nodes[machine.nodes == 0]
    fellows = {v for v in machine.topology.neighbor(0, np.arange(machine.topology.ports)) if v >= 0}
    assert machine.call(mine).tolist() == sorted(fellows & set(machine.nodes.tolist()))


def test_calls_of_one_port_processors_are_refused():
    machine = machine_of("hypercube:3", "one")
    with pytest.raises(ModelViolation, match=r"Step 1: processor .* at most 1 message"):
        machine.call(machine.nodes)


def test_a_processor_cannot_call_twice_in_a_step():
    machine = machine_of("ring:8")
    with pytest.raises(ModelViolation, match="one message per direction"):
        machine.call(np.repeat(machine.nodes, 2))


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_plan_tells_where_it_leaves_what_it_spreads(mapping):
    topology, wiring = mpinet.open("ccc:3"), EVERYTHING["ccc:3"]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    sends = [(u, p) for u in machine.nodes.tolist() for p in range(3) if (u + p) % 3]
    plan = machine.plan(*np.array(sends, np.int64).reshape(-1, 2).T)
    rows = np.stack([machine.nodes, machine.nodes * 7], axis=1)
    away = plan.spread(rows)
    received = np.concatenate([rows, away])[plan.origins()]
    senders = [wiring[v][p] for v, p in zip(plan.nodes.tolist(), plan.ports.tolist(), strict=True)]
    assert received.tolist() == [[u, 7 * u] for u in senders]
    assert (machine.steps, machine.messages) == (1, sum(len(s) for s in everyone(sends)))
