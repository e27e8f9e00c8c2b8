"""Broadcasts and ASCEND on the lens: statements of docs/papers/lens, 7, run on the machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from mpinet.claims import BEYOND, Measured, points, section
from mpinet.machine import Machine
from mpinet.machine.busprotocol import PROTOCOLS
from mpinet.papers.detours import LONGEST, LOST, detours
from mpinet.papers.grids import numbers, of, up_to
from mpinet.papers.lens.grids import circles, lenses
from mpinet.papers.lens.measured import members
from mpinet.papers.lens.sweeps import RowSweep
from mpinet.papers.lens.words import dots
from mpinet.papers.measured import size_of
from mpinet.programs import ascend
from mpinet.programs.broadcast import broadcast
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic

SWEPT = circles(
    "completed lenses, p 2..6, from every processor",
    [
        *((2, n) for n in range(2, 9)),
        *((3, n) for n in range(2, 7)),
        *((4, 2), (4, 3), (5, 2), (5, 3), (6, 2), (6, 3)),
    ],
).quick(up_to(64))


def steps_from(topology: str, ports: str, algorithm: str) -> Measured:
    """Return the numbers of steps of broadcasts from all roots; -1 for an incomplete broadcast."""
    found: dict[int, int] = {}
    for root in range(size_of(topology)):
        result = broadcast(Machine(topology, ports), root, algorithm)
        # All roots are tried, because the equivalence of processors is itself a claim of the paper.
        steps = result.steps if result.informed == size_of(topology) else -1
        found.setdefault(steps, root)
    return Measured(sorted(found), {"root of each": [found[steps] for steps in sorted(found)]})


def sweep_steps(p: int, n: int) -> list[int]:
    """Return the sweep's steps: floor(3n/2), or ceil(n/2) for p = 2 (a ring)."""
    return [3 * n // 2 if p >= 3 else (n + 1) // 2]


claim_beyond = section(place=BEYOND)

SWEEP = claim_beyond(
    "LENS-X-broadcast-completed",
    statement="the completed lens's sweep takes floor(3n/2) steps, ceil(n/2) if p=2, where a "
    "processor accepts one message a step",
    claimed=of(sweep_steps),
    grid=SWEPT,
    cost=lambda topology: 100 * size_of(topology),
    measured=partial(steps_from, ports="one", algorithm="sweep"),
)

FLOODING = claim_beyond(
    "LENS-X-flood-completed",
    statement="flooding the completed lens takes floor(3n/2) steps, ceil(n/2) if p=2, where a "
    "processor accepts a message from each of its busses",
    claimed=of(sweep_steps),
    grid=SWEPT,
    cost=lambda topology: 100 * size_of(topology),
    measured=partial(steps_from, ports="all", algorithm="flooding"),
)


@claim_beyond(
    "LENS-X-broadcast-optimal",
    statement="no broadcast in the completed lens takes fewer than floor(3n/2) steps",
    claimed=of(lambda p, n: 3 * n // 2),
    grid=circles("completed lenses (3,2), (4,2), (5,2)", [(3, 2), (4, 2), (5, 2)]),
    cost=lambda topology: 1000 * size_of(topology),
)
def fewest_steps(topology: str) -> Measured:
    """Return the sweep's steps from the best root, unless a search finds fewer.

    The search tries all broadcasts of two steps from every root. In the first step the root sends
    on one of its busses. In the second step all processors of that bus send on one of their busses,
    and all processors on these busses receive.
    """
    on = {bus: frozenset(on) for bus, on in members(topology).items()}
    on_bus: dict[int, list[int]] = {}
    for bus, nodes in on.items():
        for node in nodes:
            on_bus.setdefault(node, []).append(bus)
    for root in range(size_of(topology)):
        for bus in on_bus[root]:
            if len(on[bus]) == size_of(topology):
                return Measured(1, {"root": root})
            for chosen in product(*(on_bus[node] for node in sorted(on[bus]))):
                known = on[bus].union(*(on[second] for second in chosen))
                if len(known) == size_of(topology):
                    return Measured(2, {"root": root, "busses": chosen})
    least = steps_from(topology, "all", "sweep")
    return Measured(least.value[0], least.where)


def lens_rows() -> Iterator[dict[str, object]]:
    """Yield eleven lenses, each with the rows of its roots."""
    listed = lenses(
        "",
        [
            *((3, 3, 1), (5, 2, 1), (3, 3, 2), (2, 3, 3), (3, 2, 3), (2, 2, 5)),
            *((3, 3, 3), (3, 4, 3), (4, 3, 3), (3, 6, 2), (4, 4, 3)),
        ],
    )
    for point in listed.points("full"):
        for k in range(1, numbers(point["topology"])[2] + 1):
            yield {**point, "k": k}


def lens_sweep_steps(topology: str, k: int) -> dict[str, int]:
    """Return (k-1) + [p>=3] + (n-1) + (n-1) ceil((q-1)/(p-1)) steps, and 0 processors left out."""
    p, q, n = numbers(topology)
    steps = (k - 1) + (1 if p >= 3 else 0) + (n - 1) + (n - 1) * -(-(q - 1) // (p - 1))
    return {"steps": steps, "left out": 0}


@claim_beyond(
    "LENS-X-broadcast-lens",
    statement="the uncompleted lens's sweep from row k informs all in at most (k-1) + [p>=3] + "
    "(n-1) + (n-1) ceil((q-1)/(p-1)) steps, where a processor accepts a message from each of its "
    "busses",
    relation="<=",
    claimed=lens_sweep_steps,
    grid=points("eleven lenses, from every processor of each row k", lambda: list(lens_rows())),
    cost=lambda topology, k: 100 * size_of(topology),
)
def lens_sweep(topology: str, k: int) -> Measured:
    """Return the most steps of the all-port machine, and the most processors left out."""
    steps = left_out = slowest = 0
    for root, row in enumerate(dots(topology)):
        if row != k:
            continue
        found = broadcast(Machine(topology, "all"), root, "sweep")
        left_out = max(left_out, size_of(topology) - found.informed)
        if found.steps > steps:
            steps, slowest = found.steps, root
    return Measured({"steps": steps, "left out": left_out}, {"root": slowest})


WRONG = "wrong values"
"""Value recorded instead of steps if the elements differ from the serial computation."""


def ascended(
    topology: str, algorithm: str, ports: str, kind: str = "ascend"
) -> ascend.AscendResult:
    """Run a Fourier transform by one of the emulator's schedules."""
    return ascend.run(Machine(topology, ports), "fft", kind, algorithm=algorithm)


def row_sweep(topology: str, kind: str, algorithm: str, ports: str) -> int | str:
    """Return the steps of a sweep through the rows, by the emulator if p-1 is a power of 2.

    For other p, `RowSweep` runs the sweep.
    """
    p, n = numbers(topology)
    if (p - 1) & (p - 2) == 0:
        result = ascended(topology, algorithm, ports, kind)
        return result.steps if result.correct else WRONG
    sweep = RowSweep(topology, ports, tuple(range(1, n + 1)) if algorithm == "instances" else (n,))
    steps = sweep.ascend() if kind == "ascend" else sweep.descend()
    order = range(n) if kind == "ascend" else range(n - 1, -1, -1)
    return steps if sweep.is_right(order) else WRONG


def row_points(*algorithms: str) -> list[dict[str, str]]:
    """Return points of completed lenses, instances, and the accepted messages per processor."""
    settings = ((3, 2), (3, 3), (4, 2), (3, 4), (5, 2), (4, 3), (5, 3))
    return [
        {"topology": f"clens:{p},{n}", "algorithm": algorithm, "ports": ports}
        for p, n in settings
        for algorithm in algorithms
        for ports in ("all", "one")
    ]


def row_steps(topology: str, ports: str, each: int) -> int:
    """Return a row sweep's steps: per level `each` with all ports, otherwise p-1."""
    p, n = numbers(topology)
    return each * n if ports == "all" else n * (p - 1)


ASCEND_ROWS = claim_beyond(
    "LENS-X-ascend-rows",
    statement="ASCEND on a row of the completed lens, or on all n rows at once, takes n steps, "
    "n(p-1) where a processor accepts one message a step",
    claimed=lambda topology, algorithm, ports: row_steps(topology, ports, 1),
    grid=points("p 3..5; one and n instances; ALL and ONE", row_points("rows", "instances")),
    measured=partial(row_sweep, kind="ascend"),
)

DESCEND_ROWS = claim_beyond(
    "LENS-X-descend-same-index",
    statement="DESCEND with the indices of ASCEND takes 2n steps, n(p-1) where a processor accepts "
    "one message a step",
    claimed=lambda topology, algorithm, ports: row_steps(topology, ports, 2),
    grid=points("p 3..5; ALL and ONE", row_points("rows")),
    measured=partial(row_sweep, kind="descend"),
)


def full_pass(topology: str, kind: str) -> dict[str, int | str]:
    """Return the results of running the emulator's schedule on all processors."""
    result = ascended(topology, "full", "all", kind)
    return {"steps": result.steps if result.correct else WRONG, "elements": result.elements}


FULL_PASSES = [
    claim_beyond(
        f"LENS-X-{kind}-full",
        statement=f"{kind.upper()} on all n 2^n processors of the completed lens with p=3 takes "
        f"{text} steps",
        claimed=of(lambda p, n, steps=steps: {"steps": steps(n), "elements": n * 2**n}),
        grid=circles("completed lens, p=3, n=2,4,8", [(3, 2), (3, 4), (3, 8)]),
        cost=size_of,
        measured=partial(full_pass, kind=kind),
    )
    for kind, text, steps in (
        ("ascend", "4n-2", lambda n: 4 * n - 2),
        ("descend", "6n-3", lambda n: 6 * n - 3),
    )
]

DETOURS = [
    claim_beyond(
        f"LENS-X-detour-{kind}",
        statement=f"with one dead {kind}, routing `detour` delivers every message between live "
        "processors of the completed lens, in at most 2n+2 hops more than without the fault",
        relation="<=",
        claimed=of(lambda p, n: {LOST: 0, LONGEST: 2 * n + 2}),
        grid=circles(f"every {kind}", [(3, 2), (4, 2), (5, 2), (3, 3), (3, 4)]).quick(up_to(24)),
        cost=lambda topology: size_of(topology) ** 2,
        measured=lambda topology, word=word: detours(
            topology, ({word: [each]} for each in range(size_of(topology)))
        ),
    )
    for kind, word in (("processor", "nodes"), ("bus", "busses"))
]


@claim_beyond(
    "LENS-X-arbitration",
    statement="for messages between all pairs, a round robin of each bus's members takes at most "
    "1.1 times the steps of the global order, a token 1.3 times, a backoff 6 times",
    relation="<=",
    claimed={"roundrobin": 1.1, "token": 1.3, "backoff": 6},
    grid=circles("completed lenses, p 3, 4", [(3, 2), (4, 2), (3, 3), (3, 4)]).quick(up_to(24)),
    cost=lambda topology: 100 * size_of(topology),
)
def arbitration(topology: str) -> dict[str, float]:
    """Return the steps of each protocol, over the steps of the global order."""

    def steps(protocol: str = "") -> int:
        machine = Machine(topology, "all")
        members = PROTOCOLS[protocol](machine, 0) if protocol else None
        pairs = traffic(machine.topology, "all")
        return route(machine, pairs, protocol=members).steps

    return {name: steps(name) / steps() for name in PROTOCOLS}


@claim_beyond(
    "LENS-X-ascend-uncompleted",
    statement="ASCEND from the first to the last row of the lens with p=q takes n steps, 2n-1 with "
    "the way home",
    claimed=of(lambda p, q, n: {"steps": n, "with the way home": 2 * n - 1}),
    grid=lenses(
        "lenses with p=q=3, n 1..6, p=q=5, n 1..3",
        [*((3, 3, n) for n in range(1, 7)), *((5, 5, n) for n in range(1, 4))],
    ),
)
def ascend_uncompleted(topology: str) -> dict[str, int] | str:
    """Return the machine's steps until the last dimension is done, and all its steps."""
    result = ascended(topology, "rows", "all")
    if not result.correct:
        return WRONG
    home = sum(steps for name, steps in result.phases if name == "home")
    return {"steps": result.steps - home, "with the way home": result.steps}
