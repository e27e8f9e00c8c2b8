"""The shortened front end makes the code that Numba's own makes."""

import operator
import re
from itertools import product

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.compiler import Compiler, Flags
from numba.core.postproc import PostProcessor

from mpinet.compiler import frontend
from mpinet.compiler.callees import CalleeCompiler

NUMBERS = types.int64, types.int32, types.uint8, types.boolean, types.float64, types.literal(3)


def loops(table, count):
    """Leave a loop in three ways, make arrays, use a closure, raise an error."""
    total = 0
    for i in range(count):
        if i % 3 == 0:
            continue
        if i > 50:
            break
        row = table[i, :2] + 1
        total += row[0] * min(i, count) + sum([j * i for j in range(2)])
    while total > 100:
        total //= 2
        if total == 77:
            raise ValueError("77")
    table[:] = table * 2 + 1
    return total


class Lean(Compiler):
    """Numba's compiler with the passes that callees have."""

    define_pipelines = CalleeCompiler.lean_pipelines


def machine_code(compiler) -> str:
    """Return the function's instructions, without the names that Numba counts."""
    made = numba.njit(loops, pipeline_class=compiler)
    made.compile((types.int64[:, ::1], types.int64))
    (text,) = made.inspect_asm().values()
    instructions = [line for line in text.splitlines() if re.match(r"\t[a-z]", line)]
    return re.sub(r"[\w.$]*(_ZN|\.const)[\w.$@]*|\d{7,}", "NAME", "\n".join(instructions))


@pytest.fixture(autouse=True)
def compiling(monkeypatch):
    """Compile also where all other tests run as plain Python."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)


def test_the_machine_code_is_that_of_all_passes(monkeypatch):
    lean_code = machine_code(Lean)
    monkeypatch.setattr(PostProcessor, "run", frontend._process)
    monkeypatch.setattr(Flags, "__eq__", frontend._compare)
    monkeypatch.setattr(types.Function, "get_call_type", frontend._find_call_type)
    assert machine_code(Compiler) == lean_code
    assert lean_code.count("\n") > 500


@pytest.mark.parametrize("name", "add floordiv lshift lt eq and_ getitem".split())
def test_a_call_has_the_same_types_each_time(name):
    context = numba.core.registry.cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(getattr(operator, name))
    arrays = types.Array(types.int64, 1, "C"), types.UniTuple(types.int64, 2)
    for args in product([*NUMBERS, *arrays], NUMBERS):
        try:
            own = frontend._find_call_type(function, context, args, {})
        except numba.core.errors.TypingError:
            with pytest.raises(numba.core.errors.TypingError):
                function.get_call_type(context, args, {})
        else:
            assert [function.get_call_type(context, args, {}) for _ in range(2)] == [own] * 2


def test_options_are_equal_if_all_their_values_are():
    one, other = Flags(), Flags()
    other.nrt = False  # the default value, set
    assert one == other and hash(one) == hash(other)
    other.nrt = True
    assert one != other and one != 3


def test_lean_passes_leave_closures_alone():
    @numba.njit(pipeline_class=Lean)
    def squares(count):
        def square(i):
            return i * i

        return np.array([square(i) for i in range(count)])

    assert squares(4).tolist() == [0, 1, 4, 9]
