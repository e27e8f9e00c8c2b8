"""The machine's own broadcast trees, along which collectives of the whole world run.

A tree is what the network's own broadcast does from a root: who informs whom, in which order. It
is found by running that broadcast once on a machine beside the one that is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.machine import Machine
from mpinet.machine.step import by_owner
from mpinet.machine.trace import Trace
from mpinet.process.mpi.processor import Processor
from mpinet.programs.broadcast import broadcast

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A broadcast tree, as this rank's processors know it.

    Parameters
    ----------
    machine : Machine
        Says which processors are here.
    parents : ndarray of int64, shape (hosted,)
        Who informs each processor, by slot; -1 for the root.
    begin : ndarray of int64, shape (hosted + 1,)
        Where the children of the processor in a slot begin.
    informed : ndarray of int64
        The children, in the order in which they are informed.
    """

    machine: Machine
    parents: Numbers
    begin: Numbers
    informed: Numbers

    def parent(self, processor: int) -> int:
        """Who informs a processor of this rank; -1 if nobody."""
        return int(self.parents[self._slot(processor)])

    def children(self, processor: int) -> list[int]:
        """Whom a processor of this rank informs, in this order."""
        slot = self._slot(processor)
        return list(self.informed[self.begin[slot] : self.begin[slot + 1]].tolist())

    def _slot(self, processor: int) -> int:
        return int(self.machine.slots(np.array([processor]))[0])


class Trees:
    """The trees that have been asked for, by their roots.

    Parameters
    ----------
    machine : Machine
        Whose network, port model, ranks and mapping are used.

    Attributes
    ----------
    wanted : dict
        Roots of trees that are not there yet, each with the processors that wait for it.
    """

    def __init__(self, machine: Machine):
        self.wanted: dict[int, list[Processor]] = {}
        self._machine = machine
        self._trees: dict[int, Tree] = {}

    @property
    def suit(self) -> bool:
        """Whether the machine's broadcasts run over processors alone, without switches."""
        return self._machine.topology.hosts == self._machine.topology.size

    def __contains__(self, root: int) -> bool:
        return root in self._trees

    def __getitem__(self, root: int) -> Tree:
        return self._trees[root]

    def want(self, root: int, processor: Processor) -> None:
        """Let a processor wait for the tree from a root."""
        self.wanted.setdefault(root, []).append(processor)

    def grow(self) -> list[Processor]:
        """Find the trees that some rank's processors wait for (collective); those processors."""
        transport = self._machine.transport
        own = np.array(sorted(self.wanted), np.int64)
        texts = transport.gather(own.tobytes())
        together = np.unique(np.frombuffer(b"".join(texts), np.int64))
        for root in np.frombuffer(transport.share(together.tobytes()), np.int64).tolist():
            self._trees[root] = grown(self._machine, root)
        waited = [processor for each in self.wanted.values() for processor in each]
        self.wanted = {}
        return waited


def grown(machine: Machine, root: int) -> Tree:
    """The tree of the network's own broadcast from a root (collective)."""
    trace = Trace()
    beside = Machine(
        machine.topology, machine.model, machine.transport, machine.mapping, trace=trace
    )
    broadcast(beside, root)
    records = _told(beside, trace.records, "receiver")
    records = records[np.lexsort((records["sender"], records["step"], records["receiver"]))]
    _, first = np.unique(records["receiver"], return_index=True)
    records = records[first]
    records = records[records["receiver"] != root]
    parents = np.full(len(machine.nodes), -1)
    parents[machine.slots(records["receiver"])] = records["sender"]
    told = _told(beside, records, "sender")
    told = told[np.lexsort((told["port"], told["step"], machine.slots(told["sender"])))]
    slots = machine.slots(told["sender"])
    begin = np.searchsorted(slots, np.arange(len(machine.nodes) + 1))
    return Tree(machine, parents, begin, np.ascontiguousarray(told["receiver"]))


def _told(machine: Machine, records: NDArray[np.void], whom: str) -> NDArray[np.void]:
    """The records that name this rank's processors as `whom`, from all ranks (collective)."""
    away, counts = by_owner(machine, np.ascontiguousarray(records[whom]))
    stay = np.delete(records, away)
    return np.concatenate([stay, machine.transport.exchange(records[away], counts).records])
