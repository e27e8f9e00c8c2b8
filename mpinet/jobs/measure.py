"""``mpinet measure``: one measure of a network, by its function name in `mpinet.measure`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpinet.base.meant import hint
from mpinet.base.numerals import is_whole, quoted
from mpinet.base.plain import plain
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.commands.measure import MeasureOptions
from mpinet.errors import UsageError
from mpinet.jobs.opening import topology_named
from mpinet.machine.transport import Local, hosted_by
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, fields, table

OBJECTS = {"to_graph", "incidence_graph", "without", "part", "embedding_cost"}
"""Functions without a number as result, or with arguments that cannot be typed."""


SHORT = {
    "bisection": "bisection_width",
    "transitive": "vertex_transitive",
    "deadlock": "find_deadlock",
}
"""Other names of measures."""


def measures() -> dict[str, Callable[..., Any]]:
    """Return the measures of one network, by name."""
    from mpinet import measure as room

    found = {name: getattr(room, name) for name in room.__all__ if name not in OBJECTS}
    return {name: candidate for name, candidate in found.items() if inspect.isfunction(candidate)}


def prepare(options: MeasureOptions) -> Job:
    """Find the measure, read its arguments, and return the job."""
    known = measures()
    first, names = options.topology, {*known, *SHORT}
    is_name = isinstance(first, str) and ":" not in first and ":" in options.what
    if options.what not in names and (first in names or is_name):
        swapped = replace(options, topology=options.what, what=str(options.topology))
        job = prepare(swapped)  # "bisection torus:8x8"
        job.completed = swapped
        return job
    topology = topology_named(options.topology)
    name = SHORT.get(options.what, options.what)
    if name not in known:
        meant = hint(name, known, 3, 0.5) or f"there are {', '.join(known)}."
        raise UsageError(f"There is no measure {quoted(options.what)}: {meant}")
    arguments = _arguments(topology, name, known[name], options.arguments)
    return MeasureJob(topology, name, known[name], arguments)


def _arguments(
    topology: Topology, name: str, function: Callable[..., Any], typed: Sequence[str]
) -> dict[str, Any]:
    """Read the arguments other than the network, by name."""
    _, *others = inspect.signature(function).parameters.values()
    allowed = {parameter.name: parameter for parameter in others}
    found: dict[str, Any] = {}
    for word in typed:
        key, equals, text = word.partition("=")
        if not equals or key not in allowed:
            there = ", ".join(f"{candidate}=.." for candidate in allowed) or "nothing"
            raise UsageError(f"{name} takes {there} after the network, not {quoted(word)}.")
        found[key] = _read(topology, key, text, str(allowed[key].annotation))
    for key, parameter in allowed.items():
        if parameter.default is parameter.empty and key not in found:
            raise UsageError(f"{name} needs {key}=..")
    return found


NODES = ("node", "source", "target", "root")
"""Names of arguments that are nodes."""


KINDS: dict[str, tuple[Any, str]] = {
    "int": (int, "a whole number >= 0"),
    "float": (int | float, "a number"),
    "Iterable[int]": (list, "numbers joined by commas, such as 1,2"),
    "ArrayLike": (list, "numbers joined by commas, such as 1,2"),
    "Sequence[int]": (list, "numbers joined by commas, such as 1,2"),
    "Iterable[tuple[int, int]]": (list, "pairs joined by commas, such as 0-1,2-3"),
}
"""Types of arguments by the text of their annotation, each with an example for error messages."""


def _read(topology: Topology, key: str, text: str, annotation: str) -> Any:
    """Read an argument as the type that the function declares.

    Raises
    ------
    UsageError
        The text is not a value of this type.
    NodeError
        The network has no such node.
    """
    declared = "Sequence[int]" if key == "targets" else annotation.removesuffix(" | None")
    if key in NODES and declared in ("int", "int | str"):
        return topology.find(text)
    if "str" in declared.split(" | "):
        return text
    value = _value(text)
    kind, described = KINDS.get(declared, (object, ""))
    if kind is list and isinstance(value, int):
        value = [value]
    pairs = "tuple" in declared
    if not isinstance(value, kind) or (
        kind is list and not all(isinstance(one, tuple) == pairs for one in value)
    ):
        raise UsageError(f"{key} is {described}, not {quoted(text)}.")
    if kind is list and declared != "ArrayLike":
        for node in (each for one in value for each in (one if pairs else (one,))):
            topology.require_node(node)
    return value


def _value(text: str) -> Any:
    """Read a number, numbers joined by commas, pairs as 0-1,2-3, or a text."""
    if is_whole(text):
        return int(text)
    parts = text.split(",")
    if all(map(is_whole, parts)):
        return [int(part) for part in parts]
    pairs = [part.split("-") for part in parts]
    if all(len(pair) == 2 and all(map(is_whole, pair)) for pair in pairs):
        return [(int(u), int(v)) for u, v in pairs]
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(eq=False, repr=False)
class MeasureJob(NetworkJob):
    """One measure of a network."""

    _name: str
    _function: Callable[..., Any]
    _arguments: dict[str, Any]

    def run(self, transport: Local, watch: Watch) -> Row:
        """Call the measure and return its value."""
        try:
            # Measures take no ranks as arguments, but find the ranks in the context, and share
            # floods among them.
            with hosted_by(transport):
                value = self._function(self.network, **self._arguments)
        except TypeError as error:
            # Without arguments the error comes from the measure's own code, so its traceback is
            # needed.
            if self._arguments:
                given = ", ".join(f"{k}={v}" for k, v in self._arguments.items())
                raise UsageError(f"{self._name} cannot take {given}: {error}.") from None
            raise
        return {"measure": self._name, "arguments": plain(self._arguments), "value": plain(value)}

    def rows(self, result: Row) -> list[Row]:
        """Return the value or its fields as cells; nested records become one row each."""
        value, name = result["value"], result["measure"]
        fields_of, records = _parted(value) if isinstance(value, dict) else (value, {})
        if len(records) == 1:
            (listed,) = records.values()
            return [{"measure": name, **_cells(fields_of), **each} for each in listed]
        return [{"measure": name, **_cells(value)}]

    def show(self, result: Row) -> str:
        """Format the value, with nested records as tables."""
        value = result["value"]
        if isinstance(value, dict):
            others, records = _parted(value)
            shown = fields({name: _joined(each) for name, each in others.items() if each != []})
            tables = [
                f"{name}\n{table([list(each.values()) for each in listed], list(listed[0]))}"
                for name, listed in records.items()
            ]
            return "\n\n".join([f"{result['measure']} of {self.topology}\n{shown}", *tables])
        if isinstance(value, list) and value and isinstance(value[0], list):
            return "\n".join(" ".join(map(cell_text, row)) for row in value)
        return cell_text(value)


def _parted(value: Row) -> tuple[Row, dict[str, list[Row]]]:
    """Return the plain fields of a value, and its fields that are lists of records."""
    records = {
        name: each
        for name, each in value.items()
        if isinstance(each, list) and each and isinstance(each[0], dict)
    }
    return {name: each for name, each in value.items() if name not in records}, records


def _joined(value: Any) -> Any:
    """Format a list of lists as ``0:1:0 1:1:0``, with colons within the inner lists."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return [":".join(map(str, each)) for each in value]
    return value


def _cells(value: Any) -> Row:
    if isinstance(value, dict):
        shown = {name: _joined(v) for name, v in value.items()}
        return {name: cell_text(v) if isinstance(v, list) else v for name, v in shown.items()}
    return {"value": cell_text(value) if isinstance(value, list) else value}
