"""The product base B and the super-nodes in it: notation and checks (docs/papers/hdn, 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any, NamedTuple

from mpinet.base.numerals import quoted, whole
from mpinet.errors import TopologyError
from mpinet.networks.parameters import integer, require_integer

RING, COMPLETE, PATH = "C", "K", "P"

BASE_ALLOWED = "factors Cn (or n), Kn, Pn (Pn only without levels), n >= 2, joined by x"

SUPER_ALLOWED = "per level the super-node's factor indices joined by ., - for none; levels by /"

SIZES_ALLOWED = "per level the super-node's size, levels joined by /"

LISTED = 6
"""Most super-nodes that an error message lists."""

Members = tuple[int, ...]
"""Type of a super-node J: indices of factors, ascending."""


class Factor(NamedTuple):
    """Factor of the base: its kind (C ring, K complete graph, P path) and its size."""

    kind: str
    size: int

    def __str__(self) -> str:
        """Return the factor's text; a ring and K2 are written as their size alone."""
        return str(self.size) if self.kind == RING or self == K2 else f"{self.kind}{self.size}"


K2 = Factor(COMPLETE, 2)


def factors(text: str) -> tuple[Factor, ...]:
    """Read factors joined by ``x``: ``2x3x5``, ``C4xK3``."""
    return tuple(_factor(part) for part in text.split("x"))


def _factor(text: str) -> Factor:
    match = re.fullmatch(r"([A-Za-z]?)(-?[0-9]+)", text)
    if match is None:
        raise ValueError(f"{quoted(text)} is not a factor such as C5, K4 or P3")
    return Factor(match[1] or RING, whole(match[2]))


def super_nodes(text: str) -> tuple[Members, ...]:
    """Read super-nodes level by level: ``0.1/1.2``, ``-`` for a single node."""
    return tuple(
        () if level == "-" else tuple(integer(index) for index in level.split("."))
        for level in text.split("/")
    )


def super_sizes(text: str) -> tuple[int, ...]:
    """Read the super-nodes' sizes level by level: ``6/15``."""
    return tuple(integer(size) for size in text.split("/"))


def require_base(family: str, BASE: Any) -> tuple[Factor, ...]:
    """Check the factors and return them, with C2 replaced by the equal K2.

    Raises
    ------
    TopologyError
        The base has no factor, or a factor is unknown or too small.
    """
    if isinstance(BASE, str) or not isinstance(BASE, Sequence) or not BASE:
        raise TopologyError(f"{family}: BASE must be {BASE_ALLOWED}, not {BASE!r}.")
    return tuple(_require_factor(family, factor) for factor in BASE)


def _require_factor(family: str, factor: Any) -> Factor:
    if not isinstance(factor, tuple) or len(factor) != 2:
        raise TopologyError(
            f"{family}: a factor of BASE must be a pair of kind and size, not {factor!r}."
        )
    kind, size = factor
    if kind not in (RING, COMPLETE, PATH):
        raise TopologyError(
            f"{family}: a factor of BASE must be of kind C (ring), K (complete graph) or P (path), "
            f"not {kind!r}."
        )
    require_integer(family, f"the size of a factor {kind} of BASE", size, 2)
    # A ring of two has one link, as K2 has. A single notation keeps names of equal networks equal.
    return K2 if factor == (RING, 2) else Factor(kind, size)


def require_super(family: str, base: tuple[Factor, ...], levels: Any) -> tuple[Members, ...]:
    """Check the super-nodes against the base and return them, each ascending.

    Raises
    ------
    TopologyError
        An index is out of range or repeated, or a base with paths has levels.
    """
    if isinstance(levels, str) or not isinstance(levels, Sequence):
        raise TopologyError(f"{family}: super must be {SUPER_ALLOWED}, not {levels!r}.")
    for number, members in enumerate(levels, 1):
        where = f"a factor index in super at level {number}"
        if isinstance(members, str) or not isinstance(members, Sequence):
            raise TopologyError(f"{family}: super must be {SUPER_ALLOWED}, not {members!r}.")
        for index in members:
            require_integer(family, where, index, 0, len(base) - 1)
        if len(set(members)) != len(members):
            raise TopologyError(
                f"{family}: {where} must not be repeated, as in {'.'.join(map(str, members))}."
            )
    # Clusters of a level have to look alike from every node. The ends of a path look different from
    # its middle.
    if levels and any(factor.kind == PATH for factor in base):
        raise TopologyError(
            f"{family}: BASE must be symmetric to have levels, without path factors P; "
            f"{base_text(base)} cannot have super-nodes."
        )
    return tuple(tuple(sorted(members)) for members in levels)


def super_of_sizes(family: str, base: tuple[Factor, ...], sizes: Any) -> tuple[Members, ...]:
    """Return the super-nodes of these sizes, if each size determines one.

    Raises
    ------
    TopologyError
        No super-node has the size, or several super-nodes have it. The message lists these.
    """
    if isinstance(sizes, str) or not isinstance(sizes, Sequence):
        raise TopologyError(f"{family}: sizes must be {SIZES_ALLOWED}, not {sizes!r}.")
    return tuple(_super_of_size(family, base, size) for size in sizes)


def _super_of_size(family: str, base: tuple[Factor, ...], size: int) -> Members:
    require_integer(family, "a super-node's size in sizes", size, 1)
    # Equal factors make very many super-nodes of the same size. One match more than the message
    # lists shows whether further matches exist.
    found = list(islice(_of_product(base, size), LISTED + 1))
    if len(found) == 1:
        return found[0]
    if not found:
        raise TopologyError(
            f"{family}: sizes must be products of factors of {base_text(base)}, not {size}."
        )
    listed = " ".join(map(members_text, found[:LISTED])) + (" .." if found[LISTED:] else "")
    raise TopologyError(
        f"{family}: size {size} in sizes fits several super-nodes of {base_text(base)}: {listed}; "
        "choose one with super."
    )


def _of_product(base: tuple[Factor, ...], size: int, at: int = 0) -> Iterator[Members]:
    """Yield the super-nodes of factors from index `at` on with the product `size`."""
    if size == 1:
        yield ()
    # A size that does not divide the rest can never be reached. This cuts nearly all branches of
    # the search.
    if size == 1 or prod(factor.size for factor in base[at:]) % size:
        return
    for index in range(at, len(base)):
        if size % base[index].size == 0:
            rest = _of_product(base, size // base[index].size, index + 1)
            yield from ((index, *members) for members in rest)


def base_text(base: Sequence[Factor]) -> str:
    """Return the factors in the notation of topology strings."""
    return "x".join(map(str, base))


def members_text(members: Members) -> str:
    """Return a super-node in the notation of topology strings."""
    return ".".join(map(str, members)) or "-"
