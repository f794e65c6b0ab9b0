"""Bearer tokens: read from a call's metadata, kept as digests only."""

import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from arena.lobby.refusals import NotAuthenticatedError

AUTHORIZATION: Final = "authorization"
MAX_TOKEN: Final = 512


def digest(token: str) -> bytes:
    """What is kept of a token. Tokens are long and drawn at random, so that a plain hash is enough."""
    return hashlib.sha256(token.encode()).digest()


def same(one: bytes, other: bytes) -> bool:
    """Compare two digests, taking the same time whatever they are."""
    return hmac.compare_digest(one, other)


def bearer_token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """The token of a call's metadata, "" where there is none.

    Raises NotAuthenticatedError for a malformed one.
    """
    values = [value for key, value in metadata or () if key == AUTHORIZATION]
    if not values:
        return ""
    value = values[0] if len(values) == 1 and isinstance(values[0], str) else ""
    scheme, _, token = value.partition(" ")
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN:
        raise NotAuthenticatedError("'authorization' must be there once and read 'Bearer TOKEN'")
    return token
