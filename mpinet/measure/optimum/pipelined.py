"""Certificates for pipelines: lower bounds on the steps of a collective with many items.

Each counting method is evaluated for the whole network. The best bound with an accepted certificate
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mpinet.machine.model import PortModel
from mpinet.measure.optimum.certified import CollectiveBound
from mpinet.measure.optimum.search import Search
from mpinet.measure.optimum.weights import weighted_cuts
from mpinet.programs.bounds import growth_bound
from mpinet.programs.cuts import best_cut
from mpinet.programs.kinds import OF_EACH
from mpinet.programs.passes import broadcast_timetable
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.bounds import (
    EXCHANGE,
    Pieces,
    flows_to_one,
    messages_of_item,
    most_messages,
    senders_of_most,
)
from mpinet.programs.pipelines.rates import (
    MOST_LOOKS,
    cut_over_time,
    fewest_steps,
    fewest_to_one,
    gossip_rate,
    looks_of_gossip,
    looks_of_ways,
)

MOST_ROOTS = 2**9
"""Largest number of processors of a network whose distances are all examined for a certificate."""


@dataclass
class PipelinedSearch(CollectiveBound):
    """State of a search for the fewest steps of a collective with many items."""

    items: int
    """Number of items."""
    lower_by: str | None = field(default="ends", kw_only=True)

    def run(self, upper: int, limit: float) -> None:
        """Search for the largest bound, if necessary with a solver for one item.

        Parameters
        ----------
        upper : int
            Steps of a schedule.
        limit : float
            Seconds for the solver.
        """
        self._arcs = Arcs.of(self.topology)
        # Counted bounds are cheap and often meet the schedule. The linear program and the solver
        # run only if these bounds leave a gap.
        self._take_largest(list(self._counted()))
        if self.lower < upper and self.ports == "one" and self.collective in OF_EACH:
            self._take_largest(list(self._weighted()))
        # On links, a reduction backwards satisfies a broadcast's formula. On busses one sender has
        # many receivers, and the reverse is false.
        tree_like = self.collective == "broadcast" or self.topology.links
        if self.lower < upper and self.root is not None and self.ports == "one" and tree_like:
            self._search_one_item(self.root, upper, limit)

    def _take_largest(self, counted: list[tuple[int, str, dict[str, Any]]]) -> None:
        """Store the largest bound accepted by the checker, and record all bounds."""
        # The largest bound goes first. When the checker accepts it, no other certificate needs to
        # be checked.
        for bound in sorted(counted, key=lambda bound: -bound[0]):
            steps, by, body = bound
            if steps > self.lower and not self._take(steps, by, body):
                counted.remove(bound)
        for steps, by, _ in counted:
            if steps > 0:
                self.bounds[by] = max(steps, self.bounds.get(by, 0))

    def _take(
        self, steps: int, by: str, body: dict[str, Any], proof: list[str] | None = None
    ) -> bool:
        """Store a larger bound if the checker accepts its certificate."""
        certificate = self.claimed(steps, body["kind"], body, items=self.items)
        # The lines of a solver's proof have already been checked.
        if proof is None and not self.holds(steps, by, certificate):
            return False
        self.hold(steps, by, certificate, proof)
        return True

    def _counted(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield lower bounds from counting, each with its kind and the body of its certificate."""
        if self.topology.hosts == 1:
            return
        yield from self._by_distance_and_growth()
        # Items of all processors are counted when they enter parts of the network. Items of one
        # root are counted when they leave it.
        if self.collective in (*OF_EACH, EXCHANGE):
            yield from self._by_parts()
        elif self.ports == "one":
            pieces = Pieces.of(self.topology, self.root)
            node = pieces.slowest(self.items)
            yield pieces.steps(self.items), "cut", {"kind": "cut", "node": node}
        else:
            yield from self._by_flows()
        if self.collective == "allreduce":
            room = most_messages(self.ports == "one", self._arcs)
            hops = -(-self.items * messages_of_item(self._arcs) // room)
            yield hops, "hops", {"kind": "hops"}

    def _weighted(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield the bound from weighted cuts; the linear program takes seconds."""
        if (found := weighted_cuts(self.topology)) is not None:
            yield -(-self.items * found[0] // found[1]), "cuts", found[2]

    def _by_distance_and_growth(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield bounds from the last item's distance, and from the growth of its recipients."""
        seen, hosts = self.network, self.topology.hosts
        # Without a root every processor is a source. The farthest pair gives the bound, at the cost
        # of a search from each node.
        roots = range(hosts) if self.root is None else [self.root]
        if len(roots) <= MOST_ROOTS:
            yield max(map(self._last_from, roots)), "distance", {"kind": "distance"}
        spreads = self.collective not in (*OF_EACH, EXCHANGE)
        spreads &= self.collective != "reduce" or seen.links
        if self.ports == "one" and spreads:
            fanout = 1 if seen.links else max(len(bus) for bus in seen.busses) - 1
            steps = self.items - 1 + growth_bound(hosts, fanout)
            yield steps, "growth", {"kind": "growth"}

    def _last_from(self, root: int) -> int:
        """Return the steps until the last item from a processor reaches the farthest processor."""
        away = max(self.network.distances(root)[: self.topology.hosts])
        # The last item leaves after all others: one per door and step.
        doors = 1 if self.ports == "one" else int(self._arcs.out_degrees[root])
        return -(-self.items // doors) - 1 + away

    def _by_parts(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield bounds from cuts, for an exchange, a gossip or a reduce-scatter."""
        # A reduce-scatter is a gossip backwards, so the gossip's cut holds for it step by step.
        kind = EXCHANGE if self.collective == EXCHANGE else "gossip"
        cut = best_cut(self.topology, PortModel.named(self.ports), kind)
        if cut is not None and cut.needed:
            sides = {"senders": cut.senders.tolist(), "receivers": cut.receivers.tolist()}
            steps = -(-self.items * cut.needed // cut.entering)
            yield steps, "cut", {"kind": "cut", "parts": cut.parts.tolist(), **sides}
        if kind == EXCHANGE:
            return
        if self.ports == "all" and looks_of_gossip(self._arcs) <= MOST_LOOKS:
            rate, inside = gossip_rate(self._arcs)
            steps = -(-self.items * rate.numerator // rate.denominator)
            # The rate's cut has an inside and an outside. The demand is into the outside, so the
            # inside belongs to no part.
            parts = [-1 if within else 0 for within in inside.tolist()]
            gates: dict[str, Any] = {"senders": [], "receivers": []}
            yield steps, "cut", {"kind": "cut", "parts": parts, **gates}
        if flows_to_one(self.ports == "one", self._arcs):
            steps, since = fewest_to_one(self._arcs, self.items)
            yield steps, "flow", {"kind": "cut", "since": since, "senders": [], "receivers": []}

    def _by_flows(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield bounds from flows over time from the root (allreduce: from some processors)."""
        roots = senders_of_most(self._arcs) if self.root is None else [self.root]
        for root in roots:
            if looks_of_ways(self._arcs, root) > MOST_LOOKS:
                continue
            steps = fewest_steps(self._arcs, root, self.items)
            # The flow over time needs at least `steps` steps. Its dual at one step less is the
            # certificate: a set that grows with time.
            since = cut_over_time(self._arcs, root, self.items, steps - 1)
            if since is not None:
                gates: dict[str, Any] = {"senders": [], "receivers": []}
                yield steps, "flow", {"kind": "cut", "since": since, **gates}

    def _search_one_item(self, root: int, upper: int, limit: float) -> None:
        """Search for a bound on the broadcast of the last item, after all others have left."""
        # With one port the last item starts after all others. From then on it is a broadcast of one
        # item, for which proofs exist.
        first = self.items - 1
        model = PortModel(1, 1)
        alone = broadcast_timetable(self.topology, root, model).last
        search = Search(
            self.topology, self.collective, root, "one", min(alone, upper - first), "passes", limit
        )
        search.run()
        self.limited = search.limited
        self.selfcheck.refused += [
            each | {"lower": first + each["lower"]} for each in search.selfcheck.refused
        ]
        steps = first + search.lower
        if steps > self.lower:
            # The evidence about one item also holds for the last item, with a different claim.
            body = {name: part for name, part in search.certificate.items() if name != "claim"}
            if not self._take(steps, body["kind"], body, search.proof):
                return
        for by in ("class-lp", "lrat"):
            if by in search.bounds:
                self.bounds[by] = first + search.bounds[by]
