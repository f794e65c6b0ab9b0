"""A server to measure: ACADEMY, and beside it, in the same process and event loop, a no-op echo.

The echo answers messages of the same types and sizes with one that was made before, without any guard:
it shows what the transport costs.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from academy.matching.warming import warm_up
from academy.service import logs
from academy.service.addresses import Address
from academy.service.limits import Limits
from academy.service.listening import channel_options
from academy.service.server import AcademyServer, ServerSettings
from academy.store.library_store import Store
from academy.v1 import consultation_pb2 as messages

ECHO = "/benchmark.Echo/"


class Echo:
    """Answers everything with the same."""

    def __init__(self) -> None:
        self.answer = messages.MatchPatternsResponse()
        self.play_answer = messages.PlayResponse()

    def prepare(self, answer: messages.MatchPatternsResponse) -> None:
        self.answer = answer
        self.play_answer = messages.PlayResponse(request_id=1, patterns=answer)

    async def unary(
        self, request: messages.MatchPatternsRequest, context: Any
    ) -> messages.MatchPatternsResponse:
        return self.answer

    async def play(
        self, requests: AsyncIterator[messages.PlayRequest], context: Any
    ) -> AsyncIterator[messages.PlayResponse]:
        async for _ in requests:
            yield self.play_answer

    async def set_answer(
        self, request: messages.MatchPatternsResponse, context: Any
    ) -> messages.MatchPatternsResponse:
        self.prepare(request)
        return request

    def handler(self) -> grpc.GenericRpcHandler:
        answer, play = messages.MatchPatternsResponse, messages.PlayResponse
        return grpc.method_handlers_generic_handler(
            "benchmark.Echo",
            {
                "Unary": grpc.unary_unary_rpc_method_handler(
                    self.unary, messages.MatchPatternsRequest.FromString, answer.SerializeToString
                ),
                "Play": grpc.stream_stream_rpc_method_handler(
                    self.play, messages.PlayRequest.FromString, play.SerializeToString
                ),
                "SetAnswer": grpc.unary_unary_rpc_method_handler(
                    self.set_answer, answer.FromString, answer.SerializeToString
                ),
            },
        )


async def serve(folder: Path) -> None:
    limits = Limits(questions_per_second=1e9, question_burst=1e9, concurrent_calls_per_caller=512)
    # Measured is the kernel that a server runs on, not the one that answers until that is loaded.
    warm_up()
    with Store(folder) as store:
        server = AcademyServer(store, ServerSettings(address=Address.parse("127.0.0.1:0"), limits=limits))
        address = await server.start()
        echo = Echo()
        other = aio.server(options=channel_options(limits))
        other.add_generic_rpc_handlers((echo.handler(),))
        echo_port = other.add_insecure_port("127.0.0.1:0")
        await other.start()
        print(json.dumps({"port": address.port, "echo_port": echo_port}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await other.stop(0)
        await server.stop(0)


if __name__ == "__main__":
    if int(sys.argv[2]) >= 0:
        os.sched_setaffinity(0, {int(sys.argv[2])})
    logs.configure("warning", "json")
    asyncio.run(serve(Path(sys.argv[1])))
