"""The formula of a bisection with at most W cut channels, built by the checker itself.

A formula without a solution proves: no such bisection exists. Every bisection is a solution, with
S(v) for "v is inside" and P(e) for "channel e is cut". Two kinds of variables count: B(i, j) for
"of the first i processors, at least j are inside", and Q(i, j) for "of the first i channels, at
least j are cut". Nodes are in the certificate's order. Channels are ordered by the position of
their last member, then by the positions of the remaining members, from last to first.
"""

from __future__ import annotations

from itertools import pairwise

from mpinet.certify.clauses import FALSE, TRUE, Clauses, negated
from mpinet.certify.clauses import clause as kept
from mpinet.certify.network import Network


def half_formula(network: Network, most: int, order: list[int]) -> Clauses:
    """Yield the clauses of the formula "a bisection cuts at most `most` channels"."""
    place = {node: number for number, node in enumerate(order)}
    inside = {node: number for number, node in enumerate(order, start=1)}
    numbers = len(order)
    yield [-inside[order[0]]]  # excludes the mirror image of each cut
    if network.links:
        channels = [[u, v] for u, others in enumerate(network.neighbors) for v in others if u < v]
    else:
        channels = [list(bus) for bus in network.busses if len(bus) > 1]
    channels = [sorted(members, key=place.__getitem__) for members in channels]
    # The order of channels follows the order of nodes. A solver then learns clauses over a small
    # front, and proofs stay short.
    channels.sort(key=lambda members: [place[node] for node in reversed(members)])
    parted = []
    for members in channels:
        numbers += 1
        parted.append(numbers)
        # A bus is cut exactly if two consecutive members differ. A bus then needs as many clauses
        # as members, not as pairs.
        for before, after in pairwise(members):
            yield [numbers, inside[before], -inside[after]]
            yield [numbers, -inside[before], inside[after]]
    hosts = [inside[node] for node in order if node < network.hosts]
    fewest, largest = len(hosts) // 2, (len(hosts) + 1) // 2
    numbers = yield from _count(hosts, fewest, largest, numbers)
    return (yield from _count(parted, None, most, numbers))


def _count(counted: list[int], fewest: int | None, most: int, numbers: int) -> Clauses:
    """Yield clauses that limit the number of true variables; return the total of variables.

    Without `fewest`, only the upper limit is enforced: counters may then be true too often.
    """
    # A sequential counter (Sinz 2005). It needs n times k variables, while clauses on subsets would
    # be exponential.
    before: dict[int, int | str] = {0: TRUE}
    for place, variable in enumerate(counted, start=1):
        # Even if all later variables are true, `sure` variables must be true by now.
        sure = 0 if fewest is None else fewest - (len(counted) - place)
        now: dict[int, int | str] = {}
        for amount in range(min(place, most + 1) + 1):
            if amount <= sure or amount == 0:
                now[amount] = TRUE
            elif amount > most:
                now[amount] = FALSE
            else:
                numbers += 1
                now[amount] = numbers
        for amount in range(1, len(now)):
            same, less = before.get(amount, FALSE), before[amount - 1]
            yield from kept([negated(same), now[amount]])
            yield from kept([negated(less), -variable, now[amount]])
            # An upper limit needs one direction only: "at least j are true" may be set too often,
            # which makes no cut look narrower.
            if fewest is not None:
                yield from kept([same, variable, negated(now[amount])])
                yield from kept([less, negated(now[amount])])
        before = now
    return numbers
