"""Callees of rules and kernels as Numba compiles them: once, and into their callers alone.

Numba makes machine code of every function that it compiles, with all that is called in it: what a
kernel calls at depth d would be optimised d times. Here only the kernel is, when all is in it.
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
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.ir import SetItem
from numba.core.typed_passes import AnnotateTypes
from numba.core.types import Array, BaseTuple, Integer, Literal, Tuple, uintp, unliteral

from mpinet.base.records import LINE
from mpinet.compiler.frontend import lean


class Later:
    """Stand-in for what makes machine code."""

    @staticmethod
    def set_env(_name: str, _environment: Any) -> None:
        """Leave it out: code of the job's has no environment."""


class CalleeLibrary(JITCodeLibrary):
    """A callee's code as LLVM reads it: neither optimised nor made machine code of."""

    codegen = Later()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        # Only what linking needs. Optimization comes once, when everything is in the kernel.
        self._finalize_dynamic_globals()
        self._finalized = True


class CalleeCompiler(Compiler):
    """Numba's compiler, which puts its code into a `CalleeLibrary`."""

    def define_pipelines(self) -> Any:
        """Return Numba's passes, with the library that the last of them fills."""
        state = self.state
        state.library = CalleeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return self.lean_pipelines()

    def lean_pipelines(self) -> Any:
        """Return Numba's passes that the function needs."""
        passes = Compiler.define_pipelines(self)
        return [lean(each, self.state.func_id.func) for each in passes]


@register_pass(mutates_CFG=False, analysis_only=True)
class IndicesFromZero(AnalysisPass):
    """Numba's indices of arrays without their first question: is it below 0, counted from the end.

    In loops that go from record to record that question is a fifth of the time. Constants are asked
    at no cost, and so may be negative.
    """

    _name = "indices_from_zero"

    def __init__(self) -> None:
        """Make the pass; Numba wants each to say how."""

    def run_pass(self, state: Any) -> bool:
        """Let indices that are no constants be taken as numbers without a sign."""
        for block in state.func_ir.blocks.values():
            for use in [*block.find_exprs(op="getitem"), *block.find_insts(SetItem)]:
                place = use.target if isinstance(use, SetItem) else use.value
                if isinstance(state.typemap[place.name], Array):
                    # Numba's indexing asks for a sign by type: an unsigned type removes the
                    # question.
                    made = state.calltypes.pop(use)  # what is there cannot be replaced
                    array, index, *value = made.args
                    index = _without_sign(index, state.typemap[use.index.name])
                    state.calltypes[use] = made.replace(args=(array, index, *value))
        return True


def _without_sign(index: Any, given: Any) -> Any:
    """Return the type of an index, or of a tuple of them, of which those given are constants."""
    if isinstance(index, BaseTuple):
        both: Any = index, given
        return Tuple(tuple(map(_without_sign, *both)))
    return uintp if isinstance(index, Integer) and not isinstance(given, Literal) else index


class SweepCompiler(CalleeCompiler):
    """The compiler of what takes no index below 0, but for constants."""

    def define_pipelines(self) -> Any:
        """Return the passes, with that one behind the last that looks at types."""
        pipelines = super().define_pipelines()
        for passes in pipelines:
            passes.add_pass_after(IndicesFromZero, AnnotateTypes)
            passes.finalize()
        return pipelines


KNOWN: dict[str, Any] = {}
"""Callees by name."""


def callee(
    function: FunctionType, numbers_alike: bool = False, from_zero: bool = False, **how: Any
) -> Any:
    """Return the function as its callers compile it; the same one for the same name.

    Parameters
    ----------
    function : function
        What Numba can compile, under a name that changes whenever what it compiles to does.
    numbers_alike : bool
        Compile it once for all numbers, not once for each constant that it is called with.
    from_zero : bool
        Take all indices that are no constants for 0 or more.
    **how
        Options of `numba.njit`.
    """
    name = function.__qualname__
    if name not in KNOWN:
        compiler = SweepCompiler if from_zero else CalleeCompiler
        KNOWN[name] = made = numba.njit(function, pipeline_class=compiler, **how)
        # Literal types would compile the function once per constant that it is called with.
        if numbers_alike:
            typed = made.get_call_template
            made.get_call_template = lambda args, kws: typed(tuple(map(unliteral, args)), kws)
    return KNOWN[name]


@numba.extending.intrinsic
def prefetch(_typing: Any, rows: Any, _at: Any) -> Any:
    """Make code that asks for the lines of the cache in which an item of an array lies.

    In a table the item is the first one of a row. An item whose size divides a line's lies in one.
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


GARBAGE = 500_000
"""Most objects that compilations leave before Python looks for cycles of garbage among them."""

_alive = [0]
"""Number of objects that the last such look left."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Let Python look for cycles of garbage no more in this context: a compiler makes few.

    A look afterwards would take a tenth of a compilation, so one look is for many compilations.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Compiler objects live on; frozen ones are not walked by later collections.
        gc.freeze()
        if gc.get_freeze_count() > _alive[0] + GARBAGE:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            _alive[0] = gc.get_freeze_count()
        if was_on:
            gc.enable()
