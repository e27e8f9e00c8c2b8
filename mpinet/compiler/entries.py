"""Entries of native code: functions with machine words as arguments.

A kernel's entry is ``int mp_<fingerprint>(word *in, word *out, char **error)``. A rule's entry has
the type `ruletype.function_type`. Arrays are passed as address and shape, without an owner, and
are not reference-counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types

from mpinet.compiler.ruletype import FAILED, RECORD, WORD, RuleType, function_type

INT, BYTE = ir.IntType(32), ir.IntType(8)
NEXT = Callable[[], Any]
"""Function that returns the next word."""


def put_kernel_entry(module: Any, made: Any, name: str) -> None:
    """Add the entry of a compiled kernel to its LLVM module."""
    context, descriptor = made.target_context, made.fndesc
    source, inner = _declared(context, descriptor, name)
    words = WORD.as_pointer()
    form = ir.FunctionType(INT, [words, words, BYTE.as_pointer().as_pointer()])
    outer = ir.Function(source, form, name)
    given, results, error = outer.args
    builder = ir.IRBuilder(outer.append_basic_block("entry"))
    places = iter(range(1 << 16))

    def word() -> Any:
        return builder.load(builder.gep(given, [WORD(next(places))]))

    values = [_value(context, builder, each, word) for each in descriptor.argtypes]
    status, value = context.call_conv.call_function(
        builder, inner, descriptor.restype, descriptor.argtypes, values
    )
    with builder.if_then(status.is_error, likely=False):
        builder.store(builder.bitcast(status.excinfoptr, BYTE.as_pointer()), error)
        builder.ret(INT(1))
    for place, (kind, each) in enumerate(_results(builder, descriptor.restype, value)):
        builder.store(_word_of(builder, kind, each), builder.gep(results, [WORD(place)]))
    builder.ret(INT(0))
    _link(module, source)


def put_rule_entry(module: Any, made: Any, kind: str, name: str) -> None:
    """Add the entry of a compiled rule to its LLVM module."""
    context, descriptor = made.target_context, made.fndesc
    source, inner = _declared(context, descriptor, name)
    outer = ir.Function(source, function_type(kind), name)
    record, *words = outer.args
    builder = ir.IRBuilder(outer.append_basic_block("entry"))
    taken = iter(words)
    values = [_value(context, builder, each, lambda: next(taken)) for each in descriptor.argtypes]
    status, value = context.call_conv.call_function(
        builder, inner, descriptor.restype, descriptor.argtypes, values
    )
    with builder.if_then(status.is_error, likely=False):
        fields = builder.bitcast(record, RECORD.as_pointer())
        place = builder.gep(fields, [INT(0), INT(1)], inbounds=True)
        builder.store(builder.bitcast(status.excinfoptr, BYTE.as_pointer()), place)
        builder.ret(WORD(FAILED))
    builder.ret(WORD(0) if isinstance(descriptor.restype, types.NoneType) else value)
    _link(module, source)


def _declared(context: Any, descriptor: Any, name: str) -> tuple[Any, Any]:
    """Return a new LLVM module, and its declaration of a compiled function."""
    source = ir.Module(f"entry.{name}")
    form = context.call_conv.get_function_type(descriptor.restype, descriptor.argtypes)
    return source, ir.Function(source, form, descriptor.llvm_func_name)


def _link(module: Any, source: Any) -> None:
    module.link_in(llvm.parse_assembly(cgutils.normalize_ir_text(str(source))))


def _value(context: Any, builder: Any, kind: Any, word: NEXT) -> Any:
    """Generate code that reads a value of one of Numba's types from words."""
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(
            builder, kind, [_value(context, builder, each, word) for each in kind]
        )
    if isinstance(kind, types.Boolean):
        return builder.icmp_unsigned("!=", word(), WORD(0))
    if isinstance(kind, types.Integer):
        return word() if kind.bitwidth == 64 else builder.trunc(word(), ir.IntType(kind.bitwidth))
    if isinstance(kind, types.Float):
        return builder.bitcast(word(), ir.DoubleType())
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, word)
    if isinstance(kind, types.Record | RuleType):
        return builder.inttoptr(word(), context.get_value_type(kind))
    raise TypeError(f"no kernel takes {kind}")


def _array(context: Any, builder: Any, kind: Any, word: NEXT) -> Any:
    """Generate code that fills Numba's structure of an array without an owner."""
    array = context.make_array(kind)(context, builder)
    array.data = builder.inttoptr(word(), array.data.type)
    shape = [word() for _ in range(kind.ndim)]
    size = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides, step = [], size
    for each in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, each)
    items = WORD(1)
    for each in shape:
        items = builder.mul(items, each)
    if kind.layout != "C":
        strides = [word() for _ in range(kind.ndim)]
    array.shape = cgutils.pack_array(builder, shape)
    array.strides = cgutils.pack_array(builder, strides)
    array.nitems, array.itemsize = items, size
    # No owner, hence no reference count: the caller keeps the array alive during the call.
    array.meminfo = ir.Constant(array.meminfo.type, None)
    array.parent = ir.Constant(array.parent.type, None)
    return array._getvalue()


def _results(builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return the numbers of a result, each with its type."""
    if isinstance(kind, types.NoneType):
        return []
    if isinstance(kind, types.BaseTuple):
        return [(each, builder.extract_value(value, at)) for at, each in enumerate(kind)]
    return [(kind, value)]


def _word_of(builder: Any, kind: Any, value: Any) -> Any:
    """Generate code that converts a number to a word."""
    if isinstance(kind, types.Boolean):
        return builder.zext(value, WORD)
    if isinstance(kind, types.Float):
        return builder.bitcast(value, WORD)
    if not isinstance(kind, types.Integer):
        raise TypeError(f"no kernel returns {kind}")
    if kind.bitwidth == 64:
        return value
    return (builder.sext if kind.signed else builder.zext)(value, WORD)
