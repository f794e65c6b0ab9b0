"""A record as one page of HTML that plays the game again, and needs nothing else."""

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from referees.api import UnreadableRecord
from referees.warlight.record import VERSION

_PAGE: Final = "replay.html"
_PLACE: Final = '{"here": "the game"}'
_NEEDED: Final = ("players", "settings", "map", "turns", "final", "remarks", "final_remarks")


def replay_page(content: bytes, said: Mapping[str, str]) -> str:
    """The page. Raises UnreadableRecord for what is no record of one game, or of another version."""
    try:
        record: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord(f"no JSON: {error}") from None
    if not isinstance(record, dict):
        raise UnreadableRecord("a record of one game is a JSON object")
    if record.get("version") != VERSION:
        raise UnreadableRecord(f"its version is {record.get('version')!r:.40}, known is {VERSION}")
    for key in _NEEDED:
        if key not in record:
            raise UnreadableRecord(f"it has no {key!r}")
    page = (resources.files("referees.warlight") / _PAGE).read_text(encoding="utf-8")
    # Together, so that nothing in the one is taken for the place of the other.
    data = _within_script({"record": record, "said": said})
    return page.replace(_PLACE, data, 1)


def _within_script(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
