"""Result of ``mpinet load``: curves, their points, and the measurements of each point."""

from __future__ import annotations

from typing import Annotated, Any

from mpinet.commands.fields import Count, Fields, Positive, When
from mpinet.commands.timeoptions import StuckOperation


class LatencyOfKind(Fields):
    """Latencies of one kind of messages, in steps."""

    delivered: Count
    sum: Count
    mean: float | None
    max: Count | None
    p50: Count | None
    p95: Count | None
    p99: Count | None


MORE = When("of a mix of more than two patterns, as many as there are")
"""Condition for the fields of middle priorities."""


class LatencyByKind(Fields):
    """Latencies of each kind of message: by length, by priority, or requests and replies."""

    short: Annotated[LatencyOfKind, When("of two lengths")]
    long: Annotated[LatencyOfKind, When("of two lengths")]
    request: Annotated[LatencyOfKind, When("with ``--replies``")]
    reply: Annotated[LatencyOfKind, When("with ``--replies``")]
    round_trip: Annotated[LatencyOfKind, When("with ``--replies``")]
    urgent: Annotated[LatencyOfKind, When("with ``--priority``")]
    ordinary: Annotated[LatencyOfKind, When("with ``--priority``")]
    second: Annotated[LatencyOfKind, MORE]
    third: Annotated[LatencyOfKind, MORE]
    fourth: Annotated[LatencyOfKind, MORE]
    fifth: Annotated[LatencyOfKind, MORE]
    sixth: Annotated[LatencyOfKind, MORE]
    seventh: Annotated[LatencyOfKind, MORE]


class RateOfKind(Fields):
    """Flits of one kind of message in the window, as totals and per processor and step."""

    generated_flits: Count
    accepted_flits: Count
    offered: float
    throughput: float


class RatesByKind(Fields):
    """Rates of messages of each priority."""

    urgent: RateOfKind
    ordinary: RateOfKind
    second: Annotated[RateOfKind, MORE]
    third: Annotated[RateOfKind, MORE]
    fourth: Annotated[RateOfKind, MORE]
    fifth: Annotated[RateOfKind, MORE]
    sixth: Annotated[RateOfKind, MORE]
    seventh: Annotated[RateOfKind, MORE]


class ProgramPlayed(Fields):
    """End times of a program and its processors in steps, and operations without end."""

    time: Count
    ends: list[Count]
    unmatched: Count
    stuck: Count
    stuck_operations: list[StuckOperation]


class AccountOfLoad(Fields):
    """Fates of all messages of a run; each fate has its number of messages and of flits."""

    born: list[Count]
    delivered: list[Count]
    undeliverable: list[Count]
    cut: Annotated[list[Count], "by failed nodes and links"]
    withdrawn: list[Count]
    left: Annotated[list[Count], "in a deadlock"]


class IntervalOfLoad(Fields):
    """An interval of the window: its flits, and the resulting rates."""

    begin: Count
    steps: Positive
    generated_flits: Count
    accepted_flits: Count
    backlog: Count
    loads_sum: Count
    loads_max: Count
    offered: float
    throughput: float
    utilisation_max: float
    busiest: Annotated[list[Count], "node and port, empty if nothing moved"]
    loads: Annotated[list[Count] | None, "by node and port; null above 4,096 ports"]


class LoadPoint(Fields):
    """A run of open-loop traffic at one rate (docs/reference/traffic)."""

    rate: float
    steps: Count
    closed: Count
    generated: Count
    generated_flits: Count
    accepted: Count
    accepted_flits: Count
    delivered: Count
    undeliverable: Count
    unfinished: Count
    latency_sum: Count
    network_latency_sum: Count
    hops_sum: Count
    latency_max: Count | None
    latency_p50: Count | None
    latency_p95: Count | None
    latency_p99: Count | None
    loads_sum: Count
    loads_max: Count
    moves: Count
    backlog_before: Count
    backlog_after: Count
    source_queue_max: Count
    node_flits_max: Count
    stuck_flits: Count
    deadlock: bool
    last_move: int
    cycle: list[list[int]]
    cycle_messages: list[list[int]]
    batches: list[list[int]]
    seal: int
    offered: float
    throughput: float
    latency_mean: float | None
    latency_ci95: float | None
    network_latency_mean: float | None
    hops_mean: float | None
    utilisation_mean: float | None
    utilisation_max: float | None
    jain: float | None
    saturated: bool
    latency_by_kind: Annotated[
        LatencyByKind,
        When("with ``--replies`` or ``--priority``, or, not in the digest, of two lengths"),
    ]
    rates_by_kind: Annotated[RatesByKind, When("with ``--priority``")]
    energy: Annotated[float, When("with ``--energy``")]
    energy_per_bit: Annotated[float | None, When("with ``--energy``")]
    phase_steps: Annotated[list[Count], When("with ``--batch``")]
    program: Annotated[ProgramPlayed, When("with ``--program``")]
    cut: Annotated[Count, When("with ``--faults`` at steps")]
    account: Annotated[AccountOfLoad, When("with ``--faults`` at steps")]
    intervals: Annotated[list[IntervalOfLoad], When("with ``--intervals``")]
    warmup: Annotated[Count, When("with ``--warmup auto``")]
    warmup_found: Annotated[bool, When("with ``--warmup auto``")]
    window: Annotated[Positive, When("with ``--until``")]
    converged: Annotated[bool, When("with ``--until``")]


class SaturationSearch(Fields):
    """Highest stable and lowest saturated rate of a network, found by bisection."""

    stable: float | None
    saturated: float | None
    runs: Count


class BetweenSeeds(Fields):
    """Means over the seeds at one rate, and half the widths of their 95 % confidence intervals."""

    network: str
    routing: str
    pattern: str
    vcs: Annotated[Count, When("of several numbers of channels")]
    flits: Annotated[Any, When("of several lengths of messages")]
    buffers: Annotated[Count, When("of several sizes of buffers")]
    rate: float
    seeds: Positive
    saturated: Count
    throughput: float | None
    throughput_ci95: float | None
    latency: float | None
    latency_ci95: float | None


class LoadCurve(Fields):
    """Runs of one network, in increasing order of rates."""

    network: str
    routing: str
    classes: str
    vcs: Annotated[Count, "not in the digest, if given as one number"]
    bound: float | None
    better_routing: str | None
    saturation_point: float | None
    saturation_throughput: float | None
    points: list[LoadPoint]
    pattern: Annotated[str, When("of several patterns or seeds")]
    seed: Annotated[Count, When("of several patterns or seeds")]
    flits: Annotated[Any, When("of several lengths of messages")]
    buffers: Annotated[Count, When("of several sizes of buffers")]
    saturation: Annotated[SaturationSearch, When("with ``--saturation``")]
