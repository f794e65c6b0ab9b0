"""An index made again from arrays holds what the first one held, and goes on as that would."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.rows import Rows
from tests.academy.matching.both_kernels import as_tuples
from tests.academy.matching.reference import all_matches
from tests.academy.matching.strategies import boards, games, libraries, patterns


def rows_of(index: PatternIndex) -> Rows:
    return index._rows.now()


def same(one: object, other: object) -> bool:
    """Whether values are equal and, where they are arrays, of one kind: compiled code is made for one."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        kinds = [(each.dtype, each.ndim, str(each.flags)) for each in (one, other)]
        return kinds[0] == kinds[1] and np.array_equal(one, other)
    return one == other


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_an_index_is_made_again_from_what_was_kept(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    library = dict(data.draw(libraries(spec.geometry)))
    first = PatternIndex(spec, "numpy")
    for pattern_id, pattern in library.items():
        first.put(pattern_id, pattern)
    for pattern_id in data.draw(st.sets(st.sampled_from(sorted(library)))) if library else ():
        first.remove(pattern_id)
        del library[pattern_id]
    again = PatternIndex(spec, "numpy")
    again.restore({name: array.copy() for name, array in first.kept().items()})

    assert len(again) == len(library) and all(pattern_id in again for pattern_id in library)
    for name, one, other in zip(Rows._fields, rows_of(first), rows_of(again), strict=True):
        if name == "of_kind":
            assert [sorted(each.tolist()) for each in rows_of(first).of_kind] == [
                sorted(each.tolist()) for each in rows_of(again).of_kind
            ]
        else:
            assert same(one, other), name

    library[1_000] = data.draw(patterns(spec.geometry))
    again.put(1_000, library[1_000])
    for pattern_id in sorted(library)[:3]:
        again.remove(pattern_id)
        del library[pattern_id]
    board = data.draw(boards(spec.geometry))
    assert as_tuples(again.match(board)) == all_matches(spec, library, board)
