"""Swiss tournaments: rounds, scores, byes, and nobody twice against the same opponent."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.control.plans import SwissPlan
from arena.selection.selector import CompetitionChangedError, Fixture
from arena.selection.swiss import Swiss, _with_rematches, pair, preferred
from tests.arena.selection.playing import completed, play, resumed, stronger_wins

EIGHT = tuple("abcdefgh")


def strength(name: str) -> float:
    return -ord(name[0])


def swiss(names: tuple[str, ...] = EIGHT, rounds: int = 3, games: int = 2) -> Swiss:
    return Swiss(SwissPlan(names, rounds, games), seed=1)


def test_in_the_first_round_the_upper_half_meets_the_lower() -> None:
    played = play(swiss(rounds=1, games=1))
    assert [fixture.players for fixture in played.fixtures] == [
        tuple("ae"),
        tuple("bf"),
        tuple("cg"),
        tuple("dh"),
    ]


def test_like_scores_meet_and_the_strongest_comes_first() -> None:
    selector = swiss(games=1)
    played = play(selector, stronger_wins(strength))
    second = [set(fixture.players) for fixture in played.fixtures[4:8]]
    assert second == [{"a", "c"}, {"b", "d"}, {"e", "g"}, {"f", "h"}]
    assert {"a", "b"} in [set(fixture.players) for fixture in played.fixtures[8:]]
    assert selector.ranking()[0] == "a" and selector.score("a") == 3
    assert selector.finished and selector.next_game() is None


def test_a_pairing_is_a_number_of_games_in_both_seats_from_one_opening() -> None:
    played = play(swiss(names=("a", "b"), rounds=1, games=4))
    assert played.ids == ["r1_AvB_0", "r1_AvB_1", "r1_AvB_2", "r1_AvB_3"]
    assert [fixture.players[0] for fixture in played.fixtures] == ["a", "b", "a", "b"]
    assert [fixture.opening for fixture in played.fixtures] == [0, 0, 1, 1]


def test_each_round_goes_on_with_openings_that_no_round_had() -> None:
    played = play(swiss(names=("a", "b"), rounds=2, games=3))
    assert [fixture.opening for fixture in played.fixtures] == [0, 0, 1, 2, 2, 3]


def test_of_equal_scores_the_one_with_the_stronger_opponents_ranks_first() -> None:
    selector = swiss(names=tuple("abcd"), rounds=2, games=1)
    winners = {frozenset("ac"): "a", frozenset("bd"): "d", frozenset("ad"): "a", frozenset("bc"): "b"}
    play(selector, lambda fixture: (1 + fixture.players.index(winners[frozenset(fixture.players)]),))
    assert list(map(selector.score, "abcd")) == [2, 1, 0, 1]
    # d met a, who won everything, and b met c, who lost everything.
    assert selector.ranking() == ["a", "d", "b", "c"]


def test_the_last_without_a_bye_yet_has_the_bye() -> None:
    played = play(swiss(names=tuple("abc"), rounds=3, games=1), stronger_wins(strength))
    assert [set(fixture.players) for fixture in played.fixtures] == [set("ab"), set("ac"), set("bc")]


def test_a_report_says_how_many_rounds_are_over() -> None:
    selector = swiss(names=("a", "b"), rounds=2, games=1)
    heads = [selector.report_lines()[0]]
    for _ in range(2):
        play(selector, most=1)
        heads.append(selector.report_lines()[0])
    assert heads == [f"Swiss, {over} of 2 rounds over" for over in (0, 1, 2)]


def test_a_round_waits_for_the_last_game_of_the_one_before() -> None:
    selector = swiss(names=tuple("abcd"), games=1)
    first, second = selector.next_game(), selector.next_game()
    assert first is not None and second is not None
    assert selector.next_game() is None and not selector.finished
    selector.completed(completed(second, (1,)))
    assert selector.next_game() is None
    selector.completed(completed(first, (1,)))
    third = selector.next_game()
    assert third is not None and third.game_id.startswith("r2_")


@pytest.mark.parametrize(
    ("winners", "scores"), [((1,), (1, 0)), ((2,), (0, 1)), ((1, 2), (0.5, 0.5)), ((), (0.5, 0.5))]
)
def test_a_win_is_one_point_and_a_draw_or_no_result_half(
    winners: tuple[int, ...], scores: tuple[float, float]
) -> None:
    selector = swiss(names=("a", "b"), rounds=1, games=1)
    play(selector, lambda fixture: winners)
    assert (selector.score("a"), selector.score("b")) == scores


@given(players=st.integers(2, 13), rounds=st.integers(1, 6), games=st.integers(1, 2), data=st.data())
def test_in_every_round_all_play_once_and_byes_go_round(
    players: int, rounds: int, games: int, data: st.DataObject
) -> None:
    names = tuple(f"p{number:02d}" for number in range(players))
    selector = swiss(names, rounds, games)
    total = selector.total
    played = play(selector, lambda fixture: data.draw(st.sampled_from([(1,), (2,), (1, 2), ()])))
    assert len(played.ids) == len(set(played.ids)) == selector.total == total
    by_round: dict[str, Counter[str]] = {}
    for fixture in played.fixtures:
        by_round.setdefault(fixture.game_id.split("_")[0], Counter()).update(fixture.players)
    assert len(by_round) == rounds
    byes = Counter(name for plays in by_round.values() for name in names if name not in plays)
    assert all(set(plays.values()) == {games} for plays in by_round.values())
    if players % 2:
        assert sum(byes.values()) == rounds and max(byes.values()) - min(byes[name] for name in names) <= 1
    else:
        assert not byes


@given(data=st.data())
def test_players_meet_new_opponents_while_that_is_possible(data: st.DataObject) -> None:
    selector = swiss(tuple("abcdef"), rounds=3, games=1)
    played = play(selector, lambda fixture: data.draw(st.sampled_from([(1,), (2,), (1, 2)])))
    meetings = Counter(frozenset(fixture.players) for fixture in played.fixtures)
    assert set(meetings.values()) == {1}


@pytest.mark.parametrize(("players", "seed"), [(26, 1), (26, 2), (26, 3), (40, 1), (60, 1)])
def test_nobody_meets_again_while_everybody_has_not_met_half_of_the_others(players: int, seed: int) -> None:
    """Then there is a pairing without rematches, by Dirac's theorem, however hard it is to find."""
    chance = random.Random(seed)
    names = tuple(f"p{number:02d}" for number in range(players))
    selector = swiss(names, rounds=players // 2, games=1)

    def winners(fixture: Fixture) -> Sequence[int]:
        first, second = (int(name[1:]) + chance.gauss(0, players / 6) for name in fixture.players)
        return (1,) if first < second else (2,)

    meetings = Counter(frozenset(fixture.players) for fixture in play(selector, winners).fixtures)
    assert set(meetings.values()) == {1}


@given(
    met=st.sets(st.sampled_from([frozenset(two) for two in combinations(EIGHT, 2)])),
    scores=st.lists(st.integers(0, 2), min_size=8, max_size=8),
)
# c would meet g, but who cannot meet each other are then left: g is free for d.
@example(met={frozenset("bh"), frozenset("dh")}, scores=[0] * 8)
def test_the_best_choose_first_as_long_as_all_others_find_new_opponents(
    met: set[frozenset[str]], scores: list[int]
) -> None:
    points = dict(zip(EIGHT, sorted(scores, reverse=True), strict=True)).__getitem__

    def tried_one_by_one(left: Sequence[str]) -> list[tuple[str, str]] | None:
        if not left:
            return []
        for other in preferred(left, points):
            rest = tried_one_by_one([name for name in left[1:] if name != other])
            if frozenset((left[0], other)) not in met and rest is not None:
                return [(left[0], other), *rest]
        return None

    pairs = pair(EIGHT, points, lambda player, other: int(frozenset((player, other)) in met))
    expected = tried_one_by_one(EIGHT)
    if expected is None:
        assert any(frozenset(two) in met for two in pairs)
    else:
        assert pairs == expected


@pytest.mark.parametrize("players", [4, 5, 6, 8])
def test_where_all_have_met_those_meet_again_who_have_met_least(players: int) -> None:
    names = EIGHT[:players]
    rounds = 3 * (players - 1 + players % 2)
    meetings = Counter(
        frozenset(fixture.players)
        for fixture in play(swiss(names, rounds, games=1), stronger_wins(strength)).fixtures
    )
    assert len(meetings) == players * (players - 1) // 2 and set(meetings.values()) == {3}


def test_the_best_choose_first_among_those_whom_they_have_met_least() -> None:
    met = Counter({frozenset(two): 2 for two in combinations("abcd", 2)})
    met[frozenset("ad")] = met[frozenset("bc")] = 1

    def times_met(player: str, other: str) -> int:
        return met[frozenset((player, other))]

    assert pair("abcd", lambda name: 0.0, times_met) == [("a", "d"), ("b", "c")]
    met[frozenset("ab")] = 0
    # Else c and d met more often than anybody must.
    assert pair("abcd", lambda name: 0.0, times_met) == [("a", "d"), ("b", "c")]
    met[frozenset("cd")] = 1
    assert pair("abcd", lambda name: 0.0, times_met) == [("a", "b"), ("c", "d")]


def test_of_equals_the_upper_half_prefers_the_lower_then_those_nearest_to_it() -> None:
    assert preferred("abcdefg", lambda name: 1.0 if name < "g" else 0.5) == list("defcbg")


def test_hundreds_of_players_are_paired() -> None:
    names = [f"p{number}" for number in range(700)]
    met = {frozenset(two) for two in combinations(names[:350], 2)}
    pairs = pair(names, lambda name: 0.0, lambda player, opponent: int(frozenset((player, opponent)) in met))
    assert len({name for two in pairs for name in two}) == 700
    assert not any(frozenset(two) in met for two in pairs)


def test_an_interrupted_tournament_goes_on_as_it_would_have() -> None:
    whole = play(swiss(), stronger_wins(strength))
    for cut in range(len(whole.games)):
        rest = play(resumed(swiss(), whole.games[:cut]), stronger_wins(strength))
        assert rest.ids == whole.ids[cut:]


def test_a_tournament_that_an_earlier_version_paired_with_rematches_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It gave up the search for other pairings, and had these."""
    names = tuple("abcdef")

    def paired_once(
        ranking: Sequence[str], scores: Callable[[str], float], times_met: Callable[[str, str], int]
    ) -> list[tuple[str, str]]:
        return _with_rematches(ranking, scores, lambda player, other: times_met(player, other) > 0)

    with monkeypatch.context() as earlier:
        earlier.setattr("arena.selection.swiss.pair", paired_once)
        before = swiss(names, rounds=5, games=1)
        games = play(before, stronger_wins(strength), most=14).games
    meetings = Counter(frozenset(game.players) for game in games)
    assert max(meetings.values()) == 2
    again = swiss(names, rounds=5, games=1)
    resumed(again, games)
    assert again.ranking() == before.ranking() and again.report_lines() == before.report_lines()
    assert len(play(again, stronger_wins(strength)).games) == 1 and again.finished


def test_rounds_may_change_but_not_who_plays() -> None:
    games = play(swiss(rounds=2), stronger_wins(strength)).games
    fewer = resumed(swiss(rounds=1), games)
    assert fewer.finished and fewer.report_lines()[-1] == "8 games of later rounds do not count here"
    assert not resumed(swiss(rounds=3), games).finished
    with pytest.raises(
        CompetitionChangedError, match=r"competition\.competitors: .* 8 players .* now has 9 players"
    ):
        resumed(swiss((*EIGHT, "i")), games)
    with pytest.raises(
        CompetitionChangedError, match=r"competition\.games: .* were played with 2, .* now has 4"
    ):
        resumed(swiss(games=4), games)
    with pytest.raises(CompetitionChangedError):
        swiss().completed(games[-1])


@pytest.mark.parametrize("name", ["r1_AvB", "AvB"])
def test_a_pairing_is_left_out_of_its_round_alone(name: str) -> None:
    selector = swiss(names=("a", "b"), rounds=2)
    first, second = selector.next_game(), selector.next_game()
    assert first is not None and second is not None
    assert {selector.void_group(first), selector.void_group(second)} == {"r1_AvB"}
    selector.exclude("matchup", name)
    # A second game of the pairing was in progress, and is void too.
    assert not selector.wants(second) and selector.excluded.matchups == {name}
    assert selector.score("a") == selector.score("b") == 1
    again = selector.next_game()
    assert again is not None and selector.void_group(again) == "r2_BvA" and selector.wants(again)
    assert selector.total == 2
