"""Search for a bisection width with a certificate: both bounds, until they meet.

A bisection is the upper bound. Lower bounds come from the fastest successful method: an eigenvalue,
a flow, a table over a front, or finally a solver's proof. The checker checks every certificate
before it is returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags
from mpinet.base.deadline import deadline
from mpinet.certify.halfclauses import half_formula
from mpinet.certify.halves import MOST_CELLS, MOST_NODES, halves, require_eigenvalue
from mpinet.errors import CertificateError, UsageError
from mpinet.measure.bisection import (
    LARGEST_SPECTRUM,
    MOST_ROUNDS,
    away_from_first,
    cuts_of,
    first_cuts,
    flow_of,
    laplacian,
    lowest_half,
    spectral_bound,
)
from mpinet.measure.cutsearch import CutHypergraph, best_cut
from mpinet.measure.frontier import (
    LARGEST_FRONT,
    exact_cut,
    hops_from,
    narrowest_front,
    neighbors_in,
    orders,
)
from mpinet.measure.optimum.certified import Certified
from mpinet.measure.optimum.halfformula import HalfFormula
from mpinet.measure.optimum.sat import solved

WAYS = ("eigenvalue", "narrow front", "flow", "front", "lrat")
"""Kinds of certificates in the order of the attempts; "narrow front" is a cheap first try of
"front".
"""

NARROW = 2**29
"""Largest number of entries in all tables of a narrow front; the checker fills them in seconds."""

MOST_COUNTS = 2**20
"""Largest number of counter variables, for nodes and for cut channels, in a formula."""


@dataclass
class WidthSearch(Certified):
    """State of a search for a bisection width."""

    limit: float
    """Seconds for the solver; the table over a front may take about as long."""
    by: str | None = None
    """The only kind of certificate to try; None: all kinds."""
    upper: int = 0
    """Number of channels cut by the best bisection; `side` is one side of it."""
    upper_by: str = "search"
    """Source of the cut `side`."""
    side: list[int] = field(default_factory=list)
    """Nodes on one side of the best bisection."""

    def run(self) -> None:
        """Improve both bounds until they meet or all methods are exhausted."""
        self._began = time.monotonic()
        self._cuts = cuts_of(self.topology)
        # The tabu search ends at this width, because no cut can be narrower. On many regular
        # networks this saves all of its rounds.
        known = spectral_bound(self.topology, self._cuts)
        starts = [*across(self._cuts), *first_cuts(self.topology)]
        self._take(best_cut(self._cuts, starts, known), "search")
        ways: dict[str, Callable[[], None]] = {
            "eigenvalue": self._by_eigenvalue,
            "narrow front": lambda: self._by_front(NARROW),
            "flow": self._by_flow,
            "front": self._by_front,
            "lrat": self._by_proof,
        }
        for name in WAYS if self.by is None else (self.by,):
            if self.lower == self.upper:
                break
            if not deadline().left:
                self.limited = True
                break
            try:
                ways[name]()
            # A missing library costs one kind of proof, not the result. Other kinds may still close
            # the gap.
            except UsageError:  # a library is not installed
                self.limited = True

    def _take(self, inside: Flags, by: str) -> None:
        """Store a bisection narrower than all before."""
        self.upper, self.upper_by = self._cuts.width(inside), by
        self.side = list(away_from_first(inside))
        # The certificate contains the bisection of the upper bound. A narrower bisection found
        # later replaces it there as well.
        if self.certificate:
            self.certificate["side"] = self.side

    def _raise(self, lower: int, by: str, more: dict[str, Any]) -> None:
        """Store a lower bound if the checker accepts its certificate."""
        document = self._document(lower, by, more)
        # A bound without improvement is only recorded. Checking its certificate would take time and
        # change nothing.
        if lower <= self.lower or self.holds(lower, by, document):
            self._take_bound(lower, by, document)

    def _take_bound(
        self, lower: int, by: str, certificate: dict[str, Any], proof: list[str] | None = None
    ) -> None:
        """Store a lower bound accepted by the checker."""
        self.bounds[by] = max(lower, self.bounds.get(by, 0))
        if lower > self.lower:
            self.hold(lower, by, certificate, proof)

    def _document(self, lower: int, by: str, more: dict[str, Any]) -> dict[str, Any]:
        """Return the certificate that no bisection cuts fewer than `lower` channels."""
        claim = {"measure": "bisection", "more_than": lower - 1}
        return self.document(claim, by, {"side": self.side, **more})

    def _by_eigenvalue(self) -> None:
        """Try a rational lower bound on the second eigenvalue."""
        network, (a, b) = self.topology, halves(self.network)
        lower = spectral_bound(network, self._cuts)
        if lower == 0 or not network.links or network.size > MOST_NODES:
            return
        # The checker needs a rational p/q. Any number between the required value and the eigenvalue
        # will do; a short one in the middle is taken.
        second = float(np.linalg.eigvalsh(laplacian(network, self._cuts))[1])
        enough = (lower - 1) * network.size / (a * b)
        q = int(np.ceil(2 / (second - enough)))
        p = int(q * (second + enough) / 2)
        # If rounding to whole numbers leaves too little margin, there is no certificate.
        try:
            require_eigenvalue(self.network, lower - 1, [p, q])
        except CertificateError:
            self.limited = True
            return
        document = self._document(lower, "eigenvalue", {"at_least": [p, q]})
        self._take_bound(lower, "eigenvalue", document)

    def _by_flow(self) -> None:
        """Try a flow, with a single round or with many."""
        if self.topology.size > min(MOST_NODES, LARGEST_SPECTRUM):
            return
        few = flow_of(self.topology, 1)
        # One round often meets the cut in symmetric networks. Twenty rounds would then only make
        # the certificate longer.
        found = few if few.bound == self.upper else flow_of(self.topology, MOST_ROUNDS)
        if found.bound:
            self._raise(found.bound, "flow", {"lengths": found.lengths})

    def _by_front(self, most: float = inf) -> None:
        """Try a table over a front, if small enough; the checker supports no busses here."""
        planned = narrowest_front(self._cuts)
        if planned is None or not self.network.links:
            return
        order, front, _ = planned
        cells = (halves(self.network)[0] + 1) << (front + 1)
        # The checker fills the same table with NumPy. A table refused by the checker is not worth
        # making here.
        if front > LARGEST_FRONT or cells > MOST_CELLS or cells * self._cuts.nodes > 2 * most:
            return
        found = exact_cut(self._cuts, self.limit)
        if found is None:
            self.limited = True
            return
        if found.inside is not None and found.width < self.upper:
            self._take(found.inside, "front")
        self._raise(found.width, "front", {"order": order})

    def _by_proof(self) -> None:
        """Ask the solver for narrower and narrower cuts until none exists."""
        planned = narrowest_front(self._cuts)
        # Proof size depends on the order of nodes. An order with a narrow front keeps learned
        # clauses short, even if no table fits.
        order = orders(neighbors_in(self._cuts))[-1] if planned is None else planned[0]
        counts = self._cuts.nodes**2 // 4 + self._cuts.count * self.upper
        while self.lower < self.upper and counts <= MOST_COUNTS:
            left = self.limit - (time.monotonic() - self._began)
            if left <= 0:
                break
            # Each answer improves one bound: a solution is a narrower cut, a refutation is the
            # lower bound itself.
            asked = HalfFormula(self._cuts, order, self.upper - 1)
            answer = solved(asked, left)
            if answer.true is not None:
                inside = np.zeros(self._cuts.nodes, bool)
                inside[asked.side(answer.true)] = True
                self._take(inside, "sat")
            elif answer.proof is None or not self._refute(asked, order, answer.proof):
                break
        self.limited |= self.lower < self.upper

    def _refute(self, asked: HalfFormula, order: list[int], drup: list[str]) -> bool:
        """Store the solver's bound if its proof holds for the checker's own formula."""
        checkers = half_formula(self.network, self.upper - 1, order)
        proof = self.followed(self.upper, asked, checkers, drup)
        if proof is None:
            return False
        more = {"order": order, "formula_sha256": asked.sha256}
        self._take_bound(self.upper, "lrat", self._document(self.upper, "lrat", more), proof)
        return True


PAIRS = 2
"""Number of pairs of far nodes from which a search for cuts starts."""


def across(cuts: CutHypergraph) -> list[Flags]:
    """Return cuts between two far nodes: each node is on the side of the nearer far node."""
    # Narrow cuts tend to run between two far regions. Such starts find them, while random halves
    # need many exchanges.
    neighbors, found = neighbors_in(cuts), []
    node = int(hops_from(neighbors, 0).argmax())
    for _ in range(PAIRS):
        near = hops_from(neighbors, node)
        far = hops_from(neighbors, int(near.argmax()))
        found.append(lowest_half((near - far).astype(np.float64), cuts.hosts))
        node = int(np.minimum(near, far).argmax())
    return found
