"""The patterns of a game at one moment, the strongest first, with the columns that answers say of them."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.fair_use import acceptable
from academy.matching.matches import NO_LIMIT, Matches
from academy.matching.placement_lists import Records
from academy.matching.snapshot import MatchQuery, Ranking, Snapshot
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


Flags = NDArray[np.bool_]
_SELECTIONS_REMEMBERED: Final = 64
# Enough of the strongest are looked at first: of full libraries one pattern in ten lies on a position.
_LOOKED_AT: Final = 16
_MOST_OF_ALL: Final = 0.75


class Selection(NamedTuple):
    """Which patterns are asked for: a flag for each place (None: all), and the share of them that is."""

    wanted: Flags | None
    share: float


class RankedQuery(NamedTuple):
    """What is to be told of one board (see `Ranked.match`)."""

    board: Board
    selection: Selection
    most: int
    each: int = NO_LIMIT
    both: bool = False

    def query(self, told: int = 0) -> MatchQuery:
        """The query for what is not told yet."""
        return MatchQuery(self.board, self.most - told, self.each)


class RankedPatterns:
    """Patterns with their figures, all of which stay as they are.

    A *place* is a pattern's index in this order.
    """

    def __init__(self, snapshot: Snapshot, figures: NDArray[np.void]) -> None:
        order = np.lexsort((figures["pattern_id"], figures["library"], -figures["strength"]))
        figures = figures.take(order)
        self.snapshot = snapshot
        self.pattern_ids: NDArray[np.int64] = np.ascontiguousarray(figures["pattern_id"])
        self.ranking = snapshot.rank(self.pattern_ids)
        self.libraries: NDArray[np.uint8] = np.ascontiguousarray(figures["library"])
        self.players: NDArray[np.uint32] = np.ascontiguousarray(figures["player"])
        self._elos: NDArray[np.float64] = np.ascontiguousarray(figures["elo"])
        self.records = records_of(figures)
        self._selections: dict[tuple[frozenset[int], float | None, int], Selection] = {}
        self._parts: dict[tuple[int, int], tuple[Snapshot, Ranking]] = {}

    def __len__(self) -> int:
        return len(self.pattern_ids)

    def selection(
        self, libraries: Iterable[int], player_elo: float | None = None, player: int = 0
    ) -> Selection:
        """Select the patterns of some libraries (by number) that a player of an Elo accepts.

        Without an Elo everything is accepted; with `player` only what addresses this player.
        """
        key = (frozenset(libraries), player_elo, player)
        if key not in self._selections:
            if len(self._selections) >= _SELECTIONS_REMEMBERED:
                self._selections.clear()
            flags: Flags = np.isin(self.libraries, list(key[0]))
            if player_elo is not None:
                flags &= acceptable(self._elos, player_elo)
            if player:
                flags &= self.players == player
            share = float(flags.mean()) if len(flags) else 1.0
            self._selections[key] = Selection(None if share == 1.0 else flags, share)
        return self._selections[key]

    def match(
        self, board: Board, selection: Selection, most: int, each: int = NO_LIMIT, both: bool = False
    ) -> Matches:
        """Return the first `most` placements on a board; `each` and `both` are as in `Snapshot.match`.

        A library has many times as many placements as are asked for, so the strongest patterns are looked at
        alone first, and the weaker ones only where those had too few. Raises InvalidBoardError.
        """
        size, first = len(self), self._looked_at_first(selection, most)
        if first == size:
            return self.snapshot.match(board, self.ranking, selection.wanted, most, each, both)
        found = self._matched(board, selection, 0, first, most, each, both)
        told = len(found)
        if told == most:
            return found.with_more()
        rest = self._matched(board, selection, first, size, most - told, each, both)
        return self._with_rest(found, rest, first)

    def match_each(self, wishes: Sequence[RankedQuery]) -> list[Matches]:
        """Return what `match` does for each, in less time.

        Raises InvalidBoardError, and returns none then.
        """
        if len(wishes) == 1:
            return [self.match(*wishes[0])]
        found: dict[int, Matches] = {}
        alike: dict[tuple[int, int, bool], list[int]] = {}
        for number, wish in enumerate(wishes):
            first = self._looked_at_first(wish.selection, wish.most)
            alike.setdefault((first, id(wish.selection), wish.both), []).append(number)
        for (first, _, both), numbers in alike.items():
            found |= self._matched_alike(wishes, numbers, first, both)
        return [found[number] for number in range(len(wishes))]

    def _matched_alike(
        self, wishes: Sequence[RankedQuery], numbers: Sequence[int], first: int, both: bool
    ) -> dict[int, Matches]:
        """Match for some of the wishes, of one selection, by the same patterns first."""
        size, selection = len(self), wishes[numbers[0]].selection
        queries = [wishes[number].query() for number in numbers]
        if first == size:
            every = self.snapshot.match_each(queries, self.ranking, selection.wanted, both)
            return dict(zip(numbers, every, strict=True))
        snapshot, ranking, wanted = self._part(selection, 0, first)
        found = dict(zip(numbers, snapshot.match_each(queries, ranking, wanted, both), strict=True))
        short = [number for number in numbers if len(found[number]) < wishes[number].most]
        if short:
            snapshot, ranking, wanted = self._part(selection, first, size)
            queries = [wishes[number].query(len(found[number])) for number in short]
            rests = snapshot.match_each(queries, ranking, wanted, both)
            for number, rest in zip(short, rests, strict=True):
                found[number] = self._with_rest(found[number], rest, first)
        return {number: found[number] if number in short else found[number].with_more() for number in numbers}

    def _looked_at_first(self, selection: Selection, most: int) -> int:
        """How many of the strongest patterns are looked at first."""
        size = len(self)
        if _LOOKED_AT * most >= _MOST_OF_ALL * size * selection.share:
            return size
        # A power of two, so that few parts are kept for all that is asked.
        first = 1 << int(_LOOKED_AT * most / selection.share - 1).bit_length()
        return first if first < _MOST_OF_ALL * size else size

    def _with_rest(self, found: Matches, rest: Matches, first: int) -> Matches:
        """Put what the weaker patterns, from place `first` on, have behind what the strongest have."""
        return Matches(
            self.pattern_ids,
            np.concatenate([found.places, rest.places + np.int32(first)]),
            np.concatenate([found.symmetries, rest.symmetries]),
            np.concatenate([found.rows, rest.rows]),
            np.concatenate([found.columns, rest.columns]),
            np.concatenate([found.reversed, rest.reversed]),
            found.total + rest.total,
        )

    def _matched(
        self, board: Board, selection: Selection, first: int, end: int, most: int, each: int, both: bool
    ) -> Matches:
        snapshot, ranking, wanted = self._part(selection, first, end)
        return snapshot.match(board, ranking, wanted, most, each, both)

    def _part(self, selection: Selection, first: int, end: int) -> tuple[Snapshot, Ranking, Flags | None]:
        """Return the patterns from one place to another; their places count from the first of them."""
        if (first, end) not in self._parts:
            self._parts[first, end] = self.snapshot.part(self.ranking, first, end)
        wanted = None if selection.wanted is None else selection.wanted[first:end]
        return *self._parts[first, end], wanted
