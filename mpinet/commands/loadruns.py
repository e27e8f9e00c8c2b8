"""The runs of ``mpinet load`` at several rates, on several networks: its job, and what is typed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mpinet.base.numerals import quoted
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import mapping_of, topology_of
from mpinet.commands.route import parse_faults
from mpinet.errors import UsageError
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, table

if TYPE_CHECKING:
    from mpinet.experiments.load import Setting
    from mpinet.machine import Machine
    from mpinet.machine.traffic.parameters import Generation, Window
    from mpinet.machine.transport import Local

MOST_RATES = 1000

VCS = 2
"""Least virtual channels of a link, unless the options name a number."""


def load_of(options: argparse.Namespace) -> Load:
    """Read rates, lengths and the pattern; refuse what does not go together."""
    from mpinet.experiments.load import Setting
    from mpinet.machine.traffic.parameters import Buffering, Generation, Window
    from mpinet.programs.patterns import pattern_of

    named = options.topology
    several = [named] if isinstance(named, str | Topology) else list(named)
    if not several:
        raise UsageError("load needs a network.")
    rates = read_rates(options.rate)
    networks = [topology_of(argparse.Namespace(topology=each)) for each in several]
    routings = [topology.routing(options.routing, options.seed) for topology in networks]
    for routing in routings:
        require_credits(routing, options.buffers)
    buffering = Buffering(
        options.switching,
        VCS if options.vcs is None else options.vcs,
        options.buffers,
        options.policy,
        options.crossbar,
        options.eject,
        options.link_delay,
    )
    window = Window(options.warmup, options.steps, options.limit)
    settings = []
    for topology, routing in zip(networks, routings, strict=True):
        pattern = pattern_of(topology, options.pattern)
        generation = Generation(
            pattern.rule,
            pattern.params,
            0.0,
            *read_flits(options.flits),
            *read_bursts(options.bursts),
            rows=pattern.rows,
        )
        faults = parse_faults(topology, options.faults)
        setting = Setting(
            topology,
            routing,
            options.classes,
            pattern,
            generation,
            buffering,
            window,
            options.seed,
            faults,
            options.vcs is not None,
        )
        require_end(generation, window)
        for rate in rates:
            setting.at(rate)
        settings.append(setting)
    if options.pattern.endswith(".csv"):
        rates = rates[:1]
    return Load(options, settings, rates)


def require_end(generation: Generation, window: Window) -> None:
    """Raise `UsageError` if messages are too long to be delivered before the end."""
    longest, measured = generation.longest, window.steps + window.limit
    if generation.rows is not None:
        measured += window.warmup
    if longest > measured:
        raise UsageError(
            f"A message of {longest} flits takes {longest} steps at least, and after {measured} "
            "steps nobody waits for it any more: give shorter messages (--flits), or a longer "
            "--limit."
        )


def require_credits(routing: Routing, buffers: int) -> None:
    """Raise `UsageError` if a routing chooses by credits, and queues are unlimited."""
    if routing.adaptive and buffers == 0:
        raise UsageError(
            f"--routing {routing.name} goes where buffers have most room, and with --buffers 0 "
            "they have no end: give --buffers 1 or more."
        )


def read_rates(given: Any) -> list[float]:
    """The rates that were given, ascending: ``R``, ``A,B,C`` or ``A..B/K``."""
    if isinstance(given, str):
        words = given.split(",")
        if ".." in given:
            ends, _, count = given.partition("/")
            low, _, high = ends.partition("..")
            numbers = _between(given, low, high, count)
        else:
            numbers = [_number(given, word) for word in words]
    else:
        numbers = [float(n) for n in (given if isinstance(given, Sequence) else [given])]
    wrong = [number for number in numbers if not 0 <= number <= 1]
    if wrong or not numbers:
        raise UsageError(
            f"--rate {quoted(str(given))}: a processor generates 0..1 messages a step; give R, "
            "A,B,C or A..B/K."
        )
    return sorted(set(numbers))


def _number(given: str, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError(
            f"--rate {quoted(given)}: {quoted(word)} is not a number; give R, A,B,C or A..B/K."
        ) from None


def _between(given: str, low: str, high: str, count: str) -> list[float]:
    """Return K rates from A to B."""
    first, last, points = _number(given, low), _number(given, high), _number(given, count or "10")
    if points != int(points) or not 2 <= points <= MOST_RATES:
        raise UsageError(f"--rate {quoted(given)}: K is a whole number 2..{MOST_RATES}.")
    steps = int(points) - 1
    return [round(first + (last - first) * i / steps, 12) for i in range(steps + 1)]


def read_flits(given: Any) -> tuple[int, int, float]:
    """The lengths that were given, and the share of the second: ``F``, or ``F1:p1,F2:p2``."""
    words = str(given).split(",")
    try:
        if len(words) == 1 and ":" not in words[0]:
            return int(words[0]), 0, 0.0
        (short, a), (long, b) = (word.split(":") for word in words)
        if abs(float(a) + float(b) - 1) > 1e-9:
            raise UsageError(f"--flits {quoted(str(given))}: the two shares add up to 1.")
        return int(short), int(long), float(b)
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(
            f"--flits {quoted(str(given))}: give F, or F1:p1,F2:p2 as in 1:0.8,5:0.2."
        ) from None


def read_bursts(given: Any) -> tuple[float, float]:
    """The mean length of bursts and the rate while they are on: ``B`` or ``B:Q``."""
    if given is None:
        return 0.0, 1.0
    length, _, rate = str(given).partition(":")
    try:
        found = float(length), float(rate or "1")
    except ValueError:
        found = -1.0, 0.0
    if found[0] < 1 or not 0 < found[1] <= 1:
        raise UsageError(
            f"--bursts {quoted(str(given))}: give B or B:Q, the mean steps of a burst (>= 1) and "
            "the rate while it is on."
        )
    return found


COLUMNS = {
    "rate": "rate",
    "offered": "offered",
    "throughput": "throughput",
    "latency_mean": "latency",
    "latency_ci95": "+-",
    "latency_p50": "p50",
    "latency_p99": "p99",
    "network_latency_mean": "in network",
    "hops_mean": "hops",
    "utilisation_max": "busiest",
    "saturated": "saturated",
}


class Load(Job):
    """Runs of open-loop traffic at several rates, on several networks."""

    unit = "runs"

    def __init__(
        self, options: argparse.Namespace, settings: Sequence[Setting], rates: Sequence[float]
    ):
        super().__init__()
        self.options, self.settings, self._rates = options, settings, rates
        if len(settings) == 1:
            self.topology = settings[0].topology.name
        names = ("switching", "buffers", "vcs", "policy", "crossbar", "eject", "link_delay")
        self.model = {name: getattr(options, name) for name in names}

    def run(self, transport: Local, watch: Watch) -> Row:
        """Make the runs."""
        from mpinet.experiments.load import curves

        def machine_of(topology: Topology, told: Callable[[int], None]) -> Machine:
            from mpinet.machine import Machine

            mapping = mapping_of(self.options, topology, transport)
            return Machine(topology, "all", transport, mapping, watch=told)

        made = (self.settings, self._rates, machine_of, transport, watch)
        found = curves(*made, self.warn if transport.rank == 0 else unheard)
        self.model["vcs"] = named_vcs(found)
        return {"curves": found}

    def needs(self, ranks: int) -> int:
        """Bytes of the largest network's lanes; each rank hosts a small network whole."""
        from mpinet.experiments.load import is_small

        shared = 1 if is_small(self.settings) else ranks
        return max(
            each.buffering.needs(-(-each.topology.size // shared), each.topology.ports)
            for each in self.settings
        )

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"load on {self.topology or 'these networks'}"

    def show(self, result: Any) -> str:
        """Format a table per network, with its conclusions."""
        return "\n\n".join(self._shown(curve) for curve in result["curves"])

    def _shown(self, curve: Row) -> str:
        heading = (
            f"{self.options.pattern} traffic on {curve['network']}, routing {curve['routing']}, "
            f"classes {curve['classes']}"
        )
        if self.options.vcs is None and curve["vcs"] != VCS:
            heading += f", {curve['vcs']} virtual channels"
        rows = [_cells(point) for point in curve["points"]]
        lines = [heading, table(rows, list(COLUMNS.values()))]
        if (curve["saturation_point"], curve["saturation_throughput"]) != (None, None):
            lines.append(
                f"saturation: last stable rate {cell_text(curve['saturation_point'])}, throughput "
                f"in overload {cell_text(curve['saturation_throughput'])}"
            )
        lines.append(f"bound by the busiest channel: {cell_text(curve['bound'])}")
        if curve["better_routing"]:
            lines.append(f"--routing {curve['better_routing']} would raise the bound")
        return "\n".join(lines)

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

    def shortfall(self, result: Any) -> str:
        """Return the sentence on deadlocks; empty if there are none."""
        for curve in result["curves"]:
            for point in curve["points"]:
                if point["deadlock"]:
                    return told_deadlock(curve["network"], point)
        return ""


def _cells(point: Row) -> list[Any]:
    """Return the cells of a point; in a deadlock its measures mean nothing."""
    if not point["deadlock"]:
        return [point[name] for name in COLUMNS]
    known = {"rate": point["rate"], "offered": point["offered"], "saturated": "deadlock"}
    return [known.get(name) for name in COLUMNS]


def unheard(text: str) -> None:
    """Drop a sentence, on all ranks but 0."""


def named_vcs(curves: Sequence[Row]) -> int | list[int]:
    """Virtual channels of a link; a list by network if they differ."""
    counts = [curve["vcs"] for curve in curves]
    return counts[0] if len(set(counts)) == 1 else counts


def told_deadlock(network: str, point: Row) -> str:
    """Return the sentence on a deadlock: its step, its flits, and the cycle of channels."""
    channels = [
        f"{node}:{port}.{vc} ({source} to {target})"
        for (node, port, vc), (source, target, _) in zip(
            point["cycle"], point["cycle_messages"], strict=True
        )
    ]
    if len(channels) > SHOWN:
        channels = [*channels[: SHOWN - 1], f".. {len(channels) - SHOWN + 1} more"]
    return (
        f"Deadlock on {network} at rate {point['rate']:g}: the last flit moved in step "
        f"{point['last_move']}, and {point['stuck_flits']} are left. Each of these channels "
        f"(node:port.vc, with the message that waits behind it) waits for the next, the last for "
        f"the first: {', '.join(channels)}. Without --classes and --vcs load takes classes that "
        "break such circles."
    )


SHOWN = 8
"""Channels of a deadlock that a sentence names."""
