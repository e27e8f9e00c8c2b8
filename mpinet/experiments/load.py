"""Latency-throughput curves: a sweep of open-loop traffic, a run for every seed and rate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from mpinet.errors import UsageError
from mpinet.experiments.dealing import deal
from mpinet.experiments.journal import Journal, version_of
from mpinet.experiments.steady import NAMED, Steady, bisected, steady_run
from mpinet.machine import Machine
from mpinet.machine.faults import Faults
from mpinet.machine.saving import Checkpointing
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.results import results
from mpinet.machine.traffic.run import OpenLoop
from mpinet.machine.transport import Local, hosted_by
from mpinet.measure.channelload import saturation_bound
from mpinet.measure.deadlock import (
    MOST_COUNTED,
    counted_classes,
    has_dependency_cycle,
    is_counted,
    is_followed,
    settled,
)
from mpinet.networks.bubble import BUBBLE
from mpinet.networks.classes import ChannelClasses, no_classes
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import Pattern

FREE = ("hops", "ordered")
"""Class rules without a cycle of dependencies for any routing."""

MOST_TRIED = 2**16
"""Most pairs whose routes are followed to see whether a default class rule has no cycle."""

SMALL = 2**18
"""Most ports of a machine whose runs are dealt out, each to one rank."""

HINTED = 2**20
"""Most pairs for which the bounds of a network's other routings are computed for a hint."""


UNBOUNDED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Default rates, in parts of overload, of a network without a known bound: large networks saturate
at the first of them."""


@dataclass(frozen=True, eq=False)
class TrafficSetting:
    """Traffic on one network, which is run at several rates and for several seeds."""

    topology: Topology
    """The network."""
    routing: Routing
    """Routing of the messages."""
    classes: str | None
    """The class rule's name; None: the network's own (see `counted_classes`)."""
    pattern: Pattern
    """Pattern of the messages' targets."""
    generation: Generation
    """Lengths and bursts; the rate is put in."""
    buffering: Buffering
    """Flow control and buffers of links and nodes."""
    window: Window
    """Steps of the warm-up, the measured window and the wait after it."""
    seeds: Sequence[int]
    """Seeds of the draws, a curve for each. The first one stands for all if loads are bounded."""
    faults: Faults
    """Dead processors and links."""
    vcs_named: bool = True
    """True if there are exactly as many virtual channels as `buffering` states. Otherwise there are
    at least as many, and a multiple of the classes."""
    steady: Steady = NAMED
    """Searches for values that the user did not name: the warm-up, a window that is long enough,
    the rate of saturation."""

    @cached_property
    def _way(self) -> Routing:
        """The routing, around dead nodes and links where it can."""
        return self._settled.around(self.faults.dead, self.faults.cut)

    @cached_property
    def _settled(self) -> Routing:
        """The routing, with classes that had to be counted (collective)."""
        return settled(self.topology, self.routing)

    @cached_property
    def _own_classes(self) -> ChannelClasses:
        """The class rule that was named, or the network's own, with its count (collective)."""
        return counted_classes(self.topology, self._way, self.classes)

    @cached_property
    def channel_classes(self) -> ChannelClasses:
        """The class rule, with its count (collective).

        ``none`` where nobody has named the network's own and the virtual channels that were named
        cannot be shared out among them.
        """
        if self.buffering.buffers == 0:
            return no_classes(self.topology.params)
        own = self._own_classes
        # Virtual channels that do not divide among the classes would leave one of them with less
        # room than its rule needs.
        unfit = self.vcs_named and self.buffering.vcs % (own.count * self.ranks_of_messages)
        if unfit and self.classes is None and own.name in FREE:
            return no_classes(self.topology.params)
        return own

    @property
    def ranks_of_messages(self) -> int:
        """Number of ranks that messages have, each with virtual channels of its own."""
        return self.generation.priorities

    @cached_property
    def router(self) -> Buffering:
        """Buffers and switches, with the number of virtual channels that the classes need."""
        count = self.channel_classes.count * self.ranks_of_messages
        if self.vcs_named or self.buffering.buffers == 0:
            return self.buffering
        return replace(self.buffering, vcs=count * -(-self.buffering.vcs // count))

    @cached_property
    def caution(self) -> str:
        """Warning of a possible deadlock, as far as a quick look tells, or empty (collective)."""
        used, way = self.channel_classes, self._way
        if used.name == BUBBLE and self._can_stop(way, used, MOST_COUNTED):
            raise UsageError(
                f"{self.topology.name}, routing {way.name}: messages turn back to rings that they "
                "have left, and --classes bubble keeps room in rings alone: it goes with dimension "
                "order."
            )
        if self.buffering.buffers == 0 or way.adaptive or used.name in FREE:
            return ""
        who = f"{self.topology.name}, routing {way.name}"
        own, named = self._own_classes, self.classes is not None
        if used is not own:
            return (
                f"{who}: channels of one class can come to a deadlock. The {own.count} classes "
                f"{own.name} cannot: give a multiple of {own.count} as --vcs, or leave it out."
            )
        if not (named or own.name == "own" or is_counted(self.topology, way)):
            if self.topology.default_classes not in FREE:
                return ""
            return (
                f"{who}: ways are too many, or not known, to find the classes that they need, and "
                "messages may come to a deadlock. --classes hops cannot, with a virtual channel "
                "for every hop of the longest way."
            )
        tried = MOST_COUNTED if named else MOST_TRIED
        if not self._can_stop(way, used, tried):
            return ""
        return (
            f"{who}, classes {used.name}: channels wait for one another in a circle, and messages "
            "can come to a deadlock. Without --classes and --vcs load takes classes that cannot."
        )

    @property
    def unused(self) -> str:
        """Warning of delays for classes of links that the network does not have, or empty."""
        topology, delays = self.topology, self.buffering.link_delay
        if isinstance(delays, int) or topology.size > MOST_TRIED:
            return ""
        nodes, ports = np.arange(topology.size)[:, np.newaxis], np.arange(topology.ports)
        wired = np.atleast_2d(topology.neighbor(nodes, ports)) >= 0
        kinds = np.atleast_2d(topology.link_class(nodes, ports))
        known = int(np.broadcast_to(kinds, wired.shape)[wired].max(initial=0)) + 1
        if len(delays) <= known:
            return ""
        return (
            f"{topology.name} has links of {known} class{'es' if known > 1 else ''}, and the last "
            f"{len(delays) - known} of the {len(delays)} delays of --link-delay are for none."
        )

    def _can_stop(self, way: Routing, classes: ChannelClasses, tried: int) -> bool:
        """Tell if channels wait in a circle; no, if more pairs than `tried` were to be followed."""
        known = self.topology.hosts**2 <= tried and is_followed(self.topology, way.base or way)
        return known and has_dependency_cycle(self.topology, way, classes)

    @property
    def mean_flits(self) -> float:
        """Mean length of a message, in flits."""
        generation = self.generation
        share = generation.long_share if generation.long_flits else 0.0
        return generation.flits * (1 - share) + generation.long_flits * share

    @property
    def overload(self) -> float:
        """Rate of a flit per processor and step; with bursts a little less than their own."""
        most = 1 / self.mean_flits
        return min(most, 0.95 * self.generation.burst_rate) if self.generation.burst else most

    def at(self, rate: float) -> Generation:
        """Return the generated messages at a rate; refuse an impossible rate."""
        return replace(self.generation, rate=rate)

    def run(self, machine: Machine, seed: int, rate: float | None) -> dict[str, Any]:
        """Run the traffic for one seed at one rate; None: search for saturation (collective)."""
        if rate is None:
            tried = partial(self.run, machine, seed)
            return bisected(machine, self.steady.resolution, self.overload, tried)
        made = partial(self._run, machine, seed, rate)
        return steady_run(machine, self.window, self.steady, made) if self.steady else made()

    def _run(
        self, machine: Machine, seed: int, rate: float, window: Window | None = None
    ) -> dict[str, Any]:
        """Run the traffic with one window (collective)."""
        window = window or self.window
        run = OpenLoop(
            machine,
            self._settled,
            self.channel_classes,
            self.router,
            self.at(rate),
            window,
            seed,
            self.faults,
        )
        found = {"rate": rate} | results(run.run())
        return found | {"saturated": found["saturated"] or self._is_too_much(found, window)}

    def _is_too_much(self, point: dict[str, Any], window: Window) -> bool:
        """Tell if a point is in overload, be it at some sources or channels alone."""
        if point["deadlock"]:
            return True
        # A trace or a batch has an end: its backlog grows and falls, which is no sign of
        # saturation.
        if self.pattern.rows is not None or self.generation.batch:
            return False
        bound = self.bound
        # Above the bound the busiest channel falls behind for ever, however calm a short window may
        # look.
        if bound is not None and point["rate"] * self.mean_flits > bound * (1 + 1e-9):
            return True
        # A channel that was never idle, and at the sources more than chance would leave there.
        growth = point["backlog_after"] - point["backlog_before"]
        chance = 2 * sqrt(window.steps * self.generation.longest)
        return bool(point["loads_max"] >= window.steps and growth > chance)

    @cached_property
    def bound(self) -> float | None:
        """Flits per processor and step by the busiest channel, if nothing is dead (collective).

        With replies or phases it says nothing: None.
        """
        is_open = not self.faults and not self.generation.is_closed
        return self._open_bound if is_open else None

    @cached_property
    def _open_bound(self) -> float | None:
        """The bound without faults, replies and phases (collective)."""
        return bound_of(self, self.routing)

    @property
    def default_rates(self) -> list[float]:
        """Tenths of the bound, as rates with three digits, and one rate above it (collective).

        The rate of overload takes the place of a higher bound, and no rate is above it. Without a
        bound, the rates are parts of overload from `UNBOUNDED`.
        """
        if self.pattern.rows is not None:
            return [0.0]
        bound, flits = self._open_bound, self.mean_flits + self.generation.reply_flits
        parts: Sequence[float] = [tenth / 10 for tenth in range(1, 12)]
        if bound is None:
            bound, parts = self.overload * flits, UNBOUNDED
        most = min(bound / flits, self.overload)
        rates = [float(f"{most * part:.3g}") for part in parts]
        return sorted({min(rate, self.overload) for rate in rates})

    @cached_property
    def better_routing(self) -> str | None:
        """Name of the routing with the highest bound, if that is above this one's (collective)."""
        own = bound_of(self, self.routing, HINTED)
        if own is None or bool(self.faults) or self.generation.is_closed:
            return None
        best: str | None = None
        for name in self.topology.routings:
            if name == self.routing.name:
                continue
            bound = bound_of(self, self.topology.routing(name), HINTED)
            if bound is not None and bound > own:
                best, own = name, bound
        return best


def is_small(settings: Sequence[TrafficSetting]) -> bool:
    """Tell if all machines are small enough that one rank makes each run alone."""
    return all(each.topology.size * each.topology.ports <= SMALL for each in settings)


Run = tuple[int, int, float | None]
"""A run of a sweep: the number of its setting, its seed and its rate; None: the search for the
rate of saturation."""


def curves(
    settings: Sequence[TrafficSetting],
    rates: Sequence[float] | None,
    key: Callable[[Run], str],
    machine_of: Callable[[Topology, Callable[[int], None]], Machine],
    transport: Local,
    watch: Callable[..., None] = lambda *done: None,
    warn: Callable[[str], None] = lambda text: None,
    folder: Path | None = None,
) -> list[dict[str, Any]]:
    """Make a curve for each setting and seed (collective).

    Runs on small machines are shared out among the ranks, each on one alone; large machines are
    hosted by all ranks. The results are the same.

    Parameters
    ----------
    settings : sequence of TrafficSetting
        One per network and pattern.
    rates : sequence of float, optional
        Messages per processor and step, ascending. For several of them the network is also run in
        overload, for its saturation throughput. Of a trace, whose messages have their steps, there
        is one run. Default: `TrafficSetting.default_rates`.
    key : callable
        Name of a run in journals and checkpoints; runs of one name are made once.
    machine_of : callable
        The machine of a network, hosted by all ranks, and whom it tells the steps that it has made.
    transport : Local
        The ranks.
    watch : callable
        Called with the number of runs done, of how many, and with the steps of the one under way.
    warn : callable
        Called before the first run with a sentence for each setting that can come to a deadlock.
    folder : Path, optional
        Keeps each run as it comes, named as ``--out``. Default: the checkpoint's journal, if the
        ranks keep one.
    """
    # Measures of the networks use the same ranks as the runs: those of `transport`.
    with hosted_by(transport):
        for sentence in cautions(settings):
            warn(sentence)
        own = _rates_of_each(settings, rates)
        return _curves(settings, own, key, machine_of, transport, watch, folder)


def cautions(settings: Sequence[TrafficSetting]) -> list[str]:
    """Return the warnings of settings, each once (collective).

    They are of deadlocks that are possible, and of delays of links that there are none of.

    Raises
    ------
    UsageError
        There are no such classes, or they cannot do what they are for.
    """
    texts = [text for each in settings for text in (each.caution, each.unused)]
    return [text for text in dict.fromkeys(texts) if text]


def _rates_of_each(
    settings: Sequence[TrafficSetting], rates: Sequence[float] | None
) -> list[Sequence[float]]:
    """Return the rates of each setting (collective).

    Settings of the same traffic differ in their seeds: they have the default rates of the first.
    """
    if rates is not None:
        return [_rates_of(each, rates) for each in settings]
    found: dict[int, Sequence[float]] = {}
    for each in settings:
        # Settings of one command share this object, so the default rates are searched once for all
        # of its seeds.
        shared = id(each.generation)
        if shared not in found:
            found[shared] = _rates_of(each, each.default_rates)
    return [found[id(each.generation)] for each in settings]


def _curves(
    settings: Sequence[TrafficSetting],
    rates: Sequence[Sequence[float]],
    key: Callable[[Run], str],
    machine_of: Callable[[Topology, Callable[[int], None]], Machine],
    transport: Local,
    watch: Callable[..., None],
    folder: Path | None,
) -> list[dict[str, Any]]:
    """Make the curves, as `curves` says, each at its rates, after all warnings."""
    for setting in settings:
        setting.router, setting.bound  # noqa: B018 (may be collective, and may refuse)
    keys = {
        (number, seed, rate): key((number, seed, rate))
        for number, setting in enumerate(settings)
        for seed in setting.seeds
        for rate in (*_wanted(setting, rates[number]), *_searched(setting))
    }
    runs = {name: run for run, name in keys.items()}
    numbers = {name: number for number, name in enumerate(runs)}
    # On all ranks every step pays an exchange. Small machines are done sooner if each rank has runs
    # of its own.
    together = transport.size == 1 or len(runs) == 1 or not is_small(settings)

    def run(name: str, ranks: Local) -> dict[str, Any]:
        (which, seed, rate), told = runs[name], partial(watch, numbers[name], len(runs))
        topology = settings[which].topology
        with _kept(name, transport.keeper, ranks):
            if together:
                return settings[which].run(machine_of(topology, told), seed, rate)
            return settings[which].run(Machine(topology, transport=ranks, watch=told), seed, rate)

    def done(count: int, left: int | None) -> None:
        if left is not None:
            watch(len(runs) - left + count, len(runs))

    journal = _journal(transport, folder)
    dealt = deal([[name] for name in runs], run, transport, journal, together, done, strict=True)
    if not together:
        watch(len(runs), len(runs))
    # Putting a curve together is collective, because the bounds of other routings are, so all ranks
    # need the points.
    whole = json.loads(transport.share(json.dumps(dealt.found).encode()))
    return [
        _curve(
            setting,
            rates[n],
            {
                rate: whole[keys[n, seed, rate]]
                for rate in (*_wanted(setting, rates[n]), *_searched(setting))
            },
        )
        for n, setting in enumerate(settings)
        for seed in setting.seeds
    ]


def _journal(transport: Local, folder: Path | None) -> Journal | None:
    """Open this rank's journal in the folder that keeps runs, or in that of the checkpoints."""
    option = "--out"
    if folder is None and transport.keeper is not None:
        folder, option = transport.keeper.journal, "--checkpoint"
    if folder is None:
        return None
    return Journal(folder, f"rank-{transport.rank}", version_of(), option)


@contextmanager
def _kept(name: str, keeper: Checkpointing | None, ranks: Local) -> Iterator[None]:
    """Keep checkpoints of a run of these ranks under its name; drop them at its end."""
    if keeper is None:
        yield
        return
    with keeper.part(name, ranks):
        yield
    if ranks.rank == 0:
        keeper.drop(name)


def _rates_of(setting: TrafficSetting, rates: Sequence[float]) -> Sequence[float]:
    """The rates of a curve: of a trace, which has steps of its own, one; of a program none."""
    if setting.generation.program is not None:
        return [0.0]
    return rates if setting.pattern.rows is None else rates[:1]


def _wanted(setting: TrafficSetting, rates: Sequence[float]) -> list[float]:
    """The rates to run; if there are several, with the one of overload."""
    return sorted({*rates, *([setting.overload] if _has_curve(setting, rates) else [])})


def _has_curve(setting: TrafficSetting, rates: Sequence[float]) -> bool:
    """Tell if latency over these rates comes to saturation; messages in phases come to an end."""
    return len(rates) > 1 and not setting.generation.batch


def _searched(setting: TrafficSetting) -> list[None]:
    """The search for the rate of saturation, in the place of a rate, if it was asked for."""
    return [None] if setting.steady.resolution else []


def _curve(
    setting: TrafficSetting, rates: Sequence[float], found: Mapping[float | None, dict[str, Any]]
) -> dict[str, Any]:
    """Put together a curve: its points, bound and saturation throughput (collective)."""
    points = [found[rate] for rate in sorted(rates)]
    stable = [point["rate"] for point in points if not point["saturated"]]
    several = _has_curve(setting, rates)
    full = found[setting.overload] if several else None
    return {
        "network": setting.topology.name,
        "routing": setting.routing.name,
        "classes": setting.channel_classes.name,
        "vcs": setting.router.vcs,
        "bound": setting.bound,
        "better_routing": setting.better_routing,
        "saturation_point": max(stable, default=None) if several else None,
        "saturation_throughput": (
            full["throughput"] if full is not None and not full["deadlock"] else None
        ),
        "points": points,
    } | ({"saturation": found[None]} if None in found else {})


def bound_of(setting: TrafficSetting, routing: Routing, most: int | None = None) -> float | None:
    """Throughput bound by channel loads, in flits per processor and step (collective)."""
    ejects_one = setting.buffering.eject == "one" and setting.buffering.buffers > 0
    limits = {} if most is None else {"most": most}
    return saturation_bound(
        setting.topology, routing, setting.pattern, setting.seeds[0], ejects_one, **limits
    )
