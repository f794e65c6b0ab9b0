"""Placements, and the patterns that they are of, as the columns of an answer."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from academy.knowledge.settings import Library
from academy.matching.arrays import Number
from academy.service.columns import field, number_field, signed, unsigned
from academy.service.ranked import Placements, Ranked
from academy.store.game_records import library_to_proto
from academy.store.pattern_records import stored_cells
from academy.v1 import consultation_pb2 as messages


def field_numbers(message: type[Message]) -> dict[str, int]:
    """Return the numbers of a message's fields, by name."""
    return {each.name: each.number for each in message.DESCRIPTOR.fields}


_POSITION: Final = field_numbers(messages.PositionMatches)
_COLUMN: Final = field_numbers(messages.PatternTable)


class AnswerColumns:
    """Lists of placements, each to be written as a PositionMatches, and one table of all their patterns."""

    def __init__(self, ranked: Ranked, found: Sequence[Placements]) -> None:
        self._ranked = ranked
        self._found = found
        places, tops, lefts, symmetries = (
            _all([each.places for each in found]),
            signed(_all([each.rows for each in found])),
            signed(_all([each.columns for each in found])),
            unsigned(_all([each.symmetries for each in found])),
        )
        told = np.zeros(len(ranked), dtype=np.bool_)
        told[places] = True
        # The places of all patterns found.
        self._table = table = np.flatnonzero(told)
        row_of = np.empty(len(ranked), dtype=np.int32)
        row_of[table] = np.arange(len(table), dtype=np.int32)
        self._columns = (
            (_POSITION["patterns"], unsigned(row_of.take(places))),
            (_POSITION["symmetries"], symmetries),
            (_POSITION["rows"], tops),
            (_POSITION["columns"], lefts),
        )

    def positions(self, for_opponent: Sequence[bytes] = ()) -> list[bytes]:
        """Return each list as a PositionMatches; `for_opponent` are the flags of each, where asked for."""
        answers = []
        first = 0
        for place, each in enumerate(self._found):
            end = first + len(each.places)
            answer = [field(number, column.part(first, end)) for number, column in self._columns]
            if for_opponent and for_opponent[place]:
                answer.append(field(_POSITION["for_opponent"], for_opponent[place]))
            answer.append(number_field(_POSITION["total"], each.total))
            if each.more:
                answer.append(number_field(_POSITION["more"], 1))
            answers.append(b"".join(answer))
            first = end
        return answers

    def table(self) -> bytes:
        """Return the patterns as a PatternTable without cells."""
        ranked, table = self._ranked, self._table
        return (
            field(_COLUMN["pattern_ids"], ranked.written_ids.taken(table))
            + field(_COLUMN["libraries"], ranked.libraries.take(table).tobytes())
            + field(_COLUMN["proposers"], ranked.written_proposers.taken(table))
            + field(_COLUMN["elos"], ranked.elos.take(table).tobytes())
            + field(_COLUMN["values"], ranked.values.take(table).tobytes())
        )

    def cells(self, stored: Mapping[int, bytes]) -> list[str]:
        """Return the cells of the patterns, in the order of the table."""
        pattern_ids = self._ranked.pattern_ids.take(self._table).tolist()
        return [stored_cells(stored[pattern_id]) for pattern_id in pattern_ids]

    def found(self, library: Library) -> list[int]:
        """The numbers of all patterns of a library that are in the table."""
        chosen = self._table[self._ranked.libraries.take(self._table) == library_to_proto(library)]
        found: list[int] = self._ranked.pattern_ids.take(chosen).tolist()
        return found


def _all(columns: list[NDArray[Number]]) -> NDArray[Number]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
