"""The arena's calls to ACADEMY: games registered, contests opened, contests reported."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc

from academy.knowledge.spec import GameSpec
from academy.v1 import contests_pb2, contests_pb2_grpc
from arena.jobs import GameResult
from clients.game_messages import game_message
from referees.api import Outcome

CALL_SECONDS: Final = 10.0
MAX_MESSAGE_BYTES: Final = 64 * 2**20
_PASSING: Final = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
)
_IDENTITY: Final = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)


class AcademyUnavailable(ConnectionError):
    """ACADEMY can't be reached or can't answer now; the same call may succeed later.

    `reached` tells that it is there but failed at this call: others may succeed at once.
    """

    def __init__(self, message: str, reached: bool = False) -> None:
        super().__init__(message)
        self.reached = reached


class AcademyRefusal(RuntimeError):
    """ACADEMY refuses the call, and would again.

    `identity` tells that it is the token it does not accept, `unknown_game` that it does not know the
    game, which can be registered.
    """

    def __init__(self, message: str, identity: bool, unknown_game: bool) -> None:
        super().__init__(message)
        self.identity = identity
        self.unknown_game = unknown_game


@dataclass(frozen=True)
class AcademyAddress:
    """Where ACADEMY listens (`host:port` or `unix:PATH`), and what it takes to be let in."""

    target: str
    token: str | None = field(default=None, repr=False)
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def channel(self) -> grpc.Channel:
        """A channel to it, with TLS if there is a certificate to check it by. Raises OSError."""
        options = [
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            # gRPC's own pause between connections would grow to two minutes.
            ("grpc.initial_reconnect_backoff_ms", 200),
            ("grpc.max_reconnect_backoff_ms", 5000),
        ]
        if self.tls_ca is None:
            return grpc.insecure_channel(self.target, options)
        credentials = grpc.ssl_channel_credentials(
            root_certificates=self.tls_ca.read_bytes(),
            private_key=self.tls_key.read_bytes() if self.tls_key else None,
            certificate_chain=self.tls_cert.read_bytes() if self.tls_cert else None,
        )
        return grpc.secure_channel(self.target, credentials, options)


class AcademyLink:
    """Calls to one ACADEMY; threads may share it. All raise AcademyUnavailable or AcademyRefusal."""

    def __init__(self, address: AcademyAddress) -> None:
        self.address = address
        self._channel = address.channel()
        self._stub = contests_pb2_grpc.ContestServiceStub(self._channel)
        self._metadata = (("authorization", f"Bearer {address.token}"),) if address.token else ()

    def close(self) -> None:
        """Close the channel; calls in progress fail as unavailable."""
        self._channel.close()

    def register_game(self, spec: GameSpec) -> bool:
        """Make sure that ACADEMY knows the game; return whether it was new to it."""
        request = contests_pb2.RegisterGameRequest(game=game_message(spec))
        try:
            response: contests_pb2.RegisterGameResponse = self._stub.RegisterGame(
                request, timeout=CALL_SECONDS, metadata=self._metadata
            )
        except (grpc.RpcError, ValueError) as error:
            raise self._reason(error, f"registering the game {spec.game_id}") from error
        return response.created

    def open_contest(self, contest: contests_pb2.Contest) -> tuple[str, ...]:
        """Open a contest; return its players' tickets by seat."""
        request = contests_pb2.OpenContestRequest(contest=contest)
        try:
            response: contests_pb2.OpenContestResponse = self._stub.OpenContest(
                request, timeout=CALL_SECONDS, metadata=self._metadata
            )
        except (grpc.RpcError, ValueError) as error:
            raise self._reason(error, f"opening the contest {contest.contest_id}") from error
        return tuple(response.tickets)

    def report(self, request: contests_pb2.ReportContestRequest) -> bool:
        """Report a contest; return whether it was counted, False when it had been before."""
        try:
            response: contests_pb2.ReportContestResponse = self._stub.ReportContest(
                request, timeout=CALL_SECONDS, metadata=self._metadata
            )
        except (grpc.RpcError, ValueError) as error:
            raise self._reason(error, f"reporting the contest {request.contest.contest_id}") from error
        return response.counted

    def _reason(self, error: Exception, doing: str) -> AcademyUnavailable | AcademyRefusal:
        # A channel closed under a call raises ValueError: the server is being restarted.
        if not isinstance(error, grpc.Call):
            return AcademyUnavailable(f"{doing}: {error}")
        code, where = error.code(), self.address.target
        if code in _PASSING:
            reached = code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
            return AcademyUnavailable(f"{doing}: ACADEMY at {where} fails: {error.details()}", reached)
        return AcademyRefusal(
            f"{doing}: ACADEMY at {where} refuses ({code.name}): {error.details()}",
            identity=code in _IDENTITY,
            unknown_game=code is grpc.StatusCode.NOT_FOUND,
        )


def contest_message(
    contest_id: str, spec: GameSpec, players: Sequence[str], elo: Sequence[float]
) -> contests_pb2.Contest:
    """The contest as it is opened: players by seat, with the ratings they begin it with."""
    return contests_pb2.Contest(
        contest_id=contest_id,
        game_id=spec.game_id,
        players=[
            contests_pb2.ContestPlayer(name=name, elo=rating)
            for name, rating in zip(players, elo, strict=True)
        ],
    )


def void_report(contest: contests_pb2.Contest, reason: str) -> contests_pb2.ReportContestRequest:
    """The report of a contest that nothing is to be learnt from."""
    return contests_pb2.ReportContestRequest(contest=contest, termination=reason, void=True)


def contest_report(contest: contests_pb2.Contest, result: GameResult) -> contests_pb2.ReportContestRequest:
    """The report of a finished game. A result nobody knows teaches nothing: it is reported void."""
    outcome = result.outcome
    if outcome is None or not outcome.winners:
        return void_report(contest, result.void_reason or "unknown result")
    return contests_pb2.ReportContestRequest(
        contest=contest,
        plies=[
            contests_pb2.Ply(
                player=move.seat,
                move=move.text,
                board=move.board,
                legal_moves=move.legal_moves,
                interaction=move.interaction,
                values=[
                    contests_pb2.SeatValue(player=seat, value=value)
                    for seat, value in sorted(move.values.items())
                ],
            )
            for move in result.moves
        ],
        results=[_result(outcome, seat) for seat in range(1, len(contest.players) + 1)],
        termination=outcome.termination.value,
        start_board=result.start_board,
    )


def _result(outcome: Outcome, seat: int) -> contests_pb2.Result.ValueType:
    if seat not in outcome.winners:
        return contests_pb2.RESULT_LOSS
    return contests_pb2.RESULT_WIN if len(outcome.winners) == 1 else contests_pb2.RESULT_DRAW
