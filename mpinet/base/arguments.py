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
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

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

SIGNATURES = {
    "port_rule": "int64(int64, int64, int64[::1])",
    "start_rule": "void(int64, int64, int64[::1], int64[::1])",
    "decide_rule": "int64(int64, int64[::1], int64[::1])",
    "schedule_rule": "int64(int64, int64, int64, int64, int64[::1])",
    "class_rule": "int64(int64, int64, int64, int64, int64[::1], int64[::1])",
    "candidates_rule": "int64(int64, int64, int64, int64[::1], int64[:, ::1], int64[::1])",
    "choose_rule": "int64(int64, int64[::1], int64[:, ::1], int64[::1], int64[::1])",
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

    Compiled code takes the fields of groups one by one, and makes groups of them when it begins:
    Numba would look at every tuple anew at each call, which takes 20 us where a rule is in it.

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
        types = [type_ for each in fields.values() for type_ in each.values()]
        result = form.return_annotation
        every = (hint for kind in kinds.values() for hint in _hints(kind))
        self.records: dict[str, type[Record]] = {
            each.__name__: each for hint in every if (each := _record(hint))
        }
        """Records that the signature names."""
        self.signature: str = f"{'void' if result is None else _type(result)}({', '.join(types)})"
        """Signature in Numba's notation, with the fields of groups one by one."""
        self._groups = {name: kind for name, kind in kinds.items() if _is_group(kind)}
        self._fields = {name: list(each) for name, each in fields.items()}
        self.names: str = str(self._fields)
        """Names of the parameters, with those of the fields of groups."""
        self.grouped: bool = bool(self._groups)
        """True if a parameter is a group."""
        self._plain = {
            name: {place: how for place, hint in enumerate(_hints(kind)) if (how := _plain(hint))}
            for name, kind in kinds.items()
        }

    def apart(self, flat: Callable[..., Any]) -> Callable[..., Any]:
        """Make a function of groups that calls a function of their fields."""
        given = (f"*{name}" if name in self._groups else name for name in self._fields)
        text = f"lambda {', '.join(self._fields)}: flat({', '.join(given)})"
        function: Callable[..., Any] = eval(text, {"flat": flat})
        return function

    def plainly(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Make a function of what a kernel is given that calls a plain one of the plain forms."""
        scope: dict[str, Any] = {"_rows": rows, "_exact": exact, "_function": function}
        scope |= {f"_{number.__name__}": number for number in NUMBERS}
        scope |= {f"_{name}_group": group for name, group in self._groups.items()}
        given = (self._plain_text(name, how) for name, how in self._plain.items())
        text = f"lambda {', '.join(self._fields)}: _function({', '.join(given)})"
        made: Callable[..., Any] = eval(text, scope) if any(self._plain.values()) else function
        return made

    def _plain_text(self, name: str, how: dict[int, str]) -> str:
        """Return the text that makes the plain form of an argument."""
        if name not in self._groups or not how:
            return f"{how[0]}({name})" if how else name
        fields = (f"{how.get(i, '')}({name}[{i}])" for i in range(len(self._fields[name])))
        return f"_{name}_group({', '.join(fields)})"

    def together(self, loop: Any, like: FunctionType) -> FunctionType:
        """Make a function of the groups' fields that calls a `loop` of groups; `like` names it."""
        given = (
            f"{name}_group({', '.join(fields)})" if name in self._groups else name
            for name, fields in self._fields.items()
        )
        taken = (field for fields in self._fields.values() for field in fields)
        text = f"lambda {', '.join(taken)}: loop({', '.join(given)})"
        scope = {f"{name}_group": group for name, group in self._groups.items()}
        # As if it stood in that file: Numba keeps what it compiles by file, name and line.
        code = compile(text, like.__code__.co_filename, "eval")
        function: FunctionType = eval(code, {**scope, "loop": loop})
        function.__name__, function.__qualname__ = like.__name__, like.__qualname__
        function.__module__ = like.__module__
        return function


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
