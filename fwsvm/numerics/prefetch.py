"""Software prefetch of cache lines.

Rows visited in random order are cache misses. A prefetch a few visits ahead hides the latency, which is most of the
time of a coordinate step on a short row.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fwsvm.numerics.compile import overload

LINE = 64  # bytes of a cache line


@intrinsic
def _prefetch(typingctx: Any, array: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        bytes_, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(cgutils.gep_inbounds(builder, view.data, arguments[1]), bytes_)
        kind = ir.FunctionType(ir.VoidType(), [bytes_, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, word(0), word(3), word(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


def prefetch(array: Any, at: int) -> None:
    """Prefetch the cache line that holds ``array[at]`` of a contiguous array."""


@overload(prefetch)
def _prefetch_compiled(array: Any, at: Any) -> Any:
    return lambda array, at: _prefetch(array, at)
