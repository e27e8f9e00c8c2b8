"""Type signatures of messages: the basic datatypes of their elements, in order."""

from __future__ import annotations

from functools import cache
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np

from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.real import REAL

BYTE = "byte"
"""Basic type of all elements of one byte: no MPI library converts them."""

PACKED = "packed"
"""Basic type of packed data, which match any type."""

MOST_RUNS = 4096
"""Number of runs of basic types above which a signature only has its size."""

Runs = tuple[tuple[str, int], ...]
"""Basic types, each with its number of consecutive elements."""


class Signature(NamedTuple):
    """Type signature of a message."""

    runs: Runs
    """Runs of basic types of one element."""
    elements: int
    """Number of elements."""

    @property
    def is_bytes(self) -> bool:
        """True if all elements have one byte."""
        return all(kind in (BYTE, PACKED) for kind, _ in self.runs)

    @property
    def said(self) -> str:
        """Description for a finding."""
        runs = [(kind, number * self.elements) for kind, number in self.runs[:1]]
        if len(self.runs) == 1:
            return f"{runs[0][1]} {runs[0][0]}"
        within = ", ".join(f"{number} {kind}" for kind, number in self.runs[:3])
        more = ", .." if len(self.runs) > 3 else ""
        return f"{self.elements} elements of ({within}{more})" if self.runs else "nothing"

    @property
    def amounts(self) -> Runs:
        """Runs of basic types of the whole message."""
        if len(self.runs) == 1:
            kind, number = self.runs[0]
            return ((kind, number * self.elements),)
        return _joined(chain.from_iterable(self.runs for _ in range(min(self.elements, MOST_RUNS))))

    def fits(self, expected: Signature) -> bool:
        """Return whether the message matches the beginning of what a receive expects."""
        sent = [run for run in self.amounts if run[1]]
        wanted = [run for run in expected.amounts if run[1]]
        if PACKED in (kind for kind, _ in sent + wanted):
            return True
        # All runs but the last agree exactly. The last run of the message may be shorter.
        for place, (kind, number) in enumerate(sent):
            if place == len(wanted):
                return True  # too long: a truncation, not a mismatch of types
            wanted_kind, most = wanted[place]
            last = place == len(sent) - 1
            if kind != wanted_kind or (number != most and not (last and number < most)):
                return number > most and kind == wanted_kind and place == len(wanted) - 1
        return True


def signature_of(buffer: Buffer) -> Signature:
    """Return the type signature of a buffer."""
    return Signature(runs_of(buffer.datatype), buffer.count)


@cache
def _keyval() -> int:
    """Return the attribute key of signatures."""
    return int(REAL.Datatype.Create_keyval(copy_fn=True))


_predefined: dict[int, Runs] = {}


def runs_of(datatype: Any) -> Runs:
    """Return the runs of basic types of a datatype's element."""
    runs = _predefined.get(datatype.handle)
    if runs is not None:
        return runs
    if datatype.is_predefined:
        runs = _predefined[datatype.handle] = ((_name(datatype), 1),)
        return runs
    # The attribute dies with the datatype, unlike an entry of a table by handle.
    found: Runs | None = datatype.Get_attr(_keyval())
    if found is None:
        found = _decoded(datatype)
        datatype.Set_attr(_keyval(), found)
    return found


def _name(datatype: Any) -> str:
    """Return the name of a predefined datatype's elements, equal for equal representations."""
    if datatype == REAL.PACKED:
        return PACKED
    if datatype.size == 1:
        return BYTE
    try:
        return str(np.dtype(datatype.tocode()).name)
    except (TypeError, ValueError):
        return str(datatype.Get_name())


def _decoded(datatype: Any) -> Runs:
    """Return the runs of a derived datatype, from the real MPI's description."""
    if datatype.is_predefined:
        return ((_name(datatype), 1),)
    inner, combiner, given = datatype.decode()
    parts = given.get("datatypes", [inner])
    try:
        if combiner == "STRUCT":
            numbers = given["blocklengths"]
        else:
            numbers = [datatype.size // inner.size if inner.size else 0]
        runs = [_repeated(_decoded(part), many) for part, many in zip(parts, numbers, strict=True)]
        return _joined(chain.from_iterable(runs))
    finally:
        for part in parts:
            if not part.is_predefined:
                part.Free()


def _repeated(runs: Runs, number: int) -> Runs:
    """Return the runs of a number of elements."""
    if len(runs) == 1:
        return ((runs[0][0], runs[0][1] * number),)
    if len(runs) * number > MOST_RUNS:
        return ((f"elements of {len(runs)} types", number),)
    return _joined(runs * number)


def _joined(runs: Any) -> Runs:
    """Return runs with neighbours of one type joined."""
    together = groupby((run for run in runs if run[1]), key=lambda run: run[0])
    return tuple((kind, sum(number for _, number in same)) for kind, same in together)
