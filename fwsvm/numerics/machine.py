"""What compiled code needs of the processor: atomics for threads, and prefetch."""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fwsvm.numerics.simd import element

_X86 = platform.machine() in {"x86_64", "AMD64"}


def _call(builder, name: str, *arguments) -> None:
    """Call the LLVM intrinsic of that name, which returns nothing."""
    kind = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic
def load_acquire(typingctx, words, at):
    """Return ``words[at]`` with acquire order: what its writer wrote before its release is visible after this."""

    def emit(context, builder, signature, arguments):
        return builder.load_atomic(element(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(words, types.intp), emit


@intrinsic
def store_release(typingctx, words, at, value):
    """Set ``words[at]`` with release order: who loads it with acquire order sees all earlier writes of this thread."""

    def emit(context, builder, signature, arguments):
        place = element(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), emit


@intrinsic
def compare_exchange(typingctx, words, at, old, new):
    """Compare and swap: set ``words[at]`` to ``new`` if it is ``old``; return whether it was, in one thread alone."""

    def emit(context, builder, signature, arguments):
        place = element(context, builder, signature.args[0], *arguments[:2])
        found = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), emit


@intrinsic
def spin_hint(typingctx):
    """Tell the processor that this thread spins (x86 ``pause``); elsewhere nothing."""

    def emit(context, builder, signature, arguments):
        if _X86:
            _call(builder, "llvm.x86.sse2.pause")
        return context.get_dummy_value()

    return types.void(), emit


LINE = 64  # bytes of a cache line


@intrinsic
def prefetch(typingctx, array, at):
    """Prefetch the cache line that holds ``array[at]`` of a contiguous array."""

    def emit(context, builder, signature, arguments):
        bytes_ = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        place = builder.bitcast(element(context, builder, signature.args[0], *arguments), bytes_)
        _call(builder, "llvm.prefetch.p0", place, word(0), word(3), word(1))  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), emit
