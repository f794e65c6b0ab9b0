"""Bearer tokens: read from a call's metadata, kept as digests only by servers, in files by clients."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

AUTHORIZATION: Final = "authorization"
MAX_TOKEN: Final = 512


def bearer_token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """Return the token of a call's metadata, "" without one. Raises NotAuthenticatedError."""
    # Programs that keep tokens, and make no calls, do without gRPC.
    from academy.wire.errors import NotAuthenticatedError

    value: str | bytes | None = None
    for key, content in metadata or ():
        if key == AUTHORIZATION:
            if value is not None:
                raise NotAuthenticatedError(
                    "more than one 'authorization' in the metadata: send one", "TOKEN_MALFORMED"
                )
            value = content
    if value is None:
        return ""
    scheme, _, token = (value if isinstance(value, str) else "").partition(" ")
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN:
        raise NotAuthenticatedError("'authorization' must read 'Bearer TOKEN'", "TOKEN_MALFORMED")
    return token


def check_token(text: str, place: str) -> str:
    """Return the token that a text is, without blanks around it. Raises ValueError, which names the place."""
    token = text.strip()
    if not 0 < len(token) <= MAX_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError(
            f"{place}: holds no token: 1 to {MAX_TOKEN} printable ASCII characters without blanks are needed"
        )
    return token


def read_token_file(file: Path) -> str:
    """Return the token that a file holds. Raises OSError, and ValueError for a file without one."""
    with file.open(encoding="ascii", errors="replace") as kept:
        return check_token(kept.read(MAX_TOKEN + 2), str(file))


def digest_of(token: str) -> bytes:
    """Return the stored digest of a token. Tokens are long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).digest()
