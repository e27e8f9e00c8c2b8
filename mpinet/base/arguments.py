"""Annotations of kernels' parameters: Python types for readers, Numba types for the compiler.

Kernel parameters are annotated with ``int`` and ``bool``, the arrays of `mpinet.base.arrays`, the
records of `mpinet.base.records` (``Annotated[Array, Lane]``: an array of records;
``Annotated[Array, Lane, 2]``: with two indices), and the rules below. A parameter may also be a
group: a `NamedTuple` whose fields have these annotations. The caller of a kernel and the kernel
itself then use the same names.
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
"""NumPy's names of item types for which Numba has a different name."""

ARRAYS = {
    "header": "int64[::1]",
    "candidates": "int64[:, ::1]",
    "credits": "int64[::1]",
    "params": "int64[::1]",
}
"""Numba's types of the array arguments of rules."""

SIGNATURES = {
    kind: f"{result}({', '.join(ARRAYS.get(name, 'int64') for name in names)})"
    for kind, names in RULES.items()
    for result in ["void" if kind == "start_rule" else "int64"]
}
"""The rules' signatures, each by the name that a kernel's signature uses for it:

* ``port_rule(node, port, params)``: the result of neighbor, reverse_port, channel or place;
* ``start_rule(source, target, header, params)``: writes the message's header;
* ``decide_rule(node, header, params)``: the port to leave by, -1 = arrived;
* ``schedule_rule(node, root, since, step, params)``: the port to send on in this step, or -1; a
  traffic pattern has the same form: ``(source, seed, sequence, step, params)``: the target;
* ``class_rule(node, port, in_port, in_class, header, params)``: the class of the channel behind the
  port, for a message that came by channel (in_port, in_class) (-1, -1 at its source);
* ``candidates_rule(node, in_port, in_class, header, candidates, params)``: writes the permitted
  (port, class) pairs of a message into the rows of `candidates` and returns their number, or -1 =
  arrived;
* ``choose_rule(node, header, candidates, credits, params)``: the chosen candidate, given the
  credits of each candidate; -1 = none, wait.
"""


class Arguments:
    """A kernel's parameters, read from the annotations of its function.

    Native code receives the fields of groups individually and rebuilds the groups on entry.

    Parameters
    ----------
    function : callable
        The plain function.
    groups : dict
        Groups by parameter name; each group replaces the annotation of its parameter.
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
        """Record classes named in the signature, by class name."""
        self.described: Any = (
            {name: _layout(each.dtype) for name, each in self.records.items()},
            [(_group(kind), list(fields[name].values())) for name, kind in kinds.items()],
            "void" if result is None else _type(result),
        )
        """Layouts of records; for each parameter its group (or None) and its types; the result
        type.
        """
        self.forms: list[str] = [_form(hint) for hint in every]
        """Forms in which Python passes the numbers, arrays and rules to native code (see
        `native.calls`).
        """
        self.result: str = _result(result)
        """Form in which native code returns the result."""
        self.names: str = str({name: list(each) for name, each in fields.items()})
        """Names of the parameters and of the fields of each group."""
        self._kinds = kinds

    def plainly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `function` with the plain forms of its arguments."""
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
        """Return the source text of an expression that converts one argument to its plain form."""
        if not how or not _is_group(self._kinds[name]):
            return f"{how[0]}({name})" if how else name
        count = len(_hints(self._kinds[name]))
        fields = (f"{how.get(i, '')}({name}[{i}])" for i in range(count))
        return f"_{name}_group({', '.join(fields)})"


def _is_group(kind: Any) -> bool:
    """Return whether an annotation is a named tuple."""
    return isinstance(kind, type) and issubclass(kind, tuple)


def _hints(kind: Any) -> list[Any]:
    """Return the annotations of a parameter's values: one, or one per field of a group."""
    if not _is_group(kind):
        return [kind]
    return list(get_type_hints(kind, include_extras=True).values())


def _fields(name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the Numba type of each value that compiled code takes for a parameter."""
    if not _is_group(kind):
        yield name, _type(kind)
        return
    for field, own in get_type_hints(kind, include_extras=True).items():
        yield f"{name}_{field}", _type(own)


def _record(kind: Any) -> type[Record] | None:
    """Return the record class that an annotation names, alone or in an array; None otherwise."""
    named = kind.__metadata__[0] if get_origin(kind) is Annotated else kind
    return named if isinstance(named, type) and issubclass(named, Record) else None


def _plain(kind: Any) -> str:
    """Return the name of the function that makes an argument's plain form; empty: none needed."""
    if _record(kind):
        return "_rows"
    if kind in NUMBERS:
        return f"_{kind.__name__}"  # also converts NumPy's numbers, which may have fewer bits
    if "[" not in _type(kind):
        return ""
    number = _type(kind).partition("[")[0].replace("boolean", "bool")
    return "_exact" if is_changed(np.dtype(number)) else ""


def _type(kind: Any) -> str:
    """Return Numba's name of an annotation's type."""
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
    """Return the name and the field names of a group; None for any other annotation."""
    return (kind.__name__, kind._fields) if _is_group(kind) else None


def _layout(dtype: np.dtype[Any]) -> tuple[list[str], list[str], list[int], int]:
    """Return the names, formats and offsets of a record's fields, and its size in bytes."""
    names = list(dtype.names or ())
    places: Any = dtype.fields
    formats, offsets = [places[name][0].str for name in names], [places[name][1] for name in names]
    return names, formats, offsets, dtype.itemsize


def _form(kind: Any) -> str:
    """Return an annotation's form: a text such as A1i8, for calls of native code.

    The annotation is that of a number, an array, a record or a rule (a compiled function of a
    network or routing). `mpinet.base.native.forms` defines the forms.
    """
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
    # Contiguous arrays need no strides, which halves the number of words in a call.
    layout = "A" if "::1" in indices else "V"
    return f"{layout}{indices.count(',') + 1}{dtype.kind}{dtype.itemsize}"


def _result(kind: Any) -> str:
    """Return the form of a result: none or numbers only, because callers allocate all arrays."""
    if kind is None:
        return "v"
    if get_origin(kind) is tuple:
        return f"({''.join(NUMBERS[each][0] for each in get_args(kind))})"
    return NUMBERS[kind][0]
