"""Answers of the store, remembered until the next commit."""

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

from academy.store.library_store import Store
from academy.store.tokens import Caller, authenticate

_T = TypeVar("_T")
# Tokens expire by the clock, without a commit.
_KEPT_SECONDS: Final = 1.0
_MOST_ANSWERS: Final = 4_096


class VersionedCache:
    """Answers of the store by question. For one thread.

    The next commit of any process empties it, and so does the clock each second. Errors are not kept.
    """

    def __init__(self, store: Store) -> None:
        self._environment = store.environment
        self._clock = store.clock
        self._version = -1
        self._since = 0.0
        self._known: dict[Hashable, object] = {}

    def recall(self, question: Hashable, read: Callable[[], _T]) -> _T:
        """Return the remembered answer to a question, or that of `read`."""
        version, now = self._environment.version, self._clock()
        # Clocks may also be set back.
        if (
            version != self._version
            or not 0 <= now - self._since < _KEPT_SECONDS
            or len(self._known) >= _MOST_ANSWERS
        ):
            self._known.clear()
            self._version, self._since = version, now
        try:
            return self._known[question]  # type: ignore[return-value]
        except KeyError:
            answer = self._known[question] = read()
            return answer


class TokenCache:
    """The callers of tokens."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache = VersionedCache(store)

    def caller(self, token: str) -> Caller:
        """Return the caller to whom a token belongs. Raises TokenRefusedError."""
        return self._cache.recall(token, lambda: self._store.read(authenticate, token, self._store.clock()))
