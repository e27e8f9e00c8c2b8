"""Latency-throughput curves: a sweep of open-loop traffic, with a run for every seed and rate."""

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
from mpinet.experiments.journal import journal_of
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
"""Class rules without a dependency cycle for any routing."""

MOST_TRIED = 2**16
"""Largest number of pairs whose routes are followed to check a default class rule for cycles."""

SMALL = 2**18
"""Largest number of ports of a machine whose runs are distributed, each to a single rank."""

HINTED = 2**20
"""Largest number of pairs for which bounds of alternative routings are computed for a hint."""


UNBOUNDED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Default rates, as fractions of overload, for a network without a known bound. Large networks
saturate at the first of these rates.
"""


@dataclass(frozen=True, eq=False)
class TrafficSetting:
    """Traffic on one network, run at several rates and with several seeds."""

    topology: Topology
    """The network."""
    routing: Routing
    """Routing of the messages."""
    classes: str | None
    """Name of the class rule; None: the network's own rule (see `counted_classes`)."""
    pattern: Pattern
    """Pattern of the messages' targets."""
    generation: Generation
    """Lengths and bursts of the messages; the rate is added for each run."""
    buffering: Buffering
    """Flow control, and buffers of links and nodes."""
    window: Window
    """Steps of the warm-up, the measured window and the subsequent wait."""
    seeds: Sequence[int]
    """Seeds of the random numbers, with one curve per seed. Load bounds are computed for the first
    seed.
    """
    faults: Faults
    """Dead processors and links."""
    vcs_named: bool = True
    """True if the number of virtual channels is exactly as stated in `buffering`. Otherwise the
    number is rounded up to a multiple of the classes.
    """
    steady: Steady = NAMED
    """Searches for unnamed values: the warm-up, a sufficiently long window, the saturation rate."""

    @cached_property
    def _way(self) -> Routing:
        """The routing, around dead nodes and links if possible."""
        return self._settled.around(self.faults.dead, self.faults.cut)

    @cached_property
    def _settled(self) -> Routing:
        """The routing, with counted classes if necessary (collective)."""
        return settled(self.topology, self.routing)

    @cached_property
    def _own_classes(self) -> ChannelClasses:
        """The named class rule, or the network's own rule, with its count (collective)."""
        return counted_classes(self.topology, self._way, self.classes)

    @cached_property
    def channel_classes(self) -> ChannelClasses:
        """The class rule, with its count (collective).

        The rule is ``none`` if no rule was named, and the named number of virtual channels cannot
        be divided among the classes of the network's own rule.
        """
        if self.buffering.buffers == 0:
            return no_classes(self.topology.params)
        own = self._own_classes
        # If the virtual channels do not divide evenly among the classes, one class has less space
        # than its rule needs.
        unfit = self.vcs_named and self.buffering.vcs % (own.count * self.ranks_of_messages)
        if unfit and self.classes is None and own.name in FREE:
            return no_classes(self.topology.params)
        return own

    @property
    def ranks_of_messages(self) -> int:
        """Number of priorities of messages, each with its own virtual channels."""
        return self.generation.priorities

    @cached_property
    def router(self) -> Buffering:
        """Buffers and switches, with the number of virtual channels required by the classes."""
        count = self.channel_classes.count * self.ranks_of_messages
        if self.vcs_named or self.buffering.buffers == 0:
            return self.buffering
        return replace(self.buffering, vcs=count * -(-self.buffering.vcs // count))

    @cached_property
    def caution(self) -> str:
        """Warning of a possible deadlock from a quick check; empty if none (collective)."""
        used, way = self.channel_classes, self._way
        if used.name == BUBBLE and self._can_stop(way, used, MOST_COUNTED):
            raise UsageError(
                f"{self.topology.name}, routing {way.name}: messages return to rings after "
                "leaving, but --classes bubble keeps space only within rings. Use it with "
                "dimension order."
            )
        if self.buffering.buffers == 0 or way.adaptive or used.name in FREE:
            return ""
        who = f"{self.topology.name}, routing {way.name}"
        own, named = self._own_classes, self.classes is not None
        if used is not own:
            return (
                f"{who}: channels of one class can deadlock. The {own.count} classes {own.name} "
                f"cannot deadlock: give a multiple of {own.count} as --vcs, or omit --vcs."
            )
        if not (named or own.name == "own" or is_counted(self.topology, way)):
            if self.topology.default_classes not in FREE:
                return ""
            return (
                f"{who}: the routes are unknown or too many to find the necessary classes, and "
                "messages may deadlock. --classes hops cannot deadlock; it needs a virtual channel "
                "for every hop of the longest route."
            )
        tried = MOST_COUNTED if named else MOST_TRIED
        if not self._can_stop(way, used, tried):
            return ""
        return (
            f"{who}, classes {used.name}: channels wait for each other in a cycle, and messages "
            "can deadlock. Without --classes and --vcs, load uses classes that cannot deadlock."
        )

    @property
    def unused(self) -> str:
        """Warning of delays for link classes that the network lacks; empty if none."""
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
            f"{topology.name} has links of {known} class{'es' if known > 1 else ''}; the last "
            f"{len(delays) - known} of the {len(delays)} delays of --link-delay have no effect."
        )

    def _can_stop(self, way: Routing, classes: ChannelClasses, tried: int) -> bool:
        """Return whether channels wait in a cycle; False if there are more than `tried` pairs."""
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
        """Message rate for one flit per processor and step; at most 0.95 of a burst's rate."""
        most = 1 / self.mean_flits
        return min(most, 0.95 * self.generation.burst_rate) if self.generation.burst else most

    def at(self, rate: float) -> Generation:
        """Return the generation of messages at this rate; raise an error for an impossible rate."""
        return replace(self.generation, rate=rate)

    def run(self, machine: Machine, seed: int, rate: float | None) -> dict[str, Any]:
        """Run the traffic with one seed at one rate; None: search for saturation (collective)."""
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
        """Return whether a run is in overload, even at only some sources or channels."""
        if point["deadlock"]:
            return True
        # A trace or a batch has an end: its backlog grows and falls, which does not indicate
        # saturation.
        if self.pattern.rows is not None or self.generation.batch:
            return False
        bound = self.bound
        # Above the bound the busiest channel falls behind for ever, however calm a short window may
        # look.
        if bound is not None and point["rate"] * self.mean_flits > bound * (1 + 1e-9):
            return True
        # A channel that was never idle, and a growing backlog at the sources beyond random
        # fluctuations.
        growth = point["backlog_after"] - point["backlog_before"]
        chance = 2 * sqrt(window.steps * self.generation.longest)
        return bool(point["loads_max"] >= window.steps and growth > chance)

    @cached_property
    def bound(self) -> float | None:
        """Bound from the busiest channel, in flits per processor and step (collective).

        None for traffic with faults, replies or phases.
        """
        is_open = not self.faults and not self.generation.is_closed
        return self._open_bound if is_open else None

    @cached_property
    def _open_bound(self) -> float | None:
        """The bound without faults, replies and phases (collective)."""
        return bound_of(self, self.routing)

    @property
    def default_rates(self) -> list[float]:
        """Default rates: tenths of the bound with three digits, up to 11 tenths (collective).

        All rates are limited to the rate of overload. Without a bound, the rates are fractions of
        overload from `UNBOUNDED`.
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
        """Routing with the highest bound, if higher than this routing's bound (collective)."""
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
    """Return whether all machines are small enough to run on a single rank each."""
    return all(each.topology.size * each.topology.ports <= SMALL for each in settings)


Run = tuple[int, int, float | None]
"""A run of a sweep: the index of its setting, its seed and its rate; None: the search for the
saturation rate.
"""


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
    """Compute a curve for each setting and seed (collective).

    Runs on small machines are distributed among the ranks, each to a single rank. Large machines
    are hosted by all ranks. The results are the same.

    Parameters
    ----------
    settings : sequence of TrafficSetting
        One setting per network and pattern.
    rates : sequence of float, optional
        Messages per processor and step, ascending. With several rates the network also runs in
        overload, to measure its saturation throughput. A trace, whose messages have fixed steps,
        runs once. Default: `TrafficSetting.default_rates`.
    key : callable
        Returns the name of a run in journals and checkpoints; runs with the same name are computed
        once.
    machine_of : callable
        Returns the machine of a network, hosted by all ranks; its second argument is called with
        the number of completed steps.
    transport : Local
        The ranks.
    watch : callable
        Called with the number of completed runs, the number of all runs, and the completed steps of
        the current run.
    warn : callable
        Called before the first run with a sentence for each setting that may deadlock.
    folder : Path, optional
        Folder, from ``--out``, that stores each completed run. Default: the checkpoint's journal,
        if the ranks keep one.
    """
    # Measures of the networks use the same ranks as the runs: the ranks of `transport`.
    with hosted_by(transport):
        for sentence in cautions(settings):
            warn(sentence)
        own = _rates_of_each(settings, rates)
        return _curves(settings, own, key, machine_of, transport, watch, folder)


def cautions(settings: Sequence[TrafficSetting]) -> list[str]:
    """Return the warnings of all settings without repetition (collective).

    The warnings concern possible deadlocks, and delays for missing classes of links.

    Raises
    ------
    UsageError
        The class rule does not exist, or cannot prevent deadlocks here.
    """
    texts = [text for each in settings for text in (each.caution, each.unused)]
    return [text for text in dict.fromkeys(texts) if text]


def _rates_of_each(
    settings: Sequence[TrafficSetting], rates: Sequence[float] | None
) -> list[Sequence[float]]:
    """Return the rates of each setting (collective).

    Settings with the same traffic and different seeds use the default rates of the first setting.
    """
    if rates is not None:
        return [_rates_of(each, rates) for each in settings]
    found: dict[int, Sequence[float]] = {}
    for each in settings:
        # Settings of the same command share this object, so the default rates are computed once for
        # all seeds.
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
    """Compute the curves of `curves` after the warnings, each at its own rates."""
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
    # On all ranks every step needs an exchange. Small machines finish sooner with separate runs on
    # each rank.
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

    journal = journal_of(transport, folder, "--out")
    dealt = deal([[name] for name in runs], run, transport, journal, together, done, strict=True)
    if not together:
        watch(len(runs), len(runs))
    # Assembling a curve is collective, because the bounds of other routings are. All ranks
    # therefore need the points.
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


@contextmanager
def _kept(name: str, keeper: Checkpointing | None, ranks: Local) -> Iterator[None]:
    """Keep checkpoints of these ranks' run under its name; delete them at the end."""
    if keeper is None:
        yield
        return
    with keeper.part(name, ranks):
        yield
    if ranks.rank == 0:
        keeper.drop(name)


def _rates_of(setting: TrafficSetting, rates: Sequence[float]) -> Sequence[float]:
    """Return the rates of a curve: one rate for a trace, a rate of 0 for a program."""
    if setting.generation.program is not None:
        return [0.0]
    return rates if setting.pattern.rows is None else rates[:1]


def _wanted(setting: TrafficSetting, rates: Sequence[float]) -> list[float]:
    """Return the rates to run; several rates also include the rate of overload."""
    return sorted({*rates, *([setting.overload] if _has_curve(setting, rates) else [])})


def _has_curve(setting: TrafficSetting, rates: Sequence[float]) -> bool:
    """Return whether latency over these rates can saturate; phased messages always finish."""
    return len(rates) > 1 and not setting.generation.batch


def _searched(setting: TrafficSetting) -> list[None]:
    """Return [None], the search for the saturation rate, if requested; otherwise an empty list."""
    return [None] if setting.steady.resolution else []


def _curve(
    setting: TrafficSetting, rates: Sequence[float], found: Mapping[float | None, dict[str, Any]]
) -> dict[str, Any]:
    """Assemble a curve: its points, bound and saturation throughput (collective)."""
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
    """Return the throughput bound by channel loads, in flits per processor and step."""
    ejects_one = setting.buffering.eject == "one" and setting.buffering.buffers > 0
    limits = {} if most is None else {"most": most}
    return saturation_bound(
        setting.topology, routing, setting.pattern, setting.seeds[0], ejects_one, **limits
    )
