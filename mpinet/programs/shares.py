"""Averages of patterns: the share of each source's messages for each target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import (
    OWN,
    Pattern,
    alltoall,
    diagonal,
    hotspot,
    nearby,
    next_group,
    uniform,
)


@dataclass(frozen=True, eq=False)
class Share:
    """A part of a pattern: pairs that receive the same share of their sources' messages."""

    weight: Fraction
    """Share of each source's messages for these pairs."""
    hosts: int
    """Number of processors. The part has all ordered pairs, unless `targets` names one for each
    source.
    """
    targets: Ints | None = None
    """Target of every source. Shape (hosts,)."""
    own: bool = True
    """True if all pairs include those of a processor with itself."""

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return self.hosts if self.targets is not None else self.hosts**2

    def by_target(self) -> Iterator[tuple[Fraction, Ints]]:
        """Yield the share in parts, each with its weight and one target per source."""
        every = np.arange(self.hosts)
        if self.targets is not None:
            yield self.weight, self.targets
            return
        for shift in range(0 if self.own else 1, self.hosts):
            yield self.weight, (every + shift) % self.hosts

    def blocks(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield the pairs, part by part: sources and targets."""
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
"""Number of pairs made at a time."""


def shares(topology: Topology, pattern: Pattern, seed: int = 0) -> list[Share] | None:
    """Return the shares of a pattern on a network, as `shares_of` does."""
    return shares_of(pattern, topology.hosts, seed)


def shares_of(pattern: Pattern, hosts: int, seed: int = 0) -> list[Share] | None:
    """Return the shares of a pattern, with a sum of 1 for every source; None without shares.

    Traces have no shares, nor have neighbours if processors have different numbers of them.
    """
    if pattern.rows is not None:
        return None
    drawn = pattern.rule
    if pattern.width:
        return _product_shares(pattern, seed)
    if pattern.parts:
        return _mixed_shares(hosts, pattern, seed)
    if drawn is next_group:
        width = int(pattern.params[OWN])
        first = (np.arange(hosts) // width + 1) * width % hosts
        return [Share(Fraction(1, width), hosts, first + place) for place in range(width)]
    if drawn is nearby:
        return _near_shares(hosts, pattern)
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
    return [Share(Fraction(1), hosts, pattern.targets(every, seed))]


def _mixed_shares(hosts: int, pattern: Pattern, seed: int) -> list[Share] | None:
    """Return the shares of all patterns of a mix, each multiplied by its own share."""
    every: list[Share] = []
    edges = (0, *pattern.bounds, 2**32)
    for part, (low, high) in zip(pattern.parts, pairwise(edges), strict=True):
        weight = Fraction(high - low, 2**32)
        found = shares_of(part, hosts, seed)
        if found is None:
            return None
        every += [replace(each, weight=each.weight * weight) for each in found]
    return every


def _product_shares(pattern: Pattern, seed: int) -> list[Share]:
    """Return the products of the shares of both patterns."""
    width, counts = pattern.width, [int(part.params[0]) for part in pattern.parts]
    found = [
        [target for share in shares_of(part, count, seed) or [] for target in share.by_target()]
        for part, count in zip(pattern.parts, counts, strict=True)
    ]
    group, place = np.divmod(np.arange(counts[0] * width), width)
    return [
        Share(one * other, len(group), to[group] * width + at[place])
        for one, to in found[0]
        for other, at in found[1]
    ]


def _near_shares(hosts: int, pattern: Pattern) -> list[Share] | None:
    """Return the shares of neighbours; None unless all processors have equally many."""
    begins = pattern.params[OWN : OWN + hosts + 1]
    counts = np.diff(begins)
    if (counts != counts[0]).any():
        return None
    near = pattern.params[OWN + hosts + 1 :].reshape(hosts, -1)
    return [Share(Fraction(1, int(counts[0])), hosts, each.copy()) for each in near.T]
