"""Games and headings for the tests of the results."""

from collections.abc import Sequence

from arena.control.plans import GameSettings
from arena.jobs import Fault, GameResult, JobMove, PlayerSetup, PlayerUsage
from arena.results.database import ResultsDatabase
from arena.results.game_settings import GameSetting
from arena.results.games import FinishedGame
from arena.results.registration import Heading, Platform
from arena.results.series import Attempt, PlannedGame, Series
from referees.api import Outcome, Termination

BLACK_WINS = Outcome((1,), Termination.SCORE, "B+3.5", (43.0, 39.5))


def player(name: str, command: str = "engine") -> PlayerSetup:
    return PlayerSetup(name, (command, name), move_seconds=2.5)


GAME = GameSettings("go", {"komi": 7.5, "board_size": 9}, 100)


def heading(
    players: Sequence[PlayerSetup] = (player("a"), player("b")), game: GameSettings = GAME, **changes: object
) -> Heading:
    values: dict[str, object] = {
        "name": "contest",
        "kind": "all-play-all",
        "description": "a test",
        "selector": "all-play-all rounds=2 competitors=a,b",
        "games": 2,
        "setting": GameSetting(game, "go-9x9", ("Black", "White")),
        "players": players,
        "platform": Platform("a machine", 1.0, 3),
    }
    return Heading(**{**values, **changes})  # type: ignore[arg-type]


def registered(database: ResultsDatabase, described: Heading | None = None) -> Series:
    """A competition that is entered as a run does it, ready for games."""
    described = described or heading()
    series = Series.register(database, described)
    series.describe(described)
    return series


def result(game_id: str = "AvB_0", outcome: Outcome | None = BLACK_WINS, **changes: object) -> GameResult:
    values: dict[str, object] = {
        "game_id": game_id,
        "outcome": outcome,
        "void_reason": "" if outcome else "player b: it crashed",
        "moves": (
            JobMove(1, "D4", "x" + "-" * 80, 81, False, 0.5, {1: 0.55}, "centre"),
            JobMove(2, "E5", "xo" + "-" * 79, 80, False, 0.25, {1: 0.5, 2: 0.5}),
            JobMove(1, "pass", "xo" + "-" * 79, 80, True, 0.125),
        ),
        "start_board": "-" * 81,
        "usage": (
            PlayerUsage(1.5, 2.0, 10_000_000, engine_name="GNU Go:3.8"),
            PlayerUsage(wall_seconds=1.0, fault=Fault.LATE, remark="no answer to genmove in 2.5 s"),
        ),
        "record": "(;FF[4])",
        "record_extension": "sgf",
        "started": 1_000_000_000.0,
        "setup_seconds": 0.5,
        "play_seconds": 3.0,
        "warnings": ("slow",),
    }
    return GameResult(**{**values, **changes})  # type: ignore[arg-type]


def play_game(
    series: Series,
    planned: PlannedGame,
    game: GameResult,
    elo: tuple[Sequence[float], Sequence[float]] | None = None,
) -> bool:
    """Store that a game begins, and its result, as a run does; its players have `elo` before and after it."""
    attempt = series.next_attempt(game.game_id)
    series.begin(attempt, None, planned)
    names = [setup.name for setup in planned.players]
    before, after = elo or ((1000.0,) * len(names),) * 2
    finished = FinishedGame.from_result(planned.matchup, names, game, before, after)
    return series.finish(attempt, finished, game, 7, None)


def finish_game(
    series: Series, attempt: Attempt, game: GameResult, matchup: str = "AvB", report: bytes | None = None
) -> bool:
    """Store that `a` as Black and `b` as White have played a game, which moves their Elo by 15."""
    finished = FinishedGame.from_result(matchup, ("a", "b"), game, (1000.0, 1000.0), (1015.0, 985.0))
    return series.finish(attempt, finished, game, 7, report)
