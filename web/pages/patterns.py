"""The pattern gallery, and one pattern by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.boards import Geometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import libraries_pb2, pattern_pb2
from academy.wire.games import read_spec
from web.drawing import LETTER_MEANINGS, draw_legend, draw_pattern
from web.failures import PageError
from web.knowledge import Knowledge
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import seat_names

__all__ = ["LIBRARIES", "draw_record", "show_pattern", "show_patterns"]

_PAGE: Final = 24
LIBRARIES: Final[Mapping[str, pattern_pb2.Library.ValueType]] = {
    "middle-game": pattern_pb2.LIBRARY_MIDDLE_GAME,
    "endgame": pattern_pb2.LIBRARY_ENDGAME,
}
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
_FILTERS: Final = ("min_elo", "min_value", "max_value", "min_proposers", "player", "proposer")
_MOST_VOTES: Final = 200


@dataclass(frozen=True)
class _Item:
    record: pattern_pb2.PatternRecord
    drawing: Markup
    address: str


def draw_record(record: pattern_pb2.PatternRecord, geometry: Geometry) -> Markup:
    """Draw a pattern as ACADEMY sends it.

    Args:
        record: The pattern.
        geometry: The board of its game.
    """
    return draw_pattern(read_cells(record.cells, geometry), geometry, f"Pattern {record.pattern_id}")


async def show_patterns(request: Request, knowledge: Knowledge) -> Response:
    """Show a page of a library, filtered and ordered as the address says."""
    query = Query(request.query_params, ("library", "order", "page", *_FILTERS))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await knowledge.game(game_id)).game)
    library, number = query.choice("library", LIBRARIES, "middle-game")
    order, order_by = query.choice("order", _ORDERS, "strongest")
    state = {name: query.text(name) for name in _FILTERS}
    listed = await knowledge.patterns(
        libraries_pb2.ListPatternsRequest(
            game_id=game_id,
            library=number,
            page_size=_PAGE,
            page_token=query.text("page"),
            filter=_read_filter(query, spec),
            order_by=order_by,
        )
    )
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
        "items": [_item(record, spec, library) for record in listed.patterns],
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
        min_value=query.number("min_value", 0, 1),
        max_value=query.number("max_value", 0, 1),
        min_proposers=query.whole("min_proposers", 0, 1_000_000),
        player=query.whole("player", 0, spec.players) or 0,
    )


def _item(record: pattern_pb2.PatternRecord, spec: GameSpec, library: str) -> _Item:
    address = link(f"/games/{spec.game_id}/patterns/{library}/{record.pattern_id}")
    return _Item(record, draw_record(record, spec.geometry), address)


async def show_pattern(request: Request, knowledge: Knowledge) -> Response:
    """Show one pattern with its label and its votes."""
    Query(request.query_params, ())
    game_id = check_game_id(request.path_params["game_id"])
    library, pattern_id = request.path_params["library"], request.path_params["pattern_id"]
    if library not in LIBRARIES or not (
        pattern_id.isascii() and pattern_id.isdigit() and len(pattern_id) < 19
    ):
        why = f"Patterns are in the libraries {' and '.join(LIBRARIES)} and have numbers."
        raise PageError(404, "No such pattern", why, "Look for it in the gallery.")
    spec = read_spec((await knowledge.game(game_id)).game)
    record = await knowledge.pattern(game_id, LIBRARIES[library], int(pattern_id))
    letters = {letter for letter in LETTER_MEANINGS if letter in _letters_of(record, spec)}
    context = {
        "game_id": game_id,
        "library": library,
        "record": record,
        "drawing": draw_record(record, spec.geometry),
        "label": _label(record),
        "addressed": seat_names(spec)[(record.signature.player or 1) - 1],
        "votes": [_vote(vote) for vote in record.votes[:_MOST_VOTES]],
        "silent": [_vote(vote) for vote in record.silent_votes[:_MOST_VOTES]],
        "legend": draw_legend(letter for letter in LETTER_MEANINGS if letter in letters),
        "gallery": link(f"/games/{game_id}/patterns", {"library": library}),
    }
    return render(request, "pattern.html", context)


def _letters_of(record: pattern_pb2.PatternRecord, spec: GameSpec) -> set[str]:
    # On a map the names of places stand beside the letters.
    graph = spec.geometry.__class__.__name__ == "GraphGeometry"
    return {line[:1] for line in record.cells.splitlines()} if graph else set(record.cells)


def _label(record: pattern_pb2.PatternRecord) -> str:
    signature = record.signature
    return f"< {signature.proposers}; {signature.elo:.0f}; {signature.value:.2f}; {signature.player} >"


def _vote(vote: pattern_pb2.Vote) -> dict[str, Any]:
    return {
        "player": vote.player,
        "elo": f"{vote.elo_hundredths / 100:.0f}",
        "value": f"{vote.value_millionths / 1e6:.3f}",
        "event": vote.event,
    }
