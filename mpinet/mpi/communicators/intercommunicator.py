"""Intercommunicators: agreements of two groups through their leaders.

The leader of each group sends the numbers of its members, or its group, to the remote leader over a
bridge communicator or a context of both groups. Each leader then broadcasts both sides within its
group. The leader of the first group allocates the new context id.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mpinet.base.arrays import Ints
from mpinet.mpi.collectives.algorithms import Collective
from mpinet.mpi.communicators.context_ids import (
    ContextId,
    agreement,
    new_context_id,
    next_agreement,
    packed,
    unpacked,
)
from mpinet.mpi.communicators.groups import Group, fixed
from mpinet.mpi.real import ANY_SOURCE, REAL
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import AGREEMENTS, LEADERS, Scope
from mpinet.mpi.world.endpoint import Endpoint, IntercommEndpoint
from mpinet.mpi.world.message import BODY
from mpinet.mpi.world.ranks import RankTable, rank_table

Sides = tuple[RankTable, ...]


Agreement = tuple[ContextId, tuple[Ints, ...]]
"""A context id, and the numbers of each side."""

Swap = Callable[[bytes], bytes | None]
"""Exchanges a body with the remote leader; returns None without a connection."""


def _agreed(
    part: Collective, leader: int, swap: Swap, said: bytes, leads: bool | None = None
) -> Agreement:
    """Agree with another group through the two leaders.

    Parameters
    ----------
    part : Collective
        The caller's part in an agreement of its own group.
    leader : int
        The leader's rank in this group.
    swap : callable
        The leader's exchange with the remote leader.
    said : bytes
        The leader's message, besides a context id.
    leads : bool, optional
        Whether the caller's side is the first (default: the side of the lower leader).

    Raises
    ------
    Exception
        ``ERR_PORT``: the leaders have no connection.
    """
    both = None
    if part.rank == leader:
        own = packed(new_context_id()) + said
        theirs = swap(own)
        both = b"" if theirs is None else _both(own, theirs, leads)
    # All members of the group act on the leader's broadcast, even if it is a refusal, because every
    # member must raise the error.
    told = part.broadcast(leader, both)
    if not told:
        raise REAL.Exception(REAL.ERR_PORT)
    numbers = unpacked(told)
    end = 1 + int(numbers[0]) // numbers.itemsize
    one, other = numbers[1:end], numbers[end:]
    return (int(one[0]), int(one[1])), (one[2:], other[2:])


def _both(own: bytes, theirs: bytes, leads: bool | None) -> bytes:
    """Combine the messages of two leaders into one body."""
    if leads is None:
        # Both leaders compare the same two numbers. They agree on the first side without another
        # message.
        leads = int(unpacked(own)[0]) <= int(unpacked(theirs)[0])
    first, last = (own, theirs) if leads else (theirs, own)
    return packed([len(first)]) + first + last


def _swapping(scope: Scope, there: int, tag: int) -> Swap:
    """Return a function by which a leader exchanges bodies with a rank."""

    def swap(own: bytes) -> bytes:
        running.mail.send(scope, there, tag, own)
        theirs: bytes = running.mail.receive(scope, there, tag)[BODY]
        return theirs

    return swap


def _leaders_at(place: int) -> Scope:
    """Return the scope in which any two processors may meet as leaders."""
    everybody = running.world.contexts.processors
    return Scope(place + LEADERS, everybody, everybody)


def agreed_over_bridge(
    local: Endpoint, leader: int, bridge: Endpoint, remote_leader: int, tag: int
) -> Agreement:
    """Agree with another group, whose leader is a member of a common communicator.

    Parameters
    ----------
    local : Endpoint
        A communicator of the caller's group.
    leader : int
        The leader's rank in `local`.
    bridge : Endpoint
        A communicator of both leaders; only leaders use it.
    remote_leader : int
        The remote leader's rank in `bridge`.
    tag : int
        Tag of the leaders' messages.

    Returns
    -------
    context_id : tuple of (int, int)
        The agreed id.
    sides : tuple of two ndarrays of int64
        The processors of both groups, the lower leader's group first.
    """

    def swap(own: bytes) -> bytes | None:
        return _swapping(bridge._scope.part(LEADERS), remote_leader, tag)(own)

    return _agreed(next_agreement(local), leader, swap, packed(local._group.members))


def agreed_at_port(
    local: Endpoint, leader: int, place: int, server: int | None, known: bool
) -> Agreement:
    """Agree with another group, whose leader connects to a port or waits there.

    Parameters
    ----------
    local : Endpoint
        A communicator of the caller's group.
    leader : int
        The leader's rank in `local`.
    place : int
        The port's context; only leaders use it.
    server : int or None
        The processor that waits at the port; None if it is the caller's leader.
    known : bool
        Whether the leader may use the port.

    Returns
    -------
    context_id, sides
        As for `agreed_over_bridge`.

    Raises
    ------
    Exception
        ``ERR_PORT``: the leader may not use the port.
    """

    def swap(own: bytes) -> bytes | None:
        mail, leaders = running.mail, _leaders_at(place)
        if not known:
            return None
        if server is None:
            # The first client at the port is accepted. The answer has a different tag, so no client
            # mistakes it for a rival's request.
            _, client, _, theirs, _ = mail.receive(leaders, ANY_SOURCE, 0)
            mail.send(leaders, client, 1, own)
        else:
            mail.send(leaders, server, 0, own)
            theirs = mail.receive(leaders, server, 1)[BODY]
        told: bytes = theirs
        return told

    return _agreed(next_agreement(local), leader, swap, packed(local._group.members))


def agreed_between_groups(
    local: RankTable, leader: int, remote: RankTable, remote_leader: int, place: int
) -> ContextId:
    """Agree on a context id between two groups without a common communicator.

    Parameters
    ----------
    local, remote : RankTable
        The caller's group and the remote group.
    leader, remote_leader : int
        The leaders' ranks in their groups.
    place : int
        A context for the agreement.
    """
    part = agreement(local, place + AGREEMENTS, 0)
    swap = _swapping(_leaders_at(place), remote.members[remote_leader], 0)
    return _agreed(part, leader, swap, b"")[0]


def sides_of(group: RankTable, sides: Iterable[Ints]) -> Sides:
    """Return the rank tables of two sides; the caller's side reuses the given table."""
    found, own = (rank_table(side.tolist()) for side in sides), fixed(group)
    return tuple(own if side.members == own.members else side for side in found)


class Leaders(IntercommEndpoint):
    """Agreements between the two groups of an intercommunicator, through their leaders."""

    __slots__ = ()

    def Get_remote_group(self) -> Group:
        """Return the remote group."""
        return Group._of_table(self._others)

    remote_group = property(Get_remote_group)

    def _agreed(self, wish: Sequence[int], of_all: bool = True) -> Agreement:
        """Agree with the remote group on a new context id, and exchange numbers.

        Parameters
        ----------
        wish : sequence of int
            The caller's numbers.
        of_all : bool
            Whether the numbers of all members are collected, or only the leaders'.

        Returns
        -------
        context_id : tuple of (int, int)
            The agreed id.
        wishes : tuple of two ndarrays of int64
            The numbers of each group's members by rank, or only of the leaders.
        """
        return self._agreeing(wish, of_all)()

    def _agreeing(self, wish: Sequence[int], of_all: bool) -> Callable[[], Agreement]:
        """Begin the next agreement with the remote group; return a function that completes it."""
        part, holding = next_agreement(self._local), self._state
        holding.agreed += 1
        # Tagged with the number of the agreement, because a nonblocking agreement may overlap with
        # the next.
        swap = _swapping(self._scope.part(AGREEMENTS), 0, holding.agreed)
        leads = self._first

        def agree() -> Agreement:
            rows = part.gather(0, packed(wish)) if of_all else [packed(wish)]
            return _agreed(part, 0, swap, b"".join(rows or ()), leads)

        return agree


def local_context_name(name: Sequence[int], first: bool) -> tuple[int, ...]:
    """Return the name of the local context of one of the groups."""
    return (*name, 0 if first else 1)


def split_groups(sides: Sides, rows: tuple[Ints, ...], color: int) -> Sides:
    """Return the members of both groups with a color, each group ordered by key and rank."""
    return tuple(
        split_group(side, wished.reshape(-1, 2), color)
        for side, wished in zip(sides, rows, strict=True)
    )


def split_group(group: RankTable, wished: Ints, color: int) -> RankTable:
    """Return the members of a group with a color, ordered by key and rank.

    Parameters
    ----------
    group : RankTable
        The group.
    wished : ndarray of int64, shape (members, 2)
        Each member's color and key.
    color : int
        The color.
    """
    ranks = (wished[:, 0] == color).nonzero()[0]
    ranks = ranks[wished[ranks, 1].argsort(kind="stable")].tolist()
    members = group.members
    return rank_table([members[rank] for rank in ranks])
