"""Lists of a competition's finished games, filtered as an address says."""

from dataclasses import dataclass
from typing import Final

from arena.v1 import competitions_pb2
from referees.api import Termination
from web.arena_service import GAMES_PER_PAGE, ArenaService
from web.pages.arena_links import LONGEST_GAME, game_address
from web.query import Query, link, wrong_field

__all__ = ["FILTERS", "ListedGames", "list_games"]

FILTERS: Final = ("page", "player", "opponent", "outcome", "termination", "opening", "min", "max", "faults")
_OUTCOMES: Final = {
    "": competitions_pb2.PLAYER_OUTCOME_UNSPECIFIED,
    "won": competitions_pb2.PLAYER_OUTCOME_WON,
    "drew": competitions_pb2.PLAYER_OUTCOME_DREW,
    "lost": competitions_pb2.PLAYER_OUTCOME_LOST,
}
_YES: Final = {"": False, "yes": True}
_TERMINATIONS: Final = tuple(termination.value for termination in Termination)
_TERMINATION_CHOICES: Final = {"": "", **{name: name for name in _TERMINATIONS}}


@dataclass(frozen=True)
class ListedGames:
    """A page of games with the filter that they pass."""

    games: list[tuple[competitions_pb2.Game, str]]
    total: int
    state: dict[str, str]
    players: list[str]
    terminations: tuple[str, ...]
    path: str
    fixed: dict[str, str]
    clear: str
    first: str
    next: str
    per_page: int = GAMES_PER_PAGE


async def list_games(
    arena: ArenaService,
    competition: competitions_pb2.Competition,
    query: Query,
    path: str,
    fixed: dict[str, str],
) -> ListedGames:
    """Return the page of games that an address asks for, the newest first. Raises PageError.

    `path` is the page that shows the games, and `fixed` its own parameters, which its links keep.
    """
    outcome, wanted = query.choice("outcome", _OUTCOMES, "")
    faults, only_faults = query.choice("faults", _YES, "")
    termination, _ = query.choice("termination", _TERMINATION_CHOICES, "")
    least, most = query.whole("min", 0, LONGEST_GAME), query.whole("max", 1, LONGEST_GAME)
    if most is not None and (least or 0) > most:
        raise wrong_field("max", f"{most:,} moves at most cannot be with {least:,} at least")
    if (outcome or query.text("opponent")) and not query.text("player"):
        raise wrong_field("player", "whose result or opponent is meant? Choose a player, or neither")
    state = {
        "player": query.text("player"),
        "opponent": query.text("opponent"),
        "outcome": outcome,
        "termination": termination,
        "opening": query.text("opening"),
        "min": "" if least is None else str(least),
        "max": "" if most is None else str(most),
        "faults": faults,
    }
    which = competitions_pb2.GameFilter(
        player=state["player"],
        opponent=state["opponent"],
        outcome=wanted,
        termination=termination,
        opening=state["opening"],
        min_moves=least or 0,
        max_moves=most or 0,
        faults=only_faults,
    )
    page = query.text("page")
    listed = competitions_pb2.ListGamesResponse()
    # Before the first game there may be no results to ask about.
    if competition.games_played or competition.void_games:
        listed = await arena.games(competition.name, page, which)
    here = {**state, **fixed}
    return ListedGames(
        [(game, game_address(competition.name, game.game_id)) for game in listed.games],
        listed.total,
        state,
        list(competition.players),
        _TERMINATIONS,
        path,
        fixed,
        link(path, fixed) + "#games"
        if any(value for name, value in state.items() if name not in fixed)
        else "",
        link(path, here) + "#games" if page else "",
        link(path, {**here, "page": listed.next_page_token}) + "#games" if listed.next_page_token else "",
    )
