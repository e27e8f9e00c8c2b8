"""What the options of several commands stand for, and what values they may have."""

from __future__ import annotations

import argparse
import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from mpinet.errors import UsageError
from mpinet.networks import check
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.numerals import quoted

if TYPE_CHECKING:
    from mpinet.machine import PortModel
    from mpinet.machine.placement import Mapping as Hosting
    from mpinet.machine.transport import Local
    from mpinet.networks.routing import Routing

Network = str | Topology
"""A network by its string, or as `mpinet.open` gives it."""

Place = int | str
"""A node by its number or address."""

File = str | Path
"""A file's name."""

Bytes = int | str
"""A number of bytes, or one with a unit: ``4294967296``, ``"4GiB"``."""

Ports = Literal["one", "all"]
Duplex = Literal["full", "half"]
Hosted = Literal["blocks", "clusters", "measured", "random"]

MOST_SEED = 2**63 - 1

FOLDERS = re.compile(r"[^:,=]*/(?=[^/:,=]*\.[A-Za-z])")
"""The folders of a file, in a name."""


def without_folders(name: str) -> str:
    """A name as a result has it, whose digest is the same wherever the files in it lie."""
    return FOLDERS.sub("", name)


def named(value: Any) -> str:
    """What a person calls a value: a network or a function by its name."""
    if isinstance(value, Topology):
        return value.name
    if callable(value):
        return f"{value.__module__}:{value.__name__}"
    return str(value)


def given(function: Callable[..., Any], values: Mapping[str, Any]) -> argparse.Namespace:
    """A command's options as its function takes them, those that are not given by default.

    Parameters
    ----------
    function : callable
        The command's function: its parameters and their types say what is allowed.
    values : mapping
        What was given by name.

    Raises
    ------
    UsageError
        An option is missing or of no such value, or nothing has this name.
    """
    command, parameters = function.__name__, inspect.signature(function).parameters
    for name in values:
        if name not in parameters:
            close = difflib.get_close_matches(name, parameters, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(parameters)}."
            raise UsageError(f"{command} has no option {quoted(name)}: {hint}")
    hints = get_type_hints(function)
    options = argparse.Namespace(command=command)
    for name, parameter in parameters.items():
        value = values.get(name, parameter.default)
        if value is parameter.empty:
            raise UsageError(f"{command} needs its option {name}.")
        value = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
        if not _is_of(value, hints[name]):
            raise UsageError(f"{command}: {name} is {_described(hints[name])}, not {value!r}.")
        if name == "seed" and not 0 <= value <= MOST_SEED:
            raise UsageError(f"{command}: a seed is a whole number 0..2^63-1, not {value}.")
        setattr(options, name, value)
    return options


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of a parameter's type."""
    kind = get_origin(hint)
    if kind is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(hint))
    if kind in (Union, UnionType):
        return any(_is_of(value, choice) for choice in get_args(hint))
    if hint is Any:
        return True
    if hint in (int, float) and isinstance(value, bool):
        return False
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, kind or hint)


WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _described(hint: Any) -> str:
    """A parameter's type as a person reads it."""
    kind = get_origin(hint)
    if kind is Literal:
        return " or ".join(map(str, get_args(hint)))
    if kind in (Union, UnionType):
        return " or ".join(
            _described(choice) for choice in get_args(hint) if choice is not type(None)
        )
    return WORDS.get(hint, f"a {getattr(hint, '__name__', str(hint)).lower()}")


def topology_of(options: argparse.Namespace) -> Topology:
    """The network that was named; one of a user's own is checked against the contract.

    Raises
    ------
    TopologyError
        There is no such network.
    WiringError
        A user's rules contradict each other; names processor and port.
    """
    named = options.topology
    topology = named if isinstance(named, Topology) else open_topology(named)
    if not type(topology).__module__.startswith("mpinet."):
        check(topology, schedules=False)  # the machine refuses wrong ones when they run
    return topology


def routing_of(topology: Topology, name: str | None, seed: int = 0) -> Routing:
    """A routing by name whose ways are known before anything moves.

    Raises
    ------
    UsageError
        There is none of that name, or its nodes choose among channels by what has room.
    """
    routing = topology.routing(name, seed)
    if routing.adaptive:
        raise UsageError(
            f"Routing {routing.name} of {topology.name} leaves its ways to what has room in the "
            "routers of mpinet load; elsewhere give one of "
            f"{', '.join([*topology.routings, *topology.random_routings])}."
        )
    return routing


def mapping_of(options: argparse.Namespace, topology: Topology, transport: Local) -> Hosting:
    """The mapping that was asked for (collective)."""
    from mpinet.machine.choice import open_mapping

    return open_mapping(options.mapping, topology, transport, options.seed)


def port_model(options: argparse.Namespace) -> PortModel:
    """The port model that was asked for."""
    from mpinet.machine import PortModel

    return replace(PortModel.named(options.ports), half_duplex=options.duplex == "half")


def require_all_port(options: argparse.Namespace, what: str) -> None:
    """Raise `UsageError` where --ports one would have no effect."""
    if options.ports == "one":
        raise UsageError(f"{what} uses all ports: --ports one does not apply.")
