"""A step brings every message to its neighbour, in an order that no rank count changes."""

from itertools import chain

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, own, transport
from mpi4py import MPI
from serial.machine.busgrid import BusGrid, bus_grid_wiring
from serial.networks.reference import EVERYTHING, hypercube

import mpinet
from mpinet import Machine
from mpinet.errors import UsageError
from mpinet.machine.transport import Local, Mpi

NETWORKS = "ring:3 hypercube:5 mesh:3x4 ccc:3 complete:9 fattree:2,3 torus:2x3x5".split()

RECORD = np.dtype([("name", "S3"), ("where", np.float32, (2, 2)), ("flag", np.bool_)])

PAYLOADS = {
    "integers": (np.int64, ()),
    "bytes": (np.uint8, ()),
    "truths": (np.bool_, ()),
    "floats": (np.float32, ()),
    "complex": (np.complex128, ()),
    "texts": ("U5", ()),
    "dates": ("datetime64[s]", ()),
    "matrices": (np.float64, (2, 3)),
    "nothing": (np.int64, (0,)),
    "records": (RECORD, ()),
    "rows of records": (RECORD, (3,)),
}


def some_sends(wiring):
    """About half of all wired (node, port) pairs, in no order."""
    pairs = [(u, p) for u, ports in enumerate(wiring) for p, v in enumerate(ports) if v is not None]
    return np.random.default_rng(3).permutation(np.array(pairs))[: len(pairs) // 2]


def inbox_rows(machine, wiring, sends):
    """Rows (receiver, its port, place in sends), in order, of this rank's processors."""
    places = enumerate(sends.tolist())
    rows = sorted((wiring[u][p], wiring[wiring[u][p]].index(u), k) for k, (u, p) in places)
    here = set(machine.nodes.tolist())
    return [row for row in rows if row[0] in here]


def rows_of(inbox):
    """An inbox of numbers as rows (receiver, its port, number)."""
    parts = (inbox.nodes, inbox.ports, inbox.payload)
    return list(zip(*(part.tolist() for part in parts), strict=True))


def step(machine, sends, payload=None, **options):
    """Let every rank send for its processors."""
    mine = own(machine, sends[:, 0])
    messages = None if payload is None else payload[mine]
    return machine.step(sends[mine, 0], sends[mine, 1], messages, **options)


def messages(dtype, shape, count):
    """Different messages of a type."""
    dtype = np.dtype(dtype)
    payload = np.empty((count, *shape), dtype)
    for part in [payload] if dtype.names is None else [payload[name] for name in dtype.names]:
        part[...] = np.arange(part.size).reshape(part.shape).astype(part.dtype)
    return payload


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("network", NETWORKS)
def test_inbox_is_by_node_then_port(network, mapping):
    topology, wiring = mpinet.open(network), EVERYTHING[network]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    sends = some_sends(wiring)
    inbox = step(machine, sends, np.arange(len(sends)))
    assert rows_of(inbox) == inbox_rows(machine, wiring, sends)
    assert len(inbox) == len(inbox.nodes)
    assert machine.steps == 1
    assert machine.messages == len(sends) == sum(everyone(len(inbox)))


@pytest.mark.parametrize("kind", PAYLOADS)
def test_messages_of_any_fixed_size_arrive_as_they_were_sent(kind):
    topology, wiring = mpinet.open("hypercube:4"), hypercube(4)
    machine = machine_of(topology, mapping=mapping_of(topology, "random"))
    sends = some_sends(wiring)
    payload = messages(*PAYLOADS[kind], len(sends))
    expected = payload[[place for _, _, place in inbox_rows(machine, wiring, sends)]]
    inbox = step(machine, sends, payload)
    mine = own(machine, sends[:, 0])
    planned = machine.plan(sends[mine, 0], sends[mine, 1])(payload[mine])
    for received in (inbox.payload, planned):
        assert (received.dtype, received.shape) == (expected.dtype, expected.shape)
        assert np.array_equal(received, expected)


def test_messages_without_payload_arrive():
    machine, wiring = machine_of("hypercube:5"), hypercube(5)
    sends = some_sends(wiring)
    inbox = step(machine, sends)
    expected = inbox_rows(machine, wiring, sends)
    assert inbox.nodes.tolist() == [node for node, _, _ in expected]
    assert inbox.ports.tolist() == [port for _, port, _ in expected]
    assert inbox.payload.size == 0


def test_a_step_without_sends_is_a_step():
    machine = machine_of("ring:5")
    assert len(machine.step([], [])) == 0
    assert len(machine.plan([], [])(np.empty(0))) == 0
    assert (machine.steps, machine.messages) == (2, 0)


def test_one_processor_may_send_to_another_far_away_while_all_others_rest():
    machine = machine_of("ring:100")
    sends = np.array([[99, 0]])
    inbox = step(machine, sends, np.array([2.5]))
    assert rows_of(inbox) == ([(0, 1, 2.5)] if 0 in machine.nodes else [])


def test_bus_members_hear_what_is_sent_to_them():
    machine, wiring = machine_of(BusGrid(3, 4)), bus_grid_wiring(3, 4)
    whole_row = [(5, port) for port in range(3)]
    sends = np.array([*whole_row, (2, 0), (2, 2), (2, 4), (0, 3)])
    payload = np.array([7, 7, 7, 8, 8, 9, 10])  # one message for each of the four busses
    inbox = step(machine, sends, payload)
    expected = inbox_rows(machine, wiring, sends)
    assert rows_of(inbox) == [(node, port, payload[place]) for node, port, place in expected]
    assert machine.messages == 4


@pytest.mark.parametrize("planned", [False, True])
def test_words_of_all_ranks_add_up(planned):
    machine = machine_of("hypercube:4")
    word = 3 + machine.transport.rank
    if planned:
        plan = machine.plan(machine.nodes, np.zeros_like(machine.nodes))
        plan(machine.nodes, word=word)
        total = plan.total
    else:
        total = machine.step([], [], word=word).total
    assert total == sum(everyone(word))


def test_listening_processors_accept_from_the_ports_they_name():
    machine, wiring = machine_of("hypercube:5"), hypercube(5)
    sends = some_sends(wiring)
    named = {(u, (u + i) % 5) for u in range(32) for i in range(u % 3)}
    mine = np.array(sorted((u, p) for u, p in named if u in machine.nodes)).reshape(-1, 2)
    inbox = step(machine, sends, np.arange(len(sends)), listen=(mine[:, 0], mine[:, 1]))
    expected = [row for row in inbox_rows(machine, wiring, sends) if row[:2] in named]
    assert rows_of(inbox) == expected
    assert machine.messages == len(sends)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_plans_do_what_steps_do(mapping):
    topology, wiring = mpinet.open("ccc:3"), EVERYTHING["ccc:3"]
    options = {"mapping": mapping_of(topology, mapping), "loads": True}
    stepping, planning = machine_of(topology, **options), machine_of(topology, **options)
    sends = some_sends(wiring)
    mine = own(planning, sends[:, 0])
    plan = planning.plan(sends[mine, 0], sends[mine, 1])
    assert planning.steps == 0
    for turn in range(3):
        payload = np.arange(len(sends)) * turn
        inbox, received = step(stepping, sends, payload), plan(payload[mine])
        assert np.array_equal(plan.nodes, inbox.nodes)
        assert np.array_equal(plan.ports, inbox.ports)
        assert np.array_equal(received, inbox.payload)
    assert planning.steps == stepping.steps == 3
    assert planning.messages == stepping.messages
    assert np.array_equal(planning.meters.loads, stepping.meters.loads)


@pytest.mark.parametrize("network", ["ring:7", "hypercube:1", "complete:9"])
def test_processors_are_dealt_out_evenly_however_many_ranks_there_are(network):
    topology = mpinet.open(network)
    for mapping in MAPPINGS:
        machine = machine_of(topology, mapping=mapping_of(topology, mapping))
        hosted = everyone(machine.nodes.tolist())
        assert sorted(chain(*hosted)) == list(range(topology.size))
        assert max(map(len, hosted)) - min(map(len, hosted)) <= 1
        assert machine.slots(machine.nodes).tolist() == list(range(len(machine.nodes)))


def test_a_single_processor_makes_steps():
    machine = machine_of("complete:1")
    assert len(machine.step([], [])) == 0
    assert everyone(len(machine.nodes)) == [1] + [0] * (transport().size - 1)


def test_one_rank_of_mpi_does_what_a_process_without_mpi_does():
    wiring = EVERYTHING["mesh:3x4"]
    sends = some_sends(wiring)
    alone = (Local(), Mpi(MPI.COMM_SELF))
    machines = [Machine("mesh:3x4", transport=transport) for transport in alone]
    inboxes = [step(machine, sends, np.arange(len(sends)), word=4) for machine in machines]
    assert rows_of(inboxes[0]) == rows_of(inboxes[1]) == inbox_rows(machines[0], wiring, sends)
    assert inboxes[0].total == inboxes[1].total == 4


def test_arrays_of_different_lengths_are_refused_on_every_rank():
    machine = machine_of("ring:8")
    guilty = transport().rank == transport().size - 1
    some = machine.nodes[:1]
    with pytest.raises(UsageError, match="same length"):
        machine.step(some, np.zeros(len(some) + guilty, np.int64), some)
    with pytest.raises(UsageError, match="one message per send"):
        machine.step(some, np.zeros(len(some), np.int64), np.arange(len(some) + guilty))
    assert machine.sum(1) == [transport().size]


DIFFERENT = [
    (np.int64, np.float64, "int64, .*float64"),
    (np.float32, np.int32, "float32, .*int32"),
    (np.dtype("<i4"), np.dtype(">i4"), "int32, .*>i4"),
    (np.dtype([("a", "i4")]), np.dtype([("b", "i4")]), r"\[\('a', .*'b'"),
    (np.dtype(("i4", 2)), np.dtype("i8"), r"int32 of shape \(2,\), .*int64"),
    (np.int16, np.int64, "int16, .*int64"),
]


@pytest.mark.parametrize("senders", [0, 4])
@pytest.mark.parametrize(("first", "other", "text"), DIFFERENT)
def test_ranks_that_give_messages_of_different_types_are_refused(first, other, text, senders):
    machine = machine_of("ring:16")
    dtype = first if transport().rank == 0 else other
    nodes = machine.nodes[:senders]
    payload = np.zeros(len(nodes), dtype)
    if transport().size == 1:  # nobody to differ from
        assert machine.step(nodes, np.zeros_like(nodes), payload).payload.dtype == payload.dtype
        return
    with pytest.raises(UsageError, match=f"same dtype and shape.*, not {text}") as error:
        machine.step(nodes, np.zeros_like(nodes), payload)
    assert len(set(everyone(str(error.value)))) == 1
    inbox = machine.step(machine.nodes, np.zeros_like(machine.nodes), machine.nodes)
    assert inbox.payload.tolist() == [(u - 1) % 16 for u in machine.nodes.tolist()]
