"""Trees over the members of a communicator, from the view of one member.

A root informs the members along the tree, or receives from them. A walk of a tree lists each member
before its descendants. The subtree of the child informed last comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mpinet.mpi.world.ranks import RankTable
from mpinet.mpi.world.trees import BroadcastTree


class StarTree:
    """A tree in which the root informs all members itself, in order of ranks after its own.

    Parameters
    ----------
    rank, size : int
        The member's rank, and the number of members.
    root : int
        The root's rank.
    """

    __slots__ = ("_root", "children", "parent")

    def __init__(self, rank: int, size: int, root: int):
        self._root = root
        self.parent = -1 if rank == root else root
        self.children: Sequence[int] = ()
        if rank == root:
            self.children = [*range(root + 1, size), *range(root)]

    @property
    def weights(self) -> Sequence[int]:
        """Number of members in each child's subtree: 1."""
        return [1] * len(self.children)

    @property
    def walk(self) -> Sequence[int]:
        """The root, followed by the remaining members in reverse order of information."""
        return [self._root, *reversed(self.children)]


class Binomial:
    """The binomial tree over ranks relative to the root.

    Parameters
    ----------
    rank, size : int
        The member's rank, and the number of members.
    root : int
        The root's rank.
    """

    __slots__ = ("_place", "_root", "_size", "_top")

    def __init__(self, rank: int, size: int, root: int):
        self._root = root
        self._size = size
        self._place = (rank - root) % size
        self._top = self._place & -self._place or 1 << (size - 1).bit_length()

    @property
    def parent(self) -> int:
        """The parent: its relative rank lacks the member's lowest set bit."""
        return -1 if self._place == 0 else (self._place - self._top + self._root) % self._size

    @property
    def children(self) -> Sequence[int]:
        """The children: relative ranks with an additional lower bit, the highest bit first."""
        return [(place + self._root) % self._size for place in self._below()]

    @property
    def weights(self) -> Sequence[int]:
        """Number of members in each child's subtree."""
        return [min(place - self._place, self._size - place) for place in self._below()]

    @property
    def walk(self) -> Sequence[int]:
        """All ranks in cyclic order, beginning with the root."""
        return [*range(self._root, self._size), *range(self._root)]

    def _below(self) -> list[int]:
        """Return the children's ranks relative to the root."""
        places = []
        bit = self._top >> 1
        while bit:
            if self._place + bit < self._size:
                places.append(self._place + bit)
            bit >>= 1
        return places


class MachineTree:
    """The machine's own broadcast tree.

    Parameters
    ----------
    members : RankTable
        The processors by rank, all of the machine.
    slot : int
        Slot of the member's processor on this rank.
    tree : BroadcastTree
        The tree of processors.
    """

    __slots__ = ("_members", "_slot", "_tree")

    def __init__(self, members: RankTable, slot: int, tree: BroadcastTree):
        self._members = members
        self._slot = slot
        self._tree = tree

    @property
    def parent(self) -> int:
        """The member that first informs this member; -1 for the root."""
        parent = self._tree.parent(self._slot)
        return parent if parent < 0 else self._members.rank_of(parent)

    @property
    def children(self) -> Sequence[int]:
        """The members first informed by this member."""
        return [self._members.rank_of(member) for member in self._tree.children(self._slot)]

    @property
    def weights(self) -> Sequence[int]:
        """Number of members in each child's subtree."""
        return self._tree.weights(self._slot)

    @property
    def walk(self) -> Sequence[int]:
        """All ranks in walk order; empty except on the root's rank."""
        return [self._members.rank_of(member) for member in self._tree.walk.tolist()]


Shape: TypeAlias = StarTree | Binomial | MachineTree
"""A member's position in a tree.

`parent` is the rank of the member's parent, -1 for the root. `children` are the members informed by
this member, in order. `weights` are the sizes of the children's subtrees. `walk`, known only to the
root, lists all ranks in the order of a walk.
"""
