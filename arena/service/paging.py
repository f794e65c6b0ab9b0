"""Pages of lists: how long they are, and where the next one begins."""

from typing import Final

from arena.lobby.errors import InvalidRequestError

DEFAULT_PAGE: Final = 100
PAGE: Final = 1_000


def page_size(wanted: int) -> int:
    """How many entries a page has; the rest is on the next ones. Raises InvalidRequestError."""
    if wanted < 0:
        raise InvalidRequestError(f"page_size: {wanted}: it must be 0 (the default) or more")
    return min(wanted or DEFAULT_PAGE, PAGE)


def number_token(token: str) -> int:
    """The number that a page's token is; 0 for the first page. Raises InvalidRequestError."""
    # No database counts further than 18 digits.
    if token and not (token.isascii() and token.isdecimal() and len(token) < 19):
        raise InvalidRequestError("page_token: not a token of this service; begin again without one")
    return int(token or 0)
