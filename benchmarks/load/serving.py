"""A server to measure: ACADEMY, and beside it, in the same process and event loop, two that do nothing.

Both answer messages of the same types and sizes with one that was made before. The echo is gRPC's server
alone: what the transport costs. It can also ask the matching kernel, or find and write an answer, before
that: what a consultation cannot do without, done for each by itself. The no-op is behind all that a
consultation is behind: the listeners and the guard, with authentication, fair use, limits and metrics.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from academy.knowledge.boards import Board
from academy.knowledge.game import PATTERN_LIBRARIES
from academy.matching.matches import MatchQuery
from academy.matching.warming import warm_up
from academy.service.access import current_caller
from academy.service.answers import PatternCall, PatternQuestion
from academy.service.game_cache import CachedGame, GameCache
from academy.service.interceptor import CallInterceptor
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.server import (
    AcademyServer,
    MultiListenerServer,
    ServerSettings,
    channel_options,
    make_server,
)
from academy.service.store_cache import TokenCache
from academy.store.codec.games import library_to_proto
from academy.store.library_store import Store
from academy.v1 import consultation_pb2 as messages
from academy.v1 import consultation_pb2_grpc
from academy.wire import logs
from academy.wire.addresses import ServerAddress
from benchmarks.load import full_game

ECHO = "/benchmark.Echo/"
Work = Callable[[messages.MatchPatternsRequest], None]


class Echo:
    """Answers everything with the same, after some work with each question."""

    def __init__(self, games: GameCache) -> None:
        self.answer = messages.MatchPatternsResponse()
        self.play_answer = messages.PlayResponse()
        self._games = games
        self._game: CachedGame | None = None

    def nothing(self, request: messages.MatchPatternsRequest) -> None:
        """What an echo does."""

    def match(self, request: messages.MatchPatternsRequest) -> None:
        """Ask the kernel."""
        game = self._asked()
        ranked = game.patterns.ranked
        wanted = ranked.select(map(library_to_proto, PATTERN_LIBRARIES))
        for position in request.positions:
            board = Board.from_letters(game.view.spec.geometry, position.board)
            ranked.match(MatchQuery(board, wanted, request.max_matches, Limits.default_matches_each))

    def write(self, request: messages.MatchPatternsRequest) -> None:
        """Ask the kernel and write the answer."""
        game = self._asked()
        geometry = game.view.spec.geometry
        most, most_each = request.max_matches, Limits.default_matches_each
        boards = [Board.from_letters(geometry, position.board) for position in request.positions]
        questions = [PatternQuestion(board, 1, False, most, most_each) for board in boards]
        call = PatternCall(game.view.spec, game.patterns.ranked, PATTERN_LIBRARIES, questions)
        messages.MatchPatternsResponse().CopyFrom(call.answer().message)

    def _asked(self) -> CachedGame:
        assert self._game is not None, "SetAnswer comes first"
        return self._game

    def unary(self, work: Work) -> Any:
        async def answer(
            request: messages.MatchPatternsRequest, context: Any
        ) -> messages.MatchPatternsResponse:
            work(request)
            return self.answer

        return answer

    def play(self, work: Work) -> Any:
        async def answer(
            requests: AsyncIterator[messages.PlayRequest], context: Any
        ) -> AsyncIterator[messages.PlayResponse]:
            async for request in requests:
                work(request.patterns)
                yield self.play_answer

        return answer

    async def set_answer(
        self, request: messages.MatchPatternsResponse, context: Any
    ) -> messages.MatchPatternsResponse:
        self._game = await self._games.game(full_game.FIRST)
        self.answer = request
        self.play_answer = messages.PlayResponse(request_id=1, patterns=request)
        return request

    def handler(self) -> grpc.GenericRpcHandler:
        answer, play = messages.MatchPatternsResponse, messages.PlayResponse
        handlers: dict[str, Any] = {
            "SetAnswer": grpc.unary_unary_rpc_method_handler(
                self.set_answer, answer.FromString, answer.SerializeToString
            )
        }
        for name, work in (("", self.nothing), ("Match", self.match), ("Write", self.write)):
            handlers["Unary" + name] = grpc.unary_unary_rpc_method_handler(
                self.unary(work), messages.MatchPatternsRequest.FromString, answer.SerializeToString
            )
            handlers["Play" + name] = grpc.stream_stream_rpc_method_handler(
                self.play(work), messages.PlayRequest.FromString, play.SerializeToString
            )
        return grpc.method_handlers_generic_handler("benchmark.Echo", handlers)


# Not all of its methods are here, which its types want.
_Servicer: Any = consultation_pb2_grpc.ConsultationServiceServicer


class NoOp(_Servicer):  # type: ignore[misc]
    """Answers consultations with what the echo answers."""

    def __init__(self, echo: Echo, guard: CallInterceptor) -> None:
        self._echo = echo
        self._guard = guard

    async def MatchPatterns(
        self, request: messages.MatchPatternsRequest, context: Any
    ) -> messages.MatchPatternsResponse:
        return self._echo.answer

    async def Play(
        self, requests: AsyncIterator[messages.PlayRequest], context: Any
    ) -> AsyncIterator[messages.PlayResponse]:
        caller = current_caller.get()
        async for _ in requests:
            self._guard.charge(caller, 1)
            yield self._echo.play_answer


def guarded_no_op(echo: Echo, store: Store, limits: Limits) -> MultiListenerServer:
    """A server that does nothing, as `AcademyServer` serves."""
    guard = CallInterceptor(TokenCache(store).caller, limits, Metrics())
    server = make_server([guard], limits)
    consultation_pb2_grpc.add_ConsultationServiceServicer_to_server(NoOp(echo, guard), server)
    return server


async def serve(folder: Path) -> None:
    limits = Limits(questions_per_second=1e9, question_burst=1e9, concurrent_calls_per_caller=512)
    # Measured is the kernel that a server runs on, not the one that answers until that is loaded.
    warm_up()
    with Store(folder) as store:
        server = AcademyServer(
            store, ServerSettings(address=ServerAddress.parse("127.0.0.1:0"), limits=limits)
        )
        address = await server.start()
        echo = Echo(server.games)
        other = aio.server(options=channel_options(limits))
        other.add_generic_rpc_handlers((echo.handler(),))
        echo_port = other.add_insecure_port("127.0.0.1:0")
        no_op = guarded_no_op(echo, store, limits)
        no_op_port = no_op.add_insecure_port("127.0.0.1:0")
        for extra in (other, no_op):
            await extra.start()
        ports = {"port": address.port, "echo_port": echo_port, "no_op_port": no_op_port}
        print(json.dumps(ports), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        for extra in (other, no_op):
            await extra.stop(0)
        await server.stop(0)


if __name__ == "__main__":
    if int(sys.argv[2]) >= 0:
        os.sched_setaffinity(0, {int(sys.argv[2])})
    logs.configure("warning", "json")
    asyncio.run(serve(Path(sys.argv[1])))
