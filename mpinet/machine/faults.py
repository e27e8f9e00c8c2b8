"""Dead processors and links."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mpinet.compiled import inlined
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology


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

    Attributes
    ----------
    dead : ndarray of int64, shape (k,)
        Dead processors, ascending.
    cut : ndarray of int64, shape (2 l, 2)
        Dead links in both directions, ascending.

    Raises
    ------
    NodeError
        A processor that the network does not have.
    UsageError
        A link between processors that are not neighbours.
    """

    def __init__(
        self,
        topology: Topology,
        nodes: Iterable[int] = (),
        links: Iterable[tuple[int, int]] = (),
    ):
        dead, ends = sorted(set(nodes)), set(links)
        for node in [*dead, *(end for link in ends for end in link)]:
            topology.require_node(node)
        for u, v in sorted(ends):
            if v not in topology.neighbor(u, np.arange(topology.ports)):
                raise UsageError(f"{topology.name} has no link {u}-{v} that could be dead.")
        both = sorted(ends | {(v, u) for u, v in ends})
        self.dead = np.array(dead, np.int64)
        self.cut = np.array(both, np.int64).reshape(-1, 2)

    def __bool__(self) -> bool:
        return bool(len(self.dead) or len(self.cut))


@inlined
def is_dead(node, dead):
    """Tell if a processor is among the dead ones."""
    # By halves, in our own words: Numba takes a second to compile NumPy's search into a kernel.
    low, high = 0, dead.size
    while low < high:
        middle = (low + high) // 2
        if dead[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < dead.size and dead[low] == node


@inlined
def is_cut(node, other, dead, cut):
    """Tell if the link from a processor to its neighbour is dead, or the neighbour is."""
    if is_dead(other, dead):
        return True
    for i in range(cut.shape[0]):
        if cut[i, 0] == node and cut[i, 1] == other:
            return True
    return False
