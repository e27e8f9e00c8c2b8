"""Patterns of collectives: rounds of transfers of blocks, and the programs made of them.

A pattern states sender, receiver, blocks and round of every transfer. The length of a block is
fixed when a program is made of the pattern.
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
"""Bytes of memory per operation, with its requirements, while a program is made."""


class Round(NamedTuple):
    """Transfers of one round, each with sender, receiver, and ranges of blocks."""

    senders: Ints
    """Sender of each transfer. Shape (transfers,)."""
    receivers: Ints
    """Receiver of each transfer. Shape (transfers,)."""
    owners: Ints
    """Transfer of each range of blocks, ascending. Shape (ranges,)."""
    first: Ints
    """First block of each range. Shape (ranges,)."""
    width: Ints
    """Number of blocks of each range; ranges wrap around from the last block to the first. Shape
    (ranges,).
    """
    add: bool = False
    """True if the receiver combines the received blocks with its own; otherwise they replace its
    own.
    """

    def back(self) -> Round:
        """Return the reversed round, with combining receivers."""
        return self._replace(senders=self.receivers, receivers=self.senders, add=True)


def round_of(senders: object, receivers: object, first: object = 0, count: int = 1) -> Round:
    """Return a round in which each transfer has one range of blocks."""
    one = np.atleast_1d(np.asarray(senders, np.int64))
    other = np.atleast_1d(np.asarray(receivers, np.int64))
    number = np.arange(len(one))
    blocks = np.broadcast_to(np.asarray(first, np.int64), one.shape)
    return Round(one, other, number, blocks, np.full(len(one), count, np.int64))


def back(rounds: Sequence[Round]) -> list[Round]:
    """Return the reversed rounds, the last one first: a broadcast becomes a reduction."""
    return [each.back() for each in reversed(rounds)]


@dataclass(frozen=True)
class TransferRounds:
    """A collective as rounds of transfers."""

    processors: int
    """Number of participating processors."""
    streams: Sequence[Sequence[Round]]
    """Independent parts, such as two trees, each with its rounds. In a stream a processor's
    transfers of a round wait for its transfers of the previous round.
    """
    blocks: int = 1
    """Number of blocks of all vectors together."""
    vectors: int = 1
    """Number of vectors. All have the same length, and each is cut into equal blocks."""

    @property
    def messages(self) -> int:
        """Number of transfers."""
        return sum(len(each.senders) for rounds in self.streams for each in rounds)

    def rooted(self, root: int) -> TransferRounds:
        """Return the pattern with `root` in the place of processor 0."""
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
        """Return the start of each block and the end of the last one in vectors of `size` bytes."""
        each = self.blocks // self.vectors
        inner: Ints = np.arange(each, dtype=np.int64) * size // each
        starts = (np.arange(self.vectors) * size)[:, None] + inner
        return np.append(starts.ravel(), self.vectors * size)


class Written(NamedTuple):
    """A program made of a pattern, and the contents of its operations."""

    program: Program
    """Program of the pattern's operations; each segment of a stream has its own tag."""
    segments: Ints
    """Segment of each operation. Shape (operations,)."""
    streams: Ints
    """Stream of each operation. Shape (operations,)."""
    rounds: Ints
    """Round of each operation. Shape (operations,)."""
    transfers: Ints
    """Transfer of each operation. Shape (operations,)."""


def written(
    pattern: TransferRounds, size: int, segment: int | None = None, name: str = ""
) -> Written:
    """Return the program of a pattern.

    Parameters
    ----------
    pattern : TransferRounds
        The transfers.
    size : int
        Bytes of a vector, >= 1. An empty message becomes a message of 1 byte, the minimum in
        programs.
    segment : int, optional
        Maximum bytes per segment of a vector. The vector is cut into the smallest number of equal
        segments. Segments follow each other through the pattern without waiting.

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
    # Segments have at most two lengths. The sizes of a round are computed once per length instead
    # of once per segment.
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
    """Return the program: each processor's sends and receives in order, rounds after each other."""
    piece, stream, number, transfer, sender, receiver, size = columns
    both = [np.concatenate([column, column]) for column in (piece, stream, number, transfer, size)]
    piece, stream, number, transfer, size = both
    processor, peer = np.concatenate([sender, receiver]), np.concatenate([receiver, sender])
    kind: Ints = np.repeat(np.array([SEND, RECV]), len(sender))
    # A separate tag for each segment and stream distinguishes messages that overtake each other.
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
    """Return the requirements of each row: its processor's previous round with the same tag."""
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
