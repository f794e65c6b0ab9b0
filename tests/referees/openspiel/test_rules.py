"""The referee: settings, moves, outcomes, records, and its words in GTP."""

import json
import pickle
import random
import sys
from typing import Any

import pytest

from referees.api import (
    GameRecord,
    IllegalMoveError,
    InvalidSettingError,
    Outcome,
    PlayedMove,
    Termination,
    UnreadableMoveError,
    UnreadableRecordError,
)
from referees.openspiel import OpenSpiel, SpielMove, SpielPosition
from referees.openspiel.game_string import load
from tests.referees.openspiel.games import judge_of
from tests.referees.reading import names_and_moves


def played(judge: OpenSpiel, texts: str | list[str]) -> SpielPosition:
    position = judge.start(0)
    for text in texts.split() if isinstance(texts, str) else texts:
        seat = judge.to_move(position)[0]
        position = judge.play(position, {seat: judge.read_move(position, seat, text)})
    return position


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "is missing: give a game string"),
        ({"game": 3}, "a game string is needed"),
        ({"game": "othello", "komi": 7}, "'komi': OpenSpiel's games have the one setting 'game'"),
        ({"gane": "othello"}, "did you mean 'game'"),
        ({"game": "poker"}, "no game 'poker'; there are amazons, .*othello.* y$"),
        ({"game": "conect_four(rows=5)"}, "no game 'conect_four'; did you mean 'connect_four'"),
        ({"game": "kuhn_poker"}, "there is chance in it, things are hidden"),
        ({"game": "backgammon"}, "there is chance in it"),
        ({"game": "matrix_rps"}, "players move at once"),
        ({"game": "chess(chess960=True)"}, "first position is chosen by chance"),
        ({"game": "quoridor(players=3)"}, "it has 3 players"),
        ({"game": "connect_four(rows=0)"}, "rows=0: a number from 1 to 26"),
        ({"game": "connect_four(rows=+0)"}, r"rows=\+0: a number from 1 to 26"),
        ({"game": "mnk(m=+1000,n= + 90,k=3)"}, r"m=\+1000: a number from 1 to 26"),
        ({"game": "connect_four(rows=+6)"}, None),
        ({"game": "y(board_size = -1)"}, "board_size=-1: a number from 1 to 26"),
        ({"game": "misere(game=y(board_size=0))"}, "board_size=0: a number from 1 to 26"),
        ({"game": "hex(board_size=100000)"}, "board_size=100000: a number"),
        ({"game": "mnk(m=5,n=5,k=9999999999999999999999)"}, "a number from 1 to 26"),
        ({"game": "nim(pile_sizes=9999999999)"}, "a number from 0 to 1000000"),
        ({"game": "mnk(k=0)"}, "k=0: a number from 1 to 26"),
        ({"game": "gomoku(connect=0)"}, "connect=0: a number from 1 to 26"),
        ({"game": "connect_four(x_in_row=0)"}, "x_in_row=0: a number from 1 to 26"),
        ({"game": "go(handicap=1000000)"}, "handicap=1000000: a number from 0 to 9"),
        ({"game": "go(handicap=0)"}, None),
        ({"game": "hex(num_cols=1,num_rows=4)"}, "at least 2 rows and 2 columns"),
        ({"game": "gomoku(size=5,dims=12)"}, "dims=12: a number from 1 to 3"),
        ({"game": "nim(pile_sizes=900000;9)"}, "too many"),
        ({"game": "breakthrough(rows=x)"}, "OpenSpiel says: Wrong type for parameter rows"),
        ({"game": "breakthrough(rows=6"}, "OpenSpiel says: Missing closing bracket"),
        ({"game": "breakthrough(files=6)"}, "OpenSpiel says: "),
        ({"game": "go(board_size=26)"}, "OpenSpiel says: .* up to 19"),
        ({"game": "clobber(rows=1,columns=1)"}, "there is no move in its first position"),
        ({"game": "efg_game(filename=/etc/passwd)"}, "'efg_game' reads a file or is made of another game"),
        ({"game": "normal_form_extensive_game(game=tic_tac_toe())"}, "only misere, start_at are played"),
        ({"game": "misere(game=efg_game(filename=x))"}, "'efg_game' reads a file"),
        ({"game": "misere(game=backgammon())"}, "there is chance in it"),
        ({"game": "(rows=3)"}, "no game ''"),
        ({"game": "hex(string_rep=explicit)"}, "'string_rep' changes nothing in the game"),
        ({"game": "othello\n"}, None),
        ({"game": "oth\nello"}, "one line"),
        ({"game": "a" * 2000}, "at most 1000"),
    ],
)
def test_a_game_string_that_cannot_be_played_is_refused_with_the_reason(
    settings: dict[str, Any], why: str | None
) -> None:
    if why is None:
        OpenSpiel.from_settings(settings)
        return
    with pytest.raises(InvalidSettingError, match=why):
        OpenSpiel.from_settings(settings)


def test_without_the_library_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    load.cache_clear()
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(InvalidSettingError, match=r"pip install 'academy-arena\[openspiel\]'"):
        judge_of("othello")


@pytest.mark.parametrize(
    ("game", "moves", "winners"),
    [
        ("tic_tac_toe", "x(1,1) o(0,0) x(0,1) o(0,2) x(2,1)", (1,)),
        ("start_at(history=4;0,game=tic_tac_toe())", "x(0,1) o(0,2) x(2,1)", (1,)),
        ("connect_four", "x0 o1 x0 o1 x0 o1 x6 o1", (2,)),
        ("tic_tac_toe", "x(1,1) o(0,0) x(0,1) o(2,1) x(1,0) o(1,2) x(2,0) o(0,2) x(2,2)", (1, 2)),
        ("misere(game=tic_tac_toe())", "x(1,1) o(0,0) x(0,1) o(0,2) x(2,1)", (2,)),
        # White is OpenSpiel's player 1 and our seat 2, and moves first.
        ("chess", "f3 e5 g4 Qh4#", (1,)),
    ],
)
def test_a_finished_game_has_its_winners(game: str, moves: str, winners: tuple[int, ...]) -> None:
    judge = judge_of(game)
    texts = moves.split()
    assert judge.outcome(played(judge, texts[:-1])) is None
    end = played(judge, texts)
    summary = "draw" if len(winners) == 2 else f"player {winners[0]} wins"
    assert judge.outcome(end) == Outcome(winners, Termination.SCORE, summary)
    assert judge.to_move(end) == () and judge.legal_moves(end, 1) == ()


def test_returns_beyond_won_and_lost_are_points() -> None:
    judge = judge_of("dots_and_boxes(num_rows=1,num_cols=2,utility_margin=True)")
    chance, margins = random.Random(0), set()
    for _ in range(20):
        position = judge.start(0)
        while position.moves:
            position = position.after(chance.choice(position.moves))
        outcome = judge.outcome(position)
        assert outcome is not None
        margins.add(outcome.points)
    assert (2.0, -2.0) in margins


def test_a_player_may_move_twice() -> None:
    judge = judge_of("dots_and_boxes(num_rows=1,num_cols=1)")
    position = played(judge, ["P1(h,0,0)", "P2(h,1,0)", "P1(v,0,0)"])
    assert judge.to_move(position) == (2,)


def test_positions_are_values() -> None:
    judge = judge_of("othello")
    position = played(judge, "d3 c3")
    assert position == played(judge, "d3 c3") and hash(position) == hash(played(judge, "d3 c3"))
    assert position != played(judge, "d3 c5")
    again = pickle.loads(pickle.dumps(position))
    assert again == position and again.moves == position.moves


@pytest.mark.parametrize(
    ("game", "before", "text", "meant"),
    [
        ("othello", "", " D3 ", "d3"),
        ("go(board_size=5)", "", "b a1", "B a1"),
        ("chess", "f3 e5 g4", "Qh4", "Qh4#"),
        ("chess", "f3 e5 g4", "qh4+", "Qh4#"),
        ("amazons(board_size=6)", "", "x from (6,2)", None),
        ("tic_tac_toe", "", "X( 1, 1 )", "x(1,1)"),
    ],
)
def test_moves_are_read_leniently(game: str, before: str, text: str, meant: str | None) -> None:
    judge = judge_of(game)
    position = played(judge, before)
    seat = judge.to_move(position)[0]
    if meant is None:
        meant = next(move.text for move in position.moves if move.text.endswith("(6, 2)"))
    assert judge.read_move(position, seat, text).text == meant


def test_where_case_tells_moves_apart_it_counts() -> None:
    judge = judge_of("chess")
    # A pawn and a bishop can take on c3.
    position = played(judge, ["Nc3", "e6", "a3", "Bb4", "h3", "a5", "g3", "a4", "Ra2", "Ra5"])
    capture = [move.text for move in position.moves if move.text.lower() == "axb4"]
    assert capture == ["axb4"]
    with pytest.raises(UnreadableMoveError, match="'Ke5' is not the text of a legal move; legal are "):
        judge.read_move(position, 2, "Ke5")


class TwoOfOneName:
    """A state in which two moves have one text."""

    def is_terminal(self) -> bool:
        return False

    def current_player(self) -> int:
        return 0

    def legal_actions(self) -> list[int]:
        return [4, 7, 9]

    def action_to_string(self, player: int, action: int) -> str:
        return "north" if action < 9 else "south"


def test_texts_that_name_two_moves_get_their_numbers() -> None:
    position = SpielPosition("a game", (), TwoOfOneName())
    assert [move.text for move in position.moves] == ["north [4]", "north [7]", "south"]
    judge = judge_of("othello")
    assert judge.read_move(position, 1, "north [7]") == SpielMove(7, "north [7]")
    with pytest.raises(UnreadableMoveError):
        judge.read_move(position, 1, "north")


def test_illegal_moves_are_refused() -> None:
    judge = judge_of("tic_tac_toe")
    position = played(judge, "x(1,1)")
    with pytest.raises(IllegalMoveError, match="it is player 2's turn"):
        judge.check(position, 1, SpielMove(0, "x(0,0)"))
    with pytest.raises(IllegalMoveError, match=r"'o\(1,1\)' is not legal here; legal are o\(0,0\)"):
        judge.play(position, {2: SpielMove(4, "o(1,1)")})
    with pytest.raises(IllegalMoveError, match="the game is over"):
        judge.check(played(judge, "x(1,1) o(0,0) x(0,1) o(0,2) x(2,1)"), 2, SpielMove(3, "o(1,0)"))


def record(judge: OpenSpiel, texts: list[str]) -> str:
    moves, position = [], judge.start(0)
    for text in texts:
        seat = judge.to_move(position)[0]
        move = judge.read_move(position, seat, text)
        moves.append(PlayedMove(seat, move, move.text, 0.25, {seat: 0.625}, "hm"))
        position = position.after(move)
    return judge.record(
        GameRecord("final", "cup", "2030-01-02", ("ann", "bob"), moves, judge.outcome(position), 5, ("a",))
    )


def test_records_are_read_back() -> None:
    judge = judge_of("tic_tac_toe")
    texts = ["x(1,1)", "o(0,0)", "x(0,1)", "o(0,2)", "x(2,1)"]
    text = record(judge, texts)
    content = json.loads(text)
    assert (content["game"], content["result"], content["winners"]) == ("tic_tac_toe()", "player 1 wins", [1])
    assert (content["players"], content["event"], content["seed"]) == (["ann", "bob"], "cup", 5)
    assert content["moves"][1] == {
        "seat": 2,
        "move": "o(0,0)",
        "seconds": 0.25,
        "values": {"2": 0.625},
        "comment": "hm",
    }
    assert names_and_moves(judge, text.encode()) == [("final", texts)]
    assert names_and_moves(judge, f"[{text}, {record(judge, [])}]".encode()) == [
        ("final", texts),
        ("final", []),
    ]


def test_records_written_by_hand_need_the_game_and_the_moves() -> None:
    content = b'{"game": "breakthrough( columns=5, rows=6 )", "moves": ["a5a4", {"move": "b2b3"}]}'
    judge = judge_of("breakthrough(rows=6,columns=5)")
    assert names_and_moves(judge, content) == [("", ["a5a4", "b2b3"])]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"7", "game 1: '7' is not a record"),
        (b'[{"game": "othello", "moves": []}, {"moves": []}]', "game 2: the text"),
        (b'{"game": "othello", "moves": [7]}', "game 1: move 1 is not text: '7'"),
        (b'{"game": "go", "moves": []}', r"game 1: it is one of 'go', not of 'othello\(\)'"),
        (b'{"game": "no game", "moves": []}', "game 1: it is one of 'no game'"),
        (b'{"game": "connect_four(rows=+0)", "moves": []}', r"game 1: it is one of 'connect_four\("),
        (b'{"game": "othello(", "moves": []}', r"game 1: it is one of 'othello\('"),
    ],
)
def test_a_file_that_is_not_a_record_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(UnreadableRecordError, match=why):
        names_and_moves(judge_of("othello"), content)


def test_engines_get_the_game_and_action_strings() -> None:
    judge = judge_of("breakthrough(rows=6, columns=5)")
    words = judge.dialogue("gtp")
    assert words is not None and judge.dialogue("morse") is None
    assert words.setup() == ("game breakthrough(columns=5,rows=6)", "clear_board")
    assert [words.colour(seat) for seat in (1, 2)] == ["b", "w"]
    assert words.vertex(judge.start(0).moves[0]) == judge.start(0).moves[0].text
    assert words.handicap() is None and words.read_score("B+3") is None
