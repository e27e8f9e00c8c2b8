"""Certificates for pipelines: why a collective of many items takes more than so many steps.

What each way of counting says is worked out here for the whole network; the best one counts whose
certificate the checker accepts.
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
"""Most processors of a network whose distances are all looked at for a certificate."""


@dataclass
class PipelinedSearch(CollectiveBound):
    """State of a search for the fewest steps of a collective of many items."""

    items: int
    """Number of items."""
    lower_by: str | None = field(default="ends", kw_only=True)

    def run(self, upper: int, limit: float) -> None:
        """Look for the largest bound, with a solver for one item where it takes that.

        Parameters
        ----------
        upper : int
            Steps of a schedule.
        limit : float
            Seconds that the solver has.
        """
        self._arcs = Arcs.of(self.topology)
        # Counted bounds are cheap and often meet the schedule. The linear program and the solver
        # run only on cases that these bounds leave open.
        self._take_largest(list(self._counted()))
        if self.lower < upper and self.ports == "one" and self.collective in OF_EACH:
            self._take_largest(list(self._weighted()))
        # A broadcast's formula serves a reduction backwards on links. On busses one sender has many
        # receivers, and the reverse is false.
        tree_like = self.collective == "broadcast" or self.topology.links
        if self.lower < upper and self.root is not None and self.ports == "one" and tree_like:
            self._search_one_item(self.root, upper, limit)

    def _take_largest(self, counted: list[tuple[int, str, dict[str, Any]]]) -> None:
        """Take the largest bound that the checker accepts, and note what each one says."""
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
        """Take a higher bound if the checker accepts its certificate."""
        certificate = self.claimed(steps, body["kind"], body, items=self.items)
        # The lines of a proof were followed when the solver gave them.
        if proof is None and not self.holds(steps, by, certificate):
            return False
        self.hold(steps, by, certificate, proof)
        return True

    def _counted(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Steps that nothing beats, what shows it, and the certificate's part about it."""
        if self.topology.hosts == 1:
            return
        yield from self._by_distance_and_growth()
        # Items of all processors are counted as they enter parts of the network. Items of one root
        # are counted as they leave it.
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
        """Yield what cuts with weights show: a linear program takes seconds to find them."""
        if (found := weighted_cuts(self.topology)) is not None:
            yield -(-self.items * found[0] // found[1]), "cuts", found[2]

    def _by_distance_and_growth(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """The last item's way, and how many can know it."""
        seen, hosts = self.network, self.topology.hosts
        # Without a root every processor is a source. The farthest pair of all gives the bound, at
        # the price of a search from each node.
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
        """Steps until the last item has come from a processor to the farthest one."""
        away = max(self.network.distances(root)[: self.topology.hosts])
        # The last item leaves after the others: through one door, one a step.
        doors = 1 if self.ports == "one" else int(self._arcs.out_degrees[root])
        return -(-self.items // doors) - 1 + away

    def _by_parts(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """The best cut of an exchange or a gossip, which backwards is a reduce-scatter."""
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
            # The rate's cut has an inside and an outside. What enters the outside is the demand, so
            # the inside belongs to no part.
            parts = [-1 if within else 0 for within in inside.tolist()]
            gates: dict[str, Any] = {"senders": [], "receivers": []}
            yield steps, "cut", {"kind": "cut", "parts": parts, **gates}
        if flows_to_one(self.ports == "one", self._arcs):
            steps, since = fewest_to_one(self._arcs, self.items)
            yield steps, "flow", {"kind": "cut", "since": since, "senders": [], "receivers": []}

    def _by_flows(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Flows over time from the root; of an allreduce, from some processors."""
        roots = senders_of_most(self._arcs) if self.root is None else [self.root]
        for root in roots:
            if looks_of_ways(self._arcs, root) > MOST_LOOKS:
                continue
            steps = fewest_steps(self._arcs, root, self.items)
            # The flow over time of `steps` is the fewest. Its dual at one step less is the
            # certificate: a set that grows with time.
            since = cut_over_time(self._arcs, root, self.items, steps - 1)
            if since is not None:
                gates: dict[str, Any] = {"senders": [], "receivers": []}
                yield steps, "flow", {"kind": "cut", "since": since, **gates}

    def _search_one_item(self, root: int, upper: int, limit: float) -> None:
        """The last item is broadcast from the root when all others have left it."""
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
            # What is shown of one item is shown of the last one, with another claim.
            body = {name: part for name, part in search.certificate.items() if name != "claim"}
            if not self._take(steps, body["kind"], body, search.proof):
                return
        for by in ("class-lp", "lrat"):
            if by in search.bounds:
                self.bounds[by] = first + search.bounds[by]
