"""What was read from the store and still holds, since nothing has been committed after it."""

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

from academy.store.library_store import Store

_T = TypeVar("_T")
# Tokens expire by the clock, without a commit.
_SECONDS: Final = 1.0
_MOST: Final = 4_096


class Recollection:
    """Answers of the store by what was asked. For one thread.

    All is forgotten with any process's next commit, and after a second. A refusal is not remembered.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self._since = 0.0
        self._known: dict[Hashable, object] = {}

    def recall(self, question: Hashable, read: Callable[[], _T]) -> _T:
        """Return what `read` returns, or returned when this question was asked before."""
        version, now = self._store.version, self._store.clock()
        # Clocks may also be set back.
        if version != self._version or not 0 <= now - self._since < _SECONDS or len(self._known) >= _MOST:
            self._known.clear()
            self._version, self._since = version, now
        try:
            return self._known[question]  # type: ignore[return-value]
        except KeyError:
            answer = self._known[question] = read()
            return answer
