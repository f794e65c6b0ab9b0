"""Calls of one message: a caller that never sends it, or never reads the answer, loses its place.

gRPC's server for asyncio gives a call its place first, and then waits without end for the message.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from academy.wire._compat import reset_call_later
from academy.wire.errors import MessageOverdueError, RefusedCallError
from arena.lobby.errors import DOMAIN, InvalidRequestError
from arena.lobby.lobby import LobbyLimits

Context = aio.ServicerContext[Any, Any]
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class OneMessageInterceptor(aio.ServerInterceptor):
    """Reads the message of each call that has only one, and waits for it for a limited time."""

    def __init__(self, limits: LobbyLimits) -> None:
        self._message_seconds = limits.message_seconds
        self._write_seconds = limits.write_seconds

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """Return the method's handler as one of a stream of messages, of which it reads the first."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        if handler.response_streaming:
            answers = cast("Callable[..., Any]", handler.unary_stream)

            async def stream(_: Any, context: Context) -> None:
                await self._pass_on(answers(await self._message(handler, context), context), context)

            return grpc.stream_stream_rpc_method_handler(stream, None, handler.response_serializer)
        answer = cast("Callable[..., Awaitable[Any]]", handler.unary_unary)

        async def single(_: Any, context: Context) -> Any:
            given = await answer(await self._message(handler, context), context)
            self._limit_rest()
            return given

        return grpc.stream_unary_rpc_method_handler(single, None, handler.response_serializer)

    async def _message(self, handler: "_Handler", context: Context) -> Any:
        try:
            return await self._read(handler, context)
        except RefusedCallError as refusal:
            self._limit_rest()
            await refusal.status(DOMAIN).abort(context)

    async def _read(self, handler: "_Handler", context: Context) -> Any:
        """Read a call's message. Raises MessageOverdueError and InvalidRequestError."""
        try:
            async with asyncio.timeout(self._message_seconds):
                message = await context.read()
        except TimeoutError:
            raise MessageOverdueError(self._message_seconds) from None
        if message is aio.EOF:
            raise InvalidRequestError("the call ended without a message")
        try:
            return message if handler.request_deserializer is None else handler.request_deserializer(message)
        except DecodeError as error:
            raise InvalidRequestError(f"a message that cannot be read: {error}") from error

    def _limit_rest(self) -> None:
        """What is still to be sent does not wait for ever to be read."""
        reset_call_later(self._write_seconds)

    async def _pass_on(self, answers: Any, context: Context) -> None:
        """Write the answers of a method that yields them; others write for themselves."""
        if asyncio.iscoroutine(answers):
            await answers
            return
        async for given in answers:
            await context.write(given)
