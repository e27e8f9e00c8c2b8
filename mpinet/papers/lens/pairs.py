"""Claims about all pairs: what is claimed and what is measured for the pair that shows most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpinet.arrays import Flags, Matrix
from mpinet.claims import Measured
from mpinet.papers.lens.words import addresses
from mpinet.papers.witness import largest_pair

NO_PATH = -1
"""Stands in a matrix of lengths where there is no path."""


class AllPairs:
    """A formula and a measurement of every pair, compared.

    The ledger gets both at the smallest pair in which they differ; if there is none, at the
    smallest pair with the largest value.

    Parameters
    ----------
    formula : callable
        The paper's value of every pair: topology string -> matrix of shape (N, N).
    found : callable
        The measured one.
    labels : tuple of str
        Names of several values of each pair: the matrices have shape (values, N, N) then.
    """

    def __init__(
        self,
        formula: Callable[[str], Matrix],
        found: Callable[[str], Matrix],
        labels: tuple[str, ...] = (),
    ):
        self._formula = formula
        self._found = found
        self._labels = labels

    def _compared(self, topology: str) -> tuple[int, int, Any, Any]:
        """Source, target, and what is claimed and measured."""
        wanted, found = self._formula(topology), self._found(topology)
        pair = found.shape[-2:]
        wanted, found = wanted.reshape(-1, *pair), found.reshape(-1, *pair)
        wrong = (wanted != found).any(axis=0)
        source, target = largest_pair(wrong if wrong.any() else found.sum(axis=0))
        return source, target, *(self._value(m[:, source, target]) for m in (wanted, found))

    def _value(self, numbers: Matrix) -> Any:
        values = [in_words(number) for number in numbers.tolist()]
        return dict(zip(self._labels, values, strict=True)) if self._labels else values[0]

    def claimed(self, topology: str) -> Any:
        """The formula's value."""
        return self._compared(topology)[2]

    def measured(self, topology: str) -> Measured:
        """The measured value, and the pair."""
        source, target, _, value = self._compared(topology)
        return Measured(value, ends(topology, source, target))


def in_words(length: int) -> Any:
    """A length, or that there is none."""
    return "no path" if length == NO_PATH else length


def ends(topology: str, source: int, target: int) -> dict[str, Any]:
    """A pair as a witness: numbers and addresses."""
    names = addresses(topology)
    return {
        "source": source,
        "target": target,
        "addresses": f"{names[source]} -> {names[target]}",
    }


def largest(topology: str, matrix: Matrix) -> Measured:
    """The largest value of a matrix, with the smallest pair that has it."""
    return Measured(int(matrix.max()), ends(topology, *largest_pair(matrix)))


def agrees(topology: str, wrong: Flags) -> Measured:
    """Whether no pair is wrong; where one is, the smallest such pair."""
    if not wrong.any():
        return Measured(True)
    return Measured(False, ends(topology, *largest_pair(wrong)))
