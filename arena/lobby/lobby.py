"""The lobby: who has dialled in, which seats wait for them, and which games they play."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from typing import Final, Protocol

from academy.wire.errors import RefusedCallError
from academy.wire.limits import limit
from academy.wire.names import complaint_about
from academy.wire.tokens import digest_of
from arena.lobby.errors import InvalidRequestError, LobbyClosingError, SessionReplacedError, TooManyError
from arena.lobby.v1 import lobby_pb2
from arena.v1 import players_pb2

# How long a player is held for a game that is about to begin.
HOLD_SECONDS: Final = 10.0
# How long a competition that found a player busy comes before others, if it does not ask again.
TURN_SECONDS: Final = 10.0
# How often running a player may fail to say that it has done with a game, before games await it no longer.
MOST_MISSED: Final = 2


@dataclass(frozen=True)
class LobbyLimits:
    """Every bound on what comes from outside. Times are in seconds, sizes in bytes or items."""

    players: int = limit(2_000, "players that dial in")
    connections: int = limit(4_096, "connections in all, fewer where the process may open few files")
    handshake_seconds: float = limit(20.0, "seconds until a connection that does not get ready is closed")
    idle_connection_seconds: float = limit(600.0, "seconds until a connection without calls is closed")
    games_at_once: int = limit(256, "games at the same time of one player")
    message_bytes: int = limit(64 * 1024, "size of a message")
    metadata_bytes: int = limit(16 * 1024, "size of a call's metadata")
    messages_per_second: float = limit(500.0, "messages a second of one player, on average")
    message_burst: float = limit(2_000.0, "messages of one player at once")
    waiting_messages: int = limit(
        10_000, "messages that a player may leave unread; a game that it comes back to counts as one"
    )
    name_characters: int = limit(64, "characters of a player's name")
    description_characters: int = limit(10_000, "characters of an engine's name, version or description")
    hello_seconds: float = limit(10.0, "seconds until a stream without `Hello` ends")
    message_seconds: float = limit(60.0, "seconds until a call without its message ends")
    write_seconds: float = limit(
        30.0, "seconds that a message, or the status at the end, may wait to be read"
    )
    log_lines_per_second: float = limit(10.0, "lines of the log a second, for each kind of event")
    log_line_burst: float = limit(100.0, "lines of the log at once, for each kind of event")
    health_watch_seconds: float = limit(600.0, "seconds until a watch of health ends")


class RemoteSession:
    """One stream of one player. Use it within one event loop."""

    def __init__(
        self, hello: players_pb2.Hello, token_digest: bytes, waiting_messages: int, most_games: int = 0
    ) -> None:
        """`most_games` is the most at once, whatever the player asks for; 0 for any number."""
        wanted = max(1, hello.games_at_once)
        self.games_at_once = min(wanted, most_games) if most_games else wanted
        self.hello = hello
        self.token_digest = token_digest
        self.seats: set[int] = set()
        # The games that it still begins; None for any number.
        self.games_left = hello.leave_after_games if hello.HasField("leave_after_games") else None
        if hello.HasField("leave_after") and not hello.leave_after.ToNanoseconds():
            self.games_left = 0
        self.leaving: asyncio.TimerHandle | None = None
        # Competitions for which it is held, until when; and those that found it busy, when they asked last.
        self.held: dict[str, float] = {}
        self.turns: dict[str, float] = {}
        self._missed = 0
        self._limit = waiting_messages
        # By what counts as one; none is empty.
        self._unread: deque[deque[players_pb2.PlayResponse]] = deque()
        self._news = asyncio.Event()
        self._ended = False
        self._why: RefusedCallError | None = None

    @property
    def name(self) -> str:
        """The player's name in control files."""
        return self.hello.player

    @property
    def has_room(self) -> bool:
        """Whether it plays another game, new or resumed."""
        return not self._ended and len(self.seats) < self.games_at_once

    def leave_if_done(self) -> None:
        """End the stream of a player that begins no more games, and has none."""
        if self.games_left == 0 and not self.seats:
            self.end()

    def note_end(self, *, done: bool) -> None:
        """Note whether a player that was awaited after a game has done with it."""
        self._missed = 0 if done else self._missed + 1
        if self._missed == MOST_MISSED:
            self.hello.says_done = False

    def send(self, *messages: players_pb2.PlayResponse) -> None:
        """Send messages, which count as one; the stream of a session that leaves too much unread is ended."""
        if len(self._unread) >= self._limit:
            self.end(TooManyError(f"{self._limit} messages were not read", waiting_messages=self._limit))
        elif not self._ended:
            self._unread.append(deque(messages))
            self._news.set()

    def end(self, why: RefusedCallError | None = None) -> None:
        """End the stream when its messages are sent; with a refusal at once."""
        if not self._ended:
            self._ended, self._why = True, why
            self._news.set()

    async def next_message(self) -> players_pb2.PlayResponse | None:
        """The next message to send, None at the end. Raises RefusedCallError where that is how it ends."""
        while True:
            if self._why is not None:
                raise self._why
            if self._unread:
                message = self._unread[0].popleft()
                if not self._unread[0]:
                    self._unread.popleft()
                return message
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()


class RemoteSeat:
    """One seat of one game. `send_to_game` sends a message to the process that plays the game."""

    def __init__(
        self, seat_id: int, seek: lobby_pb2.Seek, send_to_game: Callable[[lobby_pb2.ToGame], None]
    ) -> None:
        self.seat_id = seat_id
        self.player = seek.player
        self.token_digest = seek.token_digest
        self.reconnect_seconds = seek.reconnect_seconds
        self.competition = seek.competition
        self.is_check = seek.is_check
        self.send_to_game = send_to_game
        self.session: RemoteSession | None = None
        self.giving_up: asyncio.TimerHandle | None = None
        self.farewell = players_pb2.PlayResponse(game_end=players_pb2.GameEnd(seat_id=seat_id))
        self.is_seated = False
        # Whether the player has its farewell already, and is awaited.
        self.parting = False
        self.has_done = False
        self._heard = self._ready = False
        self._history: list[players_pb2.PlayResponse] = []
        self._request: players_pb2.MoveRequest | None = None
        self._requested_at = 0.0

    @property
    def abandoned(self) -> bool:
        """Whether its player has gone, and the seat is not given up yet."""
        return self.is_seated and self.session is None and self.giving_up is None

    def take(self, session: RemoteSession) -> None:
        """Give the seat to a session and send it the game so far; the game learns of the first one only."""
        if self.giving_up is not None:
            self.giving_up.cancel()
            self.giving_up = None
        self.session = session
        session.seats.add(self.seat_id)
        # A player that heard of no start did not count the game as one of those that it stays for; one
        # that has heard and not answered comes again for what is left.
        if not self._heard and session.games_left and not self.is_check:
            session.games_left -= 1
        if not self.is_seated:
            self.is_seated = True
            self.send_to_game(lobby_pb2.ToGame(seated=lobby_pb2.Seated(hello=session.hello)))
        so_far = list(self._history)
        if so_far:
            so_far[0] = players_pb2.PlayResponse.FromString(so_far[0].SerializeToString())
            so_far[0].game_start.resumed = True
        if self._request is not None:
            so_far.append(players_pb2.PlayResponse(move_request=self._request_now(self._request)))
        if self.parting:
            so_far.append(self.farewell)
        if so_far:
            session.send(*so_far)

    def _request_now(self, request: players_pb2.MoveRequest) -> players_pb2.MoveRequest:
        """The request as it is now: some of its time has passed."""
        left = players_pb2.MoveRequest()
        left.CopyFrom(request)
        passed = time.monotonic() - self._requested_at
        left.time_left.FromNanoseconds(max(0, request.time_left.ToNanoseconds() - round(passed * 1e9)))
        return left

    def vacate(self) -> None:
        """Take the seat from its session."""
        if self.session is not None:
            self.session.seats.discard(self.seat_id)
            self.session = None

    def say(self, message: players_pb2.PlayResponse) -> None:
        """Pass the game's messages on to its player, and keep what a later stream needs again."""
        kind = message.WhichOneof("message")
        match kind:
            case "game_start" | "moves_made":
                (message.game_start if kind == "game_start" else message.moves_made).seat_id = self.seat_id
                self._history.append(message)
            case "move_request":
                message.move_request.seat_id = self.seat_id
                self._request, self._requested_at = message.move_request, time.monotonic()
            case "game_end":
                # The player gets it when it has left the seat, and is free for another, but for one that is
                # awaited.
                message.game_end.seat_id = self.seat_id
                self.farewell, self._request = message, None
                self.parting = message.game_end.HasField("time_to_finish")
                if not self.parting:
                    return
            case _:
                return
        if self.session is not None:
            self.session.send(message)

    def receive(self, message: players_pb2.PlayRequest) -> None:
        """Pass on what the player answers, if it answers the last request; all else comes too late."""
        self._heard = True
        if message.HasField("move"):
            if self._request is None or message.move.request != self._request.request:
                return
            self._request = None
        if message.HasField("ready"):
            # A player that comes back says so again.
            if self._ready:
                return
            self._ready = True
        if message.HasField("decline"):
            # In a game that it plays a player declines to move, once for each request.
            if self._ready and self._request is None:
                return
            self._request = None
        if message.HasField("done"):
            if not self.parting:
                return
            self.has_done = True
        self.send_to_game(lobby_pb2.ToGame(heard=message))


class Authenticator(Protocol):
    """Who may dial in under which name."""

    def admit(self, player: str, token: str) -> int:
        """How many games one who may dial in plays at once, 0 for any number. Raises RefusedCallError."""

    def games_left(self, player: str) -> float:
        """How many games a player may still finish today; infinity for any number."""

    def note_game(self, player: str) -> None:
        """Note that a player has finished a game that counts."""


class Lobby:
    """All sessions and all seats of one process. Use it within one event loop.

    A player has one stream: a newer one takes the games of the older one over. When a stream ends, its
    games wait for the player to come back; a game that waits longer than its control file allows
    learns that the player is lost. Seats that find their player busy wait too, as long as their games do.
    """

    def __init__(self, authenticator: Authenticator, limits: LobbyLimits) -> None:
        self._authenticator = authenticator
        self._limits = limits
        self._sessions: dict[str, RemoteSession] = {}
        self._seats: dict[int, RemoteSeat] = {}
        self._newest = 0
        self._closing = False
        # Streams that have not ended, replaced ones too.
        self._inside: set[RemoteSession] = set()
        self._empty = asyncio.Event()

    def sessions(self) -> list[RemoteSession]:
        """The players that have dialled in, by name."""
        return [self._sessions[name] for name in sorted(self._sessions)]

    @property
    def seats(self) -> tuple[int, int]:
        """How many seats of games are taken, and how many wait for their player. From any thread."""
        seats = list(self._seats.values())
        taken = sum(seat.session is not None for seat in seats)
        return taken, len(seats) - taken

    # Players

    def enter(self, hello: players_pb2.Hello, token: str) -> RemoteSession:
        """Let a player in.

        Raises InvalidRequestError, TooManyError, LobbyClosingError, and what the authenticator raises.
        """
        limits = self._limits
        if self._closing:
            raise LobbyClosingError("the arena is closing")
        _check(hello, limits)
        most_games = self._authenticator.admit(hello.player, token)
        before = self._sessions.get(hello.player)
        if before is None and len(self._sessions) >= limits.players:
            raise TooManyError(f"there are {limits.players} players already", players=limits.players)
        session = RemoteSession(hello, digest_of(token), limits.waiting_messages, most_games)
        self._sessions[session.name] = session
        self._inside.add(session)
        if before is not None:
            before.end(
                SessionReplacedError(f"{hello.player} has dialled in again: this older stream is ended")
            )
            for seat_id in sorted(before.seats):
                self._seats[seat_id].vacate()
        self._fill_seats(session.name)
        self._await_return(session.name, "its new stream has no room for the game")
        if hello.HasField("leave_after"):
            seconds = hello.leave_after.ToNanoseconds() / 1e9
            session.leaving = asyncio.get_running_loop().call_later(seconds, self._retire, session)
        session.leave_if_done()
        return session

    def _retire(self, session: RemoteSession) -> None:
        """Have a player begin no more games, but for those that it is held for."""
        now = time.monotonic()
        if (held := max((until - now for until in session.held.values()), default=0.0)) > 0.0:
            loop = asyncio.get_running_loop()
            session.leaving = loop.call_later(held, self._retire, session)
            return
        session.games_left = 0
        session.leave_if_done()

    def end_session(self, player: str, why: RefusedCallError) -> None:
        """End the stream of a player, if it has dialled in."""
        if session := self._sessions.get(player):
            session.end(why)

    def leave(self, session: RemoteSession, why: str) -> None:
        """Note that a stream hears and says nothing more; its games wait for the player to come back."""
        if self._sessions.get(session.name) is session:
            del self._sessions[session.name]
        if session.leaving is not None:
            session.leaving.cancel()
        session.end()
        for seat_id in sorted(session.seats):
            self._seats[seat_id].vacate()
        self._await_return(session.name, why)

    def forget(self, session: RemoteSession) -> None:
        """Note that a stream has ended, whose caller knows why."""
        self._inside.discard(session)
        if not self._inside:
            self._empty.set()

    def _await_return(self, player: str, why: str) -> None:
        loop = asyncio.get_running_loop()
        for seat in self._seats.values():
            if seat.player == player and seat.abandoned:
                seat.giving_up = loop.call_later(seat.reconnect_seconds, self._give_up, seat, why)

    def _give_up(self, seat: RemoteSeat, why: str) -> None:
        seconds = seat.reconnect_seconds
        reason = f"{why}, and it did not come back within {seconds:g} s" if seconds else why
        seat.send_to_game(lobby_pb2.ToGame(lost=lobby_pb2.Lost(reason=reason)))

    def receive(self, session: RemoteSession, message: players_pb2.PlayRequest) -> None:
        """Take what a player says to the game it is about.

        Raises InvalidRequestError for what makes no sense.
        """
        kind = message.WhichOneof("message")
        match kind:
            case "ready" | "decline" | "move" | "done":
                seat_id = getattr(message, kind).seat_id
            case "hello":
                raise InvalidRequestError("hello: a stream says hello once, at its beginning")
            case _:
                raise InvalidRequestError("a message without content")
        if seat_id in session.seats:
            self._seats[seat_id].receive(message)
        elif not 0 < seat_id <= self._newest:
            raise InvalidRequestError(f"{kind}.seat_id: {seat_id} was never given out")
        # Else its game has ended meanwhile.

    # Games

    def seek(self, seek: lobby_pb2.Seek, send_to_game: Callable[[lobby_pb2.ToGame], None]) -> RemoteSeat:
        """Register a seat that waits for its player, and seat the player if it is there and has room."""
        self._newest += 1
        seat = RemoteSeat(self._newest, seek, send_to_game)
        self._seats[seat.seat_id] = seat
        if session := self._sessions.get(seat.player):
            session.held.pop(seat.competition, None)
        self._fill_seats(seat.player)
        return seat

    def end(self, seat: RemoteSeat) -> None:
        """Give up a seat whose game is over, or does not want its player any more."""
        del self._seats[seat.seat_id]
        if seat.giving_up is not None:
            seat.giving_up.cancel()
        session = seat.session
        seat.vacate()
        if seat.is_seated and seat.farewell.game_end.HasField("outcome"):
            self._authenticator.note_game(seat.player)
        if session is not None:
            if seat.parting:
                session.note_end(done=seat.has_done)
            else:
                session.send(seat.farewell)
            self._fill_seats(seat.player)
            session.leave_if_done()

    def offer(self, question: lobby_pb2.ListFree) -> list[str]:
        """Return the players that can begin a game of a competition now.

        With `question.hold` all its players are reserved for HOLD_SECONDS, or the answer is empty.
        """
        competition, names = question.competition, set(question.players)
        sessions = [session for session in self.sessions() if session.name in names]
        waits = len(sessions) + question.others >= max(2, question.seats)
        free = [session for session in sessions if self._is_free(session, competition, waits=waits)]
        if question.hold:
            if len(free) < len(names):
                return []
            for session in free:
                # Not before: a competition asks once for its round, and again for each game.
                session.turns.pop(competition, None)
                session.held[competition] = time.monotonic() + HOLD_SECONDS
        return [session.name for session in free]

    def _is_free(self, session: RemoteSession, competition: str, *, waits: bool) -> bool:
        """Whether a player has room for a game, and no other competition waits longer for it.

        Games of the competition itself are over: they have only to leave their seats. If it `waits`, its turn
        comes before those who ask later.
        """
        now = time.monotonic()
        session.held = {name: until for name, until in session.held.items() if now < until}
        session.turns = {name: last for name, last in session.turns.items() if now < last + TURN_SECONDS}
        others = sum(self._seats[seat_id].competition != competition for seat_id in session.seats)
        left = self._authenticator.games_left(session.name) - len(session.seats)
        if session.games_left is not None:
            left = min(left, session.games_left)
        room = min(session.games_at_once - others, left) - len(session.held.keys() - {competition})
        turns = list(session.turns)
        if room > (turns.index(competition) if competition in turns else len(turns)):
            return True
        if waits:
            session.turns[competition] = now
        return False

    def _fill_seats(self, player: str) -> None:
        """Seat a player where it is wanted, the oldest seats first."""
        session = self._sessions.get(player)
        if session is None:
            return
        for seat in list(self._seats.values()):
            if not session.has_room:
                return
            if seat.player != player or seat.session is not None:
                continue
            may_begin = seat.is_seated or session.games_left != 0
            wanted = seat.token_digest
            if may_begin and (not wanted or compare_digest(wanted, session.token_digest)):
                seat.take(session)

    async def close(self, seconds: float) -> None:
        """Let no more players in and end all streams; return when they have ended, or after a time limit."""
        self._closing = True
        for session in self._inside:
            session.end(LobbyClosingError("the arena is closing"))
        self._empty.clear()
        if self._inside:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._empty.wait()


def _check(hello: players_pb2.Hello, limits: LobbyLimits) -> None:
    """Raises InvalidRequestError."""
    if not 0 < len(hello.player) <= limits.name_characters:
        raise InvalidRequestError(f"hello.player: a name has 1 to {limits.name_characters} characters")
    if complaint := complaint_about(hello.player):
        raise InvalidRequestError(f"hello.player: {complaint}")
    if hello.games_at_once > limits.games_at_once:
        raise InvalidRequestError(
            f"hello.games_at_once: {hello.games_at_once}; at most {limits.games_at_once} are allowed"
        )
    longest = max(map(len, (hello.engine_name, hello.engine_version, hello.engine_description)))
    if longest > limits.description_characters:
        raise InvalidRequestError(
            f"hello: a text of {longest} characters; at most {limits.description_characters} are allowed"
        )
    if hello.leave_after.ToNanoseconds() < 0:
        seconds = hello.leave_after.ToNanoseconds() / 1e9
        raise InvalidRequestError(f"hello.leave_after: {seconds:g} s; write a time from 0")
