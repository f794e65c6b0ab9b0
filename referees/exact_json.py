"""Records as JSON: read, and written so that every reader reads integers exactly.

Most readers of JSON, browsers among them, take numbers for doubles: integers beyond 2^53 - 1 lose their last
digits there (RFC 8259, section 6). Such integers are written as text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referees.api import RecordedGame, UnreadableRecordError

MOST_EXACT: Final = 2**53 - 1


def exact(value: Any) -> Any:
    """The value, as `json.dumps` takes it, with all integers that doubles do not hold as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -MOST_EXACT <= value <= MOST_EXACT else str(value)
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    return value


def parse(content: bytes) -> Any:
    """What a file holds. Raises UnreadableRecordError where it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecordError(f"no JSON: {error}") from None


def read_games(content: bytes, most: int, read: Callable[[Any], RecordedGame]) -> list[RecordedGame]:
    """What `read` makes of the record that a file holds, or of each in its list, which may have `most`.

    The text of an UnreadableRecordError of `read` is the game's fault. Raises UnreadableRecordError.
    """
    parsed = parse(content)
    records = parsed if isinstance(parsed, list) else [parsed]
    if len(records) > most:
        raise UnreadableRecordError(f"{len(records)} games, more than {most}")
    games: list[RecordedGame] = []
    for record in records:
        try:
            games.append(read(record))
        except UnreadableRecordError as error:
            games.append(RecordedGame("", (), fault=str(error)))
    return games


def recorded_game(record: Mapping[str, Any], moves: Sequence[str]) -> RecordedGame:
    """A game's moves with what its record says of it under the names that GameRecord has.

    Raises UnreadableRecordError.
    """
    name, players, winners = record.get("name", ""), record.get("players", []), record.get("winners", [])
    try:
        seed = int(record.get("seed", 0))
        if not all(isinstance(text, str) for text in (name, *players)):
            raise TypeError("'name' and 'players' are not text")
        return RecordedGame(name, moves, tuple(players), tuple(map(int, winners)), seed=seed)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnreadableRecordError(f"its heading cannot be read: {error!r:.200}") from None


def doubt(recorded: Any, settings: Mapping[str, Any]) -> str:
    """Say which setting a record has otherwise; empty where it has none of them otherwise."""
    if not isinstance(recorded, Mapping):
        return ""
    for name, value in settings.items():
        if (other := recorded.get(name, value)) != value:
            return f"it was played with {name} {other!r:.40}, not {value!r:.40}"
    return ""
