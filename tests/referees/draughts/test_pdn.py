"""Records: PDN, written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.api import (
    GameRecord,
    Outcome,
    PlayedMove,
    Termination,
    UnreadableMoveError,
    UnreadableRecordError,
)
from referees.draughts import VARIANTS, Draughts, pdn
from tests.referees.draughts.placing import game
from tests.referees.reading import names_and_moves


def played(judge: Draughts, choices: list[int]) -> list[PlayedMove]:
    """The moves of a game in which each choice takes one of the legal moves."""
    position, moves = judge.start(0), []
    for choice in choices:
        if not (seats := judge.to_move(position)):
            break
        legal = judge.legal_moves(position, seats[0])
        move = legal[choice % len(legal)]
        moves.append(PlayedMove(seats[0], move, judge.move_text(move)))
        position = judge.play(position, {seats[0]: move})
    return moves


def record(judge: Draughts, moves: list[PlayedMove], outcome: Outcome | None = None, **more: object) -> str:
    fields: dict[str, object] = {
        "game_name": "cup 1_2",
        "event": "cup",
        "date": "2026-01-31",
        "players": ("anna", "bert"),
        "seed": 0,
    }
    return judge.record(GameRecord(**(fields | {"moves": moves, "outcome": outcome} | more)))  # type: ignore[arg-type]


words = st.text(st.characters(codec=None), max_size=40)


@given(
    variant=st.sampled_from(sorted(VARIANTS)),
    choices=st.lists(st.integers(0, 1000), max_size=80),
    name=words,
    comment=words,
    remark=words,
)
def test_a_written_record_can_be_read(
    variant: str, choices: list[int], name: str, comment: str, remark: str
) -> None:
    judge = game(variant)
    moves = [
        PlayedMove(move.seat, move.move, move.text, values={move.seat: 0.5}, comment=comment)
        for move in played(judge, choices)
    ]
    text = record(judge, moves, game_name=name, remarks=(remark,), final_remarks=(remark,))
    ((read_name, read_moves, *_),) = judge.read_records(text.encode())
    assert read_moves == [move.text for move in moves]
    assert read_name == " ".join(name.encode("utf-8", "replace").decode().split())


def test_a_record_has_tags_moves_and_comments() -> None:
    judge = game("english")
    first, second = played(judge, [0, 0])
    first = PlayedMove(1, first.move, first.text, values={1: 0.25, 2: 0.5}, comment="why {not}?")
    outcome = judge.won_by(2, Termination.RESIGNATION)
    lines = record(judge, [first, second], outcome, remarks=("a", "b"), final_remarks=("end",)).splitlines()
    assert '[White "bert"]' in lines and '[Black "anna"]' in lines
    assert (
        '[Result "1-0"]' in lines and '[GameType "21,B,8,8,N1,0"]' in lines and '[Date "2026.01.31"]' in lines
    )
    assert lines[-1] == ("{a b} 1. 9-13 {why (not)? expected: Black 0.250, White 0.500} 21-17 {end} 1-0")


@pytest.mark.parametrize(
    ("variant", "winners", "result"),
    [
        ("english", (1,), "0-1"),
        ("english", (2,), "1-0"),
        ("international", (1,), "1-0"),
        ("international", (2,), "0-1"),
        ("russian", (1, 2), "1/2-1/2"),
        ("english", (), "*"),
    ],
)
def test_results_have_whites_points_first(variant: str, winners: tuple[int, ...], result: str) -> None:
    text = record(game(variant), [], Outcome(winners, Termination.UNKNOWN, "?"))
    assert f'[Result "{result}"]' in text
    assert text.endswith(f"\n{result}\n")


FOREIGN = """[Event "Ballot 12"]
[Black "M. Tinsley"]
[White "Chinook \\"the program\\""]
[Result "1/2-1/2"]
[FEN "B:W21-32:B1-12"]

1. 9-13! {a comment with 1. 2-3 in it} 22-18 (1... 22-17 2. 13x22 (2. 1-2 3-4) ; not so
25x18) 2. 10-14 $3 18x9
3. 5x14 1/2-1/2
[Event "next"]
1. 11-15 2-0

1. 12-16 *
"""


def test_files_of_others_are_read() -> None:
    assert names_and_moves(game("english"), FOREIGN.encode()) == [
        ("Ballot 12", ["9-13", "22-18", "10-14", "18x9", "5x14"]),
        ("next", ["11-15"]),
        ("", ["12-16"]),
    ]


def test_a_game_without_moves_and_result_is_a_game_of_its_own() -> None:
    content = b'[Event "adjourned"]\n[White "ann"]\n\n[Event "next"]\n1. 11-15 *'
    assert names_and_moves(game("english"), content) == [("adjourned", []), ("next", ["11-15"])]


def test_files_of_too_many_games_are_refused_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdn, "MAX_GAMES", 2)
    assert len(game("english").read_records(b"1. 11-15 *\n" * 2)) == 2
    for content in (b"1. 11-15 *\n" * 3, b"1. 11-15 *\n" * 2 + b"1. 11-15"):
        with pytest.raises(UnreadableRecordError, match="3 games, more than 2"):
            names_and_moves(game("english"), content)


def test_an_answer_is_read_to_its_end() -> None:
    judge = game("english")
    assert judge.move_text(judge.read_move(judge.start(0), 1, f"11-15{' ' * 50}")) == "11-15"
    with pytest.raises(UnreadableMoveError, match=r"'11-15 .*' is not a move"):
        judge.read_move(judge.start(0), 1, f"11-15{' ' * 300}and rubbish")


def test_files_older_than_utf_8_are_read() -> None:
    content = '[Event "Köln"]\n1. 32-28 18x23 *'.encode("latin-1")
    assert names_and_moves(game("international"), content) == [("Köln", ["32-28", "18x23"])]


def test_russian_moves_have_letters_and_may_have_colons() -> None:
    assert names_and_moves(game("russian"), b"1. c3-d4 b6:a5 2. A1xC3 0-2") == [
        ("", ["c3-d4", "b6xa5", "a1xc3"])
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no game in it"),
        (b"(GM[1])", r"line 1: .GM"),
        (b'[GameType "20"]\n1. 32-28 *', r"game 1: it is of type 20, not 21 \(english draughts\)"),
        (b'[FEN "W:W21-32:B1-12"] *', "game 1: its first position, 'W:W21-32:B1-12', is another"),
        (b'[FEN "B:WK21-32:B1-12"] *', "its first position"),
        (b'[FEN "nonsense"] *', "its first position, 'nonsense', is another"),
        (b"1. 11-15 *\n1. 11-15 33-28 *", "game 2: ply 2: '33-28' is not a move"),
        (b"1. 11-15\n\nresigns", "line 3: 'resigns' is not PDN"),
        (b"1. 11-15 (1. 10-15 *", r"a variation's '\(' is never closed"),
        (b"1. 11-15 )", r"line 1: a '\)' closes nothing"),
        (b"\x00\xff", "is not PDN"),
    ],
)
def test_a_file_that_is_not_a_record_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(UnreadableRecordError, match=message):
        names_and_moves(game("english"), content)


@given(st.binary(max_size=200) | st.text('[]{}();"\\ 1-0x*/.$a\n', max_size=80).map(str.encode))
def test_nonsense_is_read_or_refused(content: bytes) -> None:
    try:
        names_and_moves(game("english"), content)
    except UnreadableRecordError as error:
        assert str(error)


def test_damage_in_a_file_leaves_its_sound_games_usable() -> None:
    sound = '[Event "cup"]\n1. 11-15 *\n'
    content = (
        "% exported\n" + sound + sound.replace("15", "15 @@") + sound.replace("15", "15 (1. 10-15") + sound
    )
    assert [read.fault for read in game("english").read_records(content.encode())] == [
        "",
        "line 5: '@@' is not PDN",
        "a variation's '(' is never closed",
        "",
    ]
