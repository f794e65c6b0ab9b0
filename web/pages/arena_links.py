"""Addresses of the pages of competitions: what they name, and how they are written."""

from typing import Final

from starlette.requests import Request

from web.failures import PageError
from web.live import Feeds
from web.query import Query, link

__all__ = ["LONGEST_GAME", "feeds_of", "game_address", "name_of", "player_address"]

# The moves of a game: a control file's `move_limit` is no larger.
LONGEST_GAME: Final = 1_000_000


def name_of(query: Query) -> str:
    """Return the competition that an address names. Raises PageError where it names none."""
    name = query.text("name")
    if not name:
        why = "The address names no competition."
        raise PageError(400, "Which competition?", why, "Choose one from the list of competitions.")
    return name


def game_address(name: str, game_id: str, ply: int | None = None) -> str:
    """Return the address of a game's page after some moves.

    None is for the last, and for a game in progress to follow it.
    """
    return link("/competition/game", {"name": name, "game": game_id, "ply": ply})


def player_address(name: str, player: str) -> str:
    """Return the address of a player's page."""
    return link("/competition/player", {"name": name, "player": player})


def feeds_of(request: Request) -> Feeds:
    """Return the games in progress that are watched."""
    feeds: Feeds = request.app.state.feeds
    return feeds
