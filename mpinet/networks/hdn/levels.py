"""Parameters of an HDN's rules, and the digits of its nodes (docs/papers/hdn, 2).

A node number is a mixed-radix number of the digits C_k, U_k, ..., C_1, U_1 and the base's
coordinates. Coordinates outside the top level's super-node come first. SN_l is also a number of
such digits: C_{l-1}, U_{l-1}, ..., C_1, U_1 and the coordinates outside J_l. Digits that are
consecutive in both numbers form one *run*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from mpinet.compiled import inlined
from mpinet.errors import TopologyError
from mpinet.networks.hdn.base import COMPLETE, PATH, RING, Factor, Members
from mpinet.networks.topology import MAX_SIZE

BASE_SIZE, FACTORS, LEVELS, FIRST_CROSS, RECORDS_AT, PHASES_AT, FACTORS_AT = range(2, 9)
"""Places in the rules' parameters.

The first places are N_0, the number r of factors, the number k of levels, and the port of level 1.
Next are the place of the levels' records, the place of a schedule's phases (after all else), and
the factors' records.
"""

FIRST_PORT, WEIGHT, SIDE, KIND, FACTOR_RECORD = range(5)
"""Places in a factor's record: its first port, the weight of its coordinate in a node number, its
size and its kind. After the last record, `FIRST_CROSS` is stored again.
"""

KINDS = {RING: 0, COMPLETE: 1, PATH: 2}
IS_RING, IS_COMPLETE, IS_PATH = KINDS.values()

UNIT, CLUSTERS, MEMBERS, RUNS_FROM, RUNS_TO, LEVEL_RECORD = range(6)
"""Places in a level's record.

In order: the weight N_{l-1} of U_l in a node number, n_l, the factors in J_l as bits, the start and
the end of the runs of SN_l.
"""

RUN_RECORD = 3
"""Words of a run: weight in a node number, radix, weight in SN_l."""

Digit = tuple[int, int]
"""Weight of a digit in a node number, and its radix."""


@dataclass(frozen=True)
class Levels:
    """Sizes, digits and rule parameters of HDN(B,k,S)."""

    base: tuple[Factor, ...]
    """The factors of B."""
    members: tuple[Members, ...]
    """The super-nodes J_1, ..., J_k."""
    sizes: tuple[int, ...]
    """The sizes N_0, ..., N_k."""

    @property
    def count(self) -> int:
        """The number k of levels."""
        return len(self.members)

    def super_size(self, level: int) -> int:
        """Return s_i, the number of nodes in a super-node."""
        return prod(self.base[j].size for j in self.members[level - 1])

    def clusters(self, level: int) -> int:
        """Return n_i, the number of super-nodes in a cluster and of clusters in a class."""
        return self.sizes[level - 1] // self.super_size(level)

    @cached_property
    def coordinates(self) -> list[Digit]:
        """The digits b_0, ..., b_{r-1}."""
        inside = self.members[-1] if self.members else ()
        # Coordinates of the top super-node come last. Its nodes are therefore consecutive, and SN
        # of the top level is one quotient.
        order = [*self.outside(inside), *inside]
        weights, weight = {}, 1
        for j in reversed(order):
            weights[j] = weight
            weight *= self.base[j].size
        return [(weights[j], factor.size) for j, factor in enumerate(self.base)]

    def outside(self, members: Members) -> Members:
        """Return the factors outside a super-node."""
        return tuple(j for j in range(len(self.base)) if j not in members)

    def upper_digits(self, level: int) -> list[Digit]:
        """Return the digits C_i, U_i, ..., C_1, U_1."""
        pairs = [(self.clusters(i), self.sizes[i - 1]) for i in range(level, 0, -1)]
        return [digit for n, unit in pairs for digit in ((n * unit, 2), (unit, n))]

    def digits(self) -> list[Digit]:
        """Return all digits in the paper's order."""
        return [*self.upper_digits(self.count), *self.coordinates]

    def super_node_digits(self, level: int) -> list[Digit]:
        """Return the digits of SN_i."""
        outer = [self.coordinates[j] for j in self.outside(self.members[level - 1])]
        return [*self.upper_digits(level - 1), *outer]

    def inner_digits(self, level: int) -> list[Digit]:
        """Return the digits of N_i."""
        return [self.coordinates[j] for j in self.members[level - 1]]

    def params(self) -> list[int]:
        """Return the rules' parameters without size and ports."""
        lines, first_port = [], 0
        for factor, (weight, side) in zip(self.base, self.coordinates, strict=True):
            # Rules search the factor of a port from the left. The first cross port after the last
            # record ends that search.
            lines += [first_port, weight, side, KINDS[factor.kind]]
            first_port += factor_ports(factor)
        records_at = FACTORS_AT + len(lines) + 1
        runs_at = records_at + LEVEL_RECORD * self.count
        records: list[int] = []
        runs: list[int] = []
        for level, members in enumerate(self.members, 1):
            own = runs_of(self.super_node_digits(level))
            start = runs_at + len(runs)
            records += [self.sizes[level - 1], self.clusters(level)]
            records += [sum(1 << j for j in members), start, start + len(own)]
            runs += own
        head = [self.sizes[0], len(self.base), self.count, first_port, records_at]
        return [*head, runs_at + len(runs), *lines, first_port, *records, *runs]


def factor_ports(factor: Factor) -> int:
    """Return the number of ports of a factor: one per other node of a complete graph, else two."""
    return factor.size - 1 if factor.kind == COMPLETE else 2


def factor_diameter(factor: Factor) -> int:
    """Return the diameter of a factor."""
    return {RING: factor.size // 2, COMPLETE: 1, PATH: factor.size - 1}[factor.kind]


def levels_of(family: str, base: tuple[Factor, ...], members: tuple[Members, ...]) -> Levels:
    """Return the levels of HDN(B,k,S) for a checked base and checked super-nodes.

    Raises
    ------
    TopologyError
        The network would have too many nodes.
    """
    sizes = [prod(factor.size for factor in base)]
    for level, inside in enumerate(members, 1):
        # Each class has a cluster per super-node: 2 n_i N_{i-1} with n_i = N_{i-1} / s_i (section
        # 3).
        sizes.append(2 * sizes[-1] ** 2 // prod(base[j].size for j in inside))
        if sizes[-1] > MAX_SIZE:
            raise TopologyError(
                f"{family}: level {level} of {len(members)} would have more than 2^63 - 1 "
                "processors; take fewer levels, a smaller BASE or larger super-nodes."
            )
    return Levels(base, members, tuple(sizes))


def runs_of(digits: Sequence[Digit]) -> list[int]:
    """Return the runs of a number with these digits, most significant first."""
    runs: list[list[int]] = []
    for weight, radix in digits:
        # Digits that are consecutive in both numbers move together. Most levels then need one
        # division instead of one per digit.
        if runs and runs[-1][0] == weight * radix:
            runs[-1] = [weight, runs[-1][1] * radix]
        else:
            runs.append([weight, radix])
    below = 1
    words: list[int] = []
    for weight, radix in reversed(runs):
        words = [weight, radix, below, *words]
        below *= radix
    return words


def split(number: int, digits: Sequence[Digit]) -> tuple[int, ...]:
    """Return the digits of a node number."""
    return tuple(number // weight % radix for weight, radix in digits)


def value(number: int, digits: Sequence[Digit]) -> int:
    """Return the mixed-radix value of some digits of a node number."""
    total = 0
    for weight, radix in digits:
        total = total * radix + number // weight % radix
    return total


@inlined
def level_record(level, params):
    """Return the index of a level's record in the parameters."""
    return params[RECORDS_AT] + LEVEL_RECORD * (level - 1)


@inlined
def super_node(node, record, params):
    """Return SN of a node at the level of the record."""
    number = 0
    for run in range(params[record + RUNS_FROM], params[record + RUNS_TO], RUN_RECORD):
        number += node // params[run] % params[run + 1] * params[run + 2]
    return number


@inlined
def with_super_node(node, record, number, params):
    """Return the node with another SN at the record's level; N and higher digits stay."""
    moved = node
    for run in range(params[record + RUNS_FROM], params[record + RUNS_TO], RUN_RECORD):
        weight, radix = params[run], params[run + 1]
        moved += (number // params[run + 2] % radix - node // weight % radix) * weight
    return moved


@inlined
def across(node, record, params):
    """Return the node behind the cross port: change the class, exchange U and SN, keep N."""
    unit, clusters = params[record + UNIT], params[record + CLUSTERS]
    # Class and cluster are more significant than the node's number in its cluster. The rest does
    # not change, and N needs no decoding.
    above = node // unit
    own_class, cluster = above // clusters & 1, above % clusters
    number = super_node(node, record, params)
    other = with_super_node(node, record, cluster, params)
    # The exchange of U and SN is its own inverse. Therefore both ends have the same link.
    return other + (number - cluster + (1 - 2 * own_class) * clusters) * unit
