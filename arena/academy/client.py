"""The arena's calls to ACADEMY: games registered, contests opened, contests reported."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import grpc

from academy.knowledge.fair_use import FairUse
from academy.knowledge.spec import GameSpec
from academy.v1 import contests_pb2, contests_pb2_grpc, proposals_pb2, proposals_pb2_grpc
from academy.wire.games import game_message
from arena.jobs import GameResult
from arena.results.outbox import StoredVerdict
from clients.connection import (
    AcademyRefusedError,
    AcademyUnavailableError,
    Connection,
    to_client_error,
)
from clients.responses import fair_use_of
from referees.api import Outcome

CALL_SECONDS: Final = 10.0
_PAGE: Final = 1_000
# What ACADEMY takes of one message, unless its admin set it otherwise.
MAX_REPORT_BYTES: Final = 4 * 2**20
# What ACADEMY takes as one move, and as the number of legal ones.
MAX_MOVE_CHARACTERS: Final = 1_024
MAX_LEGAL_MOVES: Final = 100_000
# Without a time to ask again, the answers of a server that is overloaded or fails at this call.
_FAILURES: Final = ("RESOURCE_EXHAUSTED", "ABORTED", "INTERNAL", "UNKNOWN")

Response = TypeVar("Response")


class AcademyClient:
    """Calls to one ACADEMY; threads may share it.

    All raise AcademyUnavailableError or AcademyRefusedError.
    """

    def __init__(self, connection: Connection) -> None:
        """Connect. Raises OSError for certificates that can't be read."""
        self.connection = connection
        self._channel = connection.channel()
        self._stub = contests_pb2_grpc.ContestServiceStub(self._channel)
        self._proposals = proposals_pb2_grpc.ProposalServiceStub(self._channel)

    def close(self) -> None:
        """Close the channel; calls in progress fail as unavailable."""
        self._channel.close()

    def register_game(self, spec: GameSpec) -> bool:
        """Make sure that ACADEMY knows the game; return whether it was new to it."""
        request = contests_pb2.RegisterGameRequest(game=game_message(spec))
        return self._call(self._stub.RegisterGame, request, f"registering the game {spec.game_id}").created

    def fair_use(self, game_id: str) -> FairUse:
        """How much players may lean on the game's libraries by the game's own settings."""
        request = contests_pb2.GetGameRequest(game_id=game_id)
        doing = f"asking for the rules of fair use of {game_id}"
        return fair_use_of(self._call(self._stub.GetGame, request, doing).game.settings)

    def ratings(self, game_id: str, players: Sequence[str]) -> Mapping[str, float]:
        """The last Elo in a game of those players whom ACADEMY knows there."""
        request = contests_pb2.GetRatingsRequest(game_id=game_id, players=players)
        response = self._call(self._stub.GetRatings, request, f"asking for ratings in {game_id}")
        return {rating.player: rating.elo for rating in response.ratings}

    def open_contest(self, contest: contests_pb2.Contest) -> tuple[str, ...]:
        """Open a contest; return its players' tickets by seat."""
        request = contests_pb2.OpenContestRequest(contest=contest)
        doing = f"opening the contest {contest.contest_id}"
        return tuple(self._call(self._stub.OpenContest, request, doing).tickets)

    def report(self, request: contests_pb2.ReportContestRequest) -> contests_pb2.ReportContestResponse:
        """Report a contest; the answer says whether it was counted, which it is once."""
        doing = f"reporting the contest {request.contest.contest_id}"
        return self._call(self._stub.ReportContest, request, doing)

    def verdicts(self, contest: contests_pb2.Contest) -> list[StoredVerdict]:
        """What became of the proposals of a contest, as far as ACADEMY shows them to this arena."""
        request = proposals_pb2.ListProposalsRequest(contest_id=contest.contest_id, page_size=_PAGE)
        doing = f"listing the proposals of the contest {contest.contest_id}"
        verdicts: list[StoredVerdict] = []
        while True:
            answer = self._call(self._proposals.ListProposals, request, doing)
            verdicts += [
                StoredVerdict(
                    proposal.seat,
                    contest.players[proposal.seat - 1].name,
                    _verdict_name(proposal.verdict),
                    proposal.reason,
                )
                for proposal in answer.proposals
                if 0 < proposal.seat <= len(contest.players)
            ]
            if not answer.next_page_token:
                return verdicts
            request.page_token = answer.next_page_token

    def _call(self, method: Callable[..., Response], request: object, doing: str) -> Response:
        doing = f"{doing} at {self.connection.address}"
        try:
            return method(request, timeout=self.connection.timeout, metadata=self.connection.metadata)
        except grpc.RpcError as error:
            raise to_client_error(error, doing) from None
        except ValueError as error:
            # The channel was closed under the call: the server is being restarted.
            raise AcademyUnavailableError(f"{doing}: {error}") from error


def _verdict_name(verdict: int) -> str:
    """A verdict's name; a number, where only a newer ACADEMY knows it."""
    known = proposals_pb2.Verdict.DESCRIPTOR.values_by_number.get(verdict)
    return f"verdict {verdict}" if known is None else known.name.removeprefix("VERDICT_").lower()


def may_pass(error: AcademyUnavailableError | AcademyRefusedError) -> bool:
    """Whether the same call may succeed later, with nothing changed by us."""
    if isinstance(error, AcademyUnavailableError):
        return True
    return error.retry_after is not None or error.code in _FAILURES


def rejects_identity(refusal: AcademyRefusedError) -> bool:
    """Whether it is the token that ACADEMY does not accept, and so none of our calls."""
    return refusal.code in ("UNAUTHENTICATED", "PERMISSION_DENIED")


def misses_game(refusal: AcademyRefusedError) -> bool:
    """Whether ACADEMY does not know the game, which can be registered."""
    return refusal.reason == "UNKNOWN_GAME"


def contest_message(
    contest_id: str,
    spec: GameSpec,
    players: Sequence[str],
    elo: Sequence[float],
    fair_use: Mapping[str, float] | None = None,
) -> contests_pb2.Contest:
    """The contest as it is opened: players by seat, with the ratings they begin it with.

    `fair_use` has rules that are stricter than the game's, by name.
    """
    rules: dict[str, Any] = dict(fair_use or {})
    return contests_pb2.Contest(
        contest_id=contest_id,
        fair_use=contests_pb2.FairUseRules(**rules) if rules else None,
        game_id=spec.game_id,
        players=[
            contests_pb2.ContestPlayer(name=name, elo=rating)
            for name, rating in zip(players, elo, strict=True)
        ],
    )


def void_report(contest: contests_pb2.Contest, reason: str) -> contests_pb2.ReportContestRequest:
    """The report of a contest that teaches nothing."""
    return contests_pb2.ReportContestRequest(contest=contest, termination=reason, void=True)


def contest_report(
    contest: contests_pb2.Contest, result: GameResult, elo_after: Sequence[float] = ()
) -> contests_pb2.ReportContestRequest:
    """The report of a finished game, with its players' new ratings by seat.

    A result that is unknown or unproven teaches nothing: it is reported void.
    """
    outcome = result.outcome
    if outcome is None or not outcome.winners:
        return void_report(contest, result.void_reason or "unknown result")
    if result.unproven:
        return void_report(contest, result.unproven)
    return contests_pb2.ReportContestRequest(
        contest=contest,
        plies=[
            contests_pb2.Ply(
                player=move.seat,
                move=_wire_move(move.opening_move or move.text),
                board=move.board or "",
                legal_moves=_wire_legal_moves(move.legal_moves),
                interaction=bool(move.interaction),
                values=[
                    contests_pb2.SeatValue(
                        player=seat, value=value, before=move.value_before if seat == move.seat else None
                    )
                    for seat, value in sorted(move.values.items())
                ],
            )
            for move in result.moves
        ],
        results=[_result(outcome, seat) for seat in range(1, len(contest.players) + 1)],
        termination=outcome.termination.value,
        start_board=result.start_board,
        elo_after=elo_after,
    )


def _wire_move(move: str) -> str:
    """A move as ACADEMY receives it: orders of many units are cut, and still differ where the moves do."""
    if len(move) <= MAX_MOVE_CHARACTERS:
        return move
    mark = f"... {hashlib.sha256(move.encode()).hexdigest()[:16]}"
    return move[: MAX_MOVE_CHARACTERS - len(mark)] + mark


def _wire_legal_moves(count: int | None) -> int:
    """How many moves there were, as ACADEMY takes it: 0, unknown, for more than its limit."""
    return 0 if count is None or count > MAX_LEGAL_MOVES else count


def fitted(report: contests_pb2.ReportContestRequest) -> tuple[contests_pb2.ReportContestRequest, str]:
    """A report that is not too large for ACADEMY, and what was done to it for that ("" for nothing).

    The boards of the plies are left out first: what players propose is then not compared with them.
    """
    if report.ByteSize() <= MAX_REPORT_BYTES:
        return report, ""
    reason = f"of {report.ByteSize():,} bytes is larger than the {MAX_REPORT_BYTES:,} that ACADEMY takes"
    shorter = contests_pb2.ReportContestRequest()
    shorter.CopyFrom(report)
    for ply in shorter.plies:
        ply.ClearField("board")
    if shorter.ByteSize() <= MAX_REPORT_BYTES:
        return shorter, f"{reason}: it is sent without the boards"
    void = void_report(report.contest, "report too large")
    return void, f"{reason}, without the boards too: it is sent as void"


def _result(outcome: Outcome, seat: int) -> contests_pb2.Result.ValueType:
    if seat not in outcome.winners:
        return contests_pb2.RESULT_LOSS
    return contests_pb2.RESULT_WIN if len(outcome.winners) == 1 else contests_pb2.RESULT_DRAW
