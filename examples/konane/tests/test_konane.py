"""The rules of Konane."""

import random

import pytest

from konane import Konane, KonanePosition, mobility
from konane.position import BLACK, WHITE
from referees.api import (
    GameRecord,
    IllegalMoveError,
    InvalidSettingError,
    PlayedMove,
    UnreadableMoveError,
    UnreadableRecordError,
)
from referees.conformance import check_referee

USUAL = Konane()
SMALL = Konane(4)


def played(game: Konane, *texts: str) -> KonanePosition:
    position = game.start(0)
    for text in texts:
        (seat,) = game.to_move(position)
        position = game.play(position, {seat: game.read_move(position, seat, text)})
    return position


def drawn(diagram: str, mover: int) -> KonanePosition:
    return KonanePosition("".join(diagram.split()), mover)


def legal(game: Konane, position: KonanePosition) -> set[str]:
    return {game.move_text(move) for move in game.legal_moves(position, position.mover)}


@pytest.mark.parametrize("board_size", [4, 6, 8])
def test_the_referee_keeps_the_laws(board_size: int) -> None:
    report = check_referee(Konane(board_size), games=5)
    assert report.finished == 5
    assert report.checks["symmetry"] == 20


def test_an_id_leads_back_to_its_board() -> None:
    for game in (USUAL, SMALL):
        settings = Konane.settings_of(game.spec().game_id)
        assert settings is not None and Konane.from_settings(settings).spec() == game.spec()
    assert Konane.settings_of("konane-6x8") is None


def test_the_board_is_full_at_first() -> None:
    assert SMALL.start(0) == drawn("xoxo oxox xoxo oxox", BLACK)


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        # Black's in the corners and in the middle; the corners a1 and h8 are White's.
        ((), {"a8", "d5", "e4", "h1"}),
        # White's beside the gap.
        (("a8",), {"b8", "a7"}),
        (("d5",), {"d6", "c5", "e5", "d4"}),
        # From then on jumps.
        (("d5", "d4"), {"d7-d5", "b5-d5", "f5-d5"}),
    ],
)
def test_how_a_game_begins(moves: tuple[str, ...], expected: set[str]) -> None:
    assert legal(USUAL, played(USUAL, *moves)) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("xo----", {"a6-c6"}),
        ("xo-o--", {"a6-c6", "a6-e6"}),
        ("xo-o-o", {"a6-c6", "a6-e6"}),
        ("xo--o-", {"a6-c6"}),
        ("xoo---", set()),
        ("xx-o--", set()),
        ("xox---", set()),
        ("-ox---", {"c6-a6"}),
        ("----xo", set()),
        ("xo-ox-", {"a6-c6", "e6-c6"}),
    ],
)
def test_jumps_go_over_one_stone_and_on_in_the_same_line(row: str, expected: set[str]) -> None:
    # In a row, and the same downwards in the first column.
    assert legal(Konane(6), drawn(row + 30 * "-", BLACK)) == expected
    column = "".join(letter + 5 * "-" for letter in row)
    names = dict(zip("abcdef", "654321", strict=True))
    turned = {"-".join(f"a{names[cell[0]]}" for cell in move.split("-")) for move in expected}
    assert legal(Konane(6), drawn(column, BLACK)) == turned


def test_a_jump_takes_what_it_goes_over_and_does_not_turn() -> None:
    game = Konane(6)
    position = drawn("xo-o-- ------ ----o- ------ ------ ------", BLACK)
    after = game.play(position, {BLACK: game.read_move(position, BLACK, "a6-e6")})
    assert after == drawn("----x- ------ ----o- ------ ------ ------", WHITE)
    assert position.cells[0] == "x"


def test_player_that_cannot_jump_has_lost() -> None:
    position = drawn("xo-- ---- ---- ----", WHITE)
    assert legal(SMALL, position) == set()
    assert SMALL.to_move(position) == ()
    outcome = SMALL.outcome(position)
    assert outcome is not None
    assert (outcome.winners, outcome.summary, outcome.detail) == ((1,), "Black wins", "White cannot jump")


@pytest.mark.parametrize("text", ["a1-a3", "A1-A3", " a1 x a3 ", "a1a3", "a1xa3"])
def test_moves_are_read_leniently(text: str) -> None:
    position = SMALL.start(0)
    assert SMALL.move_text(SMALL.read_move(position, BLACK, text)) == "a1-a3"


@pytest.mark.parametrize("text", ["", "a", "e1", "a5", "a0", "a1-a5", "a1-", "a1-a2-a3", "pass"])
def test_what_is_not_a_move_is_refused(text: str) -> None:
    with pytest.raises(UnreadableMoveError, match="cells are a1 to d4"):
        SMALL.read_move(SMALL.start(0), BLACK, text)


@pytest.mark.parametrize(
    ("moves", "seat", "text", "why"),
    [
        ((), BLACK, "c4", "c4 is not a move here; legal are a4, b3, c2, d1"),
        ((), WHITE, "a4", "it is Black's turn"),
        (("a4",), WHITE, "d4", "legal are b4, a3"),
        (("a4", "b4"), BLACK, "c4-c2", "c4-c2 is not a move here"),
    ],
)
def test_illegal_moves_say_why(moves: tuple[str, ...], seat: int, text: str, why: str) -> None:
    position = played(SMALL, *moves)
    with pytest.raises(IllegalMoveError, match=why):
        SMALL.check(position, seat, SMALL.read_move(position, seat, text))


@pytest.mark.parametrize("size", [0, 2, 5, 20, "8", 8.0, None, True])
def test_boards_have_an_even_size(size: object) -> None:
    with pytest.raises(InvalidSettingError, match="an even number from 4 to 18"):
        Konane.from_settings({"board_size": size})


def test_other_settings_are_refused() -> None:
    with pytest.raises(InvalidSettingError, match="'boardsize': the one setting"):
        Konane.from_settings({"boardsize": 8})


def test_records_are_read_back() -> None:
    moves = [PlayedMove(seat, None, text) for seat, text in ((1, "a4"), (2, "b4"), (1, "c4-a4"))]
    record = GameRecord("cup 1", "cup", "2026-01-01", ("kāne", "lono"), moves, None, seed=1)
    text = SMALL.record(record)
    assert '"result": "void"' in text
    (game,) = SMALL.read_records(text.encode())
    assert (game.name, game.moves, game.players) == ("cup 1", ["a4", "b4", "c4-a4"], ["kāne", "lono"])
    with pytest.raises(UnreadableRecordError, match="a game of 'konane-4x4', not of 'konane-8x8'"):
        USUAL.read_records(text.encode())


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff", b"[]", b"{}"),
        b'{"game": "konane-4x4", "name": 1, "moves": 2}',
        b'{"game": "konane-4x4", "name": "", "moves": "", "winners": [1e999]}',
    ],
)
def test_what_is_not_a_record_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableRecordError, match="no record of konane-4x4"):
        SMALL.read_records(content)


def test_engines_receive_the_size_and_the_moves() -> None:
    words = SMALL.dialogue("gtp")
    assert words is not None and SMALL.dialogue("uci") is None
    assert list(words.setup()) == ["boardsize 4", "clear_board"]
    assert [words.colour(seat) for seat in (BLACK, WHITE)] == ["b", "w"]
    position = played(SMALL, "a4", "b4")
    assert {words.vertex(move) for move in SMALL.legal_moves(position, BLACK)} == legal(SMALL, position)


@pytest.mark.parametrize("seat", [BLACK, WHITE])
def test_who_counts_jumps_beats_chance(seat: int) -> None:
    wins = 0
    for seed in range(10):
        choose, chance = mobility(USUAL, seat, seed), random.Random(seed)
        position = USUAL.start(0)
        while USUAL.to_move(position):
            if position.mover == seat:
                choice = choose(position)
                assert choice.value is not None and 0 < choice.value <= 1
                move = USUAL.read_move(position, seat, choice.text)
            else:
                move = chance.choice(USUAL.legal_moves(position, position.mover))
            position = USUAL.play(position, {position.mover: move})
        outcome = USUAL.outcome(position)
        wins += outcome is not None and outcome.winners == (seat,)
    assert wins > 7
