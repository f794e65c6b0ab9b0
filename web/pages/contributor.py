"""A player of ACADEMY as others see it: its ratings, what it contributed, and how that helped."""

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from academy.v1 import libraries_pb2
from academy.wire.games import read_spec
from web.academy_service import AcademyService, PlayerFigures
from web.failures import PageError
from web.pages.known_contests import ArenaGames, arena_games
from web.pages.patterns import LIBRARIES, PatternItem, list_pattern
from web.query import Query, link
from web.rendering import render

__all__ = ["show_contributor"]

_LONGEST_NAME: Final = 300
_GAMES_WITH_PATTERNS: Final = 3
_PATTERNS: Final = 6


@dataclass(frozen=True)
class _Gallery:
    """The newest patterns of a game that the player voted for, and the page of all of them."""

    title: str
    address: str
    items: list[PatternItem]


async def show_contributor(request: Request, academy: AcademyService) -> Response:
    """Show the player `name` over all games."""
    query = Query(request.query_params, ("name",))
    name = query.text("name")
    if not 1 <= len(name) <= _LONGEST_NAME:
        why = f"name: a player's name has 1 to {_LONGEST_NAME} characters."
        raise PageError(400, "Which player?", why, "Choose one from the page of a game.")
    players = await academy.player(name)
    if not players:
        why = f"{name[:80]!r} has played no contest that ACADEMY counts."
        raise PageError(404, "No such player", why, "Choose one from the page of a game.")
    players.sort(key=lambda figures: -figures.statistics.accepted_proposals)
    games = await arena_games(request)
    galleries = await asyncio.gather(
        *(
            _gallery(academy, figures, name, library, games)
            for figures in players[:_GAMES_WITH_PATTERNS]
            for library in LIBRARIES
            if figures.statistics.accepted_proposals
        )
    )
    context = {
        "name": name,
        "players": players,
        "rated": any(figures.elo is not None for figures in players),
        "galleries": [gallery for gallery in galleries if gallery.items],
    }
    return render(request, "contributor.html", context)


async def _gallery(
    academy: AcademyService, figures: PlayerFigures, name: str, library: str, games: ArenaGames
) -> _Gallery:
    game_id = figures.statistics.game_id
    newest_first = libraries_pb2.ListPatternsRequest(
        game_id=game_id,
        library=LIBRARIES[library],
        page_size=_PATTERNS,
        order_by="pattern_id desc",
        filter=libraries_pb2.PatternFilter(proposer=name),
        include_origin=True,
    )
    title = f"{game_id}, {library.replace('-', ' ')}"
    address = link(f"/games/{game_id}/patterns", {"library": library, "proposer": name, "order": "newest"})
    listed = await academy.ask_if_allowed(academy.libraries.ListPatterns, newest_first)
    if listed is None:
        # Patterns are for admins to list.
        return _Gallery(title, address, [])
    spec = read_spec((await academy.game(game_id)).game)
    items = [list_pattern(record, spec, library, games, name) for record in listed.patterns]
    return _Gallery(title, address, items)
