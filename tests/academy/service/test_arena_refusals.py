"""What the arena is refused, with the rule and the numbers, through a real channel."""

import math

import pytest

from academy.v1 import contests_pb2, game_pb2, libraries_pb2
from tests.academy.service.asking import (
    CONTEST,
    EXISTS,
    GAME,
    INVALID,
    NOT_FOUND,
    Case,
    check_refused,
    open_contest,
    register,
    report_with,
    settings,
)
from tests.academy.service.examples import contest
from tests.academy.service.running import Client

REFUSED: dict[str, Case] = {
    # Games
    "a game without an id": ("arena", register(game_id=""), INVALID, "INVALID_GAME", "", "1 to 64 letters"),
    "a game without a board": (
        "arena",
        register(geometry=game_pb2.Geometry()),
        INVALID,
        "INVALID_GAME",
        "",
        "geometry",
    ),
    "a board that is too large": (
        "arena",
        register(
            geometry=game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=65, columns=64)), cell_names=[]
        ),
        INVALID,
        "INVALID_BOARD",
        "",
        "at most 4096",
    ),
    "a game without players": ("arena", register(players=0), INVALID, "INVALID_GAME", "", "1 to 64"),
    "a symmetry the board does not have": (
        "arena",
        register(symmetries=["identity", "rotate 60"]),
        INVALID,
        "INVALID_GAME",
        "",
        "'rotate 60'",
    ),
    "a game whose length is not a number": (
        "arena",
        register(expected_length=math.nan),
        INVALID,
        "INVALID_GAME",
        "",
        "nan",
    ),
    "settings that are not numbers": (
        "arena",
        register(settings=settings(prune_below=math.nan)),
        INVALID,
        "INVALID_SETTINGS",
        "",
        "prune_below nan",
    ),
    "another game under the same id": (
        "arena",
        register(game_id=GAME, expected_length=31.0),
        EXISTS,
        "GAME_CONFLICT",
        "",
        "differs in expected_length",
    ),
    # Contests
    "a contest of an unknown game": (
        "arena",
        open_contest(contest("c", "chess")),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'chess'",
    ),
    "a contest without id": (
        "arena",
        open_contest(contest("", GAME)),
        INVALID,
        "INVALID_RECORD",
        "contest_id",
        "1 to 128 printable",
    ),
    "a contest whose id is too long": (
        "arena",
        open_contest(contest("c" * 129, GAME)),
        INVALID,
        "INVALID_RECORD",
        "contest_id",
        "1 to 128",
    ),
    "a contest of too few players": (
        "arena",
        open_contest(contest("c", GAME, ("ann",))),
        INVALID,
        "INVALID_RECORD",
        "players",
        "1 given",
    ),
    "a player without name": (
        "arena",
        open_contest(contest("c", GAME, ("ann", ""))),
        INVALID,
        "INVALID_RECORD",
        "players[1].name",
        "1 to 128",
    ),
    "a name with a mark that turns text round": (
        "arena",
        open_contest(contest("c", GAME, ("ann", "b\u202eob"))),
        INVALID,
        "INVALID_RECORD",
        "players[1].name",
        "cannot be seen",
    ),
    "a name in another normal form": (
        "arena",
        open_contest(contest("c", GAME, ("ann", "Andre\u0301"))),
        INVALID,
        "INVALID_RECORD",
        "players[1].name",
        "normal form C",
    ),
    "an Elo that is not a number": (
        "arena",
        open_contest(contest("c", GAME, elos=(1500.0, math.nan))),
        INVALID,
        "INVALID_RECORD",
        "players[1].elo",
        "nan",
    ),
    "an Elo beyond all bounds": (
        "arena",
        open_contest(contest("c", GAME, elos=(1e9, 0.0))),
        INVALID,
        "INVALID_RECORD",
        "players[0].elo",
        "100000",
    ),
    "other players in the same contest": (
        "arena",
        open_contest(contest(CONTEST, GAME, ("ann", "carl"))),
        EXISTS,
        "CONTEST_CONFLICT",
        "",
        "is known already and differs in players: use another id",
    ),
    "a contest nobody opened": (
        "arena",
        lambda client: client.contests.GetContest(contests_pb2.GetContestRequest(contest_id="none")),
        NOT_FOUND,
        "UNKNOWN_CONTEST",
        "",
        "'none'",
    ),
    # Reports
    "a report with a wrong board": (
        "arena",
        report_with(lambda played: setattr(played.plies[1], "board", "-")),
        INVALID,
        "INVALID_RECORD",
        "plies[1].board",
        "1 letters",
    ),
    "a report with too few results": (
        "arena",
        report_with(lambda played: played.results.pop()),
        INVALID,
        "INVALID_RECORD",
        "results",
        "1 given",
    ),
    "a report without result": (
        "arena",
        report_with(lambda played: played.results.__setitem__(0, contests_pb2.RESULT_UNSPECIFIED)),
        INVALID,
        "INVALID_RECORD",
        "results[0]",
        "0",
    ),
    "a report of a value that is not a number": (
        "arena",
        report_with(lambda played: played.plies[0].values.add(player=1, value=math.nan)),
        INVALID,
        "INVALID_RECORD",
        "plies[0].values",
        "nan",
    ),
    "a report of a player who is none": (
        "arena",
        report_with(lambda played: setattr(played.plies[0], "player", 3)),
        INVALID,
        "INVALID_RECORD",
        "plies[0].player",
        "3",
    ),
    "a report of an empty move": (
        "arena",
        report_with(lambda played: setattr(played.plies[0], "move", "")),
        INVALID,
        "INVALID_RECORD",
        "plies[0].move",
        "1 to 1,024",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.threat("bad_input")
def test_an_arena_that_breaks_a_rule_is_refused_by_name(everyone: dict[str, Client], case: str) -> None:
    check_refused(everyone, REFUSED[case])


def test_refused_writes_leave_nothing_behind(everyone: dict[str, Client]) -> None:
    admin = everyone["admin"]
    games = admin.contests.ListGames(contests_pb2.ListGamesRequest()).games
    assert [game.game_id for game in games] == [GAME]
    statistics = admin.libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=GAME))
    assert (statistics.contests, statistics.generation) == (0, 1)
