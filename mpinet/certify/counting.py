"""Class certificates: inequalities satisfied by every broadcast, combined to a contradiction.

The rows use variables x(a, b, t): the number of nodes of class b first informed in step t by
members of class a.

0. Every node of class b is informed: the sum over a, t is the size of b (for switches: at most).
1. In step t, class a informs at most as many nodes as it had informed members before (the root: 1).
2. Until step t, a member informed in step s informs at most min(t - s, number of its links without
the link to its informer) nodes; the root min(t, links).
3. The same for one class b, with the largest number of neighbours of a member of a in b.

An inequality is ``coefficients . x <= right``. Suppose that non-negative multiples of the
inequalities (of equations: any multiples) sum up to coefficients >= 0 and a right side < 0. Then no
such broadcast exists.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mpinet.certify.network import Network
from mpinet.errors import CertificateError

Variable = tuple[int, int, int]
"""Variable (informing class, informed class, step): the number of nodes informed in this way."""

Inequality = tuple[bool, int, Iterable[tuple[Variable, int]]]
"""Inequality or equation: true for an equation; the right side; the coefficients, lazily."""


def require_contradiction(
    network: Network,
    root: int,
    steps: int,
    classes: object,
    rows: object,
    multipliers: object,
) -> None:
    """Raise `CertificateError` unless these integers prove that `steps` steps are not enough."""
    if not network.links:
        raise CertificateError("a class certificate is for networks of links, not of busses.")
    counted = CountedClasses(network, root, steps, read_classes(network, root, classes))
    amounts = _amounts(multipliers)
    number = 0
    right, sums = 0, defaultdict[Variable, int](int)
    for number, (equation, bound, coefficients) in enumerate(counted.rows(), start=1):
        amount = amounts.pop(number - 1, 0)
        # A negative multiple reverses an inequality. Equations hold in both directions.
        if amount < 0 and not equation:
            raise CertificateError(
                f"the multiplier of row {number - 1} is negative, and the row is an inequality."
            )
        if amount:
            right += amount * bound
            for variable, coefficient in coefficients:
                sums[variable] += amount * coefficient
    # The multipliers refer to rows by number. A checker of another version could number rows
    # differently, and must not apply multipliers to wrong rows.
    if rows != number:
        raise CertificateError(f"the certificate has {rows} rows, but the network has {number}.")
    if amounts:
        raise CertificateError(f"the multipliers name row {min(amounts)}, which does not exist.")
    # Farkas' lemma with bounded variables: a negative coefficient is repaired with the bound of its
    # variable, which increases the right side.
    for (_, receiver, _), total in sums.items():
        right += max(0, -total) * counted.size[receiver]  # x(a, b, t) is at most the size of b
    if right >= 0:
        raise CertificateError(
            f"the multiples of the rows give no contradiction: the right side is {right}, not "
            "negative."
        )


def _amounts(multipliers: object) -> dict[int, int]:
    if not isinstance(multipliers, Mapping):
        raise CertificateError("the multipliers are not an object of row numbers and integers.")
    amounts = {}
    for row, amount in multipliers.items():
        # JSON allows only strings as keys. The length is bounded because Python parses long
        # decimals in quadratic time.
        plain = isinstance(row, str) and row.isdecimal() and len(row) < 19
        if not plain or not isinstance(amount, int) or isinstance(amount, bool):
            raise CertificateError(f"the multiplier of row {str(row)[:20]} is not an integer.")
        amounts[int(row)] = amount
    return amounts


def read_classes(network: Network, root: int, classes: object) -> list[int]:
    """Return each node's class; classes are numbered from 0 without gaps."""
    distance = network.distances(root)
    if classes == "distance,degree":
        keys = [
            (distance[node], len(others), node >= network.hosts)
            for node, others in enumerate(network.neighbors)
        ]
        order = {key: place for place, key in enumerate(sorted(set(keys)))}
        return [order[key] for key in keys]
    if not isinstance(classes, list) or len(classes) != network.size:
        raise CertificateError('the classes are neither "distance,degree" nor one number per node.')
    if not all(isinstance(color, int) and not isinstance(color, bool) for color in classes):
        raise CertificateError("a class is not an integer.")
    # The rows run over all class numbers. A gap would create rows without variables and shift all
    # later numbers.
    if sorted(set(classes)) != list(range(len(set(classes)))):
        raise CertificateError("the classes are not numbered 0, 1, .. without a gap.")
    seen: dict[int, tuple[int, bool]] = {}
    for node, color in enumerate(classes):
        # The rows use one distance and one kind of node per class. Different members would make a
        # row false, and the bound unsound.
        key = (distance[node], node >= network.hosts)
        if seen.setdefault(color, key) != key:
            raise CertificateError(
                f"class {color} has nodes of different distances, or processors and switches."
            )
    # The rows treat the root's class as informed at step 0. A second member would be informed for
    # free.
    if classes.count(classes[root]) > 1:
        raise CertificateError("the root is not alone in its class.")
    return classes


class CountedClasses:
    """The classes of a network, and the inequalities that every broadcast satisfies.

    Parameters
    ----------
    network : Network
        A network of links.
    root, steps : int
        The root, and the number of steps T.
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
            # The largest degree of a class weakens its rows, which then hold for every member.
            self.links[color] = max(self.links[color], len(network.neighbors[node]))
            self.switches[color] = node >= network.hosts
            there = [classes[other] for other in network.neighbors[node]]
            for other in set(there):
                known = self.most.get((color, other), 0)
                self.most[color, other] = max(known, there.count(other))
        for color, other in self.most:
            self.beside[color].append(other)

    def _times(self, sender: int, receiver: int) -> range:
        """Return the steps in which one class can inform another."""
        # No node is informed before its distance, and a node sends only after it is informed.
        # Variables of earlier steps are always zero.
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
            # A node other than the root never sends back over its informing link: a send to an
            # informed node is superfluous.
            most = self.links[sender] - int(sender != self.root)
            yield from self._over_time(sender, self._sent(sender), most)
        for sender, receiver in sorted(self.most):
            if receiver != self.root:
                sent = self._told(sender, receiver)
                yield from self._over_time(sender, sent, self.most[sender, receiver])

    def _over_time(self, sender: int, sent: list[Variable], most: int) -> Iterator[Inequality]:
        """Yield a row per step: a class sends at most as much as its informed nodes can."""
        got = self._got(sender)
        for step in range(self.near[sender] + 1, self.steps + 1):
            right = min(step, most) if sender == self.root else 0
            yield False, right, _until_step(sent, got, step, most)


def _in_step(
    sent: list[Variable], got: list[Variable], step: int
) -> Iterator[tuple[Variable, int]]:
    """Return the terms: a class's sends in a step, minus its nodes informed before the step."""
    now = ((variable, 1) for variable in sent if variable[2] == step)
    return chain(now, ((variable, -1) for variable in got if variable[2] < step))


def _until_step(
    sent: list[Variable], got: list[Variable], step: int, most: int
) -> Iterator[tuple[Variable, int]]:
    """Return terms: a class's sends up to a step, minus the possible sends of informed nodes."""
    used = ((variable, 1) for variable in sent if variable[2] <= step)
    # With one port a node informed in step s has sent at most t - s messages until step t. Its
    # number of links is a second limit.
    allowed = ((v, -min(step - v[2], most)) for v in got if v[2] < step)
    return chain(used, allowed)
