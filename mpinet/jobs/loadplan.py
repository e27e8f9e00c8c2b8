"""The curves of ``mpinet load``, one for each combination, and the plan that makes them again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mpinet.base.files import read_text
from mpinet.commands.load import LoadOptions
from mpinet.commands.network import named
from mpinet.commands.optionrecords import values_of
from mpinet.commands.options import numbers_of
from mpinet.commands.signature import options_of
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology, no_routing

VARIED = ("routing", "vcs", "flits", "buffers")
"""Options that may have several values, each combination of which is a curve, in their order."""

MADE = "# The plan of a plot, written by mpinet load; "
"""Beginning of a plan, by which it is known and may be written again."""

NO_RUN = ("topology", "pattern", *VARIED, "plot", "mapping", "memory_limit", "force", "checkpoint")
"""Options that a plan writes elsewhere, or that do not bear on the runs."""

Variant = dict[str, Any]


def several(name: str, given: Any) -> list[Any]:
    """Return the values of an option that may have several.

    Raises
    ------
    UsageError
        There is none, or one is given twice.
    """
    if name in ("vcs", "buffers") and isinstance(given, str):
        given = read_numbers(name, given)
    values = list(given) if isinstance(given, list | tuple) else [given]
    if name == "routing" and isinstance(given, str):
        values = given.split(",")
    # Two lengths with shares have a comma of their own, and are one value.
    if name == "flits" and isinstance(given, str) and ":" not in given:
        values = given.split(",")
    # Values may mix numbers and texts: 4 and '4' would be the same curve twice.
    if not values or len(set(map(str, values))) < len(values):
        raise UsageError(f"--{name}: give one value, or several that differ.")
    return values


def read_numbers(name: str, text: str) -> int | list[int]:
    """Read whole numbers joined by commas."""
    try:
        return numbers_of(text)
    except ValueError as error:
        raise UsageError(f"--{name}: {error}.") from None


def varied_names(options: LoadOptions) -> list[str]:
    """Return the options that have several values."""
    given = values_of(options)
    return [name for name in VARIED if len(several(name, given[name])) > 1]


def variants_of(options: LoadOptions) -> list[Variant]:
    """Return all combinations of values of the options that may have several."""
    given = values_of(options)
    values = [several(name, given[name]) for name in VARIED]
    return [dict(zip(VARIED, chosen, strict=True)) for chosen in itertools.product(*values)]


def fitting(topology: Topology, variants: Sequence[Variant]) -> list[Variant]:
    """Return the variants whose routing a network has; all of them if there is only one routing.

    Raises
    ------
    UsageError
        The network has none of the routings.
    """
    names = dict.fromkeys(variant["routing"] for variant in variants)
    if len(names) > 1 and not any(map(topology.has_routing, names)):
        raise UsageError(
            f"{topology.name} has none of the routings {', '.join(map(str, names))}; it has: "
            f"{', '.join(sorted(topology.routing_names))}."
        )
    return [each for each in variants if len(names) == 1 or topology.has_routing(each["routing"])]


def require_known(topologies: Sequence[Topology], variants: Sequence[Variant]) -> list[str]:
    """Return a sentence for each routing that some of the networks lack.

    Raises
    ------
    UsageError
        None of the networks has a routing.
    """
    names = list(dict.fromkeys(variant["routing"] for variant in variants))
    if len(names) == 1:
        return []
    lacking = []
    for name in names:
        without = [each.name for each in topologies if not each.has_routing(name)]
        # A routing that some networks lack leaves curves out. One that all lack is a misspelt name.
        if len(without) == len(topologies):
            raise no_routing(topologies[0], name, topologies[0].routing_names)
        if without:
            lacking.append(f"{', '.join(without)} has no routing {name}: that curve is left out.")
    return lacking


def plan_file(plot: Path) -> Path:
    """Name the file beside a plot that repeats it; refuse to replace one that is something else.

    Raises
    ------
    UsageError
        A file of that name is there that no command has written.
    """
    file = plot.with_suffix(".toml")
    # The plan's name follows from the plot's, and the user may have a file of that name.
    try:
        is_ours = not file.exists() or read_text(file).startswith(MADE)
    except (OSError, UnicodeDecodeError):
        is_ours = False
    if not is_ours:
        raise UsageError(
            f"--plot {plot}: {file}, where the plan that makes it again is written, is there, and "
            "no such plan: name another picture."
        )
    return file


def plan_text(
    function: Callable[..., Any],
    options: LoadOptions,
    networks: Sequence[tuple[str, Sequence[Variant]]],
    patterns: Sequence[str],
    drawn: Mapping[str, Any],
) -> str:
    """Return the TOML of a sweep that makes the same runs, and draws the same plot.

    Parameters
    ----------
    function : callable
        The command's, for the defaults of its options.
    options : LoadOptions
        What was given.
    networks : sequence of (str, sequence of dict)
        The networks, with the variants that each has.
    patterns : sequence of str
        The patterns.
    drawn : mapping
        The table ``[plot]``.
    """
    plot, given = Path(drawn["output"]), values_of(options)
    lines = [
        f"{MADE}mpinet sweep {plan_file(plot).name} --out FOLDER && mpinet plot FOLDER",
        'command = "load"',
        f"pattern = {_value(patterns)}",
    ]
    for option in options_of(function):
        value = given[option.name]
        if option.name not in NO_RUN and value != option.default:
            if isinstance(value, list | tuple):
                value = ",".join(map(str, value))
            lines.append(f"{option.name} = {_value(value)}")
    lines += ["", "[plot]", *(f"{key} = {_value(value)}" for key, value in drawn.items())]
    defaults = {option.name: option.default for option in options_of(function)}
    for network, variants in networks:
        lines += ["", "[[part]]", f"topology = {_value(network)}"]
        for name in VARIED:
            values = list(dict.fromkeys(variant[name] for variant in variants))
            if values != [defaults[name]]:
                lines.append(f"{name} = {_value(values)}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Return a value as TOML has it; a list of one as that one."""
    if isinstance(value, list | tuple):
        return _value(value[0]) if len(value) == 1 else f"[{', '.join(map(_value, value))}]"
    # JSON's spelling of booleans, numbers and texts is valid TOML, and the standard library has no
    # writer for TOML.
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(named(value), ensure_ascii=False)
