"""Parameters of a run of open-loop traffic: buffers, generated messages, measured window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.numerals import quoted
from mpinet.compiled import Rule
from mpinet.errors import UsageError
from mpinet.machine.timed.layout import SEND
from mpinet.machine.timed.program import Program
from mpinet.machine.traffic import layout
from mpinet.networks.topology import Topology

SHORT_INTEGERS = 2**31 - 1

IN_ROUNDS = ("inputfirst", "outputfirst", "islip")
"""Policies with two phases."""

TENTHS = 10
"""Number of parts of the window whose means give the confidence interval."""


MOST_PHASES = 10_000

MOST_INTERVALS = 10_000
"""Largest number of intervals of a window; later intervals of a longer window are ignored."""

KINDS = {
    "lengths": ("short", "long"),
    "replies": ("request", "reply", "round_trip"),
}
"""Names of the kinds of messages with separate latencies, in the order of their rows."""

PRIORITIES = ("urgent", "second", "third", "fourth", "fifth", "sixth", "seventh", "ordinary")
"""Names of the priorities, for the largest number of priorities; the last one always exists."""


def _require_within(name: str, value: int, least: int, most: int) -> None:
    """Raise `UsageError` unless a number is within its limits."""
    if not least <= value <= most:
        raise UsageError(f"{name} is a whole number {least}..{most}, not {value}.")


def cables(topology: Topology, places: Ints, nodes: Ints, ports: Ints) -> Ints:
    """Return the lengths of the links behind ports, along the axes, at least 1; 1 if unwired."""
    there = np.atleast_1d(topology.neighbor(nodes, ports))
    ends = np.where(there < 0, nodes, there)
    lengths: Ints = np.abs(places[nodes] - places[ends]).sum(axis=-1)
    return np.maximum(1, lengths)


@dataclass(frozen=True)
class Buffering:
    """Buffers and switches of links and nodes."""

    switching: str = "wormhole"
    """``"wormhole"``, ``"vct"`` (virtual cut-through) or ``"saf"`` (store and forward)."""
    vcs: int = 2
    """Number of virtual channels per link."""
    buffers: int = 4
    """Buffer size of a virtual channel in flits; 0: unlimited queues."""
    policy: str = "rotating"
    """Arbitration at an output: ``"rotating"``, ``"oldest"`` or ``"fifo"``."""
    crossbar: str | int = "one"
    """Flits that leave an input port per step: ``"one"``, a number, or ``"all"``: one per lane."""
    eject: str = "one"
    """Flits that a processor takes per step: ``"one"`` or ``"all"``."""
    link_delay: int | Sequence[int] = 1
    """Steps of a flit, or a credit, over a link. Several numbers are for classes 0, 1, .. of links
    (`Topology.link_class`); the last number is for all further classes.
    """
    router_delay: int = 0
    """Steps of a flit in a router before it reaches the end of its lane."""
    queue: int = 0
    """Capacity of the queue of each output, in flits; 0: no queue."""
    at_once: int = 0
    """Flits that an output with a queue takes per step; 0: as many as there is room for."""
    iterations: int = 1
    """Rounds of grants in a step, with policies of two phases."""
    places: Ints | None = field(default=None, compare=False)
    """Coordinates of all nodes. A flit takes a step per unit of the distance along the axes between
    the ends of a link, at least one. `link_delay` is then the largest delay. Shape (nodes, d).
    """

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("switching", self.switching, layout.SWITCHINGS),
            ("policy", self.policy, layout.POLICIES),
            ("eject", self.eject, ("one", "all")),
        ):
            if value not in allowed:
                raise UsageError(f"There is no {name} {value!r}: give one of {', '.join(allowed)}.")
        if not self._link_delays:
            raise UsageError(
                "--link-delay: give a number of steps, or one number per class of links."
            )
        if isinstance(self.crossbar, str) and self.crossbar not in ("one", "all"):
            raise UsageError(f"--crossbar {quoted(self.crossbar)}: give one, all or a number.")
        for name, count, least in (
            ("vcs", self.vcs, 1),
            ("buffers", self.buffers, 0),
            *(("link-delay", delay, 1) for delay in self._link_delays),
            ("router-delay", self.router_delay, 0),
            ("output-queue", self.queue, 0),
            ("output-queue", self.at_once, 0),
            ("iterations", self.iterations, 1),
            ("crossbar", self.inputs, 1),
        ):
            _require_within(name, count, least, SHORT_INTEGERS)
        if self.iterations > 1 and self.policy not in IN_ROUNDS:
            raise UsageError(f"--iterations needs --policy {', '.join(IN_ROUNDS)}.")
        if self.buffers:
            return
        if self.switching == "wormhole":
            raise UsageError(
                "--buffers 0, queues without limit, goes with --switching saf or vct: wormhole "
                "needs finite buffers."
            )
        if self.policy not in ("oldest", "fifo"):
            raise UsageError(
                "--buffers 0, queues without limit, goes with --policy oldest or fifo, not "
                f"{self.policy}."
            )
        if self.longest_flight > 1 or self.is_detailed:
            raise UsageError(
                "--buffers 0, queues without limit, goes with --link-delay 1, --crossbar one or "
                "all, and without --router-delay and --output-queue."
            )

    @property
    def _link_delays(self) -> Sequence[int]:
        return [self.link_delay] if isinstance(self.link_delay, int) else self.link_delay

    @property
    def is_detailed(self) -> bool:
        """True if nodes need further data about their ports, beyond the links."""
        return (
            not isinstance(self.link_delay, int)
            or self.places is not None
            or not isinstance(self.crossbar, str)
            or self.router_delay + self.queue > 0
            or layout.POLICIES.index(self.policy) > layout.ROTATING
        )

    @property
    def inputs(self) -> int:
        """Largest number of flits that leave an input port per step."""
        if isinstance(self.crossbar, str):
            return {"one": 1, "all": self.vcs}[self.crossbar]
        return self.crossbar

    @property
    def longest_flight(self) -> int:
        """Largest number of steps from a flit's departure to its first usable step."""
        return max(self._link_delays) + self.router_delay + self.queue

    def delays(self, topology: Topology, nodes: Ints, ports: Ints) -> Ints:
        """Return the delays of the links behind these ports of these nodes, in steps."""
        if self.places is not None:
            return cables(topology, self.places, nodes, ports)
        each = np.asarray(self._link_delays, np.int64)
        classes = np.atleast_1d(topology.link_class(nodes, ports))
        return each[np.minimum(classes, len(each) - 1)]

    def lanes(self, ports: int) -> int:
        """Return the number of lanes of a node: virtual channels of its ports and its source."""
        return (ports + 1) * (self.vcs if self.buffers else 1)

    def needs(self, nodes: int, ports: int) -> int:
        """Return the bytes for the state of nodes: lanes with their flits, and flits on links."""
        each = 76 + 4 * self.buffers + 16 * self.longest_flight
        return nodes * (self.lanes(ports) * each + 80)


@dataclass(frozen=True, eq=False)
class Generation:
    """Messages generated by processors: targets, rate and lengths."""

    target: Rule
    """Rule ``target(source, seed, sequence, step, params)`` for a message's target."""
    params: Ints
    """The rule's parameters."""
    rate: float = 0.0
    """Messages per processor and step."""
    flits: int = 1
    """Flits of a message."""
    long_flits: int = 0
    """Flits of a long message; 0: there are no long messages."""
    long_share: float = 0.0
    """Probability of a long message."""
    burst: float = 0.0
    """Mean length of a burst, in steps; 0: messages come independently."""
    burst_rate: float = 1.0
    """Messages per processor and step during a burst."""
    rows: Ints | None = None
    """Trace instead of random messages: (step, source, target, flits), ascending by step and
    source. Shape (k, 4).
    """
    reply_flits: int = 0
    """Flits of the reply that the target of each message sends back; 0: there are no replies."""
    service: int = 1
    """Steps from a request's last flit to the birth of its reply."""
    outstanding: int = 0
    """Largest number of unanswered requests per processor; 0: no limit."""
    batch: int = 0
    """Messages that a processor generates in a phase; 0: there are no phases."""
    phases: int = 1
    """Number of phases; each begins when all messages of the previous phase are done."""
    program: Program | None = None
    """Program instead of random messages: the processors' sends, receives and calcs, in flits and
    steps.
    """
    bounds: Sequence[int] = ()
    """Bounds of the draws of a mix's patterns, except the last, in units of 2^-32. Messages of
    earlier patterns have priority; empty: no priorities.
    """

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise UsageError(
                f"A processor generates 0..1 messages per step, not {self.rate:g}: the unit of a "
                "rate is messages, not flits."
            )
        if self.flits < 1 or self.long_flits < 0 or not 0 <= self.long_share <= 1:
            raise UsageError("Messages have at least one flit, and shares add up to 1.")
        _require_within("flits", self.longest, 1, SHORT_INTEGERS)
        for name, value, least, most in (
            ("replies", self.reply_flits, 0, SHORT_INTEGERS),
            ("service", self.service, 1, SHORT_INTEGERS // 4),
            ("outstanding", self.outstanding, 0, SHORT_INTEGERS),
            ("batch", self.batch, 0, SHORT_INTEGERS),
            ("phases", self.phases, 1, MOST_PHASES),
        ):
            _require_within(name, value, least, most)
        if self.burst and (self.burst < 1 or not self.rate < self.burst_rate <= 1):
            raise UsageError(
                f"Bursts last 1 step or more on average, and their rate {self.burst_rate:g} is "
                f"above the mean rate {self.rate:g} and at most 1."
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds of messages with separate latencies; empty: one kind."""
        if self.bounds:
            return (*PRIORITIES[: len(self.bounds)], PRIORITIES[-1])
        if self.reply_flits:
            return KINDS["replies"]
        return KINDS["lengths"] if self.long_flits else ()

    @property
    def priorities(self) -> int:
        """Number of priority levels; 1: no priorities."""
        return 1 + len(self.bounds)

    @property
    def is_closed(self) -> bool:
        """True if processors wait for one another: for replies, a phase's end, or in a program."""
        return self.reply_flits > 0 or self.has_end

    @property
    def has_end(self) -> bool:
        """True if messages come to an end and all are measured: phases and programs."""
        return self.batch > 0 or self.program is not None

    @property
    def is_drawn(self) -> bool:
        """True if messages are born at random at a rate, without a trace or a program."""
        return self.rows is None and self.program is None

    @property
    def longest(self) -> int:
        """Flits of the longest message."""
        return max(self._lengths)

    @property
    def shortest(self) -> int:
        """Flits of the shortest message."""
        return min(length for length in self._lengths if length)

    @property
    def _lengths(self) -> list[int]:
        """Return message lengths in flits, including the shortest and the longest; 0: none."""
        if self.program is not None:
            sent = self.program.amount[self.program.kind == SEND]
            ends = sent if len(sent) else np.ones(1, np.int64)
        elif self.rows is None:
            return [self.flits, self.long_flits, self.reply_flits]
        else:
            ends = self.rows[:, 3] if len(self.rows) else np.ones(1, np.int64)
        return [int(ends.min()), int(ends.max())]


@dataclass(frozen=True)
class Window:
    """Steps of the warm-up, of the measured window, and of the wait for its last messages."""

    warmup: int = 500
    """Steps before the window."""
    steps: int = 1000
    """Steps of the window."""
    limit: int = 5000
    """Largest number of steps after the window in which its messages may still arrive."""
    parts: int = TENTHS
    """Parts of the window with separate latencies: part i begins at step warmup + floor(i * steps /
    parts). Ten parts give the confidence interval.
    """
    interval: int = 0
    """Steps of the intervals with separate counts of flits; 0: no intervals."""

    def __post_init__(self) -> None:
        for name, value, least in (
            ("warmup", self.warmup, 0),
            ("steps", self.steps, 1),
            ("limit", self.limit, 0),
            ("intervals", self.interval, 0),
        ):
            _require_within(name, value, least, SHORT_INTEGERS // 4)
