"""Estimate of a checker's work on a certificate, before anything is built.

A few bytes can claim what takes hours to look at. So the work is estimated from the claim and from
the size of the network, in looks: what Python does in an inner loop once, `LOOKS` a second. The
same certificate takes the same number everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from mpinet.base.memory import require_memory
from mpinet.errors import CertificateError, OutOfReach

if TYPE_CHECKING:
    from mpinet.certify.claims import BoundClaim
    from mpinet.networks.topology import Topology

LOOKS = 2**22
"""Looks that take about a second; a look is the unit of work."""

EFFORT = 30.0
"""Seconds of work that are allowed by default."""

# Fixed numbers, not measured on this computer: a certificate must be refused or accepted alike
# everywhere.
A_PORT, BYTES_A_PORT = 16, 160
"""Looks and bytes per port: to ask the rules for the neighbour, and to keep it."""

A_COUNT, BYTES_A_COUNT = 30, 500
"""Looks and bytes per variable or clause of a formula that relates two things."""

CELLS = 64
"""Cells of a front's table that NumPy fills in the time of one look."""

PRODUCTS = 256
"""Products of a matrix that NumPy computes in the time of one look."""


@dataclass(frozen=True)
class NetworkSize:
    """Size of a network, known before its neighbours are."""

    size: int
    """Number of nodes."""
    hosts: int
    """Number of processors."""
    ports: int
    """Largest degree."""
    links: bool
    """True for a network of links, False for a network of busses."""

    @classmethod
    def of(cls, topology: Topology) -> NetworkSize:
        """Return the shape that a topology states."""
        return cls(topology.size, topology.hosts, topology.ports, topology.links)

    @property
    def arcs(self) -> int:
        """Largest possible number of ports of all nodes."""
        return self.size * self.ports


@dataclass(frozen=True)
class Budget:
    """Work that is allowed, in seconds of `LOOKS` looks; `UNLIMITED` allows any."""

    effort: float

    @property
    def looks(self) -> float:
        """Work that is allowed, in looks."""
        return self.effort * LOOKS

    def require(self, what: str, looks: int, held: int = 0) -> None:
        """Refuse work beyond the budget.

        Parameters
        ----------
        what : str
            The sentence's subject, in the singular.
        looks : int
            The work.
        held : int
            Bytes of memory.

        Raises
        ------
        OutOfReach
            It is too much work.
        TooLarge
            It is more memory than there is.
        """
        if looks > self.looks:
            raise OutOfReach(
                f"{what} takes {looks // LOOKS + 1:,} seconds or so, and {self.effort:g} are "
                "allowed: nothing is proved or refuted so far (--effort SECONDS allows more)."
            )
        require_memory(held, what)


UNLIMITED = Budget(inf)
"""Budget of the search itself, which checks what it has just found."""


def require_network(budget: Budget, shape: NetworkSize, name: str) -> None:
    """Refuse a network that takes too long to be asked for all neighbours."""
    looks, held = A_PORT * shape.arcs, BYTES_A_PORT * shape.arcs
    budget.require(f"A look at every port of {name}", looks, held)


def require_claim(
    budget: Budget, shape: NetworkSize, kind: str, claim: BoundClaim, document: Mapping[str, Any]
) -> None:
    """Refuse a claim about steps that takes too long to be checked, or is beyond all proof."""
    # A claim of so many steps is false on any network. Its formula would be huge, so it is refused
    # without being written.
    if kind in ("class-lp", "lrat"):
        _require_provable(claim, shape)
    looks, held = _of_steps(kind, claim, shape, document)
    budget.require(f"The check of this claim ({kind})", looks, held)


def require_width(
    budget: Budget, shape: NetworkSize, kind: str, more_than: int, document: Mapping[str, Any]
) -> None:
    """Refuse a claim about a bisection width whose check takes too long."""
    size, held = shape.size, 0
    looks = 0
    if kind == "eigenvalue":
        looks, held = size**3 // PRODUCTS, 100 * size**2
    elif kind == "flow":
        rounds = document.get("lengths")
        looks = 6 * size * shape.arcs * (len(rounds) if isinstance(rounds, list) else 0)
    elif kind == "lrat":
        channels = shape.arcs // 2 if shape.links else shape.arcs
        counts = size**2 + channels * (more_than + 1)
        looks, held = A_COUNT * counts, BYTES_A_COUNT * counts
    budget.require(f"The check of this claim ({kind})", looks, held)


def _require_provable(claim: BoundClaim, shape: NetworkSize) -> None:
    """Raise `CertificateError` for steps that are enough on any network of this size."""
    steps = claim.more_than - (claim.items - 1)
    # A broadcast along any spanning tree informs one node a step at least. Nothing can show that
    # this is not enough.
    if steps >= shape.size - 1 > 0:
        raise CertificateError(
            f"its claim is false: a {claim.collective} along a tree informs somebody in each step, "
            f"so that {shape.size} nodes take {shape.size - 1} steps at most."
        )


def _of_steps(
    kind: str, claim: BoundClaim, shape: NetworkSize, document: Mapping[str, Any]
) -> tuple[int, int]:
    """Looks and bytes that the check of a claim about steps takes at most."""
    arcs, ports, steps = shape.arcs, shape.ports, claim.more_than
    roots = shape.hosts if claim.root is None else 1
    if kind == "distance":
        return roots * arcs, 0
    if kind == "class-lp":
        given = document.get("multipliers")
        named = len(given) if isinstance(given, Mapping) else 0
        variables = min(arcs * steps, 2 * ports * steps * named)
        return steps * (arcs * (ports + 2) + 2 * ports * named), 150 * variables
    if kind == "lrat":
        # Clauses that exclude two sends of one node are quadratic in its ports. They are most of
        # the formula in dense networks.
        counts = steps * (2 * shape.size + arcs * (2 + ports // 2))
        return A_COUNT * counts, BYTES_A_COUNT * counts
    if kind == "cut":
        if claim.collective == "exchange":
            return 2 * shape.hosts * arcs, 0
        over_time = arcs * steps if "since" in document and not shape.links else 0
        return arcs + over_time + ports**2 + claim.items * ports, 0
    if kind == "cuts":
        cuts = document.get("cuts")
        return arcs * (1 + len(cuts) if isinstance(cuts, list) else 1), 0
    if kind == "prices" and claim.steps is not None:
        pairs = shape.hosts if claim.root is not None else shape.hosts**2
        return 2 * pairs * arcs * max(1, claim.steps), BYTES_A_COUNT * pairs
    return arcs, 0
