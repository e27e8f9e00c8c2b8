"""Patterns of open-loop traffic: to whom a processor's next message goes.

A pattern is a rule ``target(source, seed, sequence, step, params)`` of what the source knows: its
number, the seed, how many messages it has sent before, and the step in which this one is born.
Draws are keyed by the source and the step, so that any rank may make them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from mpinet.base.arguments import ScheduleRule
from mpinet.base.arrays import Ints
from mpinet.base.meant import hint
from mpinet.base.numerals import is_whole, quoted
from mpinet.compiled import Rule, inlined, kernel, rule
from mpinet.draws import below, draw32, scaled, shuffled
from mpinet.errors import UsageError
from mpinet.machine.traffic.layout import SPOT_STREAM, TARGET_STREAM
from mpinet.networks.topology import Topology
from mpinet.programs.userlines import csv_lines, processor_named

OWN = 2
"""Place at which a pattern's own parameters begin, behind the numbers of processors and of its own
words.
"""

NAMES = (
    "uniform|permutation|transpose|bitreversal|complement|shuffle|tornado|neighbour|"
    "hotspot:NODE,PERCENT|diagonal|alltoall|FILE.csv"
)


@dataclass(frozen=True, eq=False)
class Pattern:
    """Whom messages go to.

    Attributes
    ----------
    name : str
        As it was given.
    rule : Rule
        ``target(source, seed, sequence, step, params)``.
    params : ndarray of int64
        Its parameters; params[0] is the number of processors.
    rows : ndarray of int64, shape (k, 4), optional
        A trace instead: (step, source, target, flits), ascending by step and source.
    """

    name: str
    rule: Rule
    params: Ints
    rows: Ints | None = None

    @property
    def is_drawn(self) -> bool:
        """True if seeds decide whom a processor sends to, the same in every step."""
        return self.rule is permutation


@rule
def uniform(source, seed, sequence, step, params):
    """Any processor, the source included."""
    return scaled(draw32(seed, source, step, TARGET_STREAM), params[0])


@rule
def permutation(source, seed, sequence, step, params):
    """A seeded permutation of all processors."""
    return shuffled(source, params[0], seed)


@inlined
def bits_of(size):
    """The number of bits of 2^n numbers."""
    width = 0
    while (1 << width) < size:
        width += 1
    return width


@rule
def transpose(source, seed, sequence, step, params):
    """The halves of the number's bits swapped."""
    half = bits_of(params[0]) // 2
    return source >> half | (source & ((1 << half) - 1)) << half


@rule
def bitreversal(source, seed, sequence, step, params):
    """The number's bits reversed."""
    width = bits_of(params[0])
    target = 0
    for bit in range(width):
        target |= (source >> bit & 1) << (width - 1 - bit)
    return target


@rule
def complement(source, seed, sequence, step, params):
    """The number's bits inverted."""
    return source ^ (params[0] - 1)


@rule
def shuffle(source, seed, sequence, step, params):
    """The number's bits rotated left by one."""
    width = bits_of(params[0])
    return (source << 1 | source >> (width - 1)) & (params[0] - 1)


@rule
def shifted(source, seed, sequence, step, params):
    """Every coordinate shifted: params hold (stride, side, shift) of each dimension."""
    target = 0
    for j in range(params[OWN]):
        at = OWN + 1 + 3 * j
        stride, side, shift = params[at], params[at + 1], params[at + 2]
        target += (source // stride + shift) % side * stride
    return target


@rule
def hotspot(source, seed, sequence, step, params):
    """One processor with a given probability, else any."""
    if draw32(seed, source, step, SPOT_STREAM) < params[OWN + 1]:
        return params[OWN]
    return scaled(draw32(seed, source, step, TARGET_STREAM), params[0])


@rule
def diagonal(source, seed, sequence, step, params):
    """The next processor for a third of the messages, else the source itself."""
    third = scaled(draw32(seed, source, step, TARGET_STREAM), 3)
    return (source + 1) % params[0] if third == 0 else source


@rule
def alltoall(source, seed, sequence, step, params):
    """All others in turn."""
    return (source + 1 + sequence % (params[0] - 1)) % params[0]


PLAIN = {each.name: each for each in (uniform, permutation, diagonal, alltoall)}
BITWISE = {each.name: each for each in (transpose, bitreversal, complement, shuffle)}
SHIFTS: dict[str, Callable[[int], int]] = {
    "tornado": lambda side: (side + 1) // 2 - 1,
    "neighbour": lambda side: 1,
}


def pattern_of(topology: Topology, text: str) -> Pattern:
    """The pattern of this name on a network, or the trace in a file.

    Raises
    ------
    UsageError
        There is none of that name, or it does not apply to the network.
    NodeError
        A node that the network does not have.
    """
    name, _, argument = text.partition(":")
    hosts = topology.hosts
    if text in PLAIN:
        if text == "alltoall" and hosts < 2:
            raise UsageError(f"The pattern alltoall needs two processors; {topology.name} has one.")
        return _made(text, PLAIN[text], topology)
    if text in BITWISE:
        _require_bits(topology, text)
        if hosts <= (1 if text == "complement" else 2):
            raise _aimless(topology, text)
        return _made(text, BITWISE[text], topology)
    if text in SHIFTS:
        return _shift(topology, text)
    if name == "hotspot" and argument:
        return _spot(topology, text, argument)
    if text.endswith(".csv"):
        return Pattern(text, uniform, _params(topology), read_trace(topology, Path(text)))
    raise UsageError(unknown_pattern(text, NAMES))


def unknown_pattern(text: str, listed: str) -> str:
    """Return a sentence on a pattern that is none of those listed, with the one that was meant."""
    names = [pattern.partition(":")[0] for pattern in listed.split("|")]
    word = SAME.get(text, text)
    meant = hint(word if word in names else text, names, 1, after=f"give {listed}.")
    return f"There is no traffic pattern {quoted(text)}: {meant}"


SAME = {"random": "uniform", "uniform": "random", "all": "alltoall", "alltoall": "all"}
"""Names of patterns elsewhere, and what they are called here where that applies."""


def _params(topology: Topology, own: Sequence[int] = ()) -> Ints:
    return np.array([topology.hosts, len(own), *own], np.int64)


def _made(name: str, made: Rule, topology: Topology, own: Sequence[int] = ()) -> Pattern:
    return Pattern(name, made, _params(topology, own))


def _require_bits(topology: Topology, name: str) -> None:
    """Refuse a pattern of bits where the processors' numbers are not all numbers of n bits."""
    hosts = topology.hosts
    width = hosts.bit_length() - 1
    if hosts != 1 << width or (name == "transpose" and width % 2):
        shape = "4^t" if name == "transpose" else "2^n"
        raise UsageError(
            f"The pattern {name} needs {shape} processors, and {topology.name} has {hosts}."
        )


def _aimless(topology: Topology, name: str) -> UsageError:
    """The error of a pattern that moves nothing."""
    return UsageError(
        f"The pattern {name} moves nothing on {topology.name}: every target is its source."
    )


def _shift(topology: Topology, name: str) -> Pattern:
    dimensions = topology.coordinates
    if not dimensions:
        raise UsageError(
            f"The pattern {name} shifts coordinates, and the processors of {topology.name} have "
            "none: rings, meshes, tori, hypercubes and products of them do."
        )
    if not any(SHIFTS[name](side) % side for _, side in dimensions):
        raise _aimless(topology, name)
    own = [len(dimensions)]
    for stride, side in dimensions:
        own += [stride, side, SHIFTS[name](side)]
    return _made(name, shifted, topology, own)


def _spot(topology: Topology, text: str, argument: str) -> Pattern:
    words = argument.rsplit(",", 1)
    try:
        percent = float(words[1])
    except (IndexError, ValueError):
        percent = -1.0
    if not 0 <= percent <= 100:
        raise UsageError(f"{quoted(text)}: give hotspot:NODE,PERCENT, as in hotspot:0,20.")
    node = processor_named(topology, words[0], text)
    return _made(text, hotspot, topology, [node, below(percent / 100)])


HEADING = ["step", "source", "target", "flits"]


def read_trace(topology: Topology, path: Path) -> Ints:
    """Read the lines ``step,source,target,flits`` of a file.

    A first line that names these columns is a heading: they may then stand in any order, among
    others.

    Returns
    -------
    ndarray of int64, shape (k, 4)
        By step, then source, then line.
    """
    rows = csv_lines(path)
    columns = rows[0] if rows else []
    headed = set(HEADING) <= set(columns)
    rows = rows[headed:]
    read = np.empty((len(rows), 4), np.int64)
    for number, row in enumerate(rows):
        fields = row
        if headed and len(row) == len(columns):
            fields = [row[columns.index(name)] for name in HEADING]
        step, flits = fields[:1], fields[3:]
        if len(fields) != 4 or not all(is_whole(each) for each in [*step, *flits]):
            raise UsageError(f"{path}: {','.join(row)!r} is not a line 'step,source,target,flits'.")
        ends = [processor_named(topology, field, str(path)) for field in fields[1:3]]
        read[number] = [int(step[0]), *ends, int(flits[0])]
        if read[number, 3] < 1:
            raise UsageError(f"{path}: {','.join(row)!r}: a message has at least one flit.")
    return in_order(read)


def in_order(rows: Ints) -> Ints:
    """A trace's rows by step, then source, then as they stood."""
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


@dataclass(frozen=True, eq=False)
class Share:
    """A part of a pattern: pairs to which the same share of their sources' messages goes.

    Attributes
    ----------
    weight : Fraction
        That share.
    hosts : int
        Processors; all ordered pairs of them, unless `targets` names one for each source.
    targets : ndarray of int64, shape (hosts,), optional
        The target of every source.
    own : bool
        Whether all pairs include those of a processor with itself.
    """

    weight: Fraction
    hosts: int
    targets: Ints | None = None
    own: bool = True

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return self.hosts if self.targets is not None else self.hosts**2

    def blocks(self) -> Iterator[tuple[Ints, Ints]]:
        """The pairs, part by part: sources and targets."""
        every = np.arange(self.hosts)
        if self.targets is not None:
            yield every, self.targets
            return
        for begin in range(0, self.hosts, at_once := max(1, PAIRS_AT_ONCE // self.hosts)):
            some = np.arange(begin, min(begin + at_once, self.hosts))
            sources, targets = np.repeat(some, self.hosts), np.tile(every, len(some))
            kept = slice(None) if self.own else sources != targets
            yield sources[kept], targets[kept]


PAIRS_AT_ONCE = 1 << 20
"""Pairs that are made at a time."""


def shares(topology: Topology, pattern: Pattern, seed: int = 0) -> list[Share] | None:
    """The shares of a pattern, which add up to 1 for every source; None for a trace."""
    hosts = topology.hosts
    if pattern.rows is not None:
        return None
    drawn = pattern.rule
    if drawn is uniform:
        return [Share(Fraction(1, hosts), hosts)]
    if drawn is alltoall:
        return [Share(Fraction(1, hosts - 1), hosts, own=False)]
    every = np.arange(hosts)
    if drawn is diagonal:
        ahead = (every + 1) % hosts
        return [Share(Fraction(1, 3), hosts, ahead), Share(Fraction(2, 3), hosts, every)]
    if drawn is hotspot:
        spot, part = pattern.params[OWN : OWN + 2].tolist()
        often = Fraction(part, 2**32)
        return [
            Share(often, hosts, np.full(hosts, spot)),
            Share((1 - often) / hosts, hosts),
        ]
    targets = np.empty(hosts, np.int64)
    map_targets(drawn.native, seed, pattern.params, targets)
    return [Share(Fraction(1), hosts, targets)]


@kernel
def map_targets(rule: ScheduleRule, seed: int, params: Ints, targets: Ints) -> None:
    """Write every processor's target by a pattern that draws nothing."""
    target = rule.call
    for source in range(targets.size):
        targets[source] = target(source, seed, 0, 0, params)
