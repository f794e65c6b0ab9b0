"""What a refused caller gets to read."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from academy.wire.errors import MAX_MESSAGE, StatusDetails
from tests.academy.service.running import Refused, as_refused


async def ask_and_be_refused(text: str, socket: Path) -> Refused:
    """Ask a server that refuses a call with the request's text wherever a refusal can have one."""

    class Refusing(health_pb2_grpc.HealthServicer):
        async def Check(self, request, context):  # type: ignore[no-untyped-def]
            values = dict.fromkeys(("value", "limit", "name", "field"), request.service)
            status = StatusDetails(
                "academy", grpc.StatusCode.NOT_FOUND, "NONE", request.service, values, None, request.service
            )
            await status.abort(context)

    server = aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(Refusing(), server)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        async with aio.insecure_channel(f"unix:{socket}") as channel:
            # The package's published types leave the methods out.
            stub: Any = health_pb2_grpc.HealthStub(channel)
            with pytest.raises(aio.AioRpcError) as caught:
                await stub.Check(health_pb2.HealthCheckRequest(service=text), timeout=30)
    finally:
        await server.stop(None)
    return as_refused(caught.value)


@pytest.mark.parametrize("character", ["a", "%", "\n", "é", "字", "🎲"])
@pytest.mark.parametrize("length", [100, 700, 3_000])
def test_a_refusal_arrives_in_whatever_script_its_text_is(
    character: str, length: int, tmp_path: Path
) -> None:
    text = character * length
    refused = asyncio.run(ask_and_be_refused(text, tmp_path / "s"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NONE")
    for given in (refused.message, *refused.metadata.values(), *refused.fields):
        assert given
        assert text.startswith(given)


def test_a_refusal_of_usual_length_arrives_whole(tmp_path: Path) -> None:
    text = "字é" * 20
    refused = asyncio.run(ask_and_be_refused(text, tmp_path / "s"))
    assert {refused.message, *refused.metadata.values(), *refused.fields} == {text}
    assert asyncio.run(ask_and_be_refused("a" * 3_000, tmp_path / "t")).message == "a" * MAX_MESSAGE
