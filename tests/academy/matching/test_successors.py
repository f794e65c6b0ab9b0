"""What a move changes is what a query of the position after it would show."""

import random
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, CellChange, CellChanges, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.knowledge.text import read_cells
from academy.matching.index import PatternIndex
from academy.matching.matches import MatchQuery
from academy.matching.successors import MAX_MOVES, InvalidCandidateMoveError
from tests.academy.matching.both_kernels import BothKernels, as_tuples, gone_after, matches_after, new_after
from tests.academy.matching.reference import all_matches
from tests.academy.matching.strategies import boards, games, libraries
from tests.academy.matching.test_index import index_of, loose_pattern


def after(board: Board, move: CellChanges) -> Board:
    states = bytearray(board.states)
    for cell, state in move:
        states[cell] = state
    return Board(board.geometry, bytes(states))


def check(index: BothKernels, board: Board, moves: Sequence[CellChanges]) -> int:
    """Compare every successor with a query of its own; return how many matches were different."""
    before = set(as_tuples(index.match(board)))
    successors = index.match_successors(board, moves)
    base = as_tuples(successors.base)
    assert set(base) == before
    different = 0
    for number, move in enumerate(moves):
        matches = as_tuples(index.match(after(board, move)))
        assert matches_after(successors, number) == matches
        assert {base[entry] for entry in gone_after(successors, number)} == before - set(matches)
        assert set(as_tuples(new_after(successors, number))) == set(matches) - before
        different += len(before ^ set(matches))
    return different


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_successors_equal_separate_queries(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    change = st.tuples(st.integers(0, spec.geometry.size - 1), st.sampled_from(State))
    moves = data.draw(
        st.lists(st.lists(change, max_size=4, unique_by=lambda changed: changed[0]), max_size=8)
    )
    check(index_of(spec, library), board, moves)


@pytest.mark.parametrize("side", [4, 9])
def test_all_moves_on_a_large_board_and_some_captures(side: int) -> None:
    spec = GameSpec("go", SquareGeometry(19, 19), symmetries=tuple(SQUARE))
    chance = random.Random(side)
    board = Board(spec.geometry, bytes(chance.choices((1, 1, 1, 2, 8), k=361)))
    library = {number: loose_pattern(chance, board, side, side, 4 + number % 9) for number in range(50)}
    empty = [cell for cell, state in enumerate(board.states) if state == State.EMPTY]
    stones = [cell for cell, state in enumerate(board.states) if state == State.SECOND_SOLDIER]
    moves: list[list[CellChange]] = [[(cell, State.FIRST_SOLDIER)] for cell in empty[::10]]
    for cell in empty[:5]:
        captured = chance.sample(stones, 3)
        moves.append([(cell, State.FIRST_SOLDIER), *((stone, State.EMPTY) for stone in captured)])
    assert check(index_of(spec, library), board, moves) > 1_000


def test_a_stone_brings_and_ends_matches() -> None:
    spec = GameSpec("line", SquareGeometry(1, 4))
    library = {1: read_cells("x o", spec.geometry), 2: read_cells("- -", spec.geometry)}
    board = Board.from_letters(spec.geometry, "--o-")
    successors = index_of(spec, library).match_successors(board, [[(1, State.FIRST_SOLDIER)], []])
    assert as_tuples(successors.base) == [(2, 0, 0, 0)]
    assert as_tuples(new_after(successors, 0)) == [(1, 0, 0, 1)]
    assert gone_after(successors, 0).tolist() == [0]
    assert matches_after(successors, 0) == [(1, 0, 0, 1)]
    assert matches_after(successors, 1) == as_tuples(successors.base)


def test_limit_applies_to_the_base_and_to_each_move() -> None:
    spec = GameSpec("line", SquareGeometry(1, 6))
    library = {number: read_cells("x -", spec.geometry) for number in range(9)}
    board = Board.from_letters(spec.geometry, "x-----")
    index = index_of(spec, library)
    moves = [[(cell, State.FIRST_SOLDIER)] for cell in range(1, 5)]
    successors = index.match_successors(
        board, [*moves, [(2, State.FIRST_SOLDIER), (4, State.FIRST_SOLDIER)]], most=4
    )
    assert successors.base.pattern_ids.tolist() == [0, 1, 2, 3]
    assert successors.base.total == 9
    assert [new_after(successors, move).pattern_ids.tolist() for move in range(4)] == [[0, 1, 2, 3]] * 4
    assert new_after(successors, 4).pattern_ids.tolist() == [0, 0, 1, 1]
    assert [gone_after(successors, move).tolist() for move in range(5)] == [[0, 1, 2, 3], [], [], [], []]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_limits_leave_the_first_of_each_pattern_and_of_all(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    board = data.draw(boards(spec.geometry))
    index = index_of(spec, data.draw(libraries(spec.geometry)))
    most, per_pattern = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    change = st.tuples(st.integers(0, spec.geometry.size - 1), st.sampled_from(State))
    moves = data.draw(
        st.lists(st.lists(change, max_size=3, unique_by=lambda changed: changed[0]), max_size=12)
    )
    everything = index.match_successors(board, moves)
    cut = index.match_successors(board, moves, most, per_pattern)
    assert as_tuples(cut.base) == as_tuples(index.match(board, most, per_pattern))
    listed = set(as_tuples(cut.base))
    for move in range(len(moves)):
        new, all_new = new_after(cut, move), new_after(everything, move)
        assert new.places.tolist() == at_most(all_new.places.tolist(), per_pattern)[:most]
        assert set(as_tuples(new)) <= set(as_tuples(all_new))
        assert len(set(as_tuples(new))) == new.listed
        assert new.total == all_new.total == all_new.listed
        gone = {as_tuples(everything.base)[entry] for entry in gone_after(everything, move)}
        assert {as_tuples(cut.base)[entry] for entry in gone_after(cut, move)} == gone & listed


def at_most(places: list[int], per_pattern: int) -> list[int]:
    return [place for entry, place in enumerate(places) if places[:entry].count(place) < per_pattern]


def test_near_misses_of_most_patterns_respect_the_limits() -> None:
    spec = GameSpec("go", SquareGeometry(19, 19), symmetries=tuple(SQUARE))
    library = {number: read_cells("x x", spec.geometry) for number in range(300)}
    board = Board(spec.geometry, bytes([State.FIRST_SOLDIER, State.EMPTY] * 181)[:361])
    moves = [[(cell, State.FIRST_SOLDIER)] for cell in range(1, 361, 2)]
    index = PatternIndex(spec)
    for number, pattern in library.items():
        index.put(number, pattern)
    successors = index.snapshot().match_successors(MatchQuery(board, None, 8, 2), moves)
    assert [new_after(successors, move).listed for move in range(len(moves))] == [8] * len(moves)
    assert successors.totals.max() > 1_000
    assert successors.all_new.listed == 8 * len(moves)


def test_a_question_takes_no_room_for_matches_beyond_its_limits() -> None:
    spec = GameSpec("go", SquareGeometry(19, 19), symmetries=tuple(SQUARE))
    chance = random.Random(5)
    board = Board(spec.geometry, bytes([State.EMPTY] * 361))
    index = PatternIndex(spec, "numpy")
    for number in range(300):
        index.put(number, loose_pattern(chance, board, 3, 3, 4))
    moves = [[(5, State.FIRST_SOLDIER)], [(5, State.FIRST_SOLDIER), (6, State.SECOND_SOLDIER)]]
    tracemalloc.start()
    try:
        successors = index.snapshot().match_successors(MatchQuery(board, None, 256, 16), moves)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert successors.base.total > 100_000
    assert peak < 16 * 2**20


def test_no_pattern_and_no_move_make_no_match() -> None:
    spec = GameSpec("line", SquareGeometry(1, 2))
    board = Board.from_letters(spec.geometry, "-x")
    assert len(BothKernels(spec).match_successors(board, []).totals) == 0
    assert matches_after(BothKernels(spec).match_successors(board, [[(0, State.EMPTY)]]), 0) == []


@pytest.mark.parametrize(
    ("moves", "complaint"),
    [
        ([[(0, 2)], [(2, 2)]], r"move 1: 2 is not a cell: cells are 0 to 1"),
        ([[(-1, 2)]], r"move 0: -1 is not a cell"),
        ([[(0, 3)]], r"move 0: 3 is not a state"),
        ([[(0, 258)]], r"move 0: 258 is not a state"),
        ([[], [(1, 2), (1, 8)]], r"move 1 changes cell 1 twice"),
        ([[(0, 2), (1, 2), (0, 8)]], r"move 0 makes 3 changes: the board has 2 cells"),
        ([[]] * (MAX_MOVES + 1), r"4,097 moves: at most 4,096"),
        ([[(0, 2, 1)]], r"move 0: \(0, 2, 1\) is not a change"),
        ([[(0, 2, 1)], [(2,)]], r"move 0: \(0, 2, 1\) is not a change"),
        ([[(0, 2)], [(0, 2, 1), (2,)]], r"move 1: \(0, 2, 1\) is not a change"),
        ([[], [(1.7, 2)]], r"move 1: \(1\.7, 2\) is not a change: a cell's index and its new state"),
        ([[(0, "2")]], r"move 0: \(0, '2'\) is not a change"),
        ([[(2**63, 2)]], r"move 0: \(9223372036854775808, 2\) is not a change"),
    ],
)
def test_a_move_that_no_board_undergoes_is_refused(moves: Any, complaint: str) -> None:
    spec = GameSpec("line", SquareGeometry(1, 2))
    board = Board.from_letters(spec.geometry, "--")
    with pytest.raises(InvalidCandidateMoveError, match=complaint):
        PatternIndex(spec, "numpy").snapshot().match_successors(MatchQuery(board), moves)


def test_the_slow_reference_finds_the_same_matches_after_a_move() -> None:
    spec = GameSpec("go", SquareGeometry(9, 9), symmetries=tuple(SQUARE))
    chance = random.Random(2)
    board = Board(spec.geometry, bytes(chance.choices((1, 1, 2, 8), k=81)))
    library = {number: loose_pattern(chance, board, 5, 6, 5 + number % 5) for number in range(30)}
    move = [(board.states.index(State.EMPTY), State.SECOND_SOLDIER)]
    successors = index_of(spec, library).match_successors(board, [move])
    assert matches_after(successors, 0) == all_matches(spec, library, after(board, move))
