"""What answers tell of patterns themselves, written once for all answers."""

from typing import Final

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from academy.matching.placement_lists import Records
from academy.matching.vectorised.writing import unsigned
from academy.v1 import consultation_pb2 as messages


def field_numbers(message: type[Message]) -> dict[str, int]:
    """Return the numbers of a message's fields, by name."""
    return {each.name: each.number for each in message.DESCRIPTOR.fields}


_COLUMN: Final = field_numbers(messages.PatternTable)


def records_of(figures: NDArray[np.void]) -> Records:
    """Write what answers tell of patterns, with a row of figures for each (see `shelves`)."""
    columns = {
        "pattern_ids": _bytes_of(unsigned(figures["pattern_id"]).written, len(figures)),
        "libraries": _bytes_of(figures["library"].tobytes(), len(figures)),
        "proposers": _bytes_of(unsigned(figures["proposers"]).written, len(figures)),
        "elos": _bytes_of(figures["elo"].astype("<f8").tobytes(), len(figures)),
        "values": _bytes_of(figures["value"].astype("<f8").tobytes(), len(figures)),
    }
    starts = np.cumsum([0, *(column.shape[1] for column in columns.values())])
    return Records(
        np.concatenate(list(columns.values()), axis=1),
        starts.astype(np.int32),
        np.array([_COLUMN[name] for name in columns], dtype=np.int32),
    )


def _bytes_of(written: bytes, count: int) -> NDArray[np.uint8]:
    return np.frombuffer(written, dtype=np.uint8).reshape(count, -1 if count else 0)
