"""Pages that play a game again, from its record and what was kept beside it."""

import json
import re
from pathlib import Path
from typing import Final

from referees.api import UnreadableRecord, referee

MAX_BYTES: Final = 256 << 20
# Of each text beside the record; a page is to open in a browser.
_MAX_TEXT: Final = 4 << 20
_GAMES: Final = ".games"


def page_of(record: Path) -> str:
    """The page of a record that names its game, such as WarLight's.

    Where the record lies in a competition's folder, the page also has what the game's players were
    told and answered, and wrote on standard error, as far as that was kept. Raises UnreadableRecord,
    UnknownGame and OSError.
    """
    if record.stat().st_size > MAX_BYTES:
        raise UnreadableRecord(f"{record}: larger than {MAX_BYTES:,} bytes")
    content = record.read_bytes()
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord(f"{record}: no JSON: {error}") from None
    game = found.get("game") if isinstance(found, dict) else None
    if not isinstance(game, str):
        raise UnreadableRecord(f'{record}: it has no "game" that tells what was played')
    try:
        return referee(game).replay_page(content, _said(record))
    except UnreadableRecord as error:
        raise UnreadableRecord(f"{record}: {error}") from None


def _said(record: Path) -> dict[str, str]:
    """What was kept of a game's players, by title."""
    folder = record.parent
    if folder.suffix != _GAMES:
        return {}
    said = {}
    protocol = folder.with_suffix(".protocol") / f"{record.stem}.log"
    if protocol.exists():
        said["what was said to players (>>) and by them (<<)"] = _beginning(protocol)
    log = folder.with_suffix(".log")
    if log.exists():
        of_game = re.compile(rf"{re.escape(record.stem)} ")
        with log.open(encoding="utf-8", errors="replace") as lines:
            kept = [line for line in lines if of_game.match(line)]
        said["standard error"] = "".join(kept)[:_MAX_TEXT]
    return said


def _beginning(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as text:
        return text.read(_MAX_TEXT)
