"""Schedules taken from runs: which chunk each message of a collective carried, noted as it went."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine, PortModel
from mpinet.machine.plan import Plan
from mpinet.machine.stepping import Inbox
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.programs.broadcast import broadcast
from mpinet.programs.collective import items, require_few
from mpinet.programs.exchange import FARTHEST, exchange
from mpinet.programs.gather import gather
from mpinet.programs.gossip import gossip
from mpinet.programs.reduce import reduce
from mpinet.programs.scatter import scatter
from mpinet.programs.schedules.timetable import Timetable

MOST_PROCESSORS = {"gossip": 2**10, "exchange": 2**9}
"""Most processors where all send to all; of others there are no more than of one rank."""

SEED = 1
"""Chooses the contents by which chunks are known."""


class Noting(Machine):
    """A machine of one rank that notes what every message carried."""

    def __init__(self, topology: Topology, ports: PortModel):
        super().__init__(topology, ports, Local(), trace=Trace())
        self.carried: list[tuple[int, Ints, Ints, Array]] = []

    def note(self, nodes: Any, ports: Any, payload: Any) -> None:
        """Note the sends of the step that is about to be made."""
        if len(nodes) and payload is not None:
            columns = np.asarray(nodes, np.int64), np.asarray(ports, np.int64)
            self.carried.append((self.steps + 1, *columns, np.array(payload)))

    def step(
        self,
        nodes: Any,
        ports: Any,
        payload: Any = None,
        listen: tuple[Any, Any] | None = None,
        word: int = 0,
        numbers: Ints | int = -1,
    ) -> Inbox:
        """Make a step as in `Machine`."""
        self.note(nodes, ports, payload)
        return super().step(nodes, ports, payload, listen, word, numbers)

    def plan(self, nodes: Any, ports: Any) -> Plan:
        """Make a step as in `Machine`."""
        return NotedPlan(self, nodes, ports)


class NotedPlan(Plan):
    """A plan whose messages are noted."""

    def __init__(self, machine: Noting, nodes: Any, ports: Any):
        super().__init__(machine, nodes, ports)
        self._noting, self._sent = machine, (nodes, ports)

    def __call__(self, payload: Array, word: int = 0) -> Array:
        """Send as in `Plan`."""
        self._noting.note(*self._sent, payload)
        return super().__call__(payload, word)


def taken(
    topology: Topology, collective: str, root: int, algorithm: str | None, model: PortModel
) -> tuple[str, Timetable]:
    """Run a collective on one rank; its algorithm, and its schedule.

    Raises
    ------
    UsageError
        There is no such algorithm here, or too many processors.
    ModelViolation
        It asks more than the port model allows.
    """
    if collective in MOST_PROCESSORS:
        require_few(topology, f"A schedule of {collective}", MOST_PROCESSORS[collective])
    machine = Noting(topology, model)
    hosts = topology.hosts
    if collective == "broadcast":
        name = broadcast(machine, root, algorithm).algorithm
        return name, _of_trace(machine, "broadcast", root)
    if collective == "reduce":
        name = reduce(machine, root, "sum", algorithm, SEED).algorithm
        return name, _of_trace(machine, "reduce", root)
    everybody = np.arange(hosts)
    if collective == "exchange":
        name = exchange(machine, seed=SEED, algorithm=algorithm).algorithm
        if name == FARTHEST:
            known = items(SEED, np.repeat(everybody, hosts), np.tile(everybody, hosts))
            return name, _of_contents(machine, "exchange", None, name, known)
        moves = machine.trace.records if machine.trace is not None else None
        assert moves is not None
        rounds, sources = np.divmod(moves["message"], hosts)
        chunk = sources * hosts + (sources + rounds + 1) % hosts
        return name, _table(machine, "exchange", None, moves, chunk)
    if collective == "gossip":
        name = gossip(machine, algorithm, SEED).algorithm
        known = items(SEED, everybody, everybody)
    elif collective == "scatter":
        name = scatter(machine, root, algorithm, SEED).algorithm
        known = items(SEED, np.full(hosts, root), everybody)
    else:
        name = gather(machine, root, algorithm, SEED).algorithm
        known = items(SEED, everybody, everybody)
    return name, _of_contents(machine, collective, root, name, known)


def _of_trace(machine: Noting, collective: str, root: int) -> Timetable:
    """The schedule of a collective of one chunk."""
    assert machine.trace is not None
    moves = machine.trace.records
    add = np.ones(len(moves), bool) if collective == "reduce" else None
    return _table(machine, collective, root, moves, np.zeros(len(moves), np.int64), add)


def _table(
    machine: Machine, collective: str, root: int | None, moves: Any, chunk: Ints, add: Any = None
) -> Timetable:
    step, sender, receiver = (
        np.ascontiguousarray(moves[name]) for name in ("step", "sender", "receiver")
    )
    bus = None
    if not machine.topology.links:
        bus = machine.topology.channel(moves["sender"].copy(), moves["port"].copy())
    hosts = machine.topology.hosts
    return Timetable(collective, hosts, step, sender, receiver, chunk, root=root, bus=bus, add=add)


def _of_contents(
    machine: Noting, collective: str, root: int | None, name: str, known: Ints
) -> Timetable:
    """The schedule of a collective whose messages are known by their contents."""
    if not machine.carried:
        raise UsageError(
            f"The schedule of {collective} by {name} is the router's, which knows no chunks: give "
            "another --algorithm."
        )
    order = np.argsort(known)
    rows = []
    for step, nodes, ports, payload in machine.carried:
        values = payload.reshape(len(nodes), -1)
        place = np.minimum(np.searchsorted(known[order], values), len(known) - 1)
        matches = known[order][place] == values
        if not matches.any(axis=1).all():
            raise UsageError(f"The messages of {collective} by {name} are not chunks alone.")
        chunk = order[place[np.arange(len(nodes)), matches.argmax(axis=1)]]
        receivers = machine.topology.neighbor(nodes, ports)
        busses = machine.topology.channel(nodes, ports)
        rows.append(np.stack([np.full(len(nodes), step), nodes, receivers, chunk, busses]))
    step, sender, receiver, chunk, bus = np.concatenate(rows, axis=1).astype(np.int64)
    purpose_root = None if collective == "gossip" else root
    return Timetable(
        collective,
        machine.topology.hosts,
        step,
        sender,
        receiver,
        chunk,
        root=purpose_root,
        bus=None if machine.topology.links else bus,
    )
