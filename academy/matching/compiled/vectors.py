"""Eight machine words at once, for the compiled sieve.

LLVM knows vectors but does not find them in the sieve's loops by itself, so the few operations that matter
are written in its terms. It translates them for any processor, with or without such instructions.
"""

from collections.abc import Callable
from typing import Any, Final, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES: Final = 8
_operation: Final = cast("Callable[[Callable[..., Any]], Callable[..., Any]]", intrinsic)
_WORD = ir.IntType(64)
_WORDS = ir.VectorType(_WORD, LANES)
_ALL_BITS = ir.IntType(64 * LANES)
_BYTES: Final = 64
_TESTS = ir.VectorType(ir.IntType(16), 4)
_NUMBER: Final = types.uintp


def _element(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [place])


def _bank(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    word = _element(context, builder, array_type, array, builder.mul(place, place.type(LANES)))
    return builder.bitcast(word, _WORDS.as_pointer())


def _loaded(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    return builder.load(_bank(context, builder, array_type, array, place), align=8)


@_operation
def meet(
    _: Any,
    table: Any,
    mended: Any,
    tests: Any,
    start: Any,
    second: Any,
    into: Any,
    nearly: Any,
    place: Any,
) -> Any:
    """Set bank `place` of `into` to the AND of the banks of `table` that eight tests name.

    Four are those from `start` of `tests` on, four those from `second` on. Unless `mended` is None, bank
    `place` of `nearly` becomes the candidates that fail one test only, one that `mended` has. Return 1, or 0
    if nothing is left.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        passed, failed_one = ir.Constant(_WORDS, [-1] * LANES), ir.Constant(_WORDS, [0] * LANES)
        return _met(context, builder, signature, args, args[3:5], (passed, failed_one))

    return _NUMBER(table, mended, tests, _NUMBER, _NUMBER, into, nearly, _NUMBER), code


@_operation
def keep(
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
    """As `meet`, with four tests, for what bank `source` of `into`, and of `nearly`, has left."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left = [
            _loaded(context, builder, signature.args[at], args[at], args[7])
            for at in ((4,) if isinstance(mended, types.NoneType) else (4, 5))
        ]
        return _met(context, builder, signature, args, args[3:4], (left[0], left[-1]))

    return _NUMBER(table, mended, tests, _NUMBER, into, nearly, _NUMBER, _NUMBER), code


def _met(context: Any, builder: Any, signature: Any, args: Any, starts: Any, before: Any) -> Any:
    (table, mended, tests), (into, nearly, place) = args[:3], args[3 + len(starts) :][:3]
    table_type, mended_type, tests_type = signature.args[:3]
    into_type, nearly_type = signature.args[3 + len(starts) :][:2]
    passed, failed_one = before
    mends = not isinstance(mended_type, types.NoneType)
    for test in [test for start in starts for test in _four(context, builder, tests_type, tests, start)]:
        holds = _loaded(context, builder, table_type, table, test)
        if mends:
            mending = builder.and_(passed, _loaded(context, builder, mended_type, mended, test))
            failed_one = builder.or_(builder.and_(failed_one, holds), mending)
        passed = builder.and_(passed, holds)
    builder.store(passed, _bank(context, builder, into_type, into, place), align=8)
    left = passed
    if mends:
        builder.store(failed_one, _bank(context, builder, nearly_type, nearly, place), align=8)
        left = builder.or_(passed, failed_one)
    some = builder.icmp_unsigned("!=", builder.bitcast(left, _ALL_BITS), _ALL_BITS(0))
    return builder.zext(some, place.type)


def _four(context: Any, builder: Any, tests_type: Any, tests: Any, start: Any) -> list[Any]:
    first = builder.bitcast(_element(context, builder, tests_type, tests, start), _TESTS.as_pointer())
    four = builder.load(first, align=2)
    return [
        builder.zext(builder.extract_element(four, ir.IntType(32)(number)), start.type)
        for number in range(_TESTS.count)
    ]


@_operation
def bits_in_bank(_: Any, words: Any, place: Any) -> Any:
    """Return how many bits are set in bank `place`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bank = _loaded(context, builder, signature.args[0], *args)
        of_each = builder.call(_vector_function(builder, _WORDS, "llvm.ctpop.v8i64"), [bank])
        return builder.call(_vector_function(builder, _WORD, "llvm.vector.reduce.add.v8i64"), [of_each])

    return _NUMBER(words, _NUMBER), code


def _vector_function(builder: Any, result: Any, name: str) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [_WORDS]), name)


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
