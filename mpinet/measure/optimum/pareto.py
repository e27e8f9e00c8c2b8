"""Pareto-optimal schedules: few steps, few rounds per chunk, and the corresponding lower bounds.

Steps cost latency, rounds per chunk cost bandwidth (Cai et al. 2021, SCCL). For every number of
steps the numbers of chunks are tried in ascending order of their ratio, until a schedule is found.
Reductions are the spreading collectives backwards. An allreduce is a reduce-scatter followed by an
allgather.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mpinet.base.arrays import Table
from mpinet.base.deadline import deadline
from mpinet.certify.network import Network
from mpinet.certify.prices import pairs_of
from mpinet.measure.optimum.rounds import RoundsBound
from mpinet.measure.optimum.roundsearch import WantedChunks, schedule_of
from mpinet.networks.topology import Topology
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.bounds import messages_of_item, most_messages
from mpinet.programs.pipelines.rates import MOST_LOOKS, gossip_rate, looks_of_gossip
from mpinet.programs.schedules.timetable import Timetable

BEYOND = 6
"""Default number of steps beyond the fewest in a search."""

BACKWARDS = {"reduce": "broadcast", "reducescatter": "gossip", "gather": "scatter"}
"""Collectives by their reverse."""


@dataclass(frozen=True)
class FrontierProblem:
    """Problem whose Pareto-optimal schedules are searched."""

    topology: Topology
    """A network of links."""
    collective: str
    """Name of the collective."""
    root: int | None
    """Root of the collective; None if it has no root."""
    chunks: int
    """Largest number of chunks."""
    steps: int | None
    """Largest number of steps; None: `BEYOND` more than the fewest."""
    slack: int | None
    """Largest number of rounds beyond one per step; None: any number."""
    limit: float
    """Seconds of the search for each schedule, and of the bound for each number of steps."""
    note: Callable[[str], None] = lambda schedule: None
    """Function called before each search with a description of the schedule's steps, rounds and
    chunks.
    """


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """A Pareto-optimal schedule."""

    chunks: int
    """Number of chunks per unit. A unit is the data of the root, of each processor or for each
    pair, or the data to combine.
    """
    steps: int
    """Number of steps of the schedule."""
    rounds: int
    """Total number of rounds of the schedule."""
    dealt: tuple[int, ...]
    """Number of rounds of each step."""
    table: Timetable
    """The schedule, with one machine step per round."""
    least: Fraction
    """Lower bound on the rounds per chunk of schedules with at most this number of steps."""
    by: str
    """Proof of `least`: ``prices``, ``hops`` or ``ends``."""
    proved: bool
    """True if no schedule within the limits of the search has as few steps and fewer rounds per
    chunk.
    """
    limited: bool
    """True if a solver reached its time limit."""
    certificate: dict[str, object]
    """Certificate that this number of chunks and steps needs at least `rounds` rounds; empty
    without prices.
    """


def frontier(asked: FrontierProblem) -> Iterator[FrontierPoint]:
    """Yield the points in ascending order of steps, with fewer and fewer rounds per chunk."""
    if asked.collective == "allreduce":
        yield from _there_and_back(asked)
        return
    spreads = BACKWARDS.get(asked.collective, asked.collective)
    forwards = replace(asked, collective=spreads)
    bound = RoundsBound(asked.topology, spreads, asked.root)
    fewest, ever, by = limits(forwards)
    best: Fraction | None = None
    most = fewest + BEYOND if asked.steps is None else asked.steps
    for steps in range(fewest, most + 1):
        if not deadline().left:
            return
        point = _best(forwards, bound, steps, (ever, by), best)
        if point is None:
            continue
        best = Fraction(point.rounds, point.chunks)
        yield point if spreads == asked.collective else turned_round(point, asked.collective)
        # No number of steps allows fewer rounds per chunk. More steps can only be dominated, so the
        # frontier ends here.
        if best <= ever:
            return


def limits(asked: FrontierProblem) -> tuple[int, Fraction, str]:
    """Return the fewest steps, a lower bound on rounds per chunk for any steps, and its proof.

    The fewest steps are the distance of the farthest pair.
    """
    network = Network.of(asked.topology)
    spreads = BACKWARDS.get(asked.collective, asked.collective)
    pairs = pairs_of(network.hosts, spreads, asked.root)
    away = {source: network.distances(source) for source in {source for _, source, _ in pairs}}
    fewest = max((away[source][target] for _, source, target in pairs), default=0)
    return fewest, *_per_chunk(asked.topology, spreads, pairs)


def _per_chunk(
    topology: Topology, collective: str, pairs: list[tuple[int, int, int]]
) -> tuple[Fraction, str]:
    arcs = Arcs.of(topology)
    if collective == "allreduce":
        return Fraction(messages_of_item(arcs), most_messages(False, arcs)), "hops"
    if collective == "gossip" and looks_of_gossip(arcs) <= MOST_LOOKS:
        return gossip_rate(arcs)[0], "cut"
    comes = np.bincount([to for _, to in {(g, to) for g, _, to in pairs}], minlength=arcs.size)
    goes = np.bincount([at for _, at in {(g, at) for g, at, _ in pairs}], minlength=arcs.size)
    return max(
        Fraction(int(number), int(links))
        for numbers, degrees in ((comes, arcs.in_degrees), (goes, arcs.out_degrees))
        for number, links in zip(numbers, degrees, strict=True)
        if number
    ), "ends"


def _best(
    asked: FrontierProblem,
    bound: RoundsBound,
    steps: int,
    ever: tuple[Fraction, str],
    below: Fraction | None,
) -> FrontierPoint | None:
    """Return a schedule with `steps` steps, the fewest rounds per chunk, then the fewest chunks.

    Its rounds per chunk must be below `below`, the best value with fewer steps, if there is one.
    """
    asked.note(f"bound of {steps} steps")
    priced = bound.per_chunk(steps, asked.limit)
    least, by = max((priced, "prices"), ever, key=lambda each: each[0])
    sizes = []
    for chunks in range(1, asked.chunks + 1):
        rounds = max(steps, -(-chunks * least.numerator // least.denominator))
        few = below is None or Fraction(rounds, chunks) < below
        if few and (asked.slack is None or rounds <= steps + asked.slack):
            sizes.append((Fraction(rounds, chunks), chunks, rounds))
    open_below, limited = False, False
    for _, chunks, rounds in sorted(sizes):
        if not deadline().left:
            return None
        asked.note(f"{chunks} chunks in {steps} steps of {rounds} rounds")
        wanted = WantedChunks.of(asked.topology.hosts, asked.collective, asked.root, chunks)
        found = schedule_of(asked.topology, wanted, steps, rounds, asked.limit)
        if found is None:
            # A point is proved only if every better ratio was refuted. One open question below it
            # invalidates the proof, but not the schedule.
            open_below = limited = True
            continue
        rows, dealt = found
        certificate = {}
        if chunks * priced > rounds - 1:
            certificate = bound.certificate_of(steps, chunks, rounds)
            if not bound.holds(rounds, "prices", certificate):
                certificate = {}
        table = _table(asked, rows, chunks)
        proved = not open_below
        return FrontierPoint(
            chunks, steps, rounds, dealt, table, least, by, proved, limited, certificate
        )
    return None


def _table(asked: FrontierProblem, rows: Table, chunks: int) -> Timetable:
    step, sender, receiver, chunk = (np.ascontiguousarray(column) for column in rows.T)
    hosts = asked.topology.hosts
    return Timetable(
        asked.collective, hosts, step, sender, receiver, chunk, chunks, asked.root, ports="all"
    )


def turned_round(point: FrontierPoint, collective: str) -> FrontierPoint:
    """Return a schedule backwards: receives become sends, and copies become sums."""
    backwards = point.table.backwards(collective, point.rounds)
    claimed = {"collective": collective}
    certificate = dict(point.certificate)
    if certificate:
        certificate["claim"] = {**certificate["claim"], **claimed}  # type: ignore[dict-item]
    return replace(point, dealt=point.dealt[::-1], table=backwards, certificate=certificate)


def _there_and_back(asked: FrontierProblem) -> Iterator[FrontierPoint]:
    """Yield allreduces: a reduce-scatter, followed by its own reverse as allgather."""
    _, ever, by = limits(asked)
    hosts = asked.topology.hosts
    steps = None if asked.steps is None else asked.steps // 2
    half = replace(asked, collective="gossip", steps=steps)
    # Any allreduce in two halves reduces first. Its allgather is the same schedule backwards, so
    # one search serves both halves.
    for point in frontier(half):
        forth, back = point.table, turned_round(point, "reducescatter").table
        assert back.add is not None
        sender, receiver, chunk = (
            np.concatenate([getattr(back, name), getattr(forth, name)])
            for name in ("sender", "receiver", "chunk")
        )
        table = Timetable(
            "allreduce",
            hosts,
            np.concatenate([back.step, forth.step + point.rounds]),
            sender,
            receiver,
            chunk,
            chunks=point.chunks * hosts,
            add=np.concatenate([back.add, np.zeros(len(forth), bool)]),
            ports="all",
        )
        chunks, rounds = point.chunks * hosts, 2 * point.rounds
        proved = Fraction(rounds, chunks) == ever
        dealt = point.dealt[::-1] + point.dealt
        yield replace(
            point, chunks=chunks, steps=2 * point.steps, rounds=rounds, dealt=dealt, table=table,
            least=ever, by=by, proved=proved, certificate={},
        )  # fmt: skip
