"""Read the options of ``mpinet load``: seeds, rates, lengths, bursts, and all settings of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.numerals import is_whole, quoted
from mpinet.commands.load import LoadOptions
from mpinet.commands.optionrecords import MOST_SEED, Several, changed
from mpinet.errors import FileError, UsageError
from mpinet.jobs.faults import parse_faults, refuse_busses
from mpinet.jobs.loadplan import Variant, read_numbers
from mpinet.jobs.opening import topology_named
from mpinet.machine.timed.program import Program
from mpinet.machine.traffic.parameters import Buffering, Generation, Window, cables
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import Pattern, pattern_of, pattern_of_program

if TYPE_CHECKING:
    from mpinet.experiments.energy import Energy
    from mpinet.experiments.load import TrafficSetting
    from mpinet.experiments.steady import Steady

MOST_RATES = 1000

MOST_SEEDS = 10_000

LEAST_PILOT = 50
"""Shortest window, in steps, for a pilot run that determines the warm-up."""

VCS = 2
"""Default of the smallest number of virtual channels per link."""


def settings_of(
    options: LoadOptions, variant: Variant, network: Any, pattern: str, seeds: Sequence[int]
) -> list[TrafficSetting]:
    """Return the settings of a network and a pattern: one for all seeds, or one per seed.

    Each seed needs its own setting if the routes or the targets are random. A variant has a single
    value of each varied option.
    """
    from mpinet.experiments.load import TrafficSetting

    topology = topology_named(network)
    routing = topology.routing(variant["routing"], seeds[0])
    require_credits(routing, variant["buffers"])
    program = read_program(options, variant["flits"], topology)
    delay, places = read_delays(options.link_delay, topology)
    traffic = pattern_of(topology, pattern) if program is None else pattern_of_program(program)
    first = TrafficSetting(
        topology,
        routing,
        options.classes,
        traffic,
        Generation(
            traffic.rule,
            traffic.params,
            0.0,
            *read_flits(variant["flits"]),
            *read_bursts(options.bursts),
            rows=traffic.rows if program is None else None,
            program=program,
            bounds=bounds_of(options, traffic),
            **read_loop(options),
        ),
        Buffering(
            options.switching,
            VCS if variant["vcs"] is None else variant["vcs"],
            variant["buffers"],
            options.policy,
            read_crossbar(options.crossbar),
            options.eject,
            delay,
            options.router_delay,
            *read_queue(options.output_queue),
            options.iterations,
            places,
        ),
        read_window(options),
        seeds,
        refuse_busses(parse_faults(topology, options.faults)),
        variant["vcs"] is not None,
        read_steady(options, traffic.rows is not None),
    )
    require_end(first.generation, first.window)
    # All rates are tried here, so an impossible rate is an error before the first run, not after
    # hours.
    for rate in read_rates(options.rate) or ():
        first.at(rate)
    # Here the seed draws only the messages, so all seeds share one routing and its tables.
    if not traffic.is_drawn and (variant["routing"] or routing.name) in topology.routings:
        return [first]
    return [
        replace(first, routing=topology.routing(variant["routing"], seed), seeds=(seed,))
        for seed in seeds
    ]


def bounds_of(options: LoadOptions, pattern: Pattern) -> Sequence[int]:
    """Return the draw bounds of a mix whose patterns have priorities; empty for other patterns."""
    if options.priority and not pattern.bounds:
        raise UsageError("--priority needs a mix of patterns: give --pattern mix:P@SHARE+Q.")
    return pattern.bounds if options.priority else ()


def read_crossbar(given: str | int) -> str | int:
    """Return the number of flits that leave an input port per step, or the word all."""
    return int(given) if is_whole(str(given)) else given


def read_delays(
    given: str | int | Several[int], topology: Topology
) -> tuple[int | Sequence[int], Ints | None]:
    """Read the link delay: a number, a number per link class, or a .csv file of positions.

    Return the delay or delays, and None. For a file, return the longest link's delay, and the
    positions.
    """
    from mpinet.programs.userlines import read_places

    if not isinstance(given, str):
        return given if isinstance(given, int) else [*given], None
    if not given.endswith(".csv"):
        return read_numbers("link-delay", given), None
    places = read_places(topology, Path(given))
    nodes, ports = np.divmod(np.arange(topology.size * topology.ports), topology.ports)
    return int(cables(topology, places, nodes, ports).max()), places


def read_queue(given: str | int) -> tuple[int, int]:
    """Return the flits of an output queue, and the accepted flits per step (0: no limit)."""
    words = str(given).split(":")
    if not all(map(is_whole, words)) or len(words) > 2 or (len(words) == 2 and int(words[1]) < 1):
        raise UsageError(
            f"--output-queue {quoted(str(given))}: give Q, or Q:S, the flits of a queue and those "
            "that it takes in a step."
        )
    return int(words[0]), int(words[1]) if len(words) == 2 else 0


ALONE = (
    *("pattern", "rate", "priority", "replies", "batch", "bursts", "warmup"),
    *("until", "saturation", "plot"),
)
"""Options about generated messages or rates, which do not apply to a program."""

OF_PROGRAMS = ("flit_bytes", "step_time", "place")
"""Options that apply only to a program."""


def read_program(options: LoadOptions, flits: int | str, topology: Topology) -> Program | None:
    """Return the given program, in flits and with its processors placed; None without one."""
    from mpinet.programs.messages.flits import in_flits, opened
    from mpinet.programs.messages.placing import placed, places_of

    for word, number in (("flit-bytes", options.flit_bytes), ("step-time", options.step_time)):
        if not 1 <= number < 2**31:
            raise UsageError(f"--{word} is a whole number 1..2^31-1, not {number}.")
    if options.program is None:
        for name in changed(options, *OF_PROGRAMS):
            word = name.replace("_", "-")
            raise UsageError(f"--{word} applies only with --program.")
        return None
    for name in changed(options, *ALONE):
        raise UsageError(
            f"--{name} is about messages that processors generate, and --program says what "
            "they send: leave it out."
        )
    chunk, long, _ = read_flits(flits)
    if long:
        raise UsageError("--flits with --program is the length of a schedule's chunk, one number.")
    program = opened(options.program, topology, chunk * options.flit_bytes)
    places = places_of(options.place, topology, program.processors, options.seed)
    made = in_flits(program, options.flit_bytes, options.step_time)
    return made if places is None else placed(made, places, topology.hosts)


def read_loop(options: LoadOptions) -> dict[str, int]:
    """Return the parameters of replies and batches; raise an error for options without effect."""
    if options.replies is None:
        for name in changed(options, "outstanding", "service"):
            raise UsageError(f"--{name} applies only with --replies.")
    if options.batch is None and options.phases != 1:
        raise UsageError("--phases are phases of a batch: give --batch.")
    for name in ("replies", "outstanding", "batch"):
        value = vars(options)[name]
        if value is not None and value < 1:
            raise UsageError(f"--{name} is a whole number >= 1, not {value}.")
    numbers = {
        "reply_flits": options.replies,
        "service": options.service,
        "outstanding": options.outstanding,
        "batch": options.batch,
        "phases": options.phases,
    }
    return {name: number for name, number in numbers.items() if number is not None}


def read_energy(given: str | None) -> Energy | None:
    """Return the energies per bit: ``link:E,router:E,bits:B``, each optional."""
    from mpinet.experiments.energy import Energy

    if given is None:
        return None
    wrong = UsageError(
        f"--energy {quoted(given)}: give energies per bit (>= 0) and the bits per flit, "
        "link:E,router:E,bits:B, as in link:1.2,router:0.8,bits:128."
    )
    named = [word.partition(":") for word in given.split(",")]
    # A name given twice leaves fewer entries than words, which the next check rejects.
    numbers = {name: text for name, _, text in named}
    if len(numbers) < len(named) or not numbers.keys() <= {"link", "router", "bits"}:
        raise wrong
    bits = numbers.pop("bits", "1")
    try:
        energies = {name: float(text) for name, text in numbers.items()}
    except ValueError:
        raise wrong from None
    if not energies or not is_whole(bits) or int(bits) < 1:
        raise wrong
    if not all(0 <= each < inf for each in energies.values()):
        raise wrong
    return Energy(**energies, bits=int(bits))


AUTO = "auto"


def read_window(options: LoadOptions) -> Window:
    """Return the measurement window; with ``--warmup auto`` the pilot's window."""
    given, interval = options.warmup, options.intervals or 0
    if options.intervals is not None and not 1 <= options.intervals <= MOST_STEPS:
        raise UsageError(f"--intervals is a whole number of steps >= 1, not {interval}.")
    # A program ends by itself after its last operation.
    if options.program is not None:
        return Window(0, MOST_STEPS, 0, interval=interval)
    if options.batch is not None:
        # The whole run is measured, from the first step to the last.
        return Window(0, options.steps + options.limit, 0, interval=interval)
    if given == AUTO:
        if options.steps < LEAST_PILOT:
            raise UsageError(
                f"--warmup auto needs --steps {LEAST_PILOT} or more, not {options.steps}."
            )
        # The pilot measures from step 0 to find the end of the transient.
        return Window(0, options.steps, options.limit, interval=interval)
    if not is_whole(str(given)):
        raise UsageError(f"--warmup {quoted(str(given))}: give a number of steps, or auto.")
    return Window(int(given), options.steps, options.limit, interval=interval)


def read_steady(options: LoadOptions, traced: bool) -> Steady:
    """Return the requested searches; raise an error for a trace, whose messages are finite."""
    from mpinet.experiments.steady import DOUBLINGS, NAMED, Steady

    until, resolution = _part(options.until), options.saturation
    if resolution is not None and not 0.0001 <= resolution <= 0.5:
        raise UsageError(
            f"--saturation {resolution:g}: give the resolution, 0.0001..0.5 messages per processor "
            "and step."
        )
    steady = Steady(options.warmup == AUTO, until, resolution or 0.0)
    if options.batch is not None and steady != NAMED:
        raise UsageError(
            "Messages of --batch come to an end, and are all measured: --warmup auto, --until and "
            "--saturation look for a steady state."
        )
    if traced and steady != NAMED:
        raise UsageError(
            "--warmup auto, --until and --saturation do not apply to a trace, which has no "
            "steady state: give a pattern."
        )
    # The search may double the window this often, and must not exceed the largest window during a
    # long run.
    longest = options.steps << DOUBLINGS
    if steady and longest > MOST_STEPS:
        raise UsageError(
            f"--warmup auto and --until double --steps up to {DOUBLINGS} times: give at most "
            f"{MOST_STEPS >> DOUBLINGS} steps."
        )
    return steady


MOST_STEPS = 2**29 - 1
"""Longest window in steps."""


def _part(given: str | float | None) -> float:
    """Read a part of a whole, ``2%`` or 0.02; None gives 0."""
    if given is None:
        return 0.0
    text = str(given)
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 < found < 1:
        raise UsageError(
            f"--until {quoted(text)}: give a part of the mean latency, as in 2% or 0.02."
        )
    return found


def read_seeds(options: LoadOptions) -> Sequence[int]:
    """Return the seeds: the named ones, or the requested number from the first seed on."""
    given = options.seeds
    if isinstance(given, str) and is_whole(given):
        given = int(given)
    if not isinstance(given, int):
        return _named_seeds(given, options.seed)
    first, count = options.seed, given
    if not 1 <= count <= MOST_SEEDS:
        raise UsageError(f"--seeds is 1..{MOST_SEEDS} seeds, not {count}.")
    if first + count - 1 > MOST_SEED:
        raise UsageError(f"--seeds {count} --seed {first}: the largest seed is 2^63-1.")
    return range(first, first + count)


def _named_seeds(given: Any, first: int) -> Sequence[int]:
    """Return the seeds of ``A..B`` or ``A,B,..``, or of a sequence."""
    words = given if isinstance(given, str) else ",".join(map(str, given))
    ends = words.split("..")
    each = ends if len(ends) == 2 else words.split(",")
    if not all(map(is_whole, each)) or max(map(int, each)) > MOST_SEED:
        raise UsageError(f"--seeds {quoted(words)}: give K, A..B or A,B,.., with seeds 0..2^63-1.")
    # With named seeds, --seed would silently have no effect.
    if first:
        raise UsageError(f"--seeds {quoted(words)} already names the seeds: leave out --seed.")
    seeds = range(int(ends[0]), int(ends[1]) + 1) if len(ends) == 2 else [int(n) for n in each]
    if not 1 <= len(seeds) <= MOST_SEEDS or len(set(seeds)) < len(seeds):
        raise UsageError(
            f"--seeds {quoted(words)}: give 1..{MOST_SEEDS} different seeds, the lower end first."
        )
    return seeds


def journal_of(out: Path | None) -> Path | None:
    """Return the folder for finished curves next to a ``.jsonl`` file; None for other files.

    Raises
    ------
    FileError
        The folder's name belongs to another file.
    """
    if out is None or out.suffix.lower() != ".jsonl":
        return None
    folder = out.with_name(f"{out.name}.runs")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"--out {out}: the folder for finished runs, {folder}, is another file.")
    return folder


def require_end(generation: Generation, window: Window) -> None:
    """Raise `UsageError` if messages are too long to be delivered before the end."""
    longest, measured = generation.longest, window.steps + window.limit
    if generation.rows is not None:
        measured += window.warmup
    if longest > measured:
        raise UsageError(
            f"A message of {longest} flits takes at least {longest} steps, but the run ends after "
            f"{measured} steps: give shorter messages (--flits) or a larger --limit."
        )


def require_credits(routing: Routing, buffers: int) -> None:
    """Raise `UsageError` if a routing chooses by credits, but queues are unlimited."""
    if routing.adaptive and buffers == 0:
        raise UsageError(
            f"--routing {routing.name} chooses by free buffer space, but --buffers 0 is "
            "unlimited: give --buffers 1 or more."
        )


def read_rates(given: Any) -> list[float] | None:
    """Return the rates, ascending: ``R``, ``A,B,C`` or ``A..B/K``; None if none are given."""
    if given is None:
        return None
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
            f"--rate {quoted(str(given))}: rates are 0..1 messages per step; give R, A,B,C or "
            "A..B/K."
        )
    return sorted(set(numbers))


def _number(given: str, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError(
            f"--rate {quoted(given)}: {quoted(word)} is not a number; give R, A,B,C or A..B/K, "
            "as in 0.1..0.5/5 for five rates, or 0.1 for 10%."
        ) from None


def _between(given: str, low: str, high: str, count: str) -> list[float]:
    """Return K evenly spaced rates from A to B."""
    first, last, points = _number(given, low), _number(given, high), _number(given, count or "10")
    if points != int(points) or not 2 <= points <= MOST_RATES:
        raise UsageError(f"--rate {quoted(given)}: K is a whole number 2..{MOST_RATES}.")
    steps = int(points) - 1
    # Rounding drops the last binary digits. Otherwise 0.30000000000000004 would be a separate rate
    # in documents and in keys of saved runs.
    return [round(first + (last - first) * i / steps, 12) for i in range(steps + 1)]


def read_flits(given: Any) -> tuple[int, int, float]:
    """Return the two lengths, and the share of the second: ``F``, or ``F1:p1,F2:p2``."""
    words = str(given).split(",")
    try:
        if len(words) == 1 and ":" not in words[0]:
            return int(words[0]), 0, 0.0
        (short, a), (long, b) = (word.split(":") for word in words)
        # Decimal shares such as 0.7 and 0.3 may not sum to exactly 1 in binary.
        if abs(float(a) + float(b) - 1) > 1e-9:
            raise UsageError(f"--flits {quoted(str(given))}: the two shares must add up to 1.")
        return int(short), int(long), float(b)
    except ValueError as error:
        # UsageError is a ValueError, and its sentence about shares is more precise than the one
        # below.
        if isinstance(error, UsageError):
            raise
        raise UsageError(
            f"--flits {quoted(str(given))}: give F, or F1:p1,F2:p2 as in 1:0.8,5:0.2."
        ) from None


def read_bursts(given: Any) -> tuple[float, float]:
    """Return the mean length of bursts, and the rate during a burst: ``B`` or ``B:Q``."""
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
            "the rate during a burst."
        )
    return found
