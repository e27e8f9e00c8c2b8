"""Numba's front end without work that has no influence on the result.

Numba's own passes, written in Python, take most of a kernel's compile time. This module makes
these passes cheaper. The generated code stays the same.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from numba.core import postproc, transforms, types
from numba.core.compiler import Flags
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction


def lean(passes: Any, function: Any) -> Any:
    """Remove the passes for nested functions if a function has none."""
    code = function.__code__
    within = any(isinstance(each, CodeType) for each in code.co_consts)
    if not within and "reduce" not in code.co_names:
        unused = InlineClosureLikes, MakeFunctionToJitFunction
        passes.passes = [each for each in passes.passes if each[0] not in unused]
        passes.finalize()
    return passes


def _processed(process: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Process Numba's code after a pass, without the list of live variables of each block.

    Generators alone need this list.
    """
    code = process.func_ir
    if code.is_generator:
        _process(process, emit_dels, extend_lifetimes)
        return
    code.blocks = _canonical(code.blocks)
    code.variable_lifetime = _lifetimes(code.blocks)
    code.generator_info = None
    if emit_dels:
        process._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _are_equal(one: Any, other: Any) -> Any:
    """Compare the options that are set; if these differ, compare all values."""
    if isinstance(other, Flags) and one._values == other._values:
        return True
    return _compare(one, other)


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call of a built-in function, remembered by argument types.

    Numba tries all templates of the function in each call. Overloads are not remembered, because
    Numba compiles them again for other options.
    """
    key = tuple(args), tuple(kws.items())
    known = function.__dict__.setdefault("_known_calls", {})
    if key in known:
        return known[key]
    signature = _find_call_type(function, context, args, kws)
    if signature and function._impl_keys.get(signature.args) is function.typing_key:
        known[key] = signature
    return signature


_canonical: Any = transforms.canonicalize_cfg
_lifetimes: Any = postproc.VariableLifetime
_numbas: Any = postproc.PostProcessor
_process, _numbas.run = _numbas.run, _processed
_numbas = Flags
_compare, _numbas.__eq__ = _numbas.__eq__, _are_equal
_numbas.__hash__ = lambda _flags: len(Flags.options)
_numbas = types.Function
_find_call_type, _numbas.get_call_type = _numbas.get_call_type, _call_type
