"""Lines played again by referees that game ids lead to."""

import random
from typing import Any

import pytest

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.spec import GameSpec
from referees.api import Referee, referee
from web.replay import GameReplay, GameStart, NoBoardError, find_referee, replay, seat_names

VARIANTS: list[tuple[str, dict[str, object]]] = [
    ("go", {"board_size": 9, "komi": 7.5}),
    ("go", {"board_size": 9, "komi": 0.5, "handicap": 4}),
    ("hex", {"board_size": 5}),
    ("hex", {"board_size": 4, "columns": 6}),
    ("hex", {"board_size": 5, "swap": True}),
    ("draughts", {"variant": "english"}),
    ("draughts", {"variant": "international"}),
    ("draughts", {"variant": "brazilian"}),
    ("draughts", {"variant": "russian"}),
    ("diplomacy", {}),
    ("diplomacy", {"map": "straits"}),
    ("warlight", {}),
    ("warlight", {"map": "small_world"}),
    ("openspiel", {"game": "tic_tac_toe"}),
    ("openspiel", {"game": "connect_four"}),
    ("openspiel", {"game": "othello"}),
    ("openspiel", {"game": "breakthrough(rows=6,columns=6)"}),
    ("openspiel", {"game": "mancala"}),
]


def judge_of(name: str, settings: dict[str, object]) -> Referee[Any, Any]:
    return referee(name).from_settings(settings)


@pytest.mark.parametrize(("name", "settings"), VARIANTS, ids=str)
def test_a_game_id_leads_back_to_a_referee_of_the_same_game(name: str, settings: dict[str, object]) -> None:
    spec = judge_of(name, settings).spec()
    judge = find_referee(spec)

    assert judge is not None and judge.name == name and judge.spec() == spec


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("go", {"board_size": 9, "komi": 0.5, "handicap": 4, "handicap_style": "free"}),
        ("warlight", {"luck": 0.16}),
        ("openspiel", {"game": "misere(game=tic_tac_toe())"}),
    ],
    ids=str,
)
def test_an_id_that_does_not_tell_its_settings_leads_nowhere(name: str, settings: dict[str, object]) -> None:
    assert find_referee(judge_of(name, settings).spec()) is None


@pytest.mark.parametrize(
    ("name", "settings"),
    [case for case in VARIANTS if case[0] in ("go", "hex", "draughts") or "game" in case[1]],
    ids=str,
)
def test_replayed_lines_have_the_boards_of_the_game(name: str, settings: dict[str, object]) -> None:
    judge, chance = judge_of(name, settings), random.Random(f"{name} {settings}")
    spec, position = judge.spec(), judge.start(0)
    moves: list[str] = []
    for _ in range(25):
        if spec.geometry.size == 1 or not (seats := judge.to_move(position)):
            break
        known = replay(spec, tuple(moves), 1)
        assert known.board == judge.board(position, 1) and known.mover == seats[0]
        move = judge.random_move(position, seats[0], chance)
        text = judge.opening_move(position, seats[0], move)
        assert text in known.legal
        before, position = judge.board(position, 1), judge.play(position, {seats[0]: move})
        moves.append(text)
        after = replay(spec, tuple(moves), 1)
        assert after.last.changed == {
            cell
            for cell, states in enumerate(zip(before.states, after.board.states, strict=True))
            if len({*states}) > 1
        }


def test_the_end_of_a_game_is_named() -> None:
    spec = judge_of("go", {"board_size": 5, "komi": 0.5}).spec()
    over = replay(spec, ("pass", "pass"), 1)

    assert over.ended and over.mover is None and over.legal == ()
    with pytest.raises(NoBoardError, match=r"Move 3 \(A1\) cannot be played: the game is over"):
        replay(spec, ("pass", "pass", "A1"), 1)


def test_another_game_of_the_same_id_is_not_taken() -> None:
    other = GameSpec("go-9x9", SquareGeometry(5, 5))

    assert find_referee(other) is None and seat_names(other) == ("player 1", "player 2")
    with pytest.raises(NoBoardError, match="No referee for go-9x9"):
        replay(other, (), 1)


@pytest.mark.parametrize(
    "game_id",
    ["go-99x99", "go-0x0", "go-9x9-h9", "hex-99x99", "draughts-none", "diplomacy-none", "warlight-none",
     "openspiel-none", "openspiel-connect_four-rows.0", "openspiel-connect_four-rows.99", "x"],
)  # fmt: skip
def test_ids_of_games_that_there_are_not_lead_nowhere(game_id: str) -> None:
    assert find_referee(GameSpec(game_id, SquareGeometry(5, 5))) is None


def test_a_line_may_not_keep_the_processor_for_long() -> None:
    spec = judge_of("go", {"board_size": 5, "komi": 0.5}).spec()
    with pytest.raises(NoBoardError, match="at most 400"):
        replay(spec, ("pass",) * 401, 1)


def test_a_game_that_is_too_long_is_refused_before_its_first_move() -> None:
    played = GameReplay(GameStart("go", '{"board_size": 5}'))
    moves = [(1 + number % 2, "pass") for number in range(5_001)]

    with pytest.raises(NoBoardError, match="more than 5000 moves"):
        played.add(moves)
    played.add([(1, "A1")])
    with pytest.raises(NoBoardError, match="more than 5000 moves"):
        played.add(moves[1:])
    assert len(played.drawings) == 2
