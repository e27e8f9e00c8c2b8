"""Descriptions of functions: what the compiler gets is what the job has."""

import enum
import marshal
import math
from collections.abc import Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import mpinet
from mpinet.base.native.description import Description, Unknown, names_in, packed, unpacked
from mpinet.compiled import Inlined, Kernel, Rule

MODULES = ["machine.hop", "machine.placement", "programs.farthest", "programs.pipelines.fetching",
           "programs.passkernels", "machine.traffic.step", "draws"]  # fmt: skip


def sent(part: Description) -> Description:
    """Return what the compiler reads of a description."""
    return unpacked(marshal.loads(marshal.dumps(packed(part))))


def kernels() -> Iterator[Any]:
    for name in MODULES:
        module = import_module(f"mpinet.{name}")
        for each in vars(module).values():
            if isinstance(each, Kernel | Rule) and each.__module__ == module.__name__:
                yield each
    for name in ("torus:4x4", "gmn:4,16", "hdn:2x3,super=0/1", "ring:4*mesh:2x3"):
        topology = mpinet.open(name)
        routing = topology.routing()
        yield from (topology.neighbor.rule, topology.reverse_port.rule)
        yield from (each for each in (routing.start, routing.decide) if isinstance(each, Rule))


def alike(ours: Any, theirs: Any) -> bool:
    """Compare what two functions see under a name."""
    if isinstance(ours, ModuleType):
        return type(theirs) is ModuleType and ours.__name__ == theirs.__name__
    if isinstance(ours, type) and hasattr(ours, "_fields"):
        return (ours.__name__, ours._fields) == (theirs.__name__, theirs._fields)
    if isinstance(ours, np.generic | np.ndarray):
        return bool(ours.dtype == theirs.dtype and np.array_equal(ours, theirs))
    if isinstance(theirs, Unknown):  # a function of mpinet's that has the name of an attribute
        return callable(ours) and ours.__module__.startswith("mpinet.")
    if isinstance(ours, int):
        return type(theirs) in (int, bool) and int(ours) == int(theirs)
    return bool(ours is theirs or ours == theirs)


def compare(ours: Description, theirs: Description, seen: set[str]) -> None:
    """Require that two descriptions are of the same functions."""
    if ours.name in seen:
        return
    seen.add(ours.name)
    assert (ours.kind, ours.name, ours.how, ours.numbers_alike) == (
        theirs.kind, theirs.name, theirs.how, theirs.numbers_alike,
    )  # fmt: skip
    assert marshal.dumps(ours.form) == marshal.dumps(theirs.form) or ours.form == theirs.form
    mine, yours = ours.function, theirs.function
    assert mine is not yours and mine.__code__ == yours.__code__
    assert mine.__code__.co_consts == yours.__code__.co_consts
    assert mine.__defaults__ == yours.__defaults__
    assert ours.parts.keys() == theirs.parts.keys()
    for name in names_in(mine.__code__) & mine.__globals__.keys() - ours.parts.keys():
        assert alike(mine.__globals__[name], yours.__globals__[name]), (ours.name, name)
    for name in ours.parts:
        compare(ours.parts[name], theirs.parts[name], seen)


def test_functions_of_mpinet_reach_the_compiler_as_they_are() -> None:
    seen: set[str] = set()
    every = list(kernels())
    for each in every:
        compare(each.description, sent(each.description), seen)
    assert len(every) > 30 and len(seen) > 150


class Colour(enum.IntEnum):
    RED = 7


class Pair(NamedTuple):
    first: int
    second: int


VALUES = {
    "a number": 2**62,
    "a large number": 2**64 - 1,
    "a float": 0.1,
    "an infinity": math.inf,
    "a complex number": 2 - 1j,
    "a text": "née",
    "bytes": b"\0\xff",
    "nothing": None,
    "a flag": True,
    "a member of an enumeration": Colour.RED,
    "a word": np.uint64(2**64 - 1),
    "a short number": np.int32(-5),
    "a flag of NumPy's": np.bool_(True),
    "an array": np.arange(6, dtype=np.uint16).reshape(2, 3),
    "an array with strides": np.arange(12)[::-3],
    "an empty array": np.zeros((0, 3)),
    "a tuple": (1, (2.5, "x"), np.int8(3)),
    "a group": Pair,
    "a library": np,
    "another library": math,
    "a function of a library": math.gcd,
    "a type of NumPy's": np.uint64,
    "a built-in function": divmod,
}


RECORDS = np.zeros(2, [("a", "i4"), ("b", "u1")]), np.array([None, "x"])


def seen_by_the_compiler(value: Any) -> Any:
    scope: dict[str, Any] = {"value": value}
    exec("def function(x):\n    return value", scope)
    return sent(Inlined(scope["function"]).description).function(0)


@pytest.mark.parametrize("name", VALUES)
def test_values_of_globals_reach_the_compiler(name: str) -> None:
    value = VALUES[name]
    found = seen_by_the_compiler(value)
    if isinstance(value, np.generic | np.ndarray):
        assert type(found) is type(value) and found.dtype == value.dtype
        assert np.array_equal(found, value)
    elif name == "a group":
        assert found.__name__ == "Pair" and found(1, 2) == (1, 2) and found(1, 2).second == 2
        assert found is seen_by_the_compiler(Pair)  # one type for all that is compiled together
    elif isinstance(value, Colour):
        assert type(found) is int and found == 7
    else:
        assert type(found) is type(value) and found == value


def test_what_no_compiled_function_can_use_does_not_prevent_the_description() -> None:
    for value in ([1], {2: 3}, SimpleNamespace(), lambda: 0, open, *RECORDS):
        found = seen_by_the_compiler(value)
        assert found is value or isinstance(found, Unknown)


def test_constants_of_other_modules_reach_the_compiler() -> None:
    other = ModuleType("other")
    vars(other).update(MOST=9, LEAST=0.5, secret=[1], Colour=Colour)
    scope: dict[str, Any] = {"other": other}
    exec("def function(x):\n    return other.MOST + other.LEAST", scope)
    described = packed(Inlined(scope["function"]).description)
    function = unpacked(marshal.loads(marshal.dumps(described))).function
    assert function(0) == 9.5
    assert "secret" not in str(described)


def closing(over: Any) -> Any:
    def function(x: Any, y: Any = 5) -> Any:
        return x, y, over

    return function


def test_closures_and_defaults_reach_the_compiler() -> None:
    for over in (3, np.uint64(9)):
        function = sent(Inlined(closing(over)).description).function
        assert function(1) == (1, 5, over) and type(function(1)[2]) is type(over)


def test_a_function_that_is_called_by_two_is_described_once() -> None:
    one = import_module("mpinet.machine.hop").advance.description
    _, table = packed(one)
    found = sent(one)
    by_name: dict[str, Description] = {}

    def walk(part: Description) -> None:
        for each in part.parts.values():
            assert by_name.setdefault(each.name, each) is each
            walk(each)

    walk(found)
    assert {*by_name, found.name} == set(table)


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes(each)


def test_the_description_of_a_kernel_is_small() -> None:
    """It has the code of its functions and what they name, not the modules' other globals."""
    for each in kernels():
        _, table = packed(each.description)
        own = sum(len(code.co_code) for part in table.values() for code in codes(part[3][1]))
        assert len(marshal.dumps(table)) < 20 * own + 20_000


def test_a_function_keeps_its_name() -> None:
    function = sent(Inlined(closing(1)).description).function
    assert isinstance(function, FunctionType) and function.__name__ == "function"
