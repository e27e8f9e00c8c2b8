"""Timetables: schedules as data. A row states step, sender, receiver and chunk of a message.

A timetable comes from a file, or from a search of the whole network. `mpinet.programs.playing` runs
timetables.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import KINDS, Purpose

ANY_STEP = -1
"""Marker in place of a step, if adjacent rows are one transmission."""

WHOLE = -1
"""Marker in place of a step: the row adds the sender's whole sum."""

ANY_BUS = -1
"""Marker in place of a bus: the link, or the first bus shared by sender and receiver."""


@dataclass(frozen=True, eq=False)
class Timetable:
    """A schedule as rows (step, sender, receiver, chunk), and the collective of the rows."""

    collective: str
    """Name of the collective that the rows carry out: ``"broadcast"``, ``"scatter"``, ``"gossip"``
    and so on.
    """
    processors: int
    """Number of processors. Senders and receivers may also be switches, numbered after the
    processors.
    """
    step: Ints
    """Step of each row's message, from 1. Rows of equal step, sender and bus are one transmission.
    Shape (k,).
    """
    sender: Ints
    """Sender of each row. Shape (k,)."""
    receiver: Ints
    """Receiver of each row. Shape (k,)."""
    chunk: Ints
    """Chunk of each row; see `chunks`. Shape (k,)."""
    chunks: int = 1
    """Number of chunks per unit. Broadcast, reduce, allreduce: chunk 0..chunks-1; gossip, scatter,
    gather, reducescatter: owner*chunks + j; exchange: (source*processors + target)*chunks + j.
    """
    root: int | None = None
    """Root of the collective; None without a root."""
    bus: Ints | None = None
    """Bus of each row; `ANY_BUS` on links. Shape (k,)."""
    port: Ints | None = None
    """Port of each row's sender, to distinguish parallel links; -1 for any. Shape (k,)."""
    add: Flags | None = None
    """True for rows that add the sender's sum to the receiver's instead of copying it. Shape
    (k,).
    """
    since: Ints | None = None
    """First step of the contributions to send, for rows that add. The message contains all
    contributions received since then, except those from the receiver. The sender's own contribution
    belongs to step 0; `WHOLE` sends all. Shape (k,).
    """
    ports: str | None = field(default=None, kw_only=True)
    """Port model of the schedule, ``"one"`` or ``"all"``."""
    network: str | None = field(default=None, kw_only=True)
    """Name of the network of the schedule."""
    edges_sha256: str | None = field(default=None, kw_only=True)
    """SHA-256 of the network's edges, in hexadecimal."""

    @classmethod
    def of(
        cls,
        collective: str,
        topology: Topology,
        rows: Any,
        channels: Ints | None = None,
        **more: Any,
    ) -> Timetable:
        """Return a timetable of rows of step, sender, receiver and chunk.

        Parameters
        ----------
        collective, topology
            Collective and network of the rows.
        rows : array-like of int, shape (k, 4) or (k, 5)
            The rows; a fifth column contains their channels.
        channels : ndarray of int64, shape (k,), optional
            Ports of the senders on links, or busses.
        more
            Further fields.
        """
        columns = np.array(np.asarray(rows, np.int64).T)
        channels = columns[4] if len(columns) > 4 else channels
        more |= {"port" if topology.links else "bus": channels}
        return cls(collective, topology.hosts, *columns[:4], **more)

    @classmethod
    def of_tree(
        cls, topology: Topology, root: int, parent: Ints, since: Ints,
        channels: Ints | None = None, **more: Any,
    ) -> Timetable:  # fmt: skip
        """Return a broadcast's timetable for a tree: a row for each node with a parent.

        Parameters
        ----------
        topology, root
            The network, and the processor that holds the message.
        parent : ndarray of int64, shape (N,)
            Node that informs each node; -1 for none.
        since : ndarray of int64, shape (N,)
            Step in which each node is informed.
        channels : ndarray of int64, shape (N,), optional
            Port or bus by which each node is informed.
        more
            Further fields.
        """
        nodes = np.flatnonzero(parent >= 0)
        nodes = nodes[np.lexsort((nodes, parent[nodes], since[nodes]))]
        rows = np.stack([since[nodes], parent[nodes], nodes, np.zeros_like(nodes)], axis=1)
        over = None if channels is None else channels[nodes]
        return cls.of("broadcast", topology, rows, over, root=root, **more)

    def __len__(self) -> int:
        return len(self.step)

    @property
    def purpose(self) -> Purpose:
        """Collective that the rows carry out."""
        return Purpose(self.collective, self.processors, self.chunks, self.root)

    @cached_property
    def last(self) -> int:
        """Last step with a send."""
        return int(self.step.max(initial=0))

    def ordered(self) -> Timetable:
        """Return the timetable with rows ordered by step, sender, receiver and chunk."""
        return self.rows(self.order())

    def order(self) -> Ints:
        """Return the indices of the rows, ordered by step, sender, receiver and chunk."""
        columns = (self.step, self.sender, self.receiver, self.chunk)
        spans = [int(column.max(initial=0)) + 1 for column in columns]
        least = min(int(column.min(initial=0)) for column in columns)
        # The product of the spans may not fit into one number.
        if least < 0 or prod(spans) >= 2**63:
            return np.lexsort(columns[::-1])
        # Sorting one number per row takes a fraction of the time of four columns.
        return np.argsort(np.ravel_multi_index(columns, spans), kind="stable")

    def rows(self, index: Ints | Flags | slice) -> Timetable:
        """Return a timetable of the selected rows."""
        names = ("step", "sender", "receiver", "chunk", *EXTRA, "add")
        kept: dict[str, Any] = {}
        for name in names:
            column = getattr(self, name)
            kept[name] = None if column is None else column[index]
        return replace(self, **kept)

    def backwards(self, collective: str, steps: int) -> Timetable:
        """Return the reversed rows, on links: each receiver sends back in the mirrored step."""
        add = np.ones(len(self), bool) if KINDS[collective].adds else None
        return replace(
            self,
            collective=collective,
            step=steps + 1 - self.step,
            sender=self.receiver,
            receiver=self.sender,
            port=None,
            add=add,
        ).ordered()


def table_columns(table: Timetable) -> dict[str, Any]:
    """Return a timetable as JSON, which rank 0 shares; see `table_of`."""
    values = {each.name: getattr(table, each.name) for each in fields(table)}
    return {name: [*map(int, v)] if hasattr(v, "dtype") else v for name, v in values.items()}


def table_of(columns: dict[str, Any]) -> Timetable:
    """Return a timetable from its JSON columns, the inverse of `table_columns`."""
    values = dict(columns)
    for name, column in columns.items():
        if isinstance(column, list):
            values[name] = np.array(column, bool if name == "add" else np.int64)
    return Timetable(**values)


EXTRA = ("bus", "port", "since")
"""Optional integer columns in addition to the four; -1 means unspecified."""

COLUMNS = {"step": "step", "sender": "from", "receiver": "to", "chunk": "chunk"}
"""Columns of every schedule file, with their names in the file."""

HEADER = ("network", "edges_sha256", "collective", "processors", "chunks", "root", "ports")
"""Keys in a schedule file's first lines, in order."""


def csv_text(timetable: Timetable) -> str:
    """Return a timetable as a schedule file: ``# key: JSON`` lines, then the rows in order."""
    table = timetable.ordered()
    named = [(key, getattr(table, key)) for key in HEADER]
    lines = ["# mpinet-schedule 1"]
    lines += [f"# {key}: {json.dumps(value)}" for key, value in named if value is not None]
    columns = {name: getattr(table, key) for key, name in COLUMNS.items()}
    for name in EXTRA:
        if getattr(table, name) is not None:
            columns[name] = getattr(table, name)
    lines.append(",".join([*columns, *(["op"] if table.add is not None else [])]))
    rows = [map(str, column.tolist()) for column in columns.values()]
    if table.add is not None:
        rows.append(map("ca".__getitem__, table.add.astype(int).tolist()))
    lines += [",".join(row) for row in zip(*rows, strict=True)]
    return "\n".join(lines) + "\n"


class HostedRows:
    """Rows with senders on this rank, each with its port.

    Parameters
    ----------
    machine : Machine
        Machine with the senders.
    timetable : Timetable
        Must be equal on all ranks.

    Raises
    ------
    UsageError
        Sender and receiver of a row are not neighbours. The error names step, sender and receiver.
    """

    index: Ints
    """Rows of the timetable with senders on this rank, by step, sender, receiver, chunk. Shape
    (m,).
    """

    def __init__(self, machine: Machine, timetable: Timetable):
        slots = machine.slots(timetable.sender)
        mine = np.flatnonzero((slots >= 0) & (slots < machine.placement.count))
        rows = timetable if len(mine) == len(timetable) else timetable.rows(mine)
        order = rows.order()
        self.index, rows = mine[order], rows.rows(order)
        self.slots: Ints = slots[self.index]
        """Slots of the senders. Shape (m,)."""
        self.ports: Ints = ports_of(machine.topology, rows)
        """Ports of the senders. Shape (m,)."""
        missing = np.flatnonzero(self.ports < 0)
        if len(missing):
            raise no_channel(machine.topology, rows, int(missing[0]))
        self._begin = np.searchsorted(rows.step, np.arange(1, timetable.last + 2))

    def sends(self, step: int) -> slice:
        """Return the rows of a step, as a slice."""
        return slice(int(self._begin[step - 1]), int(self._begin[step]))


def turns(*columns: Ints) -> Ints:
    """Number the adjacent rows that are equal in these columns, from 0."""
    other = np.ones(len(columns[0]), bool)
    other[1:] = (np.diff(np.stack(columns)) != 0).any(axis=0)
    first = np.flatnonzero(other)
    found: Ints = np.arange(len(other)) - np.repeat(first, np.diff(first, append=len(other)))
    return found


def with_ports(topology: Topology, timetable: Timetable) -> Timetable:
    """Return a timetable whose rows name their ports, if some share parallel links."""
    rows = timetable.ordered()
    if not (topology.links and turns(rows.step, rows.sender, rows.receiver).any()):
        return timetable
    return replace(rows, port=ports_of(topology, rows))


def no_channel(topology: Topology, rows: Timetable, row: int) -> UsageError:
    """Return the error for an impossible row: not neighbours, or a wrong port or bus."""
    channel = "link" if topology.links else "bus"
    if rows.bus is not None and rows.bus[row] != ANY_BUS:
        channel = f"bus {rows.bus[row]} between them"
    if rows.port is not None and rows.port[row] >= 0:
        channel = f"port {rows.port[row]} between them"
    return UsageError(
        f"step {rows.step[row]}: processor {rows.sender[row]} sends to {rows.receiver[row]}, and "
        f"{topology.name} has no such {channel}."
    )


def ports_of(topology: Topology, rows: Timetable) -> Ints:
    """Return the senders' ports to the receivers, shape (k,); -1 without a channel.

    Adjacent rows of equal step, sender and receiver use parallel links in turn.
    """
    ports = np.full(len(rows), -1, np.int64)
    find_ports(
        topology.neighbor.native,
        topology.reverse_port.native,
        topology.params,
        np.ascontiguousarray(rows.sender),
        np.ascontiguousarray(rows.receiver),
        np.ascontiguousarray(rows.step) if topology.links else np.full_like(ports, ANY_STEP),
        ports,
    )
    if rows.port is not None:
        given = np.flatnonzero(rows.port >= 0)
        ports[given] = _confirmed(topology, rows.rows(given))
    if rows.bus is not None:
        given = np.flatnonzero(rows.bus != ANY_BUS)
        ports[given] = _on_busses(topology, rows.rows(given))
    return ports


def _confirmed(topology: Topology, rows: Timetable) -> Ints:
    """Return the ports named by rows; -1 if a port does not lead to the receiver."""
    assert rows.port is not None
    inside = rows.port < topology.ports
    ends = topology.neighbor(rows.sender, np.where(inside, rows.port, 0))
    return np.where(inside & (ends == rows.receiver), rows.port, -1)


def _on_busses(topology: Topology, rows: Timetable) -> Ints:
    """Return the ports over the busses named by rows; -1 if sender or receiver is not a member."""
    found = np.full(len(rows), -1, np.int64)
    for port in range(topology.ports - 1, -1, -1):
        there = topology.neighbor(rows.sender, port) == rows.receiver
        there = np.flatnonzero(there)
        same = topology.channel(rows.sender[there], port) == rows.bus[there]  # type: ignore[index]
        found[there[same]] = port
    return found


@kernel
def find_ports(
    neighbor_rule: PortRule,
    reverse_rule: PortRule,
    params: Ints,
    senders: Ints,
    receivers: Ints,
    steps: Ints,
    ports: Ints,
) -> None:
    """Write a port of each sender that leads to the receiver, searched from both ends.

    A row equal to the previous row, in the same step, gets the next port to the receiver, unless
    the step is `ANY_STEP`.
    """
    neighbor, reverse = neighbor_rule.call, reverse_rule.call
    for i in range(senders.size):
        u, v = senders[i], receivers[i]
        if v < 0 or v >= params[0]:
            continue
        again = i > 0 and steps[i] == steps[i - 1] and u == senders[i - 1]
        if again and v == receivers[i - 1] and steps[i] != ANY_STEP:
            for later in range(1, params[1] + 1):
                ports[i] = (ports[i - 1] + later) % params[1]
                if neighbor(u, ports[i], params) == v:
                    break
            continue
        for port in range(params[1]):
            if neighbor(u, port, params) == v:
                ports[i] = port
                break
            if neighbor(v, port, params) == u:
                ports[i] = reverse(v, port, params)
                break
