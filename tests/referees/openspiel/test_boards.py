"""Cells are what OpenSpiel draws, and the specs say what the games are."""

import random
import re

import pytest

from academy.knowledge.boards import GraphGeometry, HexGeometry, SquareGeometry
from tests.referees.openspiel.games import judge_of

RANKED = r"\d(\S+)"
PLAIN = r"([xobw.]+)"
HEXAGONS = r"\s*\d+([O@.\[\] ]+?)(?: [a-z])?"
# What a row of a game's drawing looks like, and its signs in the order of the letters.
DRAWN = {
    "amazons": (r"([XO.#]+)", "XO.#", "xo-+"),
    "breakthrough(rows=6,columns=5)": (RANKED, "bw.", "xo-"),
    "checkers": (RANKED, "o+.8*", "xo-bw"),
    "clobber": (RANKED, "ox.", "xo-"),
    "connect_four": (PLAIN, "xo.", "xo-"),
    "go(board_size=9)": (r" *\d+ ([XO+]+)", "XO+", "xo-"),
    "gomoku(size=7)": (PLAIN, "bw.", "xo-"),
    "havannah(board_size=4)": (HEXAGONS, "O@.", "xo-"),
    "hex(num_rows=5,num_cols=6)": (r"([xo. ]+)", "xo.", "xo-"),
    "lines_of_action": (RANKED, "xo.", "xo-"),
    "mnk(m=5,n=4,k=4)": (PLAIN, "xo.", "xo-"),
    "othello": (r"\d ([xo -]+) \d", "xo-", "xo-"),
    "pentago": (r". \d ((?:[O@.] ){6}).", "O@.", "xo-"),
    "tic_tac_toe": (PLAIN, "xo.", "xo-"),
    "y(board_size=7)": (HEXAGONS, "O@.", "xo-"),
}


@pytest.mark.parametrize("game", DRAWN)
def test_cells_are_what_openspiel_draws(game: str) -> None:
    row, signs, letters = DRAWN[game]
    judge = judge_of(game)
    geometry = judge.spec().geometry
    assert not isinstance(geometry, GraphGeometry)
    chance = random.Random(1)
    position = judge.start(0)
    while position.moves and len(position.history) < 90:
        position = position.after(chance.choice(position.moves))
        cells = judge.board(position, 1).letters
        if game.startswith("havannah"):
            # OpenSpiel's columns lean the other way.
            cells = "".join(
                cells[at : at + geometry.columns][::-1] for at in range(0, len(cells), geometry.columns)
            )
        if isinstance(geometry, HexGeometry):
            cells = cells.replace("+", "")
        rows = [re.fullmatch(row, line) for line in str(position.state).splitlines()]
        drawn = "".join(sign for match in rows if match for sign in match[1] if sign in signs)
        assert cells.translate(str.maketrans(letters, signs)) == drawn
    assert len(position.history) > 4


@pytest.mark.parametrize(
    ("game", "game_id", "geometry", "symmetries", "reversal"),
    [
        ("othello", "openspiel-othello", SquareGeometry(8, 8), 4, "mirror_columns"),
        ("breakthrough(columns=8,rows=8)", "openspiel-breakthrough", SquareGeometry(8, 8), 2, "mirror_rows"),
        (
            "breakthrough(rows=6,columns=5)",
            "openspiel-breakthrough-columns.5-rows.6",
            SquareGeometry(6, 5),
            2,
            "mirror_rows",
        ),
        ("go(board_size=9,komi=5.5)", "openspiel-go-board_size.9", SquareGeometry(9, 9), 8, "identity"),
        ("hex(board_size=7)", "openspiel-hex-num_cols.7-num_rows.7", HexGeometry(7, 7), 2, "transpose"),
        ("havannah(board_size=4)", "openspiel-havannah-board_size.4", HexGeometry(7, 7), 12, "identity"),
        ("y(board_size=5)", "openspiel-y-board_size.5", HexGeometry(5, 5), 6, "identity"),
        ("lines_of_action", "openspiel-lines_of_action", SquareGeometry(8, 8), 4, "transpose"),
        ("checkers", "openspiel-checkers", SquareGeometry(8, 8), 1, "rotate_180"),
    ],
)
def test_specs(
    game: str, game_id: str, geometry: SquareGeometry | HexGeometry, symmetries: int, reversal: str
) -> None:
    spec = judge_of(game).spec()
    assert (spec.game_id, spec.geometry) == (game_id, geometry)
    assert (len(spec.symmetries), spec.reversal, spec.symmetric) == (symmetries, reversal, True)


@pytest.mark.parametrize("game", ["hex(num_rows=3,num_cols=4)", "clobber(rows=3,columns=3)", "chess", "nim"])
def test_players_whose_boards_differ_share_no_patterns(game: str) -> None:
    assert not judge_of(game).spec().symmetric


@pytest.mark.parametrize("game", ["chess", "nim", "gomoku(dims=3,size=4)", "misere(game=tic_tac_toe())"])
def test_a_game_without_a_known_board_has_one_empty_cell(game: str) -> None:
    judge = judge_of(game)
    position = judge.start(0)
    for _ in range(3):
        assert judge.board(position, 1).letters == "-"
        position = position.after(position.moves[0])
    assert isinstance(judge.spec().geometry, GraphGeometry)


def test_a_checkers_king_is_a_king() -> None:
    judge = judge_of("checkers")
    chance, seen = random.Random(0), ""
    for _ in range(5):
        position = judge.start(0)
        while position.moves and len(position.history) < 150:
            position = position.after(chance.choice(position.moves))
            seen += judge.board(position, 1).letters
    assert {"b", "w"} < set(seen) <= set("xbow-")


@pytest.mark.parametrize(
    ("game", "moves", "images"),
    [
        ("breakthrough", ["a7a6", "h2h3"], {("a7a6", "h2h3"), ("h7h6", "a2a3")}),
        ("connect_four", ["x0", "o6", "x3"], {("x0", "o6", "x3"), ("x6", "o0", "x3")}),
        ("lines_of_action", ["b1-b3"], {("b1-b3",), ("g1-g3",), ("b8-b6",), ("g8-g6",)}),
    ],
)
def test_mirrored_openings_are_one(game: str, moves: list[str], images: set[tuple[str, ...]]) -> None:
    assert set(judge_of(game).spec().move_images(moves)) == images
