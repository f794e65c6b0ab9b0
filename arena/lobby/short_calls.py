"""Calls that anybody may make, to health and reflection: none of them holds its place for ever."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeAlias, cast

import grpc
from grpc import aio

from academy.wire.hanging_up import hang_up_later

_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class ShortCalls(aio.ServerInterceptor):
    """Ends calls of some services after so many seconds, read or not."""

    def __init__(self, services: Iterable[str], seconds: float) -> None:
        self._services = frozenset(services)
        self._seconds = seconds

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """Return the method's handler, with an end to its calls."""
        handler = await continuation(handler_call_details)
        service = handler_call_details.method.strip("/").partition("/")[0]
        if handler is None or service not in self._services:
            return handler
        if handler.response_streaming:
            answers = cast("Callable[..., Any]", handler.stream_stream or handler.unary_stream)

            async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
                self._limit()
                async for response in answers(request, context):
                    yield response

            make = grpc.stream_stream_rpc_method_handler
            if not handler.request_streaming:
                make = grpc.unary_stream_rpc_method_handler
            return make(stream, handler.request_deserializer, handler.response_serializer)
        answer = cast("Callable[..., Any]", handler.unary_unary)

        async def single(request: Any, context: Any) -> Any:
            self._limit()
            return await answer(request, context)

        return grpc.unary_unary_rpc_method_handler(
            single, handler.request_deserializer, handler.response_serializer
        )

    def _limit(self) -> None:
        hang_up_later(cast("asyncio.Task[Any]", asyncio.current_task()), self._seconds)
