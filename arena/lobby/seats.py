"""A seat that a game wants a remote player for, and all that a player must be told to take it up again."""

import asyncio
import time
from collections.abc import Callable

from arena.lobby.guests import Guest
from arena.lobby.v1 import lobby_pb2
from arena.v1 import players_pb2


class Seat:
    """One seat of one game. `tell_game` sends a message to the process that plays the game."""

    def __init__(
        self, seat_id: int, seek: lobby_pb2.Seek, tell_game: Callable[[lobby_pb2.ToGame], None]
    ) -> None:
        self.seat_id = seat_id
        self.player = seek.player
        self.token_digest = seek.token_digest
        self.reconnect_seconds = seek.reconnect_seconds
        self.tell_game = tell_game
        self.guest: Guest | None = None
        self.giving_up: asyncio.TimerHandle | None = None
        self.farewell = players_pb2.PlayResponse(game_end=players_pb2.GameEnd(seat_id=seat_id))
        self._seated = False
        self._ready = False
        self._told: list[players_pb2.PlayResponse] = []
        self._asked: players_pb2.MoveRequest | None = None
        self._asked_at = 0.0

    @property
    def abandoned(self) -> bool:
        """Whether its player has gone, and nobody has given it up yet."""
        return self._seated and self.guest is None and self.giving_up is None

    def take(self, guest: Guest) -> None:
        """Give the seat to a guest, who is told the game so far; the game hears of the first one only."""
        if self.giving_up is not None:
            self.giving_up.cancel()
            self.giving_up = None
        self.guest = guest
        guest.seats.add(self.seat_id)
        if not self._seated:
            self._seated = True
            self.tell_game(lobby_pb2.ToGame(seated=lobby_pb2.Seated(hello=guest.hello)))
        for place, told in enumerate(self._told):
            if place == 0:
                resumed = players_pb2.PlayResponse()
                resumed.CopyFrom(told)
                resumed.game_start.resumed = True
                guest.tell(resumed)
            else:
                guest.tell(told)
        if self._asked is not None:
            guest.tell(players_pb2.PlayResponse(move_request=self._still_asked(self._asked)))

    def _still_asked(self, asked: players_pb2.MoveRequest) -> players_pb2.MoveRequest:
        """The request as it is now: some of its time has passed."""
        left = players_pb2.MoveRequest()
        left.CopyFrom(asked)
        passed = time.monotonic() - self._asked_at
        left.time_left.FromNanoseconds(max(0, asked.time_left.ToNanoseconds() - round(passed * 1e9)))
        return left

    def vacate(self) -> None:
        """Take the seat from its guest."""
        if self.guest is not None:
            self.guest.seats.discard(self.seat_id)
            self.guest = None

    def say(self, message: players_pb2.PlayResponse) -> None:
        """Pass on what the game tells its player, and keep what a later stream must be told again."""
        kind = message.WhichOneof("message")
        match kind:
            case "game_start" | "moves_made":
                (message.game_start if kind == "game_start" else message.moves_made).seat_id = self.seat_id
                self._told.append(message)
            case "move_request":
                message.move_request.seat_id = self.seat_id
                self._asked, self._asked_at = message.move_request, time.monotonic()
            case "game_end":
                # The player is told when it has left the seat, and is free for another.
                message.game_end.seat_id = self.seat_id
                self.farewell = message
                return
            case _:
                return
        if self.guest is not None:
            self.guest.tell(message)

    def heard(self, message: players_pb2.PlayRequest) -> None:
        """Pass on what the player answers, if it answers what was asked; all else comes too late."""
        if message.HasField("move"):
            if self._asked is None or message.move.request != self._asked.request:
                return
            self._asked = None
        if message.HasField("ready"):
            # Whoever comes back says so again.
            if self._ready:
                return
            self._ready = True
        self.tell_game(lobby_pb2.ToGame(heard=message))
