"""What Python players receive, and may answer."""

import asyncio
import itertools
import reprlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.jobs import AcademyAccess, Fault, GameJob, GameResult, PlayerSetup
from arena.match.game import play
from arena.players.player import Choice
from referees.api import Referee, Termination

HEARD: list[object] = []


class Listener:
    """Plays any legal move, tells a value, and writes down what it hears."""

    def __init__(self, referee: Referee[Any, Any], seat: int, where: str) -> None:
        self._referee, self._seat = referee, seat
        HEARD.append(where)

    def __call__(self, view: Any) -> tuple[str, float]:
        moves = self._referee.legal_moves(view, self._seat)
        assert moves is not None
        return self._referee.move_text(moves[0]), 0.25

    def told(self, seats: Sequence[int], view: Any) -> None:
        HEARD.append((self._seat, seats, self._referee.to_move(view)))

    def ended(self) -> None:
        HEARD.append("ended")


def listener(referee: Referee[Any, Any], seat: int, seed: int, environment: Mapping[str, str]) -> Listener:
    return Listener(referee, seat, environment.get("ACADEMY_CONTEST", "nowhere"))


class Deaf(Listener):
    """Crashes when moves are announced to it."""

    def told(self, seats: Sequence[int], view: Any) -> None:
        raise KeyError("moves")


def deaf(referee: Referee[Any, Any], seat: int, seed: int) -> Listener:
    return Deaf(referee, seat, "deaf")


class UnspeakableError(Exception):
    """Has no text."""

    def __str__(self) -> str:
        raise ValueError("not to be shown")


class Leaving(Listener):
    """Ends the program, as it thinks, when it is to move."""

    def __call__(self, view: Any) -> tuple[str, float]:
        raise LEAVING[self._where]

    def __init__(self, referee: Referee[Any, Any], seat: int, where: str) -> None:
        super().__init__(referee, seat, where)
        self._where = where


LEAVING: dict[str, BaseException] = {
    "exits": SystemExit(0),
    "unspeakable": UnspeakableError(),
    "cancelled": asyncio.CancelledError(),
}


def exits(referee: Referee[Any, Any], seat: int, seed: int) -> Leaving:
    return Leaving(referee, seat, "exits")


def unspeakable(referee: Referee[Any, Any], seat: int, seed: int) -> Leaving:
    return Leaving(referee, seat, "unspeakable")


def cancelled(referee: Referee[Any, Any], seat: int, seed: int) -> Leaving:
    return Leaving(referee, seat, "cancelled")


def exits_at_once(referee: Referee[Any, Any], seat: int, seed: int) -> Leaving:
    raise SystemExit("no licence")


class Numbered(Listener):
    """Calls its number its name."""

    name = 5


def numbered(referee: Referee[Any, Any], seat: int, seed: int) -> Numbered:
    return Numbered(referee, seat, "numbered")


class Nameless(Listener):
    """Crashes everybody who wants its name."""

    @property
    def name(self) -> str:
        raise UnspeakableError


def nameless(referee: Referee[Any, Any], seat: int, seed: int) -> Nameless:
    return Nameless(referee, seat, "nameless")


ANSWERS: dict[str, object] = {}


def answering(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], object]:
    return lambda view: ANSWERS["answer"]


def game(first: str, academy: AcademyAccess | None = None) -> GameResult:
    HEARD.clear()
    players = tuple(
        PlayerSetup(name, (f"tests.arena.players.test_python_callable:{name}",), protocol="python")
        for name in (first, "listener")
    )
    return play(GameJob("0_0", "hex", {"board_size": 2}, players, seed=1, academy=academy))


def test_python_players_hear_which_seats_moved_and_that_the_game_is_over() -> None:
    result = game("listener")
    assert HEARD[:2] == ["nowhere", "nowhere"] and HEARD[-2:] == ["ended", "ended"]
    turns = HEARD[2:-2]
    # Turn by turn only the other one needs the announcement; after the last move nobody is to move.
    assert turns[0] == (2, (1,), (2,)) and turns[1] == (1, (2,), (1,))
    assert len(turns) == len(result.moves)


def test_a_factory_that_wants_the_environment_is_given_what_programs_find_there() -> None:
    game("listener", AcademyAccess("unix:nowhere", "cup/0_0/1", ("ticket 1", "ticket 2"), None))
    assert HEARD[:2] == ["cup/0_0/1", "cup/0_0/1"]


def test_a_text_with_a_value_is_a_move_with_an_expected_value() -> None:
    assert {tuple(move.values.items()) for move in game("listener").moves} == {((1, 0.25),), ((2, 0.25),)}


def foreseeing(referee: Any, seat: int, seed: int) -> Any:
    """Plays the first legal move and tells what it expected before it and after it."""
    return lambda view: Choice(
        referee.move_text(referee.legal_moves(view, seat)[0]), value=0.5, value_before=0.25 * seat
    )


def test_a_choice_may_tell_the_value_before_the_move_too() -> None:
    moves = game("foreseeing").moves
    assert {(move.seat, move.value_before) for move in moves} == {(1, 0.25), (2, None)}


def boastful(referee: Any, seat: int, seed: int) -> Any:
    """Plays the first legal move and expects more than a win."""
    return lambda view: Choice(referee.move_text(referee.legal_moves(view, seat)[0]), value=1.0000001)


def boastful_at_last(referee: Any, seat: int, seed: int) -> Any:
    """Plays the first legal move and expects more than a win with its 52nd."""
    turns = itertools.count(1)
    return lambda view: Choice(
        referee.move_text(referee.legal_moves(view, seat)[0]), value=7.0 if next(turns) == 52 else 0.5
    )


def test_values_that_are_not_shares_of_the_win_are_left_out_with_a_limited_number_of_warnings_each() -> None:
    boasters = tuple(
        PlayerSetup(name, (f"tests.arena.players.test_python_callable:{name}",), protocol="python")
        for name in ("boastful", "boastful_at_last")
    )
    played = play(GameJob("0_0", "hex", {"board_size": 11}, boasters, seed=1))
    assert played.moves[0].values == {}
    moves = sum(move.seat == 1 for move in played.moves)
    assert moves > 51
    assert list(played.warnings[49:]) == [
        "player boastful: the value, 1.0000001, is not from 0 to 1",
        f"player boastful: {moves - 50} more such warnings",
        "player boastful_at_last: the value, 7.0, is not from 0 to 1",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("deaf", "player deaf: crashed with KeyError: 'moves'"),
        ("exits", "player exits: crashed with SystemExit: 0"),
        ("unspeakable", "player unspeakable: crashed with UnspeakableError: its text cannot be shown"),
        ("cancelled", "player cancelled: crashed with CancelledError"),
    ],
)
def test_player_that_crashes_or_ends_the_program_loses_the_game(name: str, shown: str) -> None:
    result = game(name)
    assert result.outcome is not None and result.outcome.winners == (2,)
    assert result.usage[0].fault is Fault.DISCONNECTED and result.usage[0].remark.startswith(shown)


def test_a_player_whose_name_is_not_text_has_that_of_its_factory() -> None:
    result = game("numbered")
    assert result.outcome is not None and result.usage[0].engine_name == "numbered"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nameless", "nameless: UnspeakableError"),
        ("exits_at_once", "exits_at_once: SystemExit: no licence"),
        ("missing", "test_python_callable:missing"),
        ("HEARD", "test_python_callable:HEARD"),
    ],
)
def test_a_player_that_cannot_be_made_or_named_makes_the_game_void(name: str, why: str) -> None:
    assert why in game(name).void_reason


class Unprintable:
    """Crashes every program that wants to show it."""

    def __repr__(self) -> str:
        raise ValueError("not to be shown")


@pytest.mark.parametrize(
    "answer",
    [
        7,
        b"a1",
        ["a1", 0.5],
        (),
        ("a1",),
        ("a1", 0.5, "why"),
        (7, 0.5),
        ("a1", "much"),
        ("a1", float("nan")),
        ("a1", 10**400),
        Choice(7),  # type: ignore[arg-type]
        Choice("a1", value="much"),  # type: ignore[arg-type]
        Choice("a1", comment=7),  # type: ignore[arg-type]
        pytest.param(Unprintable(), id="what cannot be shown"),
    ],
    ids=lambda answer: reprlib.repr(answer),
)
def test_a_player_whose_answer_is_not_a_move_forfeits(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, "answer", answer)
    result = game("answering")
    assert result.outcome is not None and result.outcome.winners == (2,)
    assert result.usage[0].fault is Fault.ILLEGAL_MOVE
    assert "attempted ill-formed move " in result.usage[0].remark


@pytest.mark.parametrize("answer", ["a1", ("a1", None), ("a1", 1), Choice("a1", comment="a corner")])
def test_a_move_may_be_answered_in_several_ways(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "answer", answer)
    assert game("answering").moves[0].text == "a1"


@pytest.mark.parametrize(
    ("factory", "line"),
    [
        ("def clumsy(referee, seat, seed):\n    return lambda view: {}['move']\n", 2),
        ("def clumsy(referee, seat, seed):\n\n    return [][seat]\n", 3),
        ("import json\n\n\n\njson.loads('')\n", 5),
    ],
    ids=["move", "factory", "import"],
)
def test_a_player_that_fails_learns_the_line_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factory: str, line: int
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / f"clumsy_{line}.py").write_text(factory)
    player = PlayerSetup(
        "one", (f"clumsy_{line}:clumsy",), protocol="python", working_directory=str(tmp_path)
    )
    result = play(GameJob("0_0", "hex", {"board_size": 2}, (player, player), seed=1))
    assert f"(clumsy_{line}.py, line {line})" in result.void_reason + result.usage[0].remark


def test_a_module_is_found_in_the_players_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_the_control_file.py").write_text(
        "def resigning(referee, seat, seed):\n    return lambda view: None\n"
    )
    player = PlayerSetup(
        "one",
        ("beside_the_control_file:resigning",),
        protocol="python",
        working_directory=str(tmp_path),
    )
    result = play(GameJob("0_0", "hex", {"board_size": 2}, (player, player), seed=1))
    assert result.outcome is not None and result.outcome.termination is Termination.RESIGNATION
