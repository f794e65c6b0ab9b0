"""The cross-entropy tuner: its formulas by hand-made examples, and that it climbs a hill."""

import random
from dataclasses import replace
from typing import Any

import pytest

from arena.control.parameters import NormalParameter
from arena.control.plans import CrossEntropyPlan
from arena.selection.cross_entropy import CrossEntropyTuner, Distribution, elite
from arena.selection.selector import CompetitionChangedError
from arena.selection.voids import VoidPolicy
from tests.arena.selection.playing import completed, play, resumed
from tests.arena.selection.toy_tuning import CANDIDATE, OPPONENT, another, hill

X = NormalParameter("x", 0.0, 1.0, float, "x:%.2f")
Y = NormalParameter("y", 0.0, 1.0, float, "y:%.2f")
PLAN = CrossEntropyPlan(
    CANDIDATE, (X, Y), generations=3, samples=4, batch=2, elite_proportion=0.5, step_size=0.8
)


def tuner(**change: Any) -> CrossEntropyTuner:
    return CrossEntropyTuner(replace(PLAN, **change), OPPONENT, seed=2)


@pytest.mark.parametrize(
    ("scores", "proportion", "expected"),
    [
        ([1, 3, 2, 0], 0.5, [1, 2]),
        ([1, 1, 1, 1], 0.5, [3, 2]),
        ([2, 1, 2], 0.5, [2, 0]),  # floor(1.5 + 0.5)
        ([1, 2, 0], 0.01, [1]),
        ([0.5, 1.5, 1], 0.34, [1]),
    ],
)
def test_the_elite(scores: list[float], proportion: float, expected: list[int]) -> None:
    assert elite(scores, proportion) == expected


def test_the_distribution_moves_by_a_step_towards_the_elites() -> None:
    start = Distribution((1.0, 0.0), (4.0, 1.0))
    # Elite: mean 4 and variance 1; mean 0 and variance 4.
    moved = start.towards([(3.0, -2.0), (5.0, 2.0)], step=0.8)
    assert moved.means == pytest.approx((0.8 * 4 + 0.2 * 1, 0.0))
    assert moved.variances == pytest.approx((0.8 * 1 + 0.2 * 4, 0.8 * 4 + 0.2 * 1))
    assert start.towards([(7.0, 7.0)], step=0.5).variances == (2.0, 0.5)


def test_samples_have_the_distributions_mean_and_variance() -> None:
    distribution, chance = Distribution((2.0,), (9.0,)), random.Random(1)
    drawn = [distribution.sample(chance)[0] for _ in range(20_000)]
    mean = sum(drawn) / len(drawn)
    assert mean == pytest.approx(2.0, abs=0.1)
    assert sum((value - mean) ** 2 for value in drawn) / len(drawn) == pytest.approx(9.0, rel=0.05)


def test_all_candidates_of_a_generation_play_in_turn() -> None:
    selector = tuner()
    ids = play(selector).ids
    assert ids[:8] == [f"g0#{candidate}r{number}" for number in range(2) for candidate in range(4)]
    assert ids[8] == "g1#0r0" and len(ids) == 24 == selector.total
    assert selector.finished and selector.next_game() is None
    assert selector.void_policy is VoidPolicy.RETRY_GAME


def test_a_generation_waits_for_the_last_game_of_the_one_before() -> None:
    selector = tuner()
    games = [fixture for _ in range(8) if (fixture := selector.next_game())]
    assert len(games) == 8 and selector.next_game() is None and not selector.finished
    for fixture in games[1:]:
        selector.completed(completed(fixture, (1,)))
    assert selector.next_game() is None
    selector.completed(completed(games[0], (1,)))
    following = selector.next_game()
    assert (
        following is not None
        and following.game_id == "g1#0r0"
        and set(following.players) == {"g1#0", "opponent"}
    )


def test_a_generation_by_hand() -> None:
    selector = tuner(samples=4, batch=1)
    samples = selector.samples
    # Scores 1, 0, ½ (unknown), ½ (draw): the elite are candidates 0 and 3.
    for candidate in range(4):
        fixture = selector.next_game()
        assert fixture is not None
        seat = 2 - fixture.players.index("opponent")
        selector.completed(completed(fixture, [[seat], [3 - seat], [], [1, 2]][candidate]))
    best = [samples[0], samples[3]]
    means = [sum(sample[dimension] for sample in best) / 2 for dimension in range(2)]
    squares = [sum(sample[dimension] ** 2 for sample in best) / 2 for dimension in range(2)]
    expected = [0.8 * (square - mean**2) + 0.2 * 1.0 for mean, square in zip(means, squares, strict=True)]
    assert selector.distribution.means == pytest.approx([0.8 * mean for mean in means])
    assert selector.distribution.variances == pytest.approx(expected)
    history = selector.history_lines()
    assert history[0] == "generation 0:  0.00~1.00  0.00~1.00"
    assert [line.split()[0] for line in history[1:5]] == ["g0#0*", "g0#3*", "g0#2", "g0#1"]
    assert [line.split()[-1] for line in history[1:5]] == ["1", "0.5", "0.5", "0"]
    assert history[5] == f"next: {selector.distribution}"
    assert selector.history_lines() == []


def test_the_cross_entropy_tuner_climbs_a_hill() -> None:
    selector = tuner(generations=12, samples=40, batch=6, elite_proportion=0.2, step_size=0.8)
    play(selector, hill(1.2, -0.8, width=1.0))
    assert selector.finished
    assert selector.state().best == pytest.approx((1.2, -0.8), abs=0.4)
    assert max(selector.distribution.variances) < 0.2


def test_the_same_seed_and_results_give_the_same_games() -> None:
    whole = play(tuner(), hill(1.0, 1.0))
    assert play(tuner(), hill(1.0, 1.0)) == whole
    for cut in (1, 7, 8, 13, 23):
        selector = resumed(tuner(), whole.games[:cut])
        assert play(selector, hill(1.0, 1.0)).fixtures == whole.fixtures[cut:]


def test_an_interrupted_game_is_played_again_by_the_same_candidate() -> None:
    whole = play(tuner())
    selector = resumed(tuner(), whole.games[:9])
    fixture = whole.fixtures[11]
    assert selector.resume(fixture.game_id, fixture.players, fixture.detail) == fixture
    assert selector.resume(fixture.game_id, fixture.players, fixture.detail) is None
    assert fixture.game_id not in play(selector).ids
    assert selector.resume(whole.fixtures[0].game_id, (), "") is None


def test_games_of_other_parameters_or_another_generation_are_refused() -> None:
    games = play(tuner()).games
    assert resumed(tuner(generations=2), games).finished
    assert not resumed(tuner(generations=4), games).finished
    with pytest.raises(CompetitionChangedError, match=r"^parameters\.y\.initial_mean: .* with 0.0, .* 0.5;"):
        resumed(tuner(parameters=(X, replace(Y, mean=0.5))), games)
    with pytest.raises(CompetitionChangedError, match="none of generation 0"):
        resumed(tuner(), games[8:])
    with pytest.raises(CompetitionChangedError):
        tuner().resume("17", (), "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 5}, r"competition\.samples: .* played with 4, the control file now has 5"),
        ({"samples": 3}, r"competition\.samples: .* played with 4, the control file now has 3"),
        ({"batch": 1}, r"competition\.batch: .* played with 2, the control file now has 1"),
        ({"elite_proportion": 0.3}, r"competition\.elite_proportion: .* played with 0\.5, .* now has 0\.3"),
        ({"step_size": 0.9}, r"competition\.step_size: .* played with 0\.8, .* now has 0\.9"),
        (
            {"candidate": replace(CANDIDATE, seat=1, seat_name="black")},
            r"\.candidate_seat: .* random, .* black",
        ),
        ({"candidate": replace(CANDIDATE, make=another)}, "candidate: the one of game 'g0#0r0' was another"),
    ],
)
@pytest.mark.parametrize("games", [1, 8, 11, 24])
def test_the_terms_of_its_generations_may_not_change(
    change: dict[str, Any], message: str, games: int
) -> None:
    so_far = play(tuner(), most=games).games
    with pytest.raises(CompetitionChangedError, match=message):
        resumed(tuner(**change), so_far)


def test_the_opponent_and_the_seed_may_not_change() -> None:
    games = play(tuner(), most=1).games
    other = replace(OPPONENT, name="other")
    with pytest.raises(
        CompetitionChangedError, match=r"opponent: .* with opponent, the control file now has other"
    ):
        resumed(CrossEntropyTuner(PLAN, other, seed=2), games)
    with pytest.raises(CompetitionChangedError, match=r"seed: .* with 2, the control file now has 3"):
        resumed(CrossEntropyTuner(PLAN, OPPONENT, seed=3), games)


def test_the_report_lists_the_generations_candidates() -> None:
    selector = tuner()
    play(selector, most=3)
    lines = selector.report_lines()
    assert lines[0] == "generation 0 of 3: 3/8 games"
    assert lines[1] == "distribution:  0.00~1.00  0.00~1.00"
    assert sorted(line.split()[0] for line in lines[3:]) == ["g0#0", "g0#1", "g0#2", "g0#3"]
    (line,) = (line for line in lines if line.startswith("g0#2"))
    assert (remark := selector.history_remark("g0#2r0", "")) and remark in line
    play(selector)
    assert selector.report_lines()[0] == "all 3 generations are over"
