"""A real server over a real socket and a real data folder, for tests that call it from outside."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from academy.service.limits import Limits
from academy.service.server import AcademyServer, ServerSettings
from academy.store.library_store import Store
from academy.store.shared_log.address import LogAddress
from academy.store.tokens import CreateToken, Role
from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    game_pb2,
    history_pb2_grpc,
    libraries_pb2_grpc,
    proposals_pb2_grpc,
    tokens_pb2_grpc,
)
from academy.wire import logs
from academy.wire.addresses import ServerAddress

SECONDS = 90.0
LOCAL = ServerAddress.parse("127.0.0.1:0")


class Client:
    """All services with one caller's token."""

    def __init__(self, channel: grpc.Channel, token: str) -> None:
        introduced = grpc.intercept_channel(channel, _Token(token)) if token else channel
        self.token = token
        self.channel = introduced
        self.consultation = consultation_pb2_grpc.ConsultationServiceStub(introduced)
        self.proposals = proposals_pb2_grpc.ProposalServiceStub(introduced)
        self.contests = contests_pb2_grpc.ContestServiceStub(introduced)
        self.libraries = libraries_pb2_grpc.LibraryServiceStub(introduced)
        self.tokens = tokens_pb2_grpc.TokenServiceStub(introduced)
        self.history = history_pb2_grpc.HistoryServiceStub(introduced)


class Playing:
    """An open stream of questions: ask, and read the answer."""

    def __init__(self, client: Client) -> None:
        self._questions: queue.Queue[consultation_pb2.PlayRequest | None] = queue.Queue()
        self.answers = client.consultation.Play(iter(self._questions.get, None))

    def ask(self, **question: Any) -> consultation_pb2.PlayResponse:
        self.send(**question)
        return next(self.answers)

    def send(self, **question: Any) -> None:
        self._questions.put(consultation_pb2.PlayRequest(**question))

    def end(self) -> None:
        self._questions.put(None)


class _Token(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    def __init__(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),)

    def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        timeout = details.timeout or SECONDS
        return continuation(details._replace(metadata=self._metadata, timeout=timeout), request)

    intercept_unary_unary: Any = _call
    intercept_unary_stream: Any = _call
    intercept_stream_unary: Any = _call
    intercept_stream_stream: Any = _call


class Running:
    """A server in a thread of its own."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.store = store
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._channels: list[grpc.Channel] = []
        self._tokens: dict[tuple[str, Role], str] = {}
        try:
            self.server = self.within(self._made())
            self.address: ServerAddress = self.within(self.server.start())
        except BaseException:
            self._end_thread()
            raise

    async def _made(self) -> AcademyServer:
        return AcademyServer(self.store, self._settings)

    def within(self, work: Any) -> Any:
        """Run a coroutine in the server's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def figure(self, name: str, **labels: str) -> float:
        """A figure as Prometheus sees it; 0 where nothing was counted yet."""
        return self.server.metrics.registry.get_sample_value(name, labels) or 0.0

    def running(self, method: str) -> float:
        """How many calls of a method are open."""
        return self.figure("academy_calls_running", method=method)

    def playing(self) -> float:
        """How many streams of questions are open."""
        return self.running("/academy.v1.ConsultationService/Play")

    def token(self, name: str, role: Role = Role.BOT) -> str:
        """A token of this name, made when first asked for."""
        if (name, role) not in self._tokens:
            _, self._tokens[name, role] = self.store.run(CreateToken(name, role))
        return self._tokens[name, role]

    def client(self, token: str = "") -> Client:
        """A client on a connection of its own."""
        channel = grpc.insecure_channel(str(self.address), options=[("grpc.use_local_subchannel_pool", 1)])
        self._channels.append(channel)
        return Client(channel, token)

    def bot(self, name: str) -> Client:
        """A bot's client."""
        return self.client(self.token(name))

    def arena(self) -> Client:
        """The arena's client."""
        return self.client(self.token("arena", Role.ARENA))

    def admin(self) -> Client:
        """An admin's client."""
        return self.client(self.token("admin", Role.ADMIN))

    @cached_property
    def _contests(self) -> contests_pb2_grpc.ContestServiceStub:
        return self.arena().contests

    def register(self, game: game_pb2.Game) -> contests_pb2.RegisterGameResponse:
        """Have the arena register a game."""
        return self._contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))

    def open(self, contest: contests_pb2.Contest) -> list[Client]:
        """Have the arena open a contest; return its players' clients, by their tickets."""
        tickets = self._contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest)).tickets
        return [self.client(ticket) for ticket in tickets]

    def report(self, request: contests_pb2.ReportContestRequest) -> contests_pb2.ReportContestResponse:
        """Have the arena report a contest."""
        return self._contests.ReportContest(request)

    def close(self) -> None:
        """End it."""
        for channel in self._channels:
            channel.close()
        self.within(self.server.stop(0.0))
        self._end_thread()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()


@contextmanager
def serving(folder: Path, settings: ServerSettings | None = None, **of_store: Any) -> Iterator[Running]:
    """A server on a free port of this machine."""
    # Into what is shown of a failed test, not into what a command prints.
    logs.configure("error", "json")
    with Store(folder, **of_store) as store:
        running = Running(store, settings or ServerSettings(LOCAL))
        try:
            yield running
        finally:
            running.close()


def limited(
    folder: Path, clock: Callable[[], float] = time.time, log: LogAddress | None = None, /, **limits: Any
) -> AbstractContextManager[Running]:
    """A server with these limits."""
    return serving(folder, ServerSettings(LOCAL, limits=Limits(**limits)), clock=clock, log=log)


def pages(method: Callable[[Any], Any], request: Any) -> Iterator[Any]:
    """The pages of a listing, from that of the request on."""
    while True:
        page = method(request)
        yield page
        request.page_token = page.next_page_token
        if not page.next_page_token:
            return


@dataclass(frozen=True)
class Refused:
    """How a call was refused."""

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    retry_after: float | None
    fields: Sequence[str]


def refusal(call: Callable[[], Any]) -> Refused:
    """Make a call that must be refused, and return how."""
    with pytest.raises(grpc.RpcError) as caught:
        answer = call()
        if hasattr(answer, "__next__"):
            list(answer)
    return as_refused(caught.value)


def as_refused(error: Any) -> Refused:
    """Read a failed call's status and details."""
    status = rpc_status.from_call(error) or status_pb2.Status()
    info, retry, bad = (
        error_details_pb2.ErrorInfo(),
        error_details_pb2.RetryInfo(),
        error_details_pb2.BadRequest(),
    )
    kinds = [detail.type_url.rpartition(".")[2] for detail in status.details]
    assert len(kinds) == len(set(kinds)), "each kind of detail at most once (AIP-193)"
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(retry)
        detail.Unpack(bad)
    if status.details:
        assert info.domain == "academy"
        assert status.code == error.code().value[0] != code_pb2.OK
    return Refused(
        code=error.code(),
        message=error.details(),
        reason=info.reason,
        metadata=dict(info.metadata),
        retry_after=retry.retry_delay.ToTimedelta().total_seconds() if "RetryInfo" in kinds else None,
        fields=[violation.field for violation in bad.field_violations],
    )
