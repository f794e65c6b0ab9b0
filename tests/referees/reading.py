"""Records read where each game of the file must be sound."""

from typing import Any

from referees.api import Referee, UnreadableRecordError


def names_and_moves(rules: Referee[Any, Any], content: bytes) -> list[tuple[str, list[str]]]:
    """Each game's name and moves. Raises UnreadableRecordError, also for the first fault of a game."""
    games = rules.read_records(content)
    for number, game in enumerate(games, start=1):
        if game.fault:
            raise UnreadableRecordError(f"game {number}: {game.fault}")
    return [(game.name, list(game.moves)) for game in games]
