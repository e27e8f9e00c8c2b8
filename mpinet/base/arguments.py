"""Annotations of kernels' parameters: Python types for readers, Numba types for the compiler.

A kernel's parameters are annotated by ``int`` and ``bool``, the arrays of `mpinet.base.arrays`,
the records of `mpinet.base.records` (``Annotated[Array, Lane]``: an array of them;
``Annotated[Array, Lane, 2]``: with two indices), and the rules below. A parameter may also be a
group: a `NamedTuple` whose fields have these annotations. So the place that calls a kernel and the
kernel itself name the same things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from mpinet.base.blame import RULES
from mpinet.base.plainrecords import exact, is_changed, rows
from mpinet.base.records import Record

PortRule = Annotated[Any, "port_rule"]
StartRule = Annotated[Any, "start_rule"]
DecideRule = Annotated[Any, "decide_rule"]
ScheduleRule = Annotated[Any, "schedule_rule"]
TargetRule = Annotated[Any, "schedule_rule"]
ClassRule = Annotated[Any, "class_rule"]
CandidatesRule = Annotated[Any, "candidates_rule"]
ChooseRule = Annotated[Any, "choose_rule"]

NUMBERS = {int: "int64", bool: "boolean", float: "float64"}
"""Numba's names of single numbers."""

ITEMS = {"boolean": "bool"}
"""NumPy's names of items that have another name of Numba's."""

ARRAYS = {
    "header": "int64[::1]",
    "candidates": "int64[:, ::1]",
    "credits": "int64[::1]",
    "params": "int64[::1]",
}
"""Numba's types of the arguments of rules that are arrays."""

SIGNATURES = {
    kind: f"{result}({', '.join(ARRAYS.get(name, 'int64') for name in names)})"
    for kind, names in RULES.items()
    for result in ["void" if kind == "start_rule" else "int64"]
}
"""The rules' signatures, each by the name that a kernel's signature uses for it:

* ``port_rule(node, port, params)``: neighbor, reverse_port, channel, place;
* ``start_rule(source, target, header, params)``: writes the message's header;
* ``decide_rule(node, header, params)``: the port to leave by, -1 = arrived;
* ``schedule_rule(node, root, since, step, params)``: the port to send on in this step, or -1; a
  traffic pattern is of the same form: ``(source, seed, sequence, step, params)``: the target;
* ``class_rule(node, port, in_port, in_class, header, params)``: the class of the channel behind the
  port, for a message that came by another (-1, -1 at its source);
* ``candidates_rule(node, in_port, in_class, header, candidates, params)``: writes the pairs (port,
  class) that a message may take into rows of `candidates`; how many there are, or -1 = arrived;
* ``choose_rule(node, header, candidates, credits, params)``: which of them, by the credits of each;
  -1 = none, wait.
"""


class Arguments:
    """A kernel's parameters, read off its annotations.

    Native code takes the fields of groups one by one, and makes groups of them when it begins.

    Parameters
    ----------
    function : callable
        The plain function.
    groups : dict
        Groups that stand for the annotations of some parameters, by the parameters' names.
    """

    def __init__(self, function: Callable[..., Any], groups: Mapping[str, type]):
        form = signature(function, eval_str=True)
        kinds = {name: parameter.annotation for name, parameter in form.parameters.items()}
        kinds |= groups
        fields = {name: dict(_fields(name, kind)) for name, kind in kinds.items()}
        result = form.return_annotation
        every = [hint for kind in kinds.values() for hint in _hints(kind)]
        self.records: dict[str, type[Record]] = {
            each.__name__: each for hint in every if (each := _record(hint))
        }
        """Records that the signature names."""
        self.described: Any = (
            {name: _layout(each.dtype) for name, each in self.records.items()},
            [(_group(kind), list(fields[name].values())) for name, kind in kinds.items()],
            "void" if result is None else _type(result),
        )
        """Layouts of records; the group, if any, and the types of each parameter; the result."""
        self.forms: list[str] = [_form(hint) for hint in every]
        """Forms of the numbers, arrays and rules, as Python hands them on (see `native.calls`)."""
        self.result: str = _result(result)
        """The same of the result."""
        self.names: str = str({name: list(each) for name, each in fields.items()})
        """Names of the parameters, with those of the fields of groups."""
        self._kinds = kinds

    def plainly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Make a function of what a kernel is given that calls a plain one of the plain forms."""
        changed = {
            name: {place: how for place, hint in enumerate(_hints(kind)) if (how := _plain(hint))}
            for name, kind in self._kinds.items()
        }
        if not any(changed.values()):
            return function
        scope: dict[str, Any] = {"_rows": rows, "_exact": exact, "_function": function}
        scope |= {f"_{number.__name__}": number for number in NUMBERS}
        scope |= {f"_{name}_group": kind for name, kind in self._kinds.items() if _is_group(kind)}
        given = (self._plain_text(name, how) for name, how in changed.items())
        text = f"lambda {', '.join(self._kinds)}: _function({', '.join(given)})"
        # A generated function converts arguments without loops: plain kernels are called a million
        # times in small runs.
        made: Callable[..., Any] = eval(text, scope)
        return made

    def _plain_text(self, name: str, how: dict[int, str]) -> str:
        """Return the text that makes the plain form of an argument."""
        if not how or not _is_group(self._kinds[name]):
            return f"{how[0]}({name})" if how else name
        count = len(_hints(self._kinds[name]))
        fields = (f"{how.get(i, '')}({name}[{i}])" for i in range(count))
        return f"_{name}_group({', '.join(fields)})"


def _is_group(kind: Any) -> bool:
    """Tell if an annotation is a named tuple."""
    return isinstance(kind, type) and issubclass(kind, tuple)


def _hints(kind: Any) -> list[Any]:
    """The annotations of what compiled code takes for a parameter."""
    if not _is_group(kind):
        return [kind]
    return list(get_type_hints(kind, include_extras=True).values())


def _fields(name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """Names and Numba's types of what compiled code takes for a parameter."""
    if not _is_group(kind):
        yield name, _type(kind)
        return
    for field, own in get_type_hints(kind, include_extras=True).items():
        yield f"{name}_{field}", _type(own)


def _record(kind: Any) -> type[Record] | None:
    """The record that an annotation names, alone or in an array."""
    named = kind.__metadata__[0] if get_origin(kind) is Annotated else kind
    return named if isinstance(named, type) and issubclass(named, Record) else None


def _plain(kind: Any) -> str:
    """Return the name of the function that makes an argument's plain form; or an empty text."""
    if _record(kind):
        return "_rows"
    if kind in NUMBERS:
        return f"_{kind.__name__}"  # of NumPy's numbers, too, which may be narrow
    if "[" not in _type(kind):
        return ""
    number = _type(kind).partition("[")[0].replace("boolean", "bool")
    return "_exact" if is_changed(np.dtype(number)) else ""


def _type(kind: Any) -> str:
    """Return Numba's name of the type that an annotation stands for."""
    if kind in NUMBERS:
        return NUMBERS[kind]
    if record := _record(kind):
        name: str = record.__name__
        if kind is record:
            return name
        dimensions = kind.__metadata__[1] if len(kind.__metadata__) > 1 else 1
        return f"{name}[{', '.join([':'] * (dimensions - 1) + ['::1'])}]"
    if get_origin(kind) is tuple:
        return f"Tuple(({', '.join(_type(each) for each in get_args(kind))}))"
    known: str = kind.__metadata__[0]
    return known


def _group(kind: Any) -> tuple[str, tuple[str, ...]] | None:
    """The name and the fields of a group; None for anything else."""
    return (kind.__name__, kind._fields) if _is_group(kind) else None


def _layout(dtype: np.dtype[Any]) -> tuple[list[str], list[str], list[int], int]:
    """Names, formats and offsets of a record's fields, and its size."""
    names = list(dtype.names or ())
    places: Any = dtype.fields
    formats, offsets = [places[name][0].str for name in names], [places[name][1] for name in names]
    return names, formats, offsets, dtype.itemsize


def _form(kind: Any) -> str:
    """The form in which Python hands on a number, an array, a record or a rule."""
    if kind in NUMBERS:
        return NUMBERS[kind][0]
    text = _type(kind)
    if text in SIGNATURES:
        return "R"
    name, _, indices = text.partition("[")
    record = _record(kind)
    if record and record is kind:
        return f"r{record.dtype.itemsize}"
    dtype = np.dtype(f"V{record.dtype.itemsize}" if record else ITEMS.get(name, name))
    # Contiguous arrays need no strides, which halves the words that a call hands on.
    layout = "A" if "::1" in indices else "V"
    return f"{layout}{indices.count(',') + 1}{dtype.kind}{dtype.itemsize}"


def _result(kind: Any) -> str:
    """The form of a result: of numbers alone, for callers make all arrays."""
    if kind is None:
        return "v"
    if get_origin(kind) is tuple:
        return f"({''.join(NUMBERS[each][0] for each in get_args(kind))})"
    return NUMBERS[kind][0]
