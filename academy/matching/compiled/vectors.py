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
def meet_two(
    _: Any,
    table: Any,
    other: Any,
    tests: Any,
    start: Any,
    second: Any,
    into: Any,
    place: Any,
    other_place: Any,
) -> Any:
    """Set banks `place` and `other_place` of `into` to what `meet` finds in two tables.

    Bit 0 of what is returned tells whether anything is left of the one, bit 1 of the other.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        tests_type, into_type = signature.args[2], signature.args[5]
        named = [test for start in args[3:5] for test in _four(context, builder, tests_type, args[2], start)]
        left = []
        for which in (0, 1):
            passed = ir.Constant(_WORDS, [-1] * LANES)
            for test in named:
                held = _loaded(context, builder, signature.args[which], args[which], test)
                passed = builder.and_(passed, held)
            left.append(passed)
        # All that can be read alike for both is read before anything is written.
        for passed, place in zip(left, args[6:8], strict=True):
            builder.store(passed, _bank(context, builder, into_type, args[5], place), align=8)
        one, two = (_some_left(builder, passed, args[6].type) for passed in left)
        return builder.or_(one, builder.shl(two, two.type(1)))

    return _NUMBER(table, other, tests, _NUMBER, _NUMBER, into, _NUMBER, _NUMBER), code


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
    return _some_left(builder, left, place.type)


def _some_left(builder: Any, bank: Any, number: Any) -> Any:
    some = builder.icmp_unsigned("!=", builder.bitcast(bank, _ALL_BITS), _ALL_BITS(0))
    return builder.zext(some, number)


def _four(context: Any, builder: Any, tests_type: Any, tests: Any, start: Any) -> list[Any]:
    first = builder.bitcast(_element(context, builder, tests_type, tests, start), _TESTS.as_pointer())
    four = builder.load(first, align=2)
    return [
        builder.zext(builder.extract_element(four, ir.IntType(32)(number)), start.type)
        for number in range(_TESTS.count)
    ]


@_operation
def write_codes(
    _: Any, words: Any, place: Any, step: Any, first: Any, second: Any, table: Any, offset: Any
) -> Any:
    """Write the banks of the codes at an offset, in the order of `anchoring.TESTED_CODES`.

    The banks of the six states are `step` apart in `words`, from `place` on: the empty cells', the first
    player's soldiers' and kings' `first` steps behind, the other's `second` steps, last those off the board.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words, place, step, first, second, table, offset = args

        def of_state(steps: Any) -> Any:
            at = builder.add(place, builder.mul(step, steps))
            return _loaded(context, builder, signature.args[0], words, at)

        number = place.type
        empty, off_board = of_state(number(0)), of_state(number(5))
        players = [
            [of_state(builder.add(player, number(king))) for king in (0, 1)] for player in (first, second)
        ]
        codes = [empty]
        for soldier, king in players:
            piece = builder.or_(soldier, king)
            codes += [soldier, king, piece, builder.or_(empty, piece)]
        codes.append(off_board)
        target = builder.mul(offset, number(len(codes)))
        for at, bank in enumerate(codes):
            place_of_code = builder.add(target, number(at))
            builder.store(bank, _bank(context, builder, signature.args[5], table, place_of_code), align=8)
        return context.get_dummy_value()

    return types.void(words, _NUMBER, _NUMBER, _NUMBER, _NUMBER, table, _NUMBER), code


@_operation
def bits_in_bank(_: Any, words: Any, place: Any) -> Any:
    """Return how many bits are set in bank `place`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bank = _loaded(context, builder, signature.args[0], *args)
        of_each = builder.call(_vector_function(builder, _WORDS, "llvm.ctpop.v8i64"), [bank])
        return builder.call(_vector_function(builder, _WORD, "llvm.vector.reduce.add.v8i64"), [of_each])

    return _NUMBER(words, _NUMBER), code


@_operation
def lanes_in_use(_: Any, words: Any, place: Any) -> Any:
    """Return the word whose bit b tells whether lane b of bank `place` has a bit set."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bank = _loaded(context, builder, signature.args[0], *args)
        some = builder.icmp_unsigned("!=", bank, ir.Constant(_WORDS, [0] * LANES))
        return builder.zext(builder.bitcast(some, ir.IntType(LANES)), _WORD)

    return types.uint64(words, _NUMBER), code


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
    """Return the number of the lowest bit that is set, 64 where none is."""

    def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(0))

    return _NUMBER(types.uint64), code


@_operation
def bits_set(_: Any, word: Any) -> Any:
    """Return how many bits are set."""

    def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return _NUMBER(types.uint64), code
