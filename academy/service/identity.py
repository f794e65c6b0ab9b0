"""Who calls: from the `authorization` metadata to a name and a role."""

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Final

from academy.service.refusals import NotAuthenticated
from academy.store.tokens import Caller

AUTHORIZATION: Final = "authorization"
MAX_TOKEN: Final = 512


_current: ContextVar[Caller] = ContextVar("caller")


def enter(caller: Caller) -> None:
    """Make this the caller of the task that runs."""
    _current.set(caller)


def caller() -> Caller:
    """The caller of the call being answered."""
    return _current.get()


def bearer_token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """The token of a call's metadata. Raises NotAuthenticated."""
    values = [value for key, value in metadata or () if key == AUTHORIZATION]
    if not values:
        raise NotAuthenticated(
            "TOKEN_MISSING", "no token: send metadata 'authorization: Bearer TOKEN'; an admin makes tokens"
        )
    if len(values) > 1:
        raise NotAuthenticated("TOKEN_MALFORMED", "more than one 'authorization' in the metadata: send one")
    value = values[0]
    scheme, _, token = (value if isinstance(value, str) else "").partition(" ")
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN:
        raise NotAuthenticated("TOKEN_MALFORMED", "'authorization' must read 'Bearer TOKEN'")
    return token
