"""Atomic operations on int64 arrays for threads of compiled code: acquire, release, compare-and-swap, spin-wait."""

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_X86 = platform.machine() in {"x86_64", "AMD64"}


def _place(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.gep_inbounds(builder, view.data, at)


@intrinsic
def load_acquire(typingctx: Any, words: Any, at: Any) -> Any:
    """Return ``words[at]`` with acquire order: what its writer wrote before its release is visible after this."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(words, types.intp), emit


@intrinsic
def store_release(typingctx: Any, words: Any, at: Any, value: Any) -> Any:
    """Set ``words[at]`` with release order: who loads it with acquire order sees all earlier writes of this thread."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), emit


@intrinsic
def compare_exchange(typingctx: Any, words: Any, at: Any, old: Any, new: Any) -> Any:
    """Compare and swap: set ``words[at]`` to ``new`` if it is ``old``; return whether it was, in one thread alone."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        found = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), emit


@intrinsic
def spin_hint(typingctx: Any) -> Any:
    """Tell the processor that this thread spins (x86 ``pause``); elsewhere nothing."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), emit
