"""What a game tells of itself: its symmetries, its reversal, its moves, and what contradicts itself."""

import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.patterns import InvalidPatternError, Pattern, grid_pattern
from academy.knowledge.spec import GameSpec, InvalidGameError, Placement
from academy.knowledge.symmetries import HEXAGON, SQUARE, NodeSymmetry
from academy.knowledge.text import read_cells, write_cells

from . import strategies
from .games import DRAUGHTS, GO, HEX, MAP, cells

TURNING_HEX = GameSpec("havannah", HexGeometry(5, 5), symmetries=tuple(HEXAGON))
TWO_PLAYER_GAMES = st.sampled_from([GO, DRAUGHTS, HEX, TURNING_HEX])

# Patterns


@given(st.data(), st.sampled_from([GO, DRAUGHTS, HEX, MAP, TURNING_HEX]))
def test_all_images_of_a_pattern_have_one_canonical_form(data: st.DataObject, spec: GameSpec) -> None:
    pattern = data.draw(strategies.patterns(spec.geometry))
    assert {spec.canonical(image) for image in spec.images(pattern)} == {spec.canonical(pattern)}
    assert spec.canonical(pattern) in spec.images(pattern)


@given(st.data(), TWO_PLAYER_GAMES)
def test_reversing_a_pattern_twice_changes_nothing(data: st.DataObject, spec: GameSpec) -> None:
    pattern = data.draw(strategies.patterns(spec.geometry))
    assert spec.reversed_pattern(spec.reversed_pattern(pattern)) == pattern


@given(st.data(), TWO_PLAYER_GAMES)
def test_images_of_a_pattern_reversed_are_one_pattern_still(data: st.DataObject, spec: GameSpec) -> None:
    pattern = data.draw(strategies.patterns(spec.geometry))
    assert {spec.canonical(spec.reversed_pattern(image)) for image in spec.images(pattern)} == {
        spec.canonical(spec.reversed_pattern(pattern))
    }


@pytest.mark.parametrize(
    ("spec", "pattern", "expected"),
    [
        # Go: only the colours change.
        (GO, "x - b / 1 # +", "o - w / 2 # +"),
        # Draughts: the board is turned as well.
        (DRAUGHTS, "x - b / 1 # +", "+ # 2 / w - o"),
        # Hex: the players' edges change places.
        (HEX, "x o/ - b", "o - / x w"),
    ],
)
def test_a_second_players_pattern_becomes_a_first_players(
    spec: GameSpec, pattern: str, expected: str
) -> None:
    def read(text: str) -> Pattern:
        # Each row of a rhombus stands half a cell further right.
        rows = [row.strip() for row in text.split("/")]
        return read_cells("\n".join(" " * at + row for at, row in enumerate(rows)), spec.geometry)

    assert spec.reversed_pattern(read(pattern)) == read(expected)


def test_go_sees_one_pattern_in_eight_and_draughts_does_not() -> None:
    corner, turned = cells("x - - / - o - / - - -"), cells("- - x / - o - / - - -")
    assert GO.canonical(corner) == GO.canonical(turned)
    assert DRAUGHTS.canonical(corner) != DRAUGHTS.canonical(turned)


@given(st.data())
def test_every_image_of_a_hexagonal_pattern_can_be_written(data: st.DataObject) -> None:
    geometry = TURNING_HEX.geometry
    pattern = data.draw(strategies.patterns(geometry))
    for image in TURNING_HEX.images(read_cells(write_cells(pattern, geometry), geometry)):
        assert read_cells(write_cells(image, geometry), geometry) == image


@pytest.mark.parametrize(
    ("spec", "pattern", "message"),
    [
        (GO, grid_pattern([(0, 0, 2), (1, 1, 2)]), "full rectangle"),
        (GO, cells("x" * 8), "1 rows and 8 columns: .* more than 7"),
        (HEX, grid_pattern([(0, 0, 2), (2, 0, 2)]), "a cell in every row"),
        (HEX, grid_pattern([(0, 0, 2), *((0, column, 1) for column in range(1, 7))]), "more than 6"),
    ],
)
def test_a_pattern_that_cannot_occur_is_refused(spec: GameSpec, pattern: Pattern, message: str) -> None:
    with pytest.raises(InvalidPatternError, match=message):
        spec.check_pattern(pattern)


def test_the_whole_board_with_its_edge_passes_in_every_orientation() -> None:
    whole = grid_pattern((row, column, 1) for row in range(7) for column in range(7))
    for image in TURNING_HEX.images(whole):
        assert TURNING_HEX.check_pattern(image) is image


# Boards


@given(st.data(), st.sampled_from([GO, DRAUGHTS, HEX]))
def test_reversing_a_board_twice_changes_nothing(data: st.DataObject, spec: GameSpec) -> None:
    board = data.draw(strategies.boards(spec.geometry))
    assert spec.reversed_board(spec.reversed_board(board)) == board


def test_a_reversed_board() -> None:
    board = Board.from_letters(DRAUGHTS.geometry, "x---" + "-b--" + "----" + "--oo")
    assert DRAUGHTS.reversed_board(board).letters == "xx--" + "----" + "--w-" + "---o"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("identity", "xo----"),
        ("mirror_columns", "-ox---"),
        ("rotate_180", "---" + "-ox"),
        ("rotate_90", None),
    ],
)
def test_the_image_of_a_board_or_none(name: str, expected: str | None) -> None:
    spec = GameSpec("oblong", SquareGeometry(2, 3))
    image = spec.board_image(Board.from_letters(spec.geometry, "xo----"), SQUARE[name])
    assert (image and image.letters) == expected


# Moves


@st.composite
def lines(draw: st.DrawFn, spec: GameSpec, most: int = 6) -> list[str]:
    """Lists of placements, passes and moves from cell to cell."""
    name = st.sampled_from(spec.cell_names)
    move = st.one_of(name, st.just("pass"), st.builds("{}-{}".format, name, name))
    return draw(st.lists(move, max_size=most))


@given(st.data(), st.sampled_from([GO, DRAUGHTS, HEX]))
def test_all_images_of_a_line_have_one_canonical_line(data: st.DataObject, spec: GameSpec) -> None:
    line = data.draw(lines(spec))
    assert {spec.canonical_moves(image) for image in spec.move_images(line)} == {spec.canonical_moves(line)}
    assert spec.canonical_moves(line) == min(spec.move_images(line))


@given(st.data(), st.sampled_from([GO, DRAUGHTS, HEX]))
def test_the_beginning_of_a_canonical_line_is_the_canonical_beginning(
    data: st.DataObject, spec: GameSpec
) -> None:
    line = data.draw(lines(spec))
    canonical = spec.canonical_moves(line)
    for length in range(len(line) + 1):
        assert spec.canonical_moves(line[:length]) == canonical[:length]


@given(st.data(), st.sampled_from([GO, DRAUGHTS, HEX]))
def test_moves_back_are_all_that_lead_to_the_canonical_line(data: st.DataObject, spec: GameSpec) -> None:
    line = data.draw(lines(spec))
    move = data.draw(st.sampled_from(spec.cell_names))
    canonical = spec.canonical_moves([*line, move])
    (back,) = spec.spellings_after(line, [canonical[-1]])
    assert move in back
    assert set(back) == {
        other for other in spec.cell_names if spec.canonical_moves([*line, other]) == canonical
    }
    assert list(back) == sorted(back)


@pytest.mark.parametrize(
    ("line", "canonical"),
    [
        (["E1"], ("A1",)),
        (["E5", "E1"], ("A1", "A5")),
        (["C3", "C5"], ("C3", "A3")),
        (["pass", "B4"], ("pass", "B2")),
        ([], ()),
    ],
)
def test_canonical_lines_of_go(line: list[str], canonical: tuple[str, ...]) -> None:
    assert GO.canonical_moves(line) == canonical


def test_a_cell_is_read_only_where_it_stands_apart() -> None:
    """The `1` of `12` is not a cell, and each end of a draughts move is one."""
    spec = GameSpec(
        "turned",
        SquareGeometry(4, 4),
        symmetries=("identity", "rotate_180"),
        cell_names=tuple(str(number) for number in range(1, 17)),
    )
    assert spec.move_images(["12-16", "9x2"]) == [("12-16", "9x2"), ("5-1", "8x15")]


def test_a_cell_may_follow_another_without_a_sign_between() -> None:
    names = tuple(f"{column}{row}" for row in range(11, 0, -1) for column in "abc")
    spec = GameSpec(
        "tall", SquareGeometry(11, 3), symmetries=("identity", "mirror_columns"), cell_names=names
    )
    assert spec.move_images(["a8a7", "c11b10*", "a1"]) == [
        ("a8a7", "c11b10*", "a1"),
        ("c8c7", "a11b10*", "c1"),
    ]


def test_without_cell_names_moves_have_no_symmetry() -> None:
    spec = GameSpec("nameless", SquareGeometry(5, 5), symmetries=tuple(SQUARE))
    assert spec.move_images(["E1", "A1"]) == [("E1", "A1")]
    assert spec.spellings_after(["E1"], ["A1"]) == [("A1",)]


def test_several_moves_are_led_back_at_once() -> None:
    assert GO.spellings_after(["C3"], ["A1", "A3", "pass"]) == [
        ("A1", "A5", "E1", "E5"),
        ("A3", "C1", "C5", "E3"),
        ("pass",),
    ]


# Contradictions


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 1},
        {"players": 64, "symmetric": False},
        {"expected_length": 1.0},
        {"expected_length": 1_000_000.0},
        {"game_id": "9" * 64},
        {"geometry": GraphGeometry(("a", "b")), "node_symmetries": (NodeSymmetry("identity", (0, 1)),)},
    ],
)
def test_the_limits_themselves_are_allowed(changes: dict[str, Any]) -> None:
    description: dict[str, Any] = {"game_id": "game", "geometry": SquareGeometry(3, 3)}
    assert GameSpec(**description | changes).symmetry_group


FORMS = ("*", "pass", "#-#", "#x#[x#]")


@pytest.mark.parametrize(
    ("move", "is_move"),
    [
        ("A1", True),
        ("E5", True),
        ("pass", True),
        ("11-15", True),
        ("24x15x8x1", True),
        ("zzz", False),
        ("A1A1", False),
        ("A6", False),
        ("a1", False),
        ("PASS", False),
        ("11x", False),
        ("-", False),
        ("", False),
        ("1x" * 500, False),
    ],
)
def test_moves_have_one_of_the_games_move_forms(move: str, is_move: bool) -> None:
    assert replace(GO, move_forms=FORMS).is_written_as_move(move) == is_move
    assert GO.is_written_as_move(move)


@settings(max_examples=40)
@given(
    st.lists(st.from_regex(r"[^\[\]]{1,10}(\[[^\[\]*#][^\[\]]{0,10}\])?", fullmatch=True), max_size=5),
    st.text(),
)
def test_no_form_takes_long_to_look_for(forms: list[str], text: str) -> None:
    try:
        spec = replace(GO, move_forms=tuple(forms))
    except InvalidGameError:
        return
    assert spec.is_written_as_move(text * 1_000) in (True, False)


@pytest.mark.parametrize(
    ("form", "text"),
    [("#" * 12, "1" * 28), ("x[1#]", "x" + "1" * 40 + "!"), ("*" * 30, "a" * 40 + "!"), ("[-*]", "-a" * 500)],
)
def test_a_text_that_is_not_a_move_is_soon_known_to_be_none(form: str, text: str) -> None:
    names = ("a", "aa", "aaa", "b", "c", "d", "e", "f", "g")
    spec = GameSpec("names", SquareGeometry(3, 3), cell_names=names, move_forms=(form,))
    begun = time.process_time()
    assert not spec.is_written_as_move(text + "!")
    assert time.process_time() - begun < 0.5


def test_the_longest_name_is_read_where_a_form_has_several() -> None:
    names = ("a1", "a2", "a11", "a12")
    spec = GameSpec("names", SquareGeometry(2, 2), cell_names=names, move_forms=("**", "*@#"))
    moves = ("a1a2", "a11a1", "a1a12", "a12a11", "a11x1", "a2b9")
    assert all(map(spec.is_written_as_move, moves))
    assert not any(map(spec.is_written_as_move, ("a1", "a3a1", "a11x", "a1a2a")))


TURN = NodeSymmetry("turn", (1, 2, 0))
TURN_BACK = NodeSymmetry("turn_back", (2, 0, 1))
TRIANGLE = GraphGeometry(("a", "b", "c"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game_id": ""}, "game id ''"),
        ({"game_id": "-go"}, "game id '-go'"),
        ({"game_id": "go 9"}, "game id 'go 9'"),
        ({"game_id": "x" * 65}, "1 to 64"),
        ({"game_id": "go\n"}, "game id"),
        ({"players": 0}, "0 players"),
        ({"players": 65, "symmetric": False}, "65 players"),
        ({"players": 3}, "symmetric game of 3 players"),
        ({"expected_length": 0.5}, "0.5"),
        ({"move_forms": ("[x][y]",)}, "'[x][y]'"),
        ({"move_forms": ("[#]",)}, "'[#]'"),
        ({"move_forms": ("",)}, "1 to 64 characters"),
        ({"move_forms": ("x" * 65,)}, "1 to 64 characters"),
        ({"move_forms": ("x\n",)}, "can be seen"),
        ({"move_forms": ("*",)}, "none are given"),
        ({"move_forms": ("x",) * 33}, "33 move forms"),
        ({"winning_row": 2}, "a winning row of 2"),
        ({"geometry": HexGeometry(3, 3), "winning_row": 4}, "on a square board"),
        (
            {"geometry": HexGeometry(3, 3), "placement": Placement.DROPPED},
            "for square boards only",
        ),
        ({"symmetries": ("identity", "rotate_180"), "placement": Placement.DROPPED}, "what is below"),
        ({"expected_length": float("nan")}, "nan"),
        ({"cell_names": ("a1",)}, "1 cell names for 9 cells"),
        ({"cell_names": tuple("aabcdefgh")}, "different"),
        ({"cell_names": ("", *"abcdefgh")}, "not empty"),
        ({"symmetries": ("rotate_90",)}, "'identity' among them"),
        ({"symmetries": ("identity", "identity")}, "each once"),
        (
            {"symmetries": ("identity", "rotate_90")},
            "'rotate_90' and 'rotate_90' make one that is not listed",
        ),
        ({"symmetries": ("identity", "rotate_60")}, "'rotate_60': this board has identity, rotate_90"),
        ({"reversal": "upside_down"}, "upside_down"),
        ({"reversal": "rotate_90"}, "doing it twice must change nothing"),
        (
            {"symmetries": ("identity", "mirror_rows"), "reversal": "transpose"},
            "does not go with the symmetries",
        ),
        ({"geometry": HexGeometry(2, 3), "reversal": "transpose"}, "does not map this board onto itself"),
        ({"simultaneous": True, "symmetries": ("identity", "rotate_180")}, "simultaneous"),
        ({"geometry": TRIANGLE, "symmetries": ("identity", "turn")}, "'turn': this board has identity"),
        (
            {"geometry": TRIANGLE, "symmetries": ("identity", "turn"), "node_symmetries": (TURN,)},
            "not listed",
        ),
        ({"geometry": TRIANGLE, "node_symmetries": (NodeSymmetry("t", (0, 0, 1)),)}, "3 nodes to 3 nodes"),
        (
            {"geometry": TRIANGLE, "node_symmetries": (TURN, NodeSymmetry("turn", (2, 0, 1)))},
            "'turn' has two meanings",
        ),
        (
            {"geometry": TRIANGLE, "node_symmetries": (NodeSymmetry("identity", (1, 0, 2)),)},
            "'identity' has two meanings",
        ),
    ],
)
def test_a_game_that_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    description: dict[str, Any] = {"game_id": "game", "geometry": SquareGeometry(3, 3)}
    with pytest.raises(InvalidGameError, match=re.escape(message)):
        GameSpec(**description | changes)


def test_a_group_of_node_symmetries() -> None:
    spec = GameSpec(
        "triangle",
        TRIANGLE,
        symmetries=("identity", "turn", "turn_back"),
        node_symmetries=(TURN, TURN_BACK),
        symmetric=False,
    )
    at = {node: read_cells(f"x {node}", TRIANGLE) for node in "abc"}
    assert spec.images(at["a"]) == (at["a"], at["b"], at["c"])
    assert spec.canonical(at["c"]) == at["a"]
