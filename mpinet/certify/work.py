"""Estimate of a checker's work on a certificate, before anything is built.

A few bytes can claim a result whose check takes hours. The work is therefore estimated from the
claim and from the size of the network. Its unit is a look: one iteration of an inner loop in
Python, `LOOKS` per second. The same certificate takes the same number of looks on every computer.
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
"""Number of looks that take about a second; a look is the unit of work."""

EFFORT = 30.0
"""Permitted work in seconds by default."""

# Fixed numbers, not measured on this computer: all computers must refuse or accept the same
# certificates.
A_PORT, BYTES_A_PORT = 16, 160
"""Looks and bytes per port: to compute the neighbour, and to keep it."""

A_COUNT, BYTES_A_COUNT = 30, 500
"""Looks and bytes per variable or clause of a formula with pairs of indices."""

CELLS = 64
"""Cells of a front's table that NumPy fills in the time of one look."""

PRODUCTS = 256
"""Multiplications of a matrix product that NumPy computes in the time of one look."""


@dataclass(frozen=True)
class NetworkSize:
    """Size of a network, known without its neighbours."""

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
        """Return the size stated by a topology."""
        return cls(topology.size, topology.hosts, topology.ports, topology.links)

    @property
    def arcs(self) -> int:
        """Largest possible number of ports of all nodes."""
        return self.size * self.ports


@dataclass(frozen=True)
class Budget:
    """Permitted work, in seconds of `LOOKS` looks; `UNLIMITED` allows any work."""

    effort: float

    @property
    def looks(self) -> float:
        """Permitted work, in looks."""
        return self.effort * LOOKS

    def require(self, what: str, looks: int, held: int = 0) -> None:
        """Raise an error for work beyond the budget.

        Parameters
        ----------
        what : str
            The subject of the error sentence, in the singular.
        looks : int
            The work.
        held : int
            Bytes of memory.

        Raises
        ------
        OutOfReach
            The work exceeds the budget.
        TooLarge
            The memory exceeds the available memory.
        """
        if looks > self.looks:
            raise OutOfReach(
                f"{what} takes {looks // LOOKS + 1:,} seconds or so, and {self.effort:g} are "
                "allowed: nothing is proved or refuted so far (--effort SECONDS allows more)."
            )
        require_memory(held, what)


UNLIMITED = Budget(inf)
"""Budget of the search itself, which checks its own certificates."""


def require_network(budget: Budget, shape: NetworkSize, name: str) -> None:
    """Raise an error if reading all neighbours of a network takes too long."""
    looks, held = A_PORT * shape.arcs, BYTES_A_PORT * shape.arcs
    budget.require(f"Reading every port of {name}", looks, held)


def require_claim(
    budget: Budget, shape: NetworkSize, kind: str, claim: BoundClaim, document: Mapping[str, Any]
) -> None:
    """Raise an error if a claim about steps takes too long to check, or cannot be true."""
    # A claim of too many steps is false on any network. Its formula would be huge, and is never
    # written.
    if kind in ("class-lp", "lrat"):
        _require_provable(claim, shape)
    looks, held = _of_steps(kind, claim, shape, document)
    budget.require(f"The check of this claim ({kind})", looks, held)


def require_width(
    budget: Budget, shape: NetworkSize, kind: str, more_than: int, document: Mapping[str, Any]
) -> None:
    """Raise an error if the check of a bisection width takes too long."""
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
    """Raise `CertificateError` if the claimed steps suffice on any network of this size."""
    steps = claim.more_than - (claim.items - 1)
    # A broadcast along any spanning tree informs at least one node per step. No proof can show that
    # this is not enough.
    if steps >= shape.size - 1 > 0:
        raise CertificateError(
            f"its claim is false: a {claim.collective} along a tree informs a node in each step, "
            f"so {shape.size} nodes take {shape.size - 1} steps at most."
        )


def _of_steps(
    kind: str, claim: BoundClaim, shape: NetworkSize, document: Mapping[str, Any]
) -> tuple[int, int]:
    """Return upper bounds on the looks and bytes for the check of a claim about steps."""
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
        # Clauses that exclude two sends of one node are quadratic in its ports. They dominate the
        # formula in dense networks.
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
