"""How many calls there may be at once: for each caller, and in all."""

from typing import Final

from academy.service.refusals import TooManyCalls

_RETRY_SECONDS: Final = 0.5


class Places:
    """So many places for each holder, and so many in all; `what` names those who take them."""

    def __init__(self, what: str, each: int, in_all: int) -> None:
        self._what = what
        self._each = each
        self._in_all = in_all
        self._taken: dict[str, int] = {}
        self._sum = 0

    def check(self, holder: str) -> None:
        """Let one pass for whom there is a place. Raises TooManyCalls."""
        if self._taken.get(holder, 0) >= self._each:
            raise TooManyCalls(f"{self._what} of {holder}", self._each, _RETRY_SECONDS)
        if self._sum >= self._in_all:
            raise TooManyCalls(f"{self._what} of all callers", self._in_all, _RETRY_SECONDS)

    def take(self, holder: str) -> None:
        """Take a place. Raises TooManyCalls where none is free."""
        self.check(holder)
        self.put(holder)

    def put(self, holder: str) -> None:
        """Take a place, though there may be none free."""
        self._taken[holder] = self._taken.get(holder, 0) + 1
        self._sum += 1

    def give_back(self, holder: str) -> None:
        """Give a place back."""
        self._sum -= 1
        left = self._taken[holder] - 1
        if left:
            self._taken[holder] = left
        else:
            del self._taken[holder]
