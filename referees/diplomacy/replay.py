"""A record as one page of HTML that plays the game again, and needs nothing else."""

from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from referees.api import UnreadableRecordError
from referees.diplomacy.drawing import Drawing, drawing_of
from referees.diplomacy.map import (
    InvalidMapError,
    Map,
    Terrain,
    UnknownPlaceError,
    read_map,
    shipped_map,
)
from referees.diplomacy.record import parse_record
from referees.drawing import Point
from referees.replay_pages import fill_page


def replay_page(content: bytes, texts: Mapping[str, str]) -> str:
    """The page. Raises UnreadableRecordError for what is no record of one game on a map that is known."""
    record = parse_record(content)
    try:
        text = record.get("map_text")
        board = read_map(text) if isinstance(text, str) else shipped_map(str(record.get("map")))
        drawing = drawing_of(board)
    except (UnknownPlaceError, InvalidMapError) as error:
        raise UnreadableRecordError(str(error)) from None
    try:
        _check(board, record)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableRecordError(f"its parts cannot be read: {error!r:.100}") from None
    data = {"record": record, "map": map_content(board, drawing), "messages": texts}
    return fill_page(resources.files("referees.diplomacy") / "replay.html", data)


def map_content(board: Map, drawing: Drawing) -> dict[str, Any]:
    """A map and its drawing as JSON: outlines and lines as paths of SVG."""
    homes = {home: power.code for power in board.powers for home in power.homes}
    return {
        "name": board.name,
        "width": drawing.width,
        "height": drawing.height,
        "win": board.centres_to_win,
        "powers": [
            {"code": power.code, "name": power.name, "colour": colour}
            for power, colour in zip(board.powers, drawing.colours, strict=True)
        ],
        "provinces": [
            {
                "code": code,
                "name": board.names[number],
                "kind": board.terrain[number].name.lower(),
                "shape": _outlines(drawing.shapes[number]),
                "at": _rounded(drawing.places[board.main_location[number]]),
                "centre": number in board.centres,
                "home": homes.get(number),
            }
            for number, code in enumerate(board.codes)
        ],
        "places": {
            code: _rounded(place) for code, place in zip(board.location_codes, drawing.places, strict=True)
        },
        "impassable": _outlines(drawing.impassable),
        "borders": {
            kind: "".join(
                f"M{_svg_point(first)}L{_svg_point(last)}"
                for what, first, last in drawing.borders
                if what == kind
            )
            for kind in ("sea", "land", "coast")
        },
        "links": "".join(f"M{_svg_point(first)}L{_svg_point(last)}" for first, last in drawing.links),
        "seas": [code for code, kind in zip(board.codes, board.terrain, strict=True) if kind is Terrain.SEA],
    }


def _outlines(shapes: Iterable[Iterable[Point]]) -> str:
    return "".join("M" + "L".join(map(_svg_point, shape)) + "Z" for shape in shapes)


def _svg_point(point: Point) -> str:
    return ",".join(f"{number:.1f}".removesuffix(".0") for number in point)


def _rounded(point: Point) -> list[float]:
    return [round(number, 1) for number in point]


def _check(board: Map, record: Mapping[str, Any]) -> None:
    """Check what the page counts on: powers, units and centres of the map. Raises UnreadableRecordError."""
    _texts(record["players"].values())
    _texts(record["remarks"])
    for phase in [*record["phases"], record["final"]]:
        _texts([phase["phase"]])
        _check_standing(board, phase)
        for code, results in phase.get("results", {}).items():
            board.power(code)
            for result in results:
                _texts([result["order"], result["outcome"], result.get("reason", "")])
        for code, moves in phase.get("moves", {}).items():
            board.power(code)
            _texts([moves])
        _texts(phase.get("comments", {}).values())
        _texts(phase.get("openings", {}).values())
        if not all(isinstance(value, int | float) for value in phase.get("values", {}).values()):
            raise UnreadableRecordError(f"a value in {phase['phase']} is no number")


def _check_standing(board: Map, phase: Mapping[str, Any]) -> None:
    for code, units in phase["units"].items():
        power = board.power(code)
        for unit in units:
            board.unit(power, unit)
    for code, centres in phase["centres"].items():
        board.power(code)
        for centre in centres:
            if board.province(centre) not in board.centres:
                raise UnreadableRecordError(f"{centre!r} in {phase['phase']} is no supply centre")
    for entry in phase.get("dislodged", []):
        board.unit(board.power(entry["power"]), entry["unit"])


def _texts(values: Iterable[object]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise UnreadableRecordError(f"{value!r:.40} stands where a text should")
