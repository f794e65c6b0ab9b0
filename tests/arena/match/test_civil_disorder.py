"""Games of seven that go on when players fail: the referee moves for those that are gone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from arena.control.plans import GameSettings
from arena.jobs import Fault, GameJob, GameResult, PlayerSetup
from arena.lobby.server import OpenLobby
from arena.match.game import GameProgress, play, seatings
from arena.match.recorder import GameRecorder
from arena.match.verdicts import Departures, Loss
from arena.results import schema as saga
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.game_settings import GameSetting
from arena.results.series import PlannedGame
from referees.api import Termination
from referees.diplomacy import Diplomacy
from tests.arena.diplomacy_bot import new_game
from tests.arena.lobby.rooms import DialledIn, open_lobby, remote
from tests.arena.results.examples import heading, play_game, registered

BOT = Path(__file__).parents[1] / "diplomacy_bot.py"
REPOSITORY = Path(__file__).parents[3]
POWERS = ("AUS", "ENG", "FRA", "GER", "ITA", "RUS", "TUR")
FRANCE = 3
SETTINGS = {"year_limit": 3}


def game_of(players: tuple[PlayerSetup, ...], **settings: Any) -> GameJob:
    return GameJob("0_0", "diplomacy", SETTINGS | settings, players, seed=1, move_limit=2000)


@contextmanager
def dialled_in(lobby: OpenLobby) -> Iterator[subprocess.Popen[bytes]]:
    """A process for France, and the other powers in threads."""
    command = [sys.executable, str(BOT), lobby.address, "FRA"]
    for code in POWERS:
        if code != "FRA":
            DialledIn(lobby, code, new_game)
    program = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(REPOSITORY)})
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def entered(folder: Path, players: tuple[PlayerSetup, ...], result: GameResult) -> list[Any]:
    """SAGA's rows of the game's players, by seat."""
    setting = GameSetting(GameSettings("diplomacy", SETTINGS), "diplomacy-standard", POWERS)
    with closing(ResultsDatabase.open(sqlite_url(folder / "results.sqlite"))) as database:
        series = registered(database, heading(players, setting=setting))
        assert play_game(series, PlannedGame("seven", players), result)
        return list(database.rows(select(saga.PLAYER).order_by(saga.PLAYER.c.PowerId)))


def test_a_power_whose_process_is_killed_is_in_civil_disorder_and_the_game_is_finished(
    tmp_path: Path,
) -> None:
    with open_lobby(dict.fromkeys(POWERS)) as lobby, dialled_in(lobby) as program:
        made = 0

        def kill_after_some_moves(progress: GameProgress) -> None:
            nonlocal made
            made += len(progress.moves)
            if made >= 14 and program.returncode is None:
                program.kill()
                program.wait()

        players = tuple(remote(lobby, code, reconnect_seconds=0.2) for code in POWERS)
        result = play(game_of(players), on_progress=kill_after_some_moves)
        assert program.poll() == -signal.SIGKILL

    assert result.outcome is not None, result.void_reason
    assert (result.outcome.termination, result.outcome.rounds) == (Termination.FROZEN, 3)
    assert [usage.fault for usage in result.usage] == [
        Fault.DISCONNECTED if seat == FRANCE else Fault.NONE for seat in range(1, 8)
    ]
    assert result.usage[FRANCE - 1].remark in result.warnings[0]
    assert result.warnings[1] == "FRA failed: from now on the referee moves for France"

    of_france = [move for move in result.moves if move.seat == FRANCE]
    own = sum(not move.stand_in for move in of_france)
    assert 0 < own < len(of_france)
    assert all(move.stand_in and move.text.startswith("NONE") for move in of_france[own:])
    assert not any(move.stand_in for move in result.moves if move.seat != FRANCE)

    # The record holds the orders of all seven to the end, and is played again by the referee.
    judge = Diplomacy.from_settings(SETTINGS)
    ((_, moves, *_),) = judge.read_records(result.record.encode())
    assert moves == [move.text for move in result.moves]
    assert json.loads(result.record)["result"] == result.outcome.summary
    phases = json.loads(result.record)["phases"]
    disorder = [turn for turn, phase in enumerate(phases) if "FRA" in phase["moves"]][own]

    rows = entered(tmp_path, players, result)
    assert [(row.Problem, row.Disorder) for row in rows] == [
        (2, disorder) if seat == FRANCE else (0, None) for seat in range(1, 8)
    ]
    assert [row.Supplies for row in rows] == list(result.outcome.points)


def random_orders(judge: Diplomacy, seat: int, seed: int) -> Callable[[Any], str | None]:
    chance = random.Random(seat)
    return lambda view: judge.move_text(judge.random_move(view, seat, chance))


def failing(answer: Callable[[], str | None]) -> Callable[..., Callable[[Any], str | None]]:
    """Players that hold in the first phase and fail in the second."""

    def factory(judge: Diplomacy, seat: int, seed: int) -> Callable[[Any], str | None]:
        turns = iter(range(100))
        return lambda view: answer() if next(turns) else "NONE"

    return factory


def _crash() -> str:
    raise ZeroDivisionError("a bug")


def _sleep() -> str:
    time.sleep(3.2)
    return "NONE"


crashing, resigning = failing(_crash), failing(lambda: None)
late, illegal, babbling = failing(_sleep), failing(lambda: "A VIE - LON"), failing(lambda: "wet paint")


def in_process(name: str, factory: str, **setup: Any) -> PlayerSetup:
    return PlayerSetup(name, (f"{__name__}:{factory}",), protocol="python", **setup)


def seven(*factories: str) -> tuple[PlayerSetup, ...]:
    named = [*factories, *["random_orders"] * (len(POWERS) - len(factories))]
    limits: dict[str, dict[str, Any]] = {"late": {"move_seconds": 3.0}}
    return tuple(
        in_process(code, factory, **limits.get(factory, {}))
        for code, factory in zip(POWERS, named, strict=True)
    )


@pytest.mark.parametrize(
    ("factory", "fault", "row", "says"),
    [
        ("crashing", Fault.DISCONNECTED, (2, 1), "crashed with ZeroDivisionError: a bug"),
        ("late", Fault.LATE, (1, 1), "above 3 s"),
        ("illegal", Fault.ILLEGAL_MOVE, (None, None), "attempted illegal move A VIE - LON"),
        ("babbling", Fault.ILLEGAL_MOVE, (None, None), "attempted ill-formed move 'wet paint'"),
        ("resigning", Fault.NONE, (0, None), "AUS resigned"),
    ],
)
def test_cause_of_any_failure_is_kept_and_the_others_play_on(
    factory: str, fault: Fault, row: tuple[int | None, int | None], says: str, tmp_path: Path
) -> None:
    players = seven(factory)
    result = play(game_of(players, aoa=False))
    assert result.outcome is not None
    assert result.outcome.termination is Termination.FROZEN
    assert [usage.fault for usage in result.usage] == [fault, *[Fault.NONE] * 6]
    assert says in "\n".join(result.warnings)
    assert "from now on the referee moves for Austria" in result.warnings[-1]
    assert [move.stand_in for move in result.moves if move.seat == 1][:3] == [False, True, True]
    first, *others = entered(tmp_path, players, result)
    assert (first.Problem, first.Disorder) == row
    assert {(other.Problem, other.Disorder) for other in others} == {(0, None)}


def test_an_order_that_cannot_be_carried_out_is_not_a_failure_where_such_are_accepted() -> None:
    result = play(game_of(seven("illegal"), aoa=True))
    assert result.usage[0].fault is Fault.NONE
    assert not any(move.stand_in for move in result.moves)


@pytest.mark.threat("unproven_results")
def test_the_last_player_plays_on_alone() -> None:
    result = play(game_of(seven(*["crashing"] * 6)))
    assert result.outcome is not None
    assert result.outcome.termination is Termination.FROZEN
    assert len(result.warnings) == 12


def test_a_game_that_everybody_has_left_is_void_and_says_why() -> None:
    result = play(game_of(seven(*["crashing", "resigning"] * 3, "crashing")))
    assert result.outcome is None
    assert result.void_reason.startswith("nobody plays any more: forfeit by AUS: ")
    assert result.void_reason.count("ZeroDivisionError") == 4
    assert len(result.moves) == 7, "one phase was played"
    assert [usage.fault for usage in result.usage] == [
        *[Fault.DISCONNECTED, Fault.NONE] * 3,
        Fault.DISCONNECTED,
    ]


def test_a_game_that_all_resign_is_played_and_has_no_result() -> None:
    result = play(game_of(seven(*["resigning"] * 7)))
    assert result.outcome is not None
    assert (result.outcome.winners, result.outcome.summary) == ((), "?")
    assert result.outcome.points == (3.0, 3.0, 3.0, 3.0, 3.0, 4.0, 3.0)
    assert result.outcome.rounds == 1


def test_no_player_is_left_when_the_last_one_is_eliminated_later() -> None:
    judge = Diplomacy.from_settings({})
    job = game_of(seven())
    start = judge.start(0)
    seated = seatings(job, judge, start, None, None)
    gone = Departures(judge, seated, GameRecorder(job, judge, seated, start))
    assert not gone.all_left(start)
    for seat in range(1, 7):
        assert gone.note_loss(Loss(seat, Termination.FORFEIT, "crashed"), start)
    assert not gone.all_left(start)
    later = replace(start, eliminated=(*[None] * 6, 5))
    assert gone.all_left(later)
    assert gone.outcome(later).winners == ()


def test_a_game_of_two_in_which_both_fail_at_once_is_void() -> None:
    players = (in_process("one", "crashing"), in_process("two", "crashing"))
    result = play(game_of(players, map="straits"))
    assert result.outcome is None
    assert result.void_reason.startswith("nobody plays any more: forfeit by one: ")


def test_in_a_game_of_two_the_other_wins() -> None:
    players = (in_process("one", "crashing"), in_process("two", "random_orders"))
    result = play(game_of(players, map="straits"))
    assert result.outcome is not None
    assert (result.outcome.winners, result.outcome.termination) == ((2,), Termination.FORFEIT)
    assert not any(move.stand_in for move in result.moves)
