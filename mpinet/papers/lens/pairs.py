"""Claims about all pairs, with pairs as witnesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpinet.base.arrays import Flags, Matrix
from mpinet.claims import Claim, Measured, claim
from mpinet.papers.grids import pairs_of
from mpinet.papers.lens.words import addresses
from mpinet.papers.witness import largest_pair

NO_PATH = -1
"""Entry of a matrix of lengths for pairs without a path."""


def pairs_claim(
    id: str,
    *,
    claimed: Callable[[str], Matrix],
    measured: Callable[[str], Matrix],
    labels: tuple[str, ...] = (),
    **said: Any,
) -> Claim:
    """Return a claim that every pair has the value of a formula.

    The ledger shows both values of the smallest pair for which they differ. If there is none, the
    ledger shows the smallest pair with the largest value.

    Parameters
    ----------
    id : str
        Id of the claim.
    claimed, measured : callable
        Functions from the topology string to the claimed and measured values of all pairs, as
        matrices of shape (N, N).
    labels : tuple of str
        Names of several values of each pair. The matrices then have shape (values, N, N).
    **said
        Further arguments of `claim`.
    """

    def compared(topology: str) -> tuple[int, int, Any, Any]:
        """Return source and target, with their claimed and measured values."""
        wanted, found = claimed(topology), measured(topology)
        pair = found.shape[-2:]
        wanted, found = wanted.reshape(-1, *pair), found.reshape(-1, *pair)
        wrong = (wanted != found).any(axis=0)
        # A wrong pair refutes the claim. Without a wrong pair, the longest route is the best
        # example.
        source, target = largest_pair(wrong if wrong.any() else found.sum(axis=0))
        return source, target, *(value(m[:, source, target]) for m in (wanted, found))

    def value(numbers: Matrix) -> Any:
        values = ["no path" if number == NO_PATH else number for number in numbers.tolist()]
        return dict(zip(labels, values, strict=True)) if labels else values[0]

    def measurement(topology: str) -> Measured:
        source, target, _, found = compared(topology)
        return Measured(found, ends(topology, source, target))

    return claim(
        id,
        claimed=lambda topology: compared(topology)[2],
        measured=measurement,
        cost=pairs_of,
        **said,
    )


def ends(topology: str, source: int, target: int) -> dict[str, Any]:
    """Return a pair as a witness: numbers and addresses."""
    names = addresses(topology)
    return {
        "source": source,
        "target": target,
        "addresses": f"{names[source]} -> {names[target]}",
    }


def largest(topology: str, matrix: Matrix) -> Measured:
    """Return the largest value of a matrix, with the smallest pair that has it."""
    return Measured(int(matrix.max()), ends(topology, *largest_pair(matrix)))


def agrees(topology: str, wrong: Flags) -> Measured:
    """Return whether no pair is wrong, with the smallest wrong pair."""
    if not wrong.any():
        return Measured(True)
    return Measured(False, ends(topology, *largest_pair(wrong)))
