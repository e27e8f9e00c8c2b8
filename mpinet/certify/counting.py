"""Class certificates: rows that every broadcast satisfies, added up to a contradiction.

The rows speak of x(a, b, t): how many of class b are informed first in step t, by members of
class a.

0. everybody of class b is informed: the sum over a, t is the size of b (of switches: at most);
1. in step t, class a informs at most as many as were informed before it (the root: 1);
2. until step t, a member that was informed in step s informs at most min(t - s, links but the
   one that it was informed by), the root min(t, links);
3. the same for one class b, with the most neighbours that a member of a has in b.

An inequality is ``coefficients . x <= right``. If non-negative multiples of them (of the equations:
any) sum up to coefficients >= 0 and a right side < 0, there is no such broadcast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mpinet.certify.network import Network
from mpinet.errors import CertificateError

Variable = tuple[int, int, int]
"""Variable (informing class, informed class, step): how many nodes are informed so."""

Inequality = tuple[bool, int, Iterable[tuple[Variable, int]]]
"""Inequality or equation: whether it is an equation, its right side, its coefficients on demand."""


def require_contradiction(
    network: Network,
    root: int,
    steps: int,
    classes: object,
    rows: object,
    multipliers: object,
) -> None:
    """Raise `CertificateError` unless these integers prove that T steps are not enough."""
    if not network.links:
        raise CertificateError("a class certificate is about networks of links, not of busses.")
    counted = CountedClasses(network, root, steps, read_classes(network, root, classes))
    amounts = _amounts(multipliers)
    number = 0
    right, sums = 0, defaultdict[Variable, int](int)
    for number, (equation, bound, coefficients) in enumerate(counted.rows(), start=1):
        amount = amounts.pop(number - 1, 0)
        # A negative multiple turns an inequality round. Equations hold in both directions.
        if amount < 0 and not equation:
            raise CertificateError(
                f"the multiplier of row {number - 1} is negative, and the row is an inequality."
            )
        if amount:
            right += amount * bound
            for variable, coefficient in coefficients:
                sums[variable] += amount * coefficient
    # The multipliers refer to rows by number. A checker of another version could number rows
    # differently, and must not apply them to wrong rows.
    if rows != number:
        raise CertificateError(f"the certificate is for {rows} rows, and there are {number}.")
    if amounts:
        raise CertificateError(f"the multipliers name row {min(amounts)}, which is not there.")
    # Farkas' lemma, with bounded variables: a negative coefficient is repaired by the bound of its
    # variable, at the price of the right side.
    for (_, receiver, _), total in sums.items():
        right += max(0, -total) * counted.size[receiver]  # x(a, b, t) is at most the size of b
    if right >= 0:
        raise CertificateError(
            f"the multiples of the rows come to no contradiction: the right side is {right}, not "
            "negative."
        )


def _amounts(multipliers: object) -> dict[int, int]:
    if not isinstance(multipliers, Mapping):
        raise CertificateError("the multipliers are no object of row numbers and integers.")
    amounts = {}
    for row, amount in multipliers.items():
        # JSON allows only strings as keys. The length is bounded because Python parses long
        # decimals in quadratic time.
        plain = isinstance(row, str) and row.isdecimal() and len(row) < 19
        if not plain or not isinstance(amount, int) or isinstance(amount, bool):
            raise CertificateError(f"the multiplier of row {str(row)[:20]} is no integer.")
        amounts[int(row)] = amount
    return amounts


def read_classes(network: Network, root: int, classes: object) -> list[int]:
    """Return each node's class; classes are numbered from 0, with none left out."""
    distance = network.distances(root)
    if classes == "distance,degree":
        keys = [
            (distance[node], len(others), node >= network.hosts)
            for node, others in enumerate(network.neighbors)
        ]
        order = {key: place for place, key in enumerate(sorted(set(keys)))}
        return [order[key] for key in keys]
    if not isinstance(classes, list) or len(classes) != network.size:
        raise CertificateError('the classes are neither "distance,degree" nor one number a node.')
    if not all(isinstance(color, int) and not isinstance(color, bool) for color in classes):
        raise CertificateError("a class is no integer.")
    # The rows run over all class numbers. A gap would create rows without variables, which shift
    # all numbers behind them.
    if sorted(set(classes)) != list(range(len(set(classes)))):
        raise CertificateError("the classes are not numbered 0, 1, .. without a gap.")
    seen: dict[int, tuple[int, bool]] = {}
    for node, color in enumerate(classes):
        # The rows use one distance and one kind for a class. Members that differ would make a row
        # false, and the bound unsound.
        key = (distance[node], node >= network.hosts)
        if seen.setdefault(color, key) != key:
            raise CertificateError(
                f"class {color} has nodes of different distances, or processors and switches."
            )
    # The rows treat the root's class as informed at step 0. Another member of it would be informed
    # for free.
    if classes.count(classes[root]) > 1:
        raise CertificateError("the root is not alone in its class.")
    return classes


class CountedClasses:
    """The classes of a network, and the rows about them.

    Parameters
    ----------
    network : Network
        A network of links.
    root, steps : int
        The root, and T.
    classes : list of int
        Class of each node.
    """

    def __init__(self, network: Network, root: int, steps: int, classes: Sequence[int]):
        distance = network.distances(root)
        self.steps, self.root = steps, classes[root]
        self.all = range(max(classes) + 1)
        self.size = [0 for _ in self.all]
        self.near, self.links = [0 for _ in self.all], [0 for _ in self.all]
        self.switches = [False for _ in self.all]
        self.most: dict[tuple[int, int], int] = {}
        self.beside: list[list[int]] = [[] for _ in self.all]
        for node, color in enumerate(classes):
            self.size[color] += 1
            self.near[color] = distance[node]
            # The largest degree of a class makes its rows weaker, and so true for every member.
            self.links[color] = max(self.links[color], len(network.neighbors[node]))
            self.switches[color] = node >= network.hosts
            there = [classes[other] for other in network.neighbors[node]]
            for other in set(there):
                known = self.most.get((color, other), 0)
                self.most[color, other] = max(known, there.count(other))
        for color, other in self.most:
            self.beside[color].append(other)

    def _times(self, sender: int, receiver: int) -> range:
        """Steps in which one class can inform another."""
        # No node is informed before its distance, and a node sends after it is informed. Earlier
        # variables would be zero anyway.
        return range(max(self.near[sender] + 1, self.near[receiver], 1), self.steps + 1)

    def _told(self, sender: int, receiver: int) -> list[Variable]:
        return [(sender, receiver, step) for step in self._times(sender, receiver)]

    def _sent(self, sender: int) -> list[Variable]:
        return [
            variable
            for receiver in self.beside[sender]
            if receiver != self.root
            for variable in self._told(sender, receiver)
        ]

    def _got(self, receiver: int) -> list[Variable]:
        if receiver == self.root:
            return []
        return [
            variable
            for sender in self.beside[receiver]
            for variable in self._told(sender, receiver)
        ]

    def rows(self) -> Iterator[Inequality]:
        """Yield all rows, in their order."""
        for receiver in self.all:
            if receiver != self.root:
                ones = ((variable, 1) for variable in self._got(receiver))
                yield not self.switches[receiver], self.size[receiver], ones
        for sender in self.all:
            sent, got = self._sent(sender), self._got(sender)
            for step in range(self.near[sender] + 1, self.steps + 1):
                yield False, int(sender == self.root), _in_step(sent, got, step)
        for sender in self.all:
            # A node other than the root never sends back over the link that informed it: a send to
            # an informed node is superfluous.
            most = self.links[sender] - int(sender != self.root)
            yield from self._over_time(sender, self._sent(sender), most)
        for sender, receiver in sorted(self.most):
            if receiver != self.root:
                sent = self._told(sender, receiver)
                yield from self._over_time(sender, sent, self.most[sender, receiver])

    def _over_time(self, sender: int, sent: list[Variable], most: int) -> Iterator[Inequality]:
        """Yield a row per step: a class sends no more until then than its informed nodes can."""
        got = self._got(sender)
        for step in range(self.near[sender] + 1, self.steps + 1):
            right = min(step, most) if sender == self.root else 0
            yield False, right, _until_step(sent, got, step, most)


def _in_step(
    sent: list[Variable], got: list[Variable], step: int
) -> Iterator[tuple[Variable, int]]:
    """Terms of a class's transmissions in a step, minus its nodes that were informed before."""
    now = ((variable, 1) for variable in sent if variable[2] == step)
    return chain(now, ((variable, -1) for variable in got if variable[2] < step))


def _until_step(
    sent: list[Variable], got: list[Variable], step: int, most: int
) -> Iterator[tuple[Variable, int]]:
    """Terms of a class's transmissions up to a step, minus what informed nodes can send by then."""
    used = ((variable, 1) for variable in sent if variable[2] <= step)
    # With one port a node informed in step s has sent at most t - s messages until step t. Its
    # links are a second limit.
    allowed = ((v, -min(step - v[2], most)) for v in got if v[2] < step)
    return chain(used, allowed)
