"""What compiled code needs of the processor and of numba: atomics for threads, prefetch, and calls by address.

Numba compiles a callee again into each caller. A loop that calls a method's steps and a kernel's columns would so be
compiled once for each pair of a method and a kernel, seconds each. Called by address, each is compiled once.
"""

import platform
from typing import Any

import numba
from llvmlite import ir
from numba import _dispatcher, types
from numba.core import cgutils
from numba.extending import intrinsic

_X86 = platform.machine() in {"x86_64", "AMD64"}


def _place(context, builder, array_type, array, at):
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.gep_inbounds(builder, view.data, at)


@intrinsic
def load_acquire(typingctx, words, at):
    """Return ``words[at]`` with acquire order: what its writer wrote before its release is visible after this."""

    def emit(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature.args[0], *arguments), "acquire", 8)

    return types.int64(words, types.intp), emit


@intrinsic
def store_release(typingctx, words, at, value):
    """Set ``words[at]`` with release order: who loads it with acquire order sees all earlier writes of this thread."""

    def emit(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), emit


@intrinsic
def compare_exchange(typingctx, words, at, old, new):
    """Compare and swap: set ``words[at]`` to ``new`` if it is ``old``; return whether it was, in one thread alone."""

    def emit(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        found = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), emit


@intrinsic
def spin_hint(typingctx):
    """Tell the processor that this thread spins (x86 ``pause``); elsewhere nothing."""

    def emit(context, builder, signature, arguments):
        if _X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), emit


LINE = 64  # bytes of a cache line


@intrinsic
def prefetch(typingctx, array, at):
    """Prefetch the cache line that holds ``array[at]`` of a contiguous array."""

    def emit(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        bytes_, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(cgutils.gep_inbounds(builder, view.data, arguments[1]), bytes_)
        kind = ir.FunctionType(ir.VoidType(), [bytes_, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, word(0), word(3), word(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


_FOUND: dict[tuple[Any, ...], int] = {}


def address_of(function, *arguments) -> int:
    """Return where the machine code of a compiled function for arguments like these stands; it is compiled if need be.

    Raises
    ------
    TypeError
        The function does not return an int64, which is what `call` expects.
    """
    key = (
        function,
        _dispatcher.compute_fingerprint(arguments),
    )  # microseconds, where types would be half a thousand
    if key not in _FOUND:
        kinds = tuple(numba.typeof(each) for each in arguments)
        function.compile(kinds)
        made = function.overloads[kinds]
        if made.signature.return_type != types.int64:
            raise TypeError(f"{function.__name__} returns {made.signature.return_type}, not int64")
        _FOUND[key] = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    return _FOUND[key]


@intrinsic
def call(typingctx, address, arguments):
    """Return what the function at an address of `address_of` returns for a tuple of arguments like those there."""

    def emit(context, builder, signature, given):
        kinds = list(signature.args[1])
        kind = context.call_conv.get_function_type(types.int64, kinds)
        function = builder.inttoptr(given[0], kind.as_pointer())
        values = cgutils.unpack_tuple(builder, given[1])
        status, result = context.call_conv.call_function(builder, function, types.int64, kinds, values)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.intp, arguments), emit
