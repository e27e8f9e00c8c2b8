"""Certificates for scatter, gather, gossip and exchange: cuts, checked before they are returned."""

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
    """Search for the largest accepted lower bound of a scatter, gather, gossip or exchange.

    Cuts and distances need no proof file.
    """

    def run(self, known: Bound, simple: Bound, upper: int) -> None:
        """Store the largest lower bound that the checker accepts or that needs no certificate.

        Cuts are tried first, and `simple` last.

        Parameters
        ----------
        known : Bound
            Bound from the algorithm that searches for few steps.
        simple : Bound
            Bound from distances and ends, used if no other bound is accepted.
        upper : int
            Steps of a schedule.
        """
        # The linear program of weighted cuts takes seconds. It runs only while the other bounds
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
        # Ends and hops are counted without a certificate. Distance has a certificate and is
        # therefore offered to the checker as well.
        if simple.by == DISTANCE:
            self._take(simple, {"kind": DISTANCE})

    def _explained(self, known: Bound) -> Iterator[tuple[Bound, dict[str, Any]]]:
        """Yield bounds, the largest first, each with the body of its certificate, or empty."""
        if known == 0:
            yield known, {}
        elif self.root is not None:
            yield from self._by_flow(self.root, known)
        else:
            yield from self._by_parts(known)

    def _by_flow(self, root: int, known: Bound) -> Iterator[tuple[Bound, dict[str, Any]]]:
        """Yield the bound from a cut in time for a scatter or gather: the flow's bound."""
        # Max-flow min-cut: if the fastest flow takes `known` steps, some cut shows that one step
        # less is too few.
        found = minimum_cut(self.topology, root, PortModel.named(self.ports), known - 1)
        if found is None:
            reason = f"{known - 1} steps are enough for the cut, but not for the flow."
            self.selfcheck.refuse(int(known), "cut", reason)
            return
        gates = {"senders": found.senders, "receivers": found.receivers}
        yield known, {"kind": "cut", "since": found.since, **gates}

    def _by_parts(self, known: Bound) -> Iterator[tuple[Bound, dict[str, Any]]]:
        """Yield the bounds from items that must enter parts in a gossip or exchange."""
        cut = best_cut(self.topology, PortModel.named(self.ports), self.collective)
        # This cut comes from a separate search. It counts only if its bound is at least the
        # algorithm's.
        if cut is not None and cut.steps >= known:
            sides = {"senders": cut.senders.tolist(), "receivers": cut.receivers.tolist()}
            body = {"kind": "cut", "parts": cut.parts.tolist(), **sides}
            yield Bound(cut.steps, "cut"), body
            if known.by == "cut":
                return  # the checker has refused this cut, the source of `known`
        yield known, {"kind": DISTANCE} if known.by == DISTANCE else {}

    def _take(self, bound: Bound, body: dict[str, Any]) -> bool:
        """Store a bound if the checker accepts its certificate, or if it needs none."""
        document = self.claimed(int(bound), body["kind"], body) if body else {}
        if body and not self.holds(int(bound), body["kind"], document):
            return False
        self.hold(int(bound), bound.by, document)
        return True
