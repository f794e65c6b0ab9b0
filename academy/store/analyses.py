"""Patterns told outside of contests: how many different ones somebody was told within an hour.

It is counted before they are told, in the data folder: so the count holds for all servers of a folder, and
after each of their ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from academy.store import keys
from academy.store.codec import pack_message, unpack_message
from academy.store.environment import TableName
from academy.store.loaded_games import WriteContext
from academy.store.v1 import records_pb2

HOUR: Final = 3_600.0


class AnalysisExceededError(RuntimeError):
    """A question outside of a contest whose answer would tell more different patterns than somebody may have.

    `told` were told in this hour, which ends in `retry_after` seconds; the answer has `more`.
    """

    def __init__(self, told: int, more: int, limit: int, retry_after: float) -> None:
        room = "come again then" if told else "ask about fewer positions, or with max_matches"
        super().__init__(
            f"outside of a contest {limit} different patterns are told in an hour: {told} were, this answer "
            f"has {more} more; the hour ends in {retry_after:.0f} seconds; {room}"
        )
        self.told = told
        self.more = more
        self.limit = limit
        self.retry_after = retry_after

    def details(self) -> Mapping[str, str]:
        """Return the numbers and names of the message, for programs."""
        return {"told": str(self.told), "more": str(self.more), "limit": str(self.limit)}


@dataclass(frozen=True, slots=True)
class CountPatterns:
    """Count patterns of a game that are about to be told to somebody. The result is when the hour began.

    The hour begins with the first pattern. Raises AnalysisExceededError, and then counts nothing.
    """

    name: str
    game_id: str
    pattern_ids: Sequence[int]
    limit: int

    def execute(self, work: WriteContext) -> float:
        """Store the count."""
        key = keys.player(self.name)
        record = unpack_message(
            records_pb2.AnalysisRecord, work.transaction.get(TableName.ANALYSES, key) or b""
        )
        # A clock that was set back begins another hour too.
        if not 0 <= work.now - record.begin_time < HOUR:
            record = records_pb2.AnalysisRecord(name=self.name, begin_time=work.now)
        told = next((each for each in record.games if each.game_id == self.game_id), None)
        if told is None:
            told = record.games.add(game_id=self.game_id)
        more = sorted(set(self.pattern_ids).difference(told.pattern_ids))
        count = sum(len(each.pattern_ids) for each in record.games)
        if count + len(more) > self.limit:
            raise AnalysisExceededError(count, len(more), self.limit, record.begin_time + HOUR - work.now)
        told.pattern_ids.extend(more)
        work.transaction.put(TableName.ANALYSES, key, pack_message(record))
        return record.begin_time
