"""The pattern gallery."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.boards import Geometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import libraries_pb2, pattern_pb2
from academy.wire.games import read_spec
from web.academy_service import AcademyService
from web.drawing import LETTER_MEANINGS, draw_legend, draw_pattern
from web.pages.known_contests import ArenaGames, arena_games
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import seat_names

__all__ = [
    "LIBRARIES",
    "LIBRARY_NAMES",
    "PatternItem",
    "draw_record",
    "list_pattern",
    "show_patterns",
]

_PAGE: Final = 24
LIBRARIES: Final[Mapping[str, pattern_pb2.Library.ValueType]] = {
    "middle-game": pattern_pb2.LIBRARY_MIDDLE_GAME,
    "endgame": pattern_pb2.LIBRARY_ENDGAME,
}
LIBRARY_NAMES: Final[Mapping[int, str]] = {number: name for name, number in LIBRARIES.items()}
_DEFAULT: Final = "middle-game"
_OTHER: Final = "endgame"
_ORDERS: Final = {
    "strongest": "strength desc",
    "newest": "pattern_id desc",
    "best-value": "value desc",
    "worst-value": "value",
    "highest-elo": "elo desc",
    "most-proposers": "proposers desc",
    "most-used": "uses desc",
    "most-successes": "successes desc",
}
_FILTERS: Final = (
    "cells",
    "min_size",
    "max_size",
    "min_elo",
    "max_elo",
    "min_value",
    "max_value",
    "min_proposers",
    "player",
    "proposer",
)


@dataclass(frozen=True)
class PatternItem:
    """A pattern for a gallery, with its page.

    `origin` is who proposed it first, or whose gallery it is, and in which contest; "" where not known.
    """

    record: pattern_pb2.PatternRecord
    drawing: Markup
    address: str
    origin: str


def draw_record(record: pattern_pb2.PatternRecord, geometry: Geometry) -> Markup:
    """Draw a pattern as ACADEMY sends it."""
    return draw_pattern(read_cells(record.cells, geometry), geometry, f"Pattern {record.pattern_id}")


async def show_patterns(request: Request, academy: AcademyService) -> Response:
    """Show a page of a library, filtered and ordered as the address says."""
    query = Query(request.query_params, ("library", "order", "page", *_FILTERS))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await academy.game(game_id)).game)
    library, number = query.choice("library", LIBRARIES, _DEFAULT)
    order, order_by = query.choice("order", _ORDERS, "strongest")
    state = {name: query.text(name) for name in _FILTERS}
    question = libraries_pb2.ListPatternsRequest(
        game_id=game_id,
        library=number,
        page_size=_PAGE,
        page_token=query.text("page"),
        filter=_read_filter(query, spec),
        order_by=order_by,
        include_origin=True,
    )
    listed = await academy.ask(academy.libraries.ListPatterns, question)
    if not listed.total_size and not query.text("library"):
        # A visitor who names no library wants to see patterns.
        question.library = LIBRARIES[_OTHER]
        other = await academy.ask(academy.libraries.ListPatterns, question)
        if other.total_size:
            library, listed = _OTHER, other
    games = await arena_games(request)
    here = f"/games/{game_id}/patterns"
    unchanged = {"library": library, "order": order, **state}
    context = {
        "game_id": game_id,
        "library": library,
        "libraries": {name: link(here, {**unchanged, "library": name}) for name in LIBRARIES},
        "tesujis": link(f"/games/{game_id}/tesujis"),
        "order": order,
        "orders": list(_ORDERS),
        "state": state,
        "filtered": any(state.values()),
        "items": [
            list_pattern(record, spec, library, games, state["proposer"]) for record in listed.patterns
        ],
        "total": listed.total_size,
        "first": link(here, unchanged) if query.text("page") else "",
        "next": link(here, {**unchanged, "page": listed.next_page_token}) if listed.next_page_token else "",
        "clear": link(here, {"library": library, "order": order}),
        "seats": seat_names(spec),
        "legend": draw_legend(LETTER_MEANINGS),
    }
    return render(request, "patterns.html", context)


def _read_filter(query: Query, spec: GameSpec) -> libraries_pb2.PatternFilter:
    return libraries_pb2.PatternFilter(
        proposer=query.text("proposer")[:256],
        min_elo=query.number("min_elo", -10_000, 10_000),
        max_elo=query.number("max_elo", -10_000, 10_000),
        min_size=query.whole("min_size", 0, 1_000_000),
        max_size=query.whole("max_size", 0, 1_000_000),
        cells=query.text("cells")[:256],
        min_value=query.number("min_value", 0, 1),
        max_value=query.number("max_value", 0, 1),
        min_proposers=query.whole("min_proposers", 0, 1_000_000),
        player=query.whole("player", 0, spec.players) or 0,
    )


def list_pattern(
    record: pattern_pb2.PatternRecord, spec: GameSpec, library: str, games: ArenaGames, proposer: str = ""
) -> PatternItem:
    """Return a pattern for a gallery of one proposer; "" for everybody's."""
    address = link(f"/games/{spec.game_id}/patterns/{library}/{record.pattern_id}", {"proposer": proposer})
    return PatternItem(
        record, draw_record(record, spec.geometry), address, _describe_origin(record.origin, games)
    )


def _describe_origin(origin: pattern_pb2.PatternOrigin, games: ArenaGames) -> str:
    parts = [f"by {origin.player}" if origin.player else ""]
    if origin.contest_id:
        parts.append(f"in {games.title(origin.contest_id)}")
    if origin.ply:
        parts.append(f"ply {origin.ply}")
    return ", ".join(filter(None, parts))
