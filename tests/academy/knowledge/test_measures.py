"""LUDAE's measures, each against an example worked out by hand, and absent where unknown."""

import json
import math
from dataclasses import replace

import pytest

from academy.knowledge.contests import ContestReport, Ply, Result
from academy.knowledge.measures import Measure, Measures, Ratings

from .games import DRAW, LOSS, WIN, contest

UNKNOWN = Measure(None, 0)


def measured(*reports: ContestReport) -> dict[str, Measure]:
    return learnt(*reports).measures()


def learnt(*reports: ContestReport) -> Measures:
    measures, ratings = Measures(), Ratings()
    for report in reports:
        ratings.set_after_contest(report.contestants)
        measures.learn(report, ratings)
    return measures


def played(
    *plies: Ply, results: tuple[Result, ...] = (WIN, LOSS), start: str = "", elo: float = 1500
) -> ContestReport:
    return replace(
        contest((), results, elos=(elo,) * len(results), names=[f"p{n}" for n in range(len(results))]),
        plies=plies,
        start_states=board(start),
    )


def board(letters: str) -> bytes:
    return bytes({"-": 1, "x": 2, "b": 4, "o": 8, "w": 16, "+": 32}[letter] for letter in letters)


def test_nothing_is_known_without_contests() -> None:
    assert set(measured().values()) == {UNKNOWN}


def test_contest_without_figures_gives_only_length_and_result() -> None:
    known = {name for name, measure in measured(contest(["a", "b"])).items() if measure.value is not None}
    assert known == {"length", "length_spread", "depth", "draws", "first_player_score"}


def test_length_and_its_spread() -> None:
    measures = measured(*(contest(["x"] * plies) for plies in (10, 20, 30)))
    assert measures["length"] == Measure(20.0, 3)
    assert measures["length_spread"].value == pytest.approx(math.sqrt(200 / 3))


@pytest.mark.parametrize(("contests", "average"), [(0, 60.0), (9, 60.0), (10, 7.0), (11, 7.0)])
def test_the_average_length_is_the_games_own_estimate_until_10_contests(
    contests: int, average: float
) -> None:
    measures = learnt(*[contest(["x"] * 7)] * contests)
    assert measures.average_length(60.0) == average


def test_draws_and_the_first_players_score() -> None:
    results = [(WIN, LOSS), (WIN, LOSS), (LOSS, WIN), (DRAW, DRAW)]
    measures = measured(*(contest((), result) for result in results))
    assert measures["draws"] == Measure(0.25, 4)
    assert measures["first_player_score"] == Measure(0.625, 4)


def test_width_is_the_mean_of_the_known_legal_moves_and_size_follows() -> None:
    played_contest = played(Ply(1, "a", legal_moves=30), Ply(2, "b"), Ply(1, "c", legal_moves=10))
    measures = measured(played_contest, played(Ply(1, "a")))
    assert measures["width"] == Measure(20.0, 1, 2)
    # log10 of 20 ** 2 positions: the mean length is (3 + 1) / 2.
    assert measures["size"].value == pytest.approx(2 * math.log10(20))
    assert measures["size"].contests == 1


@pytest.mark.parametrize(
    ("elo", "players", "depth"),
    [(2000, 2, 20 + 6), (2000, 100, 20 + 3), (0, 2, 6), (-300, 10, -3 + 6)],
)
def test_depth_from_the_best_elo_and_how_many_play(elo: float, players: int, depth: float) -> None:
    reports = [
        contest((), names=(f"p{number}", f"p{number + 1}"), elos=(elo, elo - 50))
        for number in range(0, players, 2)
    ]
    assert measured(*reports)["depth"].value == pytest.approx(depth)


def test_mobility_is_moves_a_piece_times_the_share_of_empty_cells() -> None:
    report = played(
        Ply(1, "a", board("xb-o--"), legal_moves=6),  # before: 2 own pieces, 4 of 6 empty: 3 * 4/6 = 2
        Ply(2, "b", board("xb-ow-"), legal_moves=4),  # before: 1 own piece, 3 of 6 empty: 4 * 3/6 = 2
        Ply(1, "c", board("xb-ow-"), legal_moves=3),  # before: 2 own pieces, 2 of 6 empty: 1.5 * 2/6 = 0.5
        start="xb----",
    )
    assert measured(report)["mobility"] == Measure(1.5, 1, 3)


def test_cells_off_the_board_are_not_part_of_its_mobility() -> None:
    report = played(Ply(1, "a", legal_moves=2), start="x-+++-+")  # 2 moves, 2 of 3 cells empty
    assert measured(report)["mobility"].value == pytest.approx(2 * 2 / 3)


@pytest.mark.parametrize(
    "report",
    [
        played(Ply(1, "a", legal_moves=5), start=""),
        played(Ply(1, "a"), start="x-"),
        played(Ply(1, "a", legal_moves=5), start="o-"),
        played(Ply(1, "a", legal_moves=5), start="x-", results=(WIN, LOSS, LOSS)),
    ],
    ids=["no board", "no legal moves", "no own piece", "three players"],
)
def test_mobility_is_unknown_without_board_moves_and_pieces_of_two_players(report: ContestReport) -> None:
    assert measured(report)["mobility"] == UNKNOWN


def interacting(ply: int) -> tuple[Ply, ...]:
    return tuple(Ply(1, "x", interaction=number >= ply) for number in range(1, 10))


def test_tempo_is_the_plies_to_the_first_interaction() -> None:
    measures = measured(played(*interacting(3)), played(*interacting(6)), played(*interacting(99)))
    assert measures["tempo"] == Measure(4.5, 2)


def test_tempo_is_taken_from_players_of_the_top_quarter() -> None:
    def between(first: int, second: int, tempo: int) -> ContestReport:
        names, elos = (f"p{first}", f"p{second}"), (1000.0 + first, 1000.0 + second)
        return replace(contest((), names=names, elos=elos), plies=interacting(tempo))

    # The field: 11 players of Elo 1000 to 1010. Its upper quartile is player 8's Elo, 1008.
    field = [replace(between(number, number + 1, 1), plies=()) for number in range(10)]
    measures = measured(*field, between(7, 10, 2), between(8, 9, 4), between(10, 8, 9), between(0, 1, 3))
    assert measures["tempo"] == Measure(6.5, 2)


def plies_with_values(*values: tuple[int, float]) -> tuple[Ply, ...]:
    return tuple(Ply(player, "x", values={player: value}) for player, value in values)


def test_decisiveness_is_the_share_of_positions_with_advantage_that_were_won() -> None:
    # Player 1, who wins, saw two; player 2 saw one. At 0.66 it is not an advantage yet.
    report = played(*plies_with_values((1, 0.7), (2, 0.9), (1, 0.66), (2, 0.1), (1, 0.8)))
    assert measured(report)["decisiveness"] == Measure(2 / 3, 1, 3)


def test_decisiveness_and_drama_are_seen_by_players_of_the_upper_quartile() -> None:
    def between(first: float, second: float) -> ContestReport:
        plies = plies_with_values((1, 0.7), (2, 0.9), (1, 0.8), (2, 0.5))
        names = (f"{first:.0f}", f"{second:.0f}")
        return replace(contest((), names=names, elos=(first, second)), plies=plies)

    # The view of the better of two players counts: it won, and held its advantage.
    assert measured(between(2000, 0))["decisiveness"] == Measure(1.0, 1, 2)
    assert measured(between(2000, 0))["drama"] == Measure(0.0, 1, 1)
    # It lost, and gave its advantage away.
    assert measured(between(0, 2000))["decisiveness"] == Measure(0.0, 1, 1)
    assert measured(between(0, 2000))["drama"] == Measure(1.0, 1, 1)
    # Who plays below the quartile, which is 1850 with these four, is not asked.
    assert measured(between(2000, 1400), between(1300, 0))["decisiveness"] == Measure(1.0, 1, 2)


def test_sums_over_all_players_start_again_and_the_others_stay() -> None:
    sums = learnt(contest(["a"] * 3)).as_json()
    of_before = sums | {name: {"total": 5, "count": 9, "contests": 2} for name in ("decisiveness", "drama")}
    of_before = {name: value for name, value in of_before.items() if not name.endswith("_of_best")}
    restored = Measures.from_json(of_before)
    assert restored == Measures.from_json(sums)
    assert restored.measures()["decisiveness"] == UNKNOWN
    assert restored.measures()["length"] == Measure(3.0, 1)


def test_drama_is_the_share_of_moves_that_gave_an_advantage_away() -> None:
    # Player 1 has an advantage before their 2nd, 3rd and 5th move and loses it with the 3rd;
    # at 0.66 it is none any more.
    report = played(*plies_with_values((1, 0.7), (1, 0.8), (1, 0.66), (1, 0.9), (1, 0.95), (2, 0.1)))
    assert measured(report)["drama"] == Measure(1 / 3, 1, 3)


def test_decisiveness_and_drama_are_unknown_without_stated_values() -> None:
    measures = measured(played(Ply(1, "a"), Ply(2, "b", values={1: 0.9})))
    assert (measures["decisiveness"], measures["drama"]) == (UNKNOWN, UNKNOWN)


def test_stored_and_read_again_the_sums_are_the_same() -> None:
    measures = learnt(
        played(*plies_with_values((1, 0.7), (1, 0.4)), start="x-"),
        contest(["a"], (DRAW,) * 2, elos=(1.11, -3)),
    )
    restored = Measures.from_json(json.loads(json.dumps(measures.as_json())))
    assert restored == measures
    for measured_game in (measures, restored):
        measured_game.learn(contest(["a", "b"]), Ratings([("ann", 1), ("bob", 2)]))
    assert restored.measures() == measures.measures()
