"""Memory management of compiled code: Numba's run-time functions, based on malloc and free.

Every object has its own copy of these functions and therefore depends on the C library alone.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import cgutils
from numba.core.runtime.nrtdynmod import create_nrt_module

# The record of an allocation, in Numba's layout: count, dtor, dtor_info, data, size, allocator.
FUNCTIONS = """
%info = type { i64, ptr, ptr, ptr, i64, ptr }
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @realloc(ptr, i64)

define ptr @NRT_Allocate(i64 %size) {
  %at = call ptr @malloc(i64 %size)
  ret ptr %at
}

define void @NRT_Free(ptr %at) {
  call void @free(ptr %at)
  ret void
}

define void @NRT_MemInfo_call_dtor(ptr %info) {
  %dtor.place = getelementptr %info, ptr %info, i32 0, i32 1
  %dtor = load ptr, ptr %dtor.place
  %none = icmp eq ptr %dtor, null
  br i1 %none, label %release, label %end
end:
  %told.place = getelementptr %info, ptr %info, i32 0, i32 2
  %told = load ptr, ptr %told.place
  %data.place = getelementptr %info, ptr %info, i32 0, i32 3
  %data = load ptr, ptr %data.place
  %size.place = getelementptr %info, ptr %info, i32 0, i32 4
  %size = load i64, ptr %size.place
  call void %dtor(ptr %data, i64 %size, ptr %told)
  br label %release
release:
  call void @free(ptr %info)
  ret void
}

define void @NRT_fill(ptr %base, ptr %dtor, ptr %told, ptr %data, i64 %size) {
  store i64 1, ptr %base
  %dtor.place = getelementptr %info, ptr %base, i32 0, i32 1
  store ptr %dtor, ptr %dtor.place
  %told.place = getelementptr %info, ptr %base, i32 0, i32 2
  store ptr %told, ptr %told.place
  %data.place = getelementptr %info, ptr %base, i32 0, i32 3
  store ptr %data, ptr %data.place
  %size.place = getelementptr %info, ptr %base, i32 0, i32 4
  store i64 %size, ptr %size.place
  %allocator.place = getelementptr %info, ptr %base, i32 0, i32 5
  store ptr null, ptr %allocator.place
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %most = zext i32 %align to i64
  %head = add i64 %size, 48
  %all = add i64 %head, %most
  %base = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %base, null
  br i1 %failed, label %none, label %made
made:
  %first = getelementptr i8, ptr %base, i64 48
  %word = ptrtoint ptr %first to i64
  %least = icmp ugt i64 %most, 1
  %unit = select i1 %least, i64 %most, i64 1
  %less = sub i64 %unit, 1
  %over = add i64 %word, %less
  %rest = urem i64 %over, %unit
  %place = sub i64 %over, %rest
  %data = inttoptr i64 %place to ptr
  call void @NRT_fill(ptr %base, ptr null, ptr null, ptr %data, i64 %size)
  ret ptr %base
none:
  ret ptr null
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %made = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 0)
  ret ptr %made
}

define void @NRT_varsize_dtor(ptr %data, i64 %size, ptr %items) {
  %none = icmp eq ptr %items, null
  br i1 %none, label %release, label %end
end:
  call void %items(ptr %data)
  br label %release
release:
  call void @free(ptr %data)
  ret void
}

define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %items) {
  %base = call ptr @malloc(i64 48)
  %data = call ptr @malloc(i64 %size)
  %no.base = icmp eq ptr %base, null
  %no.data = icmp eq ptr %data, null
  %failed = or i1 %no.base, %no.data
  br i1 %failed, label %none, label %made
made:
  call void @NRT_fill(ptr %base, ptr @NRT_varsize_dtor, ptr %items, ptr %data, i64 %size)
  ret ptr %base
none:
  call void @free(ptr %base)
  call void @free(ptr %data)
  ret ptr null
}

define ptr @NRT_MemInfo_varsize_realloc(ptr %info, i64 %size) {
  %data.place = getelementptr %info, ptr %info, i32 0, i32 3
  %old = load ptr, ptr %data.place
  %new = call ptr @realloc(ptr %old, i64 %size)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %none, label %made
made:
  store ptr %new, ptr %data.place
  %size.place = getelementptr %info, ptr %info, i32 0, i32 4
  store i64 %size, ptr %size.place
  ret ptr %new
none:
  ret ptr null
}
"""


def link_runtime(module: Any, context: Any) -> None:
    """Link these functions and Numba's functions for reference counts into a module."""
    counting, _ = create_nrt_module(context)
    # A fresh copy: the process's own copy contains instructions specific to this processor.
    module.link_in(llvm.parse_assembly(cgutils.normalize_ir_text(str(counting))))
    module.link_in(llvm.parse_assembly(FUNCTIONS))
