"""Monte Carlo tree search over any referee."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from clients.bots.search_game import SearchGame, UnsuitableGameError, make_search_game
from clients.bots.strength import Strength
from clients.bots.thinking import Experience, Thinker, no_advice
from clients.bots.tree_search import TreeSearchThinker
from referees.api import Referee
from referees.draughts import Draughts
from referees.go import PASS, Go
from referees.hex import Hex

pytest.importorskip("pyspiel")
from referees.openspiel import OpenSpiel

GAMES: dict[str, Referee[Any, Any]] = {
    "go": Go.from_settings({"board_size": 5, "komi": 0.5}),
    "hex": Hex.from_settings({"board_size": 4}),
    "draughts": Draughts.from_settings({"variant": "english"}),
    "tic-tac-toe": OpenSpiel.from_settings({"game": "tic_tac_toe"}),
}


def after(referee: Referee[Any, Any], *moves: str) -> Any:
    position = referee.start(0)
    for text in moves:
        seat = referee.to_move(position)[0]
        position = referee.play(position, {seat: referee.read_move(position, seat, text)})
    return position


def winners(referee: Referee[Any, Any], players: Mapping[int, Thinker[Any, Any, Any]]) -> tuple[int, ...]:
    position = referee.start(0)
    for _ in range(300):
        if not (to_move := referee.to_move(position)):
            break
        move = players[to_move[0]].think(referee, position).candidates[0].move
        position = referee.play(position, {to_move[0]: move})
    outcome = referee.outcome(position) or referee.adjudicate(position)
    return outcome.winners if outcome else ()


@pytest.mark.parametrize("name", GAMES)
def test_a_random_game_ends_with_a_score_for_each_seat(name: str) -> None:
    craft = make_search_game(GAMES[name], random.Random(1))
    for _ in range(5):
        scores = craft.playout(GAMES[name].start(0)).scores
        assert sum(scores) == 1.0
        assert len(scores) == 2


def test_moves_played_in_a_random_game_are_legal_ones_of_their_seat() -> None:
    referee = GAMES["hex"]
    black, white = make_search_game(referee, random.Random(1)).playout(referee.start(0)).played
    assert len(black) == len(white) == 8
    assert set(black) | set(white) == set(referee.legal_moves(referee.start(0), 1) or ())


@pytest.mark.parametrize(
    ("name", "moves", "best"),
    [
        ("tic-tac-toe", ("x(1,1)", "o(0,0)", "x(0,1)", "o(0,2)"), "x(2,1)"),
        ("tic-tac-toe", ("x(1,1)", "o(0,0)", "x(0,1)"), "o(2,1)"),
        ("hex", ("b1", "a1", "b2", "a2", "b3", "a3"), "b4"),
    ],
)
def test_a_win_is_taken_and_the_opponents_prevented(name: str, moves: tuple[str, ...], best: str) -> None:
    referee = GAMES[name]
    thought = TreeSearchThinker(300, random.Random(2)).think(referee, after(referee, *moves))
    assert best in {referee.move_text(candidate.move) for candidate in thought.candidates[:2]}
    assert 0.0 <= thought.value <= 1.0


def test_where_the_opponent_has_passed_and_is_behind_a_pass_wins() -> None:
    referee = GAMES["go"]
    thought = TreeSearchThinker(5, random.Random(1)).think(referee, after(referee, "C3", "pass"))
    assert [candidate.move for candidate in thought.candidates] == [PASS]
    assert thought.value > 0.5


@pytest.mark.parametrize("name", ["go", "hex"])
def test_tree_search_beats_random_moves(name: str) -> None:
    strong = Strength("monte-carlo", playouts=60).thinker(GAMES[name], random.Random(1))
    weak = Strength("random").thinker(GAMES[name], random.Random(2))
    won = [winners(GAMES[name], {1: strong, 2: weak}) for _ in range(4)].count((1,))
    won += [winners(GAMES[name], {1: weak, 2: strong}) for _ in range(4)].count((2,))
    assert won >= 7


def test_seeds_repeat_thoughts() -> None:
    referee = GAMES["hex"]
    first, second = (
        TreeSearchThinker(30, random.Random(7)).think(referee, referee.start(0)) for _ in range(2)
    )
    assert first == second


def test_experience_is_asked_for_once_and_counts_as_games_would() -> None:
    referee = GAMES["hex"]
    corner = referee.read_move(referee.start(0), 1, "a1")
    values: list[float] = []

    def praise(value: float, moves: Sequence[Any]) -> Mapping[Any, Experience]:
        values.append(value)
        return {
            corner: Experience(1.0, 1000.0),
            **{move: Experience(0.5, 1000.0) for move in moves if move != corner},
        }

    thinker = TreeSearchThinker(100, random.Random(3))
    plain = thinker.think(referee, referee.start(0))
    swayed = thinker.think(referee, referee.start(0), praise)
    assert len(values) == 1
    assert 0.0 < values[0] < 1.0
    assert plain.candidates[0].move != corner
    assert swayed.candidates[0].move == corner
    # Its reported value is still the player's own opinion.
    assert swayed.candidates[0].value < 0.9


def test_own_games_outweigh_a_little_experience() -> None:
    referee = GAMES["tic-tac-toe"]
    position = after(referee, "x(1,1)", "o(0,0)", "x(0,1)", "o(0,2)")
    winning = referee.read_move(position, 1, "x(2,1)")
    others = {
        move: Experience(0.9, 3.0) for move in referee.legal_moves(position, 1) or () if move != winning
    }
    others[winning] = Experience(0.1, 3.0)
    thought = TreeSearchThinker(200, random.Random(1)).think(referee, position, lambda value, moves: others)
    assert thought.candidates[0].move == winning


def test_time_ends_a_search() -> None:
    thinker = TreeSearchThinker(1_000_000, random.Random(1), seconds=0.05)
    assert thinker.think(GAMES["hex"], GAMES["hex"].start(0)).candidates


@dataclass
class Ticking:
    """A clock that goes on by one when it is read."""

    now: float = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_the_time_that_advice_takes_is_ones_own() -> None:
    def playouts(lasting: float) -> int:
        clock, values = Ticking(), []

        def advice(value: float, moves: Sequence[Any]) -> Mapping[Any, Experience]:
            clock.now += lasting
            values.append(value)
            return {}

        thinker = TreeSearchThinker(1, random.Random(1), seconds=400.0, clock=clock)
        thinker.think(GAMES["hex"], GAMES["hex"].start(0), advice)
        assert len(values) == 1
        return int(clock.now - lasting)

    assert playouts(0.0) > playouts(100.0) > playouts(1000.0) > 20


def test_what_is_the_same_of_all_moves_changes_nothing() -> None:
    referee = GAMES["hex"]
    moves = referee.legal_moves(referee.start(0), 1) or ()
    same = dict.fromkeys(moves, Experience(0.9, 50.0))
    plain, advised = (
        TreeSearchThinker(60, random.Random(4)).think(referee, referee.start(0), advice)
        for advice in (no_advice, lambda value, moves: same)
    )
    assert plain == advised


def test_what_cannot_be_searched_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    referee = GAMES["draughts"]
    monkeypatch.setattr(type(referee), "legal_moves", lambda self, position, seat: None)
    with pytest.raises(UnsuitableGameError, match="cannot be listed"):
        SearchGame(referee, random.Random(1)).moves(referee.start(0))
