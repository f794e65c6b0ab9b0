"""Where players begin: with the Elo of the control file, with ACADEMY's, or as newcomers."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from arena.academy.session import AcademySession
from arena.control.settings import Control
from arena.results.first_ratings import ACADEMY, CONTROL_FILE, EARLIER_GAMES, NEWCOMER, FirstRating
from arena.results.series import Series
from arena.selection.kinds import players_to_check
from clients.connection import AcademyRefusedError


def settle_first_ratings(
    control: Control, series: Series, session: AcademySession | None, tell: Callable[[str], None]
) -> Control:
    """The control file with the Elo that each player begins with, which is stored before it is used.

    ACADEMY is asked for those only who have not begun yet. Raises AcademyUnavailableError and
    AcademyRefusedError.
    """
    known = series.first_ratings()
    new = [name for name in control.competitors if name not in known and name not in control.elo.fixed]
    if new:
        played = series.elo_before_first_games()
        begun = {name: FirstRating(played[name], EARLIER_GAMES) for name in new if name in played}
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


def with_first_ratings(control: Control, known: Mapping[str, FirstRating]) -> Control:
    """The control file with the Elo that players began with."""
    begin = {name: rating.elo for name, rating in known.items()}
    return replace(control, elo=replace(control.elo, begin=begin))


def _of_academy(
    control: Control, session: AcademySession, names: set[str], tell: Callable[[str], None]
) -> dict[str, FirstRating]:
    """ACADEMY's ratings of players, each in the first game that it may play here."""
    games: dict[str, list[str]] = {}
    for setup, game in players_to_check(control):
        if setup.name in names:
            games.setdefault(game.rules().spec().game_id, []).append(setup.name)
    try:
        return {
            name: FirstRating(elo, ACADEMY, game_id)
            for game_id, names in games.items()
            for name, elo in session.ratings(game_id, names).items()
        }
    except AcademyRefusedError as refusal:
        if refusal.code != "UNIMPLEMENTED":
            raise
        tell("warning: this ACADEMY is of a version that tells no ratings: all players begin as newcomers")
        return {}
