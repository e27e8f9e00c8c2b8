"""Trees over the members of a communicator, each as one member knows it.

A root informs the members along the tree, or receives from them. A walk of a tree lists a member
before its descendants, and those of the child that is informed last before all others'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mpinet.mpi.world.ranks import RankTable
from mpinet.mpi.world.trees import BroadcastTree


class StarTree:
    """The root informs all others itself, in the order of their ranks behind its own.

    Parameters
    ----------
    rank, size : int
        The member, and how many there are.
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
        """One each."""
        return [1] * len(self.children)

    @property
    def walk(self) -> Sequence[int]:
        """The root, then the others as they are informed, backwards."""
        return [self._root, *reversed(self.children)]


class Binomial:
    """The binomial tree over ranks relative to the root's.

    Parameters
    ----------
    rank, size : int
        The member, and how many there are.
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
        """The member whose relative rank lacks the lowest bit."""
        return -1 if self._place == 0 else (self._place - self._top + self._root) % self._size

    @property
    def children(self) -> Sequence[int]:
        """The members whose relative ranks have one lower bit more, the highest first."""
        return [(place + self._root) % self._size for place in self._below()]

    @property
    def weights(self) -> Sequence[int]:
        """Return as many children as the bit, but no relative rank beyond the last."""
        return [min(place - self._place, self._size - place) for place in self._below()]

    @property
    def walk(self) -> Sequence[int]:
        """All ranks from the root's on."""
        return [*range(self._root, self._size), *range(self._root)]

    def _below(self) -> list[int]:
        """The children's relative ranks."""
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
        The member's processor among this rank's.
    tree : BroadcastTree
        The tree, of processors.
    """

    __slots__ = ("_members", "_slot", "_tree")

    def __init__(self, members: RankTable, slot: int, tree: BroadcastTree):
        self._members = members
        self._slot = slot
        self._tree = tree

    @property
    def parent(self) -> int:
        """Return the member that is the first to inform it."""
        parent = self._tree.parent(self._slot)
        return parent if parent < 0 else self._members.rank_of(parent)

    @property
    def children(self) -> Sequence[int]:
        """Return the members that it is the first to inform."""
        return [self._members.rank_of(member) for member in self._tree.children(self._slot)]

    @property
    def weights(self) -> Sequence[int]:
        """Return the weights as the tree has been walked."""
        return self._tree.weights(self._slot)

    @property
    def walk(self) -> Sequence[int]:
        """Return the weights as the tree has been walked."""
        return [self._members.rank_of(member) for member in self._tree.walk.tolist()]


Shape: TypeAlias = StarTree | Binomial | MachineTree
"""A member's place in a tree.

`parent` is the rank of the member that informs it, -1 for the root; `children` are those whom it
informs, in this order; `weights` the members of each child's subtree, itself included; and `walk`,
which the root alone knows, all ranks in the order of a walk.
"""
