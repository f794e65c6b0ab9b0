"""A game as a bot that has dialled in to an arena sees it, and the messages that it comes from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.v1 import players_pb2
from clients.connection import Connection


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
class GameTurn:
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
    """A move's text, or None to resign; the own expected values (0 to 1) after it and before; a comment."""

    text: str | None
    value: float | None = None
    comment: str = ""
    value_before: float | None = None


@dataclass(frozen=True)
class GameEnd:
    """How a game ended: the seats that won (several drew, none: not known), the result as the game writes it
    and why. A game that does not count has a `void_reason` instead; one that was broken off has nothing.
    """

    winners: tuple[int, ...] = ()
    result: str = ""
    termination: str = ""
    detail: str = ""
    points: tuple[float, ...] = ()
    void_reason: str = ""


class GameDeclinedError(ValueError):
    """Raised by a bot that does not play such a game; the message tells the arena why."""


@dataclass(frozen=True)
class Engine:
    """What a bot says of itself, and wants: see `arena/v1/players.proto`."""

    name: str = ""
    version: str = ""
    description: str = ""
    games_at_once: int = 1
    legal_moves: bool = False


def hello_of(player: str, engine: Engine | None) -> players_pb2.Hello:
    """What a bot says first."""
    engine = engine or Engine()
    return players_pb2.Hello(
        player=player,
        games_at_once=engine.games_at_once,
        engine_name=engine.name or player,
        engine_version=engine.version,
        engine_description=engine.description,
        want_legal_moves=engine.legal_moves,
    )


def turn_of(request: players_pb2.MoveRequest, moves: Sequence[tuple[int, str]]) -> GameTurn:
    """The move that is asked for; `moves` are those made so far."""
    return GameTurn(
        request.board,
        tuple(moves),
        tuple(request.legal_moves),
        request.time_left.ToNanoseconds() / 1e9,
        request.stones_left,
    )


def move_of(request: players_pb2.MoveRequest, answer: Answer | str | None) -> players_pb2.Move:
    """The answer to a request."""
    if not isinstance(answer, Answer):
        answer = Answer(answer)
    move = players_pb2.Move(
        seat_id=request.seat_id,
        request=request.request,
        value=answer.value,
        comment=answer.comment,
        value_before=answer.value_before,
    )
    if answer.text is None:
        move.resign = True
    else:
        move.text = answer.text
    return move


def ending_of(end: players_pb2.GameEnd) -> GameEnd:
    """How a game ended."""
    if not end.HasField("outcome"):
        return GameEnd(void_reason=end.void_reason)
    told = end.outcome
    return GameEnd(tuple(told.winners), told.result, told.termination, told.detail, tuple(told.points))


def game_of(start: players_pb2.GameStart, arena: Connection) -> Game:
    """The game that begins or is taken up, at the arena of a connection."""
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
