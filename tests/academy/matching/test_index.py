"""An index finds what the obvious matcher finds, match by match, whatever was put in or taken out before."""

import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, InvalidBoardError, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import InvalidPatternError, Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import HEXAGON, SQUARE, NodeSymmetry
from academy.knowledge.text import read_cells
from academy.matching import numpy_kernel
from academy.matching.board_tables import REACH
from academy.matching.matches import MatchQuery
from tests.academy.matching.both_kernels import BothKernels, as_tuples
from tests.academy.matching.reference import all_matches, state_at
from tests.academy.matching.strategies import boards, games, libraries, patterns, square_games


def index_of(spec: GameSpec, library: Mapping[int, Pattern]) -> BothKernels:
    index = BothKernels(spec)
    for pattern_id, pattern in library.items():
        index.put(pattern_id, pattern)
    return index


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_matches_equal_those_of_the_reference_matcher(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    assert as_tuples(index_of(spec, library).match(board)) == all_matches(spec, library, board)


# Where a match lies

IDENTITY = ("identity",)
HALF_TURN = ("identity", "rotate_180")
EIGHT = tuple(SQUARE)
SQUARE_BOARD = """
    - - - -
    - x o -
    - - - -
"""


@pytest.mark.parametrize(
    ("pattern", "symmetries", "expected"),
    [
        pytest.param("x o", IDENTITY, [(0, 1, 1)], id="its first cell names the place"),
        pytest.param("x", EIGHT, [(0, 1, 1)], id="a pattern that is its own image is reported once"),
        pytest.param("o x", HALF_TURN, [(1, 1, 1)], id="the image's first cell, not the pattern's"),
        pytest.param(
            "x o",
            ("rotate_180", "identity"),
            [(1, 1, 1)],
            id="symmetries are numbered as the game lists them",
        ),
        pytest.param("# x", IDENTITY, [(0, 1, 0)], id="cells that accept anything count for the place"),
        pytest.param("# # # x", IDENTITY, [(0, 1, -2)], id="'#' hangs over the left edge"),
        pytest.param("#\n#\n#\nx", IDENTITY, [(0, -2, 1)], id="'#' hangs over the upper edge"),
        pytest.param("o #\n- #\n# #\n# #", IDENTITY, [(0, 1, 2)], id="'#' hangs over the lower right edge"),
        pytest.param("+ +\n+ -", IDENTITY, [(0, -1, -1)], id="a corner's edge lies at row -1 and column -1"),
        pytest.param(
            "+ +\n+ -",
            EIGHT,
            [(0, -1, -1), (1, -1, 3), (2, 2, 3), (3, 2, -1)],
            id="the corner's mirror images are its turned ones, reported under the least symmetry",
        ),
        pytest.param("B W", IDENTITY, [(0, 1, 1)], id="either of a player's pieces"),
        pytest.param("b o", IDENTITY, [], id="a king is not a soldier"),
        pytest.param("1 o", IDENTITY, [(0, 1, 1)], id="no second player's piece"),
        pytest.param("x 2 2 +", IDENTITY, [(0, 1, 1)], id="no first player's piece, and then the edge"),
        pytest.param("x + #", IDENTITY, [], id="the board does not end there"),
    ],
)
def test_a_match_on_a_square_board(
    pattern: str, symmetries: tuple[str, ...], expected: list[tuple[int, int, int]]
) -> None:
    spec = GameSpec("square", SquareGeometry(3, 4), symmetries=symmetries)
    board = Board.from_letters(spec.geometry, "".join(SQUARE_BOARD.split()))
    index = index_of(spec, {7: read_cells(pattern, spec.geometry)})
    assert as_tuples(index.match(board)) == [(7, *place) for place in expected]


def test_the_first_four_symmetries_of_a_square_are_its_turns() -> None:
    assert EIGHT[:4] == ("identity", "rotate_90", "rotate_180", "rotate_270")


def test_a_match_on_a_hexagonal_board_with_cells_cut_off() -> None:
    spec = GameSpec("hex", HexGeometry(3, 3), symmetric=False, symmetries=tuple(HEXAGON))
    board = Board.from_letters(spec.geometry, "+x--o---+")
    neighbours = grid_pattern([(0, 0, Code.FIRST_SOLDIER), (0, 1, Code.OFF_BOARD)])
    matches = as_tuples(index_of(spec, {1: neighbours}).match(board))
    # The cell (0, 1) touches (0, 0), cut off, and (-1, 1) and (-1, 2), beyond the edge.
    images = [neighbours.image(symmetry) for symmetry in spec.symmetry_group]
    edges = {
        (row + cell_row, column + cell_column)
        for _, symmetry, row, column in matches
        for (cell_row, cell_column), code in zip(images[symmetry].cells, images[symmetry].codes, strict=True)
        if code == Code.OFF_BOARD
    }
    assert edges == {(0, 0), (-1, 1), (-1, 2)}
    assert len(matches) == 3


def test_a_match_on_a_graph_has_no_place_but_its_nodes() -> None:
    turn = NodeSymmetry("turn", (1, 2, 0))
    turn_back = NodeSymmetry("turn_back", (2, 0, 1))
    spec = GameSpec(
        "graph",
        GraphGeometry(("a", "b", "c")),
        symmetric=False,
        symmetries=("identity", "turn", "turn_back"),
        node_symmetries=(turn, turn_back),
    )
    board = Board.from_letters(spec.geometry, "-xo")
    pattern = graph_pattern([(0, Code.FIRST_SOLDIER), (1, Code.SECOND_SOLDIER)])
    assert as_tuples(index_of(spec, {3: pattern}).match(board)) == [(3, 1, 0, 0)]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_query_for_the_second_player_swaps_the_colours(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(square_games)
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    occurrences = index_of(spec, library).match(board, both=True)
    swapped = {pattern_id: spec.reversed_pattern(pattern) for pattern_id, pattern in library.items()}
    matches = list(zip(as_tuples(occurrences), occurrences.reversed.tolist(), strict=True))
    assert [match for match, reverse in matches if not reverse] == all_matches(spec, library, board)
    assert [match for match, reverse in matches if reverse] == all_matches(spec, swapped, board)
    assert matches == sorted(matches, key=lambda entry: (entry[0][0], entry[1]))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_places_of_the_second_player_are_on_the_board_reversed(data: st.DataObject) -> None:
    geometry = SquareGeometry(data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6)))
    spec = GameSpec("draughts", geometry, reversal="rotate_180")
    library = data.draw(libraries(geometry))
    board = data.draw(boards(geometry))
    matches = index_of(spec, library).match(board, both=True)
    places = [match for match, turned in zip(as_tuples(matches), matches.reversed, strict=True) if turned]
    assert places == all_matches(spec, library, spec.reversed_board(board))


# Large libraries and boards


def loose_pattern(chance: random.Random, board: Board, rows: int, columns: int, telling: int) -> Pattern:
    """A piece of the board of which only some cells are looked at."""
    assert isinstance(board.geometry, SquareGeometry | HexGeometry)
    top = chance.randint(0, board.geometry.rows - rows)
    left = chance.randint(0, board.geometry.columns - columns)
    looked_at = chance.sample(range(rows * columns), telling)
    codes = [Code.ANYTHING] * (rows * columns)
    for place in looked_at:
        row, column = divmod(place, columns)
        state = board.states[(top + row) * board.geometry.columns + left + column]
        codes[place] = chance.choice([code for code in Code if code & state and code != Code.ANYTHING])
    return grid_pattern((*divmod(place, columns), code) for place, code in enumerate(codes))


@pytest.mark.parametrize("geometry", [SquareGeometry(19, 19), HexGeometry(14, 14)])
def test_thousands_of_hits_of_patterns_of_nine_by_nine(geometry: SquareGeometry | HexGeometry) -> None:
    chance = random.Random(9)
    symmetries = SQUARE if isinstance(geometry, SquareGeometry) else HEXAGON
    spec = GameSpec("wide", geometry, symmetries=tuple(symmetries))
    states = (State.EMPTY,) * 4 + (State.FIRST_SOLDIER, State.SECOND_SOLDIER, State.SECOND_KING)
    board = Board(geometry, bytes(chance.choices(states, k=geometry.size)))
    library = {number: loose_pattern(chance, board, 9, 9, 2 + number % 12) for number in range(40)}
    matches = as_tuples(index_of(spec, library).match(board))
    assert len(matches) > 2000
    assert {pattern_id for pattern_id, *_ in matches} == set(library)
    assert matches == all_matches(spec, library, board)


def test_a_pattern_of_the_whole_board_and_its_edge() -> None:
    spec = GameSpec("go", SquareGeometry(19, 19), symmetries=EIGHT)
    chance = random.Random(21)
    board = Board(spec.geometry, bytes(chance.choices((1, 2, 8), k=361)))
    whole = grid_pattern(
        (row, column, state_at(board, row - 1, column - 1)) for row in range(21) for column in range(21)
    )
    index = index_of(spec, {1: whole})
    assert as_tuples(index.match(board)) == [(1, 0, -1, -1)]
    for number, name in enumerate(EIGHT):
        turned = spec.board_image(board, SQUARE[name])
        assert turned is not None
        assert as_tuples(index.match(turned)) == [(1, number, -1, -1)]


def test_work_done_in_parts_gives_the_same_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = GameSpec("go", SquareGeometry(13, 13), symmetries=EIGHT)
    chance = random.Random(5)
    board = Board(spec.geometry, bytes(chance.choices((1, 2, 8), (1, 5, 1), k=169)))
    library = {number: loose_pattern(chance, board, 4, 5, 2 + number % 14) for number in range(30)}
    index = index_of(spec, library)
    whole = as_tuples(index.match(board))
    monkeypatch.setattr(numpy_kernel, "_MAX_TABLE_BYTES", 1)
    monkeypatch.setattr(numpy_kernel, "_MAX_DENSE_WORDS", 1)
    monkeypatch.setattr(numpy_kernel, "_MAX_FAR_TESTS", 1)
    assert board.states.count(2) > numpy_kernel._WORD
    assert as_tuples(index.match(board)) == whole == all_matches(spec, library, board)


def test_a_pattern_that_reaches_far_from_its_anchor() -> None:
    spec = GameSpec("go", SquareGeometry(19, 19), symmetries=EIGHT)
    chance = random.Random(8)
    board = Board(spec.geometry, bytes(chance.choices((1, 1, 1, 2, 8), k=361)))
    library = {}
    for number in range(15):
        # A stone in a corner and codes that only the cells far from it have.
        rows, columns = chance.randint(REACH + 2, 21), chance.randint(REACH + 2, 21)
        codes = [Code.ANYTHING] * (rows * columns)
        codes[0] = Code.FIRST_PIECE
        for _ in range(1 + number % 3):
            codes[chance.randrange((REACH + 1) * columns, rows * columns)] = chance.choice(list(Code))
        library[number] = grid_pattern((*divmod(place, columns), code) for place, code in enumerate(codes))
    matches = as_tuples(index_of(spec, library).match(board))
    assert len(matches) > 500
    assert matches == all_matches(spec, library, board)


# Only the first


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(0, 12))
def test_a_limit_leaves_the_first_matches_and_counts_all(data: st.DataObject, most: int) -> None:
    spec: GameSpec = data.draw(games)
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    index = index_of(spec, library)
    everything = index.match(board)
    first = index.match(board, most)
    assert as_tuples(first) == as_tuples(everything)[:most]
    assert first.total == everything.total == everything.listed


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(0, 30), st.integers(0, 5))
def test_a_pattern_that_lies_everywhere_leaves_room_for_others(
    data: st.DataObject, most: int, per_pattern: int
) -> None:
    spec: GameSpec = data.draw(st.one_of(square_games, games))
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    views = [board, spec.reversed_board(board)] if spec.symmetric else [board]
    # All matches of each pattern on each board, only the first of them, and of these only the first.
    everything = [
        (match, number > 0)
        for pattern_id, pattern in sorted(library.items())
        for number, view in enumerate(views)
        for match in all_matches(spec, {pattern_id: pattern}, view)[:per_pattern]
    ]
    matches = index_of(spec, library).match(board, most, per_pattern, spec.symmetric)
    assert list(zip(as_tuples(matches), matches.reversed.tolist(), strict=True)) == everything[:most]
    assert matches.total == sum(len(all_matches(spec, library, view)) for view in views)


def test_a_single_cell_does_not_fill_the_answer() -> None:
    spec = GameSpec("go", SquareGeometry(9, 9), symmetries=EIGHT)
    board = Board.from_letters(spec.geometry, "x".ljust(81, "-"))
    library = {1: read_cells("-", spec.geometry), 2: read_cells("x -", spec.geometry)}
    matches = index_of(spec, library).match(board, 10, 8)
    assert matches.pattern_ids.tolist() == [1] * 8 + [2] * 2
    assert matches.total == 80 + 2


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(0, 12))
def test_a_ranking_says_which_patterns_and_in_which_order(data: st.DataObject, most: int) -> None:
    spec: GameSpec = data.draw(games)
    library = data.draw(libraries(spec.geometry))
    board = data.draw(boards(spec.geometry))
    ranked = data.draw(st.permutations(sorted(library)))[: data.draw(st.integers(0, len(library)))]
    wanted = data.draw(st.lists(st.booleans(), min_size=len(ranked), max_size=len(ranked)))
    expected = [
        match
        for pattern_id, flag in zip(ranked, wanted, strict=True)
        if flag
        for match in all_matches(spec, {pattern_id: library[pattern_id]}, board)
    ]
    for index in index_of(spec, library).indexes:
        snapshot = index.snapshot()
        ranking = snapshot.rank(np.array(ranked, dtype=np.int64))
        matches = ranking.match(MatchQuery(board, np.array(wanted, dtype=np.bool_), most))
        assert as_tuples(matches) == expected[:most]
        assert matches.total == len(expected)
        assert [ranked[place] for place in matches.places] == matches.pattern_ids.tolist()


def test_patterns_without_stones_on_an_empty_board_do_no_harm() -> None:
    spec = GameSpec("go", SquareGeometry(19, 19), symmetries=EIGHT)
    codes = (Code.EMPTY, Code.NO_FIRST_PIECE, Code.NO_SECOND_PIECE)
    chance = random.Random(4)
    library = {}
    for number in range(300):
        drawn = chance.choices(codes, k=9)
        library[number] = grid_pattern((*divmod(place, 3), code) for place, code in enumerate(drawn))
    board = Board(spec.geometry, bytes([State.EMPTY]) * 361)
    matches = index_of(spec, library).match(board, 256)
    assert matches.listed == 256
    assert matches.total > 300_000


def test_a_ranking_names_only_patterns_that_are_there() -> None:
    spec = GameSpec("square", SquareGeometry(1, 2))
    for index in index_of(spec, {3: read_cells("x", spec.geometry)}).indexes:
        with pytest.raises(KeyError, match="4"):
            index.snapshot().rank(np.array([3, 4], dtype=np.int64))


def test_there_is_a_flag_for_each_pattern() -> None:
    spec = GameSpec("square", SquareGeometry(1, 2))
    board = Board.from_letters(spec.geometry, "xo")
    for index in index_of(spec, {3: read_cells("x", spec.geometry)}).indexes:
        with pytest.raises(ValueError, match="2 flags for a ranking of 1"):
            index.snapshot().match(MatchQuery(board, np.array([True, False])))


# Putting and removing


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_an_index_that_changed_is_as_good_as_a_fresh_one(data: st.DataObject) -> None:
    spec: GameSpec = data.draw(games)
    board = data.draw(boards(spec.geometry))
    index = BothKernels(spec)
    library: dict[int, Pattern] = {}
    steps = st.tuples(st.integers(0, 7), st.one_of(st.none(), patterns(spec.geometry)))
    for pattern_id, pattern in data.draw(st.lists(steps, max_size=30)):
        if pattern is not None:
            index.put(pattern_id, pattern)
            library[pattern_id] = pattern
        elif pattern_id in library:
            index.remove(pattern_id)
            del library[pattern_id]
        assert len(index) == len(library)
        assert (pattern_id in index) == (pattern_id in library)
    in_order = dict(sorted(library.items()))
    assert as_tuples(index.match(board)) == as_tuples(index_of(spec, in_order).match(board))


def test_many_patterns_come_and_go() -> None:
    spec = GameSpec("go", SquareGeometry(9, 9), symmetries=EIGHT)
    chance = random.Random(3)
    board = Board(spec.geometry, bytes(chance.choices((1, 1, 2, 8), k=81)))
    index = BothKernels(spec)
    library: dict[int, Pattern] = {}
    for number in range(300):
        rows, columns = chance.randint(1, 7), chance.randint(1, 7)
        library[number] = loose_pattern(chance, board, rows, columns, chance.randint(1, rows * columns))
        index.put(number, library[number])
        while len(library) > 60:
            gone = chance.choice(list(library))
            index.remove(gone)
            del library[gone]
    assert as_tuples(index.match(board)) == all_matches(spec, library, board)
    for number in list(library):
        index.remove(number)
    assert as_tuples(index.match(board)) == []


def test_pattern_put_again_replaces_the_old_one() -> None:
    spec = GameSpec("square", SquareGeometry(1, 2))
    board = Board.from_letters(spec.geometry, "xo")
    index = index_of(spec, {1: read_cells("x", spec.geometry)})
    index.put(1, read_cells("o", spec.geometry))
    assert as_tuples(index.match(board)) == [(1, 0, 0, 1)]


# What is refused

SQUARE_GAME = GameSpec("square", SquareGeometry(2, 3))
GRAPH_GAME = GameSpec("graph", GraphGeometry(("a", "b")))


@pytest.mark.parametrize(
    ("spec", "pattern", "complaint"),
    [
        (SQUARE_GAME, grid_pattern([(0, 0, 1), (1, 1, 1)]), "full rectangle"),
        (SQUARE_GAME, grid_pattern((0, column, 1) for column in range(6)), "6 columns"),
        (SQUARE_GAME, Pattern(((0, 0), (0, 1)), bytes([1, 33])), r"code 33 at cell \(0, 1\)"),
        (SQUARE_GAME, Pattern(((0, 0), (0, 1)), bytes([63, 32])), "other than"),
        (GRAPH_GAME, graph_pattern([(2, 1)]), r"cell \(0, 2\).*node 0 to 1"),
        (GRAPH_GAME, Pattern(((1, 0),), bytes([1])), r"cell \(1, 0\)"),
    ],
)
def test_a_pattern_that_cannot_occur_is_refused_and_changes_nothing(
    spec: GameSpec, pattern: Pattern, complaint: str
) -> None:
    known = graph_pattern([(0, 1)])
    index = index_of(spec, {1: known})
    board = Board(spec.geometry, bytes([State.EMPTY]) * spec.geometry.size)
    before = as_tuples(index.match(board))
    with pytest.raises(InvalidPatternError, match=complaint):
        index.put(1, pattern)
    assert before and as_tuples(index.match(board)) == before


@pytest.mark.parametrize(
    ("board", "complaint"),
    [
        (Board(SquareGeometry(3, 2), bytes([1]) * 6), "geometry differs"),
        (Board(HexGeometry(2, 3), bytes([1]) * 6), "geometry differs"),
        (Board(SQUARE_GAME.geometry, bytes([1]) * 5), "5 states for 6 cells"),
        (Board(SQUARE_GAME.geometry, bytes([1, 1, 1, 0, 1, 1])), "state 0"),
        (Board(SQUARE_GAME.geometry, bytes([1, 1, 1, 3, 1, 1])), "state 3"),
    ],
)
def test_a_board_of_another_kind_is_refused(board: Board, complaint: str) -> None:
    with pytest.raises(InvalidBoardError, match=complaint):
        BothKernels(SQUARE_GAME).match(board)


def test_removal_of_an_unknown_pattern_raises_key_error() -> None:
    with pytest.raises(KeyError):
        BothKernels(SQUARE_GAME).remove(4)
