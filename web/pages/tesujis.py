"""The gallery of what ACADEMY learnt of the cells that strong players move to."""

from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.tesujis.shapes import PROPOSED
from academy.v1 import libraries_pb2, pattern_pb2
from academy.wire.games import read_spec
from academy.wire.tesujis import read_fight
from web.academy_service import AcademyService
from web.drawing import draw_legend, draw_tesuji
from web.pages.patterns import LIBRARIES
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import seat_names

__all__ = ["show_tesujis"]

_PAGE: Final = 48
# What pages call them, and ACADEMY.
_ORDERS: Final = {"sought": "weight desc", "avoided": "weight", "best-known": "strength desc"}
_THIRDS: Final = ("first", "second", "last")


@dataclass(frozen=True)
class _Item:
    """A tesuji for the gallery; `comes_back` says what teaches it again once it is deleted."""

    record: pattern_pb2.TesujiRecord
    name: str
    drawing: Markup
    comes_back: str


async def show_tesujis(request: Request, academy: AcademyService) -> Response:
    """Show a page of a game's tesujis in the `order` that the address says."""
    query = Query(request.query_params, ("order", "page"))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await academy.game(game_id)).game)
    order, order_by = query.choice("order", _ORDERS, "sought")
    listed = await academy.ask(
        academy.libraries.ListTesujis,
        libraries_pb2.ListTesujisRequest(
            game_id=game_id, page_size=_PAGE, page_token=query.text("page"), order_by=order_by
        ),
    )
    following = listed.next_page_token
    here, patterns = f"/games/{game_id}/tesujis", f"/games/{game_id}/patterns"
    falling = spec.placement is Placement.DROPPED
    context = {
        "game_id": game_id,
        "libraries": {name: link(patterns, {"library": name}) for name in LIBRARIES},
        "tesujis": link(here),
        "orders": {name: link(here, {"order": name}) for name in _ORDERS},
        "order": order,
        "items": [_item(record, spec) for record in listed.tesujis],
        "total": listed.total_size,
        "first": link(here, {"order": order}) if query.text("page") else "",
        "next": link(here, {"order": order, "page": following}) if following else "",
        "legend": draw_legend(letter for letter in "*-_xo+" if letter != "_" or falling),
    }
    return render(request, "tesujis.html", context)


def _item(record: pattern_pb2.TesujiRecord, spec: GameSpec) -> _Item:
    name = _name(record, spec)
    comes_back = (
        "It stays away until a player proposes it again."
        if record.code >= PROPOSED
        else "Contests that have it teach it again, from weight 0."
    )
    return _Item(record, name, draw_tesuji(record.cells, spec.geometry, name), comes_back)


def _name(record: pattern_pb2.TesujiRecord, spec: GameSpec) -> str:
    """What the drawing does not show: the place, pieces turned, what becomes of chains, whose move it is."""
    if (fight := read_fight(record)) is not None:
        name = str(fight).capitalize()
    elif record.cells == "*":
        name = f"{record.turned} turned in the {_THIRDS[record.place]} third"
    elif not record.HasField("place"):
        name = "Anywhere"
    elif spec.placement is Placement.DROPPED:
        name = f"Row {record.place + 1} from the top"
    else:
        name = f"At {spec.cell_names[record.place] if spec.cell_names else f'cell {record.place}'}"
    return name if spec.symmetric else f"{name}, {seat_names(spec)[record.player - 1]} to move"
