"""Who calls a service and may have an answer: holders of tokens in its file, and members of its league."""

import math
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, Final, TypeAlias, TypeVar

import structlog
from grpc import aio

from academy.wire.errors import NotPermittedError
from academy.wire.rates import Bucket
from academy.wire.tokens import bearer_token, digest_of
from arena.league.errors import NameClaimedError
from arena.lobby.errors import DOMAIN
from arena.service.errors import EXPECTED, to_refusal
from arena.service.member_register import MemberRegister
from arena.service.tokens import ServiceCaller, ServiceRole, Tokens

Context = aio.ServicerContext[Any, Any]
WATCHERS: Final = (ServiceRole.OPERATOR, ServiceRole.WATCHER)
_Servicer = TypeVar("_Servicer", bound="AnsweringServicer")
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
# As at ACADEMY. All are counted.
_REFUSALS_LOGGED_PER_SECOND: Final = 10.0
_REFUSALS_LOGGED_AT_ONCE: Final = 100.0
_log = structlog.get_logger()


class ServiceAccess:
    """Whose a token is. `members` is None at a service without a league."""

    def __init__(self, tokens: Tokens, members: MemberRegister | None = None) -> None:
        self.tokens = tokens
        self.members = members
        # Calls by how they ended: OK, or the reason of the refusal.
        self.calls: Counter[str] = Counter()
        # Strangers are not to fill the disk with them.
        self.refusals_logged = Bucket(_REFUSALS_LOGGED_PER_SECOND, _REFUSALS_LOGGED_AT_ONCE)

    def authenticate(self, token: str) -> ServiceCaller:
        """Whose token this is. Raises NotAuthenticatedError."""
        member = self.members.holder(digest_of(token)) if self.members is not None and token else None
        if member is not None:
            return ServiceCaller(member.name, ServiceRole.PLAYER)
        return self.tokens.authenticate(token)

    def admit(self, player: str, token: str) -> int:
        """Let a player dial in under its own name; return how many games it plays at once, or 0.

        Raises NotAuthenticatedError, NotPermittedError and BannedError.
        """
        caller = self.authenticate(token)
        if caller.role is not ServiceRole.PLAYER or caller.name != player:
            raise NotPermittedError(
                f"this token is that of the {caller.role.value} {caller.name!r}, not of the player "
                f"{player[:80]!r}; dial in with that player's token"
            )
        return 0 if self.members is None else self.members.check_in(player)

    def games_left(self, player: str) -> float:
        """How many games a player may still finish today; infinity for any number."""
        return math.inf if self.members is None else self.members.games_left(player)

    def note_game(self, player: str) -> None:
        """Note that a player has finished a game that counts."""
        if self.members is not None:
            self.members.note_game(player)

    def create(self, name: str, role: ServiceRole) -> str:
        """Make a watcher's or player's token, and return it.

        Raises NotPermittedError, NameClaimedError, TokensError and OSError.
        """
        if self.members is not None and self.members.named(name) is not None:
            raise NameClaimedError(f"{name} is a member, which has its own token", name=name)
        return self.tokens.create(name, role)


class AnsweringServicer:
    """Answers callers of the right roles, and the others with statuses."""

    def __init__(self, access: ServiceAccess) -> None:
        self.access = access

    async def answer_as(
        self,
        context: Context,
        roles: tuple[ServiceRole, ...],
        answer: Callable[[ServiceCaller], Awaitable[_Answer]],
    ) -> _Answer:
        """Answer a caller of one of these roles; others, and errors, get a status."""

        async def checked() -> _Answer:
            caller = self.access.authenticate(bearer_token(context.invocation_metadata()))
            if caller.role not in roles:
                needed = " or ".join(role.value for role in roles)
                raise NotPermittedError(
                    f"this is for an {needed}; {caller.name}'s role is {caller.role.value}"
                )
            return await answer(caller)

        return await self.answer_anybody(context, checked)

    async def answer_anybody(self, context: Context, answer: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Answer a caller without asking who it is; errors become statuses."""
        try:
            answer_given = await answer()
        except EXPECTED as error:
            refusal = to_refusal(error)
            self.access.calls[refusal.reason] += 1
            if self.access.refusals_logged.use():
                _log.info("refused", reason=refusal.reason, why=str(refusal), peer=context.peer())
            await refusal.status(DOMAIN).abort(context)
        self.access.calls["OK"] += 1
        return answer_given


_Method: TypeAlias = Callable[[_Servicer, _Request, ServiceCaller], Awaitable[_Answer]]
_RpcMethod: TypeAlias = Callable[[_Servicer, _Request, Context], Awaitable[_Answer]]


def answered(
    *roles: ServiceRole,
) -> Callable[[_Method[_Servicer, _Request, _Answer]], _RpcMethod[_Servicer, _Request, _Answer]]:
    """Let callers of some roles alone have a method's answer, and answer its errors with statuses."""

    def decorate(
        method: _Method[_Servicer, _Request, _Answer],
    ) -> _RpcMethod[_Servicer, _Request, _Answer]:
        @wraps(method)
        async def call(servicer: _Servicer, request: _Request, context: Context) -> _Answer:
            return await servicer.answer_as(context, roles, partial(method, servicer, request))

        return call

    return decorate
