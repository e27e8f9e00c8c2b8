"""Numba's front end without the work that no result depends on.

Four fifths of the time in which a kernel is compiled are Numba's own passes, written in Python.
This module makes them cheaper. The code that they make stays the same.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from numba.core import targetconfig, types
from numba.core.compiler import Flags
from numba.core.compiler_machinery import PassManager
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    WithLifting,
)

UNUSED = (
    FindLiterallyCalls,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    WithLifting,
)
"""Passes for what no function of mpinet contains."""


def lean(passes: PassManager, function: Any) -> PassManager:
    """Leave out the passes that a function does not need."""
    closed = any(isinstance(each, CodeType) for each in function.__code__.co_consts)
    unused = UNUSED if closed else (*UNUSED, InlineClosureLikes)
    passes.passes = [each for each in passes.passes if each[0] not in unused]
    passes.finalize()
    return passes


def _processed(
    process: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False
) -> None:
    """Process Numba's code after a pass, without the variables that live at each block's begin.

    Generators alone need these.
    """
    code = process.func_ir
    if code.is_generator:
        _process(process, emit_dels, extend_lifetimes)
        return
    code.blocks = canonicalize_cfg(code.blocks)
    code.variable_lifetime = VariableLifetime(code.blocks)
    code.generator_info = None
    if emit_dels:
        process._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _are_equal(one: Any, other: Any) -> Any:
    """Compare options: those that are set first, then with the default values of the others."""
    if isinstance(other, Flags) and one._values == other._values:
        return True
    return _compare(one, other)


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call of a built-in function, the same one for the same types.

    Numba otherwise tries all templates of the function each time. It may still compile an overload
    anew: for other options it is another one.
    """
    key = tuple(args), tuple(kws.items())
    known = function.__dict__.setdefault("_known_calls", {})
    if key in known:
        return known[key]
    signature = _find_call_type(function, context, args, kws)
    if signature and function._impl_keys.get(signature.args) is function.typing_key:
        known[key] = signature
    return signature


_process, PostProcessor.run = PostProcessor.run, _processed
_compare, Flags.__eq__ = targetconfig.TargetConfig.__eq__, _are_equal
Flags.__hash__ = lambda _flags: len(Flags.options)
_find_call_type, types.Function.get_call_type = types.Function.get_call_type, _call_type
