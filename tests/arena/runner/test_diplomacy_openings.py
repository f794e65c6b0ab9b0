"""What ACADEMY receives of a game of Diplomacy: each power's moves in their situations, and its boards."""

import pytest

from arena.academy.client import contest_message, contest_report
from arena.jobs import GameJob, GameResult, PlayerSetup
from arena.match.game import play
from referees.diplomacy import Diplomacy
from referees.diplomacy.openings import read_opening_move

RANDOM = PlayerSetup("random", ("arena.players.random_moves:random_moves",), protocol="python")
SETTINGS = {"map": "straits", "year_limit": 2}


@pytest.fixture(scope="module")
def finished() -> GameResult:
    return play(GameJob("0_0", "diplomacy", SETTINGS, (RANDOM, RANDOM), seed=4))


def test_plies_are_reported_as_openings_know_them_from_their_own_seats(finished: GameResult) -> None:
    judge = Diplomacy.from_settings(SETTINGS)
    contest = contest_message("series/0_0/1", judge.spec(), ("a", "b"), (1000.0, 1000.0))
    reported, waiting = [], list(contest_report(contest, finished).plies)
    game = judge.start(4)
    while seats := judge.to_move(game):
        turn, waiting = waiting[: len(seats)], waiting[len(seats) :]
        moves = {
            ply.player: judge.read_move(game, ply.player, read_opening_move(ply.move)[1]) for ply in turn
        }
        assert [ply.move for ply in turn] == [judge.opening_move(game, seat, moves[seat]) for seat in seats]
        game = judge.play(game, moves)
        assert [ply.board for ply in turn] == [judge.board(game, seat).letters for seat in seats]
        reported += turn
    assert not waiting
    assert not reported[0].move.startswith("[") and reported[2].move.startswith("[")


def test_records_keep_the_orders_as_they_are_written(finished: GameResult) -> None:
    assert "[" not in "".join(move.text for move in finished.moves)
