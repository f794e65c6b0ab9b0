"""A game at an arena as a bot sees it: its beginning, turns and end, the answers, and what a bot is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from arena.v1 import players_pb2
from clients.connection import Connection

# What the fields of a hello hold: a uint32, and the seconds of a Duration.
MOST_GAMES: Final = 2**32 - 1
MOST_SECONDS: Final = 315_576_000_000
# The id of what an arena begins to see whether a player gets ready.
CHECK_GAME_ID: Final = "startup-check"


@dataclass(frozen=True)
class TimeControl:
    """A game's clock: main time, then Canadian byo-yomi.

    Args:
        main_seconds: the time for all moves.
        increment_seconds: what each move made in main time adds to the clock.
        byo_yomi_seconds: the length of a byo-yomi period; 0 without byo-yomi.
        byo_yomi_stones: the moves to make in each period.
    """

    main_seconds: float
    increment_seconds: float = 0.0
    byo_yomi_seconds: float = 0.0
    byo_yomi_stones: int = 0


@dataclass(frozen=True)
class Game:
    """A game as it begins.

    Args:
        game_id: the game's name in its competition; others may have a game of the same name.
        name: the referee's name, such as `go`.
        settings: the referee's settings, as in the control file.
        seat: the bot's seat, from 1.
        players: the players' names by seat.
        seed: the seat's seed, for games that can be repeated.
        move_seconds: what each move may take; None where there is a clock.
        resumed: whether the game had begun when the connection broke. Its moves come before the next request.
        academy: where to consult ACADEMY in this game; None without ACADEMY.
        contest_id: ACADEMY's name of this game.
        time_control: the clock; None where each move has a time of its own.
        academy_game: ACADEMY's name of the game that is played, such as `go-9x9`; "" from arenas that do not
            send it.
        competition: the competition's name.
        seat_id: the arena's number of this seat, which no other game in progress has.
    """

    game_id: str
    name: str
    settings: Mapping[str, Any]
    seat: int
    players: tuple[str, ...]
    seed: int
    move_seconds: float | None
    resumed: bool
    academy: Connection | None = None
    contest_id: str = ""
    time_control: TimeControl | None = None
    academy_game: str = ""
    competition: str = ""
    seat_id: int = 0


@dataclass(frozen=True)
class GameTurn:
    """A move to make.

    Args:
        board: the board, in ACADEMY's letters.
        moves: the moves so far as (seat, text); only the bot's own in games that hide moves.
        legal_moves: the legal moves; empty where the bot did not want them or the game cannot list them.
        seconds_left: what the clock, or the time for a move, still allows.
        stones_left: the moves left of a byo-yomi period.
        view: what the seat sees in the game's own form; "" where it was not wanted, or the game has none.
    """

    board: str
    moves: tuple[tuple[int, str], ...]
    legal_moves: tuple[str, ...]
    seconds_left: float
    stones_left: int
    view: str = ""


@dataclass(frozen=True)
class Answer:
    """A move.

    Args:
        text: the move in the game's notation; None to resign.
        value: the bot's expected value after the move, from 0 (a loss) to 1 (a win).
        comment: a comment for the record.
        value_before: the expected value of the position before the move.
    """

    text: str | None
    value: float | None = None
    comment: str = ""
    value_before: float | None = None


@dataclass(frozen=True)
class GameEnd:
    """How a game ended.

    Args:
        winners: the seats that won; several for a draw, none where it is not known.
        result: the result as the game writes it.
        termination: why the game ended.
        detail: more about it.
        points: each seat's points, where the game counts any.
        void_reason: why the game does not count; "" where it does. An interrupted game has no field set.
    """

    winners: tuple[int, ...] = ()
    result: str = ""
    termination: str = ""
    detail: str = ""
    points: tuple[float, ...] = ()
    void_reason: str = ""


class GameDeclinedError(ValueError):
    """A bot raises it where it does not play such a game; the arena gets the message."""


@dataclass(frozen=True)
class Engine:
    """What a bot says of itself, and wants.

    Args:
        name: the program; the player's name if "".
        version: its version.
        description: a line about it.
        games_at_once: how many games it plays at the same time.
        legal_moves: whether each request lists the legal moves.
        view: whether each request has what the seat sees in the game's own form, as the referee's `view_text`
            writes it, where a board's letters do not show all (WarLight's armies).
        leave_after_games: after how many games it leaves; None for any number.
        leave_after_seconds: after how long it begins no more games, and leaves when those in progress are
            over; None for never.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    games_at_once: int = 1
    legal_moves: bool = False
    view: bool = False
    leave_after_games: int | None = None
    leave_after_seconds: float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for what a hello cannot say."""
        if not 1 <= self.games_at_once <= MOST_GAMES:
            raise ValueError(f"games_at_once = {self.games_at_once}: write 1 to {MOST_GAMES}")
        games, seconds = self.leave_after_games, self.leave_after_seconds
        if games is not None and not 0 <= games <= MOST_GAMES:
            raise ValueError(f"leave_after_games = {games}: write 0 to {MOST_GAMES}, or None for any number")
        if seconds is not None and not 0.0 <= seconds <= MOST_SECONDS:
            raise ValueError(f"leave_after_seconds = {seconds}: write 0 to {MOST_SECONDS}, or None for ever")


def hello_of(player: str, engine: Engine | None) -> players_pb2.Hello:
    """What a bot says first."""
    engine = engine or Engine()
    hello = players_pb2.Hello(
        player=player,
        games_at_once=engine.games_at_once,
        engine_name=engine.name or player,
        engine_version=engine.version,
        engine_description=engine.description,
        want_legal_moves=engine.legal_moves,
        want_view=engine.view,
        leave_after_games=engine.leave_after_games,
        says_done=True,
    )
    if engine.leave_after_seconds is not None:
        hello.leave_after.FromNanoseconds(round(engine.leave_after_seconds * 1e9))
    return hello


def turn_of(request: players_pb2.MoveRequest, moves: Sequence[tuple[int, str]]) -> GameTurn:
    """The move that is asked for; `moves` are those made so far."""
    return GameTurn(
        request.board,
        tuple(moves),
        tuple(request.legal_moves),
        request.time_left.ToNanoseconds() / 1e9,
        request.stones_left,
        request.view,
    )


def move_of(request: players_pb2.MoveRequest, answer: Answer | str | None) -> players_pb2.Move:
    """The answer to a request. Raises TypeError for what is none."""
    given = answer if isinstance(answer, Answer) else Answer(answer)
    try:
        move = players_pb2.Move(
            seat_id=request.seat_id,
            request=request.request,
            value=given.value,
            comment=given.comment,
            value_before=given.value_before,
        )
        if given.text is None:
            move.resign = True
        else:
            move.text = given.text
    except TypeError:
        raise TypeError(
            f"the bot answered {answer!r}: a move's text, None to resign, or an Answer of text and numbers "
            "is needed"
        ) from None
    return move


def ending_of(end: players_pb2.GameEnd) -> GameEnd:
    """How a game ended."""
    if not end.HasField("outcome"):
        return GameEnd(void_reason=end.void_reason)
    outcome = end.outcome
    return GameEnd(
        tuple(outcome.winners), outcome.result, outcome.termination, outcome.detail, tuple(outcome.points)
    )


def game_of(start: players_pb2.GameStart, arena: Connection) -> Game:
    """The game that begins or is taken up, at the arena of a connection."""
    academy = None
    if start.HasField("academy"):
        academy = replace(arena, address=start.academy.address, token=start.academy.token)
    clock = None
    if start.HasField("time_control"):
        control = start.time_control
        clock = TimeControl(
            control.main.ToNanoseconds() / 1e9,
            control.increment.ToNanoseconds() / 1e9,
            control.byo_yomi.ToNanoseconds() / 1e9,
            control.byo_yomi_stones,
        )
    return Game(
        game_id=start.game_id,
        name=start.game,
        settings=json.loads(start.settings_json),
        seat=start.seat,
        players=tuple(start.players),
        seed=start.seed,
        move_seconds=start.time_per_move.ToNanoseconds() / 1e9 if start.HasField("time_per_move") else None,
        resumed=start.resumed,
        academy=academy,
        contest_id=start.academy.contest_id,
        time_control=clock,
        academy_game=start.academy.game_id,
        competition=start.competition,
        seat_id=start.seat_id,
    )
