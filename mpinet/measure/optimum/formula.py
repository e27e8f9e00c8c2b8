"""The formula that has a solution if and only if a one-port broadcast in T steps exists.

Variables: I(v, t), node v has the item after step t; X(a, t), arc a is used in step t. Constants
are folded: true clauses are dropped, false literals left out. docs/reference/bounds.md lists the
clauses.
"""

from __future__ import annotations

from itertools import combinations

from mpinet.measure.optimum.arcs import BroadcastArcs
from mpinet.measure.optimum.clausebook import ClauseBook, Literal


class Formula(ClauseBook):
    """The formula "a one-port broadcast takes T steps" of a network.

    Parameters
    ----------
    arcs : BroadcastArcs
        The network and the root.
    steps : int
        The number of steps T.
    """

    def __init__(self, arcs: BroadcastArcs, steps: int):
        super().__init__()
        self.arcs, self.steps = arcs, steps
        self._informed = self._number_informed()
        self._used = self._number_used()
        self._spread()
        self._send()
        if arcs.links:
            self._be_told_once()

    def _number_informed(self) -> list[list[Literal]]:
        """Return I(v, t), indexed by t, then v; t = 0 is before the first step."""
        arcs = self.arcs
        table: list[list[Literal]] = [[node == arcs.root for node in range(arcs.size)]]
        for step in range(1, self.steps + 1):
            row: list[Literal] = []
            for node, distance in enumerate(arcs.distance):
                if node == arcs.root:
                    row.append(True)
                elif step < distance:
                    row.append(False)
                # The goal is a constant, not a clause: unit propagation then works backwards from
                # the last step at once.
                elif step == self.steps and node < arcs.hosts:
                    row.append(True)
                else:
                    row.append(self.new())
            table.append(row)
        return table

    def _number_used(self) -> list[list[int]]:
        """Return X(a, t), indexed by t, then a; 0 for useless arcs."""
        arcs = self.arcs
        table: list[list[int]] = [[]]
        for step in range(1, self.steps + 1):
            row = []
            for sender, receivers in zip(arcs.senders, arcs.receivers, strict=True):
                # A send before its receiver's distance, or to the root, is superfluous. Without
                # such variables the solver has less to exclude.
                new = any(v != arcs.root and arcs.distance[v] <= step for v in receivers)
                row.append(self.new() if arcs.distance[sender] < step and new else 0)
            table.append(row)
        return table

    def _spread(self) -> None:
        """Add clauses: a node has the item if and only if it had or now receives the item."""
        for step in range(1, self.steps + 1):
            now, before, used = self._informed[step], self._informed[step - 1], self._used[step]
            for node, arcs in enumerate(self.arcs.by_receiver):
                received = [used[arc] for arc in arcs if used[arc]]
                self.add(self.negated(now[node]), before[node], *received)
                self.add(self.negated(before[node]), now[node])

    def _send(self) -> None:
        """Add clauses: a sender has the item, and sends at most once per step."""
        for step in range(1, self.steps + 1):
            before, used = self._informed[step - 1], self._used[step]
            for sender, arcs in enumerate(self.arcs.by_sender):
                mine = [used[arc] for arc in arcs if used[arc]]
                for used_arc in mine:
                    self.add(-used_arc, before[sender])
                # One port: pairwise exclusions. Degrees are small, and pairs propagate faster than
                # a counter.
                for used_arc, other in combinations(mine, 2):
                    self.add(-used_arc, -other)

    def _be_told_once(self) -> None:
        """Add clauses: a node with the item does not receive the item again."""
        for step in range(1, self.steps + 1):
            before, used = self._informed[step - 1], self._used[step]
            for node, arcs in enumerate(self.arcs.by_receiver):
                for arc in arcs:
                    if used[arc]:
                        self.add(-used[arc], self.negated(before[node]))

    def rows(self, true: set[int]) -> list[tuple[int, int, int, int]]:
        """Return a solution as rows (step, sender, receiver, bus), without superfluous sends.

        Parameters
        ----------
        true : set of int
            The true variables.
        """
        arcs, informed = self.arcs, {self.arcs.root}
        rows = []
        for step in range(1, self.steps + 1):
            fresh: set[int] = set()
            for arc, used in enumerate(self._used[step]):
                sender = arcs.senders[arc]
                if used not in true or sender not in informed:
                    continue
                # A solver may set arcs that inform no new node. Such sends would count as messages
                # and are removed from the schedule.
                receivers = sorted(set(arcs.receivers[arc]) - informed - fresh)
                rows += [(step, sender, node, arcs.busses[arc]) for node in receivers]
                fresh.update(receivers)
            informed |= fresh
        return rows
