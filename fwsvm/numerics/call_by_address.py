"""Calls between compiled functions by address instead of by inlining.

Numba compiles a callee again into each caller. A loop that calls a method's steps and a kernel's columns would so be
compiled once for each pair of a method and a kernel, seconds each. Called by address, each is compiled once.
"""

from typing import Any

import numba
from numba import _dispatcher, types
from numba.core import cgutils
from numba.extending import intrinsic

_FOUND: dict[tuple[Any, ...], int] = {}


def address_of(function: Any, *arguments: Any) -> int:
    """Return where the machine code of a compiled function for arguments like these stands; it is compiled if need be.

    Raises
    ------
    TypeError
        The function does not return an int64, which is what `call` expects.
    """
    try:  # microseconds, where types would be half a thousand
        key = (function, _dispatcher.compute_fingerprint(arguments))
    except NotImplementedError:  # of a kind that has none
        key = (function, *map(numba.typeof, arguments))
    if key not in _FOUND:
        kinds = tuple(numba.typeof(each) for each in arguments)
        function.compile(kinds)
        made = function.overloads[kinds]
        if made.signature.return_type != types.int64:
            raise TypeError(f"{function.__name__} returns {made.signature.return_type}, not int64")
        where = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        if not where:
            raise RuntimeError(f"{function.__name__} was compiled, but its code is not to be found")
        _FOUND[key] = where
    return _FOUND[key]


@intrinsic
def call(typingctx: Any, address: Any, arguments: Any) -> Any:
    """Return what the function at an address of `address_of` returns for a tuple of arguments like those there."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kinds = list(signature.args[1])
        kind = context.call_conv.get_function_type(types.int64, kinds)
        function = builder.inttoptr(given[0], kind.as_pointer())
        values = cgutils.unpack_tuple(builder, given[1])
        status, result = context.call_conv.call_function(builder, function, types.int64, kinds, values)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.intp, arguments), emit
