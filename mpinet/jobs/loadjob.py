"""The runs of ``mpinet load``: a curve for each network, pattern and seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpinet.base.files import write_text
from mpinet.commands.job import Job, Watch
from mpinet.commands.load import LoadOptions
from mpinet.commands.optionrecords import values_of
from mpinet.experiments.plan import key_of
from mpinet.jobs.loadcurves import (
    LABELS,
    WIDTHS,
    between_seeds,
    curve_table,
    draw_curves,
    drawable,
    pattern_table,
    program_table,
    seeds_table,
    told_deadlock,
    told_stuck,
)
from mpinet.jobs.loadplan import plan_file, varied_names
from mpinet.jobs.loadruns import VCS, read_energy, read_rates, read_seeds
from mpinet.machine import Machine
from mpinet.machine.timed.program import Program
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.experiments.load import Run, TrafficSetting


@dataclass(eq=False, repr=False)
class LoadJob(Job):
    """Open-loop traffic: a curve for each network, pattern and seed, and a run for each rate."""

    unit = "runs"

    _options: LoadOptions
    _settings: Sequence[TrafficSetting]
    """Networks with their patterns, in the order of the curves."""
    _variants: Sequence[Row]
    """Values of the varied options, one row for each setting."""
    _patterns: Sequence[str]
    _lacking: Sequence[str]
    """Sentences on left-out curves."""
    _folder: Path | None
    """Folder for the result of each finished run; None without a folder."""
    plan: str = field(default="", init=False)

    def __post_init__(self) -> None:
        options = self._options
        self._varied, self._energy = varied_names(options), read_energy(options.energy)
        self._seeded = len(read_seeds(options)) > 1
        self._several = len(self._patterns) > 1 or self._seeded
        self.topology = self._networks[0] if len(self._networks) == 1 else None
        given = values_of(options)
        self.model = {name: given[name] for name in MODEL}

    def needs(self, ranks: int) -> int:
        """Return the bytes of the largest network's lanes, or of the computation of its bound.

        Each rank hosts small networks as a whole.
        """
        from mpinet.experiments.load import is_small
        from mpinet.measure.channelload import bound_needs

        shared = 1 if is_small(self._settings) else ranks
        return max(
            max(
                each.buffering.needs(-(-each.topology.size // shared), each.topology.ports),
                bound_needs(each.topology, each.pattern, ranks),
            )
            for each in self._settings
        )

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"load on {self.topology or 'these networks'}"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run all rates without a saved result, and draw the curves."""
        from mpinet.experiments.load import curves

        for sentence in self._lacking if transport.rank == 0 else ():
            self.warn(sentence)

        def machine_of(topology: Topology, told: Callable[[int], None]) -> Machine:
            from mpinet.machine.choice import open_mapping

            mapping = open_mapping(self._options.mapping, topology, transport, self._options.seed)
            return Machine(topology, "all", transport, mapping, watch=told)

        warn = self.warn if transport.rank == 0 else unheard
        rates = read_rates(self._options.rate)
        made = (self._settings, rates, self._key, machine_of, transport, watch, warn)
        found: Row = {"curves": curves(*made, self._folder)}
        # Classes of channels may need more virtual channels than the default, so only the runs know
        # the number.
        self.model["vcs"] = named_vcs(found["curves"])
        each = zip(self._settings, self._variants, strict=True)
        points = [(setting, variant, n) for setting, variant in each for n in setting.seeds]
        for curve, (setting, variant, seed) in zip(found["curves"], points, strict=True):
            curve |= {name: variant[name] for name in self._varied if name not in curve}
            if self._several:
                curve |= {"pattern": setting.pattern.name, "seed": seed}
        if self._energy is not None:
            for point in (point for curve in found["curves"] for point in curve["points"]):
                point |= self._energy.of(point)
        if self._seeded:
            found["between_seeds"] = between_seeds(found["curves"], self._varied)
        if self._options.plot is not None and transport.rank == 0:
            path = Path(self._options.plot)
            self.plotted(found, path)
            write_text(plan_file(path), self.plan)
        return found

    has_curves = True

    def plotted(self, result: Any, file: Path) -> None:
        """Draw latency over rate, with a panel for each pattern."""
        rows = [{"pattern": self._patterns[0]} | row for row in self.rows(result)]
        draw_curves(file, rows, self.drawn(file, len(self._networks)))

    @property
    def _networks(self) -> list[str]:
        """Names of the networks, without repetitions."""
        return list(dict.fromkeys(setting.topology.name for setting in self._settings))

    def drawn(self, path: Path, networks: int) -> Row:
        """Return the table ``[plot]`` of the curves."""
        by = [*(["network"] if networks > 1 or not self._varied else []), *self._varied]
        table: Row = {"x": "rate", "y": "latency_mean", "by": by}
        table |= {"hollow": "saturated", "tick": "bound_rate", "output": str(path)}
        table |= {"panels": "pattern"} if len(self._patterns) > 1 else {}
        table |= {"error": "seed"} if self._several else {}
        return (
            table
            | dict(zip(("x_label", "y_label"), LABELS, strict=True))
            | {"width": WIDTHS[len(self._patterns) > 1]}
        )

    def _key(self, run: Run) -> str:
        """Hash a run: network, pattern, seed, rate, and the options shared by all runs."""
        number, seed, rate = run
        setting = self._settings[number]
        given = values_of(self._options)
        # A saved run is found by its key. Options without effect on results, such as a plot's name,
        # must not cause a new run.
        shared: Row = {name: value for name, value in given.items() if name not in PASSING}
        own: Row = {"topology": setting.topology.name, "pattern": setting.pattern.name}
        # A program built in Python has no file name, and is identified by its contents.
        if isinstance(shared["program"], Program):
            shared["program"] = shared["program"].sha256
        own |= {name: self._variants[number][name] for name in self._varied}
        # A run without a rate is the saturation search, the only run that depends on the
        # resolution.
        if rate is None:
            own["saturation"] = self._options.saturation
        return key_of("load", shared | own | {"seed": seed, "rate": rate})

    def lasting(self, result: Any) -> Any:
        """Return the curves without unset options, and without the values derived from them."""
        curves = [
            {k: v for k, v in curve.items() if k != "vcs" or "vcs" in self._varied}
            | {"points": [self._lasting(point) for point in curve["points"]]}
            for curve in result["curves"]
        ]
        kept = {name: value for name, value in result.items() if name != "between_seeds"}
        return kept | {"curves": curves}

    def _lasting(self, point: Row) -> Row:
        """Return a point without the latencies by length, a field that is newer than the digest."""
        if self._options.replies is not None or self._options.priority:
            return point
        return {name: value for name, value in point.items() if name != "latency_by_kind"}

    def rows(self, result: Any) -> list[Row]:
        """Return one row per run, with the bound converted to a rate."""
        # Curves are in the order of settings, with one curve per seed of a setting.
        flits = [setting.mean_flits for setting in self._settings for _ in setting.seeds]
        return [
            {name: value for name, value in curve.items() if name != "points"}
            | {"bound_rate": None if curve["bound"] is None else curve["bound"] / length}
            | {name: value for name, value in point.items() if not isinstance(value, list)}
            for curve, length in zip(result["curves"], flits, strict=True)
            for point in curve["points"]
        ]

    def show(self, result: Any) -> str:
        """Format a table per network; with several curves a table per pattern."""
        curves = result["curves"]
        if self._options.program is not None and len(curves) > 1:
            parts = [program_table(curves, self._settings[0].pattern.name, self._varied)]
        elif self._several or self._varied:
            parts = [f"{len(curves)} curves, {len(self.rows(result))} runs"]
            for pattern in self._patterns:
                under = [each for each in curves if each.get("pattern", pattern) == pattern]
                parts.append(pattern_table(under, pattern, self._varied))
            if self._seeded:
                parts.append(seeds_table(result["between_seeds"]))
        else:
            parts = [curve_table(curve, self._traffic(curve)) for curve in curves]
        if self._options.plot is not None:
            plan = plan_file(Path(self._options.plot))
            made = f"{self._options.plot}\n{plan} makes it again"
            parts.append(made if drawable(self.rows(result)) else "no plot: no run has a latency")
        return "\n\n".join(parts)

    def _traffic(self, curve: Row) -> str:
        """Return the title above a curve's table: pattern, network, routing, classes."""
        pattern = self._settings[0].pattern.name
        heading = (
            f"{pattern} traffic on {curve['network']}, routing {curve['routing']}, "
            f"classes {curve['classes']}"
        )
        if self._options.vcs is None and curve["vcs"] != VCS:
            heading += f", {curve['vcs']} virtual channels"
        return heading

    def shortfall(self, result: Any) -> str:
        """Return the sentence on deadlocks; empty if there are none."""
        curves = result["curves"]
        # Operations of a program may wait for each other while all channels are free. This is not a
        # deadlock of channels.
        stuck = [c for c in curves if c["points"][0].get("program", {}).get("stuck")]
        if stuck and not stuck[0]["points"][0]["deadlock"]:
            return told_stuck(stuck[0]["network"], stuck[0]["points"][0])
        stopped = [curve for curve in curves if any(p["deadlock"] for p in curve["points"])]
        if not stopped:
            return ""
        first = next(point for point in stopped[0]["points"] if point["deadlock"])
        many = f"{len(stopped)} of {len(curves)} curves end in a deadlock. "
        told = told_deadlock(stopped[0]["network"], first, self._options.faults is not None)
        return (many if self._several else "") + told


MODEL = (
    *("switching", "buffers", "vcs", "policy", "crossbar", "eject", "link_delay"),
    *("router_delay", "output_queue", "iterations"),
)
"""Options that define the model of routers and links."""

PASSING = {
    *("command", "json", "out", "plot", "progress", "watchdog", "seeds", "saturation"),
    "energy",
    *("checkpoint", "every"),
}
"""Options without effect on any run."""


def unheard(text: str) -> None:
    """Ignore a sentence, on all ranks except 0."""


def named_vcs(curves: Sequence[Row]) -> int | list[int]:
    """Return the virtual channels of a link; a list by network if they differ."""
    counts = [curve["vcs"] for curve in curves]
    return counts[0] if len(set(counts)) == 1 else counts
