"""Object files of native code, as from a C compiler, for processors of one level."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba.core import config
from numba.core.codegen import _parse_refprune_flags
from numba.core.cpu import CPUContext
from numba.core.typeinfer import register_dispatcher

from mpinet.base.native.description import Description
from mpinet.base.native.kept import symbol
from mpinet.compiler import errors  # noqa: F401 (all code that this process compiles has its errors)
from mpinet.compiler.callees import CalleeCompiler, uncollected
from mpinet.compiler.entries import put_kernel_entry, put_rule_entry
from mpinet.compiler.functions import UNSEEN, signature_of, with_native_callees
from mpinet.compiler.runtime import link_runtime

# `link_runtime` adds the functions for memory to each object once.
CPUContext.post_lowering = lambda self, module, library: None


LIBRARY = ctypes.CDLL(None)
"""The C library, present in every process."""


class Target(NamedTuple):
    """A kind of processors."""

    triple: str
    """Machine and system in LLVM's notation; empty for this host."""
    cpu: str
    """LLVM's name of the oldest supported processor."""
    features: str
    """Additional processor features in LLVM's notation."""


def host() -> Target:
    """Return the target of this host's processor."""
    return Target("", llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def made(part: Description, fingerprint: str, targets: list[Target]) -> list[bytes]:
    """Compile a kernel or a rule; return one object per target."""
    with uncollected():
        module = _module(part, symbol(fingerprint))
        bitcode = module.as_bitcode()
        return [_emitted(bitcode, target) for target in targets]


def _module(part: Description, name: str) -> Any:
    """Return LLVM's code of a function and all its callees, with the function's entry."""
    native = numba.njit(
        with_native_callees(part), pipeline_class=CalleeCompiler, **part.how, **UNSEEN
    )
    with register_dispatcher(native):
        native.compile(signature_of(part))
    (compiled,) = native.overloads.values()
    module = compiled.library._final_module.clone()
    link_runtime(module, compiled.target_context)
    if part.kind == "kernel":
        put_kernel_entry(module, compiled, name)
    else:
        put_rule_entry(module, compiled, part.form, name)
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name != name:
            # Two objects in one process may have functions of one name; only entries are visible.
            each.linkage = "internal"
    return module


def _emitted(bitcode: bytes, target: Target) -> bytes:
    """Optimise LLVM's code for a target and return its object."""
    module = llvm.parse_bitcode(bitcode)
    module.name = "mpinet"
    machine = _machine(target)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    # Numba's two rounds: the first round groups reference counts and removes the unused ones.
    for cheap in (True, False):
        tuning = llvm.create_pipeline_tuning_options(3)
        tuning.loop_vectorization, tuning.slp_vectorization = True, False
        builder = llvm.create_pass_builder(machine, tuning)
        passes = builder.getModulePassManager()
        if cheap:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        if config.LLVM_REFPRUNE_PASS:
            passes.add_refprune_pass(_parse_refprune_flags())
        passes.run(module, builder)
    _require_complete(module)
    code: bytes = machine.emit_object(module)
    return code


def _require_complete(module: Any) -> None:
    """Raise if code calls functions of Numba's process: their address would be 0 elsewhere."""
    for each in module.functions:
        name = each.name
        if each.is_declaration and not name.startswith("llvm.") and not hasattr(LIBRARY, name):
            raise NotImplementedError(f"compiled code has no function {name}")


def _machine(target: Target) -> Any:
    """Return LLVM's machine of a target."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = target.triple or llvm.get_process_triple()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default"
    )
