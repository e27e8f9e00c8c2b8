"""Certificates of steps and rounds: lengths of links in time, and the prices that pay for them.

In a step of r rounds each link carries r chunks, and what comes in a step goes on in the next one
at the earliest. A certificate gives every pair of a source and a target a length of each link in
each step. The price of a link in a step is what it takes to pay for the lengths of all pairs that
share a message, of the dearest source: what a source sends to several targets can go over a link
once. A chunk costs at least the sum of all pairs' shortest ways over time, and a round of step t no
more than the prices of all links in step t, parallel links each. So rounds per chunk are at least
the one divided by the other, for whatever number of chunks.

Reductions are broadcasts backwards, and gathers are scatters. In an allreduce one message may carry
what all have to all, so that all pairs share it.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from mpinet.certify.claims import BoundClaim
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

MOST_STEPS = 2**10
"""Steps of a certificate by prices, at most."""


def pairs_of(hosts: int, collective: str, root: int | None) -> list[tuple[int, int, int]]:
    """Return who needs what of whom: group, source and target; one group shares messages."""
    everybody = range(hosts)
    if root is not None:
        alone = collective in ("scatter", "gather")
        return [(target if alone else 0, root, target) for target in everybody if target != root]
    pairs = [(source, target) for source in everybody for target in everybody if source != target]
    if collective == "exchange":
        return [(number, *pair) for number, pair in enumerate(pairs)]
    return [(0 if collective == "allreduce" else source, source, to) for source, to in pairs]


def require_prices(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless so many rounds are too few for so many chunks and steps."""
    if claim.one_port or claim.steps is None:
        raise CertificateError("prices are for all ports.")
    # Exact fractions: a floating-point quotient could round a bound up to the next whole round, and
    # prove what is false.
    least = fewest_rounds(network, claim.collective, claim.root, claim.steps, document)
    if claim.items * least <= claim.more_than:
        raise CertificateError(
            f"its prices show that {claim.items} chunks take {float(claim.items * least):g} "
            f"rounds: that is no more than {claim.more_than}."
        )


def fewest_rounds(
    network: Network, collective: str, root: int | None, steps: int, document: dict[str, Any]
) -> Fraction:
    """Compute the rounds per chunk that lengths show to be needed.

    Raises
    ------
    CertificateError
        They are no lengths of the network's links.
    """
    pairs = pairs_of(network.hosts, collective, root)
    listed = document.get("lengths")
    if not network.links or not isinstance(listed, list) or len(listed) != len(pairs):
        raise CertificateError(f"prices take lengths of links, for each of {len(pairs)} pairs.")
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
        # never share, and the dearest one sets the price.
        for link, length in lengths.items():
            paid[group][link] += length
            prices[link] = max(prices[link], paid[group][link])
    # A round of a step lets each link carry one chunk. Its cost is the price of all links in that
    # step, cables counted.
    costs = [0] * steps
    for (step, *ends), price in prices.items():
        costs[step - 1] += price * network.parallel.get((ends[0], ends[1]), 1)
    # Zero lengths pay for nothing and show no bound. Below they would be a division by zero.
    if max(costs) == 0:
        raise CertificateError("its lengths are all 0: they show nothing.")
    return Fraction(ways, max(costs))


def _lengths(network: Network, steps: int, listed: object) -> dict[tuple[int, int, int], int]:
    """Read the lengths of a pair, by step and ends; others are 0."""
    found: dict[tuple[int, int, int], int] = {}
    for row in listed if isinstance(listed, list) else [None]:
        if not isinstance(row, list) or [type(each) for each in row] != [int] * 4:
            raise CertificateError("a length is a step, the ends of a link, and a whole number.")
        step, tail, head, length = row
        if not (1 <= step <= steps and 0 <= tail < network.size):
            raise CertificateError(f"step {step}, {tail} to {head}: there is no such step or node.")
        if head not in network.neighbors[tail] or length < 0 or (step, tail, head) in found:
            raise CertificateError(
                f"step {step}, {tail} to {head}: there is no such link, its length is below 0, or "
                "it has two."
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
    """Find the length of the shortest way, one link a step at most; waiting costs nothing."""
    away: dict[int, int] = {source: 0}
    for step in range(1, steps + 1):
        # The copy keeps a chunk from crossing two links in one step. What arrives in a step goes on
        # in a later one.
        before = dict(away)
        for tail, length in before.items():
            for head in network.neighbors[tail]:
                way = length + lengths.get((step, tail, head), 0)
                if way < away.get(head, way + 1):
                    away[head] = way
    if target not in away:
        raise CertificateError(f"{steps} steps do not lead from {source} to {target} at all.")
    return away[target]
