"""Four machine words at once, for the compiled sieve.

LLVM knows vectors but does not find them in the sieve's loops by itself, so the few operations that matter
are written in its terms. It translates them for any processor, with or without such instructions.
"""

from collections.abc import Callable
from typing import Any, Final, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES: Final = 4
_operation: Final = cast("Callable[[Callable[..., Any]], Callable[..., Any]]", intrinsic)
_WORD = ir.IntType(64)
_WORDS = ir.VectorType(_WORD, LANES)
_ALL_BITS = ir.IntType(64 * LANES)
_BYTES: Final = 64
_TESTS = ir.VectorType(ir.IntType(16), LANES)
_NUMBER: Final = types.uintp


def _element(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [place])


def _quad(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    word = _element(context, builder, array_type, array, builder.mul(place, place.type(LANES)))
    return builder.bitcast(word, _WORDS.as_pointer())


@_operation
def meet(_: Any, table: Any, tests: Any, start: Any, into: Any, place: Any) -> Any:
    """Set quad `place` of `into` to the AND of the quads of `table` that four tests name.

    Return 1, or 0 if nothing is left.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = _met(context, builder, signature, args)
        return _stored(context, builder, signature.args[3], args[3], args[4], found)

    return _NUMBER(table, tests, _NUMBER, into, _NUMBER), code


@_operation
def keep(_: Any, table: Any, tests: Any, start: Any, into: Any, place: Any, source: Any) -> Any:
    """As `meet`, with quad `source` of `into` among those that are met."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_quad(context, builder, signature.args[3], args[3], args[5]), align=8)
        found = builder.and_(found, _met(context, builder, signature, args))
        return _stored(context, builder, signature.args[3], args[3], args[4], found)

    return _NUMBER(table, tests, _NUMBER, into, _NUMBER, _NUMBER), code


@_operation
def meet_nearly(
    _: Any, table: Any, mended: Any, tests: Any, start: Any, into: Any, nearly: Any, place: Any
) -> Any:
    """As `meet`; quad `place` of `nearly` becomes those that fail one test only, one that `mended` has."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        everything = ir.Constant(_WORDS, [-1] * LANES)
        nothing = ir.Constant(_WORDS, [0] * LANES)
        return _nearly_met(context, builder, signature, args, everything, nothing)

    return _NUMBER(table, mended, tests, _NUMBER, into, nearly, _NUMBER), code


@_operation
def keep_nearly(
    _: Any,
    table: Any,
    mended: Any,
    tests: Any,
    start: Any,
    into: Any,
    nearly: Any,
    place: Any,
    source: Any,
) -> Any:
    """As `meet_nearly`, for what quads `source` of `into` and `nearly` have left."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        quads = [
            builder.load(_quad(context, builder, signature.args[at], args[at], args[7]), align=8)
            for at in (4, 5)
        ]
        return _nearly_met(context, builder, signature, args, *quads)

    return _NUMBER(table, mended, tests, _NUMBER, into, nearly, _NUMBER, _NUMBER), code


def _nearly_met(context: Any, builder: Any, signature: Any, args: Any, passed: Any, failed_one: Any) -> Any:
    table, mended, tests, start, into, nearly, place = args[:7]
    for test in _four(context, builder, signature.args[2], tests, start):
        holds = builder.load(_quad(context, builder, signature.args[0], table, test), align=8)
        mends = builder.load(_quad(context, builder, signature.args[1], mended, test), align=8)
        failed_one = builder.or_(builder.and_(failed_one, holds), builder.and_(passed, mends))
        passed = builder.and_(passed, holds)
    builder.store(passed, _quad(context, builder, signature.args[4], into, place), align=8)
    builder.store(failed_one, _quad(context, builder, signature.args[5], nearly, place), align=8)
    either = builder.bitcast(builder.or_(passed, failed_one), _ALL_BITS)
    return builder.zext(builder.icmp_unsigned("!=", either, _ALL_BITS(0)), place.type)


def _four(context: Any, builder: Any, tests_type: Any, tests: Any, start: Any) -> list[Any]:
    first = builder.bitcast(_element(context, builder, tests_type, tests, start), _TESTS.as_pointer())
    four = builder.load(first, align=2)
    return [
        builder.zext(builder.extract_element(four, ir.IntType(32)(number)), start.type)
        for number in range(LANES)
    ]


def _met(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    table, tests, start = args[:3]
    found = ir.Constant(_WORDS, [-1] * LANES)
    for test in _four(context, builder, signature.args[1], tests, start):
        quad = builder.load(_quad(context, builder, signature.args[0], table, test), align=8)
        found = builder.and_(found, quad)
    return found


def _stored(context: Any, builder: Any, array_type: Any, array: Any, place: Any, quad: Any) -> Any:
    builder.store(quad, _quad(context, builder, array_type, array, place), align=8)
    some = builder.icmp_unsigned("!=", builder.bitcast(quad, _ALL_BITS), _ALL_BITS(0))
    return builder.zext(some, place.type)


@_operation
def accepted(_: Any, states: Any, start: Any, code: Any) -> Any:
    """Return the word whose bit b tells whether `code` accepts the state `states[start + b]`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        states, start, code = args
        vector = ir.VectorType(ir.IntType(8), _BYTES)
        place = _element(context, builder, signature.args[0], states, start)
        found = builder.load(builder.bitcast(place, vector.as_pointer()), align=1)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), code, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _BYTES), [0] * _BYTES)
        everywhere = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)
        some = builder.icmp_unsigned("!=", builder.and_(found, everywhere), ir.Constant(vector, [0] * _BYTES))
        return builder.bitcast(some, _WORD)

    return types.uint64(states, _NUMBER, types.uint8), generate


@_operation
def lowest_bit(_: Any, word: Any) -> Any:
    """Return the number of the lowest bit that is set; there must be one."""

    def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return _NUMBER(types.uint64), code


@_operation
def bits_set(_: Any, word: Any) -> Any:
    """Return how many bits are set."""

    def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return _NUMBER(types.uint64), code
