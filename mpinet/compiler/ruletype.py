"""Rules in the form for kernels: the address of a record whose first word is a native function.

The function takes the record and then words. A number is one word; an array is its address and
its shape. Arrays without an owner and words in registers make a call twice as fast as Numba's own
first-class functions with reference counts. A failing rule returns `FAILED` and stores an error
in the record.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.core.callconv import RETCODE_USEREXC, excinfo_ptr_t
from numba.core.extending import lower_builtin, lower_getattr, models, register_model
from numba.core.typing.templates import AttributeTemplate, infer_getattr, signature

from mpinet.base.arguments import SIGNATURES

WORD = ir.IntType(64)
POINTER = ir.IntType(8).as_pointer()
FAILED = -(1 << 63)
"""Result of a failing rule, whose record then contains an error."""

RECORD = ir.LiteralStructType([POINTER, POINTER])
"""The part of a rule's record used by compiled code: function, error."""

TYPES: dict[str, Any] = {
    name: getattr(types, name)
    for name in (
        "void boolean uint8 uint16 int32 int64 uint32 uint64 float64 complex128 Tuple UniTuple"
    ).split()
}
"""Names allowed in a kernel's signature."""

RULES: dict[str, Any] = {kind: eval(text, {}, TYPES) for kind, text in SIGNATURES.items()}
"""Signatures of the rules, in Numba's types."""


class RuleType(types.Opaque):
    """Numba's type of a rule of one kind."""

    def __init__(self, kind: str):
        self.kind = kind
        super().__init__(f"rule({kind})")


class CallType(types.Callable, types.Opaque):
    """Numba's type of a rule's `call`: the rule's address, used as a function."""

    def __init__(self, kind: str):
        self.kind = kind
        super().__init__(f"call({kind})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of the rule's kind."""
        form = RULES[self.kind]
        if kws or len(args) != len(form.args):
            raise errors.TypingError(f"a {self.kind} takes {len(form.args)} numbers and arrays")
        return signature(form.return_type, *form.args, recvr=self)

    def get_call_signatures(self) -> Any:
        """Return all signatures, and whether other types have further signatures."""
        return [RULES[self.kind]], False

    def get_impl_key(self, sig: Any) -> Any:
        """Return the name under which Numba knows `call_rule`."""
        return "rule.call"


@register_model(RuleType)
@register_model(CallType)
class RuleModel(models.OpaqueModel):
    """Data model of a rule: an address."""


TYPES |= {kind: RuleType(kind) for kind in RULES}


@infer_getattr
class RuleAttributes(AttributeTemplate):
    """The single attribute of a rule, `call`."""

    key = RuleType

    def resolve_call(self, rule: Any) -> Any:
        """Return the type of `call`."""
        return CallType(rule.kind)


@lower_getattr(RuleType, "call")
def call_of(context: Any, builder: Any, kind: Any, record: Any) -> Any:
    """Return the function of a rule: the rule's record itself."""
    return record


def function_type(kind: str) -> Any:
    """Return LLVM's type of the native functions of rules of a kind."""
    count = sum(
        1 + (each.ndim if isinstance(each, types.Array) else 0) for each in RULES[kind].args
    )
    return ir.FunctionType(WORD, [POINTER] + [WORD] * count)


@lower_builtin("rule.call", CallType, types.VarArg(types.Any))
def call_rule(context: Any, builder: Any, form: Any, args: Any) -> Any:
    """Generate code that calls a rule by its record."""
    record, *given = args
    kind = form.args[0].kind
    words = []
    for type_, value in zip(form.args[1:], given, strict=True):
        if isinstance(type_, types.Array):
            array = context.make_array(type_)(context, builder, value)
            words.append(builder.ptrtoint(array.data, WORD))
            words += cgutils.unpack_tuple(builder, array.shape, type_.ndim)
        else:
            words.append(value)
    fields = builder.bitcast(record, RECORD.as_pointer())
    place = builder.gep(fields, [ir.IntType(32)(0), ir.IntType(32)(0)], inbounds=True)
    called = builder.bitcast(builder.load(place), function_type(kind).as_pointer())
    value = builder.call(called, [record, *words])
    # The smallest integer is a legal result, so the error field decides. It is read in this rare
    # case only.
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", value, WORD(FAILED))):
        place = builder.gep(fields, [ir.IntType(32)(0), ir.IntType(32)(1)], inbounds=True)
        error = builder.load(place)
        with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, error)):
            builder.store(cgutils.get_null_value(POINTER), place)
            convention = context.call_conv
            told = builder.bitcast(error, excinfo_ptr_t)
            status = convention._get_return_status(builder, RETCODE_USEREXC, told)
            convention.return_status_propagate(builder, status)
    if form.return_type == types.void:
        return context.get_dummy_value()
    return value
