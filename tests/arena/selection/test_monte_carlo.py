"""The Monte Carlo tuner: its tree by hand-made examples, and that it finds the top of a hill."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from arena.control.parameters import Explicit, GridParameter, Linear
from arena.control.plans import MonteCarloPlan
from arena.jobs import PlayerSetup
from arena.selection.monte_carlo import MonteCarloTuner, ParameterTree
from arena.selection.selector import CompetitionChangedError
from arena.selection.voids import VoidPolicy
from tests.arena.selection.playing import completed, play, resumed
from tests.arena.selection.toy_tuning import CANDIDATE, OPPONENT, another, hill, values

X = GridParameter("x", Linear(0, 10), 5, "x:%.2f")
Y = GridParameter("y", Explicit(("low", "high")), 2, "y=%s")
PLAN = MonteCarloPlan(CANDIDATE, (X,), exploration=0.5, initial_visits=10, initial_wins=5, games=300)


def plan(**change: Any) -> MonteCarloPlan:
    return replace(PLAN, **change)


def tuner(**change: Any) -> MonteCarloTuner:
    return MonteCarloTuner(plan(**change), OPPONENT, seed=4)


@pytest.mark.parametrize(
    ("path", "coordinates", "centre"),
    [
        ((0,), [(0, 0)], (0.1, 0.25)),
        ((1,), [(0, 1)], (0.1, 0.75)),
        ((2,), [(1, 0)], (0.3, 0.25)),
        ((9,), [(4, 1)], (0.9, 0.75)),
        ((9, 2), [(4, 1), (1, 0)], (0.8 + 0.2 * 0.3, 0.5 + 0.5 * 0.25)),
    ],
)
def test_a_node_is_a_cuboid_and_stands_for_its_centre(
    path: tuple[int, ...], coordinates: list[tuple[int, int]], centre: tuple[float, float]
) -> None:
    tree = ParameterTree(plan(parameters=(X, Y), max_depth=2))
    assert tree.coordinates(path) == coordinates
    assert tree.centre(path) == pytest.approx(centre)


def test_the_child_of_the_greatest_upper_bound_is_chosen() -> None:
    tree = ParameterTree(plan(exploration=0.4))
    for place, wins, games in ((0, 3, 4), (1, 1, 4), (2, 10, 12), (3, 2, 3), (4, 0, 1)):
        for game in range(games):
            tree.take((place,), float(game < wins))
    # The root's visits are its initial 10 and 24 games.
    assert tree.root.visits == 34 and tree.root.wins == 5 + 16
    bounds = [
        (5 + wins) / (10 + games) + 0.4 * math.sqrt(math.log(34) / (10 + games))
        for wins, games in ((3, 4), (1, 4), (10, 12), (2, 3), (0, 1))
    ]
    assert bounds.index(max(bounds)) == 2
    assert tree.choose(random.Random(0)) == (2,)
    # With more exploration it is one that was tried less often.
    bold = ParameterTree(plan(exploration=5.0))
    bold.root = tree.root
    assert bold.choose(random.Random(0)) == (4,)


def test_equal_children_are_chosen_by_chance() -> None:
    tree = ParameterTree(PLAN)
    assert {tree.choose(random.Random(seed)) for seed in range(60)} == {(place,) for place in range(5)}


def test_a_leaf_is_expanded_when_it_is_chosen_again() -> None:
    tree = ParameterTree(plan(max_depth=2, exploration=0.0))
    path = tree.choose(random.Random(1))
    assert len(path) == 1
    tree.take(path, 1.0)
    again = tree.choose(random.Random(1))
    assert len(again) == 2 and again[:1] == path
    tree.take(again, 1.0)
    third = tree.choose(random.Random(1))
    assert third == again, "no deeper than max_depth"
    assert tree.root.children[path[0]].visits == 12


def test_the_best_is_the_child_with_the_most_wins_on_every_level() -> None:
    tree = ParameterTree(plan(max_depth=2))
    for path, points in (((3,), 1.0), ((3, 1), 1.0), ((3, 4), 0.0), ((3, 2), 1.0), ((1,), 1.0)):
        tree.take(path, points)
    assert tree.best() == (3, 1), "the first among equals"


def test_the_monte_carlo_tuner_finds_the_top_of_a_hill() -> None:
    selector = tuner(games=600, max_depth=2, exploration=0.4)
    played = play(selector, hill(7.0, width=2.0))
    assert selector.finished
    assert selector.state().best == (pytest.approx(7.0, abs=0.5),)
    late = [values(fixture)[0] for fixture in played.fixtures[-100:]]
    assert sum(abs(value - 7.0) <= 1.5 for value in late) > 60


def test_games_and_candidates_are_called_by_number() -> None:
    fixture = play(tuner(), most=3).fixtures[2]
    assert fixture.game_id == "2" and set(fixture.players) == {"#2", "opponent"}
    assert [setup.name for setup in fixture.setups] == list(fixture.players)
    assert fixture.remarks == (f"Candidate parameters: x:{values(fixture)[0]:.2f}",)
    assert {fixture.players.index("opponent") for fixture in play(tuner(), most=30).fixtures} == {0, 1}


@pytest.mark.parametrize("seat", [1, 2])
def test_a_candidate_may_have_one_seat_in_all_games(seat: int) -> None:
    fixtures = play(tuner(candidate=replace(CANDIDATE, seat=seat)), most=20).fixtures
    assert {fixture.players.index("opponent") for fixture in fixtures} == {2 - seat}


@pytest.mark.parametrize(("outcome", "wins"), [("win", 6), ("loss", 5), ("draw", 5.5), ("unknown", 5)])
def test_a_win_counts_one_and_a_draw_half(outcome: str, wins: float) -> None:
    selector = tuner()
    fixture = selector.next_game()
    assert fixture is not None
    seat = 2 - fixture.players.index("opponent")
    selector.completed(
        completed(fixture, {"win": [seat], "loss": [3 - seat], "draw": [1, 2], "unknown": []}[outcome])
    )
    assert (selector.tree.root.visits, selector.tree.root.wins) == (11, wins)


def test_a_void_game_is_forgotten_and_its_number_not_used_again_in_the_run() -> None:
    selector = tuner(games=3)
    first = selector.next_game()
    assert first is not None and selector.void_policy is VoidPolicy.DROP
    selector.dropped(first)
    played = play(selector)
    assert played.ids == ["1", "2"] and selector.finished
    assert selector.tree.root.visits == 12
    again = resumed(tuner(games=3), played.games)
    assert play(again).ids == ["0"]


def test_the_same_seed_and_results_give_the_same_games() -> None:
    whole = play(tuner(games=60, max_depth=2), hill(3.0, width=2.0))
    assert play(tuner(games=60, max_depth=2), hill(3.0, width=2.0)) == whole
    for cut in (1, 17, 59):
        rest = play(resumed(tuner(games=60, max_depth=2), whole.games[:cut]), hill(3.0, width=2.0))
        assert rest.fixtures == whole.fixtures[cut:]


def test_an_interrupted_game_is_played_again_by_the_same_candidate() -> None:
    whole = play(tuner(), hill(3.0), most=20, at_once=4)
    selector = resumed(tuner(), whole.games[:10])
    for fixture in whole.fixtures[10:14]:
        assert selector.resume(fixture.game_id, fixture.players, fixture.detail) == fixture
    assert selector.resume(whole.fixtures[10].game_id, (), whole.fixtures[10].detail) is None


def test_other_parameters_than_those_of_the_games_so_far_are_refused() -> None:
    games = play(tuner(), most=5).games
    resumed(tuner(games=1000, exploration=2.0), games)
    other = replace(X, scale=Linear(0, 11))
    with pytest.raises(CompetitionChangedError, match=r"^parameters\.x\.high: .* with 10, .* now has 11"):
        resumed(tuner(parameters=(other,)), games)
    with pytest.raises(CompetitionChangedError, match=r"^parameters\.x\.split: .* with \d+, .* now has 2"):
        resumed(tuner(parameters=(replace(X, split=2),)), play(tuner(parameters=(X,)), most=40).games)
    with pytest.raises(
        CompetitionChangedError, match=r"^parameters\.x\.\w+: .* with \w+, .* now has nothing"
    ):
        resumed(tuner(parameters=(replace(X, code="renamed"),)), games)
    deep = play(tuner(max_depth=3, games=200)).games
    with pytest.raises(
        CompetitionChangedError, match=r"^competition\.max_depth: .* with 2 or more, .* now has 1"
    ):
        resumed(tuner(max_depth=1, games=200), deep)
    with pytest.raises(CompetitionChangedError):
        tuner().resume("0_1", (), "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"initial_visits": 20}, r"competition\.initial_visits: .* played with 10, .* now has 20"),
        ({"initial_wins": 4}, r"competition\.initial_wins: .* played with 5, .* now has 4"),
        (
            {"candidate": replace(CANDIDATE, seat=2, seat_name="white")},
            r"\.candidate_seat: .* random, .* white",
        ),
        (
            {"candidate": replace(CANDIDATE, make=another)},
            "candidate: the one of game '0' was another program",
        ),
    ],
)
def test_the_terms_that_make_the_tree_may_not_change(change: dict[str, Any], message: str) -> None:
    games = play(tuner(), most=3).games
    with pytest.raises(CompetitionChangedError, match=message):
        resumed(tuner(**change), games)


def test_how_far_and_how_boldly_the_tree_is_searched_may_change() -> None:
    games = play(tuner(), most=20).games
    change = {"games": 500, "exploration": 1.0, "max_depth": 3, "summary": (5,), "log_period": 10}
    assert play(resumed(tuner(**change, shown_running=1), games), most=1).ids == ["20"]


def test_the_folder_of_the_control_file_may_be_moved() -> None:
    def in_folder(folder: str) -> MonteCarloTuner:
        def make(name: str, values: Sequence[Any]) -> PlayerSetup:
            return PlayerSetup(name, (f"{folder}/candidate", *map(repr, values)))

        return MonteCarloTuner(plan(candidate=replace(CANDIDATE, make=make)), OPPONENT, 4, folder)

    games = play(in_folder("/here"), most=3).games
    assert play(resumed(in_folder("/there"), games), most=1).ids == ["3"]


def test_reports_list_candidates_in_progress_the_most_visited_and_the_best() -> None:
    selector = tuner(parameters=(X, Y), max_depth=2, exploration=0.0, log_period=4, shown_running=1)
    play_one = [selector.next_game(), selector.next_game()]
    lines = selector.report_lines()
    assert lines[0].startswith("in progress: #0 (") and lines[1] == "and 1 more"
    for fixture in play_one:
        assert fixture is not None
        selector.completed(completed(fixture, [2 - fixture.players.index("opponent")]))
    play(selector, lambda fixture: [2 - fixture.players.index("opponent")], most=6)
    text = "\n".join(selector.report_lines())
    assert "8 games, candidates won 1.000" in text and "in progress" not in text
    assert not any(line.endswith("   0") for line in text.splitlines()), "untried candidates are not shown"
    assert "most visited at depth 1:" in text and "most visited at depth 2:" not in text
    assert "Best parameters: x:" in text and text.endswith("]")
    history = selector.history_lines()
    assert [line for line in history if line.startswith("after")] == ["after 4 games:", "after 8 games:"]
    assert selector.history_lines() == []
