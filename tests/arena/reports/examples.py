"""Competitions with results in a real database, and their reports."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from arena.control.settings import Control
from arena.control.toml_file import read
from arena.jobs import PlayerUsage
from arena.reports.assembly import assemble
from arena.reports.contents import CompetitionReport
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.game_settings import GameSetting
from arena.results.series import PlannedGame, Series
from arena.runner.game_jobs import setting_of
from referees.api import Outcome, Termination
from tests.arena.results.examples import heading, play_game, registered, result

PLAYERS = """
[game]
name = "go"
board_size = 9
komi = 7.5

[players.alpha]
command = "alpha --<level> 1"

[players.beta]
command = "beta"

[players.gamma]
command = "gamma"
"""

ALL_PLAY_ALL = f"""
[competition]
kind = "all-play-all"
description = "Three <of> them"
rounds = 3
{PLAYERS}
"""

PLAYOFF = f"""
[competition]
kind = "playoff"
games = 4
alternating = true

[[matchups]]
id = "old"
players = ["alpha", "beta"]

[[matchups]]
id = "handy"
name = "the big one"
players = ["beta", "gamma"]
game.board_size = 13
games = 2
{PLAYERS}
"""

Game = tuple[str, str, str, str]
"""Its id, its players by seat, and its result: B, W, 0 or ?."""


@contextmanager
def played(folder: Path, control: str, games: Sequence[Game]) -> Iterator[Series]:
    """A competition called `cup` whose games have been played."""
    path = folder / "cup.toml"
    path.write_text(control)
    settings = read(path)
    with closing(ResultsDatabase.open(sqlite_url(folder / "cup.results.sqlite"))) as database:
        series = registered(
            database,
            heading(
                list(settings.players.values()),
                settings.game,
                name="cup",
                kind=settings.kind,
                ordered=False,
            ),
        )
        elo = dict.fromkeys(settings.players, 1000.0)
        for game_id, black, white, summary in games:
            winners = {"B": (1,), "W": (2,), "0": (1, 2), "?": ()}[summary]
            outcome = Outcome(winners, Termination.SCORE, summary)
            matchup = game_id.rpartition("_")[0]
            players = [settings.players[black], settings.players[white]]
            planned = PlannedGame(matchup, players, setting=_setting(settings, matchup))
            before = (elo[black], elo[white])
            after = settings.elo.rate((black, white), before, winners)
            elo[black], elo[white] = after
            usage = tuple(
                PlayerUsage(
                    1.25, 2.5, 12_500_000, engine_name=f"{name}:1.0", engine_description=f"{name} & <co>"
                )
                for name in (black, white)
            )
            play_game(series, planned, result(game_id, outcome, usage=usage), (before, after))
        yield series


def _setting(control: Control, matchup: str) -> GameSetting:
    games = {matchup.matchup_id: matchup.game for matchup in getattr(control.plan, "matchups", ())}
    game = games.get(matchup, control.game)
    return setting_of(game)


def report_of(folder: Path, control: str, games: Sequence[Game]) -> CompetitionReport:
    """The report of such a competition."""
    with played(folder, control, games) as series:
        return assemble(read(folder / "cup.toml"), "cup", series)


ALL_PLAYED: Sequence[Game] = [
    ("AvB_0", "alpha", "beta", "B"),
    ("AvC_0", "alpha", "gamma", "B"),
    ("BvC_0", "beta", "gamma", "W"),
    ("AvB_1", "beta", "alpha", "B"),
    ("AvC_1", "gamma", "alpha", "0"),
    ("BvC_1", "gamma", "beta", "?"),
    ("AvB_2", "alpha", "beta", "B"),
]
