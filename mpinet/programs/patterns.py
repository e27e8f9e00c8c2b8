"""Patterns of open-loop traffic: the target of a processor's next message.

A pattern is a rule ``target(source, seed, sequence, step, params)``. All arguments are known to the
source: its number, the seed, the number of its earlier messages, and the step of the message's
creation. Random numbers depend on the source and the step, so any rank can compute them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpinet.base.arguments import ScheduleRule
from mpinet.base.arrays import Ints
from mpinet.base.choices import PATTERNS
from mpinet.base.csvlines import csv_lines
from mpinet.base.meant import hint
from mpinet.base.numerals import is_whole, quoted
from mpinet.compiled import Rule, inlined, kernel, open_part, rule
from mpinet.draws import below, draw32, scaled, shuffled
from mpinet.errors import MpinetError, UsageError
from mpinet.machine.timed.program import Program
from mpinet.machine.traffic.layout import MIX_STREAM, SPOT_STREAM, TARGET_STREAM
from mpinet.machine.traffic.parameters import PRIORITIES
from mpinet.networks import open as open_topology
from mpinet.networks.classic.dragonfly import Dragonfly
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import Topology
from mpinet.programs.userlines import processor_named, processors_numbered, read_pairs
from mpinet.programs.worst import worst_permutation

GROUP_STREAM, PLACE_STREAM = 24, 25
"""Random streams for the seeds of a product's two patterns."""

OWN = 2
"""Index of a pattern's own parameters, after the number of processors and of own words."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Pattern of the messages' targets."""

    name: str
    """Name of the pattern, as the user wrote it."""
    rule: Rule
    """``target(source, seed, sequence, step, params)``."""
    params: Ints
    """Parameters of the rule; params[0] is the number of processors."""
    rows: Ints | None = None
    """A trace instead: (step, source, target, flits), ascending by step and source. Shape (k,
    4).
    """
    parts: tuple[Pattern, ...] = ()
    """Patterns of a mix, or the two patterns of a product."""
    bounds: tuple[int, ...] = ()
    """Bounds of a mix, in units of 2^-32. A message uses the first pattern whose bound is above its
    random number, otherwise the last pattern.
    """
    width: int = 0
    """Number of processors per group of a product; otherwise 0."""

    @property
    def is_drawn(self) -> bool:
        """True if seeds determine the target of a processor, equal in every step."""
        return self.rule is permutation or any(part.is_drawn for part in self.parts)

    def targets(self, sources: Ints, seed: int) -> Ints:
        """Return the target of each source's first message, created in step 0; not for traces."""
        targets = np.empty_like(sources)
        map_targets(self.rule.native, seed, self.params, sources, targets)
        return targets


@kernel
def map_targets(rule: ScheduleRule, seed: int, params: Ints, sources: Ints, targets: Ints) -> None:
    """Write the targets of sources by a pattern's rule."""
    target = rule.call
    for i in range(sources.size):
        targets[i] = target(sources[i], seed, 0, 0, params)


@rule
def uniform(source, seed, sequence, step, params):
    """Return a random processor, possibly the source."""
    return scaled(draw32(seed, source, step, TARGET_STREAM), params[0])


@rule
def permutation(source, seed, sequence, step, params):
    """Return the target of a seeded permutation of all processors."""
    return shuffled(source, params[0], seed)


@inlined
def bits_of(size):
    """Return the number of bits of 2^n numbers."""
    width = 0
    while (1 << width) < size:
        width += 1
    return width


@rule
def transpose(source, seed, sequence, step, params):
    """Return the source with the halves of its bits swapped."""
    half = bits_of(params[0]) // 2
    return source >> half | (source & ((1 << half) - 1)) << half


@rule
def bitreversal(source, seed, sequence, step, params):
    """Return the source with its bits reversed."""
    width = bits_of(params[0])
    target = 0
    for bit in range(width):
        target |= (source >> bit & 1) << (width - 1 - bit)
    return target


@rule
def complement(source, seed, sequence, step, params):
    """Return the source with its bits inverted."""
    return source ^ (params[0] - 1)


@rule
def shuffle(source, seed, sequence, step, params):
    """Return the source with its bits rotated left by one."""
    width = bits_of(params[0])
    return (source << 1 | source >> (width - 1)) & (params[0] - 1)


@rule
def shifted(source, seed, sequence, step, params):
    """Return the source with every coordinate shifted.

    `params` holds (stride, side, shift) of each dimension.
    """
    target = 0
    for j in range(params[OWN]):
        at = OWN + 1 + 3 * j
        stride, side, shift = params[at], params[at + 1], params[at + 2]
        target += (source // stride + shift) % side * stride
    return target


@rule
def hotspot(source, seed, sequence, step, params):
    """Return the hotspot processor with a given probability, otherwise any processor."""
    if draw32(seed, source, step, SPOT_STREAM) < params[OWN + 1]:
        return params[OWN]
    return scaled(draw32(seed, source, step, TARGET_STREAM), params[0])


@rule
def diagonal(source, seed, sequence, step, params):
    """Return the next processor for a third of the messages, otherwise the source itself."""
    third = scaled(draw32(seed, source, step, TARGET_STREAM), 3)
    return (source + 1) % params[0] if third == 0 else source


@rule
def alltoall(source, seed, sequence, step, params):
    """Return all other processors in turn."""
    return (source + 1 + sequence % (params[0] - 1)) % params[0]


@rule
def listed(source, seed, sequence, step, params):
    """Return the source's target in a list."""
    return params[OWN + source]


@rule
def next_group(source, seed, sequence, step, params):
    """Return any processor of the next group; groups are consecutive, their size in `params`."""
    width = params[OWN]
    first = (source // width + 1) * width % params[0]
    return first + scaled(draw32(seed, source, step, TARGET_STREAM), width)


@rule
def nearby(source, seed, sequence, step, params):
    """Return any of the processors near the source.

    `params` holds the start of each list, then all lists.
    """
    at, size = OWN + source, params[0]
    many = params[at + 1] - params[at]
    drawn = scaled(draw32(seed, source, step, TARGET_STREAM), many)
    return params[OWN + size + 1 + params[at] + drawn]


# Two patterns, set by `bind`: for a mix, its first pattern and the mix of the others.
one_target = other_target = open_part


@rule
def mixed(source, seed, sequence, step, params):
    """Return the target of one pattern if the random number is below its bound, else of the other.

    The other pattern may be a mix of all remaining patterns.
    """
    second = params[OWN + 1]
    if draw32(seed, source, step, MIX_STREAM) < params[OWN]:
        return one_target(source, seed, sequence, step, params[OWN + 2 : second])
    return other_target(source, seed, sequence, step, params[second:])


@rule
def of_groups(source, seed, sequence, step, params):
    """Return the target of a product: one pattern gives the group, another the place in the group.

    Groups have `width` consecutive numbers. Parts that are random in each step get a seed specific
    to their processor, so their random numbers differ.
    """
    width, second = int(params[OWN]), params[OWN + 1]
    one = other = seed
    if params[OWN + 2] != 0:
        one = int(draw32(seed, source, step, GROUP_STREAM))
    if params[OWN + 3] != 0:
        other = int(draw32(seed, source, step, PLACE_STREAM))
    group = one_target(source // width, one, sequence, step, params[OWN + 4 : second])
    return group * width + other_target(source % width, other, sequence, step, params[second:])


PLAIN = {each.name: each for each in (uniform, permutation, diagonal, alltoall)}
BITWISE = {each.name: each for each in (transpose, bitreversal, complement, shuffle)}
SHIFTS: dict[str, Callable[[int], int]] = {
    "tornado": lambda side: (side + 1) // 2 - 1,
    "neighbour": lambda side: 1,
}


PATTERN_NAMES = {*PLAIN, *BITWISE, *SHIFTS, "adversarial", "nearby", "mix", "groups"}
"""Names of patterns, without hotspots and files."""


def pattern_of(topology: Topology, text: str) -> Pattern:
    """Return the pattern of this name on a network, or the trace in a file.

    Raises
    ------
    UsageError
        The pattern does not exist, or does not apply to the network.
    NodeError
        A node is not in the network.
    """
    text = "alltoall" if text == "all" else text
    name, _, argument = text.partition(":")
    hosts = topology.hosts
    if text in PLAIN:
        if text == "alltoall" and hosts < 2:
            raise UsageError(f"The pattern alltoall needs two processors; {topology.name} has one.")
        return plain_pattern(topology, text)
    if text in BITWISE:
        found = plain_pattern(topology, text)
        if hosts <= (1 if text == "complement" else 2):
            raise _aimless(topology, text)
        return found
    if text in SHIFTS:
        return _shift(topology, text)
    if text in ("adversarial", "nearby"):
        return (_adversarial if text == "adversarial" else _nearby)(topology, text)
    argued = {"hotspot": _spot, "mix": _mix, "groups": _product, "targets": _targets}
    if name in argued and argument:
        return argued[name](topology, text, argument)
    if text.endswith(".csv"):
        return _of_file(topology, text)
    raise UsageError(unknown_pattern(text, PATTERNS))


def pattern_of_program(program: Program) -> Pattern:
    """Return the pattern for a program whose messages have given targets."""
    return Pattern(program.name, uniform, np.zeros(OWN, np.int64), np.empty((0, 4), np.int64))


def unknown_pattern(text: str, listed: str) -> str:
    """Return an error message about an unknown pattern, with the most similar known one."""
    names = [pattern.partition(":")[0] for pattern in listed.split("|")]
    word = text.partition(":")[0]
    if word in PAIRS_ONLY and word not in names:
        return (
            f"Traffic pattern {quoted(text)} routes each message once (mpinet route): give "
            f"{PAIRS_ONLY[word]}, which generates messages in every step."
        )
    if text in names:
        forms = [pattern for pattern in listed.split("|") if pattern.partition(":")[0] == text]
        return f"Traffic pattern {quoted(text)} needs parameters after a colon: give {forms[0]}."
    meant = hint(text, names, 1, after=f"give {listed}.")
    return f"There is no traffic pattern {quoted(text)}: {meant}"


PAIRS_ONLY = {"random": "uniform", "randperm": "permutation"}
"""Patterns for pairs only, with the most similar patterns of generated messages."""


def _params(topology: Topology, own: Sequence[int] = ()) -> Ints:
    return np.array([topology.hosts, len(own), *own], np.int64)


def _made(name: str, made: Rule, topology: Topology, own: Sequence[int] = ()) -> Pattern:
    return Pattern(name, made, _params(topology, own))


def plain_pattern(topology: Topology, name: str) -> Pattern:
    """Return a pattern of `PLAIN` or `BITWISE`, even if it moves nothing.

    Raises
    ------
    UsageError
        The pattern is bitwise, and the number of processors is not a power of two.
    """
    hosts = topology.hosts
    width = hosts.bit_length() - 1
    if name in BITWISE and (hosts != 1 << width or (name == "transpose" and width % 2)):
        shape = "4^t" if name == "transpose" else "2^n"
        raise UsageError(
            f"The pattern {name} needs {shape} processors, and {topology.name} has {hosts}."
        )
    return _made(name, {**PLAIN, **BITWISE}[name], topology)


def _aimless(topology: Topology, name: str) -> UsageError:
    """Return the error for a pattern that moves nothing."""
    return UsageError(
        f"The pattern {name} moves nothing on {topology.name}: every target is its source."
    )


def _shift(topology: Topology, name: str) -> Pattern:
    dimensions = topology.coordinates
    if not dimensions:
        raise UsageError(
            f"The pattern {name} shifts coordinates, and the processors of {topology.name} have "
            "none: give a ring, mesh, torus, hypercube or product."
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
        percent = float(words[1]) if len(words) == 2 else 100.0
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise UsageError(f"{quoted(text)}: give hotspot:NODE,PERCENT, as in hotspot:0,20.")
    node = processor_named(topology, words[0], text)
    return _made(text, hotspot, topology, [node, below(percent / 100)])


def _adversarial(topology: Topology, text: str) -> Pattern:
    """Return the pattern from each dragonfly group to the next; elsewhere the worst permutation."""
    if isinstance(topology, Dragonfly):
        width = topology.terminals * topology.routers
        return _made(text, next_group, topology, [width])
    return _made(text, listed, topology, worst_permutation(topology).tolist())


MOST_NEAR = 2**24
"""Maximum number of neighbours listed by the pattern ``nearby``."""


def _nearby(topology: Topology, text: str) -> Pattern:
    """Return the pattern of the processors next to a processor, or to its router."""
    hosts, size = topology.hosts, topology.size
    if size * topology.ports > MOST_NEAR:
        raise UsageError(
            f"The pattern nearby lists up to {MOST_NEAR} ports, and {topology.name} has "
            f"{size * topology.ports}."
        )
    around = neighbor_table(topology)
    near: list[list[int]] = [
        sorted(set(row[row >= 0].tolist()) - {node}) for node, row in enumerate(around)
    ]
    if hosts < size:
        # A router has the processors at its neighbouring routers; a processor has those of its
        # router.
        at = [[node for node in row if node < hosts] for row in near]
        beyond = [sorted({n for r in row if r >= hosts for n in at[r]}) for row in near]
        near = [
            sorted({n for r in row for n in beyond[r]} - set(at[row[0]])) for row in near[:hosts]
        ]
    alone = next((node for node in range(hosts) if not near[node]), None)
    if alone is not None:
        raise UsageError(
            "The pattern nearby sends to processors at neighbouring routers, and processor "
            f"{alone} of {topology.name} has none."
        )
    begins = np.cumsum([0, *(len(each) for each in near)]).tolist()
    return _made(text, nearby, topology, [*begins, *(n for each in near for n in each)])


def _mix(topology: Topology, text: str, argument: str) -> Pattern:
    """Return a mix of patterns, each except the last with a share of the messages."""
    names, shares, rest = [], [0.0], argument
    while (found := AT_SHARE.match(rest)) and 0 < float(found[2]) < 1:
        names.append(found[1])
        shares.append(shares[-1] + float(found[2]))
        rest = found[3]
    bounds = tuple(map(below, shares[1:]))
    if not 0 < len(names) < len(PRIORITIES) or bounds[-1] >= 2**32 or "mix:" in argument:
        raise UsageError(
            f"{quoted(text)}: give mix:P@SHARE+Q, two patterns and the share of the first between "
            "0 and 1, as in mix:neighbour@0.8+uniform, or mix:P@SHARE+Q@SHARE+.., up to "
            f"{len(PRIORITIES)} patterns, and shares below 1 in all."
        )
    parts = tuple(pattern_of(topology, each) for each in (*names, rest))
    if any(each.rows is not None for each in parts):
        raise UsageError(f"{quoted(text)}: a trace has steps of its own, and cannot be mixed.")
    made, params = parts[-1].rule, parts[-1].params
    for first, bound in zip(parts[-2::-1], bounds[::-1], strict=True):
        made = mixed.bind(
            f"mixed_{first.rule.name}_{made.name}", one_target=first.rule, other_target=made
        )
        own = [bound, OWN + 2 + len(first.params), *first.params, *params]
        params = _params(topology, own)
    return Pattern(text, made, params, parts=parts, bounds=bounds)


AT_SHARE = re.compile(r"([^@]*)@([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]{1,3})?)\+(.*)")
"""Regular expression for a pattern of a mix, its share, and the patterns after it."""


def _product(topology: Topology, text: str, argument: str) -> Pattern:
    """Return a product: one pattern among groups of consecutive processors, another within each."""
    one, at, rest = argument.partition("@")
    size, plus, other = rest.partition("+")
    hosts, width = topology.hosts, int(size) if is_whole(size) else 0
    if not (at and plus and 1 < width < hosts) or hosts % width:
        raise UsageError(
            f"{quoted(text)}: give groups:P@SIZE+Q, a pattern among groups of SIZE processors in a "
            f"row and one within each, as in groups:neighbour@4+uniform; SIZE divides the {hosts} "
            f"processors of {topology.name}, and there are 2 groups or more."
        )
    for part in (one, other):
        name = part.partition(":")[0]
        if part not in PLAIN | BITWISE | SHIFTS and name != "hotspot":
            raise UsageError(
                f"{quoted(text)}: groups use {', '.join([*PLAIN, *BITWISE, *SHIFTS])} and "
                f"hotspot:NODE,PERCENT, not {quoted(part)}."
            )
    first, second = parts = (
        _part(text, one, hosts // width, f"the ring of {hosts // width} groups"),
        _part(text, other, width, f"a group of {width}"),
    )
    made = of_groups.bind(
        f"groups_{first.rule.name}_{second.rule.name}",
        one_target=first.rule,
        other_target=second.rule,
    )
    drawn = [part.rule in (uniform, hotspot, diagonal) for part in parts]
    own = [width, OWN + 4 + len(first.params), *drawn, *first.params, *second.params]
    return Pattern(text, made, _params(topology, own), parts=parts, width=width)


def _part(text: str, name: str, count: int, called: str) -> Pattern:
    """Return a pattern of a product on a ring of `count` nodes; errors use the name `called`."""
    ring = open_topology(f"ring:{count}" if count > 2 else "mesh:2")
    try:
        return pattern_of(ring, name)
    except MpinetError as error:
        raise UsageError(f"{quoted(text)}: {str(error).replace(ring.name, called)}") from None


def _of_file(topology: Topology, text: str) -> Pattern:
    """Return the pattern of a file: a trace, or a target for every processor."""
    rows = csv_lines(Path(text))
    if not rows or len(rows[0]) != 2:
        return Pattern(text, uniform, _params(topology), read_trace(topology, Path(text)))
    pairs = read_pairs(topology, Path(text))
    if sorted(pairs[:, 0].tolist()) != list(range(topology.hosts)):
        raise UsageError(
            f"{text}: a file of lines 'source,target' names the target of each of the "
            f"{topology.hosts} processors of {topology.name} once."
        )
    targets = np.empty(topology.hosts, np.int64)
    targets[pairs[:, 0]] = pairs[:, 1]
    return _made(text, listed, topology, targets.tolist())


def _targets(topology: Topology, text: str, argument: str) -> Pattern:
    """Return the pattern with a listed target for every processor."""
    words = argument.split("-")
    if len(words) != topology.hosts or not all(map(is_whole, words)):
        raise UsageError(
            f"Pattern targets:V-V-.. has a number for each of the {topology.hosts} processors of "
            f"{topology.name}, not {quoted(argument)}."
        )
    return _made(text, listed, topology, processors_numbered(topology, words))


HEADING = ["step", "source", "target", "flits"]


def read_trace(topology: Topology, path: Path) -> Ints:
    """Read the lines ``step,source,target,flits`` of a file.

    A first line with these names is a heading. The columns may then have any order, and other
    columns are ignored.

    Returns
    -------
    ndarray of int64, shape (k, 4)
        Rows ordered by step, then source, then line.
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
    """Return a trace's rows, ordered by step, then source, then original position."""
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]
