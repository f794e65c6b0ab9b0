"""Tokens over the wire: whose a call's is, and those that admins make, list and revoke."""

from typing import Final

import structlog
from google.protobuf.timestamp_pb2 import Timestamp

from academy.service import paging
from academy.service.access import current_caller
from academy.service.errors import LATEST_SECOND, InvalidFieldError, require, require_time
from academy.service.interceptor import Context
from academy.service.limits import Limits
from academy.store import tokens as stored
from academy.store.keys import given_contest_id
from academy.store.library_store import Store
from academy.store.tokens import CreateToken, RevokeToken, Role, Token
from academy.v1 import tokens_pb2 as messages
from academy.v1 import tokens_pb2_grpc
from academy.wire.errors import NotPermittedError

_ROLE_NUMBERS: Final = {role: messages.TokenRole.Value(f"TOKEN_ROLE_{role.name}") for role in Role}
_ROLES: Final = {number: role for role, number in _ROLE_NUMBERS.items()}
_log = structlog.get_logger()


class TokenServicer(tokens_pb2_grpc.TokenServiceServicer):
    """academy.v1.TokenService."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    async def GetCaller(
        self, request: messages.GetCallerRequest, context: Context
    ) -> messages.GetCallerResponse:
        """Return who calls."""
        caller = current_caller.get()
        return messages.GetCallerResponse(
            name=caller.name,
            role=_ROLE_NUMBERS[caller.role],
            token_id=caller.token_id,
            contest_id=given_contest_id(caller.contest_id) if caller.contest_id else "",
            seat=caller.seat,
        )

    async def CreateToken(
        self, request: messages.CreateTokenRequest, context: Context
    ) -> messages.CreateTokenResponse:
        """Make a token."""
        role = _ROLES.get(request.role)
        if role is None:
            raise InvalidFieldError("role", "name one: BOT, ANALYST or ARENA")
        if role is Role.ADMIN:
            # So a stolen token or session opens no door that stays open.
            raise NotPermittedError(
                "admins' tokens are made where the data are: `academy tokens create NAME --role admin`"
            )
        expires = None
        if request.HasField("expire_time"):
            require_time(request.expire_time, "expire_time")
            expires = request.expire_time.seconds + request.expire_time.nanos / 1e9
            require(expires > self._store.clock(), "expire_time", "it has passed already")
        command = CreateToken(request.name, role, expires)
        token, secret = await self._store.write(command)
        caller = current_caller.get().name
        _log.info("token made", token_id=token.token_id, name=token.name, role=role.value, caller=caller)
        return messages.CreateTokenResponse(token=_to_message(token), secret=secret)

    async def ListTokens(
        self, request: messages.ListTokensRequest, context: Context
    ) -> messages.ListTokensResponse:
        """Return a page of tokens, the oldest first."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (float, str))
        tokens = self._store.read(stored.tokens)
        if key is not None:
            after = float(key[0]), str(key[1])
            tokens = [token for token in tokens if (token.created, token.token_id) > after]
        page, more = paging.fill_page(map(_to_message, tokens), size, self._limits)
        last = tokens[len(page) - 1] if more else None
        following = paging.page_token(request, [last.created, last.token_id]) if last else ""
        return messages.ListTokensResponse(tokens=page, next_page_token=following)

    async def RevokeToken(
        self, request: messages.RevokeTokenRequest, context: Context
    ) -> messages.RevokeTokenResponse:
        """End a token's rights."""
        named = (token for token in self._store.read(stored.tokens) if token.token_id == request.token_id)
        if any(token.role is Role.ADMIN for token in named):
            raise NotPermittedError(
                "admins' tokens are revoked where the data are: `academy tokens revoke`",
                token_id=request.token_id,
            )
        token = await self._store.write(RevokeToken(request.token_id))
        caller = current_caller.get().name
        _log.info("token revoked", token_id=token.token_id, name=token.name, caller=caller)
        return messages.RevokeTokenResponse(token=_to_message(token))


def _to_message(token: Token) -> messages.Token:
    return messages.Token(
        token_id=token.token_id,
        name=token.name,
        role=_ROLE_NUMBERS[token.role],
        create_time=_timestamp(token.created),
        expire_time=_timestamp(token.expires),
        revoke_time=_timestamp(token.revoked),
    )


def _timestamp(seconds: float | None) -> Timestamp | None:
    # The command allowed later times in earlier versions.
    return None if seconds is None else Timestamp(seconds=int(min(seconds, LATEST_SECOND)))
