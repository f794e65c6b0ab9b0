"""A game as one file of HTML that plays it again and needs nothing else: the viewer, with every board inside.

`python -m web.replay_file` reads the game from standard input as JSON, and writes the file to standard
output: the arena makes such files, and imports none of the pages.
"""

import base64
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, Final

from google.protobuf.json_format import ParseDict
from markupsafe import Markup

from arena.v1 import competitions_pb2
from referees.drawing import Drawing
from web.drawing import BoardMarks, DrawnBoard, draw_board
from web.game_view import clocks_of, describe_game, draw_charts
from web.rendering import ASSETS, render_part
from web.replay import GameReplay, GameStart, NoBoardError, replay_game

__all__ = ["ShownGame", "make_file"]

_SCRIPTS: Final = ("replay_file.js", "stepping.js", "zoom.js", "highlight.js")
# The boards that are drawn once more for each seat that sees less: more would make files of many megabytes.
_MOST_SEEN: Final = 2_000


@dataclass(frozen=True)
class ShownGame:
    """A finished game of a competition; `texts` are what its players read and wrote, with titles."""

    competition: competitions_pb2.Competition
    game: competitions_pb2.GetGameResponse
    texts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class _Boards:
    """The board after the last move and what changes from move to move, or why there is no board."""

    drawn: DrawnBoard | None
    elements: Sequence[str] = ()
    views: Sequence["_View"] = ()
    seats: Sequence[str] = ()
    seen_by: Sequence[int] = ()
    drawings: Sequence[Drawing] = ()
    reason: str = ""


@dataclass(frozen=True)
class _View:
    """How the game looks to all or to a seat: cells' elements by number, and what stands beside them."""

    first: list[int]
    changes: list[list[tuple[int, int]]]
    captions: list[str]
    orders: list[str]


def make_file(shown: ShownGame) -> str:
    """Return the file's content."""
    game, moves = shown.game.game, shown.game.moves
    plies = len(moves)
    boards = _draw_all(shown)
    described = describe_game(shown.game, boards.seats, boards.drawn, plies, "#{}".format)
    steps = {
        "elements": boards.elements,
        "views": [asdict(view) for view in boards.views],
        "clocks": list(_clocks(moves, described["players"])),
        "comments": ["", *(move.comment for move in moves)],
    }
    style = ASSETS["site.css"].content.decode()
    scripts = [resources.files("web").joinpath("static", name).read_text("utf-8") for name in _SCRIPTS]
    settings = json.loads(shown.game.settings_json or shown.competition.settings_json or "{}")
    context = described | {
        "competition": shown.competition,
        "settings": settings.items(),
        "events": "",
        "views": [
            (boards.seats[seat - 1] if seat else "all", f"#{plies}-{seat}", not seat)
            for seat in (0, *boards.seen_by)
        ]
        if boards.seen_by
        else [],
        "reason": boards.reason,
        "charts": draw_charts(moves, plies, boards.drawings),
        "steps": {"start": "#0", "back": f"#{plies - 1}", "forward": "", "end": ""} if plies else _NO_STEPS,
        "knowledge": [],
        "record": _as_address(shown.game.record),
        "download": f"{game.game_id}.{shown.game.record_extension or 'txt'}",
        "texts": shown.texts,
        "steps_json": _as_json(steps),
        "style": Markup(style),
        "scripts": [Markup(script) for script in scripts],
        "policy": _policy(style, scripts),
    }
    return render_part("replay_file.html", context)


_NO_STEPS: Final = {"start": "", "back": "", "forward": "", "end": ""}


def _draw_all(shown: ShownGame) -> _Boards:
    """Every board of the game. A referee that cannot play it again leaves the rest of the file."""
    game = shown.game
    start = GameStart(
        shown.competition.game,
        game.settings_json or shown.competition.settings_json,
        game.seed if game.HasField("seed") else None,
        game.arrangement,
        game.start_board,
        reads_files=True,
    )
    try:
        played = replay_game(start, [(move.seat, move.text) for move in game.moves])
    except NoBoardError as error:
        return _Boards(None, reason=str(error))
    numbers: dict[str, int] = {}
    plies = len(game.moves)
    whole, drawn = _draw_view(played, plies, 0, numbers)
    seen_by = played.views if plies * len(played.views) <= _MOST_SEEN else ()
    views = [whole, *(_draw_view(played, plies, seat, numbers)[0] for seat in seen_by)]
    return _Boards(drawn, list(numbers), views, played.seats, seen_by, played.drawings)


def _draw_view(
    played: GameReplay, plies: int, seat: int, numbers: dict[str, int]
) -> tuple[_View, DrawnBoard]:
    """All boards as a seat sees them, 0 being all, and the last; `numbers` has the elements so far."""
    view = _View([], [], [], [])
    before: list[int] = []
    for ply in range(plies + 1):
        drawing, last = played.after(ply, seat)
        drawn = draw_board(drawing, BoardMarks(last), "The board")
        now = [numbers.setdefault(element, len(numbers)) for element in drawn.cells]
        if ply:
            pairs = enumerate(zip(before, now, strict=True))
            view.changes.append([(cell, new) for cell, (old, new) in pairs if old != new])
        else:
            view.first.extend(now)
        before = now
        view.captions.append(drawing.caption)
        view.orders.append(render_part("parts/orders.html", {"orders": drawing.arrows}))
    return view, drawn


def _clocks(moves: Sequence[competitions_pb2.GameMove], players: Sequence[str]) -> Iterator[str]:
    """The clocks before the first move and after each."""
    last: dict[int, competitions_pb2.GameMove] = {}
    yield render_part("parts/clocks.html", {"clocks": [], "players": players})
    for move in moves:
        if move.HasField("clock"):
            last[move.seat] = move
        yield render_part("parts/clocks.html", {"clocks": clocks_of([*last.values()]), "players": players})


def _as_json(value: object) -> Markup:
    # Nothing in it may end the element that it stands in.
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def _as_address(record: str) -> str:
    return f"data:text/plain;base64,{base64.b64encode(record.encode()).decode()}" if record else ""


def _policy(style: str, scripts: Sequence[str]) -> str:
    """What the file may do: run its own scripts and use its own style, and load nothing."""
    ran = " ".join(map(_digest, scripts))
    return f"default-src 'none'; style-src {_digest(style)}; script-src {ran}"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(described: Mapping[str, Any]) -> ShownGame:
    return ShownGame(
        ParseDict(described["competition"], competitions_pb2.Competition()),
        ParseDict(described["game"], competitions_pb2.GetGameResponse()),
        [(title, text) for title, text in described["texts"]],
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(make_file(_read(json.load(sys.stdin))).encode())
