"""Callees of rules and kernels as Numba compiles them: once, and into their callers alone.

Numba makes machine code of every function that it compiles, with all that is called in it: what a
kernel calls at depth d would be optimised d times. Here only the kernel is, when all is in it.

Imports Numba: `compiled` loads this module where the first function is compiled.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.types import unliteral

from mpinet.base.records import LINE

ENVIRONMENT = "_ZN08NumbaEnv"
"""Prefix of the global variables in which compiled functions find their Python environments."""


class Later:
    """Stand-in for what makes machine code: a callee's environment is set in its callers."""

    @staticmethod
    def set_env(_name: str, _environment: Any) -> None:
        """Leave it to `set_environments`."""


class CalleeLibrary(JITCodeLibrary):
    """A callee's code as LLVM reads it: neither optimised nor made machine code of."""

    codegen = Later()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class CalleeCompiler(Compiler):
    """Numba's compiler, which puts its code into a `CalleeLibrary`."""

    def define_pipelines(self) -> Any:
        """Return Numba's passes, with the library that the last of them fills."""
        state = self.state
        state.library = CalleeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


_known: dict[str, Any] = {}


def callee(function: FunctionType, numbers_alike: bool = False, **how: Any) -> Any:
    """Return the function as its callers compile it; the same one for the same name.

    Parameters
    ----------
    function : function
        What Numba can compile, under a name that changes whenever what it compiles to does.
    numbers_alike : bool
        Compile it once for all numbers, not once for each constant that it is called with.
    **how
        Options of `numba.njit`.
    """
    name = function.__qualname__
    if name not in _known:
        _known[name] = made = numba.njit(function, pipeline_class=CalleeCompiler, **how)
        if numbers_alike:
            typed = made.get_call_template
            made.get_call_template = lambda args, kws: typed(tuple(map(unliteral, args)), kws)
    return _known[name]


@numba.extending.intrinsic
def prefetch(_typing: Any, rows: Any, _at: Any) -> Any:
    """Make code that asks for the lines of the cache in which an item of an array lies.

    Of a table that is the first item of a row. Items of a size that divides a line's lie in one.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(rows)(context, builder, args[0])
        word = ir.IntType(32)
        item = context.get_abi_sizeof(context.get_data_type(rows.dtype))
        row = builder.mul(args[1], cgutils.unpack_tuple(builder, array.strides, rows.ndim)[0])
        data = builder.ptrtoint(array.data, row.type)
        first = builder.inttoptr(builder.add(data, row), cgutils.voidptr_t)
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [cgutils.voidptr_t],
            ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word]),
        )  # fmt: skip
        ends = [item - 1] if LINE % item and item % LINE else []
        for place in [*range(0, item, LINE), *ends]:
            at = cgutils.pointer_add(builder, first, place)
            builder.call(ask, [at, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return numba.types.none(rows, numba.types.int64), generate


def set_environments(native: Any) -> None:
    """Set the environments of all functions that were compiled into this one."""
    for made in native.overloads.values():
        for variable in made.library._final_module.global_variables:
            environment = None
            if variable.name.startswith(ENVIRONMENT):
                environment = lookup_environment(variable.name)
            if environment is not None:
                made.library.codegen.set_env(variable.name, environment)


@contextmanager
def uncollected() -> Iterator[None]:
    """Let Python look for cycles of garbage no more in this context: a compiler makes few."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
