"""Pages of a listing: sizes, and opaque tokens that go with one request only (AIP-158)."""

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from google.protobuf.message import Message

from academy.service.errors import InvalidFieldError, StalePageTokenError
from academy.service.limits import Limits

MAX_TOKEN: Final = 1_024
_DIGEST_BYTES: Final = 9
_STRANGE: Final = "page_token: not a token of this server; begin again without one"
Key = list[str | int | float]


_Item = TypeVar("_Item", bound=Message)


def page_size(size: int, limits: Limits) -> int:
    """Return a page's size: the default for 0, at most the limit. Raises InvalidFieldError below 0."""
    if size < 0:
        raise InvalidFieldError("page_size", f"{size}: it must be 0 (the default) or more", page_size=size)
    return min(size or limits.default_page_size, limits.page_size)


def page_bytes(limits: Limits) -> int:
    """Return how many bytes of messages a page has at most, unless it has only one."""
    return limits.message_bytes * 3 // 4


def fill_page(items: Iterable[_Item], size: int, limits: Limits) -> tuple[list[_Item], bool]:
    """Return the first messages, at most `size` and what one answer holds; and whether there are more."""
    page: list[_Item] = []
    room = page_bytes(limits)
    for item in items:
        length = item.ByteSize()
        if len(page) == size or (page and length > room):
            return page, True
        page.append(item)
        room -= length
    return page, False


def page_token(request: Message, key: Key) -> str:
    """Return a token to go on after `key`, a few numbers and short names, with the same request."""
    body = json.dumps(key, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(_digest(request) + body).decode()


def page_key(request: Message, kinds: tuple[type, ...]) -> Key | None:
    """Return the key in a request's token, None where it has no token.

    `kinds` are the types of the key's parts. Raises StalePageTokenError for a token of another request or
    server.
    """
    token: str = request.page_token  # type: ignore[attr-defined]
    if not token:
        return None
    strange = StalePageTokenError(_STRANGE)
    if len(token) > MAX_TOKEN:
        raise strange
    try:
        content = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
    except ValueError as error:
        raise strange from error
    if content[:_DIGEST_BYTES] != _digest(request):
        raise StalePageTokenError(
            "page_token: it belongs to another request; keep all other fields as they were, "
            "or begin again without one"
        )
    try:
        key: Any = json.loads(content[_DIGEST_BYTES:])
        # Half of a character, which JSON can name, is in no text that is stored.
        json.dumps(key, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise strange from error
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds):
        raise strange
    return key


def token_of_place(request: Message, place: bytes) -> str:
    """Return a token to go on at a place in the store with the same request, none for an empty place."""
    return page_token(request, [place.hex()]) if place else ""


def page_place(request: Message) -> bytes:
    """Return the place that `token_of_place` put into a request's token, empty where it has no token.

    Raises StalePageTokenError for a token of another request or server.
    """
    key = page_key(request, (str,))
    try:
        return bytes.fromhex(str(key[0])) if key else b""
    except ValueError as error:
        raise StalePageTokenError(_STRANGE) from error


def _digest(request: Message) -> bytes:
    query = type(request)()
    query.CopyFrom(request)
    query.ClearField("page_token")
    query.ClearField("page_size")
    content = query.DESCRIPTOR.full_name.encode() + b"\0" + query.SerializeToString(deterministic=True)
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
