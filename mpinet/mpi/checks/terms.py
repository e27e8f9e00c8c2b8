"""Terms of collectives in a checked run: with the datatypes of the buffers."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from mpinet.mpi.checks.signatures import Signature, runs_of, signature_of
from mpinet.mpi.collectives.collective import Terms
from mpinet.mpi.messages.buffers import Buffer

REDUCTIONS = frozenset("reduce allreduce reduce_scatter_block reduce_scatter scan exscan".split())
"""Collectives whose members must use the same datatype."""

FROM_ROOT = frozenset("bcast scatter Bcast Scatter Scatterv".split())
"""Blocking collectives in which the root may return before others call."""

NEEDS_BARRIER = frozenset("gather reduce scan exscan Gather Gatherv Reduce Scan Exscan".split())
"""Blocking collectives in which members other than the root may return before others call.

MPI allows a library to synchronize all members in each collective. A checked run does, because a
script must not depend on the opposite.
"""

HASHES = 1 << 32


class TypedTerms(Terms):
    """Terms of a collective, with a description of its datatypes."""

    types: str

    def number(self, size: int) -> int:
        """Return a number of the terms, the same on all ranks and different for other types."""
        return super().number(size) * HASHES + crc32(self.types.encode())

    @property
    def words(self) -> tuple[str, ...]:
        """The terms as words of a report."""
        return (*super().words, f"of {self.types}")


def typed_terms(kind: str, terms: Terms, buffers: Sequence[Buffer]) -> Terms:
    """Return the terms of a collective with the datatypes of its buffers, if members must agree.

    Parameters
    ----------
    kind : str
        Name of the call.
    terms : Terms
        The terms that every run compares.
    buffers : sequence of Buffer
        Buffers of the call; empty for a collective of objects.
    """
    base = kind.removesuffix("_init")
    base = base[1:] if kind[:1] == "I" else base.lower()
    if not buffers or base not in REDUCTIONS | {"bcast"}:
        return terms
    first = buffers[0]
    signature = signature_of(first) if base == "bcast" else Signature(runs_of(first.datatype), 1)
    made = TypedTerms(*terms)
    made.types = ", ".join(f"{number} {name}" for name, number in signature.amounts)
    return made
