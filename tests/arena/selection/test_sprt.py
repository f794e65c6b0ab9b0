"""Matches with a sequential test: pairs, the verdict, and that it stands."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from arena.control.plans import SprtPlan
from arena.ratings.pentanomial import Sprt, estimate
from arena.selection.selector import CompetitionChangedError, Fixture
from arena.selection.sprt import SprtMatch
from tests.arena.selection.playing import Rule, completed, play, resumed

TEST = Sprt(0, 50, model="logistic")


def match(games: int | None = None, test: Sprt = TEST) -> SprtMatch:
    return SprtMatch(SprtPlan(("new", "old"), test, games), seed=3)


def new_wins(chance: float) -> Rule:
    def rule(fixture: Fixture) -> Sequence[int]:
        wins = random.Random(fixture.seed).random() < chance
        return [fixture.players.index("new" if wins else "old") + 1]

    return rule


def test_games_come_in_pairs_of_one_opening_with_seats_swapped() -> None:
    games = play(match(games=4)).fixtures
    assert [(game.players[0], game.opening) for game in games] == [
        ("new", 0), ("old", 0), ("new", 1), ("old", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("winners", "counts"),
    [
        ("oo", (1, 0, 0, 0, 0)),
        ("od", (0, 1, 0, 0, 0)),
        ("no", (0, 0, 1, 0, 0)),
        ("dd", (0, 0, 1, 0, 0)),
        ("nd", (0, 0, 0, 1, 0)),
        ("nn", (0, 0, 0, 0, 1)),
        ("n?", (0, 0, 0, 0, 0)),
        ("?n", (0, 0, 0, 0, 0)),
        ("n", (0, 0, 0, 0, 0)),
    ],
)
def test_pairs_are_counted_by_the_new_players_points(winners: str, counts: tuple[int, ...]) -> None:
    selector = match()
    for winner in winners:
        fixture = selector.next_game()
        assert fixture is not None
        seats = {"n": [fixture.players.index("new") + 1], "o": [fixture.players.index("old") + 1]}
        selector.completed(completed(fixture, {**seats, "d": [1, 2], "?": []}[winner]))
    assert selector.state().pairs == counts
    left_out = "1 pairs with unknown results are left out"
    assert (left_out in selector.report_lines()) is ("?" in winners)


def test_games_of_a_pair_may_end_in_either_order() -> None:
    selector = match()
    running = [fixture for _ in range(4) if (fixture := selector.next_game())]
    for number in (1, 2, 0):
        selector.completed(completed(running[number], [running[number].players.index("new") + 1]))
    assert selector.state().pairs == (0, 0, 0, 0, 1)


def test_nobody_knows_which_games_are_still_to_come() -> None:
    assert list(match(games=4).upcoming()) == []


@pytest.mark.parametrize(("chance", "verdict", "rejected"), [(0.75, "H1", "H0"), (0.35, "H0", "H1")])
def test_the_match_ends_with_the_verdict(chance: float, verdict: str, rejected: str) -> None:
    selector = match()
    played = play(selector, new_wins(chance))
    assert selector.finished and selector.next_game() is None
    assert selector.decided.startswith(f"{verdict} is accepted over {rejected}:")
    assert f": {verdict} supposes that new is " in selector.decided
    assert selector.status.verdict == verdict
    assert selector.report_lines()[-1] == selector.decided
    assert 20 < len(played.ids) < 1000


def test_verdict_stands_after_games_in_progress() -> None:
    selector = match()
    running = [fixture for _ in range(80) if (fixture := selector.next_game())]
    for fixture in running[:60]:
        selector.completed(completed(fixture, [fixture.players.index("new") + 1]))
    decided, llr = selector.decided, selector.status.llr
    assert decided.startswith("H1")
    for fixture in running[60:]:
        selector.completed(completed(fixture, [fixture.players.index("old") + 1]))
    assert (selector.decided, selector.status.llr) == (decided, llr)
    again = match()
    for fixture in running[:60]:
        again.completed(completed(fixture, [fixture.players.index("new") + 1]))
    assert again.decided == decided and again.resume(running[60].game_id, (), "") is None


def test_a_match_of_limited_games_may_end_without_a_verdict() -> None:
    selector = match(games=6)
    play(selector)
    assert selector.finished and not selector.decided and selector.total == 6
    assert selector.report_lines()[-1] == "all games are played without a verdict"


def test_the_report_tells_the_elo_of_the_pairs_with_its_error() -> None:
    selector = match(games=40)
    play(selector, new_wins(0.6))
    estimated = estimate(selector.state().pairs)
    assert estimated is not None
    line = next(line for line in selector.report_lines() if line.startswith("Elo "))
    assert line.startswith(f"Elo {estimated.elo:+.1f} ± {estimated.elo_error:.1f}, normalised ")
    assert line.endswith(f"LOS {100 * estimated.superiority:.1f} %")


def test_the_terms_of_a_test_may_not_change_once_it_has_begun() -> None:
    games = play(match(games=2)).games
    resumed(match(games=100), games)
    with pytest.raises(CompetitionChangedError, match=r"competition\.elo1: .* with 50, .* now has 20"):
        resumed(match(test=Sprt(0, 20, model="logistic")), games)


def test_the_terms_of_games_of_earlier_releases_are_read() -> None:
    """They have the whole test as one term."""
    test = "elo0=0 elo1=50 alpha=0.05 beta=0.05 model=logistic"
    detail = json.dumps({"test": test, "competitors": "new, old"})
    games = [replace(game, detail=detail) for game in play(match(games=2)).games]
    assert resumed(match(games=2), games).finished
    with pytest.raises(CompetitionChangedError, match=r"competition\.elo1: .* with 50, .* now has 20"):
        resumed(match(test=Sprt(0, 20, model="logistic")), games)


def test_elo_without_finite_interval_is_reported_as_such() -> None:
    selector = match(games=100)
    for _ in range(8):
        fixture = selector.next_game()
        assert fixture is not None
        selector.completed(completed(fixture, [fixture.players.index("new") + 1]))
    line = next(line for line in selector.report_lines() if line.startswith("Elo "))
    assert "nan" not in line and "±" not in line
    assert line.count("(no finite interval)") == 2


def test_the_path_of_the_ratio_ends_where_the_test_stands() -> None:
    selector = match(games=40)
    played = [completed(fixture, new_wins(0.6)(fixture)) for fixture in play(match(games=40)).fixtures]
    statuses = []
    for game in played:
        selector.completed(game)
        statuses.append(selector.status.llr)
    path = match(games=40).llr_path(played, 1_000)
    assert [llr for _, llr in path] == pytest.approx(statuses) and path[-1][0] == 40
    assert [at for at, _ in match(games=40).llr_path(played, 4)] == [10, 20, 30, 40]
    assert [at for at, _ in match(games=40).llr_path(played[:39], 4)] == [9, 18, 27, 36, 39]
