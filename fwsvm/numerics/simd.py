"""SIMD for compiled code: vectors of eight float32 or float64 numbers, one number a lane.

LLVM does not vectorise the innermost loops of kernel values by itself, so they are written with explicit vectors.
`load`, `store` and `broadcast` move eight consecutive numbers, or eight copies of one, between arrays and vectors, on
which ``+ - * /`` and the functions of `fwsvm.numerics.simd` act lane by lane. Vectors stay in registers: a sum over
features does not touch memory.
"""

import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.extending import intrinsic, register_model

from fwsvm.numerics.compile import njit, overload

WIDTH = 8


class SimdType(types.Type):  # type: ignore[misc]
    """Numba's type of a vector of eight float32 or float64 numbers."""

    def __init__(self, dtype: types.Float) -> None:
        self.dtype = dtype
        super().__init__(name=f"Simd({dtype})")


@register_model(SimdType)
class SimdModel(PrimitiveModel):  # type: ignore[misc]
    """An LLVM vector of eight numbers: one register, or two where registers hold four."""

    def __init__(self, dmm: Any, fe_type: SimdType) -> None:
        element = ir.FloatType() if fe_type.dtype == types.float32 else ir.DoubleType()
        super().__init__(dmm, fe_type, ir.VectorType(element, WIDTH))


def _constant(vector: ir.VectorType, number: float) -> ir.Constant:
    return ir.Constant(vector, [number] * WIDTH)


def _address(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Return the address of ``array[at]`` as a pointer to eight numbers, and their alignment."""
    view = context.make_array(array_type)(context, builder, array)
    place = cgutils.gep_inbounds(builder, view.data, at)
    vector = SimdModel(None, SimdType(array_type.dtype)).get_value_type()
    return builder.bitcast(place, vector.as_pointer()), array_type.dtype.bitwidth // 8


@intrinsic
def load(typingctx: Any, array: Any, at: Any) -> Any:
    """Return ``array[at:at + 8]`` of a contiguous array as a vector; bounds are not checked."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, align = _address(context, builder, signature.args[0], *arguments)
        return builder.load(place, align=align)

    return SimdType(array.dtype)(array, types.intp), emit


@intrinsic
def store(typingctx: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Write a vector to ``array[at:at + 8]`` of a contiguous array; bounds are not checked."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, align = _address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], place, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic
def takes_two_registers(typingctx: Any, array: Any) -> Any:
    """Return whether a vector of the array's numbers takes two registers: float64, where registers hold 256 bits."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, processor, features = context.codegen().magic_tuple()
        wide = processor == "x86-64-v4" or "+avx512f" in features.split(",")
        return context.get_constant(types.boolean, array.dtype == types.float64 and not wide)

    return types.boolean(array), emit


@intrinsic
def broadcast(typingctx: Any, number: Any) -> Any:
    """Return a vector of eight copies of one number."""
    kind = SimdType(number)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = context.get_value_type(kind)
        first = builder.insert_element(
            ir.Constant(vector, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0)
        )
        return builder.shuffle_vector(
            first,
            ir.Constant(vector, ir.Undefined),
            ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH),
        )

    return kind(number), emit


def _binary(instruction: str) -> Any:
    @intrinsic
    def operation(typingctx: Any, left: Any, right: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return left(left, right), emit

    return operation


def _arithmetic(symbol: Any, instruction: str) -> None:
    """Define an operator for two vectors, and for a vector and a number, which is broadcast."""
    operation = _binary(instruction)

    @overload(symbol)
    def act(left: Any, right: Any) -> Any:
        if isinstance(left, SimdType) and isinstance(right, SimdType):
            return lambda left, right: operation(left, right)
        if isinstance(left, SimdType) and isinstance(right, types.Number):
            dtype = left.dtype
            return lambda left, right: operation(left, broadcast(dtype(right)))
        if isinstance(left, types.Number) and isinstance(right, SimdType):
            dtype = right.dtype
            return lambda left, right: operation(broadcast(dtype(left)), right)
        return None


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")


def _llvm(builder: Any, name: str, arguments: Any, result: Any = None) -> Any:
    """Call the LLVM intrinsic of that name on vectors of one type, by default also that of its result."""
    vector = arguments[0].type
    suffix = "f32" if vector.element == ir.FloatType() else "f64"
    kind = ir.FunctionType(vector if result is None else result, [vector] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}{suffix}")
    return builder.call(function, arguments)


def _unary(name: str) -> Any:
    """Return the intrinsic that applies an LLVM instruction of that name to each lane."""

    @intrinsic
    def operation(typingctx: Any, lanes: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _llvm(builder, name, arguments)

        return lanes(lanes), emit

    return operation


floor = _unary("floor")
lane_absolute = _unary("fabs")


@intrinsic
def fused_muladd(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c of vectors, with one rounding where the processor has a fused multiply-add."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _llvm(builder, "fmuladd", arguments)

    return a(a, b, c), emit


@intrinsic
def power_of_two(typingctx: Any, lanes: Any) -> Any:
    """Return 2^n for whole numbers n within the exponent's range, by writing the exponent's bits."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        bits, bias, mantissa = (32, 127, 23) if value.type.element == ir.FloatType() else (64, 1023, 52)
        whole = ir.VectorType(ir.IntType(bits), WIDTH)
        exponent = builder.add(builder.fptosi(value, whole), _constant(whole, bias))
        return builder.bitcast(builder.shl(exponent, _constant(whole, mantissa)), value.type)

    return lanes(lanes), emit


def _zip(first: int) -> Any:
    """Return the intrinsic that interleaves the halves of a and b that start at lane ``first``: a0 b0 a1 b1 ..."""
    mask = ir.Constant(
        ir.VectorType(ir.IntType(32), WIDTH), [first + k // 2 + (WIDTH if k % 2 else 0) for k in range(WIDTH)]
    )

    @intrinsic
    def interleave(typingctx: Any, a: Any, b: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.shuffle_vector(*arguments, mask)

        return a(a, b), emit

    return interleave


_zip_low, _zip_high = _zip(0), _zip(WIDTH // 2)


@intrinsic
def widen(typingctx: Any, lanes: Any) -> Any:
    """Return a vector as float64."""
    wide = SimdType(types.float64)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        return value if lanes == wide else builder.fpext(value, context.get_value_type(wide))

    return wide(lanes), emit


@intrinsic
def where_positive(typingctx: Any, test: Any, a: Any, b: Any) -> Any:
    """Return a vector with the lanes of a where test > 0, else of b."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(arguments[0].type, [0.0] * WIDTH)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), *arguments[1:])

    return a(test, a, b), emit


def _reduction(instruction: str, comparison: str) -> Any:
    """Return the intrinsics of a minimum or maximum: of two vectors lane by lane, and over the lanes of one."""

    @intrinsic
    def two(typingctx: Any, a: Any, b: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.select(builder.fcmp_ordered(comparison, *arguments), *arguments)

        return a(a, b), emit

    @intrinsic
    def among(typingctx: Any, a: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _llvm(builder, f"vector.reduce.{instruction}", arguments, arguments[0].type.element)

        return a.dtype(a), emit

    return two, among


lane_min, reduce_min = _reduction("fmin", "<")
lane_max, reduce_max = _reduction("fmax", ">")


@njit(inline="always")
def transpose(a, b, c, d, e, f, g, h):
    """Return the transpose of eight rows of eight, by three rounds of perfect shuffles."""
    for _ in range(3):
        a, b, c, d, e, f, g, h = (
            _zip_low(a, e), _zip_high(a, e), _zip_low(b, f), _zip_high(b, f),
            _zip_low(c, g), _zip_high(c, g), _zip_low(d, h), _zip_high(d, h),
        )  # fmt: skip
    return a, b, c, d, e, f, g, h


def muladd(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c; for vectors by a fused multiply-add, with one rounding, where the processor has it."""
    return a * b + c


@overload(muladd)
def _muladd_compiled(a: Any, b: Any, c: Any) -> Any:
    return (lambda a, b, c: fused_muladd(a, b, c)) if isinstance(a, SimdType) else (lambda a, b, c: a * b + c)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, or of each lane of a vector and a number."""
    return max(a, b)


@overload(maximum)
def _larger_compiled(a: Any, b: Any) -> Any:
    if isinstance(a, SimdType):
        dtype = a.dtype
        return lambda a, b: lane_max(a, broadcast(dtype(b)))
    return lambda a, b: max(a, b)


def absolute(a: Any) -> Any:
    """Return the absolute value."""
    return abs(a)


@overload(absolute)
def _size_compiled(a: Any) -> Any:
    return (lambda a: lane_absolute(a)) if isinstance(a, SimdType) else (lambda a: abs(a))


def exp(a: Any) -> Any:
    """Return e^a for a <= 0 to about one unit in the last place; below -87 (float32) or -708 (float64) 0 or tiny."""
    return math.exp(a)


# exp(r) on |r| <= ln(2)/2: Cephes' expf for float32, the Taylor series to rounding level for float64.
_TERMS_32 = tuple(
    map(
        np.float32, (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
    )
)
_TERMS_64 = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))
_LOG2_HIGH_32, _LOG2_LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOG2_HIGH_64, _LOG2_LOW_64 = 6.93145751953125e-1, 1.42860682030941723212e-6


@njit(inline="always")
def _exp32(a):
    t5, t4, t3, t2, t1, t0 = _TERMS_32
    a = maximum(a, -87.0)
    n = floor(a * 1.4426950408889634 + 0.5)
    r = muladd(n, broadcast(-_LOG2_LOW_32), muladd(n, broadcast(-_LOG2_HIGH_32), a))
    p = muladd(broadcast(t5), r, broadcast(t4))
    p = muladd(p, r, broadcast(t3))
    p = muladd(p, r, broadcast(t2))
    p = muladd(p, r, broadcast(t1))
    p = muladd(p, r, broadcast(t0))
    return (muladd(p, r * r, r) + 1.0) * power_of_two(n)


@njit(inline="always")
def _exp64(a):
    a = maximum(a, -708.0)
    n = floor(a * 1.4426950408889634 + 0.5)
    r = muladd(n, broadcast(-_LOG2_LOW_64), muladd(n, broadcast(-_LOG2_HIGH_64), a))
    p = broadcast(_TERMS_64[0])
    for k in range(1, 12):
        p = muladd(p, r, broadcast(_TERMS_64[k]))
    return (muladd(p, r * r, r) + 1.0) * power_of_two(n)


@overload(exp)
def _exp_compiled(a: Any) -> Any:
    if not isinstance(a, SimdType):
        return lambda a: math.exp(a)
    return (lambda a: _exp32(a)) if a.dtype == types.float32 else (lambda a: _exp64(a))
