"""Callees of rules and kernels: compiled by Numba once, and only as part of their callers.

By default Numba generates machine code for every compiled function, including all its callees. A
function at call depth d would be optimised d times. Here LLVM optimises the complete kernel alone.
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
    """Stand-in for the generator of machine code."""

    @staticmethod
    def set_env(_name: str, _environment: Any) -> None:
        """Do nothing: native code of a job has no environment."""


class CalleeLibrary(JITCodeLibrary):
    """A callee's code in LLVM's form, without optimisation and machine code."""

    codegen = Later()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        # Only the work required for linking. Optimization comes once, in the complete kernel.
        self._finalize_dynamic_globals()
        self._finalized = True


class CalleeCompiler(Compiler):
    """Numba's compiler with a `CalleeLibrary` as target."""

    def define_pipelines(self) -> Any:
        """Return Numba's passes, and set the library filled by the last pass."""
        state = self.state
        state.library = CalleeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return self.lean_pipelines()

    def lean_pipelines(self) -> Any:
        """Return the passes of Numba that the function needs."""
        passes = Compiler.define_pipelines(self)
        return [lean(each, self.state.func_id.func) for each in passes]


@register_pass(mutates_CFG=False, analysis_only=True)
class IndicesFromZero(AnalysisPass):
    """A pass of Numba that removes the checks of array indices for negative values.

    In loops over records these checks take a fifth of the time. Constant indices are checked at
    compile
    time, at no cost, and may be negative.
    """

    _name = "indices_from_zero"

    def __init__(self) -> None:
        """Make the pass; Numba requires a constructor in each pass."""

    def run_pass(self, state: Any) -> bool:
        """Declare all indices except constants as unsigned numbers."""
        for block in state.func_ir.blocks.values():
            for use in [*block.find_exprs(op="getitem"), *block.find_insts(SetItem)]:
                place = use.target if isinstance(use, SetItem) else use.value
                if isinstance(state.typemap[place.name], Array):
                    # Numba's indexing chooses the check by type: unsigned types have none.
                    made = state.calltypes.pop(use)  # entries cannot be overwritten
                    array, index, *value = made.args
                    index = _without_sign(index, state.typemap[use.index.name])
                    state.calltypes[use] = made.replace(args=(array, index, *value))
        return True


def _without_sign(index: Any, given: Any) -> Any:
    """Return the unsigned type of an index or tuple of indices; constants keep their type."""
    if isinstance(index, BaseTuple):
        both: Any = index, given
        return Tuple(tuple(map(_without_sign, *both)))
    return uintp if isinstance(index, Integer) and not isinstance(given, Literal) else index


class SweepCompiler(CalleeCompiler):
    """The compiler of sweeps: functions without negative indices, except constants."""

    def define_pipelines(self) -> Any:
        """Return the passes, with `IndicesFromZero` after the last pass on types."""
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
    """Return a function in the form for its callers; the same object for the same name.

    Parameters
    ----------
    function : function
        Function that Numba can compile. Its name must change whenever its compiled form changes.
    numbers_alike : bool
        Compile the function once for all numbers, instead of once per constant argument.
    from_zero : bool
        Assume that all indices except constants are 0 or more.
    **how
        Options of `numba.njit`.
    """
    name = function.__qualname__
    if name not in KNOWN:
        compiler = SweepCompiler if from_zero else CalleeCompiler
        KNOWN[name] = made = numba.njit(function, pipeline_class=compiler, **how)
        # With literal types, Numba would compile the function once per constant argument.
        if numbers_alike:
            typed = made.get_call_template
            made.get_call_template = lambda args, kws: typed(tuple(map(unliteral, args)), kws)
    return KNOWN[name]


@numba.extending.intrinsic
def prefetch(_typing: Any, rows: Any, _at: Any) -> Any:
    """Generate code that prefetches the cache lines of an item of an array.

    In a table the item is the first item of a row. An item lies in one cache line if its size
    divides
    the size of a line.
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
"""Largest number of objects left by compilations before Python collects garbage cycles."""

_alive = [0]
"""Number of objects left after the last collection."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch off Python's collection of garbage cycles in this context.

    A compiler makes few cycles. A collection after each compilation would take a tenth of the
    compile time. One collection therefore serves many compilations.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Compiler objects live on. Frozen objects are skipped by later collections.
        gc.freeze()
        if gc.get_freeze_count() > _alive[0] + GARBAGE:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            _alive[0] = gc.get_freeze_count()
        if was_on:
            gc.enable()
