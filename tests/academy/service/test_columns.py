"""Columns are read by protobuf as the numbers they were written from."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from academy.service.columns import Varints, field, number_field, signed, unsigned
from academy.v1 import consultation_pb2 as messages

places = st.lists(st.integers(0, 9), max_size=200)


@given(st.lists(st.integers(0, 2**63 - 1), min_size=10, max_size=10), places)
def test_numbers_told_in_any_choice_and_order(numbers: list[int], chosen: list[int]) -> None:
    written = Varints(np.array(numbers)).taken(np.array(chosen, dtype=np.int32))
    table = messages.PatternTable.FromString(field(1, written))
    assert list(table.pattern_ids) == [numbers[place] for place in chosen]


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=20_000))
@example([-64, 63])
@example([-65, 64])
def test_signed_numbers(numbers: list[int]) -> None:
    column = signed(np.array(numbers, dtype=np.int16))
    assert list(messages.PositionMatches.FromString(field(3, column.written)).rows) == numbers


@given(st.lists(st.integers(0, 2**32 - 1), max_size=300), st.integers(0, 300), st.integers(0, 300))
@example([127], 0, 1)
@example([128], 0, 1)
def test_unsigned_numbers_and_parts_of_them(numbers: list[int], first: int, end: int) -> None:
    column = unsigned(np.array(numbers, dtype=np.int64))
    told = messages.PositionMatches.FromString(field(1, column.part(first, end)))
    assert list(told.patterns) == numbers[first:end]


@given(st.integers(0, 2**32 - 1))
def test_one_number(number: int) -> None:
    assert messages.PositionMatches.FromString(number_field(6, number)).total == number


@pytest.mark.parametrize("count", [0, 1, 15, 16, 2_047, 2_048, 262_143, 262_144, 300_000])
def test_a_column_of_any_length(count: int) -> None:
    numbers = np.linspace(0.0, 1.0, count)
    assert list(messages.PatternTable.FromString(field(4, numbers.tobytes())).elos) == numbers.tolist()
