"""Pages of HTML that play a game again and need nothing else: what those of all games have in common.

A game's page is a document of its own in which comments name the files of this package that stand there
(`/* style.css */`, `<!-- buttons.html -->`, `/* script.js */`), and a JSON object the place of what it shows.
"""

import json
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final

from referees.exact_json import exact
from referees.legible_text import legible

_PARTS: Final = {
    "/* style.css */": "style.css",
    "<!-- buttons.html -->": "buttons.html",
    "/* script.js */": "script.js",
}
_DATA: Final = '{"here": "the game"}'


def fill_page(page: Traversable, shown: object) -> str:
    """A game's page with all that it names; `shown` is what its script reads as JSON (see `exact`)."""
    text = page.read_text(encoding="utf-8")
    for place, name in _PARTS.items():
        text = text.replace(place, (resources.files(__name__) / name).read_text(encoding="utf-8").strip(), 1)
    shown = _legible_parts(exact(shown))
    # At once, so that nothing in it is taken for the place of something else, nor ends its element.
    return text.replace(_DATA, json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c"), 1)


def _legible_parts(shown: Any) -> Any:
    """The value with all its texts legible: records of earlier releases have them as they came."""
    if isinstance(shown, str):
        return legible(shown)
    if isinstance(shown, dict):
        return {name: _legible_parts(part) for name, part in shown.items()}
    return [_legible_parts(part) for part in shown] if isinstance(shown, list) else shown
