"""An index made again from arrays holds what the first one held, and goes on as that would."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.rows import Rows
from tests.academy.matching.both_kernels import as_tuples
from tests.academy.matching.reference import all_matches
from tests.academy.matching.strategies import boards, games, libraries, patterns


def same(first: object, other: object) -> bool:
    """Whether values are equal and, where they are arrays, of one kind: compiled code is made for one."""
    if isinstance(first, np.ndarray) and isinstance(other, np.ndarray):
        kinds = [
            (array.dtype, array.ndim, *(array.flags[name] for name in ("C", "W", "A")))
            for array in (first, other)
        ]
        return kinds[0] == kinds[1] and np.array_equal(first, other)
    return first == other


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_restored_index_equals_the_saved_one(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    library = dict(data.draw(libraries(spec.geometry)))
    first = PatternIndex(spec, "numpy")
    for pattern_id, pattern in library.items():
        first.put(pattern_id, pattern)
    for pattern_id in data.draw(st.sets(st.sampled_from(sorted(library)))) if library else ():
        first.remove(pattern_id)
        del library[pattern_id]
    again = PatternIndex(spec, "numpy")
    again.restore({name: array.copy() for name, array in first.to_arrays().items()})

    assert len(again) == len(library)
    as_kept = again.snapshot()._rows
    assert all(pattern_id in again for pattern_id in library) and 1_000 not in again
    for rows in (as_kept, again._rows.freeze()):
        fields: Iterator[tuple[str, Any, Any]] = zip(Rows._fields, first._rows.freeze(), rows, strict=True)
        for name, left, other in fields:
            if name == "of_kind":
                assert [sorted(members.tolist()) for members in left] == [
                    sorted(members.tolist()) for members in other
                ]
                assert all(members.dtype == np.int32 and members.flags.c_contiguous for members in other)
            else:
                assert same(left, other), name

    library[1_000] = data.draw(patterns(spec.geometry))
    again.put(1_000, library[1_000])
    for pattern_id in sorted(library)[:3]:
        again.remove(pattern_id)
        del library[pattern_id]
    board = data.draw(boards(spec.geometry))
    assert as_tuples(again.match(board)) == all_matches(spec, library, board)
