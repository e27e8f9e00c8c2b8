"""The search for a bisection width, with a certificate: both sides, until they meet.

A cut shows that so many channels are enough. That none parts fewer is shown by what is quickest to
be found: an eigenvalue, a flow, a table over a front, and at last a solver's proof. The checker
looks at every certificate before it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags
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
"""Kinds of certificates in the order in which they are tried, after a front that is narrow."""

NARROW = 2**29
"""Entries of all tables over a front that is narrow; the checker makes them in seconds."""

MOST_COUNTS = 2**20
"""Counts, of nodes and of parted channels, in the largest formula that is tried."""


@dataclass
class WidthSearch(Certified):
    """State of a search for a bisection width."""

    limit: float
    """Seconds that the solver has; the table over a front may take about as long."""
    by: str | None = None
    """The only kind of certificate to try."""
    upper: int = 0
    """Channels that the best cut parts; `side` is one side of that cut."""
    upper_by: str = "search"
    """Source of the cut `side`."""
    side: list[int] = field(default_factory=list)
    """The nodes on one side of a cut."""

    def run(self) -> None:
        """Narrow both sides down."""
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
            try:
                ways[name]()
            # A missing library costs a kind of proof, not the result. Other kinds may still close
            # the gap.
            except UsageError:  # a library is not installed
                self.limited = True

    def _take(self, inside: Flags, by: str) -> None:
        """A cut, narrower than all before."""
        self.upper, self.upper_by = self._cuts.width(inside), by
        self.side = list(away_from_first(inside))
        # The certificate shows the cut of the upper bound. A narrower cut that is found later
        # replaces it there too.
        if self.certificate:
            self.certificate["side"] = self.side

    def _raise(self, lower: int, by: str, more: dict[str, Any]) -> None:
        """Take a bound if the checker accepts its certificate."""
        document = self._document(lower, by, more)
        # A bound that is no better is only noted. Checking its certificate would take time and
        # change nothing.
        if lower <= self.lower or self.holds(lower, by, document):
            self._take_bound(lower, by, document)

    def _take_bound(
        self, lower: int, by: str, certificate: dict[str, Any], proof: list[str] | None = None
    ) -> None:
        """Take a bound that the checker has accepted."""
        self.bounds[by] = max(lower, self.bounds.get(by, 0))
        if lower > self.lower:
            self.hold(lower, by, certificate, proof)

    def _document(self, lower: int, by: str, more: dict[str, Any]) -> dict[str, Any]:
        """The certificate that no cut parts fewer channels."""
        claim = {"measure": "bisection", "more_than": lower - 1}
        return self.document(claim, by, {"side": self.side, **more})

    def _by_eigenvalue(self) -> None:
        """An eigenvalue that is rational, and a little less than the second one."""
        network, (a, b) = self.topology, halves(self.network)
        lower = spectral_bound(network, self._cuts)
        if lower == 0 or not network.links or network.size > MOST_NODES:
            return
        # The checker wants a rational p/q. Any number between what is needed and the eigenvalue
        # will do, so a short one in the middle is taken.
        second = float(np.linalg.eigvalsh(laplacian(network, self._cuts))[1])
        enough = (lower - 1) * network.size / (a * b)
        q = int(np.ceil(2 / (second - enough)))
        p = int(q * (second + enough) / 2)
        # Numbers for which whole numbers leave too little room are no certificate.
        try:
            require_eigenvalue(self.network, lower - 1, [p, q])
        except CertificateError:
            self.limited = True
            return
        document = self._document(lower, "eigenvalue", {"at_least": [p, q]})
        self._take_bound(lower, "eigenvalue", document)

    def _by_flow(self) -> None:
        """Try as many rounds of flow as help."""
        if self.topology.size > min(MOST_NODES, LARGEST_SPECTRUM):
            return
        few = flow_of(self.topology, 1)
        # One round often meets the cut in symmetric networks. Twenty rounds would then only make
        # the certificate longer.
        found = few if few.bound == self.upper else flow_of(self.topology, MOST_ROUNDS)
        if found.bound:
            self._raise(found.bound, "flow", {"lengths": found.lengths})

    def _by_front(self, most: float = inf) -> None:
        """The table over a front, where it is small enough; the checker makes none over busses."""
        planned = narrowest_front(self._cuts)
        if planned is None or not self.network.links:
            return
        order, front, _ = planned
        cells = (halves(self.network)[0] + 1) << (front + 1)
        # The checker fills the same table with NumPy. A table that it refuses is not worth making
        # here.
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
        """Ask the solver for narrower cuts until there is none."""
        planned = narrowest_front(self._cuts)
        # Proof size depends on the order of nodes. An order with a narrow front keeps learned
        # clauses short, even where no table fits.
        order = orders(neighbors_in(self._cuts))[-1] if planned is None else planned[0]
        counts = self._cuts.nodes**2 // 4 + self._cuts.count * self.upper
        while self.lower < self.upper and counts <= MOST_COUNTS:
            left = self.limit - (time.monotonic() - self._began)
            if left <= 0:
                break
            # Each answer narrows one side: a solution is a narrower cut, a refutation is the lower
            # bound itself.
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
        """Take the solver's proof, if it holds for the formula that the checker writes."""
        checkers = half_formula(self.network, self.upper - 1, order)
        proof = self.followed(self.upper, asked, checkers, drup)
        if proof is None:
            return False
        more = {"order": order, "formula_sha256": asked.sha256}
        self._take_bound(self.upper, "lrat", self._document(self.upper, "lrat", more), proof)
        return True


PAIRS = 2
"""Pairs of far nodes, between which a search for cuts begins."""


def across(cuts: CutHypergraph) -> list[Flags]:
    """Halves between two far nodes: whoever is nearer to one than to the other."""
    # Narrow cuts tend to run between two far regions. Starts of this kind find them where random
    # halves need many exchanges.
    neighbors, found = neighbors_in(cuts), []
    node = int(hops_from(neighbors, 0).argmax())
    for _ in range(PAIRS):
        near = hops_from(neighbors, node)
        far = hops_from(neighbors, int(near.argmax()))
        found.append(lowest_half((near - far).astype(np.float64), cuts.hosts))
        node = int(np.minimum(near, far).argmax())
    return found
