"""How much of the libraries somebody may be told outside of contests."""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from academy.service.write_queue import WriteQueue
from academy.store.contest_commands import HOUR, AnalysisExceededError, CountPatterns
from academy.store.errors import StoreError
from academy.store.library_store import Store
from academy.store.tokens import Caller, Role

# Each holds up to as many numbers as an hour allows.
_NAMES_REMEMBERED: Final = 1_024


@dataclass
class _Hour:
    """What is known to be counted already; it began at a time in seconds since 1970."""

    began: float
    patterns: set[tuple[str, int]] = field(default_factory=set)


class AnalysisAllowance:
    """Counts the different patterns that each name is told in an hour. For one event loop."""

    def __init__(self, store: Store, writes: WriteQueue, limit: int) -> None:
        """`limit` is for each name and hour; 0 is none."""
        self._clock = store.clock
        self._writes = writes
        self._limit = limit
        self._hours: OrderedDict[str, _Hour] = OrderedDict()

    async def take(self, caller: Caller, game_id: str, pattern_ids: Collection[int]) -> None:
        """Count patterns that are about to be told; admins and analysts are free.

        Nothing is written where all of them were told in this hour. Raises AnalysisExceededError.
        """
        if not self._limit or not pattern_ids or caller.role is Role.ADMIN or caller.analyst:
            return
        hour = self._hours.get(caller.name)
        if hour is None or not 0 <= self._clock() - hour.began < HOUR:
            hour = _Hour(self._clock())
        more = [each for each in pattern_ids if (game_id, each) not in hour.patterns]
        if not more:
            return
        try:
            began = await self._writes.done(CountPatterns(caller.name, game_id, more, self._limit))
        except StoreError:
            # Questions are answered also where nothing can be written: then this process alone counts.
            began = hour.began
            if len(hour.patterns) + len(more) > self._limit:
                left = began + HOUR - self._clock()
                raise AnalysisExceededError(len(hour.patterns), len(more), self._limit, left) from None
        known = self._hours.get(caller.name)
        hour = known if known is not None and known.began == began else _Hour(began)
        hour.patterns.update((game_id, each) for each in more)
        self._hours[caller.name] = hour
        self._hours.move_to_end(caller.name)
        if len(self._hours) > _NAMES_REMEMBERED:
            self._hours.popitem(last=False)
