"""Alpha-beta by an evaluation that is fitted to random games."""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import pytest

from clients.bots.alpha_beta import SWAY, AlphaBetaThinker, _sway
from clients.bots.evaluation import Evaluation, fit_evaluation
from clients.bots.search_game import make_search_game
from clients.bots.strength import InvalidStrengthError, Strength
from clients.bots.thinking import Experience
from clients.bots.tree_search import TreeSearchThinker
from referees.draughts import Draughts
from tests.clients.bots.test_tree_search import GAMES, after, winners
from tests.referees.draughts.placing import game, placed

DRAUGHTS = GAMES["draughts"]


def _praise(known: Mapping[Any, Experience], value: float, moves: Sequence[Any]) -> Mapping[Any, Experience]:
    return known


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return fit_evaluation(make_search_game(DRAUGHTS, random.Random(1)))


def test_random_games_tell_that_pieces_are_worth_having(evaluation: Evaluation) -> None:
    soldiers, kings = evaluation.weights[3:]
    assert evaluation.tells
    assert kings > soldiers > 0
    assert 2 < evaluation.width < 10


def test_where_the_board_does_not_tell_who_is_ahead_it_is_not_relied_on() -> None:
    assert not fit_evaluation(make_search_game(GAMES["hex"], random.Random(1)), games=10).tells
    assert isinstance(Strength().thinker(GAMES["tic-tac-toe"], random.Random(1)), TreeSearchThinker)
    assert isinstance(Strength().thinker(GAMES["go"], random.Random(1)), TreeSearchThinker)
    assert isinstance(Strength().thinker(DRAUGHTS, random.Random(1)), AlphaBetaThinker)


def test_the_player_ahead_expects_more(evaluation: Evaluation) -> None:
    craft = make_search_game(DRAUGHTS, random.Random(1))
    # White's 24 takes on 15 and goes on taking on 8; Black can then take back once.
    ahead = after(DRAUGHTS, "11-15", "22-18", "15x22")
    assert DRAUGHTS.to_move(ahead) == (2,)
    moves = len(craft.moves(ahead))
    assert evaluation.value(craft, ahead, moves) < 0.5
    retaken = after(DRAUGHTS, "11-15", "22-18", "15x22", "25x18")
    assert abs(evaluation.value(craft, retaken, len(craft.moves(retaken))) - 0.5) < 0.2


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pruning_changes_no_best_value(evaluation: Evaluation, depth: int) -> None:
    """The value is that of a search of everything."""
    craft = make_search_game(DRAUGHTS, random.Random(1))
    position = after(DRAUGHTS, "11-15", "22-18", "15x22")

    def exhaustive(position: object, left: int) -> float:
        moves = craft.moves(position)
        if left == 0:
            return 0.5 + 0.999 * (evaluation.value(craft, position, len(moves)) - 0.5)
        values = []
        for move in moves:
            following = craft.after(position, move)
            if not craft.mover(following):
                scores = craft.scores(following)
                values.append(0.5 + 0.999 * (scores[craft.mover(position) - 1] - 0.5))
            else:
                values.append(1.0 - exhaustive(following, left - 1))
        return 0.5 + 0.999 * (max(values) - 0.5) if left < depth else max(values)

    thought = AlphaBetaThinker(evaluation, depth, random.Random(1)).think(DRAUGHTS, position)
    assert thought.value == pytest.approx(exhaustive(position, depth))


@pytest.mark.parametrize(("turn", "black", "depth", "value"), [("W", "18", 1, 1.0), ("B", "15", 2, 0.0)])
def test_the_end_of_a_game_is_worth_its_result(
    evaluation: Evaluation, turn: str, black: str, depth: int, value: float
) -> None:
    judge = game("english")
    position = placed(judge, turn, white="22 23", black=black)
    thought = AlphaBetaThinker(evaluation, depth, random.Random(1)).think(judge, position)
    assert thought.value == pytest.approx(value, abs=0.01)


def test_alpha_beta_beats_random_moves(evaluation: Evaluation) -> None:
    strong = AlphaBetaThinker(evaluation, 3, random.Random(1))
    weak = Strength("random").thinker(DRAUGHTS, random.Random(2))
    assert [winners(DRAUGHTS, {1: strong, 2: weak}) for _ in range(2)] == [(1,)] * 2
    assert (1,) not in [winners(DRAUGHTS, {1: weak, 2: strong}) for _ in range(2)]


def test_experience_decides_between_moves_of_like_value(evaluation: Evaluation) -> None:
    position = DRAUGHTS.start(0)
    for move in DRAUGHTS.legal_moves(position, 1) or ():
        thinker = AlphaBetaThinker(evaluation, 1, random.Random(1))
        others = DRAUGHTS.legal_moves(position, 1) or ()
        known = {candidate: Experience(0.9 if candidate == move else 0.3, 1000.0) for candidate in others}
        advice = partial(_praise, known)
        assert thinker.think(DRAUGHTS, position, advice).candidates[0].move == move


@pytest.mark.parametrize(
    ("value", "games", "sway"), [(0.9, 10.0, 0.5), (0.1, 10.0, -0.5), (0.9, 30.0, 0.75), (0.9, 0.0, 0.0)]
)
def test_experience_of_few_games_counts_less(value: float, games: float, sway: float) -> None:
    assert _sway(Experience(value, games), 0.5) == pytest.approx(sway * SWAY)


def test_without_time_a_move_is_chosen_by_one_ply(evaluation: Evaluation) -> None:
    position = after(DRAUGHTS, "11-15", "22-18", "15x22")
    clock = map(float, count(0, 1000)).__next__
    hurried = AlphaBetaThinker(evaluation, 64, random.Random(1), seconds=1.0, clock=clock)
    plain = AlphaBetaThinker(evaluation, 1, random.Random(1))
    assert hurried.think(DRAUGHTS, position).value == plain.think(DRAUGHTS, position).value != 0.5


def test_time_ends_a_search(evaluation: Evaluation) -> None:
    thinker = AlphaBetaThinker(evaluation, 64, random.Random(1), seconds=0.05)
    large = Draughts.from_settings({"variant": "international"})
    assert thinker.think(large, large.start(0)).candidates


def test_the_time_that_advice_takes_is_ones_own(evaluation: Evaluation) -> None:
    now, values = 0.0, []

    def clock() -> float:
        nonlocal now
        now += 1.0
        return now

    def advice(value: float, moves: Sequence[Any]) -> Mapping[Any, Experience]:
        nonlocal now
        values.append(now)
        now += 1000.0
        return {}

    thinker = AlphaBetaThinker(evaluation, 64, random.Random(1), seconds=200.0, clock=clock)
    assert thinker.think(DRAUGHTS, DRAUGHTS.start(0), advice).candidates
    # By half of the time it asks, and has none left then.
    assert len(values) == 1
    assert 100.0 < values[0] < 110.0
    assert now < values[0] + 1010.0


def test_experience_gives_nothing_away(evaluation: Evaluation) -> None:
    # 15-19 gives a piece away.
    position = after(DRAUGHTS, "10-15", "22-17")
    thinker = AlphaBetaThinker(evaluation, 3, random.Random(1))
    plain = thinker.think(DRAUGHTS, position)
    worst = min(plain.candidates, key=lambda rated: rated.value)
    assert worst.value < plain.value - SWAY
    praised = partial(
        _praise,
        {candidate.move: Experience(float(candidate == worst), 1e6) for candidate in plain.candidates},
    )
    assert thinker.think(DRAUGHTS, position, praised).candidates[0].move != worst.move


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"playouts": 0}, "playouts 0: it must be from 1 to 1,000,000"),
        ({"depth": 65}, "depth 65: it must be from 1 to 64"),
        ({"seconds": 0.0}, r"seconds 0\.0: it must be above 0"),
        ({"seconds": float("nan")}, "seconds nan"),
    ],
)
def test_a_strength_out_of_range_is_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidStrengthError, match=message):
        Strength(**given)  # type: ignore[arg-type]
