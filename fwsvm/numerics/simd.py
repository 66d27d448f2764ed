"""SIMD for compiled code: vectors of float32 or float64 numbers, one number a lane, eight lanes where nothing is said.

LLVM does not vectorise the innermost loops of kernel values by itself, so they are written with explicit vectors.
`load`, `store` and `broadcast` move consecutive numbers, or copies of one, between arrays and vectors, on which
``+ - * /`` and the functions of `fwsvm.numerics.simd` act lane by lane. Vectors stay in registers, as many as their
lanes need: a sum over features does not touch memory.

All functions here write LLVM instructions into their caller: none is compiled by itself.
"""

import math
import operator
from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, register_model

WIDTH = 8


class SimdType(types.Type):  # type: ignore[misc]
    """Numba's type of a vector of float32 or float64 numbers."""

    def __init__(self, dtype: types.Float, lanes: int = WIDTH) -> None:
        self.dtype = dtype
        self.lanes = lanes
        super().__init__(name=f"Simd({dtype}, {lanes})")


@register_model(SimdType)
class SimdModel(PrimitiveModel):  # type: ignore[misc]
    """An LLVM vector, which takes one register or several."""

    def __init__(self, dmm, fe_type: SimdType) -> None:
        element = ir.FloatType() if fe_type.dtype == types.float32 else ir.DoubleType()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.lanes))


def _constant(kind, number: float) -> ir.Constant:
    """Return a number, or a vector of copies of it."""
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def element(context, builder, array_type, array, at):
    """Return the address of ``array[at]`` of a contiguous array; bounds are not checked."""
    return cgutils.gep_inbounds(builder, context.make_array(array_type)(context, builder, array).data, at)


def _address(context, builder, array_type, array, at, lanes: int = WIDTH):
    """Return the address of ``array[at]`` as a pointer to a vector, and its alignment."""
    place = element(context, builder, array_type, array, at)
    vector = SimdModel(None, SimdType(array_type.dtype, lanes)).get_value_type()
    return builder.bitcast(place, vector.as_pointer()), array_type.dtype.bitwidth // 8


def _load(context, builder, signature, arguments):
    *_, array, at = arguments
    place, align = _address(context, builder, signature.args[-2], array, at, signature.return_type.lanes)
    return builder.load(place, align=align)


@intrinsic
def load(typingctx, array, at):
    """Return ``array[at:at + 8]`` of a contiguous array as a vector; bounds are not checked."""
    return SimdType(array.dtype)(array, types.intp), _load


@intrinsic
def load_as(typingctx, like, array, at):
    """Return as many numbers of a contiguous array as ``like`` has lanes; bounds are not checked."""
    return SimdType(array.dtype, like.lanes)(like, array, types.intp), _load


@intrinsic
def fused_muladd(typingctx, a, b, c):
    """Return a * b + c of float64 numbers, rounded once."""
    return types.float64(a, b, c), lambda _context, builder, _signature, arguments: builder.fma(*arguments)


@intrinsic
def store(typingctx, array, at, vector):
    """Write a vector to a contiguous array from ``at`` on; bounds are not checked."""

    def emit(context, builder, signature, arguments):
        array, at, value = arguments
        place, align = _address(context, builder, signature.args[0], array, at, vector.lanes)
        builder.store(value, place, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), emit


@lower_cast(types.Number, SimdType)
def _copies(context, builder, number, kind: SimdType, value):
    """Return a vector of copies of one number."""
    vector = context.get_value_type(kind)
    place = ir.IntType(32)
    undefined = ir.Constant(vector, ir.Undefined)
    one = context.cast(builder, value, number, kind.dtype)
    first = builder.insert_element(undefined, one, ir.Constant(place, 0))
    every = ir.Constant(ir.VectorType(place, kind.lanes), [0] * kind.lanes)
    return builder.shuffle_vector(first, undefined, every)


@intrinsic
def broadcast(typingctx, number):
    """Return a vector of eight copies of one number."""

    def emit(context, builder, signature, arguments):
        return context.cast(builder, arguments[0], number, signature.return_type)

    return SimdType(number)(number), emit


@intrinsic(prefer_literal=True)
def zeros(typingctx, array, lanes, registers):
    """Return a vector of so many zeros of the array's type, or of as many as so many registers hold, if fewer.

    Both numbers are constants. Registers are taken to hold 256 bits where the processor has not AVX-512.
    """
    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    bits = 512 if processor == "x86-64-v4" or "+avx512f" in features.split(",") else 256
    most = registers.literal_value * bits // array.dtype.bitwidth
    kind = SimdType(array.dtype, min(lanes.literal_value, most))

    def emit(context, builder, signature, arguments):
        return _constant(context.get_value_type(kind), 0.0)

    return kind(array, lanes, registers), emit


@intrinsic
def lanes_of(typingctx, vector):
    """Return how many lanes a vector has, a constant."""

    def emit(context, builder, signature, arguments):
        return context.get_constant(types.intp, vector.lanes)

    return types.intp(vector), emit


# ---------------------------------------------------------------- lane by lane


def _act_lane_by_lane(function: Callable, emit: Callable, *, of_numbers: bool = True) -> None:
    """Let compiled code call a function of vectors, beside which numbers are broadcast, and of numbers alone.

    ``emit(builder, *values)`` writes its instructions for values of one LLVM type.
    """

    class Typing(AbstractTemplate):  # type: ignore[misc]
        def generic(self, given, _keywords):
            vectors = [kind for kind in given if isinstance(kind, SimdType)]
            if not (vectors or of_numbers):
                return None
            kind = vectors[0] if vectors else self.context.unify_types(*map(types.unliteral, given))
            return signature(kind, *[kind] * len(given))

    infer_global(function)(Typing)
    for kind in (SimdType, types.Number) if of_numbers else (SimdType,):
        lower_builtin(function, types.VarArg(kind))(
            lambda _context, builder, _signature, arguments: emit(builder, *arguments)
        )


_act_lane_by_lane(operator.add, ir.IRBuilder.fadd, of_numbers=False)
_act_lane_by_lane(operator.sub, ir.IRBuilder.fsub, of_numbers=False)
_act_lane_by_lane(operator.mul, ir.IRBuilder.fmul, of_numbers=False)
_act_lane_by_lane(operator.truediv, ir.IRBuilder.fdiv, of_numbers=False)


def _llvm(builder, name: str, *arguments):
    """Call the LLVM intrinsic of that name on values of one type, also that of its result."""
    kind = arguments[0].type
    number = getattr(kind, "element", kind)
    lanes = f"v{kind.count}" if isinstance(kind, ir.VectorType) else ""
    signature = ir.FunctionType(kind, [kind] * len(arguments))
    name = f"llvm.{name}.{lanes}{'f32' if number == ir.FloatType() else 'f64'}"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), arguments)


def muladd(a, b, c):
    """Return a * b + c; for vectors by a fused multiply-add, with one rounding, where the processor has it."""
    return a * b + c


def maximum(a, b):
    """Return the larger of two numbers, or of each lane of a vector and a number."""
    return max(a, b)


def minimum(a, b):
    """Return the smaller of two numbers, or of each lane of a vector and a number."""
    return min(a, b)


def absolute(a):
    """Return the absolute value."""
    return abs(a)


def exp(a):
    """Return e^a for a <= 0 to about one unit in the last place; it is 0 below -87 (float32) or -708 (float64).

    Products of what is tiny are slow: numbers below the normal ones take a hundred times as long.
    """
    return math.exp(a)


def _muladd(builder, a, b, c):
    if isinstance(a.type, ir.VectorType):
        return _llvm(builder, "fmuladd", a, b, c)
    return builder.fadd(builder.fmul(a, b), c)


def _choose(comparison: str) -> Callable:
    """Return what chooses between two values; between two numbers as Python does, where one is not a number."""

    def emit(builder, a, b):
        if isinstance(a.type, ir.IntType):
            return builder.select(builder.icmp_signed(comparison, b, a), b, a)
        if isinstance(a.type, ir.VectorType):
            return builder.select(builder.fcmp_ordered(comparison, a, b), a, b)
        return builder.select(builder.fcmp_ordered(comparison, b, a), b, a)

    return emit


_larger = _choose(">")
_smaller = _choose("<")


# exp(r) on |r| <= ln(2)/2: Cephes' expf for float32, the Taylor series to rounding level for float64.
_TERMS_32 = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
_TERMS_64 = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))
_LOG2_32 = (0.693359375, -2.12194440e-4)  # high and low part
_LOG2_64 = (6.93145751953125e-1, 1.42860682030941723212e-6)


def _exp(builder, a):
    kind = a.type
    if not isinstance(kind, ir.VectorType):
        return _llvm(builder, "exp", a)
    single = kind.element == ir.FloatType()
    lowest, terms, (high, low) = (-87.0, _TERMS_32, _LOG2_32) if single else (-708.0, _TERMS_64, _LOG2_64)
    given = a
    a = _larger(builder, a, _constant(kind, lowest))
    n = _llvm(builder, "rint", builder.fmul(a, _constant(kind, 1.4426950408889634)))
    r = _muladd(builder, n, _constant(kind, -low), _muladd(builder, n, _constant(kind, -high), a))
    p = _constant(kind, terms[0])
    for term in terms[1:]:
        p = _muladd(builder, p, r, _constant(kind, term))
    p = _muladd(builder, p, builder.fmul(r, r), r)
    found = builder.fmul(builder.fadd(p, _constant(kind, 1.0)), _power_of_two(builder, n))
    is_normal = builder.fcmp_ordered(">=", given, _constant(kind, lowest))
    return builder.select(is_normal, found, _constant(kind, 0.0))


def _power_of_two(builder, n):
    """Return 2^n for whole numbers n within the exponent's range, by writing the exponent's bits."""
    bits, bias, mantissa = (32, 127, 23) if n.type.element == ir.FloatType() else (64, 1023, 52)
    whole = ir.VectorType(ir.IntType(bits), n.type.count)
    exponent = builder.add(builder.fptosi(n, whole), _constant(whole, bias))
    return builder.bitcast(builder.shl(exponent, _constant(whole, mantissa)), n.type)


_act_lane_by_lane(muladd, _muladd)
_act_lane_by_lane(maximum, _larger)
_act_lane_by_lane(minimum, _smaller)
_act_lane_by_lane(absolute, lambda builder, a: _llvm(builder, "fabs", a))
_act_lane_by_lane(exp, _exp)


@intrinsic
def widen(typingctx, lanes):
    """Return a vector as float64."""
    wide = SimdType(types.float64, lanes.lanes)

    def emit(context, builder, signature, arguments):
        (value,) = arguments
        return value if lanes == wide else builder.fpext(value, context.get_value_type(wide))

    return wide(lanes), emit


@intrinsic
def where_positive(typingctx, test, a, b):
    """Return a vector with the lanes of a where test > 0, else of b."""

    def emit(context, builder, signature, arguments):
        zero = _constant(arguments[0].type, 0.0)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), *arguments[1:])

    return a(test, a, b), emit


def _reduction(choose: Callable):
    """Return the intrinsic of a minimum or maximum over the lanes of a vector, one half of which meets the other."""

    @intrinsic
    def among(typingctx, a):
        def emit(context, builder, signature, arguments):
            (value,) = arguments
            place = ir.IntType(32)
            while half := value.type.count // 2:
                lanes = ir.VectorType(place, half)
                halves = [ir.Constant(lanes, [*range(k, k + half)]) for k in (0, half)]
                value = choose(builder, *(builder.shuffle_vector(value, value, each) for each in halves))
            return builder.extract_element(value, place(0))

        return a.dtype(a), emit

    return among


reduce_min = _reduction(_smaller)
reduce_max = _reduction(_larger)


@intrinsic
def store_transposed(typingctx, tile, at, width, out, lines, first, size, start):
    """Write the transpose of eight vectors ``tile[at + k * width:]`` to ``out[lines[first + k] * size + start:]``."""

    def emit(context, builder, signature, arguments):
        kinds = signature.args
        tile, at, width, out, lines, first, size, start = arguments
        rows = []
        for _ in range(WIDTH):
            place, align = _address(context, builder, kinds[0], tile, at)
            rows.append(builder.load(place, align=align))
            at = builder.add(at, width)
        for _ in range(3):  # perfect shuffles: a0 b0 a1 b1 ...
            pairs = [
                pair for pair in zip(rows[: WIDTH // 2], rows[WIDTH // 2 :], strict=True) for _ in range(2)
            ]
            rows = [builder.shuffle_vector(*pair, _HALVES[k % 2]) for k, pair in enumerate(pairs)]
        for k, row in enumerate(rows):
            line = builder.load(element(context, builder, kinds[4], lines, builder.add(first, first.type(k))))
            place, align = _address(
                context, builder, kinds[3], out, builder.add(builder.mul(line, size), start)
            )
            builder.store(row, place, align=align)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(tile, whole, whole, out, types.int64[::1], whole, whole, whole), emit


#: Lanes of two vectors in turn, from the first of each or from their middle.
_HALVES = [
    ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [half + k // 2 + WIDTH * (k % 2) for k in range(WIDTH)])
    for half in (0, WIDTH // 2)
]
