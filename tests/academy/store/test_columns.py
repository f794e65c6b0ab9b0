"""Columns that are packed as bytes are read by protobuf as the numbers they were."""

import numpy as np
import pytest

from academy.store.columns import pack_columns
from academy.v1 import consultation_pb2 as messages


@pytest.mark.parametrize("count", [0, 1, 31, 32, 4_095, 4_096, 300_000])
def test_columns_of_any_length_are_read_as_they_were(count: int) -> None:
    numbers = np.arange(count, dtype=np.int32)
    position, table = messages.PositionMatches(), messages.PatternTable()
    pack_columns(
        position,
        patterns=numbers,
        symmetries=numbers % 12,
        rows=-numbers,
        columns=numbers - 5,
        for_opponent=numbers % 2 == 0,
    )
    pack_columns(
        table,
        pattern_ids=numbers.astype(np.int64) << 31,
        libraries=(numbers % 4).astype(np.uint8),
        proposers=numbers.astype(np.uint32),
        elos=numbers / 7,
    )
    assert list(position.patterns) == numbers.tolist()
    assert list(position.rows) == (-numbers).tolist()
    assert list(position.columns) == (numbers - 5).tolist()
    assert list(position.for_opponent) == (numbers % 2 == 0).tolist()
    assert list(table.pattern_ids) == (numbers.astype(np.int64) << 31).tolist()
    assert list(table.libraries) == (numbers % 4).tolist()
    assert list(table.proposers) == numbers.tolist()
    assert list(table.elos) == (numbers / 7).tolist()
