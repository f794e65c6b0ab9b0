"""A standing arena pairs those who are there, lets nobody wait for long, and finds out who is strong."""

import random
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from arena.control.plans import StandingPlan
from arena.ratings.bradley_terry import Strengths
from arena.selection import standing
from arena.selection.selector import CompletedGame, Fixture
from arena.selection.standing import Standing, group_up
from referees.api import Outcome, Termination
from tests.arena.selection.playing import completed, given_out


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round without players is over at once."""
    monkeypatch.setattr(standing, "ROUND_SECONDS", 0.0)


class Society:
    """Bots of known strengths that come, go and crash."""

    def __init__(self, players: int, rounds: int) -> None:
        self.chance = random.Random(1)
        names = tuple(f"p{number}" for number in range(players))
        self.strengths = {name: self.chance.gauss(1000, 300) for name in names}
        self.arena = Standing(StandingPlan(names))
        self.there = set(names)
        self.crashed: set[str] = set()
        self.waited: Counter[str] = Counter()
        self.longest = 0
        self.fixtures: list[Fixture] = []
        for _ in range(rounds):
            self._play_round()

    def _play_round(self) -> None:
        names = self.strengths
        self.there = {name for name in names if self.chance.random() < (0.95 if name in self.there else 0.3)}
        self.arena.free = lambda names: self.there
        fixtures = given_out(self.arena)
        self.fixtures += fixtures
        playing = {name for fixture in fixtures for name in fixture.players}
        assert len(playing) == 2 * len(fixtures) and playing <= self.there
        for name in self.there - self.crashed:
            self.waited[name] = 0 if name in playing else self.waited[name] + 1
        self.longest = max(self.longest, *self.waited.values())
        self.crashed.clear()
        for fixture in fixtures:
            self._play(fixture)

    def _play(self, fixture: Fixture) -> None:
        black, white = fixture.players
        if self.chance.random() < 0.02:
            self.arena.failed(black)
            self.arena.dropped(fixture)
            self.crashed.add(black)
            self.waited[black] = 0
            return
        apart = self.strengths[white] - self.strengths[black]
        winner = 1 if self.chance.random() < 1 / (1 + 10 ** (apart / 400)) else 2
        self.arena.completed(completed(fixture, (winner,)))


def test_a_hundred_bots_that_come_go_and_crash_are_paired_and_rated() -> None:
    society = Society(100, 30)
    # Who misses a round for a crash of its own is not counted as waiting.
    assert society.longest <= 2
    assert len({fixture.game_id for fixture in society.fixtures}) == len(society.fixtures)
    first = Counter(fixture.players[0] for fixture in society.fixtures)
    second = Counter(fixture.players[1] for fixture in society.fixtures)
    assert max(abs(first[name] - second[name]) for name in society.strengths) <= 6
    names = list(society.strengths)
    strengths = society.arena.strengths(names)
    wrong = strengths.elo - np.array([society.strengths[name] for name in names])
    assert np.mean(np.abs(wrong - wrong.mean()) < strengths.error) > 0.88
    # Players of like strength meet: at random the distance would be 340 Elo.
    late = society.fixtures[-500:]
    apart = [abs(society.strengths[f.players[0]] - society.strengths[f.players[1]]) for f in late]
    assert np.mean(apart) < 200


def test_no_pair_meets_again_while_others_are_there() -> None:
    society = Society(12, 40)
    met: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for fixture in society.fixtures:
        met[frozenset(fixture.players)].append(int(fixture.game_id[1:].partition("_")[0]))
    gaps = [later - earlier for rounds in met.values() for earlier, later in pairwise(rounds)]
    assert np.mean(np.array(gaps) <= standing.ROUNDS_APART) < 0.05


def test_two_players_meet_round_after_round_in_both_seats() -> None:
    arena = Standing(StandingPlan(("a", "b"), rounds=4))
    seats = []
    while not arena.finished:
        (fixture,) = given_out(arena)
        seats.append(fixture.players)
        arena.completed(completed(fixture, (1,)))
    assert seats == [("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")]


def test_a_player_that_fails_misses_the_next_round_only() -> None:
    arena = Standing(StandingPlan(("a", "b", "c", "d")))

    def play(failing: str | None) -> set[str]:
        fixtures = given_out(arena)
        for fixture in fixtures:
            if failing in fixture.players:
                arena.failed(str(failing))
                arena.dropped(fixture)
            else:
                arena.completed(completed(fixture, (1,)))
        return {name for fixture in fixtures for name in fixture.players}

    assert play("a") == {"a", "b", "c", "d"}
    assert "a" not in play(None)
    # The player that had nobody to meet comes first.
    assert play(None) == {"a", "b", "c", "d"}


def test_a_player_that_failed_misses_its_rounds_also_when_it_was_alone_for_long() -> None:
    arena = Standing(StandingPlan(("a", "b", "c")))
    for _ in range(3):
        arena.failed("a")
    arena.free = lambda names: {"a"}
    assert [arena.next_game() for _ in range(10)] == [None] * 10, "nobody is there for a to meet"
    arena.free = lambda names: {"a", "b", "c"}
    players = []
    for _ in range(5):
        (fixture,) = given_out(arena)
        players.append(set(fixture.players))
        arena.completed(completed(fixture, (1,)))
    assert players[:4] == [{"b", "c"}] * 4 and "a" in players[4]


def test_players_that_failed_meet_soon_where_no_others_are_there() -> None:
    arena = Standing(StandingPlan(("a", "b")))
    arena.failed("a")
    arena.failed("a")
    assert [arena.next_game(), arena.next_game()] == [None, None]
    assert given_out(arena)


def test_a_player_that_leaves_before_its_game_holds_up_nobody() -> None:
    arena, there = Standing(StandingPlan(("a", "b", "c", "d"))), {"a", "b", "c", "d"}
    arena.free = lambda names: there
    first = arena.next_game()
    assert first is not None
    left, stays = sorted({"a", "b", "c", "d"} - set(first.players))
    there.discard(left)
    assert arena.next_game() is None, "it may come back until the other game is over"
    arena.completed(completed(first, (1,)))
    second = arena.next_game()
    assert second is None or left not in second.players
    there.add(left)
    following = [second] if second is not None else []
    following += given_out(arena)
    assert stays in following[0].players, "its opponent has waited, and comes first"
    assert not arena._missing, "nobody is at fault"


def test_a_player_that_comes_back_in_time_plays_its_game() -> None:
    arena, there = Standing(StandingPlan(("a", "b", "c", "d"))), {"a", "b", "c", "d"}
    arena.free = lambda names: there
    first = arena.next_game()
    assert first is not None
    left = min({"a", "b", "c", "d"} - set(first.players))
    there.discard(left)
    assert arena.next_game() is None
    there.add(left)
    again = arena.next_game()
    assert again is not None and left in again.players and again.game_id.startswith("r1_")


def test_rounds_wait_for_players_and_others_may_come_later() -> None:
    arena = Standing(StandingPlan(("a", "b", "c")))
    arena.free = lambda names: {"a", "stranger"}
    assert (arena.next_game(), arena.expects_games, arena.finished) == (None, True, False)
    arena.free = lambda names: {"a", "c"}
    assert [fixture.players for fixture in given_out(arena)] == [("a", "c")]
    # The round is on.
    assert arena.next_game() is None


def test_a_later_run_goes_on_with_new_rounds() -> None:
    society = Society(6, 5)
    again = Standing(StandingPlan(tuple(society.strengths)))
    for fixture in society.fixtures[:-1]:
        again.completed(completed(fixture, (2,)))
    interrupted = society.fixtures[-1]
    assert again.resume(interrupted.game_id, interrupted.players, "") is None
    later = {fixture.game_id for fixture in given_out(again)}
    assert later and not later & {fixture.game_id for fixture in society.fixtures}
    with pytest.raises(ValueError, match="'AvB_0' is none of the control file's"):
        again.completed(CompletedGame("AvB_0", ("a", "b"), Outcome((1,), Termination.SCORE, "")))


@pytest.mark.parametrize(("played", "missing"), [(0, 1), (1, 0)])
def test_a_round_that_ended_with_its_run_before_a_result_does_not_count(played: int, missing: int) -> None:
    plan = StandingPlan(("a", "b", "c", "d"), rounds=1)
    fixtures = given_out(Standing(plan))
    again = Standing(plan)
    for fixture in fixtures[:played]:
        again.completed(completed(fixture, (1,)))
    for fixture in fixtures[played:]:
        assert again.resume(fixture.game_id, fixture.players, "") is None
    assert again.finished == (not missing)
    later = given_out(again)
    assert {fixture.game_id.partition("_")[0] for fixture in later} == {"r2"} if missing else not later
    for fixture in later:
        again.completed(completed(fixture, (1,)))
    assert again.finished


def test_the_closest_and_least_known_meet() -> None:
    known = Strengths(np.array([1000.0, 1010, 1500, 1510]), np.array([50.0, 50, 50, 50]))
    apart, nobody = np.ones((4, 4), dtype=np.bool_), np.zeros(4, dtype=np.int64)
    assert sorted(map(sorted, group_up(known, np.zeros((4, 4)), apart, nobody))) == [[0, 1], [2, 3]]
    unknown = Strengths(np.array([1000.0, 1010, 1020, 1030]), np.array([300.0, 20, 20, 300]))
    assert (0, 3) in group_up(unknown, np.zeros((4, 4)), apart, nobody)


def test_players_are_paired_by_the_leagues_ratings_and_fixed_ones_meet_others() -> None:
    # The league knows what no game here has shown: a and c are near, b and d.
    league = {"a": 1000.0, "b": 2000.0, "c": 1010.0, "d": 1990.0}
    arena = Standing(StandingPlan(tuple(league)))
    arena.ratings = lambda names: Strengths(
        np.array([league[name] for name in names]), np.array([100.0 for _ in names])
    )
    assert {frozenset(fixture.players) for fixture in given_out(arena)} == {
        frozenset(pair) for pair in (("a", "c"), ("b", "d"))
    }
    # c and d are anchors: a game between them would tell nothing, however near they are.
    league |= {"c": 1500.0, "d": 1500.0}
    arena = Standing(StandingPlan(tuple(league)))
    arena.ratings = lambda names: Strengths(
        np.array([league[name] for name in names]),
        np.array([0.0 if name in "cd" else 100.0 for name in names]),
    )
    for _ in range(8):
        for fixture in given_out(arena):
            assert set(fixture.players) != {"c", "d"}
            arena.completed(completed(fixture, (1,)))
            arena.dropped(fixture)


def test_seven_play_a_game_of_diplomacy_and_all_sit_in_all_seats() -> None:
    names = tuple(f"p{number}" for number in range(16))
    arena = Standing(StandingPlan(names, seats=7))
    sat: Counter[tuple[str, int]] = Counter()
    games: Counter[str] = Counter()
    waited: Counter[str] = Counter()
    longest = 0
    for _ in range(40):
        fixtures = given_out(arena)
        assert [len(set(fixture.players)) for fixture in fixtures] == [7, 7]
        for fixture in fixtures:
            sat.update((name, seat) for seat, name in enumerate(fixture.players))
            games.update(fixture.players)
            # Who has the lower number is stronger, and draws with its neighbour.
            best = sorted(range(7), key=lambda seat: int(fixture.players[seat][1:]))[:2]
            arena.completed(completed(fixture, [seat + 1 for seat in sorted(best)]))
        playing = {name for fixture in fixtures for name in fixture.players}
        waited = Counter({name: waited[name] + 1 for name in names if name not in playing})
        longest = max(longest, *waited.values())
    assert longest == 1
    assert all(
        max(counts) - min(counts) <= 2
        for counts in ([sat[name, seat] for seat in range(7)] for name in names)
    )
    elo = arena.strengths(names).elo
    assert elo[0] > elo[5] > elo[15]
