"""The formula that has a solution if and only if some bisection cuts at most k channels.

Variables: S(v), node v is inside; P(e), channel e is cut; B(i, j), of the first i processors at
least j are inside; Q(i, j), of the first i channels at least j are cut. Nodes are counted in an
order with a narrow front. A channel is counted at its last member. The clauses learned by a solver
then correspond to a table over the front. docs/reference/bounds.md lists the clauses.
"""

from __future__ import annotations

from itertools import pairwise

from mpinet.measure.cutsearch import CutHypergraph
from mpinet.measure.optimum.clausebook import ClauseBook, Literal


class HalfFormula(ClauseBook):
    """The formula "a bisection cuts at most k channels" of a network.

    Parameters
    ----------
    cuts : CutHypergraph
        The network.
    order : list of int
        All nodes; the first node is outside.
    most : int
        Largest number k of cut channels.
    """

    def __init__(self, cuts: CutHypergraph, order: list[int], most: int):
        super().__init__()
        self.inside = {node: self.new() for node in order}
        # A cut and its mirror image are the same cut. This clause halves the search.
        self.add(-self.inside[order[0]])
        parted = [self._parted(members) for members in self._channels(cuts, order)]
        hosts = [self.inside[node] for node in order if node < cuts.hosts]
        self._count(hosts, len(hosts) // 2, (len(hosts) + 1) // 2)
        self._count(parted, None, most)

    @staticmethod
    def _channels(cuts: CutHypergraph, order: list[int]) -> list[list[int]]:
        """Return the channels' members in the order of the nodes, sorted by last member."""
        place = {node: number for number, node in enumerate(order)}
        found = [
            [order[at] for at in sorted(place[node] for node in members.tolist())]
            for members in cuts.by_channel()
            if len(members) > 1
        ]
        return sorted(found, key=lambda members: [place[node] for node in members[::-1]])

    def _parted(self, members: list[int]) -> int:
        """Return a new variable that is true if some members are inside and some are outside."""
        parted = self.new()
        # A bus is cut exactly if some two consecutive members are separated. A bus of m members
        # then needs 2m clauses instead of m*m.
        for before, after in pairwise(members):
            u, v = self.inside[before], self.inside[after]
            self.add(parted, u, -v)
            self.add(parted, -u, v)
        return parted

    def _count(self, counted: list[int], fewest: int | None, most: int) -> None:
        """Add clauses: at least `fewest` and at most `most` of the counted variables are true."""
        row: list[Literal] = [True]
        for left, variable in zip(range(len(counted) - 1, -1, -1), counted, strict=True):
            # With few variables left, the count must already be near its goal. These constants show
            # the solver a dead end early.
            surely = 0 if fewest is None else max(0, fewest - left)
            following: list[Literal] = [True]
            for amount in range(1, min(len(counted) - left, most + 1) + 1):
                if amount <= surely:
                    following.append(True)
                else:
                    following.append(False if amount > most else self.new())
            for amount, now in enumerate(following[1:], start=1):
                as_before = row[amount] if amount < len(row) else False
                self.add(self.negated(as_before), now)
                self.add(self.negated(row[amount - 1]), -variable, now)
                # A lower limit needs both directions of the counter. For an upper limit alone one
                # direction is enough, with half of the clauses.
                if fewest is not None:
                    self.add(as_before, variable, self.negated(now))
                    self.add(row[amount - 1], self.negated(now))
            row = following

    def side(self, true: set[int]) -> list[int]:
        """Return the nodes inside in a solution."""
        return sorted(node for node, variable in self.inside.items() if variable in true)
