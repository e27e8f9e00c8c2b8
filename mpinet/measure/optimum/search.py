"""Search for the optimum of a one-port or all-port broadcast: both bounds, until they meet.

The search starts with quick bounds (distance, growth, passes), continues with counting (the class
LP), and ends with the solver. The order matters. A shortage of informed nodes is hard to prove for
a solver and easy by counting. Contradictions without a shortage are the opposite.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mpinet.certify.clauses import formula as checkers_formula
from mpinet.certify.counting import require_contradiction
from mpinet.errors import UsageError
from mpinet.measure.optimum.arcs import BroadcastArcs
from mpinet.measure.optimum.certified import CollectiveBound
from mpinet.measure.optimum.classlp import classes_of, refutation
from mpinet.measure.optimum.formula import Formula
from mpinet.measure.optimum.sat import solved
from mpinet.programs.bounds import growth_bound
from mpinet.programs.schedules.timetable import Timetable

MOST_NODE_STEPS = 2**18
"""Largest number of nodes times steps of a formula."""

MOST_ARCS = 2**21
"""Largest number of arcs of a network for counting by classes."""

LP_SECONDS = 60.0

ROUNDS = (0, 1, 2)
"""Numbers of rounds of colour refinement to try, while the classes are few."""


@dataclass
class Search(CollectiveBound):
    """State of a search for an optimum."""

    root: int
    """Root of the collective."""
    upper: int
    """Steps of the best schedule: of `timetable`, or of the caller's schedule if it is None."""
    upper_by: str
    """Source of the upper bound."""
    limit: float
    """Seconds for the solver."""
    timetable: Timetable | None = None
    lower_by: str | None = field(default="distance", kw_only=True)
    classes: int | None = None
    """Number of classes of the class LP; None if the bound has a different proof."""

    def run(self) -> None:
        """Improve both bounds until they meet or all methods are exhausted."""
        self._began = time.monotonic()
        self._count_distance_and_growth()
        # With all ports the distance is the optimum, reached by flooding. Only one port leaves a
        # gap to search.
        if self.ports == "all" or self.open == 0:
            return
        self._arcs = BroadcastArcs.of(self.topology, self.root)
        # Counting goes before the solver. A pigeonhole-like shortage has short counting proofs and
        # exponentially long resolution proofs.
        if self.topology.links and len(self._arcs.senders) <= MOST_ARCS:
            self._if_installed(self._count_classes)
        if self.open and self._can_be_asked:
            self._if_installed(self._ask)
        elif self.open:
            self.limited = True

    def _if_installed(self, search: Callable[[], None]) -> None:
        """Search with a library; if it is missing, the bounds stay unchanged."""
        try:
            search()
        except UsageError:
            self.limited = True

    @property
    def open(self) -> int:
        """Number of steps between both bounds."""
        return self.upper - self.lower

    @property
    def _left(self) -> float:
        return self.limit - (time.monotonic() - self._began)

    @property
    def _can_be_asked(self) -> bool:
        """True if the formula is small enough for the solver."""
        return len(self._arcs.distance) * self.upper <= MOST_NODE_STEPS

    def _count_distance_and_growth(self) -> None:
        seen, hosts = self.network, self.topology.hosts
        self.bounds["distance"] = max(seen.distances(self.root)[:hosts])
        fanout = 1 if seen.links else max(len(bus) for bus in seen.busses) - 1
        if self.ports == "one":
            self.bounds["growth"] = growth_bound(hosts, fanout)
        best = max(self.bounds, key=lambda name: self.bounds[name])
        if self.bounds[best] > 0:
            self.hold(self.bounds[best], best, self.claimed(self.bounds[best], best, {}))

    def _count_classes(self) -> None:
        """Refute ascending numbers of steps by counting, with finer classes if necessary."""
        for rounds in ROUNDS:
            while self.open:
                # The solver that runs afterwards gets its share of the time.
                left = self._left / 2 if self._can_be_asked else self._left
                found = refutation(self._arcs, self.lower, rounds, min(LP_SECONDS, left))
                # Finer classes give a stronger program. Coarse classes are tried first because
                # their certificates are short.
                if found is None:
                    break
                multipliers = {str(row): many for row, many in found.of.items()}
                more = {"classes": found.classes, "rows": found.rows, "multipliers": multipliers}
                lower = self.lower + 1
                check = partial(require_contradiction, self.network, self.root, lower - 1, **more)
                if not self.selfcheck.accepts(lower, "class-lp", check):
                    return
                self.classes = len(set(classes_of(self._arcs, rounds)))
                self.hold(lower, "class-lp", self.claimed(lower, "class-lp", more))
                self.bounds["class-lp"] = lower

    def _ask(self) -> None:
        """Ask the solver for a broadcast in one number of steps after the other."""
        while self.open:
            if self._left <= 0:
                self.limited = True
                return
            asked = Formula(self._arcs, self.lower)
            answer = solved(asked, self._left)
            # Steps are tried from the lower bound upwards. The first solution is therefore optimal,
            # and each refutation raises the bound by one.
            if answer.true is not None:
                self._take(asked.rows(answer.true))
            elif answer.proof is None:
                self.limited = True
                return
            elif not self._refute(asked, answer.proof):
                return

    def _refute(self, asked: Formula, drup: list[str]) -> bool:
        """Store the solver's bound if its proof holds for the checker's own formula."""
        checkers = checkers_formula(self.network, self.root, self.lower)
        proof = self.followed(self.lower + 1, asked, checkers, drup)
        if proof is None:
            return False
        lower, body = self.lower + 1, {"formula_sha256": asked.sha256}
        self.hold(lower, "lrat", self.claimed(lower, "lrat", body), proof)
        self.bounds["lrat"] = lower
        return True

    def _take(self, rows: list[tuple[int, int, int, int]]) -> None:
        """Store a schedule of `lower` steps as the upper bound."""
        step, sender, receiver, bus = (np.array(column) for column in zip(*rows, strict=True))
        self.upper, self.upper_by = self.lower, "sat"
        self.timetable = Timetable(
            "broadcast",
            self.topology.hosts,
            step,
            sender,
            receiver,
            np.zeros_like(step),
            root=self.root,
            bus=None if self.topology.links else bus,
            ports="one",
        )
