"""What programs say of themselves is false where something went wrong: each self-check fails once.

A machine that loses, changes or misplaces what it carries is what a fault in the emulator would be.
"""

from dataclasses import replace

import numpy as np
import pytest
from mpi.machine.ranks import everyone, machine_of, transport

import mpinet
from mpinet import Machine
from mpinet.compiled import rule
from mpinet.errors import RoutingError
from mpinet.machine.dry import Dry
from mpinet.machine.router import Router
from mpinet.machine.trace import Trace
from mpinet.networks.routing import ARRIVED, STUCK
from mpinet.networks.topology import Topology
from mpinet.programs import ascend, emulate
from mpinet.programs import embed as embeds
from mpinet.programs.bounds import broadcast_bound
from mpinet.programs.broadcast import broadcast
from mpinet.programs.circulate import circulate
from mpinet.programs.collective import items
from mpinet.programs.embed import Embedding
from mpinet.programs.emulate import Emulation, emulate_ascend, emulate_step
from mpinet.programs.flood import flood
from mpinet.programs.gather import gather
from mpinet.programs.gossip import gossip
from mpinet.programs.holdings import ChunksCame, MarkedChunks, all_came, first_rows
from mpinet.programs.kinds import Purpose
from mpinet.programs.reduce import reduce
from mpinet.programs.rehearsal.route import rehearse_route
from mpinet.programs.routed import message_ends
from mpinet.programs.scatter import scatter
from mpinet.programs.schedules.routed import Routed
from mpinet.programs.traffic import traffic


class Careless(Machine):
    """A machine that changes what one processor receives in one of its steps.

    Parameters
    ----------
    victim : int
        The processor.
    at : int
        The step.
    """

    def __init__(self, network, victim, at, ports="one"):
        super().__init__(network, ports, transport())
        self._victim, self._at = victim, at

    def step(self, nodes, ports, payload=None, listen=None, word=0):
        """As in `Machine`, but for the one."""
        inbox = super().step(nodes, ports, payload, listen, word)
        if self.steps != self._at or inbox.payload is None:
            return inbox
        changed = inbox.payload.copy()
        hit = inbox.nodes == self._victim
        if changed.ndim == 1:
            changed[hit] ^= 1
        else:
            changed[hit, -1] ^= 1
        return replace(inbox, payload=changed)


def last_reception(run, network):
    """The last step of a run on a sound machine, and a processor that receives in it."""
    machine = machine_of(network, "one", trace=Trace())
    run(machine)
    mine = [(int(row["step"]), int(row["receiver"])) for row in machine.trace.records]
    return max(received for theirs in everyone(mine) for received in theirs)


@pytest.mark.parametrize("network", ["hypercube:3", "ring:7", "ccc:3", "gmn:4,16", "fattree:2,3"])
def test_a_processor_with_a_wrong_message_is_not_informed(network):
    def run(machine):
        return broadcast(machine, 1)

    at, victim = last_reception(run, network)
    hosts = mpinet.open(network).hosts
    assert run(machine_of(network, "one")).informed == hosts
    assert run(Careless(network, victim, at)).informed == hosts - 1


COLLECTIVES = {
    "scatter": lambda machine: scatter(machine, 1, "tree"),
    "gather": lambda machine: gather(machine, 1, "tree"),
    "reduce": lambda machine: reduce(machine, 1, "sum"),
    "gossip": lambda machine: gossip(machine, "tree"),
}


@pytest.mark.parametrize("network", ["hypercube:3", "mesh:2x3", "fattree:2,2"])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_collective_that_brings_a_changed_item_is_not_correct(name, network):
    at, victim = last_reception(COLLECTIVES[name], network)
    assert COLLECTIVES[name](machine_of(network, "one")).correct
    assert not COLLECTIVES[name](Careless(network, victim, at)).correct


def others(machine, root):
    """This rank's processors but the root, ascending."""
    return np.setdiff1d(machine.nodes[machine.nodes < machine.topology.hosts], [root])


def on_rank_of(machine, node, fault):
    """What a fault gives on the rank that hosts a node, and elsewhere nothing is changed."""
    return fault if bool((machine.nodes == node).any()) else lambda *arrays: arrays


FAULTS = {
    "lost": lambda nodes, rows: (nodes[nodes != 6], rows[nodes != 6]),
    "twice": lambda nodes, rows: (np.append(nodes, 6), np.append(rows, rows[nodes == 6])),
    "another's": lambda nodes, rows: (nodes, np.where(nodes == 6, 99, rows)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_scatter_is_not_correct_where_an_item_is_lost_or_comes_twice_or_is_another_s(fault):
    machine, purpose = machine_of("ring:9"), Purpose("scatter", 9, 1, 2)
    nodes = others(machine, 2)
    rows = first_rows(purpose, 4, np.full_like(nodes, 2), nodes)
    assert all_came(machine, purpose, 4, nodes, rows)
    nodes, contents = on_rank_of(machine, 6, FAULTS[fault])(nodes, rows[:, 1])
    rows = np.stack([nodes, contents], axis=1)
    assert not all_came(machine, purpose, 4, nodes, rows)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_gather_is_not_correct_where_an_item_is_lost_or_comes_twice_or_is_another_s(fault):
    machine, purpose = machine_of("ring:9"), Purpose("gather", 9, 1, 2)
    origins = np.setdiff1d(np.arange(9), [2]) if (machine.nodes == 2).any() else np.empty(0, int)
    rows = first_rows(purpose, 4, origins, origins)
    assert all_came(machine, purpose, 4, np.full_like(origins, 2), rows)
    origins, contents = on_rank_of(machine, 2, FAULTS[fault])(origins, rows[:, 1])
    rows = np.stack([origins, contents], axis=1)
    assert not all_came(machine, purpose, 4, np.full_like(origins, 2), rows)


def test_a_total_exchange_is_not_correct_where_somebody_hears_twice_from_one():
    machine, purpose = machine_of("ring:9"), Purpose("exchange", 9)
    # All send to all, so that the same pairs turned round say who has heard from whom.
    hearers, heard_from, _, _ = message_ends(machine, purpose)

    def right(origins):
        rows = first_rows(purpose, 4, hearers, origins * 9 + hearers)
        return all_came(machine, purpose, 4, hearers, rows)

    assert right(heard_from)
    wrong = heard_from.copy()
    wrong[(hearers == 6) & (heard_from == 3)] = 4
    assert not right(wrong)


@pytest.mark.parametrize("wrong", [False, True])
def test_a_gossip_is_not_correct_where_a_wrong_item_comes_beside_all_the_right_ones(wrong):
    machine = machine_of("ring:9")
    held = MarkedChunks(machine, Purpose("gossip", 9), 4)

    def take(slots, rows):
        held.take(ChunksCame(slots, machine.nodes[slots], slots, rows, 0))

    origins = np.tile(np.arange(9), len(machine.nodes))
    rows = np.stack([origins, items(4, origins, origins)], axis=1)
    take(np.repeat(np.arange(len(machine.nodes)), 9), rows)
    if wrong and (machine.nodes == 6).any():
        take(np.flatnonzero(machine.nodes == 6), np.array([[3, 99]]))
    assert (held.short() == 0) is not wrong


class Tail(Topology):
    """Two processors, and behind the second one two switches in a line."""

    family = "tail"
    form = ""

    def __init__(self):
        super().__init__("", size=4, ports=2, hosts=2)

    @rule
    def neighbor(node, port, params):
        other = node + 2 * port - 1
        return other if 0 <= other < 4 else -1


def test_switches_are_not_among_the_farthest_processors():
    found = flood(machine_of(Tail(), "all"), 0)
    assert (found.eccentricity, found.farthest_host) == (3, 1)
    assert broadcast_bound(machine_of(Tail(), "one"), 0) == 1


def changing(partners):
    """An exchange that changes what one processor gets."""

    def changed(schedule, j, state):
        received = partners(schedule, j, state)
        words = received.view(np.int64).reshape(len(received), -1)
        words[schedule.index == 5, -1] ^= 1
        return received

    return changed


PASSES = {
    "ascend": (
        Routed,
        "partners",
        lambda: ascend.run(machine_of("ring:8"), "sum", algorithm=Routed),
    ),
    "circulate": (Routed, "partners", lambda: circulate(machine_of("ring:8"), algorithm=Routed)),
    "emulated": (Emulation, "_partners", lambda: emulate_ascend(*embedded(), "sum")),
}


def embedded():
    """A cube's processors on a ring: its machine, and where they are."""
    embedding = Embedding(mpinet.open("hypercube:3"), mpinet.open("ring:8"))
    return machine_of(embedding.host), embedding


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_is_not_correct_where_a_partner_s_state_comes_changed(name, monkeypatch):
    schedule, method, run = PASSES[name]
    assert run().correct
    monkeypatch.setattr(schedule, method, changing(getattr(schedule, method)))
    assert not run().correct


@pytest.mark.parametrize("word", [0, 1])
def test_an_emulated_step_is_not_correct_where_sender_or_contents_come_changed(word, monkeypatch):
    assert emulate_step(*embedded()).correct

    class Changing(Router):
        @property
        def delivered(self):
            found = super().delivered
            payload = found.payload.copy()
            payload[found.nodes == 5, word] ^= 1
            return replace(found, payload=payload)

    monkeypatch.setattr(emulate, "Router", Changing)
    assert not emulate_step(*embedded()).correct


@rule
def decide_no_way_to_five(node, header, params):
    """As on a ring, but for messages to 5, which stay where they are."""
    ahead = (header[0] - node) % 8
    if ahead == 0:
        return ARRIVED
    return STUCK if header[0] == 5 else 0


def with_a_dead_end():
    """A ring of 8 whose routing leads everywhere but to 5."""
    ring = mpinet.open("ring:8")
    wrong = replace(ring.routing(), decide=decide_no_way_to_five)
    ring.routing = lambda *_: wrong
    return ring


def test_an_exchange_whose_messages_do_not_all_arrive_ends_on_every_rank():
    with pytest.raises(RoutingError, match="could not deliver 1 of 8 messages in dimension 0"):
        ascend.run(machine_of(with_a_dead_end()), "sum", algorithm=Routed)


def test_guest_neighbours_that_do_not_hear_of_each_other_end_an_embedding_on_every_rank():
    ring = with_a_dead_end()
    embedding = Embedding(mpinet.open("hypercube:3"), ring)
    with pytest.raises(RoutingError, match="could not deliver 2 messages of guest neighbours"):
        embeds.measure(machine_of(ring), embedding, ring.routing())


def test_a_rehearsed_path_that_does_not_arrive_is_named():
    ring, dry = with_a_dead_end(), Dry(0, 2)
    machine = Machine(ring, "all", dry)
    with pytest.raises(RoutingError, match=r"does not lead from 0 to 5\."):
        rehearse_route(machine, dry, traffic(ring, "all"), ring.routing())
