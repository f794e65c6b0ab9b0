"""Whether a referee keeps the laws that ACADEMY and the arena rely on, tried on random games.

For authors of referees: `check_referee(MyGame.from_settings({...}))` in a test, or on the command line
`python -m referees.conformance go --set board_size=9 --games 50`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from referees.conformance.games import check_description, play_and_check
from referees.conformance.laws import (
    LAWS,
    AnyReferee,
    Chooser,
    NonConformingRefereeError,
    Trial,
    UnlistedMovesError,
)

__all__ = ["LAWS", "ConformanceReport", "NonConformingRefereeError", "UnlistedMovesError", "check_referee"]


@dataclass(frozen=True)
class ConformanceReport:
    """What was tried on a referee.

    Attributes:
        game_id: The id of the game's description.
        games: The number of games played.
        finished: The number of games that ended by the rules.
        plies: The plies of all games together.
        checks: The number of checks of each law, by the law's name in `LAWS`.
    """

    game_id: str
    games: int
    finished: int
    plies: int
    checks: Mapping[str, int]


def check_referee(
    referee: AnyReferee, games: int = 20, seed: int = 0, max_plies: int = 1000, choose: Chooser | None = None
) -> ConformanceReport:
    """Play random games and check all `LAWS` in them.

    Args:
        referee: The referee on trial.
        games: The number of games to play.
        seed: The first game's seed; game number i has `seed` + i.
        max_plies: The number of plies after which a game is interrupted.
        choose: Finds a legal move, given a position, a seat and a source of chance. It is needed only for a
            game that neither lists its legal moves nor has a `random_move`.

    Returns:
        The numbers of games, finished games, moves and checks.

    Raises:
        NonConformingRefereeError: A law is broken. An exception that the referee raises without need
            breaks the law that was being checked.
        UnlistedMovesError: `choose` is missing.
    """
    trial = Trial(referee, choose)
    check_description(trial)
    played = [play_and_check(trial, game_seed, max_plies) for game_seed in range(seed, seed + games)]
    return ConformanceReport(
        trial.spec.game_id,
        games,
        sum(game.outcome is not None for game in played),
        sum(len(game.moves) for game in played),
        {law: trial.checks[law] for law in LAWS},
    )
