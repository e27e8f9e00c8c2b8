"""What the machine counts is what its trace shows, and a dry run counts what a rank would send."""

from collections import Counter

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, own, transport
from serial.machine.busgrid import BusGrid, bus_of
from serial.machine.outcome import loads_of, moves_of, together
from serial.machine.scenario import inject
from serial.networks.reference import EVERYTHING

import mpinet
from mpinet import Machine
from mpinet.errors import TransportError, UsageError
from mpinet.machine.dry import Dry
from mpinet.machine.model import PortModel
from mpinet.machine.router import Router
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local

CCC = EVERYTHING["ccc:3"]


def random_step(machine, seed):
    """Let random processors send on random ports."""
    random = np.random.default_rng(seed)
    pairs = np.unique(random.integers(0, (24, 3), (30, 2)), axis=0)
    mine = own(machine, pairs[:, 0])
    machine.step(pairs[mine, 0], pairs[mine, 1])
    return [tuple(pair) for pair in pairs.tolist()]


def test_steps_of_every_kind_are_told_to_who_watches_and_counted_as_spent():
    told = []
    machine = machine_of("hypercube:3", watch=told.append)
    nodes, ports = np.repeat(machine.nodes, 3), np.tile(np.arange(3), len(machine.nodes))
    with machine.spending() as first:
        machine.step(nodes, ports)  # 24 messages: 8 processors, 3 ports
        machine.plan(machine.nodes, np.zeros_like(machine.nodes))(machine.nodes)  # 8
    with machine.spending() as second:
        machine.beep(machine.nodes)  # 24
        broadcast = machine.local_broadcast()
        broadcast(broadcast.room())  # 24
        if machine.swap(0, 1) is not None:  # both partners on a rank, or whole blocks: 8
            machine.swap(0, 1)(machine.nodes)
        else:
            machine.step(machine.nodes, np.zeros_like(machine.nodes))
        router = Router(machine, machine.topology.routing())
        inject(router, [(0, 7), (1, 0)])  # paths of 3 hops and of 1
        router.run()
    assert (first.begun, first.steps, first.messages) == (0, 2, 32)
    assert (second.begun, second.steps, second.messages) == (2, 6, 60)
    assert told == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_messages_loads_and_trace_are_what_was_sent(mapping):
    mapped = mapping_of(mpinet.open("ccc:3"), mapping)
    machine = machine_of("ccc:3", mapping=mapped, loads=True, trace=Trace())
    sent = [(step, u, p) for step in range(1, 5) for u, p in random_step(machine, step)]
    assert (machine.steps, machine.messages) == (4, len(sent))
    moves = together(everyone, moves_of(machine))
    assert moves == sorted((step, u, p, CCC[u][p], -1) for step, u, p in sent)
    loads = {(node, port): n for node, port, n in together(everyone, loads_of(machine))}
    assert loads == Counter((u, p) for _, u, p in sent)
    load = machine.channel_load()
    assert (load.max, load.mean) == (max(loads.values()), len(sent) / 72)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_half_duplex_link_is_one_channel(mapping):
    topology = mpinet.open("ccc:3")
    machine = machine_of(
        topology, PortModel(half_duplex=True), mapping=mapping_of(topology, mapping), loads=True
    )
    links = [(u, p) for u, ports in enumerate(CCC) for p, v in enumerate(ports) if u < v]
    back = [(CCC[u][p], CCC[CCC[u][p]].index(u)) for u, p in links]
    carried = Counter()
    for sends in (links, back, links[:7], back[5:9]):
        mine = own(machine, [u for u, _ in sends])
        machine.step(*np.array(sends)[mine].T)
        carried.update(frozenset((u, CCC[u][p])) for u, p in sends)
    load = machine.channel_load()
    assert (load.max, load.mean) == (max(carried.values()), carried.total() / 36)


def test_a_bus_is_one_channel_and_a_transmission_counts_once():
    machine = machine_of(BusGrid(2, 3), loads=True)
    sends = [[(0, 0), (0, 1), (3, 1)], [(1, 0), (5, 0), (5, 1), (5, 2)], [(2, 1)]]
    for step in sends:
        mine = own(machine, [u for u, _ in step])
        machine.step(*np.array(step)[mine].T)
    to = [[1, 2, 5], [0, 3, 4, 2], [1]]
    taken = {
        (step, u, bus_of((u, p, v), 2, 3))
        for step, (pairs, ends) in enumerate(zip(sends, to, strict=True))
        for (u, p), v in zip(pairs, ends, strict=True)
    }
    busses = Counter(bus for _, _, bus in taken)
    assert machine.messages == len(taken) == 6
    load = machine.channel_load()
    assert (load.max, load.mean) == (max(busses.values()), 6 / 5)


def test_a_machine_that_does_not_meter_loads_says_so():
    with pytest.raises(UsageError, match="loads=True"):
        machine_of("ring:4").channel_load()


class Counted:
    """A real rank's transport that counts the records and bytes it hands over."""

    def __init__(self, real: Local):
        self._real = real
        self.bytes_sent, self.records_sent = 0, np.zeros(real.size, np.int64)

    def __getattr__(self, name):
        return getattr(self._real, name)

    def exchange(self, records, counts, word=0, room=None):
        self.bytes_sent += records.nbytes
        self.records_sent += counts
        return self._real.exchange(records, counts, word, room)


def planned_step(machine):
    """Half of the processors send a record of 24 bytes on every second port."""
    nodes = np.repeat(machine.nodes[machine.nodes % 2 == 0], 2)
    ports = np.tile([0, 2], len(nodes) // 2)
    machine.step(nodes, ports, np.ones((len(nodes), 3)))


def routed_step(machine):
    """The first step of a routed pattern."""
    router = Router(machine, machine.topology.routing())
    inject(
        router, [(u, (u * 11 + 5) % machine.topology.size) for u in range(machine.topology.size)]
    )
    router.step()


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("act", [planned_step, routed_step])
def test_a_dry_run_counts_what_a_real_rank_sends(act, mapping):
    topology = mpinet.open("hypercube:6")
    options = {"topology": topology, "mapping": mapping_of(topology, mapping)}
    real = Counted(transport())
    act(Machine(transport=real, **options))
    dry = Dry(transport().rank, transport().size)
    act(Machine(transport=dry, **options))
    assert (dry.bytes_sent, dry.records_sent.tolist()) == (
        real.bytes_sent,
        real.records_sent.tolist(),
    )


@pytest.mark.parametrize("ranks", [1, 3, 5, 100])
def test_dry_runs_of_all_ranks_send_what_crosses_the_borders_of_blocks(ranks):
    owner = [rank for rank in range(ranks) for _ in range(64 // ranks + (rank < 64 % ranks))]
    crossing = np.zeros((ranks, ranks), int)
    for u in range(0, 64, 2):
        for v in (u ^ 1, u ^ 4):
            crossing[owner[u], owner[v]] += owner[u] != owner[v]
    for rank in range(ranks):
        dry = Dry(rank, ranks)
        planned_step(Machine("hypercube:6", transport=dry))
        assert dry.records_sent.tolist() == crossing[rank].tolist()
        assert dry.bytes_sent == crossing[rank].sum() * (16 + 24)


def test_a_dry_run_plays_a_rank_that_there_is():
    with pytest.raises(TransportError, match=r"0\.\.3, not 4"):
        Dry(4, 4)


@pytest.mark.parametrize("watched", ["loads", "trace", "both", "neither"])
def test_a_planned_step_is_watched_as_any_other(watched):
    def seen(act):
        trace = Trace() if watched in ("trace", "both") else None
        machine = machine_of("ccc:3", loads=watched in ("loads", "both"), trace=trace)
        nodes, ports = np.repeat(machine.nodes, 2), np.tile([0, 2], len(machine.nodes))
        for _ in range(3):
            act(machine, nodes, ports)
        moves = together(everyone, moves_of(machine)) if trace else None
        loads = together(everyone, loads_of(machine)) if machine.metered else None
        return machine.steps, machine.messages, moves, loads

    def planned(machine, nodes, ports):
        machine.plan(nodes, ports)(nodes)

    told = seen(planned)
    assert told == seen(lambda machine, nodes, ports: machine.step(nodes, ports, nodes))
    assert told[:2] == (3, 3 * 48)
    assert told[2] is None or len(told[2]) == 144
    assert told[3] is None or {load for _, _, load in told[3]} == {3}
