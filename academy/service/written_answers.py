"""Placements, and the patterns that they are of, written as messages by the matching kernel."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, starmap
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.settings import Library
from academy.matching import kernels
from academy.matching.arrays import Number
from academy.matching.matches import Matches
from academy.matching.placement_lists import Fields, Lists, Lost
from academy.service.pattern_tables import field_numbers
from academy.service.ranked import Ranked
from academy.store.game_records import library_to_proto
from academy.store.pattern_records import stored_cells
from academy.v1 import consultation_pb2 as messages

_POSITION: Final = field_numbers(messages.PositionMatches)
_ANSWER: Final = field_numbers(messages.MatchPatternsResponse)
_SUCCESSORS: Final = field_numbers(messages.MatchSuccessorsResponse)
_MOVE: Final = field_numbers(messages.MoveMatches)
_FIELDS: Final = Fields(
    first=_ANSWER["positions"],
    other=_ANSWER["positions"],
    gained=_MOVE["gained"],
    lost=_MOVE["lost"],
    table=_ANSWER["patterns"],
    patterns=_POSITION["patterns"],
    symmetries=_POSITION["symmetries"],
    rows=_POSITION["rows"],
    columns=_POSITION["columns"],
    for_opponent=_POSITION["for_opponent"],
    total=_POSITION["total"],
    more=_POSITION["more"],
)
_SUCCESSOR_FIELDS: Final = _FIELDS._replace(
    first=_SUCCESSORS["position"], other=_SUCCESSORS["moves"], table=_SUCCESSORS["patterns"]
)
_NO_FLAGS: Final = np.zeros(0, dtype=np.bool_)
_NO_ENTRIES: Final = np.zeros(0, dtype=np.int32)
_NOTHING_LOST: Final = Lost(_NO_ENTRIES, _NO_ENTRIES)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """A message without cells that tells so many placements, and the places of the patterns in its table."""

    message: bytes
    placements: int
    table: NDArray[np.int32]
    _ranked: Ranked

    def cells(self, stored: Mapping[int, bytes]) -> list[str]:
        """Return the cells of the patterns, in the order of the table."""
        pattern_ids = self._ranked.pattern_ids.take(self.table).tolist()
        return [stored_cells(stored[pattern_id]) for pattern_id in pattern_ids]

    def found(self, library: Library) -> list[int]:
        """The numbers of all patterns of a library that are in the table."""
        chosen = self.table[self._ranked.libraries.take(self.table) == library_to_proto(library)]
        found: list[int] = self._ranked.pattern_ids.take(chosen).tolist()
        return found


def positions_written(
    ranked: Ranked, found: Sequence[Matches], for_opponent: Sequence[NDArray[np.bool_]]
) -> WrittenAnswer:
    """Write a MatchPatternsResponse; `for_opponent` are the flags of each position, where asked for."""
    return _written(ranked, _lists(found, for_opponent), _NOTHING_LOST, _FIELDS)


def each_written(
    ranked: Ranked, answers: Sequence[Sequence[Matches]], for_opponent: Sequence[NDArray[np.bool_]]
) -> list[WrittenAnswer]:
    """Write several at once; either the flags of each position of every answer are asked for, or none are."""
    lists = _lists([matches for answer in answers for matches in answer], for_opponent)
    ends = np.array([*accumulate(map(len, answers))], dtype=np.int32)
    messages, message_ends, tables, table_ends = kernels.current().write_each(
        lists, ends, _NOTHING_LOST, ranked.records, _FIELDS
    )
    raw = messages.tobytes()
    placements = [slice_.stop - slice_.start for slice_ in _slices(lists.starts.take(ends))]
    return [
        WrittenAnswer(raw[message], count, tables[table], ranked)
        for message, count, table in zip(_slices(message_ends), placements, _slices(table_ends), strict=True)
    ]


def _lists(found: Sequence[Matches], for_opponent: Sequence[NDArray[np.bool_]]) -> Lists:
    return Lists(
        joined([each.places for each in found]),
        joined([each.symmetries for each in found]),
        joined([each.rows for each in found]),
        joined([each.columns for each in found]),
        joined(for_opponent) if for_opponent else _NO_FLAGS,
        np.array([*accumulate(map(len, found), initial=0)], dtype=np.int32),
        np.array([each.total for each in found], dtype=np.int64),
        np.array([each.more for each in found], dtype=np.bool_),
    )


def _slices(ends: NDArray[np.int32]) -> Iterator[slice]:
    return starmap(slice, pairwise([0, *ends.tolist()]))


def successors_written(ranked: Ranked, lists: Lists, lost: Lost) -> WrittenAnswer:
    """Write a MatchSuccessorsResponse: the position's placements, then what each move gains and loses."""
    return _written(ranked, lists, lost, _SUCCESSOR_FIELDS)


def _written(ranked: Ranked, lists: Lists, lost: Lost, fields: Fields) -> WrittenAnswer:
    message, table = kernels.current().write(lists, lost, ranked.records, fields)
    return WrittenAnswer(message.tobytes(), len(lists.places), table, ranked)


def joined(columns: Sequence[NDArray[Number]]) -> NDArray[Number]:
    """Return columns one behind the other."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
