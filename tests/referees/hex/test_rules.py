"""The rules of Hex: linking edges, the swap, what is illegal, and what ACADEMY receives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.boards import HexGeometry
from referees.api import IllegalMoveError, Outcome, Termination, UnreadableMoveError
from referees.conformance import check_referee
from referees.hex import BLACK, SWAP, WHITE, Board, Hex, HexPosition
from tests.referees.hex.games import drawn, played

THREE = Hex.from_settings({"board_size": 3})
SWAPPING = Hex.from_settings({"board_size": 5, "swap": True})


@pytest.mark.parametrize(
    "settings",
    [
        {"board_size": 2},
        {"board_size": 5},
        {"board_size": 4, "columns": 6},
        {"board_size": 5, "swap": True},
        {"board_size": 11, "swap": True},
    ],
)
def test_hex_keeps_the_laws_of_referees(settings: dict[str, object]) -> None:
    assert check_referee(Hex.from_settings(settings), games=4).finished == 4


@pytest.mark.parametrize(
    ("settings", "moves", "winner"),
    [
        ({"board_size": 3}, "b1 a1 b2 a2 b3", BLACK),
        ({"board_size": 3}, "c1 a1 b2 a2 a3", BLACK),  # along the long diagonal's steps
        ({"board_size": 3}, "a1 a2 b1 b2 a3 c2", WHITE),
        ({"board_size": 3}, "a1 a3 b1 b2 a2 c1", WHITE),
        ({"board_size": 3}, "a1 c1 b2 c2 c3 a3", None),  # a1 and b2 do not touch, nor do b2 and c3
        ({"board_size": 2, "columns": 4}, "a1 b1 a2", BLACK),
        ({"board_size": 2, "columns": 4}, "a1 a2 b1 b2 c1 c2 d1 d2", WHITE),
        ({"board_size": 3, "swap": True}, "b1 swap-pieces a1 b2 a3 c1", WHITE),
        ({"board_size": 3, "swap": True}, "b1 swap-pieces c1 b2 c2 a3 c3", BLACK),
    ],
)
def test_the_player_that_links_its_edges_first_wins(
    settings: dict[str, object], moves: str, winner: int | None
) -> None:
    game = Hex.from_settings(settings)
    position, _ = played(game, moves)
    outcome = game.outcome(position)
    if winner is None:
        assert outcome is None
        assert game.to_move(position)
    else:
        assert outcome == Outcome((winner,), Termination.SCORE, f"{'BW'[winner - 1]}+")
        assert game.to_move(position) == ()
        assert game.legal_moves(position, position.mover) == ()


def test_the_first_stone_is_swapped_to_the_mirrored_cell_and_changes_colour() -> None:
    position, _ = played(SWAPPING, "d2 swap-pieces")
    assert drawn(SWAPPING, position) == "..... ..... ..... .W... ....."
    assert SWAPPING.to_move(position) == (BLACK,)
    assert SWAP not in SWAPPING.legal_moves(position, BLACK)


def test_a_swapped_stone_still_knows_its_edge() -> None:
    # c1 lies at Black's top edge, its mirror a3 at White's left one.
    game = Hex.from_settings({"board_size": 3, "swap": True})
    position, _ = played(game, "c1 swap-pieces a1 b3 a2 c3")
    assert game.outcome(position) == Outcome((WHITE,), Termination.SCORE, "W+")


@pytest.mark.parametrize(
    ("settings", "moves", "move", "why"),
    [
        ({"board_size": 3}, "b2", "b2", "b2 is occupied"),
        ({"board_size": 3}, "b2", "swap-pieces", "without the swap rule"),
        ({"board_size": 3, "swap": True}, "", "swap-pieces", "only the first stone"),
        ({"board_size": 3, "swap": True}, "b2 a1 a2", "swap-pieces", "only the first stone"),
        ({"board_size": 3, "swap": True}, "b2 swap-pieces", "swap-pieces", "only the first stone"),
        ({"board_size": 2}, "a1 b1 a2", "b2", "the game is over"),
    ],
)
def test_illegal_moves_say_which_rule_forbids_them(
    settings: dict[str, object], moves: str, move: str, why: str
) -> None:
    game = Hex.from_settings(settings)
    position, _ = played(game, moves)
    illegal = game.read_move(position, position.mover, move)
    with pytest.raises(IllegalMoveError, match=why):
        game.play(position, {position.mover: illegal})
    assert illegal not in game.legal_moves(position, position.mover)


def test_moves_are_made_by_turns_and_on_the_board() -> None:
    start = THREE.start(0)
    with pytest.raises(IllegalMoveError, match="Black's turn"):
        THREE.check(start, WHITE, 0)
    with pytest.raises(IllegalMoveError, match="2 seats"):
        THREE.play(start, {BLACK: 0, WHITE: 1})
    with pytest.raises(IllegalMoveError, match="not a cell of a board of 9 cells"):
        THREE.check(start, BLACK, 9)


@pytest.mark.parametrize(
    ("text", "name"),
    [("a1", "a1"), (" C1 ", "c1"), ("a03", "a3"), ("Swap-Pieces", "swap-pieces"), ("swap", "swap-pieces")],
)
def test_moves_are_read_leniently_and_written_in_one_spelling(text: str, name: str) -> None:
    assert THREE.move_text(THREE.read_move(THREE.start(0), BLACK, text)) == name


@pytest.mark.parametrize(
    "text", ["", "a", "a0", "a4", "d1", "1a", "a1a", "a-1", "pass", "resign", "swap-sides"]
)
def test_other_texts_are_not_moves(text: str) -> None:
    with pytest.raises(UnreadableMoveError, match=r"columns a to c, rows 1 to 3|swap-pieces"):
        THREE.read_move(THREE.start(0), BLACK, text)


def test_columns_have_letters_and_rows_numbers_from_the_top() -> None:
    game = Hex.from_settings({"board_size": 3, "columns": 4})
    position, _ = played(game, "d1 a3")
    assert drawn(game, position) == "...B .... W..."


@pytest.mark.parametrize(
    ("settings", "game_id", "symmetric", "reversal"),
    [
        ({"board_size": 11}, "hex-11x11", True, "transpose"),
        ({"board_size": 11, "swap": True}, "hex-11x11-swap", True, "transpose"),
        ({"board_size": 3, "columns": 4}, "hex-4x3", False, "identity"),
    ],
)
def test_academy_learns_the_half_turn_and_the_mirror_that_exchanges_the_edges(
    settings: dict[str, object], game_id: str, symmetric: bool, reversal: str
) -> None:
    spec = Hex.from_settings(settings).spec()
    assert (spec.game_id, spec.symmetric, spec.reversal) == (game_id, symmetric, reversal)
    assert spec.symmetries == ("identity", "rotate_180")


def test_boards_have_blacks_stones_as_the_first_players() -> None:
    game = Hex.from_settings({"board_size": 3, "columns": 4})
    position, _ = played(game, "a1 b2")
    for seat in (BLACK, WHITE):
        board = game.board(position, seat)
        assert board.geometry == HexGeometry(3, 4)
        assert board.letters == "x----o------"


@given(st.permutations(range(25)), st.lists(st.booleans(), min_size=25, max_size=25))
def test_the_reversal_is_the_game_with_the_players_exchanged(order: list[int], black: list[bool]) -> None:
    game = Hex.from_settings({"board_size": 5})
    board, mirrored = Board(5, 5), Board(5, 5)
    for cell, is_black in zip(order, black, strict=True):
        linked = board.play(BLACK if is_black else WHITE, cell)
        assert mirrored.play(WHITE if is_black else BLACK, cell % 5 * 5 + cell // 5) == linked
    seen, reversed_ = (game.board(HexPosition(bytes(stones.cells), BLACK), 1) for stones in (board, mirrored))
    assert game.spec().reversed_board(seen) == reversed_


@pytest.mark.parametrize(
    ("termination", "summary"),
    [
        (Termination.RESIGNATION, "W+R"),
        (Termination.FORFEIT, "W+F"),
        (Termination.ADJUDICATION, "W+"),
    ],
)
def test_a_game_that_is_given_to_a_colour_says_why(termination: Termination, summary: str) -> None:
    assert THREE.won_by(WHITE, termination, "late") == Outcome((WHITE,), termination, summary, detail="late")


def test_players_touch_when_their_stones_do() -> None:
    apart, _ = played(SWAPPING, "a1 e5")
    beside, _ = played(SWAPPING, "c3 d2")
    assert (SWAPPING.interaction(apart), SWAPPING.interaction(beside)) == (False, True)
