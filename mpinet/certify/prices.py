"""Certificates of steps and rounds: link lengths over time, and link prices derived from them.

In a step of r rounds each link carries r chunks. A chunk received in a step is forwarded in the
next step at the earliest. For every pair of source and target, a certificate gives a length of each
link in each step. Pairs in the same group share messages: for example, a chunk from a source to
several targets can cross a link once. The price of a link in a step is the sum of the lengths of
all pairs in a group, for the most expensive group. A chunk costs at least the sum of the shortest
paths over time of all pairs. A round of step t costs at most the sum of the prices of all links in
step t, with each parallel link counted. The quotient of these two sums is a lower bound on the
rounds per chunk, for any number of chunks.

Reductions are broadcasts backwards, and gathers are scatters backwards. In an allreduce a single
message may carry data from all to all, and all pairs share their messages.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from mpinet.certify.claims import BoundClaim
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

MOST_STEPS = 2**10
"""Largest number of steps of a certificate by prices."""


def pairs_of(hosts: int, collective: str, root: int | None) -> list[tuple[int, int, int]]:
    """Return the demand as triples (group, source, target); pairs in one group share messages."""
    everybody = range(hosts)
    if root is not None:
        alone = collective in ("scatter", "gather")
        return [(target if alone else 0, root, target) for target in everybody if target != root]
    pairs = [(source, target) for source in everybody for target in everybody if source != target]
    if collective == "exchange":
        return [(number, *pair) for number, pair in enumerate(pairs)]
    return [(0 if collective == "allreduce" else source, source, to) for source, to in pairs]


def require_prices(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless the prices prove the claimed rounds to be too few."""
    if claim.one_port or claim.steps is None:
        raise CertificateError("prices need the all-port model.")
    # Exact fractions: a floating-point quotient could round a bound up to the next whole round, and
    # prove a false claim.
    least = fewest_rounds(network, claim.collective, claim.root, claim.steps, document)
    if claim.items * least <= claim.more_than:
        raise CertificateError(
            f"its prices show that {claim.items} chunks take {float(claim.items * least):g} "
            f"rounds, no more than the claimed {claim.more_than}."
        )


def fewest_rounds(
    network: Network, collective: str, root: int | None, steps: int, document: dict[str, Any]
) -> Fraction:
    """Return the lower bound on rounds per chunk that the lengths imply.

    Raises
    ------
    CertificateError
        The lengths are invalid for the network's links.
    """
    pairs = pairs_of(network.hosts, collective, root)
    listed = document.get("lengths")
    if not network.links or not isinstance(listed, list) or len(listed) != len(pairs):
        raise CertificateError(f"prices need lengths of links for each of {len(pairs)} pairs.")
    if not 1 <= steps <= MOST_STEPS:
        raise CertificateError(f"prices are for 1..{MOST_STEPS} steps, not {steps}.")
    # This is the dual of a flow over time (Ford and Fulkerson). Any lengths give a valid bound; the
    # solver only finds good ones.
    ways, prices = 0, defaultdict[tuple[int, int, int], int](int)
    paid: dict[int, dict[tuple[int, int, int], int]] = defaultdict(lambda: defaultdict(int))
    for (group, source, target), each in zip(pairs, listed, strict=True):
        lengths = _lengths(network, steps, each)
        ways += _shortest(network, source, target, steps, lengths)
        # Targets of one group share a message on a link, so their lengths add up. Different groups
        # never share, and the most expensive group sets the price.
        for link, length in lengths.items():
            paid[group][link] += length
            prices[link] = max(prices[link], paid[group][link])
    # A round of a step lets each link carry one chunk. Its cost is the price of all links in the
    # step, parallel cables counted.
    costs = [0] * steps
    for (step, *ends), price in prices.items():
        costs[step - 1] += price * network.parallel.get((ends[0], ends[1]), 1)
    # Zero lengths show no bound, and would cause a division by zero below.
    if max(costs) == 0:
        raise CertificateError("all lengths are 0 and prove nothing.")
    return Fraction(ways, max(costs))


def _lengths(network: Network, steps: int, listed: object) -> dict[tuple[int, int, int], int]:
    """Parse the lengths of a pair, by step and link ends; missing lengths are 0."""
    found: dict[tuple[int, int, int], int] = {}
    for row in listed if isinstance(listed, list) else [None]:
        if not isinstance(row, list) or [type(each) for each in row] != [int] * 4:
            raise CertificateError("a length is a step, the ends of a link, and a whole number.")
        step, tail, head, length = row
        if not (1 <= step <= steps and 0 <= tail < network.size):
            raise CertificateError(f"step {step}, {tail} to {head}: no such step or node.")
        if head not in network.neighbors[tail] or length < 0 or (step, tail, head) in found:
            raise CertificateError(
                f"step {step}, {tail} to {head}: no such link, a length below 0, or two lengths."
            )
        found[step, tail, head] = length
    return found


def _shortest(
    network: Network,
    source: int,
    target: int,
    steps: int,
    lengths: dict[tuple[int, int, int], int],
) -> int:
    """Return the length of the shortest path over time, with free waiting, one link per step."""
    away: dict[int, int] = {source: 0}
    for step in range(1, steps + 1):
        # The copy keeps a chunk from crossing two links in one step. A chunk is forwarded in a
        # later step than its arrival.
        before = dict(away)
        for tail, length in before.items():
            for head in network.neighbors[tail]:
                way = length + lengths.get((step, tail, head), 0)
                if way < away.get(head, way + 1):
                    away[head] = way
    if target not in away:
        raise CertificateError(f"a path from {source} to {target} takes more steps than {steps}.")
    return away[target]
