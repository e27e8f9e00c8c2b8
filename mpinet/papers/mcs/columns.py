"""Butterfly and Benes network (sections 10.8 and 10.9), and the Reasoner-net (problem 10.7)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx

from mpinet.claims import Claim, Corrected, Measured, claim, over, section
from mpinet.papers.mcs.congestion import (
    congestion,
    constraints,
    least,
    looped,
    problems,
    unique_congestion,
    ways,
)
from mpinet.papers.mcs.measured import (
    diameter,
    largest_switch,
    lengths_differ,
    lg,
    network,
    sizes,
)

FROM_4 = over(N=[4, 8, 16, 32])


BUTTERFLY = (
    claim(
        "MCS-butterfly-switches",
        claimed=lambda N: N * (lg(N) + 1),
        grid=sizes(256),
        measured=lambda N: network("butterfly", N).switches,
    ),
    claim(
        "MCS-butterfly-columns",
        claimed=lambda N: (N,) * (lg(N) + 1),
        grid=sizes(256),
        measured=lambda N: tuple(map(len, network("butterfly", N).columns)),
    ),
    claim(
        "MCS-butterfly-diameter",
        claimed=lambda N: lg(N) + 2,
        grid=sizes(256),
        measured=lambda N: diameter("butterfly", N),
    ),
    claim(
        "MCS-butterfly-switch-size",
        claimed=(2, 2),
        grid=sizes(64),
        measured=lambda N: largest_switch("butterfly", N),
    ),
    claim(
        "MCS-butterfly-unique",
        relation="all",
        grid=sizes(64),
        measured=lambda N: all(len(walks) == 1 for walks in ways("butterfly", N).values()),
    ),
    claim(
        "MCS-butterfly-congestion",
        claimed=lambda N: 2 ** (lg(N) // 2),
        grid=sizes(64),
        measured=lambda N: unique_congestion("butterfly", N),
    ),
    claim(
        "MCS-butterfly-less-than-tree",
        relation="<",
        claimed=lambda N: unique_congestion("tree", N).value,
        grid=sizes(32),
        measured=lambda N: unique_congestion("butterfly", N),
    ),
    claim(
        "MCS-butterfly-fewer-switches",
        relation="<",
        claimed=lambda N: network("array", N).switches,
        grid=sizes(32),
        measured=lambda N: network("butterfly", N).switches,
        fails_where=("N = 2", lambda N: N == 2),
        corrected=Corrected("MCS-butterfly-fewer-switches-4", relation="<", grid=FROM_4),
    ),
    claim(
        "MCS-butterfly-shorter",
        relation="<",
        claimed=lambda N: diameter("array", N).value,
        grid=sizes(32),
        measured=lambda N: diameter("butterfly", N),
    ),
)


@claim(
    "MCS-butterfly-reach",
    claimed=lambda N: {f"column {i}": (2**i, N // 2**i) for i in range(lg(N) + 1)},
    grid=sizes(64),
)
def reach(N: int) -> dict[str, tuple[int, int] | str]:
    """Return how many inputs reach each switch, and how many outputs each switch reaches."""
    ends: dict[int, tuple[set[int], set[int]]] = {}
    for (start, end), (walk,) in ways("butterfly", N).items():
        for switch in walk:
            starts, targets = ends.setdefault(switch, (set(), set()))
            starts.add(start)
            targets.add(end)
    found: dict[str, tuple[int, int] | str] = {}
    for place, column in enumerate(network("butterfly", N).columns):
        kinds = {(len(ends[switch][0]), len(ends[switch][1])) for switch in column}
        found[f"column {place}"] = kinds.pop() if len(kinds) == 1 else "several"
    return found


claim_10_9_table = section(place="10.9, table")


BENES = (
    claim(
        "MCS-benes-switches",
        claimed=lambda N: 2 * N * lg(N),
        grid=sizes(256),
        measured=lambda N: network("benes", N).switches,
    ),
    claim(
        "MCS-benes-columns",
        claimed=lambda N: (N,) * (2 * lg(N)),
        grid=sizes(256),
        measured=lambda N: tuple(map(len, network("benes", N).columns)),
    ),
    claim_10_9_table(
        "MCS-benes-diameter",
        claimed=lambda N: 2 * lg(N) + 1,
        grid=sizes(256),
        measured=lambda N: diameter("benes", N),
    ),
    claim(
        "MCS-benes-lengths",
        relation="all",
        grid=sizes(16),
        measured=lambda N: not lengths_differ("benes", N),
    ),
    claim_10_9_table(
        "MCS-benes-switch-size",
        claimed=(2, 2),
        grid=sizes(64),
        measured=lambda N: largest_switch("benes", N),
    ),
    claim(
        "MCS-benes-base",
        claimed={"same": True, "congestion": 1},
        measured=lambda: {
            "same": network("benes", 2) == network("butterfly", 2),
            "congestion": congestion("benes", 2).value,
        },
    ),
    claim(
        "MCS-benes-congestion",
        claimed=1,
        grid=over(N=[2, 4, 8]),
        measured=lambda N: congestion("benes", N),
        note="All problems of 2 and 4 inputs, and 202 of 8, with all routings; larger ones are "
        "routed as the proof does.",
    ),
    claim(
        "MCS-benes-doubled-switches",
        claimed=lambda N: 2 * network("butterfly", N).switches,
        grid=sizes(64),
        measured=lambda N: network("benes", N).switches,
        reading="Doubled is read as a factor of 2.",
        corrected=Corrected(
            "MCS-benes-fewer-switches",
            claimed=lambda N: 2 * network("butterfly", N).switches - 2 * N,
        ),
    ),
    claim(
        "MCS-benes-doubled-diameter",
        claimed=lambda N: 2 * diameter("butterfly", N).value,
        grid=sizes(64),
        measured=lambda N: diameter("benes", N),
        reading="Doubled is read as a factor of 2.",
        corrected=Corrected(
            "MCS-benes-shorter", claimed=lambda N: 2 * diameter("butterfly", N).value - 3
        ),
    ),
    claim(
        "MCS-benes-example",
        claimed=1,
        measured=lambda: least(ways("benes", 8), (1, 5, 4, 7, 3, 6, 0, 2)),
    ),
    claim(
        "MCS-benes-problem",
        claimed=1,
        measured=lambda: least(ways("benes", 8), (3, 1, 6, 5, 2, 0, 7, 4)),
    ),
)


claim_theorem_10_9_1_proof = section(place="Theorem 10.9.1, proof", grid=sizes(64))


@claim_theorem_10_9_1_proof("MCS-benes-proof", claimed=1)
def routed(N: int) -> Measured:
    """Route all problems or a sample, and check that the paths follow the wires."""
    wires = set(network("benes", N).arcs)
    worst = Measured(0)
    for problem in problems(N):
        passed: Counter[int] = Counter()
        for walk in looped(N, problem):
            # The proof's paths are made by formula, so the test checks that they use wires of the
            # network.
            assert wires.issuperset(pairwise(walk))
            passed.update(walk)
        most = max(passed.values())
        if most > worst.value:
            worst = Measured(most, {"problem": problem})
    return worst


@claim_theorem_10_9_1_proof("MCS-benes-constraints", relation="all")
def two_colours(N: int) -> Measured:
    """Colour the graphs of all problems, or of a sample, with two colours."""
    for problem in problems(N):
        graph = constraints(problem)
        most = max(degree for _, degree in graph.degree)
        if most > 2 or not networkx.is_bipartite(graph):
            return Measured(False, {"problem": problem})
    return Measured(True)


REASONER = claim(
    "MCS-reasoner-short",
    relation=">",
    claimed=lambda N: congestion("reasoner", N).value,
    grid=over(N=[2, 4]),
    measured=lambda N: congestion("reasoner", N, short=True),
    fails_where=("N = 2", lambda N: N == 2),
    corrected=Corrected("MCS-reasoner-short-4", relation=">", grid=over(N=[4])),
)


def row(label: str, name: str, diameter_4: int, switches_4: int, congestion_4: int) -> Claim:
    """Return the claim of a row of the chapter's table, at N = 4."""
    return claim_10_9_table(
        f"MCS-table-{name}",
        statement=f"for N = 4 the {label} has this diameter, number of switches and congestion",
        claimed={"diameter": diameter_4, "switches": switches_4, "congestion": congestion_4},
        measured=lambda: {
            "diameter": diameter(name, 4).value,
            "switches": network(name, 4).switches,
            "congestion": congestion(name, 4).value,
        },
        note="The formulas of the table at N = 4, where all routings of all problems are tried.",
    )


TABLE = (
    row("complete binary tree", "tree", 6, 7, 4),
    row("2-D array", "array", 8, 16, 2),
    row("butterfly", "butterfly", 4, 12, 2),
    row("Benes network", "benes", 5, 16, 1),
)
