"""Boards of lines of play: ACADEMY's opening tree has none, so a referee plays the moves again."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from academy.knowledge.boards import Board
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
from referees.drawing import Drawing, draw_board
from referees.installed import list_entry_points
from web.drawing import LastMove

__all__ = [
    "MOST_MOVES",
    "GameReplay",
    "GameStart",
    "NoBoardError",
    "ReplayedLine",
    "boards_after",
    "draw_letters",
    "find_referee",
    "replay",
    "replay_game",
    "seat_names",
]

# A line is longer than any opening tree is deep, but must not keep a processor for long.
MOST_MOVES: Final = 400
# Moves of a whole game; longer ones are shown without a board.
_MOST_PLIES: Final = 5_000
_MOST_LISTED: Final = 500
# At most this number of moves are played to see where they end.
_MOST_TRIED: Final = 120
# At most this number of moves are compared: ACADEMY takes no more in a question.
_MOST_COMPARED: Final = 400
# The letters of each player's pieces.
_OWN: Final = ("xb", "ow")
_NO_BOARD: Final = "ACADEMY learns this game's openings alone: it has no board that could be drawn."
_Judge = Referee[Any, Any]
_log = logging.getLogger(__name__)


class NoBoardError(Exception):
    """A line whose board cannot be shown; the message says why."""


@dataclass(frozen=True)
class ReplayedLine:
    """The position after a line.

    Attributes:
        board: Its board, as the player sees it.
        drawing: The position as a picture.
        last: What the last move did.
        mover: The seat to move; None after the end, or where all move at once.
        legal: The moves there as opening trees write them; empty where they cannot be listed.
        ended: The result, where the line ends the game.
        ways: The cells where legal moves begin and end, except for moves that are a cell's name. A move that
            puts a piece on a cell begins and ends there.
    """

    board: Board
    drawing: Drawing
    last: LastMove
    mover: int | None
    legal: tuple[str, ...] = ()
    ended: str = ""
    ways: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@lru_cache(maxsize=256)
def find_referee(spec: GameSpec) -> _Judge | None:
    """Return an installed referee of a game; None where there is none.

    A referee of the same id but of another game is not taken.
    """
    for point in sorted(list_entry_points(ENTRY_POINT_GROUP)):
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
    """Return what a game's seats are called."""
    judge = find_referee(spec)
    seats = range(1, spec.players + 1)
    return tuple(f"player {seat}" if judge is None else judge.seat_name(seat) for seat in seats)


@lru_cache(maxsize=1_024)
def replay(spec: GameSpec, moves: tuple[str, ...], player: int) -> ReplayedLine:
    """Play a line again, its moves as opening trees write them. Raises NoBoardError.

    In games of more than two the board is as `player` sees it.
    """
    judge = find_referee(spec)
    if judge is None:
        raise NoBoardError(
            f"No referee for {spec.game_id} is installed here, so nobody can play the moves again."
        )
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


def draw_letters(spec: GameSpec, board: Board) -> Drawing | None:
    """Return the picture of a board in ACADEMY's letters, laid out as the game's own pictures."""
    try:
        layout = replay(spec, (), 1).drawing.layout
    except NoBoardError:
        layout = None
    if layout is not None and len(layout.cells) != spec.geometry.size:
        layout = None
    return draw_board(board, spec.cell_names, layout)


@lru_cache(maxsize=128)
def boards_after(spec: GameSpec, moves: tuple[str, ...]) -> Mapping[str, Board]:
    """Return the board after each move that is legal after a line, as the mover sees it.

    Nothing where no single seat is to move, where moves cannot be listed or are too many, or where the line
    cannot be played: `replay` says why.
    """
    judge = find_referee(spec)
    if judge is None or len(moves) > MOST_MOVES:
        return {}
    try:
        *_, (position, _) = _positions(judge, spec, moves)
        return _boards_after(judge, position)
    except NoBoardError:
        return {}
    except Exception:  # A referee of somebody else's must not end these pages.
        _log.exception("the referee of %s failed", spec.game_id)
        return {}


def _boards_after(judge: _Judge, position: Any) -> dict[str, Board]:
    seats = judge.to_move(position)
    if len(seats) != 1:
        return {}
    seat = seats[0]
    listed = judge.legal_moves(position, seat) or ()
    if len(listed) > _MOST_COMPARED:
        return {}
    return {
        judge.opening_move(position, seat, move): judge.board(judge.play(position, {seat: move}), seat)
        for move in listed
    }


def _positions(judge: _Judge, spec: GameSpec, moves: Sequence[str]) -> Iterator[tuple[Any, Drawing]]:
    """The positions of a line with their pictures, from the first one. Raises NoBoardError."""
    if spec.simultaneous and moves:
        raise NoBoardError(
            "All players move at once in this game, so the moves of one of them do not lead to one board."
        )
    position = judge.start(0)
    drawn = judge.drawing(position)
    if drawn is None:
        raise NoBoardError(_NO_BOARD)
    yield position, drawn
    for number, text in enumerate(moves, 1):
        seats = judge.to_move(position)
        if len(seats) != 1:
            why = "the game is over before it" if not seats else "several players move at once there"
            raise NoBoardError(f"Move {number} ({text[:40]}) cannot be played: {why}.")
        position = judge.play(position, {seats[0]: _read_move(judge, position, seats[0], text, number)})
        drawn = judge.drawing(position)
        assert drawn is not None
        yield position, drawn


def _replay(judge: _Judge, spec: GameSpec, moves: Sequence[str], player: int) -> ReplayedLine:
    *earlier, (position, drawn) = _positions(judge, spec, moves)
    last = _last_move(earlier[-1][1], drawn) if earlier else LastMove()
    described = _described(judge, position, judge.board(position, player), drawn, last)
    if described.mover is None or spec.players != len(_OWN) or not described.legal:
        return described
    return replace(described, ways=_ways(judge, spec, position, described.mover))


def _ways(judge: _Judge, spec: GameSpec, position: Any, seat: int) -> dict[str, tuple[int, int]]:
    """Where moves begin and end, as their boards show it."""
    named = frozenset(spec.cell_names)
    moves = [
        (text, move)
        for move in judge.legal_moves(position, seat) or ()
        if (text := judge.opening_move(position, seat, move)) not in named
    ]
    if len(moves) > _MOST_TRIED:
        return {}
    own, before = _OWN[seat - 1], judge.board(position, 1).letters
    ways = {}
    for text, move in moves:
        after = judge.board(judge.play(position, {seat: move}), 1).letters
        changed = [
            (cell, old, new) for cell, (old, new) in enumerate(zip(before, after, strict=True)) if old != new
        ]
        left = [cell for cell, old, _ in changed if old in own]
        put = [cell for cell, old, new in changed if old == "-" and new in own]
        taken = [cell for cell, old, new in changed if old not in own and new in own]
        ends = put or taken
        if len(ends) == 1 and len(left) <= 1:
            ways[text] = (left[0] if left else ends[0], ends[0])
    return ways


def _last_move(before: Drawing | None, after: Drawing) -> LastMove:
    """What differs between two pictures of a game; nothing without an earlier one."""
    if before is None:
        return LastMove()
    pairs = list(zip(before.marks, after.marks, strict=True))
    changed = frozenset(cell for cell, (old, new) in enumerate(pairs) if old != new)
    came = frozenset(cell for cell in changed if pairs[cell][1].seat and not pairs[cell][0].seat)
    # A piece that takes another stands where the other one stood; where none came, all may be meant.
    taken = frozenset(cell for cell in changed if pairs[cell][1].seat)
    return LastMove(changed, came or taken)


def _described(judge: _Judge, position: Any, board: Board, drawing: Drawing, last: LastMove) -> ReplayedLine:
    seats = judge.to_move(position)
    if not seats:
        outcome = judge.outcome(position)
        return ReplayedLine(board, drawing, last, None, ended=outcome.summary if outcome else "over")
    if len(seats) > 1:
        return ReplayedLine(board, drawing, last, None)
    listed = judge.legal_moves(position, seats[0]) or ()
    legal = tuple(judge.opening_move(position, seats[0], move) for move in listed[:_MOST_LISTED])
    return ReplayedLine(board, drawing, last, seats[0], legal)


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
class GameStart:
    """How a game of an arena began.

    Attributes:
        game: The referee's name.
        settings_json: The game's settings as a JSON object.
        seed: What its chance came from; None while it is secret.
        arrangement: The first position, where a player arranged it; "" where none did, or that is not known.
        board: The first position in ACADEMY's letters; "" where that is not known.
        reads_files: Whether files that the settings name are read: only those of who asks may be.
    """

    game: str
    settings_json: str
    seed: int | None = None
    arrangement: str = ""
    board: str = ""
    reads_files: bool = False


class GameReplay:
    """A game that is played again, move by move. Raises NoBoardError.

    Attributes:
        seats: What the seats are called.
        drawings: The picture after each number of moves, from none. In a turn of several seats it changes
            with the last of them.
        spec: The game, as ACADEMY knows it.
        line: The moves as opening trees write them; in games of simultaneous moves they are not a line.
        views: The seats that see less than the whole.
    """

    def __init__(self, start: GameStart) -> None:
        self._judge = _judge_of(start)
        self._position = _first_position(self._judge, start)
        first = self._judge.drawing(self._position)
        if first is None:
            raise NoBoardError(_NO_BOARD)
        self._waiting: list[tuple[int, str]] = []
        self._positions = [self._position]
        self.spec = self._judge.spec()
        self.line: list[str] = []
        self.seats = tuple(self._judge.seat_name(seat) for seat in range(1, self._judge.seats + 1))
        self.drawings = [first]
        self.views = tuple(range(1, self._judge.seats + 1)) if self._hides(first) else ()

    def add(self, moves: Sequence[tuple[int, str]]) -> None:
        """Play moves, each by its seat and its text. Raises NoBoardError, also where they are too many."""
        if len(self.drawings) - 1 + len(self._waiting) + len(moves) > _MOST_PLIES:
            raise NoBoardError(f"The game has more than {_MOST_PLIES} moves, which are not played again.")
        try:
            for seat, text in moves:
                self._add(seat, text)
        except NoBoardError:
            raise
        except Exception:  # A referee of somebody else's must not end these pages.
            _log.exception("the referee of %s failed", self._judge.name)
            raise NoBoardError(f"The referee of {self._judge.name} cannot play this game again.") from None

    def _add(self, seat: int, text: str) -> None:
        number = len(self.drawings) + len(self._waiting)
        judge, position = self._judge, self._position
        self._waiting.append((seat, text))
        seats = judge.to_move(position)
        if not {mover for mover, _ in self._waiting} <= set(seats):
            raise NoBoardError(f"Move {number} is out of turn in the game that the referee comes to.")
        if len(self._waiting) < len(seats):
            return
        read = {mover: judge.read_move(position, mover, words) for mover, words in self._waiting}
        for mover, move in read.items():
            judge.check(position, mover, move)
        self.line += [judge.opening_move(position, mover, move) for mover, move in read.items()]
        self._position = judge.play(position, read)
        self._positions += [position] * (len(seats) - 1) + [self._position]
        after = judge.drawing(self._position)
        assert after is not None
        self.drawings += [self.drawings[-1]] * (len(seats) - 1) + [after]
        self._waiting.clear()

    def board(self, ply: int) -> tuple[str, int]:
        """Return the board after some moves in ACADEMY's letters, and the seat to move or the first."""
        position = self._positions[min(ply, len(self._positions) - 1)]
        seat = next(iter(self._judge.to_move(position)), 1)
        return self._judge.board(position, seat).letters, seat

    def _hides(self, first: Drawing) -> bool:
        """Whether a seat sees less than the whole of the first position."""
        try:
            return self._judge.hides and self._seen(0, 1).marks != first.marks
        except Exception:  # Not each referee draws what a seat sees.
            return False

    def _seen(self, ply: int, seat: int) -> Drawing:
        drawing = self._judge.drawing(self._judge.view(self._positions[ply], seat))
        assert drawing is not None
        return drawing

    def after(self, ply: int, view: int = 0) -> tuple[Drawing, LastMove]:
        """Return the picture after some moves, and what the last turn did.

        It is as the seat `view` of `views` sees it; 0 for the whole.
        """
        # In an unfinished turn the board is that of the turn before.
        now = min(ply, len(self.drawings) - 1)
        drawing = self.drawings[now]
        earlier = next((at for at in range(now, -1, -1) if self.drawings[at] is not drawing), None)
        before = None if earlier is None else self.drawings[earlier]
        if view:
            drawing = self._seen(now, view)
            before = None if earlier is None else self._seen(earlier, view)
        return drawing, _last_move(before, drawing)


def _judge_of(start: GameStart) -> _Judge:
    """The referee of a game. Raises NoBoardError."""
    try:
        rules = referee(start.game)
        settings = json.loads(start.settings_json or "{}")
        if not start.reads_files and any(
            isinstance(value, str) and rules.names_file(name, value) for name, value in settings.items()
        ):
            raise NoBoardError("The game's settings name a file, which is not read from here.")
        return rules.from_settings(settings)
    except NoBoardError:
        raise
    except UnknownRefereeError as error:
        raise NoBoardError(f"{error}.") from None
    except Exception:  # A referee of somebody else's must not end these pages.
        _log.exception("the referee of %s failed", start.game[:80])
        raise NoBoardError(f"The referee of {start.game[:80]} cannot play this game again.") from None


def _first_position(judge: _Judge, start: GameStart) -> Any:
    position = _begin(judge, start)
    if start.board and judge.board(position, 1).letters != start.board:
        raise NoBoardError("The game began with another position than the referee's, which was not kept.")
    return position


def _begin(judge: _Judge, start: GameStart) -> Any:
    if judge.arranger() is not None and start.arrangement:
        return judge.arrange(start.arrangement)
    if start.seed is None:
        if judge.hides:
            raise NoBoardError("What this game hides from its players is shown when it is over.")
        if len({judge.board(judge.start(seed), 1).states for seed in range(4)}) > 1:
            raise NoBoardError("The game begins by chance, which is shown when it is over.")
    return judge.start(start.seed or 0)


def replay_game(start: GameStart, moves: Sequence[tuple[int, str]]) -> GameReplay:
    """Play a finished game of an arena again, by the seat and the text of each move. Raises NoBoardError."""
    played = GameReplay(start)
    played.add(moves)
    return played
