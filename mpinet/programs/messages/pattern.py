"""Patterns of collectives: rounds of transfers of blocks, and the programs that they become.

A pattern says who passes which blocks of the vectors on to whom, in which round; how long a block
is comes in only when a program is made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import UsageError
from mpinet.machine.timed.layout import RECV, SEND
from mpinet.machine.timed.program import MOST_AMOUNT, MOST_ROWS, Program, ranges

MOST_SEGMENTS = 1 << 20

BYTES_AN_OPERATION = 250
"""Bytes that an operation takes, with its requirements, while a program is made."""


class Round(NamedTuple):
    """Transfers of one round: each has a sender, a receiver, and ranges of blocks."""

    senders: Ints
    """Sender of each transfer. Shape (transfers,)."""
    receivers: Ints
    """Receiver of each transfer. Shape (transfers,)."""
    owners: Ints
    """Transfer of each range of blocks, ascending. Shape (ranges,)."""
    first: Ints
    """First block of each range. Shape (ranges,)."""
    width: Ints
    """Number of blocks of each range; the first block follows the last one. Shape (ranges,)."""
    add: bool = False
    """True if the receiver combines the incoming blocks with its own; otherwise they replace its
    own."""

    def back(self) -> Round:
        """Return the round that goes the other way, and combines."""
        return self._replace(senders=self.receivers, receivers=self.senders, add=True)


def round_of(senders: object, receivers: object, first: object = 0, count: int = 1) -> Round:
    """Return a round in which each transfer has one range of blocks."""
    one = np.atleast_1d(np.asarray(senders, np.int64))
    other = np.atleast_1d(np.asarray(receivers, np.int64))
    number = np.arange(len(one))
    blocks = np.broadcast_to(np.asarray(first, np.int64), one.shape)
    return Round(one, other, number, blocks, np.full(len(one), count, np.int64))


def back(rounds: Sequence[Round]) -> list[Round]:
    """Return rounds that go the other way, the last one first: a broadcast's are a reduction's."""
    return [each.back() for each in reversed(rounds)]


@dataclass(frozen=True)
class TransferRounds:
    """A collective as rounds of transfers."""

    processors: int
    """Number of processors that take part."""
    streams: Sequence[Sequence[Round]]
    """Parts that do not wait for one another, such as two trees; each has rounds. In a stream what
    a processor does in a round waits for what it does in the one before."""
    blocks: int = 1
    """Number of blocks of all vectors together."""
    vectors: int = 1
    """Number of vectors. All have the same length, and each is cut into equal blocks."""

    @property
    def messages(self) -> int:
        """Number of transfers."""
        return sum(len(each.senders) for rounds in self.streams for each in rounds)

    def rooted(self, root: int) -> TransferRounds:
        """Return the pattern with another processor in the place of the first."""
        if root == 0:
            return self
        streams = [
            [
                each._replace(
                    senders=(each.senders + root) % self.processors,
                    receivers=(each.receivers + root) % self.processors,
                )
                for each in rounds
            ]
            for rounds in self.streams
        ]
        return TransferRounds(self.processors, streams, self.blocks, self.vectors)

    def borders(self, size: int) -> Ints:
        """Return where each block begins, then where the last one ends, of vectors of `size`."""
        each = self.blocks // self.vectors
        inner: Ints = np.arange(each, dtype=np.int64) * size // each
        starts = (np.arange(self.vectors) * size)[:, None] + inner
        return np.append(starts.ravel(), self.vectors * size)


class Written(NamedTuple):
    """A program made of a pattern, and what its operations carry."""

    program: Program
    """Program of the pattern's operations; a segment of a stream has a tag of its own."""
    segments: Ints
    """Segment that each operation carries. Shape (operations,)."""
    streams: Ints
    """Stream of each operation. Shape (operations,)."""
    rounds: Ints
    """Round of each operation. Shape (operations,)."""
    transfers: Ints
    """Transfer of each operation. Shape (operations,)."""


def written(
    pattern: TransferRounds, size: int, segment: int | None = None, name: str = ""
) -> Written:
    """Make a program of a pattern.

    Parameters
    ----------
    pattern : TransferRounds
        Who passes what on to whom.
    size : int
        Bytes of a vector, >= 1. A message of no bytes becomes one of 1: programs know no others.
    segment : int, optional
        Most bytes of a vector that go through the pattern together: the vector is cut into as few
        equal segments as that takes, which follow one another without waiting.

    Raises
    ------
    UsageError
        Sizes are out of range, or there are too many segments.
    TooLarge
        The program does not fit into memory.
    """
    if not 1 <= size <= MOST_AMOUNT:
        raise UsageError(f"A vector has 1..2^48 bytes, not {size}.")
    if segment is not None and not 1 <= segment <= MOST_AMOUNT:
        raise UsageError(f"A segment has 1..2^48 bytes, not {segment}.")
    pieces = 1 if segment is None else -(-size // segment)
    rows = 2 * pattern.messages * pieces
    if pieces > MOST_SEGMENTS or rows > MOST_ROWS:
        raise UsageError(
            f"{pieces} segments of {pattern.messages} messages are too many: take longer segments."
        )
    require_memory(BYTES_AN_OPERATION * rows, f"The program {name or 'of messages'}")
    return _laid_out(pattern, _columns(pattern, size, pieces), name or "program")


def _columns(pattern: TransferRounds, size: int, pieces: int) -> list[Ints]:
    """Return segment, stream, round, transfer, sender, receiver, bytes of every message."""
    cuts: Ints = np.arange(pieces + 1) * (size // pieces)
    cuts += np.arange(pieces + 1) * (size % pieces) // pieces
    # Segments have at most two lengths. The sizes of a round are computed once for each length
    # instead of once for each segment.
    lengths, kinds = np.unique(np.diff(cuts), return_inverse=True)
    borders = [pattern.borders(int(length)) for length in lengths]
    parts: list[list[Ints]] = []
    for stream, rounds in enumerate(pattern.streams):
        for number, each in enumerate(rounds):
            count = len(each.senders)
            sizes = np.array([_lengths(each, one) for one in borders])[kinds].ravel()
            ends = [np.tile(end, pieces) for end in (np.arange(count), *each[:2])]
            same = [np.full(count * pieces, value, np.int64) for value in (stream, number)]
            parts.append([np.repeat(np.arange(pieces), count), *same, *ends, sizes])
    if not parts:
        return [np.zeros(0, np.int64) for _ in range(7)]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _lengths(each: Round, borders: Ints) -> Ints:
    """Return the bytes of each transfer of a round, 1 or more."""
    blocks, total = len(borders) - 1, borders[-1]
    end = each.first + each.width
    spans = borders[end % blocks] + (end // blocks) * total - borders[each.first]
    sums: Ints = np.bincount(each.owners, spans.astype(np.float64), len(each.senders))
    exact = sums.astype(np.int64)
    # bincount adds in floating point, which is exact up to 2**53. Larger sums are added again in
    # integers.
    if len(sums) and sums.max() >= 2**53:
        exact = np.zeros(len(sums), np.int64)
        np.add.at(exact, each.owners, spans)
    return np.maximum(exact, 1)


def _laid_out(pattern: TransferRounds, columns: list[Ints], name: str) -> Written:
    """Put sends and receives of each processor in order, and let rounds wait for one another."""
    piece, stream, number, transfer, sender, receiver, size = columns
    both = [np.concatenate([column, column]) for column in (piece, stream, number, transfer, size)]
    piece, stream, number, transfer, size = both
    processor, peer = np.concatenate([sender, receiver]), np.concatenate([receiver, sender])
    kind: Ints = np.repeat(np.array([SEND, RECV]), len(sender))
    # A tag of its own for each segment and stream keeps messages apart that overtake each other.
    tag = piece * len(pattern.streams) + stream
    order = np.lexsort((transfer, kind, number, tag, processor))
    processor, tag, number = processor[order], tag[order], number[order]
    first = np.searchsorted(processor, np.arange(pattern.processors + 1)).astype(np.int64)
    needs_first, needs = _needs(processor, tag, number, first)
    program = Program(
        first, kind[order].astype(np.int8), size[order], peer[order].astype(np.int32),
        np.zeros(len(order), np.int32), tag.astype(np.uint32), needs_first, needs,
        np.zeros(len(order), np.int64), name,
    )  # fmt: skip
    return Written(program, piece[order], stream[order], number, transfer[order])


def _needs(processor: Ints, tag: Ints, number: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Return what each row requires: all of its processor's round before, of the same tag."""
    new = np.ones(len(processor), bool)
    new[1:] = (np.diff(processor) != 0) | (np.diff(tag) != 0) | (np.diff(number) != 0)
    begins = np.flatnonzero(new)
    ends = np.append(begins[1:], len(processor))
    group = np.cumsum(new) - 1
    follows = np.zeros(len(begins), bool)
    follows[1:] = (np.diff(processor[begins]) == 0) & (np.diff(tag[begins]) == 0)
    counts = np.zeros(len(begins), np.int64)
    counts[1:] = np.where(follows[1:], (ends - begins)[:-1], 0)
    before = np.concatenate([[0], begins[:-1]])[group] - first[processor]
    needed = counts[group]
    return np.concatenate([[0], np.cumsum(needed)]), ranges(before, needed) << 1
