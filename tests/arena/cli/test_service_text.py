"""What `arena watch` prints."""

import pytest

from arena.cli.service_text import event_lines
from arena.v1 import competitions_pb2


@pytest.mark.parametrize(
    ("result", "winners", "line"),
    [
        ("B+3.5", "a", "game 0_1: a vs b: B+3.5, won by a"),
        ("0", "ab", "game 0_1: a vs b: 0, drawn by a and b"),
        ("?", "", "game 0_1: a vs b: ?, result unknown"),
    ],
)
def test_a_game_is_a_line_with_its_result_and_who_won_it(result: str, winners: str, line: str) -> None:
    event = competitions_pb2.WatchCompetitionResponse()
    event.game.game_id, event.game.result = "0_1", result
    for name in "ab":
        event.game.players.add(name=name, winner=name in winners)
    assert event_lines(event) == [line]


def test_the_reason_of_its_end_is_in_brackets() -> None:
    event = competitions_pb2.WatchCompetitionResponse()
    event.game.game_id, event.game.result, event.game.detail = "0_1", "?", "hit the move limit of 9 plies"
    assert event_lines(event) == ["game 0_1: : ? (hit the move limit of 9 plies), result unknown"]


@pytest.mark.parametrize(("total", "games"), [(None, "3"), (12, "3/12"), (2, "3")])
def test_a_competition_is_a_line_with_its_state_and_its_games(total: int | None, games: str) -> None:
    event = competitions_pb2.WatchCompetitionResponse()
    now = event.competition
    now.name, now.kind, now.game, now.games_played = "cup", "playoff", "go", 3
    now.state = competitions_pb2.COMPETITION_STATE_RUNNING
    if total is not None:
        now.games_total = total
    assert event_lines(event) == [f"cup (playoff, go): running, {games} games played"]
