"""A record as one page of HTML that plays the game again, and needs nothing else."""

from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from referees.api import UnreadableRecordError
from referees.exact_json import parse
from referees.replay_pages import fill_page
from referees.warlight.maps import InvalidMapError, Territory, WarMap
from referees.warlight.record import VERSION

_NEEDED: Final = {
    "players": list,
    "settings": dict,
    "map": dict,
    "turns": list,
    "final": dict,
    "remarks": list,
    "final_remarks": list,
}


def replay_page(content: bytes, texts: Mapping[str, str]) -> str:
    """The page. Raises UnreadableRecordError for what is no record of one game, or of another version."""
    record = parse(content)
    if not isinstance(record, dict):
        raise UnreadableRecordError("a record of one game is a JSON object")
    if record.get("version") != VERSION:
        raise UnreadableRecordError(f"its version is {record.get('version')!r:.40}, known is {VERSION}")
    for key, kind in _NEEDED.items():
        if key not in record:
            raise UnreadableRecordError(f"it has no {key!r}")
        if not isinstance(record[key], kind):
            raise UnreadableRecordError(f"its {key!r} is {record[key]!r:.40}, which is no {kind.__name__}")
    try:
        _place(record["map"])
        _check(record)
    except (KeyError, TypeError, AttributeError, InvalidMapError) as error:
        raise UnreadableRecordError(f"its parts cannot be read: {error!r:.80}") from None
    return fill_page(resources.files("referees.warlight") / "replay.html", {"record": record, "said": texts})


def _place(war_map: dict[str, Any]) -> None:
    """Give all of a map's territories places where one has none."""
    territories = war_map["territories"]
    if all("x" in entry or "y" in entry for entry in territories):
        return
    drawn = WarMap(
        war_map["name"],
        tuple(
            Territory(
                entry["id"],
                entry["name"],
                tuple(entry["neighbours"]),
                (entry["x"], entry["y"]) if "x" in entry or "y" in entry else None,
            )
            for entry in territories
        ),
    )
    # Only pages need layouts, and those numpy.
    from referees.warlight.map_layout import with_places

    for entry, laid in zip(territories, with_places(drawn).territories, strict=True):
        entry["x"], entry["y"] = laid.place or (0.0, 0.0)


def _check(record: Mapping[str, Any]) -> None:
    """Check what the page counts on: places, and standings of all territories.

    Raises UnreadableRecordError.
    """
    ids = [entry["id"] for entry in record["map"]["territories"]]
    places = [entry[way] for entry in record["map"]["territories"] for way in ("x", "y")]
    if not all(isinstance(number, int | float) for number in places):
        raise UnreadableRecordError("a territory's place is no pair of numbers")
    near = {entry for territory in record["map"]["territories"] for entry in territory["neighbours"]}
    named = near.union(*(bonus["territories"] for bonus in record["map"]["bonuses"]))
    for turn in record["turns"]:
        named.update(event[end] for event in turn["events"] for end in ("from", "to") if end in event)
    if not named <= set(ids):
        raise UnreadableRecordError(
            f"it names territory {min(named - set(ids))}, which its map does not have"
        )
    for standing in [record["final"], *(turn["standing"] for turn in record["turns"])]:
        if len(standing["owners"]) != len(ids) or len(standing["armies"]) != len(ids):
            raise UnreadableRecordError(f"a standing is not of the map's {len(ids)} territories")
