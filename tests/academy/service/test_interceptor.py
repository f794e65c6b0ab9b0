"""What a guard keeps of its callers is bounded, however many tokens there were."""

import asyncio
import gc
import weakref
from types import SimpleNamespace
from typing import Any, cast

import grpc

from academy.service.interceptor import CallInterceptor
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.store.tokens import Caller, Role

METHOD = "/academy.v1.ConsultationService/MatchPatterns"
TOKENS = 4_000


def test_old_tokens_are_forgotten_and_the_latest_are_known() -> None:
    guard = CallInterceptor(lambda text: Caller(text, Role.BOT), Limits(), Metrics())

    async def answer(request: Any, context: Any) -> Any:
        return request

    async def find(_: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(answer)

    async def handler(token: str) -> Any:
        details = SimpleNamespace(method=METHOD, invocation_metadata=(("authorization", f"Bearer {token}"),))
        return await guard.intercept_service(find, cast(grpc.HandlerCallDetails, details))

    async def use() -> list[weakref.ref[Any]]:
        made = [weakref.ref((await handler(f"token {number}")).stream_unary) for number in range(TOKENS)]
        assert (await handler(f"token {TOKENS - 1}")).stream_unary is made[-1]()
        return made

    made = asyncio.run(use())
    gc.collect()
    assert 0 < sum(handler() is not None for handler in made) <= 2_000
