"""A small ContestService on a real socket that notes what it receives, and fails when asked to."""

import uuid
from collections import Counter, deque
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from academy.v1 import contests_pb2, contests_pb2_grpc, game_pb2, proposals_pb2, proposals_pb2_grpc

TOKEN = "arena-token"
# Not all of its methods are here, which its types want.
_Servicer: Any = contests_pb2_grpc.ContestServiceServicer
_ProposalServicer: Any = proposals_pb2_grpc.ProposalServiceServicer


class ContestServer(_Servicer, _ProposalServicer):  # type: ignore[misc]
    """What it knows outlives `stop` and `start`, as a real server's would."""

    def __init__(self, folder: Path) -> None:
        self.address = f"unix:{folder}/contests"
        self.games: dict[str, game_pb2.Game] = {}
        self.opened: dict[str, contests_pb2.Contest] = {}
        self.reports: dict[str, contests_pb2.ReportContestRequest] = {}
        self.counted: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.failures: deque[tuple[str, status_pb2.Status]] = deque()
        self.failing_reports: dict[str, grpc.StatusCode] = {}
        # What became of each contest's.
        self.proposals: list[proposals_pb2.Proposal] = []
        self._server: grpc.Server | None = None

    def start(self) -> None:
        server = self._made()
        server.add_insecure_port(self.address)
        server.start()

    def start_tls(self, certificate: Path, key: Path, authority: Path) -> int:
        """Serve on a port of this machine those whose certificate the authority signed."""
        credentials = grpc.ssl_server_credentials(
            [(key.read_bytes(), certificate.read_bytes())], authority.read_bytes(), require_client_auth=True
        )
        server = self._made()
        port = server.add_secure_port("localhost:0", credentials)
        server.start()
        return port

    def _made(self) -> grpc.Server:
        self._server = grpc.server(futures.ThreadPoolExecutor(4))
        contests_pb2_grpc.add_ContestServiceServicer_to_server(self, self._server)
        proposals_pb2_grpc.add_ProposalServiceServicer_to_server(self, self._server)
        return self._server

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop(0).wait()
            self._server = None

    def fail(self, method: str, *codes: grpc.StatusCode) -> None:
        """Answer the next calls of a method with errors."""
        for code in codes:
            self.failures.append((method, status_pb2.Status(code=code.value[0], message="as asked")))

    def put_off(self, method: str, seconds: float) -> None:
        """Answer the next call of a method with the time in which to ask again."""
        status = _with_reason(code_pb2.RESOURCE_EXHAUSTED, "too fast", "RATE_EXCEEDED")
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMicroseconds(round(seconds * 1e6))
        status.details.add().Pack(retry)
        self.failures.append((method, status))

    @property
    def void_reports(self) -> set[str]:
        return {contest_id for contest_id, report in self.reports.items() if report.void}

    @property
    def game_reports(self) -> set[str]:
        return set(self.reports) - self.void_reports

    def RegisterGame(
        self, request: contests_pb2.RegisterGameRequest, context: grpc.ServicerContext
    ) -> contests_pb2.RegisterGameResponse:
        self._check("RegisterGame", context)
        created = request.game.game_id not in self.games
        self.games[request.game.game_id] = request.game
        return contests_pb2.RegisterGameResponse(game=request.game, created=created)

    def OpenContest(
        self, request: contests_pb2.OpenContestRequest, context: grpc.ServicerContext
    ) -> contests_pb2.OpenContestResponse:
        self._check("OpenContest", context)
        contest = request.contest
        if contest.game_id not in self.games:
            _miss_game(contest.game_id, context)
        self.opened[contest.contest_id] = contest
        tickets = [uuid.uuid4().hex for _ in contest.players]
        return contests_pb2.OpenContestResponse(contest=contest, tickets=tickets)

    def ReportContest(
        self, request: contests_pb2.ReportContestRequest, context: grpc.ServicerContext
    ) -> contests_pb2.ReportContestResponse:
        self._check("ReportContest", context)
        contest_id = request.contest.contest_id
        self.tried[contest_id] += 1
        if contest_id in self.failing_reports:
            context.abort(self.failing_reports[contest_id], "this one always")
        if request.contest.game_id not in self.games:
            _miss_game(request.contest.game_id, context)
        self.counted[contest_id] += 1
        new = contest_id not in self.reports
        self.reports.setdefault(contest_id, request)
        accepted = len(self.proposals)
        return contests_pb2.ReportContestResponse(contest=request.contest, counted=new, accepted=accepted)

    def ListProposals(
        self, request: proposals_pb2.ListProposalsRequest, context: grpc.ServicerContext
    ) -> proposals_pb2.ListProposalsResponse:
        return proposals_pb2.ListProposalsResponse(proposals=self.proposals)

    def _check(self, method: str, context: grpc.ServicerContext) -> None:
        if ("authorization", f"Bearer {TOKEN}") not in [
            tuple(pair) for pair in context.invocation_metadata()
        ]:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
        if self.failures and self.failures[0][0] == method:
            _, status = self.failures.popleft()
            context.abort_with_status(rpc_status.to_status(status))


def _miss_game(game_id: str, context: grpc.ServicerContext) -> None:
    status = _with_reason(code_pb2.NOT_FOUND, f"no game {game_id}", "UNKNOWN_GAME")
    context.abort_with_status(rpc_status.to_status(status))


def _with_reason(code: int, message: str, reason: str) -> status_pb2.Status:
    status = status_pb2.Status(code=code, message=message)
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain="academy"))
    return status
