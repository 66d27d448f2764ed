"""Words that threads of compiled code leave for each other, in an order that compiler and processor keep."""

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
def read(typingctx: Any, words: Any, at: Any) -> Any:
    """Return ``words[at]`` (int64); what its writer wrote before it is seen from here on."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(words, types.intp), emit


@intrinsic
def write(typingctx: Any, words: Any, at: Any, value: Any) -> Any:
    """Set ``words[at]`` (int64); who reads it sees all that was written here before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), emit


@intrinsic
def exchange(typingctx: Any, words: Any, at: Any, old: Any, new: Any) -> Any:
    """Set ``words[at]`` (int64) to ``new`` if it is ``old``; return whether it was. Of many threads one succeeds."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        found = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), emit


@intrinsic
def pause(typingctx: Any) -> Any:
    """Wait a moment, and let the processor know that this is waiting."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), emit
