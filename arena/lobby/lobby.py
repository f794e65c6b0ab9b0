"""The lobby: brings games that want remote players together with those that have dialled in."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Protocol

from academy.wire.names import complaint_about
from arena.lobby.guests import Guest
from arena.lobby.limits import LobbyLimits
from arena.lobby.refusals import Closing, InvalidRequest, Replaced, TooMany
from arena.lobby.seats import Seat
from arena.lobby.tokens import digest, same
from arena.lobby.v1 import lobby_pb2
from arena.v1 import players_pb2


class Doorkeeper(Protocol):
    """Who may dial in under which name."""

    def admit(self, player: str, token: str) -> None:
        """Do nothing for one who may. Raises NotAuthenticated or NotPermitted."""


class Lobby:
    """All guests and all seats of one process. Use it within one event loop.

    A player has one stream: a newer one takes the games of the older one over. When a stream ends, its
    games wait for the player to come back; each that waits longer than its control file says is told
    that the player is lost. Seats that find their player busy wait too, as long as their games do.
    """

    def __init__(self, doorkeeper: Doorkeeper, limits: LobbyLimits) -> None:
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._guests: dict[str, Guest] = {}
        self._seats: dict[int, Seat] = {}
        self._numbers = itertools.count(1)
        self._newest = 0
        self._closing = False
        # Streams that have not ended, replaced ones too.
        self._inside: set[Guest] = set()
        self._empty = asyncio.Event()

    def guests(self) -> list[Guest]:
        """The players that have dialled in, by name."""
        return [self._guests[name] for name in sorted(self._guests)]

    @property
    def players(self) -> int:
        """How many players have dialled in."""
        return len(self._guests)

    @property
    def seats(self) -> tuple[int, int]:
        """How many seats of games are taken, and how many wait for their player. From any thread."""
        seats = list(self._seats.values())
        taken = sum(seat.guest is not None for seat in seats)
        return taken, len(seats) - taken

    # Players

    def enter(self, hello: players_pb2.Hello, token: str) -> Guest:
        """Let a player in. Raises NotAuthenticated, NotPermitted, InvalidRequest, TooMany and Closing."""
        limits = self._limits
        if self._closing:
            raise Closing("the arena is closing")
        if not 0 < len(hello.player) <= limits.name_characters:
            raise InvalidRequest(f"hello.player: a name has 1 to {limits.name_characters} characters")
        if complaint := complaint_about(hello.player):
            raise InvalidRequest(f"hello.player: {complaint}")
        if hello.games_at_once > limits.games_at_once:
            raise InvalidRequest(
                f"hello.games_at_once: {hello.games_at_once}; at most {limits.games_at_once} are allowed"
            )
        longest = max(map(len, (hello.engine_name, hello.engine_version, hello.engine_description)))
        if longest > limits.description_characters:
            raise InvalidRequest(
                f"hello: a text of {longest} characters; at most {limits.description_characters} are allowed"
            )
        self._doorkeeper.admit(hello.player, token)
        before = self._guests.get(hello.player)
        if before is None and len(self._guests) >= limits.players:
            raise TooMany(f"there are {limits.players} players already", players=limits.players)
        guest = Guest(hello, digest(token), limits.waiting_messages)
        self._guests[guest.name] = guest
        self._inside.add(guest)
        if before is not None:
            before.end(Replaced(f"{hello.player} has dialled in again: this older stream is ended"))
            for seat_id in sorted(before.seats):
                self._seats[seat_id].vacate()
        self._fill_seats(guest.name)
        self._await_return(guest.name, "its new stream has no room for the game")
        return guest

    def leave(self, guest: Guest, why: str) -> None:
        """Note that a stream hears and says nothing more; its games wait for the player to come back."""
        if self._guests.get(guest.name) is guest:
            del self._guests[guest.name]
        guest.end()
        for seat_id in sorted(guest.seats):
            self._seats[seat_id].vacate()
        self._await_return(guest.name, why)

    def gone(self, guest: Guest) -> None:
        """Note that a stream has ended: whoever it was has been told why."""
        self._inside.discard(guest)
        if not self._inside:
            self._empty.set()

    def _await_return(self, player: str, why: str) -> None:
        loop = asyncio.get_running_loop()
        for seat in self._seats.values():
            if seat.player == player and seat.abandoned:
                seat.giving_up = loop.call_later(seat.reconnect_seconds, self._give_up, seat, why)

    def _give_up(self, seat: Seat, why: str) -> None:
        seconds = seat.reconnect_seconds
        reason = f"{why}, and it did not come back within {seconds:g} s" if seconds else why
        seat.tell_game(lobby_pb2.ToGame(lost=lobby_pb2.Lost(reason=reason)))

    def heard(self, guest: Guest, message: players_pb2.PlayRequest) -> None:
        """Take what a player says to the game it is about. Raises InvalidRequest for what makes no sense."""
        kind = message.WhichOneof("message")
        match kind:
            case "ready":
                seat_id = message.ready.seat_id
            case "decline":
                seat_id = message.decline.seat_id
            case "move":
                seat_id = message.move.seat_id
            case "hello":
                raise InvalidRequest("hello: a stream says hello once, at its beginning")
            case _:
                raise InvalidRequest("a message without content")
        if seat_id in guest.seats:
            self._seats[seat_id].heard(message)
        elif not 0 < seat_id <= self._newest:
            raise InvalidRequest(f"{kind}.seat_id: {seat_id} was never given out")
        # Else its game has ended meanwhile.

    # Games

    def seek(self, seek: lobby_pb2.Seek, tell_game: Callable[[lobby_pb2.ToGame], None]) -> Seat:
        """A game wants a player for a seat, which is seated as soon as it is there and has room."""
        self._newest = next(self._numbers)
        seat = Seat(self._newest, seek, tell_game)
        self._seats[seat.seat_id] = seat
        self._fill_seats(seat.player)
        return seat

    def end(self, seat: Seat) -> None:
        """A game is over, or does not want its player any more."""
        del self._seats[seat.seat_id]
        if seat.giving_up is not None:
            seat.giving_up.cancel()
        guest = seat.guest
        seat.vacate()
        if guest is not None:
            guest.tell(seat.farewell)
            self._fill_seats(seat.player)

    def _fill_seats(self, player: str) -> None:
        """Seat a player where it is wanted, the oldest seats first."""
        guest = self._guests.get(player)
        if guest is None:
            return
        for seat in list(self._seats.values()):
            if not guest.has_room:
                return
            wanted = seat.player == player and seat.guest is None
            if wanted and (not seat.token_digest or same(seat.token_digest, guest.token_digest)):
                seat.take(guest)

    async def close(self, seconds: float) -> None:
        """Let nobody in any more and end all streams; returns when they were told, or after so long."""
        self._closing = True
        for guest in self._inside:
            guest.end(Closing("the arena is closing"))
        self._empty.clear()
        if self._inside:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._empty.wait()
