"""The gallery of what ACADEMY learnt of the cells that strong players move to."""

from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.spec import GameSpec, Placement
from academy.v1 import pattern_pb2
from academy.wire.games import read_spec
from web.drawing import draw_legend, draw_tesuji
from web.knowledge import Knowledge
from web.pages.patterns import LIBRARIES
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import seat_names

__all__ = ["show_tesujis"]

_PAGE: Final = 48
_THIRDS: Final = ("first", "second", "last")


@dataclass(frozen=True)
class _Item:
    record: pattern_pb2.TesujiRecord
    name: str
    drawing: Markup


async def show_tesujis(request: Request, knowledge: Knowledge) -> Response:
    """Show a page of a game's tesujis, the strongest first."""
    query = Query(request.query_params, ("page",))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await knowledge.game(game_id)).game)
    listed = await knowledge.tesujis(game_id, _PAGE, query.text("page"))
    here, patterns = f"/games/{game_id}/tesujis", f"/games/{game_id}/patterns"
    falling = spec.placement is Placement.DROPPED
    context = {
        "game_id": game_id,
        "libraries": {name: link(patterns, {"library": name}) for name in LIBRARIES},
        "tesujis": link(here),
        "items": [_item(record, spec) for record in listed.tesujis],
        "total": listed.total_size,
        "first": link(here) if query.text("page") else "",
        "next": link(here, {"page": listed.next_page_token}) if listed.next_page_token else "",
        "legend": draw_legend(letter for letter in "*-_xo+" if letter != "_" or falling),
    }
    return render(request, "tesujis.html", context)


def _item(record: pattern_pb2.TesujiRecord, spec: GameSpec) -> _Item:
    name = _name(record, spec)
    return _Item(record, name, draw_tesuji(record.cells, spec.geometry, name))


def _name(record: pattern_pb2.TesujiRecord, spec: GameSpec) -> str:
    """What the drawing does not show: where it is, how many pieces are turned, whose move it is."""
    if record.cells == "*":
        name = f"{record.turned} turned in the {_THIRDS[record.place]} third"
    elif not record.HasField("place"):
        name = "Anywhere"
    elif spec.placement is Placement.DROPPED:
        name = f"Row {record.place + 1} from the top"
    else:
        name = f"At {spec.cell_names[record.place] if spec.cell_names else f'cell {record.place}'}"
    return name if spec.symmetric else f"{name}, {seat_names(spec)[record.player - 1]} to move"
