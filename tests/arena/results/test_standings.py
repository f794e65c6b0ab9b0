"""Standings and cross-table."""

from arena.jobs import Fault
from arena.ratings.elo import EloRules
from arena.results.games import FinishedGame
from arena.results.standings import Score, Standings
from referees.api import Outcome, Termination


def game(
    players: tuple[str, ...],
    winners: tuple[int, ...],
    termination: Termination = Termination.SCORE,
    cpu: tuple[float | None, ...] = (),
    faults: tuple[Fault, ...] = (),
) -> FinishedGame:
    elo = tuple(1000.0 + 10 * (seat in winners) for seat in range(1, len(players) + 1))
    outcome = Outcome(winners, termination, "?")
    return FinishedGame(
        "AvB_0",
        "AvB",
        players,
        outcome,
        cpu or (None,) * len(players),
        (1000.0,) * 2,
        elo,
        faults or (Fault.NONE,) * len(players),
    )


def test_a_players_line_has_its_score_points_forfeits_and_mean_time() -> None:
    standings = Standings(
        ["a", "b"],
        EloRules(),
        [
            game(("a", "b"), (1,), cpu=(2.0, 1.0)),
            game(("b", "a"), (1,), Termination.FORFEIT, cpu=(1.0, 4.0)),
            game(("a", "b"), (1, 2), cpu=(None, 1.0)),
            game(("a", "b"), ()),
        ],
    )
    by_name = {player.name: player for player in standings.table()}
    a = by_name["a"]
    assert a.score == Score(wins=1, draws=1, losses=1, unknown=1)
    assert (a.score.games, a.points, a.forfeits, a.mean_cpu) == (4, 1.5, 1, 3.0)
    assert by_name["b"].mean_cpu == 1.0
    assert standings.against("a", "b") == a.score
    assert standings.against("a", "nobody") == Score()


def test_a_players_faults_count_whether_it_lost_by_them_or_not() -> None:
    late, gone, fine = Fault.LATE, Fault.DISCONNECTED, Fault.NONE
    standings = Standings(
        ["a", "b"],
        EloRules(),
        [
            game(("a", "b"), (2,), Termination.FORFEIT, faults=(late, fine)),
            game(("a", "b"), (2,), Termination.FORFEIT, faults=(gone, late)),
            # Late once, it went on.
            game(("a", "b"), (2,), faults=(late, fine)),
            game(("a", "b"), (), Termination.FORFEIT, faults=(late, late)),
        ],
    )
    a, b = (next(player for player in standings.table() if player.name == name) for name in "ab")
    assert (a.forfeits, a.time_losses, a.faults) == (2, 1, {late: 3, gone: 1})
    assert (b.forfeits, b.time_losses, b.faults) == (0, 0, {late: 2})


def test_the_best_share_of_points_comes_first_and_players_without_games_last() -> None:
    standings = Standings(
        ["idle", "often", "seldom"],
        EloRules(),
        [game(("often", "x"), (1,)), game(("often", "x"), (2,)), game(("seldom", "x"), (1,))],
    )
    assert [player.name for player in standings.table()] == ["seldom", "often", "x", "idle"]


def test_a_shared_win_of_many_shares_one_point() -> None:
    standings = Standings(list("abcd"), EloRules(), [game(tuple("abcd"), (1, 2))])
    assert [player.points for player in standings.table()] == [0.5, 0.5, 0.0, 0.0]
    assert standings.against("a", "b").draws == 1
    assert standings.against("a", "c").wins == 1
    assert standings.against("c", "d").draws == 1


def test_fixed_players_stand_at_their_elo() -> None:
    standings = Standings(["a", "b"], EloRules(fixed={"a": 0.0}), [game(("a", "b"), (1,))])
    assert standings.elo("a") == 0.0 and standings.elo("b") == 1000.0
