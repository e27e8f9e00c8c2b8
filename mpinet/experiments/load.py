"""Latency-throughput curves: a run of open-loop traffic for every rate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from mpinet.errors import MpinetError, Suspended
from mpinet.experiments.journal import Rows, version_of
from mpinet.machine import Machine
from mpinet.machine.faults import Faults
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.results import results
from mpinet.machine.traffic.run import OpenLoop
from mpinet.machine.transport import Local, alone, hosted_by
from mpinet.measure.channelload import saturation_bound
from mpinet.measure.deadlock import counted_classes
from mpinet.networks.classes import ChannelClasses, no_classes
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import Pattern

SMALL = 2**18
"""Ports of a machine up to which the runs of a curve are shared out, each to one rank."""

HINTED = 2**20
"""Pairs up to which the bounds of a network's other routings are computed for a hint."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What is run on one network at several rates.

    Attributes
    ----------
    topology : Topology
        The network.
    routing : Routing
        How messages find their way.
    classes : str or None
        The class rule's name; None: the network's own (see `open_classes`).
    pattern : Pattern
        Who sends to whom.
    generation : Generation
        Lengths and bursts; the rate is put in.
    buffering : Buffering
        How links and nodes hold flits.
    window : Window
        What is measured.
    seed : int
        For the draws.
    faults : Faults
        What is dead.
    """

    topology: Topology
    routing: Routing
    classes: str | None
    pattern: Pattern
    generation: Generation
    buffering: Buffering
    window: Window
    seed: int
    faults: Faults

    @cached_property
    def channel_classes(self) -> ChannelClasses:
        """The class rule, with its count (collective where that is the diameter)."""
        if self.buffering.buffers == 0:
            return no_classes(self.topology.params)
        return counted_classes(self.topology, self.routing, self.classes)

    @property
    def mean_flits(self) -> float:
        """The mean length of a message."""
        generation = self.generation
        share = generation.long_share if generation.long_flits else 0.0
        return generation.flits * (1 - share) + generation.long_flits * share

    def at(self, rate: float) -> Generation:
        """Who generates what at a rate; refuses one that cannot be."""
        return replace(self.generation, rate=rate)

    def run(self, machine: Machine, rate: float) -> dict[str, Any]:
        """Run it at one rate (collective)."""
        run = OpenLoop(
            machine,
            self.routing,
            self.channel_classes,
            self.buffering,
            self.at(rate),
            self.window,
            self.seed,
            self.faults,
        )
        return {"rate": rate} | results(run.run())


def is_small(settings: Sequence[Setting]) -> bool:
    """Whether all machines are so small that each run is made on one rank alone."""
    return all(each.topology.size * each.topology.ports <= SMALL for each in settings)


def curves(
    settings: Sequence[Setting],
    rates: Sequence[float],
    machine_of: Callable[[Topology, Callable[[int], None]], Machine],
    transport: Local,
    watch: Callable[..., None] = lambda *done: None,
) -> list[dict[str, Any]]:
    """A curve for each setting (collective).

    Runs on small machines are shared out among the ranks, each on one alone; large machines are
    hosted by all ranks. The results are the same.

    Parameters
    ----------
    settings : sequence of Setting
        One a network.
    rates : sequence of float
        Messages of a processor a step, ascending. For several of them the network is also run in
        overload, for its saturation throughput.
    machine_of : callable
        The machine of a network, hosted by all ranks, and whom it tells the steps that it has made.
    transport : Local
        The ranks.
    watch : callable
        Called with the number of runs done, of how many, and with the steps of the one under way.
    """
    # What is measured of a network is measured by the ranks that there are: those of `transport`.
    with hosted_by(transport):
        return _curves(settings, rates, machine_of, transport, watch)


def _curves(
    settings: Sequence[Setting],
    rates: Sequence[float],
    machine_of: Callable[[Topology, Callable[[int], None]], Machine],
    transport: Local,
    watch: Callable[..., None],
) -> list[dict[str, Any]]:
    """See `curves`."""
    for setting in settings:
        setting.channel_classes  # noqa: B018 (may be collective, and may refuse)
    tasks = [(i, rate) for i in range(len(settings)) for rate in _wanted(settings[i], rates)]
    small = is_small(settings)
    journal = _journal(transport)
    known = journal.known()[0] if journal is not None and transport.rank == 0 else {}
    known = json.loads(transport.share(json.dumps(known).encode()))
    found = {task: known[str(task)][0] for task in tasks if str(task) in known}
    left = [task for task in tasks if task not in found]
    if small and transport.size > 1 and len(left) > 1:
        found |= _shared_out(settings, left, transport, watch, journal)
        left = []
    for task in left:
        setting, told = settings[task[0]], partial(watch, len(found), len(tasks))
        with _kept(task, transport, transport, journal) as write:
            found[task] = setting.run(machine_of(setting.topology, told), task[1])
            write(found[task])
        watch(len(found), len(tasks))
        if transport.keeper is not None:
            transport.keeper.meet()
    return [_curve(setting, rates, found, i) for i, setting in enumerate(settings)]


Task = tuple[int, float]
"""A run: of which setting, at which rate."""


def _journal(transport: Local) -> Rows | None:
    """This rank's journal, if the runs are kept."""
    if transport.keeper is None:
        return None
    name = f"rank-{transport.rank}"
    return Rows(transport.keeper.journal, name, version_of(), "--checkpoint")


@contextmanager
def _kept(
    task: Task, transport: Local, ranks: Local, journal: Rows | None
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Within it these ranks make a run of those of `transport`; gives what writes it down."""
    keeper = transport.keeper
    if keeper is None or journal is None:
        yield lambda found: None
        return
    name = f"run-{task[0]}-{task[1]!r}"

    def write(found: dict[str, Any]) -> None:
        if ranks.rank == 0:
            journal.write(str(task), [found])

    with keeper.part(name, ranks):
        yield write
    if ranks.rank == 0:
        keeper.drop(name)


def _wanted(setting: Setting, rates: Sequence[float]) -> list[float]:
    """The rates to run, and where there are several the one that is overload."""
    return sorted({*rates, *([_overload(setting)] if len(rates) > 1 else [])})


def _overload(setting: Setting) -> float:
    """A flit a processor and step; with bursts a little less than while they are on."""
    most = 1 / setting.mean_flits
    generation = setting.generation
    return min(most, 0.95 * generation.burst_rate) if generation.burst else most


def _shared_out(
    settings: Sequence[Setting],
    tasks: Sequence[Task],
    transport: Local,
    watch: Callable[..., None],
    journal: Rows | None,
) -> dict[Task, dict[str, Any]]:
    """Every run on one rank alone; each rank takes the next one when it is ready."""
    mine: list[tuple[int, dict[str, Any]]] = []
    error: MpinetError | None = None
    for number in transport.dealt(len(tasks)):
        which, rate = tasks[number]
        own = Local()
        try:
            with alone(), _kept(tasks[number], transport, own, journal) as write:
                told = partial(watch, number, len(tasks))  # those before it were begun
                machine = Machine(settings[which].topology, transport=own, watch=told)
                mine.append((number, settings[which].run(machine, rate)))
                write(mine[-1][1])
        except Suspended:
            continue  # the others end, too, when they meet
        except MpinetError as wrong:
            error = error or wrong
    watch(len(tasks), len(tasks))
    if error is not None:
        transport.fail(error)
    texts = transport.gather(json.dumps(mine).encode())
    every = [pair for text in texts for pair in json.loads(text)]
    whole = json.loads(transport.share(json.dumps(every).encode()))
    return {tasks[number]: found for number, found in whole}


def _curve(
    setting: Setting, rates: Sequence[float], found: dict[Task, dict[str, Any]], number: int
) -> dict[str, Any]:
    """The points of a curve, and what they say together (collective)."""
    points = [found[number, rate] for rate in sorted(rates)]
    stable = [point["rate"] for point in points if not (point["saturated"] or point["deadlock"])]
    several = len(rates) > 1
    return {
        "network": setting.topology.name,
        "routing": setting.routing.name,
        "classes": setting.channel_classes.name,
        "bound": bound_of(setting, setting.routing),
        "better_routing": better_routing(setting),
        "saturation_point": max(stable, default=None) if several else None,
        "saturation_throughput": (
            found[number, _overload(setting)]["throughput"] if several else None
        ),
        "points": points,
    }


def bound_of(setting: Setting, routing: Routing, most: int | None = None) -> float | None:
    """The bound by channel loads, in flits of a processor a step (collective)."""
    ejects_one = setting.buffering.eject == "one" and setting.buffering.buffers > 0
    limits = {} if most is None else {"most": most}
    return saturation_bound(
        setting.topology, routing, setting.pattern, setting.seed, ejects_one, **limits
    )


def better_routing(setting: Setting) -> str | None:
    """The network's routing with the highest bound, if it is above that of the one in use."""
    own = bound_of(setting, setting.routing, HINTED)
    if own is None or bool(setting.faults):
        return None
    best: str | None = None
    for name in setting.topology.routings:
        if name == setting.routing.name:
            continue
        bound = bound_of(setting, setting.topology.routing(name), HINTED)
        if bound is not None and bound > own:
            best, own = name, bound
    return best
