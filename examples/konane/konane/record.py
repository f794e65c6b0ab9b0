"""Records of games of Konane, as JSON: who played what, and how it ended."""

import json

from referees.api import GameRecord, RecordedGame, UnreadableRecordError


def write(game_id: str, game: GameRecord) -> str:
    """The text of a record."""
    record = {
        "game": game_id,
        "name": game.game_name,
        "date": game.date,
        "black": game.players[0],
        "white": game.players[1],
        "result": game.outcome.summary if game.outcome else "void",
        "winners": list(game.outcome.winners) if game.outcome else [],
        "moves": " ".join(move.text for move in game.moves),
        "remarks": [*game.remarks, *game.final_remarks],
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def read(game_id: str, content: bytes) -> RecordedGame:
    """A recorded game. Raises UnreadableRecordError."""
    try:
        record = json.loads(content)
        game, name, moves = record["game"], str(record["name"]), record["moves"].split()
        players = [str(record.get(colour, "")) for colour in ("black", "white")]
        winners = tuple(map(int, record.get("winners", ())))
    except (ValueError, OverflowError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableRecordError(f"no record of {game_id}: {error!r}") from None
    if game != game_id:
        raise UnreadableRecordError(f"this is a game of {str(game)[:40]!r}, not of {game_id!r}")
    return RecordedGame(name, moves, players, winners)
