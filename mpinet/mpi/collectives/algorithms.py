"""The patterns in which members send and receive: trees, exchanges, and all to all.

They know nothing of objects and buffers: what travels is bytes, or bodies that join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from mpinet.mpi.collectives.collective import Collective
from mpinet.mpi.collectives.payloads import Bundle, Combine, Fold, Items, Part

B = TypeVar("B")

NOTHING = b""
"""Content of barriers' messages."""


def broadcast(collective: Collective, root: int, body: Any = None) -> Any:
    """Bring the root's body to all members.

    Parameters
    ----------
    collective : Collective
        The call.
    root : int
        The root's rank.
    body : bytes
        The root's.
    """
    shape = collective.shape(root)
    parent = shape.parent
    if parent >= 0:
        body = collective.receive(parent)
    for child in shape.children:
        collective.send(child, body)
    return body


def converge(collective: Collective, root: int, own: B, join: Callable[[B, B], B]) -> B | None:
    """Join all members' bodies on the way to the root.

    A member joins its children's in a fixed order, whichever comes first: the backward one of
    their being informed.

    Returns
    -------
    body or None
        The root's result; None for all others.
    """
    shape = collective.shape(root)
    for child in reversed(shape.children):
        own = join(own, collective.receive(child))
    if shape.parent < 0:
        return own
    collective.send(shape.parent, own)
    return None


def everywhere(collective: Collective, own: B, join: Callable[[B, B], B]) -> B:
    """Join all members' bodies; the result for all of them."""
    if collective.exchanges:
        return exchange(collective, own, join)
    result: B = broadcast(collective, 0, converge(collective, 0, own, join))
    return result


def exchange(collective: Collective, own: B, join: Callable[[B, B], B]) -> B:
    """Join all members' bodies by recursive doubling; the result for all of them.

    In round j partners differ in bit j of their ranks, and both compute the same. Members beyond
    the largest power of two leave theirs to a partner first, and receive the result at the end.
    """
    rank = collective.rank
    most = 1 << (collective.size.bit_length() - 1)
    if rank >= most:
        collective.send(rank - most, own)
        late: B = collective.receive(rank - most)
        return late
    if rank + most < collective.size:
        own = join(own, collective.receive(rank + most))
    bit = 1
    while bit < most:
        partner = rank ^ bit
        collective.send(partner, own)
        theirs = collective.receive(partner)
        own = join(own, theirs) if rank < partner else join(theirs, own)
        bit <<= 1
    if rank + most < collective.size:
        collective.send(rank + most, own)
    return own


def gather(collective: Collective, root: int, item: bytes) -> list[bytes] | None:
    """Bring an item of every member to the root; by rank there, None for all others."""
    items = converge(collective, root, Items.of(collective.rank, item), Items.and_of)
    return None if items is None else items.all()


def allgather(collective: Collective, item: bytes) -> list[bytes]:
    """Bring an item of every member to all; by rank."""
    return everywhere(collective, Items.of(collective.rank, item), Items.and_of).all()


def scatter(collective: Collective, root: int, items: Sequence[bytes] | None = None) -> bytes:
    """Bring an item of the root's to every member.

    Parameters
    ----------
    collective : Collective
        The call.
    root : int
        The root's rank.
    items : sequence of bytes, optional
        The root's, by rank.
    """
    shape = collective.shape(root)
    if items is not None:
        bundle = [items[rank] for rank in shape.walk]
    else:
        bundle = collective.receive(shape.parent).items
    end = len(bundle)
    for child, weight in zip(shape.children, shape.weights, strict=True):
        collective.send(child, Bundle(bundle[end - weight : end]))
        end -= weight
    return bundle[0]


def alltoall(collective: Collective, items: Sequence[bytes]) -> list[bytes]:
    """Bring an item of every member to every other; by rank.

    In round k a member tells the one k ranks further on.
    """
    rank, size = collective.rank, collective.size
    for distance in range(1, size):
        there = (rank + distance) % size
        collective.send(there, items[there])
    return [items[rank] if source == rank else collective.receive(source) for source in range(size)]


def reduce(collective: Collective, root: int, own: Part, fold: Fold) -> bytes | None:
    """Combine all members' operands; the root's result, None for all others."""
    part = converge(collective, root, own, fold.join)
    return None if part is None else fold.result(part)


def allreduce(collective: Collective, own: Part, fold: Fold) -> bytes:
    """Combine all members' operands; the result for all of them."""
    return fold.result(everywhere(collective, own, fold.join))


def reduce_scatter(collective: Collective, own: Part, fold: Fold, sizes: Sequence[int]) -> bytes:
    """Combine all members' operands; for every member a piece of the result.

    Parameters
    ----------
    collective : Collective
        The call.
    own : bytes or Runs
        The member's part.
    fold : Fold
        How parts become one.
    sizes : sequence of int
        Bytes of every member's piece.
    """
    if collective.exchanges:
        return pieces(allreduce(collective, own, fold), sizes)[collective.rank]
    return scatter_pieces(collective, reduce(collective, 0, own, fold), sizes)


def scatter_pieces(collective: Collective, whole: bytes | None, sizes: Sequence[int]) -> bytes:
    """Bring to every member its piece of a body that the first has (None for all others)."""
    return scatter(collective, 0, None if whole is None else pieces(whole, sizes))


def pieces(whole: bytes, sizes: Sequence[int]) -> list[bytes]:
    """A body in pieces of these sizes."""
    ends = accumulate(sizes)
    return [whole[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def scan(collective: Collective, operand: bytes, combine: Combine, inclusive: bool) -> bytes | None:
    """Combine the operands of all members up to each, by recursive doubling.

    Parameters
    ----------
    collective : Collective
        The call.
    operand : bytes
        The member's.
    combine : callable
        Gives the result of two operands.
    inclusive : bool
        Whether a member's own operand counts for it.

    Returns
    -------
    bytes or None
        The member's result; None if no operand counts.
    """
    rank = collective.rank
    result = operand if inclusive else None
    block = operand
    bit = 1
    while bit < collective.size:
        partner = rank ^ bit
        bit <<= 1
        if partner >= collective.size:
            continue
        collective.send(partner, block)
        theirs = collective.receive(partner)
        if partner < rank:
            block = combine(theirs, block)
            result = theirs if result is None else combine(theirs, result)
        else:
            block = combine(block, theirs)
    return result


def barrier(collective: Collective) -> None:
    """Wait until all members have called."""
    everywhere(collective, NOTHING, _neither)


def _neither(one: bytes, other: bytes) -> bytes:
    return NOTHING
