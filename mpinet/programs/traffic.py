"""Traffic: sources and targets of messages. Every rank draws the messages of its own processors.

Message k of a pattern is the same for any number of ranks: random numbers depend only on the seed
and on k or the processor's number.
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
"""Maximum number of processors of ``randperm``: each rank draws the whole permutation, up to 400
MB.
"""


@dataclass(frozen=True, eq=False)
class Traffic:
    """A traffic pattern on a network: message k goes from one host to another.

    The numbers define priority. Messages with known targets are numbered by source, then target.
    Random messages are numbered in the order of drawing, messages of a file in the order of lines.
    """

    topology: Topology
    """The network; only its hosts send and receive."""
    total: int
    """Number of messages, which are numbered 0..total-1."""
    ends: Callable[[Ints], tuple[Ints, Ints]]
    """``ends(numbers)`` returns sources and targets, two arrays of int64, of the messages with
    these numbers (ndarray of integers).
    """
    sent_by: Callable[[Machine], Ints]
    """``sent_by(machine)`` returns the numbers of the messages sent by this rank's processors,
    ascending (ndarray of integers).
    """


def traffic(topology: Topology, pattern: str, seed: int = 0) -> Traffic:
    """Return the traffic of a named pattern or of a user's file.

    Parameters
    ----------
    topology : Topology
        The network; only its hosts send and receive.
    pattern : str
        One of these patterns:

        * ``all``: every ordered pair of different hosts.
        * ``permutation``: a seeded permutation of all hosts; not all are equally likely.
        * ``randperm``: a random permutation, all equally likely; up to `MOST_PERMUTED` hosts.
        * ``random:K``: K messages with uniformly random sources and targets.
        * ``transpose``, ``bitreversal``, ``complement``: of the number's bits; 2^q hosts.
        * ``hotspot:NODE``: all other hosts send to one.
        * ``U-V,U-V,..``: numbers of sources and targets.
        * A CSV file with a line ``source,target`` for each message.
        * A pattern of `mpinet.programs.patterns`: every host sends its first message.
    seed : int
        Seed of ``permutation``, ``randperm`` and ``random``.

    Raises
    ------
    UsageError
        The pattern is unknown, the file is invalid, or the pattern does not support this number of
        hosts.
    NodeError
        A node is not in the network.
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
"""Regular expression for pairs of processor numbers."""


def is_listed(pattern: str) -> bool:
    """Return whether a pattern lists its messages, in its text or in a file."""
    return pattern.endswith(".csv") or PAIRS_TYPED.fullmatch(pattern) is not None


def spelled(topology: Topology, pairs: str | Sequence[Sequence[Any]] | Table) -> str:
    """Return pairs of nodes, given by numbers or addresses, as the text of a pattern.

    Raises
    ------
    UsageError
        There are no pairs, or an entry is not a pair.
    NodeError
        A node is not in the network.
    """
    if isinstance(pairs, str):
        return pairs
    if not len(pairs):
        raise UsageError("pairs is an empty list: give at least one pair, as in [(0, 1)].")
    words = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise UsageError(f"{pair!r} is not a pair of processors: give pairs as in [(0, 1)].")
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
    """Return traffic with one message per host; messages have the numbers of the hosts."""
    return Traffic(topology, topology.hosts, lambda numbers: (numbers, target(numbers)), _hosts_of)


def _uniform(topology: Topology, seed: int) -> Traffic:
    """Return traffic by a random permutation, drawn as a whole on every rank at its first use."""
    if topology.hosts > MOST_PERMUTED:
        raise UsageError(
            f"The pattern randperm supports at most {MOST_PERMUTED:,} processors, and "
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
    """Return this rank's processors without switches, ascending."""
    placement, hosts = machine.placement, machine.topology.hosts
    if machine.mapping.contiguous:
        require_memory(8 * placement.most, f"A traffic of {hosts} processors")
        return np.arange(placement.first, min(placement.first + placement.count, hosts))
    nodes = np.sort(machine.nodes)
    return nodes[: np.searchsorted(nodes, hosts)]


def _hosted(machine: Machine, total: int, ends: Callable[[Ints], tuple[Ints, Ints]]) -> Ints:
    """Return the numbers of messages whose sources are on this rank, for messages in any order.

    Numbers have the smallest type for the total, because they are held while messages are made.
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
