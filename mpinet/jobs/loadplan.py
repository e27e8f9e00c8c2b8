"""The curves of ``mpinet load``, one for each combination, and the sweep plan to repeat them."""

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
"""Options with several values, in the order of combination; each combination is a curve."""

MADE = "# The plan of a plot, written by mpinet load; "
"""First words of a generated plan, which may be overwritten."""

NO_RUN = ("topology", "pattern", *VARIED, "plot", "mapping", "memory_limit", "force", "checkpoint")
"""Options without effect on the runs, or written elsewhere in a plan."""

Variant = dict[str, Any]


def several(name: str, given: Any) -> list[Any]:
    """Return the values of an option with several values.

    Raises
    ------
    UsageError
        There is no value, or a value is given twice.
    """
    if name in ("vcs", "buffers") and isinstance(given, str):
        given = read_numbers(name, given)
    values = list(given) if isinstance(given, list | tuple) else [given]
    if name == "routing" and isinstance(given, str):
        values = given.split(",")
    # Two lengths with shares contain a comma, but are one value.
    if name == "flits" and isinstance(given, str) and ":" not in given:
        values = given.split(",")
    # Values may mix numbers and texts: 4 and '4' would be the same curve.
    if not values or len(set(map(str, values))) < len(values):
        raise UsageError(f"--{name}: give one value, or several different values.")
    return values


def read_numbers(name: str, text: str) -> int | list[int]:
    """Read whole numbers joined by commas."""
    try:
        return numbers_of(text)
    except ValueError as error:
        raise UsageError(f"--{name}: {error}.") from None


def varied_names(options: LoadOptions) -> list[str]:
    """Return the names of the options with several values."""
    given = values_of(options)
    return [name for name in VARIED if len(several(name, given[name])) > 1]


def variants_of(options: LoadOptions) -> list[Variant]:
    """Return all combinations of values of the options that accept several."""
    given = values_of(options)
    values = [several(name, given[name]) for name in VARIED]
    return [dict(zip(VARIED, chosen, strict=True)) for chosen in itertools.product(*values)]


def fitting(topology: Topology, variants: Sequence[Variant]) -> list[Variant]:
    """Return the variants whose routing a network has; all variants if they share a routing.

    Raises
    ------
    UsageError
        The network has none of the routings.
    """
    names = dict.fromkeys(variant["routing"] for variant in variants)
    if len(names) > 1 and not any(map(topology.has_routing, names)):
        raise UsageError(
            f"{topology.name} has none of the routings {', '.join(map(str, names))}; its routings "
            f"are {', '.join(sorted(topology.routing_names))}."
        )
    return [each for each in variants if len(names) == 1 or topology.has_routing(each["routing"])]


def require_known(topologies: Sequence[Topology], variants: Sequence[Variant]) -> list[str]:
    """Return a sentence for each routing that some, but not all, networks lack.

    Raises
    ------
    UsageError
        No network has a routing of this name.
    """
    names = list(dict.fromkeys(variant["routing"] for variant in variants))
    if len(names) == 1:
        return []
    lacking = []
    for name in names:
        without = [each.name for each in topologies if not each.has_routing(name)]
        # A routing missing in some networks only leaves out curves. A routing missing in all
        # networks is a misspelt name.
        if len(without) == len(topologies):
            raise no_routing(topologies[0], name, topologies[0].routing_names)
        if without:
            lacking.append(f"{', '.join(without)} has no routing {name}: this curve is left out.")
    return lacking


def plan_file(plot: Path) -> Path:
    """Return the file for the plan of a plot; never overwrite a file of the user.

    Raises
    ------
    UsageError
        There is a file of this name that no command has written.
    """
    file = plot.with_suffix(".toml")
    # The plan's name derives from the plot's, so a user's file may have the same name.
    try:
        is_ours = not file.exists() or read_text(file).startswith(MADE)
    except (OSError, UnicodeDecodeError):
        is_ours = False
    if not is_ours:
        raise UsageError(
            f"--plot {plot}: the plan of the plot would overwrite your file {file}: choose "
            "another name for the picture."
        )
    return file


def plan_text(
    function: Callable[..., Any],
    options: LoadOptions,
    networks: Sequence[tuple[str, Sequence[Variant]]],
    patterns: Sequence[str],
    drawn: Mapping[str, Any],
) -> str:
    """Return the TOML of a sweep that repeats the runs and draws the same plot.

    Parameters
    ----------
    function : callable
        The command's function, for the defaults of its options.
    options : LoadOptions
        The given options.
    networks : sequence of (str, sequence of dict)
        The networks, with the variants of each.
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
    """Return a value in TOML; a list of one value becomes the value."""
    if isinstance(value, list | tuple):
        return _value(value[0]) if len(value) == 1 else f"[{', '.join(map(_value, value))}]"
    # JSON's booleans, numbers and texts are valid TOML, and the standard library cannot write TOML.
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(named(value), ensure_ascii=False)
