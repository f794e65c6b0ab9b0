"""Codes and drawings of tesujis that no move of a game could have are refused."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell
from academy.knowledge.tesujis.proposed_codes import MOST_CELLS, NEAR_CELLS, NUMBERS, number_of_cells
from academy.knowledge.tesujis.shapes import (
    EMPTY,
    KIND,
    NO_SHAPE,
    OF_SECOND,
    OFF,
    OTHER,
    OWN,
    PROPOSED,
    PROPOSED_BY_SECOND,
    RESTING,
    ROW,
    TURNED,
    InvalidTesujiError,
    Tesuji,
    images_of,
)

from ..games import GO, HEX
from .test_table import FOUR, OTHELLO, of

APART = replace(GO, symmetric=False)
KNIGHT: Mapping[Cell, int] = {(-1, 2): OWN, (2, 0): OTHER}
BESIDE = {(down, right): EMPTY for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)}


@pytest.mark.parametrize(
    ("spec", "code", "why"),
    [
        (GO, 5 * KIND, "this game has no such shape"),
        (GO, KIND, "this game has no such shape"),
        (FOUR, (ROW + 16) * KIND, "this game has no such shape"),
        (GO, PROPOSED, "0 cells around"),
        # Both players have the same tesujis.
        (GO, OF_SECOND, "this game has no such shape"),
        (GO, PROPOSED + PROPOSED_BY_SECOND, "no tesuji of this game has it"),
        (GO, PROPOSED + NUMBERS, "no tesuji of this game has it"),
        (APART, PROPOSED + 2 * PROPOSED_BY_SECOND, "no tesuji of this game has it"),
        (GO, PROPOSED + max(map(number_of_cells, images_of(KNIGHT, GO))), "not the least of its images'"),
    ],
)
def test_a_code_that_no_move_of_the_game_has_is_refused(spec: GameSpec, code: int, why: str) -> None:
    with pytest.raises(InvalidTesujiError, match=why):
        of(spec).read(code)


@pytest.mark.parametrize(
    ("spec", "tesuji", "why"),
    [
        (GO, Tesuji(0, BESIDE), "player 0: tesujis of this game are kept for player 1"),
        (GO, Tesuji(2, BESIDE), "player 2: tesujis of this game are kept for player 1"),
        (APART, Tesuji(3, BESIDE), "player 3: tesujis of this game are kept for players 1 and 2"),
        (GO, Tesuji(1, BESIDE, place=0), "place 0: tesujis of this shape have "),
        (GO, Tesuji(1, KNIGHT, place=0), "only tesujis of the game's own shapes know a place"),
        (GO, Tesuji(1, KNIGHT, turned=1), "only tesujis of the game's own shapes know a place"),
        (GO, Tesuji(1, {}), "0 cells around"),
        (GO, Tesuji(1, dict.fromkeys(NEAR_CELLS[: MOST_CELLS + 1], OWN)), "13 cells around"),
        # On hexagons a step down and one to the right are two.
        (HEX, Tesuji(1, {(2, 2): OWN}), "a cell 4 steps from"),
        (GO, Tesuji(1, BESIDE | {(0, 1): RESTING}), "a cell of '_': in this game pieces do not fall"),
        (GO, Tesuji(1, {(2, 0): RESTING}), "a cell of '_': in this game pieces do not fall"),
        (FOUR, Tesuji(1, {(2, 0): OFF}), "wholly on the board"),
        (OTHELLO, Tesuji(1, {}, place=3, turned=1), "the thirds of the board 0 to 2"),
        (OTHELLO, Tesuji(1, {}, place=2, turned=16), "up to 15 pieces"),
        (OTHELLO, Tesuji(1, {}, turned=1), "the thirds of the board 0 to 2"),
    ],
)
def test_a_drawing_that_no_move_of_the_game_has_is_refused(spec: GameSpec, tesuji: Tesuji, why: str) -> None:
    with pytest.raises(InvalidTesujiError, match=why):
        of(spec).code(tesuji)


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (APART, OF_SECOND),
        (GO, PROPOSED + 1),
        (APART, PROPOSED + PROPOSED_BY_SECOND + 1),
        (OTHELLO, TURNED * KIND + 2 * 16 + 15),
    ],
)
def test_the_greatest_and_least_codes_are_read_and_written(spec: GameSpec, code: int) -> None:
    assert of(spec).code(of(spec).read(code)) == code


def test_where_players_differ_a_proposed_tesuji_is_that_of_its_player_alone() -> None:
    around = of(APART)
    codes = [around.proposed_code(KNIGHT, player) for player in (1, 2)]
    assert [around.read(code).player for code in codes] == [1, 2]
    assert [around.code(around.read(code)) for code in codes] == codes
    boards = ("-" * 9 + "x" + "-" * 12 + "o--", "-" * 9 + "o" + "-" * 12 + "x--")
    knowing = around.with_proposed([PROPOSED + NUMBERS, *codes])
    for player, letters in enumerate(boards, 1):
        board = Board.from_letters(APART.geometry, letters)
        for mover in (1, 2):
            codes_there = set(knowing.of_cells(board, [12], mover)[0, 1:].tolist()) - {NO_SHAPE}
            assert codes_there == ({codes[player - 1]} if mover == player else set())


def test_where_players_differ_a_row_that_leads_off_the_board_is_none_for_either() -> None:
    around = of(replace(APART, winning_row=3))
    board = Board.from_letters(APART.geometry, "-" * 25)
    first, second = (around.of_cells(board, range(25), player) for player in (1, 2))
    assert ((first == NO_SHAPE) == (second == NO_SHAPE)).all() and (first == NO_SHAPE).any()
    assert (second[second != NO_SHAPE] == first[first != NO_SHAPE] + OF_SECOND).all()


@pytest.mark.parametrize(
    ("heights", "cell", "rows"),
    [
        # At the left of the empty board, where nothing is below and nothing to the left.
        ((0,) * 7, 35, ("+--", "+--", "+._", "+++")),
        # At the right, where the neighbour is full, and the second row is free above the cell.
        ((0,) * 5 + (6, 4), 13, ("+++", "o-+", "o.+", "xx+")),
        # In the second row, above which one row is left.
        ((0, 0, 4, 4, 4, 0, 0), 10, ("+++", "---", "_._", "xxx")),
        ((0, 0, 3, 5, 4, 0, 0), 10, ("+++", "-_-", "-._", "_xx")),
    ],
)
def test_where_pieces_fall_a_drawing_tells_the_edge_from_where_a_piece_comes_to_rest(
    heights: tuple[int, ...], cell: int, rows: tuple[str, ...]
) -> None:
    letters = "".join(
        "-" if row < 6 - heights[column] else "xo"[row < 2] for row in range(6) for column in range(7)
    )
    held = {"-": EMPTY, "x": OWN, "o": OTHER, "+": OFF, "_": RESTING}
    expected = {
        (down - 2, right - 1): held[letter]
        for down, row in enumerate(rows)
        for right, letter in enumerate(row)
        if letter != "."
    }
    around = of(FOUR)
    code = int(around.of_cells(Board.from_letters(FOUR.geometry, letters), [cell], 1)[0, 0])
    box = around.read(code)
    assert box.place == cell // 7 and box.cells in list(images_of(expected, FOUR))
    assert around.code(box) == code


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (3, 8), (8, 3)])
def test_pieces_are_turned_over_from_one_edge_to_the_other(rows: int, columns: int) -> None:
    spec = replace(OTHELLO, geometry=SquareGeometry(rows, columns), symmetries=("identity", "rotate_180"))
    length = max(rows, columns)
    along = [place * columns if rows > columns else place for place in range(length)]
    letters = ["-"] * rows * columns
    for place, cell in enumerate(along[:-1]):
        letters[cell] = "o" if place else "x"
    board, around = Board.from_letters(spec.geometry, "".join(letters)), of(spec)
    turned = around.read(int(around.of_cells(board, [along[-1]], 1)[0, 1]))
    assert turned.turned == length - 2
    changed = [(cell, State.FIRST_SOLDIER) for cell in along[1:-1]]
    assert around.others_changed(board, [along[-1]], 1) == [changed[::-1]]
    swapped = Board.from_letters(spec.geometry, "".join(letters).translate(str.maketrans("xo", "ox")))
    turned_back = [(cell, State.SECOND_SOLDIER) for cell in along[1:-1]]
    assert around.others_changed(swapped, [along[-1]], 2) == [turned_back[::-1]]


@pytest.mark.parametrize("player", [1, 2])
def test_tesujis_do_not_tell_kings_from_soldiers(player: int) -> None:
    soldiers, kings = (Board.from_letters(GO.geometry, letters + "-" * 20) for letters in ("xo-x-", "bw-b-"))
    cells = [2, 4, 6, 7, 8]
    assert of(GO).of_cells(soldiers, cells, player).tolist() == of(GO).of_cells(kings, cells, player).tolist()


@pytest.mark.parametrize(("pieces", "third"), [(4, 0), (21, 0), (22, 1), (42, 1), (43, 2), (62, 2)])
def test_pieces_turned_are_counted_by_the_third_of_the_board_that_is_filled(pieces: int, third: int) -> None:
    letters = "-ox" + "xo" * ((pieces - 2) // 2) + "x" * (pieces % 2)
    board, around = Board.from_letters(OTHELLO.geometry, letters.ljust(64, "-")), of(OTHELLO)
    assert around.read(int(around.of_cells(board, [0], 1)[0, 1])).place == third


def test_more_than_15_pieces_turned_count_as_15() -> None:
    edge = [cell for cell in range(64) if not (0 < cell // 8 < 7 and 0 < cell % 8 < 7)]
    letters = "".join("-" if cell == 27 else "x" if cell in edge else "o" for cell in range(64))
    board, around = Board.from_letters(OTHELLO.geometry, letters), of(OTHELLO)
    assert len(around.others_changed(board, [27], 1)[0]) == 19
    tesuji = around.read(int(around.of_cells(board, [27], 1)[0, 1]))
    assert (tesuji.turned, tesuji.place) == (15, 2)


def test_where_pieces_fall_a_proposed_tesuji_does_not_take_the_edge_for_a_cell_at_rest() -> None:
    around = of(FOUR)
    code = around.proposed_code({(0, 2): RESTING, (0, -2): OTHER}, 1)
    board = Board.from_letters(FOUR.geometry, "-" * 39 + "o--")
    codes = around.with_proposed([code]).of_cells(board, [37, 41], 1)
    assert [code in of_cell for of_cell in codes.tolist()] == [True, False]
