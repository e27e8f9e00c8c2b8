"""Traffic: who sends to whom. Every rank draws the messages of its own processors.

Message k of a pattern is the same for any number of ranks: random draws are keyed by the seed and k
or the processor's number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.base.choices import PAIRS
from mpinet.base.memory import require_memory
from mpinet.base.numerals import is_whole, quoted
from mpinet.compiled import kernel
from mpinet.draws import draw, uniform_permutation
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.router import DRAWN_AT_ONCE
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import PATTERN_NAMES, pattern_of, plain_pattern, unknown_pattern
from mpinet.programs.userlines import processor_named, processors_numbered, read_pairs

MOST_PERMUTED = 2**24
"""Most processors of ``randperm``: each rank draws all of it, in 400 MB at most."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """A traffic pattern on a network: message k goes from one host to another.

    The numbers say who goes first: messages are numbered by source, then target, where everybody
    sends to known ones; random ones and those of a file in the order of draws and lines.
    """

    topology: Topology
    """The network; only its hosts send and receive."""
    total: int
    """Number of messages; they are numbered 0..total-1."""
    ends: Callable[[Ints], tuple[Ints, Ints]]
    """``ends(numbers)``: sources and targets, two arrays of int64, of the messages with these
    numbers (ndarray of integers)."""
    sent_by: Callable[[Machine], Ints]
    """``sent_by(machine)``: numbers of the messages that this rank's processors send, ascending
    (ndarray of integers)."""


def traffic(topology: Topology, pattern: str, seed: int = 0) -> Traffic:
    """Make the traffic of a named pattern or of a user's file.

    Parameters
    ----------
    topology : Topology
        The network; only its hosts send and receive.
    pattern : str
        ``all`` (every ordered pair of different hosts), ``permutation`` (seeded, of all hosts; not
        all permutations are equally likely), ``randperm`` (all are; up to `MOST_PERMUTED` hosts),
        ``random:K`` (K messages with uniform ends), ``transpose``, ``bitreversal``,
        ``complement`` (of the bits of the number; 2^q hosts), ``hotspot:NODE`` (everybody else to
        one), numbers ``U-V,U-V,..`` of sources and targets, a CSV file with a line
        ``source,target`` for each message, or a pattern of `mpinet.programs.patterns`: every host
        sends its first message of that pattern.
    seed : int
        For ``permutation``, ``randperm`` and ``random``.

    Raises
    ------
    UsageError
        An unknown pattern, a bad file, or a number of hosts that the pattern does not allow.
    NodeError
        A node that the network does not have.
    """
    name, _, argument = pattern.partition(":")
    if pattern in ("all", "alltoall"):
        return _all_pairs(topology)
    if pattern in ("permutation", "transpose", "bitreversal", "complement"):
        plain = plain_pattern(topology, pattern)
        return _one_each(topology, lambda hosts: plain.targets(hosts, seed))
    if pattern == "randperm":
        return _uniform(topology, seed)
    if name == "hotspot" and argument:
        return _to_one(topology, processor_named(topology, argument, "hotspot"))
    if name == "random" and argument:
        return _random(topology, _count(argument), seed)
    if PAIRS_TYPED.fullmatch(pattern):
        numbers = processors_numbered(topology, re.split("[-,]", pattern))
        return _listed(topology, np.array(numbers, np.int64).reshape(-1, 2))
    if pattern.endswith(".csv"):
        return _listed(topology, read_pairs(topology, Path(pattern)))
    if name in PATTERN_NAMES:
        first = pattern_of(topology, pattern)
        return _one_each(topology, lambda hosts: first.targets(hosts, seed))
    raise UsageError(unknown_pattern(pattern, PAIRS))


PAIRS_TYPED = re.compile(r"\d+-\d+(,\d+-\d+)*", re.ASCII)
"""Pairs of processors' numbers."""


def is_listed(pattern: str) -> bool:
    """Return whether a pattern lists its messages, in itself or in a file."""
    return pattern.endswith(".csv") or PAIRS_TYPED.fullmatch(pattern) is not None


def spelled(topology: Topology, pairs: str | Sequence[Sequence[Any]] | Table) -> str:
    """Return pairs of nodes, given by numbers or addresses, as they are typed.

    Raises
    ------
    UsageError
        There are none, or one is no pair.
    NodeError
        A node that the network does not have.
    """
    if isinstance(pairs, str):
        return pairs
    if not len(pairs):
        raise UsageError("pairs is an empty list: give at least one pair, as in [(0, 1)].")
    words = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise UsageError(f"{pair!r} is no pair of processors: give pairs as in [(0, 1)].")
        source, target = (processor_named(topology, str(node), "pairs") for node in pair)
        words.append(f"{source}-{target}")
    return ",".join(words)


def _all_pairs(topology: Topology) -> Traffic:
    others = topology.hosts - 1

    def ends(numbers: Ints) -> tuple[Ints, Ints]:
        sources, place = np.divmod(numbers, max(others, 1))
        return sources, place + (place >= sources)

    def sent_by(machine: Machine) -> Ints:
        require_memory(8 * machine.placement.most * others, f"All pairs of {topology.name}")
        return (_hosts_of(machine)[:, np.newaxis] * others + np.arange(others)).ravel()

    return Traffic(topology, topology.hosts * others, ends, sent_by)


def _one_each(topology: Topology, target: Callable[[Ints], Ints]) -> Traffic:
    """Every host sends one message; the messages are numbered as the hosts."""
    return Traffic(topology, topology.hosts, lambda numbers: (numbers, target(numbers)), _hosts_of)


def _uniform(topology: Topology, seed: int) -> Traffic:
    """A permutation of which every rank has the whole; it is drawn when it is first asked for."""
    if topology.hosts > MOST_PERMUTED:
        raise UsageError(
            f"The pattern randperm is drawn for at most {MOST_PERMUTED:,} processors, and "
            f"{topology.name} has {topology.hosts:,}: give permutation, which needs no table."
        )
    drawn = cache(lambda: uniform_permutation(topology.hosts, seed))
    return _one_each(topology, lambda hosts: drawn()[hosts])


def _to_one(topology: Topology, spot: int) -> Traffic:
    def ends(numbers: Ints) -> tuple[Ints, Ints]:
        return numbers + (numbers >= spot), np.full_like(numbers, spot)

    def sent_by(machine: Machine) -> Ints:
        hosts = _hosts_of(machine)
        hosts = hosts[hosts != spot]
        return hosts - (hosts > spot)

    return Traffic(topology, topology.hosts - 1, ends, sent_by)


def _random(topology: Topology, total: int, seed: int) -> Traffic:
    def ends(numbers: Ints) -> tuple[Ints, Ints]:
        drawn = np.empty((2, len(numbers)), np.int64)
        draw_ends(seed, topology.hosts, np.ascontiguousarray(numbers, np.int64), drawn)
        return drawn[0], drawn[1]

    return Traffic(topology, total, ends, lambda machine: _hosted(machine, total, ends))


def _listed(topology: Topology, pairs: Ints) -> Traffic:
    def ends(numbers: Ints) -> tuple[Ints, Ints]:
        return pairs[numbers, 0], pairs[numbers, 1]

    return Traffic(topology, len(pairs), ends, lambda machine: _hosted(machine, len(pairs), ends))


def _hosts_of(machine: Machine) -> Ints:
    """This rank's processors that are no switches, ascending."""
    placement, hosts = machine.placement, machine.topology.hosts
    if machine.mapping.contiguous:
        require_memory(8 * placement.most, f"A traffic of {hosts} processors")
        return np.arange(placement.first, min(placement.first + placement.count, hosts))
    nodes = np.sort(machine.nodes)
    return nodes[: np.searchsorted(nodes, hosts)]


def _hosted(machine: Machine, total: int, ends: Callable[[Ints], tuple[Ints, Ints]]) -> Ints:
    """Select, of messages in any order, the numbers of those whose sources are hosted here.

    They are as short as the total allows, for they are there while the messages come to be.
    """
    kind = np.min_scalar_type(total)
    hosted = [np.empty(0, kind)]
    for begin in range(0, total, DRAWN_AT_ONCE):
        sources, _ = ends(np.arange(begin, min(begin + DRAWN_AT_ONCE, total)))
        slots = machine.slots(np.ascontiguousarray(sources))
        places = np.flatnonzero((slots >= 0) & (slots < machine.placement.count))
        hosted.append((begin + places).astype(kind))
    return np.concatenate(hosted)


def _count(text: str) -> int:
    if not is_whole(text) or int(text) == 0:
        raise UsageError(
            f"random:{quoted(text)}: the number of messages must be a whole number >= 1."
        )
    return int(text)


@kernel
def draw_ends(seed: int, hosts: int, numbers: Ints, ends: Table) -> None:
    """Write a random source and target for every message."""
    for i in range(numbers.size):
        ends[0, i] = draw(seed, numbers[i], 0) % hosts
        ends[1, i] = draw(seed, numbers[i], 1) % hosts
