"""Intercommunicators: how two groups agree through their leaders.

The leader of each group sends what its members want, and the group itself, to the other leader:
over a bridge communicator, or a context of both groups. Each leader then broadcasts both sides
within its group. The new context id is given by the leader whose group is the first of the two.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Sequence

from mpinet.base.arrays import Ints
from mpinet.mpi.communicators.context_ids import (
    ContextId,
    agreement,
    new_context_id,
    next_agreement,
    packed,
    unpacked,
)
from mpinet.mpi.communicators.groups import Group
from mpinet.mpi.real import ANY_SOURCE, REAL
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import AGREEMENTS, LEADERS, Scope
from mpinet.mpi.world.endpoint import Endpoint, IntercommEndpoint
from mpinet.mpi.world.message import BODY
from mpinet.mpi.world.ranks import RankTable, rank_table

Sides = tuple[RankTable, ...]


def agreed_over_bridge(
    local: Endpoint, leader: int, bridge: Endpoint, remote_leader: int, tag: int
) -> tuple[ContextId, tuple[Ints, ...]]:
    """Agree with another group, whose leader is known in a communicator of both leaders.

    Parameters
    ----------
    local : Endpoint
        A communicator of the caller's group.
    leader : int
        The leader's rank in it.
    bridge : Endpoint
        A communicator of both leaders; only leaders use it.
    remote_leader : int
        The other leader's rank in that one.
    tag : int
        What leaders' messages are told apart by.

    Returns
    -------
    context_id : tuple of (int, int)
        A name.
    sides : tuple of two ndarrays of int64
        The processors of both groups, first that of the lower leader.
    """
    part = next_agreement(local)
    both = None
    if part.rank == leader:
        own = packed([*new_context_id(), *local._group.members])
        mail, leaders = running.mail, bridge._scope.part(LEADERS)
        mail.send(leaders, remote_leader, tag, own)
        theirs = mail.receive(leaders, remote_leader, tag)[BODY]
        both = _both(own, theirs)
    one, other = _parted(part.broadcast(leader, both))
    return _id_of(one), (one[2:], other[2:])


def agreed_at_port(
    local: Endpoint, leader: int, place: int, server: int | None, known: bool
) -> tuple[ContextId, tuple[Ints, ...]]:
    """Agree with another group, whose leader comes to a port or waits there.

    Parameters
    ----------
    local : Endpoint
        A communicator of the caller's group.
    leader : int
        The leader's rank in it.
    place : int
        The port's context; only leaders use it.
    server : int or None
        The processor that waits there; None: the caller's leader does.
    known : bool
        Whether the leader may use the port.

    Returns
    -------
    context_id, sides
        Name and groups, as `agreed_over_bridge` gives them.

    Raises
    ------
    Exception
        ``ERR_PORT``: the leader may not use the port.
    """
    part = next_agreement(local)
    both = None
    if part.rank == leader and not known:
        both = b""
    elif part.rank == leader:
        own = packed([*new_context_id(), *local._group.members])
        mail, everybody = running.mail, running.world.contexts.processors
        leaders = Scope(place + LEADERS, everybody, everybody)
        if server is None:
            _, client, _, theirs, _ = mail.receive(leaders, ANY_SOURCE, 0)
            mail.send(leaders, client, 1, own)
        else:
            mail.send(leaders, server, 0, own)
            theirs = mail.receive(leaders, server, 1)[BODY]
        both = _both(own, theirs)
    told = part.broadcast(leader, both)
    if not told:
        raise REAL.Exception(REAL.ERR_PORT)
    one, other = _parted(told)
    return _id_of(one), (one[2:], other[2:])


def agreed_between_groups(
    local: RankTable, leader: int, remote: RankTable, remote_leader: int, place: int
) -> ContextId:
    """A name that two groups agree on who have no communicator.

    Parameters
    ----------
    local, remote : RankTable
        The caller's group, and the other one.
    leader, remote_leader : int
        The leaders' ranks in their groups.
    place : int
        A context for the agreement.
    """
    part = agreement(local, place + AGREEMENTS, 0)
    both = None
    if part.rank == leader:
        own = packed(new_context_id())
        mail, there = running.mail, remote.members[remote_leader]
        everybody = running.world.contexts.processors
        leaders = Scope(place + LEADERS, everybody, everybody)
        mail.send(leaders, there, 0, own)
        theirs = mail.receive(leaders, there, 0)[BODY]
        both = _both(own, theirs)
    one, _ = _parted(part.broadcast(leader, both))
    return _id_of(one)


def _both(own: bytes, theirs: bytes) -> bytes:
    """Put what two leaders say into one body: first that of the lower leader."""
    first, last = sorted((own, theirs), key=lambda body: int(unpacked(body)[0]))
    return packed([len(first)]) + first + last


def _parted(body: bytes) -> tuple[Ints, Ints]:
    """Take apart what the two leaders say."""
    numbers = unpacked(body)
    end = 1 + int(numbers[0]) // numbers.itemsize
    return numbers[1:end], numbers[end:]


def _id_of(numbers: Ints) -> ContextId:
    """The name that a leader gives."""
    return int(numbers[0]), int(numbers[1])


class Leaders(IntercommEndpoint):
    """Agreement of the two groups of an intercommunicator, by way of their leaders."""

    __slots__ = ()

    def Get_remote_group(self) -> Group:
        """The other group."""
        return Group._of_table(self._others)

    remote_group = property(Get_remote_group)

    def _agreed(
        self, wish: Sequence[int], of_all: bool = True
    ) -> tuple[ContextId, tuple[Ints, ...]]:
        """Agree with the other group.

        Parameters
        ----------
        wish : sequence of int
            What the caller wants.
        of_all : bool
            Whether all members' wishes count, or the leaders' alone.

        Returns
        -------
        context_id : tuple of (int, int)
            A name.
        wishes : tuple of two ndarrays of int64
            What the members of each group want, by rank; of the leaders alone if only theirs count.
        """
        return self._agreeing(wish, of_all)()

    def _agreeing(
        self, wish: Sequence[int], of_all: bool
    ) -> Callable[[], tuple[ContextId, tuple[Ints, ...]]]:
        """The next agreement with the other group; called, it gives what `_agreed` does."""
        part, holding = next_agreement(self._local), self._state
        holding.agreed += 1
        scope, tag, leads = self._scope.part(AGREEMENTS), holding.agreed, self._first

        def agree() -> tuple[ContextId, tuple[Ints, ...]]:
            rows = part.gather(0, packed(wish)) if of_all else [packed(wish)]
            both = None
            if part.rank == 0:
                mail = running.mail
                own = packed([*new_context_id()]) + b"".join(rows or ())
                mail.send(scope, 0, tag, own)
                theirs = mail.receive(scope, 0, tag)[BODY]
                first, last = (own, theirs) if leads else (theirs, own)
                both = packed([len(first)]) + first + last
            one, other = _parted(part.broadcast(0, both))
            return _id_of(one), (one[2:], other[2:])

        return agree


def local_context_name(name: Sequence[int], first: bool) -> tuple[int, ...]:
    """The name of the context within one of the groups."""
    return (*name, 0 if first else 1)


def split_groups(sides: Sides, rows: tuple[Ints, ...], color: int) -> Sides:
    """Those of both groups who have a color, each group by key and rank."""
    return tuple(
        split_group(side, wished.reshape(-1, 2), color)
        for side, wished in zip(sides, rows, strict=True)
    )


def split_group(group: RankTable, wished: Ints, color: int) -> RankTable:
    """Those of a group who have a color, by key and rank.

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
