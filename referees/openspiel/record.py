"""Records of OpenSpiel's games: JSON, with the game string, the players, the moves and the result.

A file holds one record, or a list of them.
"""

import json
from typing import Any, Final

from referees.api import (
    GameRecord,
    InvalidSettingError,
    PlayedMove,
    RecordedGame,
    UnreadableRecordError,
)
from referees.exact_json import exact, read_games, recorded_game
from referees.openspiel.game_string import load

MAX_GAMES: Final = 100_000
MAX_MOVES: Final = 100_000


def write(game_string: str, game: GameRecord) -> str:
    """The record's text; a void game has the result `void` and no winners."""
    outcome = game.outcome
    record = {
        "game": game_string,
        "name": game.game_name,
        "event": game.event,
        "date": game.date,
        "players": list(game.players),
        "result": outcome.summary if outcome else "void",
        "termination": outcome.termination.value if outcome else None,
        "winners": list(outcome.winners) if outcome else [],
        "points": list(outcome.points) if outcome else [],
        "seed": exact(game.seed),
        "remarks": list(game.remarks),
        "final_remarks": list(game.final_remarks),
    }
    # One line for each move, so that people can read along.
    head = json.dumps(record, indent=1).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(_move(played)) for played in game.moves)
    return f'{head},\n "moves": [\n  {lines}\n ]\n}}\n'


def _move(played: PlayedMove) -> dict[str, Any]:
    move: dict[str, Any] = {"seat": played.seat, "move": played.text}
    if played.seconds is not None:
        move["seconds"] = round(played.seconds, 6)
    if played.values:
        move["values"] = {str(seat): value for seat, value in played.values.items()}
    if played.comment:
        move["comment"] = played.comment
    return move


def read(content: bytes, game_string: str) -> list[RecordedGame]:
    """The games of a record or of a list of them. Raises UnreadableRecordError."""
    return read_games(content, MAX_GAMES, lambda record: _read_one(record, game_string))


def _read_one(record: Any, game_string: str) -> RecordedGame:
    if not isinstance(record, dict):
        raise UnreadableRecordError(f"{str(record)[:40]!r} is not a record; records are JSON objects")
    game, moves = record.get("game"), record.get("moves")
    if not isinstance(game, str) or not isinstance(moves, list):
        raise UnreadableRecordError("the text 'game' and the list 'moves' are needed")
    if not _same(game, game_string):
        raise UnreadableRecordError(f"it is one of {game[:200]!r}, not of {game_string!r}")
    if len(moves) > MAX_MOVES:
        raise UnreadableRecordError(f"{len(moves)} moves, more than {MAX_MOVES}")
    texts: list[str] = []
    for place, move in enumerate(moves, start=1):
        text = move.get("move") if isinstance(move, dict) else move
        if not isinstance(text, str):
            raise UnreadableRecordError(f"move {place} is not text: {str(text)[:40]!r}")
        texts.append(text)
    return recorded_game(record, texts)


def _same(game: str, game_string: str) -> bool:
    if game == game_string:
        return True
    if _short_name(game) != _short_name(game_string):
        return False
    try:
        return str(load(game)) == game_string
    except InvalidSettingError:
        return False


def _short_name(game_string: str) -> str:
    return game_string.partition("(")[0].strip()
