"""Boards of lines of play: ACADEMY's opening tree has none, so a referee plays the moves again."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Final

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.spec import GameSpec
from referees.api import (
    ENTRY_POINT_GROUP,
    IllegalMoveError,
    InvalidSettingError,
    Referee,
    UnknownRefereeError,
    UnreadableMoveError,
    referee,
)

__all__ = [
    "MOST_MOVES",
    "MOST_PLIES",
    "NoBoardError",
    "PlayedGame",
    "ReplayedLine",
    "find_referee",
    "replay",
    "replay_game",
    "seat_names",
]

# A line is longer than any opening tree is deep, but must not keep a processor for long.
MOST_MOVES: Final = 400
# Of a whole game.
MOST_PLIES: Final = 5_000
_MOST_LISTED: Final = 500
_Judge = Referee[Any, Any]
_log = logging.getLogger(__name__)


class NoBoardError(Exception):
    """A line whose board cannot be shown; the message says why."""


@dataclass(frozen=True)
class ReplayedLine:
    """The position after a line.

    Attributes:
        board: Its board.
        last: The cells that the last move changed.
        mover: The seat to move; None after the end, or where all move at once.
        legal: The moves there as opening trees write them; empty where they cannot be listed.
        ended: The result, where the line ends the game.
    """

    board: Board
    last: frozenset[int]
    mover: int | None
    legal: tuple[str, ...] = ()
    ended: str = ""


@lru_cache(maxsize=256)
def find_referee(spec: GameSpec) -> _Judge | None:
    """Return an installed referee of a game; None where there is none.

    Args:
        spec: The game as ACADEMY knows it. A referee of the same id but of another game is not taken.
    """
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP)):
        try:
            rules: type[_Judge] = point.load()
            settings = rules.settings_of(spec.game_id)
            judge = None if settings is None else rules.from_settings(settings)
        except InvalidSettingError:
            continue
        except Exception:  # A package of somebody else's that cannot be loaded must not end these pages.
            _log.exception("the referee %s cannot be used", point.name)
            continue
        if judge is not None and _same_game(judge.spec(), spec):
            return judge
    return None


def _same_game(first: GameSpec, second: GameSpec) -> bool:
    facts = ("game_id", "geometry", "players", "symmetric", "reversal", "cell_names", "simultaneous")
    return all(getattr(first, fact) == getattr(second, fact) for fact in facts)


def seat_names(spec: GameSpec) -> tuple[str, ...]:
    """Return what a game's seats are called.

    Args:
        spec: The game.
    """
    judge = find_referee(spec)
    seats = range(1, spec.players + 1)
    return tuple(f"player {seat}" if judge is None else judge.seat_name(seat) for seat in seats)


@lru_cache(maxsize=1_024)
def replay(spec: GameSpec, moves: tuple[str, ...], player: int) -> ReplayedLine:
    """Play a line again.

    Args:
        spec: The game.
        moves: The line, as opening trees write moves.
        player: From whose side the board is seen in games of more than two.

    Raises:
        NoBoardError: There is no referee, or it cannot play the line.
    """
    judge = find_referee(spec)
    if judge is None:
        raise NoBoardError(
            f"No referee for {spec.game_id} is installed here, so nobody can play the moves again."
        )
    if spec.geometry.size == 1:
        raise NoBoardError("ACADEMY learns this game's openings alone: it has no board that could be drawn.")
    if len(moves) > MOST_MOVES:
        raise NoBoardError(f"The line has {len(moves)} moves; at most {MOST_MOVES} are played again.")
    try:
        return _replay(judge, spec, moves, player)
    except NoBoardError:
        raise
    except Exception:  # A referee of somebody else's must not end these pages.
        _log.exception("the referee of %s failed", spec.game_id)
        raise NoBoardError(
            f"The referee of {spec.game_id} failed; the log of these pages says how."
        ) from None


def _replay(judge: _Judge, spec: GameSpec, moves: Sequence[str], player: int) -> ReplayedLine:
    if spec.simultaneous and moves:
        raise NoBoardError(
            "All players move at once in this game, so the moves of one of them do not lead to one board."
        )
    position = judge.start(0)
    seen = before = judge.board(position, player)
    for number, text in enumerate(moves, 1):
        seats = judge.to_move(position)
        if len(seats) != 1:
            why = "the game is over before it" if not seats else "several players move at once there"
            raise NoBoardError(f"Move {number} ({text[:40]}) cannot be played: {why}.")
        position = judge.play(position, {seats[0]: _read_move(judge, position, seats[0], text, number)})
        before, seen = seen, judge.board(position, player)
    return _described(judge, position, seen, _changed_cells(before, seen))


def _changed_cells(before: Board, after: Board) -> frozenset[int]:
    states = enumerate(zip(before.states, after.states, strict=True))
    return frozenset(cell for cell, (old, new) in states if old != new)


def _described(judge: _Judge, position: Any, board: Board, last: frozenset[int]) -> ReplayedLine:
    seats = judge.to_move(position)
    if not seats:
        outcome = judge.outcome(position)
        return ReplayedLine(board, last, None, ended=outcome.summary if outcome else "over")
    if len(seats) > 1:
        return ReplayedLine(board, last, None)
    listed = judge.legal_moves(position, seats[0]) or ()
    legal = tuple(judge.opening_move(position, seats[0], move) for move in listed[:_MOST_LISTED])
    return ReplayedLine(board, last, seats[0], legal)


def _read_move(judge: _Judge, position: Any, seat: int, text: str, number: int) -> Any:
    """Read a move as opening trees write it. Raises NoBoardError."""
    try:
        move = judge.read_move(position, seat, text)
        judge.check(position, seat, move)
        if judge.opening_move(position, seat, move) == text:
            return move
    except (UnreadableMoveError, IllegalMoveError):
        pass
    spelt: Mapping[str, Any] = {
        judge.opening_move(position, seat, move): move for move in judge.legal_moves(position, seat) or ()
    }
    if text not in spelt:
        raise NoBoardError(
            f"Move {number} ({text[:40]}) is not legal in the position that the referee comes to."
        )
    return spelt[text]


@dataclass(frozen=True)
class PlayedGame:
    """A whole game, played again.

    Attributes:
        seats: What the seats are called.
        names: The cells' names.
        on_map: Whether the board is a graph.
        boards: The board after each number of moves, from none. In a turn of several seats the board changes
            with the last of them.
    """

    seats: tuple[str, ...]
    names: tuple[str, ...]
    on_map: bool
    boards: tuple[Board, ...]

    def after(self, ply: int) -> tuple[Board, frozenset[int]]:
        """Return the board after some moves, and the cells that the last of them changed.

        Args:
            ply: How many moves.
        """
        board, before = self.boards[ply], self.boards[max(ply - 1, 0)]
        return board, _changed_cells(before, board)


@lru_cache(maxsize=32)
def replay_game(game: str, settings_json: str, moves: tuple[tuple[int, str], ...]) -> PlayedGame:
    """Play a game of an arena again.

    Args:
        game: The referee's name.
        settings_json: The game's settings as a JSON object.
        moves: The seat and the text of each move.

    Raises:
        NoBoardError: There is no referee, or it cannot play the game.
    """
    try:
        rules = referee(game)
        settings = json.loads(settings_json or "{}")
        if any(isinstance(value, str) and rules.names_file(name, value) for name, value in settings.items()):
            raise NoBoardError("The game's settings name a file, which is not read from here.")
        judge = rules.from_settings(settings)
        return _replay_game(judge, moves)
    except NoBoardError:
        raise
    except UnknownRefereeError as error:
        raise NoBoardError(f"{error}.") from None
    except Exception:  # A referee of somebody else's must not end these pages.
        _log.exception("the referee of %s failed", game[:80])
        raise NoBoardError(f"The referee of {game[:80]} cannot play this game again.") from None


def _replay_game(judge: _Judge, moves: tuple[tuple[int, str], ...]) -> PlayedGame:
    spec, position = judge.spec(), judge.start(0)
    if spec.geometry.size == 1:
        raise NoBoardError("ACADEMY learns this game's openings alone: it has no board that could be drawn.")
    if len(moves) > MOST_PLIES:
        raise NoBoardError(f"The game has {len(moves)} moves; at most {MOST_PLIES} are played again.")
    starts = {judge.board(judge.start(seed), 1).states for seed in range(4)}
    if judge.arranger() is not None or len(starts) > 1:
        raise NoBoardError("The game begins by chance or with a position of a player's choice.")
    boards = [judge.board(position, 1)]
    at = 0
    while at < len(moves):
        seats = judge.to_move(position)
        turn = dict(moves[at : at + len(seats)])
        if not seats or set(turn) != set(seats):
            raise NoBoardError(f"Move {at + 1} is out of turn in the game that the referee comes to.")
        read = {seat: judge.read_move(position, seat, text) for seat, text in turn.items()}
        for seat, move in read.items():
            judge.check(position, seat, move)
        position = judge.play(position, read)
        boards += [boards[-1]] * (len(seats) - 1) + [judge.board(position, 1)]
        at += len(seats)
    names = tuple(judge.seat_name(seat) for seat in range(1, judge.seats + 1))
    return PlayedGame(names, spec.cell_names, isinstance(spec.geometry, GraphGeometry), tuple(boards))
