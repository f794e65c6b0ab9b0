"""What both ways to play at an arena share: when to dial again, and the games of a stream."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from arena.v1 import players_pb2
from clients.connection import AcademyUnavailableError, Connection
from clients.games import Answer, Game, GameDeclinedError, GameTurn, game_of, move_of, turn_of

REDIAL_SECONDS: Final = 60.0
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0

Told = players_pb2.MoveRequest | players_pb2.GameEnd


class Redialling:
    """Whether and when a stream that has ended is begun again."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Until the arena has not been there for so long."""
        self._seconds = seconds
        self._clock = clock
        self._pause = _FIRST_PAUSE_SECONDS
        self._reached = False
        self._alone_since = clock()

    def pause(self, welcomed: bool, reason: AcademyUnavailableError | None) -> float | None:
        """The seconds to wait; None where there is to be no other stream.

        Raises the reason why this one ended where the arena never let one in.
        """
        if welcomed:
            self._reached, self._alone_since, self._pause = True, self._clock(), _FIRST_PAUSE_SECONDS
        pause = self._pause
        if self._clock() + pause > self._alone_since + self._seconds:
            if self._reached or reason is None:
                return None
            raise reason
        self._pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        return pause


class Inbox(Protocol):
    """Where whoever plays a game waits for what it is told."""

    def put_nowait(self, item: Told, /) -> None:
        """Tell it."""


InboxType = TypeVar("InboxType", bound=Inbox)


@dataclass
class GameSession(Generic[InboxType]):
    """One game in progress: what its player is told, the moves so far, and what it may say."""

    seat_id: int
    game: Game
    told: InboxType
    moves: list[tuple[int, str]] = field(default_factory=list)

    def ready(self) -> players_pb2.PlayRequest:
        """That the game may begin."""
        return players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=self.seat_id))

    def declined(self, why: GameDeclinedError) -> players_pb2.PlayRequest:
        """That such a game is not played."""
        return players_pb2.PlayRequest(decline=players_pb2.Decline(seat_id=self.seat_id, reason=str(why)))

    def turn(self, asked: players_pb2.MoveRequest) -> GameTurn:
        """The move that is asked for."""
        return turn_of(asked, self.moves)

    def answer(self, asked: players_pb2.MoveRequest, answer: Answer | str | None) -> players_pb2.PlayRequest:
        """What was chosen."""
        return players_pb2.PlayRequest(move=move_of(asked, answer))


class Tables(Generic[InboxType]):
    """The games of one stream: how many began on it, those in progress, and whether the arena let it in."""

    def __init__(
        self,
        arena: Connection,
        new_inbox: Callable[[], InboxType],
        begin: Callable[[GameSession[InboxType]], None],
    ) -> None:
        """`begin` has a game played, which waits for what it is told at an inbox of its own."""
        self._arena = arena
        self._new_inbox = new_inbox
        self._begin = begin
        self.in_progress: dict[int, GameSession[InboxType]] = {}
        self.games = 0
        self.welcomed = False

    def take(self, message: players_pb2.PlayResponse) -> None:
        """Pass on what the arena says."""
        match message.WhichOneof("message"):
            case "welcome":
                self.welcomed = True
            case "game_start":
                start = message.game_start
                table = GameSession(start.seat_id, game_of(start, self._arena), self._new_inbox())
                self.in_progress[start.seat_id] = table
                self.games += not start.resumed
                self._begin(table)
            case "moves_made":
                if playing := self.in_progress.get(message.moves_made.seat_id):
                    playing.moves += [(move.seat, move.text) for move in message.moves_made.moves]
            case "move_request":
                if playing := self.in_progress.get(message.move_request.seat_id):
                    playing.told.put_nowait(message.move_request)
            case "game_end":
                if playing := self.in_progress.pop(message.game_end.seat_id, None):
                    playing.told.put_nowait(message.game_end)
