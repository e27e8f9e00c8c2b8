"""``mpinet load``: latency and throughput under open-loop traffic."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mpinet.commands.job import Job, Watch
from mpinet.commands.loadcurves import curve_table, draw_curves, pattern_table, told_deadlock
from mpinet.commands.loadruns import VCS, journal_of, read_rates, read_seeds, settings_of
from mpinet.commands.opening import Network, mapping_of
from mpinet.commands.options import (
    Common,
    FaultWords,
    File,
    OnHosts,
    RoutingName,
    SavedOften,
)
from mpinet.commands.perform import perform
from mpinet.commands.plot import ENDINGS
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.experiments.plan import key_of
from mpinet.networks.topology import Topology
from mpinet.report.drawing.figure import library
from mpinet.report.files import require_file
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.experiments.load import Run, Setting
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local

Rates = Annotated[str | float | int | Sequence[float], Typed(read=str, metavar="RATE")]


@command(SavedOften, Common)
def load(
    topology: Network | Sequence[Any],
    *,
    pattern: Annotated[
        str, Typed(metavar="PATTERN", listed="mpinet.programs.patterns:NAMES")
    ] = "uniform",
    rate: Rates = "0.02..0.2/10",
    flits: str | int = "1",
    switching: Literal["saf", "vct", "wormhole"] = "wormhole",
    buffers: int = 4,
    vcs: int | None = None,
    policy: Literal["rotating", "oldest", "fifo"] = "rotating",
    classes: Literal["none", "dateline", "wrap", "hops", "ordered", "own"] | None = None,
    routing: RoutingName = None,
    warmup: int = 500,
    steps: int = 1000,
    limit: int = 5000,
    bursts: Annotated[str | float | int | None, Typed(metavar="B[:Q]")] = None,
    crossbar: Literal["one", "all"] = "one",
    eject: Literal["one", "all"] = "one",
    link_delay: int = 1,
    faults: FaultWords = None,
    seeds: int = 1,
    plot: File | None = None,
    **options: Unpack[OnHosts],
) -> Result:
    """Measure latency and throughput where processors generate messages all the time (collective).

    Parameters
    ----------
    topology : str, Topology, or a sequence of them
        Networks to measure.
    pattern : str
        Traffic pattern: who sends to whom; or several patterns, joined by commas.
    rate : float, str or sequence of float
        Messages per processor and step: ``R``, ``A,B,C`` or ``A..B/K``, K rates from A to B.
    flits : int or str
        Flits per message: ``F``, or ``F1:p1,F2:p2``, two lengths with their shares.
    switching : {'wormhole', 'vct', 'saf'}
        Switching of messages: flit by flit, cut through, or stored and forwarded (saf).
    buffers : int
        Flits that the buffer of a virtual channel holds; 0: without limit.
    vcs : int, optional
        Virtual channels per link; default: 2, or as many as there are classes, if more.
    policy : {'rotating', 'oldest', 'fifo'}
        Message that is granted an output first.
    classes : {'none', 'dateline', 'wrap', 'hops', 'ordered', 'own'}, optional
        Classes of channels; default: the routing's own, else the network's, with which it cannot
        come to a deadlock.
    routing : str, optional
        Routing of the networks; default: the first of each.
    warmup, steps, limit : int
        Steps before the window, of the window, and that its messages are waited for.
    bursts : float or str, optional
        Mean steps of a burst, ``B``, or ``B:Q`` with the rate while it is on.
    crossbar, eject : {'one', 'all'}
        Flits that leave an input port, and that a processor takes, in a step.
    link_delay : int
        Steps that a flit takes over a link.
    seeds : int
        Curves of each network and pattern, with consecutive seeds.
    plot : path, optional
        Picture of latency over rate, .pdf, .svg or .png, with the mean's interval over seeds.
    seed : int
        Seed of everything random; with several seeds the first one.

    Returns
    -------
    Result
        curves: a list, one a network (of several patterns P,Q,.. or seeds: one for each of them,
        with pattern and seed), {network, routing, classes, vcs (not in the digest), bound,
        better_routing, saturation_point, saturation_throughput, points}; a point has rate, steps,
        closed, generated, generated_flits, accepted, accepted_flits, delivered, undeliverable,
        unfinished, latency_sum, network_latency_sum, hops_sum, latency_max, latency_p50,
        latency_p95, latency_p99,
        loads_sum, loads_max, moves, backlog_before, backlog_after, source_queue_max,
        node_flits_max, stuck_flits, deadlock, last_move, cycle, cycle_messages, batches, seal,
        offered, throughput, latency_mean, latency_ci95, network_latency_mean, hops_mean,
        utilisation_mean, utilisation_max, jain, saturated (docs/reference/traffic).

    Examples
    --------
    >>> import mpinet
    >>> found = mpinet.load("mesh:4x4", rate=0.1, steps=200)
    >>> found.curves[0].bound, found.curves[0].points[0].saturated
    (1.0, False)
    """
    return perform(load, locals())


SEVERAL = re.compile(r",(?=[^0-9])")
"""Separator of patterns: a comma, but not that of ``hotspot:0,10``."""


def prepare(options: argparse.Namespace) -> Job:
    """Prepare a curve for every network, pattern and seed; refuse what does not go together."""
    folder = journal_of(getattr(options, "out", None))
    named = options.topology
    networks = [named] if isinstance(named, str | Topology) else list(named)
    if not networks:
        raise UsageError("load needs a network.")
    patterns, seeds = list(dict.fromkeys(SEVERAL.split(options.pattern))), read_seeds(options)
    settings = [
        setting
        for pattern in patterns
        for network in networks
        for setting in settings_of(options, network, pattern, seeds)
    ]
    if options.plot is not None:
        require_file(Path(options.plot), ENDINGS, "a plot's file")
        library()
    topology = settings[0].topology.name if len(networks) == 1 else None
    return Load(options, settings, patterns, topology, folder)


class Load(Job):
    """Runs of open-loop traffic: a curve for every network, pattern and seed, a run for every rate.

    Parameters
    ----------
    options : Namespace
        What was typed.
    settings : sequence of Setting
        Networks under patterns, in the order of the curves.
    patterns : sequence of str
        The patterns.
    topology : str, optional
        The network, if there is only one.
    folder : Path, optional
        Keeps each run as it comes.
    """

    unit = "runs"

    def __init__(
        self,
        options: argparse.Namespace,
        settings: Sequence[Setting],
        patterns: Sequence[str],
        topology: str | None,
        folder: Path | None,
    ):
        super().__init__()
        self._options, self._settings, self._patterns = options, settings, patterns
        self._several = len(patterns) > 1 or options.seeds > 1
        self.topology, self._folder = topology, folder
        names = ("switching", "buffers", "vcs", "policy", "crossbar", "eject", "link_delay")
        self.model = {name: getattr(options, name) for name in names}

    def needs(self, ranks: int) -> int:
        """Bytes of the largest network's lanes; each rank hosts a small network whole."""
        from mpinet.experiments.load import is_small

        shared = 1 if is_small(self._settings) else ranks
        return max(
            each.buffering.needs(-(-each.topology.size // shared), each.topology.ports)
            for each in self._settings
        )

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"load on {self.topology or 'these networks'}"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Make the runs that are not kept yet; draw the curves."""
        from mpinet.experiments.load import curves

        def machine_of(topology: Topology, told: Callable[[int], None]) -> Machine:
            from mpinet.machine import Machine

            mapping = mapping_of(self._options, topology, transport)
            return Machine(topology, "all", transport, mapping, watch=told)

        warn = self.warn if transport.rank == 0 else unheard
        rates = read_rates(self._options.rate)
        made = (self._settings, rates, self._key, machine_of, transport, watch, warn)
        found: Row = {"curves": curves(*made, self._folder)}
        self.model["vcs"] = named_vcs(found["curves"])
        if self._several:
            points = [(each.pattern.name, n) for each in self._settings for n in each.seeds]
            for curve, (pattern, seed) in zip(found["curves"], points, strict=True):
                curve |= {"pattern": pattern, "seed": seed}
        if self._options.plot is not None and transport.rank == 0:
            path, panels = Path(self._options.plot), len(self._patterns) > 1
            draw_curves(path, self.rows(found), panels, self._several)
        return found

    def _key(self, run: Run) -> str:
        """Hash a run: its network, pattern, seed and rate, and all that they have in common."""
        number, seed, rate = run
        setting = self._settings[number]
        shared = {name: value for name, value in vars(self._options).items() if name not in PASSING}
        own = {"topology": setting.topology.name, "pattern": setting.pattern.name}
        return key_of("load", shared | own | {"seed": seed, "rate": rate})

    def lasting(self, result: Any) -> Any:
        """Return the curves without their settings."""
        curves = [
            {name: value for name, value in curve.items() if name != "vcs"}
            for curve in result["curves"]
        ]
        return result | {"curves": curves}

    def rows(self, result: Any) -> list[Row]:
        """Return one row per run."""
        return [
            {name: value for name, value in curve.items() if name != "points"}
            | {name: value for name, value in point.items() if not isinstance(value, list)}
            for curve in result["curves"]
            for point in curve["points"]
        ]

    def show(self, result: Any) -> str:
        """Format a table per network, or of several curves one per pattern."""
        curves = result["curves"]
        if not self._several:
            return "\n\n".join(curve_table(curve, self._traffic(curve)) for curve in curves)
        parts = [f"{len(curves)} curves, {len(self.rows(result))} runs"]
        parts += [pattern_table(curves, pattern) for pattern in self._patterns]
        if self._options.plot is not None:
            parts.append(f"{self._options.plot}")
        return "\n\n".join(parts)

    def _traffic(self, curve: Row) -> str:
        """Return what heads the table of a curve."""
        heading = (
            f"{self._options.pattern} traffic on {curve['network']}, routing {curve['routing']}, "
            f"classes {curve['classes']}"
        )
        if self._options.vcs is None and curve["vcs"] != VCS:
            heading += f", {curve['vcs']} virtual channels"
        return heading

    def shortfall(self, result: Any) -> str:
        """Return the sentence on deadlocks; empty if there are none."""
        curves = result["curves"]
        stopped = [curve for curve in curves if any(p["deadlock"] for p in curve["points"])]
        if not stopped:
            return ""
        first = next(point for point in stopped[0]["points"] if point["deadlock"])
        many = f"{len(stopped)} of {len(curves)} curves end in a deadlock. "
        return (many if self._several else "") + told_deadlock(stopped[0]["network"], first)


PASSING = {
    *("command", "json", "out", "plot", "progress", "watchdog", "seeds"),
    *("checkpoint", "every"),
}
"""Options on which no run depends."""


def unheard(text: str) -> None:
    """Drop a sentence, on all ranks but 0."""


def named_vcs(curves: Sequence[Row]) -> int | list[int]:
    """Virtual channels of a link; a list by network if they differ."""
    counts = [curve["vcs"] for curve in curves]
    return counts[0] if len(set(counts)) == 1 else counts
