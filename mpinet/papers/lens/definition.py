"""The lens and its completion (section 3 and Figure 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from random import Random
from typing import Any

from mpinet import measure
from mpinet.claims import Measured, claim, section
from mpinet.measure.libraries import library
from mpinet.papers.grids import numbers, of, pairs_of
from mpinet.papers.lens.grids import C, U, circles, family, lenses
from mpinet.papers.lens.measured import (
    busses,
    busses_of_processors,
    incidence_degrees,
    incidences,
    members,
    processors_of_busses,
)
from mpinet.papers.lens.words import addresses
from mpinet.papers.measured import informed

claim_3 = section(place="3", grid=U)

LEVEL_ONE = claim_3(
    "LENS-S3-level1",
    claimed=of(
        lambda p, q, n: {
            "processors": p - 1,
            "busses": q - 1,
            "processors of a bus": {p - 1: q - 1},
        }
    ),
    grid=family(
        "lens", ((p, q, 1) for p in range(2, 6) for q in range(2, 6)), "lens, p,q 2..5, n=1"
    ),
    measured=lambda topology: {
        "processors": informed(topology),
        "busses": busses(topology),
        "processors of a bus": processors_of_busses(topology),
    },
)


def constructed(p: int, q: int, n: int) -> Counter[frozenset[str]]:
    """Return the busses of the paper's recursive construction, as sets of processor addresses."""
    # Section 3's recursion on addresses as text, without the emulator's numbering.
    outermost = [f"{b}." for b in range(p - 1)]
    joined = [list(outermost) for _ in range(q - 1)]
    for _ in range(n - 1):
        copies = [[f"{u}{i}" for u in on] for i in range(q - 1) for on in joined]
        added: list[str] = []
        for u in outermost:
            new = [f"{u[:-1]}{b}." for b in range(p - 1)]
            copies += [[f"{u}{a}", *new] for a in range(q - 1)]
            added += new
        joined, outermost = copies, added
    return Counter(frozenset(on) for on in joined)


@claim_3(
    "LENS-S3-address-recursion",
    claimed=of(
        lambda p, q, n: {
            "busses": sum(constructed(p, q, n).values()),
            "with the same members": sum(constructed(p, q, n).values()),
        }
    ),
    cost=pairs_of,
)
def by_addresses(topology: str) -> Measured:
    """Return the emulator's number of busses, and how many of them the construction has."""
    names = addresses(topology)
    own = Counter(frozenset(names[u] for u in on) for on in members(topology).values())
    same = own & constructed(*numbers(topology))
    others = own - same
    where = {"a bus of other members": sorted(next(iter(others)))} if others else {}
    values = {"busses": own.total(), "with the same members": same.total()}
    return Measured(values, where)


PROCESSORS = claim_3(
    "LENS-S3-N-general",
    claimed=of(lambda p, q, n: sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(1, n + 1))),
    measured=informed,
)

ALL_BUSSES = claim_3(
    "LENS-S3-M-general",
    claimed=of(lambda p, q, n: sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(n))),
    measured=busses,
)


@claim_3(
    "LENS-S3-deficient",
    claimed=of(
        lambda p, q, n: {
            "processors": (p - 1) ** n,
            "busses": (q - 1) ** n,
            "as many": (p - 1) ** n == (q - 1) ** n if p == q else "not said",
        }
    ),
)
def deficient(topology: str) -> dict[str, object]:
    """Return the processors on q-1 busses, and the busses with p-1 processors."""
    p, q, _ = numbers(topology)
    short = busses_of_processors(topology).get(q - 1, 0)
    empty = processors_of_busses(topology).get(p - 1, 0)
    return {
        "processors": short,
        "busses": empty,
        "as many": short == empty if p == q else "not said",
    }


claim_3_8 = section(place="3, 8", grid=C)

PROCESSORS_OF_CIRCLE = claim_3_8(
    "LENS-S3-N-equal-pq", claimed=of(lambda p, n: n * (p - 1) ** n), measured=informed
)

BUSSES_LESS_PROCESSORS = claim_3(
    "LENS-S3-bus-per-processor",
    claimed=0,
    grid=C,
    measured=lambda topology: busses(topology) - informed(topology),
)

COMPLETED_DEGREES = claim_3_8(
    "LENS-S3-completed-degrees",
    claimed=of(lambda p, n: {"busses of a processor": [p], "processors of a bus": [p]}),
    measured=incidence_degrees,
)


@claim_3(
    "LENS-S3-any-bus", relation="iso", grid=circles("completed lens", [(3, 2), (3, 3), (4, 2)])
)
def any_completion(topology: str) -> Measured:
    """Return whether completions that choose the busses at random are isomorphic to the lens."""
    p, n = numbers(topology)
    before = f"lens:{p},{p},{n}"
    node = {address: number for number, address in enumerate(addresses(before))}
    on = members(before)
    for seed in range(3):
        draw, edges = Random(seed), incidences(before).tolist()
        for w in ("".join(word) for word in product("0123"[: p - 1], repeat=n - 1)):
            open_busses = [b for b in on if node[f"0.{w}"] in on[b] and len(on[b]) < p]
            draw.shuffle(open_busses)
            edges += [(node[f"{a}{w}."], b) for a, b in enumerate(open_busses)]
        if not measure.isomorphic(incidence_graph(edges), incidence_graph(incidences(topology))):
            return Measured(False, {"seed": seed})
    return Measured(True)


def incidence_graph(rows: Iterable[Sequence[int]]) -> Any:
    """Return the graph of processors and busses; a leaf at each bus tells busses apart."""
    found = library("networkx").Graph()
    for processor, bus in rows:
        found.add_edge(f"p{processor}", f"b{bus}")
        found.add_edge(f"b{bus}", f"leaf {bus}")
    return found


FIGURE_SIZES = claim(
    "LENS-F1-sizes",
    claimed=of(lambda p, q, n: {1: (2, 2), 2: (8, 8), 3: (24, 24)}[n]),
    grid=lenses("lens, p=q=3, n 1..3", [(3, 3, 1), (3, 3, 2), (3, 3, 3)]),
    measured=lambda topology: (informed(topology), busses(topology)),
)


@claim(
    "LENS-F1-completion-edges",
    claimed={"added": 8, "removed": 0},
    grid=circles("completed lens (3,3)", [(3, 3)]),
)
def completion(topology: str) -> dict[str, int]:
    """Return the numbers of incidences that the completion adds and removes."""
    p, n = numbers(topology)
    completed = set(map(tuple, incidences(topology).tolist()))
    before = set(map(tuple, incidences(f"lens:{p},{p},{n}").tolist()))
    return {"added": len(completed - before), "removed": len(before - completed)}
