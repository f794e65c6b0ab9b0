"""What Python players are told, and may answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from arena.jobs import AcademyAccess, Fault, GameJob, GameResult, PlayerSetup
from arena.match import play
from referees.api import Referee

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
    """Crashes when it is told of moves."""

    def told(self, seats: Sequence[int], view: Any) -> None:
        raise KeyError("moves")


def deaf(referee: Referee[Any, Any], seat: int, seed: int) -> Listener:
    return Deaf(referee, seat, "deaf")


def game(first: str, academy: AcademyAccess | None = None) -> GameResult:
    HEARD.clear()
    players = tuple(
        PlayerSetup(name, (f"tests.arena.players.test_python_callable:{name}",), protocol="python")
        for name in (first, "listener")
    )
    return play(GameJob("0_0", "hex", {"board_size": 2}, players, seed=1, academy=academy))


def test_they_hear_which_seats_moved_and_that_the_game_is_over() -> None:
    result = game("listener")
    assert HEARD[:2] == ["nowhere", "nowhere"] and HEARD[-2:] == ["ended", "ended"]
    told = HEARD[2:-2]
    # Turn by turn only the other one needs to be told; after the last move nobody is to move.
    assert told[0] == (2, (1,), (2,)) and told[1] == (1, (2,), (1,))
    assert len(told) == len(result.moves)


def test_a_factory_that_wants_the_environment_is_given_what_programs_find_there() -> None:
    game("listener", AcademyAccess("unix:nowhere", "cup/0_0/1", ("ticket 1", "ticket 2"), None))
    assert HEARD[:2] == ["cup/0_0/1", "cup/0_0/1"]


def test_a_text_with_a_value_is_a_move_with_an_expected_value() -> None:
    assert {tuple(move.values.items()) for move in game("listener").moves} == {((1, 0.25),), ((2, 0.25),)}


def test_one_that_crashes_when_it_is_told_of_moves_forfeits() -> None:
    result = game("deaf")
    assert result.outcome is not None and result.outcome.winners == (2,)
    assert result.usage[0].fault is Fault.DISCONNECTED
    assert "crashed with KeyError: 'moves'" in result.usage[0].remark


@pytest.mark.parametrize("name", ["missing", "HEARD"])
def test_what_is_no_factory_makes_the_game_void(name: str) -> None:
    assert "test_python_callable:" + name in game(name).void_reason
