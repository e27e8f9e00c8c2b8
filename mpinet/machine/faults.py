"""Dead processors, links and busses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import inlined
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology


class Passing(NamedTuple):
    """A processor or link that is dead in some steps only."""

    what: tuple[int, ...]
    """The processor, or the two ends of the link."""
    begin: int
    """First step in which the processor or link is dead."""
    end: int | None = None
    """First step in which the processor or link works again; None: never."""

    def covers(self, step: int) -> bool:
        """Return True if the processor or link is dead in a step."""
        return self.begin <= step and (self.end is None or step < self.end)


class Faulty(NamedTuple):
    """The dead nodes and the cut links of a step."""

    dead: Ints
    """Dead processors, ascending. Shape (k,)."""
    cut: Table
    """Dead links in both directions, as pairs of neighbours, and the ports of dead busses, as pairs
    of a processor and ``~port``; ascending. Shape (l, 2).
    """


class Faults:
    """The dead processors and links of a network.

    Parameters
    ----------
    topology : Topology
        The network.
    nodes : iterable of int
        Dead processors: they neither send, forward nor receive.
    links : iterable of (int, int)
        Dead links, each as a pair of neighbours; dead in both directions.
    passing : iterable of Passing
        Processors and links that are dead in some steps only.
    busses : iterable of int
        Busses that are always dead: they carry no messages.

    Raises
    ------
    NodeError
        The network has no such processor.
    UsageError
        A link joins processors that are not neighbours, or a range of steps ends before its begin.
    """

    dead: Ints
    """Processors that are always dead, ascending. Shape (k,)."""
    cut: Ints
    """Links and ports that are always dead, as in `Faulty`. Shape (l, 2)."""

    def __init__(
        self,
        topology: Topology,
        nodes: Iterable[int] = (),
        links: Iterable[tuple[int, int]] = (),
        passing: Iterable[Passing] = (),
        busses: Iterable[int] = (),
    ):
        self.busses = sorted({*busses})
        """Busses that are always dead, ascending."""
        self._ports = [each for bus in self.busses for each in _ports_on(topology, bus)]
        always = [(node,) for node in nodes] + [(u, v) for u, v in links]
        self._passing = list(passing)
        # Each fault is checked once, in the given order: the first wrong word is reported.
        for what in dict.fromkeys([*always, *(each.what for each in self._passing)]):
            for node in what:
                topology.require_node(node)
            if len(what) == 2 and what[1] not in topology.neighbor(
                what[0], np.arange(topology.ports)
            ):
                raise UsageError(
                    f"{topology.name} has no link {what[0]}-{what[1]}: name neighbours."
                )
        for each in self._passing:
            if each.begin < 0 or (each.end is not None and each.end <= each.begin):
                raise UsageError(
                    f"Faults in steps {each.begin} to {each.end}: the second step must be later."
                )
        self._always = always
        self.dead, self.cut = self.at(-1)
        ends = {each.end for each in self._passing if each.end is not None}
        self.changes: list[int] = sorted({each.begin for each in self._passing} | ends)
        """Steps before which a processor or link dies or recovers, ascending."""

    def at(self, step: int) -> Faulty:
        """Return the faults of a step, as `dead` and `cut`; before step 0 the permanent faults."""
        every = [*self._always, *(each.what for each in self._passing if each.covers(step))]
        ends = {what for what in every if len(what) == 2}
        both = sorted(ends | {(v, u) for u, v in ends} | {*self._ports})
        dead = sorted({what[0] for what in every if len(what) == 1})
        return Faulty(np.array(dead, np.int64), np.array(both, np.int64).reshape(-1, 2))

    @property
    def passing_nodes(self) -> list[int]:
        """Processors that are dead in some steps only."""
        return [each.what[0] for each in self._passing if len(each.what) == 1]

    def __bool__(self) -> bool:
        return bool(self._always or self._passing or self.busses)


def _ports_on(topology: Topology, bus: int) -> list[tuple[int, int]]:
    """Return the ports on a bus, each as its processor and ``~port``."""
    if not 0 <= bus < (topology.busses or 0):
        raise UsageError(f"{topology.name} has no bus {bus}.")
    members, ports = np.array(topology.bus_members(bus)), np.arange(topology.ports)
    rows, on = np.nonzero(topology.channel(members[:, np.newaxis], ports) == bus)
    return list(zip(members[rows].tolist(), (~ports[on]).tolist(), strict=True))


@inlined
def is_dead(node, dead):
    """Return True if a processor is among the dead processors."""
    # A binary search written out: Numba takes a second to compile NumPy's search into a kernel.
    low, high = 0, dead.size
    while low < high:
        middle = (low + high) // 2
        if dead[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < dead.size and dead[low] == node


@inlined
def is_cut(node, port, other, dead, cut):
    """Return True if the channel behind a port, or the neighbour there, is dead."""
    if is_dead(other, dead):
        return True
    # A linear scan: cut links are few, and a sorted search would cost a branch per level.
    for i in range(cut.shape[0]):
        if cut[i, 0] == node and (cut[i, 1] == other or cut[i, 1] == ~port):
            return True
    return False
