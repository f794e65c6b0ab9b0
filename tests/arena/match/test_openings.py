"""Files of openings: what they may hold, and in which order games get them."""

import random
from pathlib import Path

import pytest

from arena.match.openings import InvalidOpeningsError, Opening, choose_opening, read_openings
from referees.api import GameRecord, PlayedMove, referee
from referees.go import Go

GO = Go.from_settings({"board_size": 9})


def write(tmp_path: Path, content: str, name: str = "book.txt") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_a_list_has_an_opening_a_line_with_its_name_if_it_likes(tmp_path: Path) -> None:
    path = write(tmp_path, "# a comment\nE5 c3\n\ncorner: G7, C3 ,pass\n  D4\n")
    assert read_openings(path, GO) == (
        Opening("", ("E5", "C3"), 1),
        Opening("corner", ("G7", "C3", "pass"), 2),
        Opening("", ("D4",), 3),
    )


@pytest.mark.parametrize(
    ("game", "line", "name", "moves"),
    [
        ("openspiel", "x(0,0), o(1,1) ,x(2,0)", "", "x(0,0) o(1,1) x(2,0)"),
        ("openspiel", "x(0,0) o(1,1) x(2,0)", "", "x(0,0) o(1,1) x(2,0)"),
        ("openspiel", "corner: x(0,0),o(1,1),x(2,0)", "corner", "x(0,0) o(1,1) x(2,0)"),
        # Russian books write captures with colons.
        ("draughts", "c3-d4 f6-e5 d4:f6", "", "c3-d4 f6-e5 d4xf6"),
        ("draughts", "book: c3-d4 f6-e5 d4:f6", "book", "c3-d4 f6-e5 d4xf6"),
        ("draughts", "a: b: c3-d4", "a: b", "c3-d4"),
    ],
)
def test_moves_may_have_commas_in_brackets_and_captures_colons(
    game: str, line: str, name: str, moves: str, tmp_path: Path
) -> None:
    settings = {"openspiel": {"game": "tic_tac_toe"}, "draughts": {"variant": "russian"}}
    (opening,) = read_openings(write(tmp_path, line), referee(game).from_settings(settings[game]))
    assert (opening.name, opening.moves) == (name, tuple(moves.split()))


DIPLOMACY = referee("diplomacy").from_settings({})


def first_orders() -> list[str]:
    position = DIPLOMACY.start(0)
    chance = random.Random(1)
    return [
        DIPLOMACY.move_text(DIPLOMACY.random_move(position, seat, chance))
        for seat in DIPLOMACY.to_move(position)
    ]


def test_orders_of_a_power_are_separated_by_semicolons_in_a_list(tmp_path: Path) -> None:
    orders = first_orders()
    path = write(tmp_path, "chance: " + ", ".join(text.replace(", ", "; ") for text in orders))
    assert read_openings(path, DIPLOMACY) == (Opening("chance", tuple(orders), 1),)


@pytest.mark.parametrize(("plies", "whole"), [(3, 7), (10, 14)])
def test_a_number_of_plies_that_cuts_a_turn_is_refused_with_the_number_for_all_of_it(
    plies: int, whole: int, tmp_path: Path
) -> None:
    position = DIPLOMACY.start(0)
    seats = DIPLOMACY.to_move(position)
    moves = {
        seat: DIPLOMACY.read_move(position, seat, text)
        for seat, text in zip(seats, first_orders(), strict=True)
    }
    later = DIPLOMACY.play(position, moves)
    turns = [
        *moves.items(),
        *((seat, DIPLOMACY.random_move(later, seat, random.Random(2))) for seat in seats),
    ]
    played = [PlayedMove(seat, move, DIPLOMACY.move_text(move)) for seat, move in turns]
    record = DIPLOMACY.record(GameRecord("x", "event", "2026-01-01", tuple("abcdefg"), played, None, 0))
    path = write(tmp_path, record, "book.json")
    assert len(read_openings(path, DIPLOMACY, plies=7)[0].moves) == 7
    with pytest.raises(
        InvalidOpeningsError, match=rf"plies = {plies} ends within a turn of 7 .* give {whole} "
    ):
        read_openings(path, DIPLOMACY, plies)


def test_a_list_may_begin_with_a_byte_order_mark_as_some_editors_write_it(tmp_path: Path) -> None:
    assert read_openings(write(tmp_path, "\ufeff# mine\nx: E5"), GO) == (Opening("x", ("E5",), 1),)


def test_openings_can_be_cut_to_a_number_of_plies(tmp_path: Path) -> None:
    path = write(tmp_path, "E5 C3 D4\nG7\n")
    assert [opening.moves for opening in read_openings(path, GO, plies=2)] == [("E5", "C3"), ("G7",)]


def test_a_collection_of_records_gives_its_main_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "(;FF[4]SZ[9]GN[first];B[ee];W[cg](;B[cc])(;B[gg]))\n(;SZ[9];B[aa];W[];C[no move])",
        "book.SGF",
    )
    assert read_openings(path, GO) == (
        Opening("first", ("E5", "C3", "C7"), 1),
        Opening("", ("A9", "pass"), 2),
    )


def test_records_of_a_handicap_must_have_its_stones(tmp_path: Path) -> None:
    game = Go.from_settings({"board_size": 9, "handicap": 2})
    path = write(tmp_path, "(;SZ[9]HA[2]AB[cg][gc];W[ee])", "book.sgf")
    assert read_openings(path, game) == (Opening("", ("E5",), 1),)
    with pytest.raises(InvalidOpeningsError, match="record 1: its first position is another"):
        read_openings(path, GO)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("book.txt", "E5\nG7 E5 E5", "line 2: move 3: point E5 is occupied"),
        ("book.txt", "x: E5 Z9", r"line 1 \(x\): move 2: 'Z9' is neither a point"),
        ("book.txt", "Z9", "line 1: move 1: 'Z9' is neither a point"),
        ("book.txt", "x:", r"line 1 \(x\): there is no move"),
        ("book.txt", "pass pass", "line 1: the game is over after move 2"),
        ("book.txt", "pass pass E5", "line 1: the game is over after move 2"),
        ("book.txt", "# nothing", "holds no opening"),
        ("book.sgf", "no records", "no SGF"),
        ("book.sgf", "(;SZ[19];B[aa])", "record 1: its board has 19 rows, not 9"),
        ("book.sgf", "(;SZ[9];B[aa])(;SZ[9];W[aa])", "record 2: move 1 is not by B, whose turn it is"),
        ("book.sgf", "(;SZ[9];B[aa];AW[bb])", "record 1: after move 1 stones are placed"),
        ("book.sgf", "(;SZ[9];B[zz])", "record 1: "),
        ("book.sgf", "(;SZ[99];B[aa])", "record 1: size out of range"),
        ("book.sgf", "(;SZ[9];B[aa]", "unexpected end of SGF data"),
        ("book.sgf", "(;SZ[9];B[aa];W[aa])", "record 1: move 2: point A9 is occupied"),
    ],
)
def test_an_opening_that_cannot_be_played_is_refused_with_its_place(
    name: str, content: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidOpeningsError, match=says):
        read_openings(write(tmp_path, content, name), GO)


def test_a_file_of_too_many_openings_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.match.openings.MAX_OPENINGS", 2)
    path = write(tmp_path, "E5\nG7")
    assert len(read_openings(path, GO)) == 2
    path.write_text("E5\nG7\nC3")
    with pytest.raises(InvalidOpeningsError, match="more than 2 openings"):
        read_openings(path, GO)


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOpeningsError, match="cannot be read: No such file"):
        read_openings(tmp_path / "book.txt", GO)
    (tmp_path / "book.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidOpeningsError, match="is not text"):
        read_openings(tmp_path / "book.txt", GO)


BOOK = tuple(Opening(str(number), ("E5",)) for number in range(5))


def test_without_a_seed_openings_come_in_their_order_again_and_again() -> None:
    assert [choose_opening(BOOK, place).name for place in range(7)] == ["0", "1", "2", "3", "4", "0", "1"]


def test_with_a_seed_every_opening_comes_once_before_the_first_comes_again() -> None:
    order = [choose_opening(BOOK, place, seed=7).name for place in range(50)]
    assert all(sorted(order[start : start + 5]) == list("01234") for start in range(0, 50, 5))
    assert order == [choose_opening(BOOK, place, seed=7).name for place in range(50)]
    assert len({tuple(order[start : start + 5]) for start in range(0, 50, 5)}) > 1
    assert order != [choose_opening(BOOK, place, seed=8).name for place in range(50)]


def test_with_a_seed_openings_come_as_they_did_in_earlier_releases() -> None:
    places = (0, 1, 2, 3, 4, 12, 5, 0)
    assert [choose_opening(BOOK, place, seed=7).name for place in places] == list("20341102")
