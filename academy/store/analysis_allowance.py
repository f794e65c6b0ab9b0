"""How many different patterns somebody may be given in an hour by questions outside of contests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from academy.store import keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import TableName
from academy.store.errors import AnalysisExceededError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext

HOUR: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class CountPatterns:
    """Count patterns of a game that an answer will give to somebody. The result is when the hour began.

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
        counted = next((game for game in record.games if game.game_id == self.game_id), None)
        if counted is None:
            counted = record.games.add(game_id=self.game_id)
        more = sorted(set(self.pattern_ids).difference(counted.pattern_ids))
        count = sum(len(game.pattern_ids) for game in record.games)
        if count + len(more) > self.limit:
            raise AnalysisExceededError(count, len(more), self.limit, record.begin_time + HOUR - work.now)
        counted.pattern_ids.extend(more)
        work.transaction.put(TableName.ANALYSES, key, pack_message(record))
        return record.begin_time
