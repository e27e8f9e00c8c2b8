"""Certificates for scatter, gather, gossip and exchange: cuts, checked before they are given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mpinet.machine.model import PortModel
from mpinet.measure.optimum.certified import CollectiveBound
from mpinet.measure.optimum.weights import weighted_cuts
from mpinet.programs.bounds import Bound
from mpinet.programs.cuts import best_cut
from mpinet.programs.flow import minimum_cut

DISTANCE = "distance"


@dataclass
class ItemsBound(CollectiveBound):
    """The largest lower bound of a scatter, gather, gossip or exchange that the checker accepts.

    Cuts and distances need no proof.
    """

    def run(self, known: Bound, simple: Bound, upper: int) -> None:
        """Look for the best cut.

        Parameters
        ----------
        known : Bound
            What an algorithm that looks for few steps has shown.
        simple : Bound
            What distances and ends show: it counts where nothing else does.
        upper : int
            Steps of a schedule.
        """
        # The linear program of weighted cuts takes seconds. It is asked only while the other bounds
        # leave a gap.
        if known < upper and self.collective == "gossip" and self.ports == "one":
            found = weighted_cuts(self.topology)
            bound = Bound(-(-found[0] // found[1]) if found else 0, "cuts")
            if found and bound > known and self._take(bound, found[2]):
                return
        for bound, body in self._explained(known):
            if self._take(bound, body):
                return
        self.hold(int(simple), simple.by, {})
        # Ends and hops are counted without a certificate. Distance has one, so it is offered to the
        # checker as well.
        if simple.by == DISTANCE:
            self._take(simple, {"kind": DISTANCE})

    def _explained(self, known: Bound) -> Iterator[tuple[Bound, dict[str, Any]]]:
        """Bounds, the largest first, and the certificate's part about each, if it has one."""
        if known == 0:
            yield known, {}
        elif self.root is not None:
            yield from self._by_flow(self.root, known)
        else:
            yield from self._by_parts(known)

    def _by_flow(self, root: int, known: Bound) -> Iterator[tuple[Bound, dict[str, Any]]]:
        """Yield what a cut in time shows of a scatter or gather: as much as the flow."""
        # Max-flow min-cut: where a flow of `known` steps is the fastest, some cut shows that one
        # step less is too few.
        found = minimum_cut(self.topology, root, PortModel.named(self.ports), known - 1)
        if found is None:
            reason = f"{known - 1} steps are enough for the cut, and not for the flow."
            self.selfcheck.refuse(int(known), "cut", reason)
            return
        gates = {"senders": found.senders, "receivers": found.receivers}
        yield known, {"kind": "cut", "since": found.since, **gates}

    def _by_parts(self, known: Bound) -> Iterator[tuple[Bound, dict[str, Any]]]:
        """Yield what the items that enter parts show in a gossip or exchange."""
        cut = best_cut(self.topology, PortModel.named(self.ports), self.collective)
        # The cut here comes from a search of its own. It counts only if it shows as much as the
        # algorithm has claimed.
        if cut is not None and cut.steps >= known:
            sides = {"senders": cut.senders.tolist(), "receivers": cut.receivers.tolist()}
            body = {"kind": "cut", "parts": cut.parts.tolist(), **sides}
            yield Bound(cut.steps, "cut"), body
            if known.by == "cut":
                return  # the algorithm's bound is that cut's, which the checker refused
        yield known, {"kind": DISTANCE} if known.by == DISTANCE else {}

    def _take(self, bound: Bound, body: dict[str, Any]) -> bool:
        """Take a bound if the checker accepts its certificate, or it needs none."""
        document = self.claimed(int(bound), body["kind"], body) if body else {}
        if body and not self.holds(int(bound), body["kind"], document):
            return False
        self.hold(int(bound), bound.by, document)
        return True
