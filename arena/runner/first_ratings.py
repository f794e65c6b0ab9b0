"""Where players begin: with the league's Elo, the control file's, ACADEMY's, or as newcomers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from arena.control.settings import Control
from arena.jobs import PlayerSetup
from arena.results.first_ratings import (
    ACADEMY,
    CONTROL_FILE,
    EARLIER_GAMES,
    NEWCOMER,
    FirstRating,
    with_first_ratings,
)
from arena.results.series import Series
from arena.selection.kinds import players_to_check

if TYPE_CHECKING:
    from arena.academy.session import AcademySession

RatingsIn = Callable[[str, Sequence[PlayerSetup]], Mapping[str, float]]
"""The Elo, by name, of those players who are known in a game."""


def settle_first_ratings(
    control: Control,
    series: Series,
    in_league: RatingsIn | None,
    session: "AcademySession | None",
    tell: Callable[[str], None],
) -> Control:
    """The control file with the Elo that each player begins with, which is stored before it is used.

    The league and ACADEMY are asked for those only who have not begun yet. Raises AcademyUnavailableError,
    AcademyRefusedError and SQLAlchemyError.
    """
    known = series.first_ratings()
    new = [name for name in control.competitors if name not in known and name not in control.elo.fixed]
    if new:
        played = series.elo_before_first_games(new)
        begun = {name: FirstRating(played[name], EARLIER_GAMES) for name in new if name in played}
        if in_league is not None:
            for game_id, setups in _games(control, set(new) - set(begun)).items():
                known_there = in_league(game_id, setups).items()
                begun |= {name: FirstRating(elo, EARLIER_GAMES, game_id) for name, elo in known_there}
        begun |= {
            name: FirstRating(elo, CONTROL_FILE)
            for name, elo in control.elo.begin.items()
            if name in new and name not in begun
        }
        if session is not None and control.begins_at_academy:
            begun |= _of_academy(control, session, set(new) - set(begun), tell)
        rest = (name for name in new if name not in begun)
        begun |= {name: FirstRating(control.elo.start, NEWCOMER) for name in rest}
        series.keep_first_ratings(begun)
        for name in new:
            if begun[name].source != NEWCOMER:
                tell(f"player {name} begins at Elo {begun[name].elo:.0f} ({begun[name].reason})")
        known |= begun
    return with_first_ratings(control, known)


def _games(control: Control, names: Collection[str]) -> dict[str, list[PlayerSetup]]:
    """Players by the first game that each may play here."""
    games: dict[str, list[PlayerSetup]] = {}
    for setup, game in players_to_check(control):
        if setup.name in names:
            games.setdefault(game.rules().spec().game_id, []).append(setup)
    return games


def _of_academy(
    control: Control, session: "AcademySession", names: set[str], tell: Callable[[str], None]
) -> dict[str, FirstRating]:
    """ACADEMY's ratings of players."""
    from clients.connection import AcademyRefusedError

    try:
        return {
            name: FirstRating(elo, ACADEMY, game_id)
            for game_id, setups in _games(control, names).items()
            for name, elo in session.ratings(game_id, [setup.name for setup in setups]).items()
        }
    except AcademyRefusedError as refusal:
        if refusal.code != "UNIMPLEMENTED":
            raise
        tell("warning: this ACADEMY is of a version that tells no ratings: all players begin as newcomers")
        return {}
