"""Players that dial in over gRPC; the process that plays the game reaches them through the lobby."""

import json
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration

from arena.jobs import CHECK_GAME_ID
from arena.lobby.game_socket import BrokenFrameError, frame, receive
from arena.lobby.v1 import lobby_pb2
from arena.players.player import (
    Choice,
    Cost,
    GameDeclinedError,
    IllFormedAnswerError,
    InvalidPlayerParametersError,
    LobbyGoneError,
    Player,
    PlayerDisconnectedError,
    PlayerError,
    PlayerTimeoutError,
    Seating,
    WarningList,
    check_known,
)
from arena.v1 import players_pb2
from referees.api import Outcome

DEFAULT_RECONNECT_SECONDS: Final = 15.0
MAX_COMMENT: Final = 10_000
_PARAMETERS: Final = ("lobby", "competition", "token_digest", "reconnect_seconds")


class RemotePlayer(Player):
    """A player in its seat at the other end of a gRPC stream.

    The setup's parameters are `lobby`, the path of the lobby's socket; `competition`, whose game it is;
    `token_digest`, SHA-256 of the token the player must have, as hexadecimal digits (left out: the lobby has
    seen to it); and `reconnect_seconds`, how long a game waits for a player whose stream broke. What it costs
    is not known, as it runs elsewhere.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        setup = seating.setup
        check_known(setup.parameters, _PARAMETERS, "a remote player")
        if setup.command:
            raise InvalidPlayerParametersError(
                f"a remote player dials in: it has no command {setup.command[0]!r}"
            )
        if "lobby" not in setup.parameters:
            raise InvalidPlayerParametersError("there is no lobby where remote players could dial in")
        self._parameters = setup.parameters
        self._hides = seating.referee.hides
        self._connection: socket.socket | None = None
        self._wants_legal_moves = False
        self._wants_view = False
        # Whether it says when it has done with a game, and by when it must.
        self._says_done = False
        self._done_by: float | None = None
        self._requests = 0
        self._own_move = ""
        self._odd_values = WarningList()

    @property
    def _label(self) -> str:
        return f"player {self.seating.label}"

    def start(self) -> None:
        """Ask the lobby for the player."""
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        seek = lobby_pb2.Seek(
            # Where a player sits twice the second is called NAME#2.
            player=self.seating.setup.name.partition("#")[0],
            token_digest=bytes.fromhex(self._parameters.get("token_digest", "")),
            reconnect_seconds=self._parameters.get("reconnect_seconds", DEFAULT_RECONNECT_SECONDS),
            competition=self._parameters.get("competition", ""),
            is_check=self.seating.game_id == CHECK_GAME_ID,
        )
        try:
            self._connection.connect(self._parameters["lobby"])
            self._connection.sendall(frame(lobby_pb2.FromGame(seek=seek)))
        except OSError as error:
            raise LobbyGoneError(f"{self._label}: the lobby cannot be reached: {error}") from error

    def set_up(self) -> None:
        """Wait until the player has dialled in and says that it is ready, for `start_seconds` in all."""
        seconds = self.seating.setup.start_seconds
        deadline = time.monotonic() + seconds
        try:
            first = self._receive(deadline)
        except PlayerTimeoutError:
            raise PlayerTimeoutError(
                f"{self._label}: did not dial in, or was busy with other games, for {seconds:g} s"
            ) from None
        hello = first.seated.hello
        self.name = f"{hello.engine_name}:{hello.engine_version}".strip(":")[:64]
        self.description = hello.engine_description[:MAX_COMMENT] or self.name
        self._wants_legal_moves = hello.want_legal_moves
        self._wants_view = hello.want_view
        self._says_done = hello.says_done
        self._say(players_pb2.PlayResponse(game_start=self._game_start()))
        try:
            answer = self._receive(deadline).heard
        except PlayerTimeoutError:
            raise PlayerTimeoutError(f"{self._label}: was not ready within {seconds:g} s") from None
        if answer.HasField("decline"):
            raise GameDeclinedError(f"{self._label}: declines the game: {answer.decline.reason[:500]!r}")

    def _game_start(self) -> players_pb2.GameStart:
        seating, rules = self.seating, self.seating.referee
        start = players_pb2.GameStart(
            competition=Path(self._parameters.get("competition", "")).stem,
            game_id=seating.game_id,
            game=rules.name,
            settings_json=json.dumps(dict(seating.settings)),
            seat=seating.seat,
            players=seating.players,
            seed=seating.seed,
            reconnection=to_duration(self._parameters.get("reconnect_seconds", DEFAULT_RECONNECT_SECONDS)),
        )
        clock = seating.setup.time_control
        if clock is None:
            start.time_per_move.CopyFrom(to_duration(seating.setup.move_seconds))
        else:
            start.time_control.CopyFrom(
                players_pb2.TimeControl(
                    main=to_duration(clock.main_seconds),
                    increment=to_duration(clock.increment_seconds),
                    byo_yomi=to_duration(clock.byo_yomi_seconds),
                    byo_yomi_stones=clock.byo_yomi_stones,
                )
            )
        environment = seating.environment
        if "ACADEMY_ADDRESS" in environment:
            start.academy.CopyFrom(
                players_pb2.Academy(
                    address=environment["ACADEMY_ADDRESS"],
                    contest_id=environment["ACADEMY_CONTEST"],
                    token=environment["ACADEMY_TOKEN"],
                    game_id=environment["ACADEMY_GAME"],
                )
            )
        return start

    def arranged(self, view: Any) -> None:
        """Send the first position as the other player arranged it."""
        made = players_pb2.MovesMade(board=self.seating.referee.board(view, self.seating.seat).letters)
        self._say(players_pb2.PlayResponse(moves_made=made))

    def choose(self, view: Any) -> Choice:
        """Ask for a move, and wait for it as long as the player's clock allows."""
        seating, rules = self.seating, self.seating.referee
        self._requests += 1
        seconds = seating.move_seconds
        self._confirm_own_move()
        request = players_pb2.MoveRequest(
            request=self._requests,
            time_left=to_duration(seconds),
            board=rules.board(view, seating.seat).letters,
        )
        if seating.clock is not None:
            request.stones_left = seating.clock.stones
        if self._wants_legal_moves:
            legal = rules.legal_moves(view, seating.seat)
            request.legal_moves.extend(() if legal is None else map(rules.move_text, legal))
        if self._wants_view:
            request.view = rules.view_text(view) or ""
        started = time.perf_counter()
        self._say(players_pb2.PlayResponse(move_request=request))
        try:
            heard = self._receive(time.monotonic() + seconds).heard
        except PlayerTimeoutError:
            raise PlayerTimeoutError(
                seating.late(f"{self._label}: no answer within {seconds:.3g} s")
            ) from None
        if not heard.HasField("move"):
            raise IllFormedAnswerError(
                f"{self._label}: answered a request to move with {heard.WhichOneof('message')}"
            )
        self._own_move = heard.move.text
        return self._choice(heard.move, time.perf_counter() - started)

    def _confirm_own_move(self) -> None:
        """Send the player's own last move, which has stood: a player that comes back must know it."""
        if self._own_move:
            made = players_pb2.MovesMade(
                moves=[players_pb2.SeatMove(seat=self.seating.seat, text=self._own_move)]
            )
            self._own_move = ""
            self._say(players_pb2.PlayResponse(moves_made=made))

    def _choice(self, move: players_pb2.Move, seconds: float) -> Choice:
        value = self._value(move.value) if move.HasField("value") else None
        before = self._value(move.value_before) if move.HasField("value_before") else None
        comment = move.comment[:MAX_COMMENT]
        if move.WhichOneof("answer") is None:
            raise IllFormedAnswerError(f"{self._label}: answered a request to move with an empty move")
        if move.resign:
            return Choice("resign", True, seconds, value, comment)
        return Choice(move.text, False, seconds, value, comment, value_before=before)

    def _value(self, value: float) -> float | None:
        if 0.0 <= value <= 1.0:
            return value
        self._odd_values.add(f"the expected value {value:g} is not a number from 0 to 1")
        return None

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send the moves where nothing is hidden, and the position. No answer comes."""
        rules, seat = self.seating.referee, self.seating.seat
        if seat in moves:
            self._own_move = ""
        else:
            self._confirm_own_move()
        made = players_pb2.MovesMade(board=rules.board(view, seat).letters)
        made.moves.extend(
            players_pb2.SeatMove(seat=mover, text=rules.move_text(move))
            for mover, move in moves.items()
            if mover == seat or not self._hides
        )
        self._say(players_pb2.PlayResponse(moves_made=made))

    def ended(self, outcome: Outcome | None, void_reason: str) -> None:
        """Send the player the end of the game, and until when it may propose what the game taught it."""
        if self._connection is None:
            return
        end = players_pb2.GameEnd()
        done_by = None
        if outcome is not None and self._says_done and "ACADEMY_ADDRESS" in self.seating.environment:
            seconds = self.seating.setup.exit_seconds
            done_by = time.monotonic() + seconds
            end.time_to_finish.CopyFrom(to_duration(seconds))
        if outcome is None:
            end.void_reason = void_reason[:MAX_COMMENT]
        else:
            end.outcome.CopyFrom(
                players_pb2.Outcome(
                    winners=outcome.winners,
                    result=outcome.summary,
                    termination=outcome.termination.value,
                    detail=outcome.detail[:MAX_COMMENT],
                    points=outcome.points,
                )
            )
        self._say(players_pb2.PlayResponse(game_end=end))
        self._done_by = done_by

    def close(self, *, at_once: bool = False) -> Cost:
        """Leave the seat when the player has done with the game, or its time for that is over.

        A player that was not sent the end of the game yet gets it from the lobby.
        """
        if self._connection is not None:
            if self._done_by is not None and not at_once:
                self._await_done(self._done_by)
            self._connection.close()
            self._connection = None
            self.warnings += [f"{self._label}: {warning}" for warning in self._odd_values.lines()]
        return Cost()

    def _await_done(self, deadline: float) -> None:
        # An answer to its last request may have come too late, and is still unread.
        try:
            while not self._receive(deadline).heard.HasField("done"):
                pass
        except PlayerTimeoutError:
            seconds = self.seating.setup.exit_seconds
            self.warnings.append(f"{self._label}: did not say within {seconds:g} s that it has done")
        except PlayerError:
            pass

    def _say(self, message: players_pb2.PlayResponse) -> None:
        assert self._connection is not None
        try:
            self._connection.settimeout(self.seating.setup.start_seconds)
            self._connection.sendall(frame(lobby_pb2.FromGame(say=message)))
        except OSError as error:
            raise LobbyGoneError(f"{self._label}: the lobby is gone: {error}") from error

    def _receive(self, deadline: float) -> lobby_pb2.ToGame:
        assert self._connection is not None
        try:
            message = receive(self._connection, lobby_pb2.ToGame, deadline)
        except TimeoutError:
            raise PlayerTimeoutError("no answer") from None
        except (BrokenFrameError, OSError) as error:
            raise LobbyGoneError(f"{self._label}: the lobby is gone: {error}") from error
        if message is None:
            raise LobbyGoneError(f"{self._label}: the lobby is gone")
        if message.HasField("lost"):
            self._says_done = False
            raise PlayerDisconnectedError(f"{self._label}: {message.lost.reason}")
        return message


def to_duration(seconds: float) -> Duration:
    """Return seconds as a message, exact to nanoseconds."""
    duration = Duration()
    duration.FromNanoseconds(round(seconds * 1e9))
    return duration
