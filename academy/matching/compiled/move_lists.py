"""New matches of moves, collected in the order of the patterns under limits that hold for each move."""

from typing import Final

import numpy as np

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.table import Numbers, U, signed

# Columns of a record of a match.
MOVE, PLACE, IMAGE, ROW, COLUMN = range(5)
MATCH_COLUMNS: Final = 5

# Where the records of each move start, all records, move by move, and how many there are without limits.
MoveLists = tuple[Numbers, Numbers, Numbers]


# Columns of a tally, which has a row for each move: the place seen last, how many matches of it were kept,
# how many of all places, and how many matches there were.
_LAST_PLACE, _OF_PLACE, _KEPT, _TOTAL = range(4)


@compiled
def new_tally(moves: int) -> Numbers:
    """Return a tally of moves for which nothing was counted."""
    tally = np.zeros((moves, 4), dtype=np.int32)
    tally[:, _LAST_PLACE] = -1
    return tally


@compiled
def admitted(tally: Numbers, move: int, place: int, most: int, each: int) -> bool:
    """Count a match of a move, and return whether the limits have room for it.

    Matches of a move come in the order of their patterns' places.
    """
    tally[move, U(_TOTAL)] += 1
    of_place = tally[move, U(_OF_PLACE)] if tally[move, U(_LAST_PLACE)] == place else 0
    has_room = of_place < each and tally[move, U(_KEPT)] < most
    tally[move, U(_LAST_PLACE)] = place
    tally[move, U(_OF_PLACE)] = of_place + has_room
    tally[move, U(_KEPT)] += has_room
    return has_room


@compiled
def by_move(records: Numbers, tally: Numbers) -> MoveLists:
    """Return the records that were kept, move by move, each move's in the order in which they came."""
    moves = len(tally)
    starts = np.zeros(moves + 1, dtype=np.int32)
    for move in range(moves):
        starts[move + 1] = starts[move] + tally[move, _KEPT]
    ends = starts[:moves].copy()
    found = np.empty((len(records), MATCH_COLUMNS), dtype=np.int32)
    for number in range(U(len(records))):
        move = U(records[number, U(MOVE)])
        end = U(ends[move])
        for column in range(U(MATCH_COLUMNS)):
            found[end, column] = records[number, column]
        ends[move] += 1
    return starts, found, tally[:, _TOTAL].copy()


@compiled
def larger_records(records: Numbers, used: int, capacity: int) -> Numbers:
    """Return a copy of records with room for more."""
    larger = np.empty((capacity, records.shape[1]), dtype=np.int32)
    larger[:used] = records[:used]
    return larger


@compiled
def merged(one: MoveLists, two: MoveLists, most: int, each: int) -> MoveLists:
    """Return the matches of two lists for each move as one, in the order of places, under the same limits."""
    starts, records, totals = one
    other_starts, other_records, other_totals = two
    moves = len(totals)
    tally = new_tally(moves)
    new_starts = np.zeros(moves + 1, dtype=np.int32)
    found = np.empty((len(records) + len(other_records), MATCH_COLUMNS), dtype=np.int32)
    end = U(0)
    for move in range(U(moves)):
        left, left_end = U(starts[move]), U(starts[move + U(1)])
        right, right_end = U(other_starts[move]), U(other_starts[move + U(1)])
        while left < left_end or right < right_end:
            if right == right_end or (
                left < left_end and records[left, U(PLACE)] <= other_records[right, U(PLACE)]
            ):
                place = records[left, U(PLACE)]
                for column in range(U(MATCH_COLUMNS)):
                    found[end, column] = records[left, column]
                left += U(1)
            else:
                place = other_records[right, U(PLACE)]
                for column in range(U(MATCH_COLUMNS)):
                    found[end, column] = other_records[right, column]
                right += U(1)
            end += U(admitted(tally, move, place, most, each))
        new_starts[move + U(1)] = end
    return new_starts, found[: signed(end)], totals + other_totals
