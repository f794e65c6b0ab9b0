"""Plays at an arena from wherever this program runs: dials in, is given games, answers with moves.

A bot is a function that is called for each game and returns the game's chooser, which is called for
each move. Games are played in threads of their own, as many at once as the bot allows.
"""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import grpc

from arena.v1 import players_pb2, players_pb2_grpc
from clients.connection import AcademyUnavailable, Connection, explained

REDIAL_SECONDS: Final = 60.0
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Game:
    """A game as it begins. `seat` counts from 1, `players` are by seat, `settings` the referee's own.

    `move_seconds` is what each move may take, None where there is a clock. `academy` is where to consult
    ACADEMY in this game, as `contest_id`; None where there is none. A `resumed` game had begun when the
    connection broke: its moves are told before the next one is asked for.
    """

    game_id: str
    name: str
    settings: Mapping[str, Any]
    seat: int
    players: tuple[str, ...]
    seed: int
    board: str
    move_seconds: float | None
    resumed: bool
    academy: Connection | None = None
    contest_id: str = ""


@dataclass(frozen=True)
class Turn:
    """A move to make: the board in ACADEMY's letters, and the `moves` so far as (seat, text).

    In games that hide moves only one's own are there. `legal_moves` are empty where the bot did not want
    them or the game cannot list them. `seconds_left` is what the clock allows at most, `stones_left` the
    moves of a byo-yomi period.
    """

    board: str
    moves: tuple[tuple[int, str], ...]
    legal_moves: tuple[str, ...]
    seconds_left: float
    stones_left: int


@dataclass(frozen=True)
class Answer:
    """A move's text, or None to resign; the own expected value (0 to 1) after it, and a comment."""

    text: str | None
    value: float | None = None
    comment: str = ""


@dataclass(frozen=True)
class Ending:
    """How a game ended: the seats that won (several drew, none: not known), the result as the game writes it
    and why. A game that does not count has a `void_reason` instead; one that was broken off has nothing.
    """

    winners: tuple[int, ...] = ()
    result: str = ""
    termination: str = ""
    detail: str = ""
    points: tuple[float, ...] = ()
    void_reason: str = ""


Chooser = Callable[[Turn], Answer | str | None]
NewGame = Callable[[Game], Chooser]
GameOver = Callable[[Game, Ending], None]


class Declined(ValueError):
    """Raised by a bot that does not play such a game; the message tells the arena why."""


@dataclass(frozen=True)
class Engine:
    """What a bot says of itself, and wants: see `arena/v1/players.proto`."""

    name: str = ""
    version: str = ""
    description: str = ""
    games_at_once: int = 1
    legal_moves: bool = False


def dial_in(
    arena: Connection,
    player: str,
    new_game: NewGame,
    engine: Engine | None = None,
    *,
    redial_seconds: float = REDIAL_SECONDS,
    game_over: GameOver | None = None,
) -> int:
    """Play until the arena has not been there for `redial_seconds`; return how many games were begun.

    Broken connections are dialled again, and the arena then tells the games in progress anew. `game_over`
    is called at the end of each game, in the game's thread. Raises
    AcademyRefusal where the arena does not want this player (a wrong token, a newer stream of the same
    name), AcademyUnavailable where it was never there, and whatever the bot raises.
    """
    engine = engine or Engine()
    hello = players_pb2.Hello(
        player=player,
        games_at_once=engine.games_at_once,
        engine_name=engine.name or player,
        engine_version=engine.version,
        engine_description=engine.description,
        want_legal_moves=engine.legal_moves,
    )
    games, pause, reached = 0, _FIRST_PAUSE_SECONDS, False
    alone_since = time.monotonic()
    while True:
        stream = _Stream(arena, hello, new_game, game_over)
        try:
            stream.run()
            reason: AcademyUnavailable | None = None
        except AcademyUnavailable as error:
            reason = error
        games += stream.games
        if stream.welcomed:
            reached, alone_since, pause = True, time.monotonic(), _FIRST_PAUSE_SECONDS
        if time.monotonic() + pause > alone_since + redial_seconds:
            if reached or reason is None:
                return games
            raise reason
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


@dataclass
class _Table:
    """One game in progress: what its thread is told, and what it knows."""

    game: Game
    told: "queue.SimpleQueue[players_pb2.MoveRequest | players_pb2.GameEnd | None]" = field(
        default_factory=queue.SimpleQueue
    )
    moves: list[tuple[int, str]] = field(default_factory=list)


class _Stream:
    """One connection, from its hello to its end."""

    def __init__(
        self, arena: Connection, hello: players_pb2.Hello, new_game: NewGame, game_over: GameOver | None
    ) -> None:
        self._arena = arena
        self._new_game = new_game
        self._game_over = game_over
        self._said: queue.SimpleQueue[players_pb2.PlayRequest | None] = queue.SimpleQueue()
        self._said.put(players_pb2.PlayRequest(hello=hello))
        self._tables: dict[int, _Table] = {}
        self._crash: BaseException | None = None
        self._call: Any = None
        self.games = 0
        self.welcomed = False

    def run(self) -> None:
        """Play until the stream ends. Raises as `dial_in`."""
        with self._arena.channel() as channel:
            stub = players_pb2_grpc.PlayerServiceStub(channel)
            self._call = stub.Play(self._requests(), metadata=self._arena.metadata)
            try:
                for message in self._call:
                    self._take(message)
            except grpc.RpcError as error:
                if self._crash is None:
                    raise explained(error, "the arena's stream") from None
            finally:
                self._said.put(None)
                for table in self._tables.values():
                    table.told.put(None)
        if self._crash is not None:
            raise self._crash

    def _requests(self) -> Iterator[players_pb2.PlayRequest]:
        while (request := self._said.get()) is not None:
            yield request

    def _take(self, message: players_pb2.PlayResponse) -> None:
        match message.WhichOneof("message"):
            case "welcome":
                self.welcomed = True
            case "game_start":
                self._begin(message.game_start)
            case "moves_made":
                if (table := self._tables.get(message.moves_made.seat_id)) is not None:
                    table.moves += [(move.seat, move.text) for move in message.moves_made.moves]
            case "move_request":
                if (table := self._tables.get(message.move_request.seat_id)) is not None:
                    table.told.put(message.move_request)
            case "game_end":
                if (table := self._tables.pop(message.game_end.seat_id, None)) is not None:
                    table.told.put(message.game_end)

    def _begin(self, start: players_pb2.GameStart) -> None:
        table = self._tables[start.seat_id] = _Table(_game(start, self._arena))
        self.games += not start.resumed
        threading.Thread(target=self._play, args=(start.seat_id, table), daemon=True).start()

    def _play(self, seat_id: int, table: _Table) -> None:
        try:
            try:
                choose = self._new_game(table.game)
            except Declined as error:
                decline = players_pb2.Decline(seat_id=seat_id, reason=str(error))
                self._said.put(players_pb2.PlayRequest(decline=decline))
                return
            self._said.put(players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=seat_id)))
            while (told := table.told.get()) is not None:
                if isinstance(told, players_pb2.GameEnd):
                    if self._game_over is not None:
                        self._game_over(table.game, _ending(told))
                    return
                self._said.put(players_pb2.PlayRequest(move=_answered(told, choose, table.moves)))
        except BaseException as error:  # The bot's own: it belongs to whoever has dialled in.
            self._crash = error
            self._call.cancel()


def _answered(
    request: players_pb2.MoveRequest, choose: Chooser, moves: list[tuple[int, str]]
) -> players_pb2.Move:
    turn = Turn(
        request.board,
        tuple(moves),
        tuple(request.legal_moves),
        request.time_left.ToNanoseconds() / 1e9,
        request.stones_left,
    )
    answer = choose(turn)
    if not isinstance(answer, Answer):
        answer = Answer(answer)
    move = players_pb2.Move(
        seat_id=request.seat_id, request=request.request, value=answer.value, comment=answer.comment
    )
    if answer.text is None:
        move.resign = True
    else:
        move.text = answer.text
    return move


def _ending(end: players_pb2.GameEnd) -> Ending:
    if not end.HasField("outcome"):
        return Ending(void_reason=end.void_reason)
    told = end.outcome
    return Ending(tuple(told.winners), told.result, told.termination, told.detail, tuple(told.points))


def _game(start: players_pb2.GameStart, arena: Connection) -> Game:
    academy = None
    if start.HasField("academy"):
        academy = replace(arena, address=start.academy.address, token=start.academy.token)
    return Game(
        game_id=start.game_id,
        name=start.game,
        settings=json.loads(start.settings_json),
        seat=start.seat,
        players=tuple(start.players),
        seed=start.seed,
        board=start.board,
        move_seconds=start.time_per_move.ToNanoseconds() / 1e9 if start.HasField("time_per_move") else None,
        resumed=start.resumed,
        academy=academy,
        contest_id=start.academy.contest_id,
    )
