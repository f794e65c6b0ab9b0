"""Which patterns occur on a position, as the answer to a consultation.

Placements are on the board as the player whose value it is would see it playing first: for player 2
of a symmetric game (and for the opponent of player 1) the board and its colours are reversed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.matches import Matches
from academy.service.columns import UNSIGNED_END, field, signed, unsigned
from academy.service.ranked import Ranked
from academy.store.game_records import library_to_proto
from academy.store.pattern_records import stored_cells
from academy.v1 import consultation_pb2 as messages

_COLUMN: Final = {
    descriptor.name: descriptor.number
    for message in (messages.PositionMatches, messages.PatternTable)
    for descriptor in message.DESCRIPTOR.fields
}


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """What is asked about a position.

    At most `matches_each` placements of one pattern are told, so that others have room among `max_matches`;
    `player_elo` is the asking player's, None outside a contest.
    """

    board: Board
    player: int
    both_players: bool
    max_matches: int
    matches_each: int
    player_elo: float | None = None


class PatternAnswer:
    """Writes the answers to one call into a response: placements by position, and each pattern found once."""

    def __init__(
        self,
        response: messages.MatchPatternsResponse,
        spec: GameSpec,
        ranked: Ranked,
        libraries: Sequence[Library],
    ) -> None:
        self.placements = 0
        self._response = response
        self._spec = spec
        self._ranked = ranked
        self._libraries = [library_to_proto(library) for library in libraries]
        # The row of the response's table that each pattern has, by its place; -1: none yet.
        self._row_of: NDArray[np.int32] = np.full(len(ranked), -1, dtype=np.int32)
        self._told: list[NDArray[np.int32]] = []
        self._rows = 0

    def add(self, question: PatternQuestion) -> None:
        """Answer for one more position. Raises InvalidBoard for a board of another geometry."""
        answer = self._response.positions.add()
        if not len(self._ranked):
            return
        spec = self._spec
        board = question.board
        if question.player != 1 and spec.symmetric and spec.players == 2:
            board = spec.reversed_board(board)
        matches = self._matches(board, question)
        answer.total = matches.total
        for_opponent = None
        if question.both_players:
            for_opponent = matches.reversed
            if not spec.symmetric:
                for_opponent = self._ranked.players.take(matches.places) != question.player
        images = [matches.symmetries, matches.rows, matches.columns]
        self._write(answer, matches.places, images, for_opponent)

    def _matches(self, board: Board, question: PatternQuestion) -> Matches:
        only = 0 if self._spec.symmetric or question.both_players else question.player
        ranked = self._ranked
        wanted = ranked.wanted(self._libraries, question.player_elo, only)
        return ranked.snapshot.match(
            board,
            ranked.ranking,
            wanted,
            most=question.max_matches,
            each=question.matches_each,
            both=question.both_players and self._spec.symmetric,
        )

    def _write(
        self,
        answer: messages.PositionMatches,
        places: NDArray[np.int32],
        images: list[NDArray[np.int16]],
        for_opponent: NDArray[np.bool_] | None,
    ) -> None:
        count = len(places)
        if not count:
            return
        self.placements += count
        rows = self._tabled(places)
        symmetries, tops, lefts = images
        if self._rows <= UNSIGNED_END:
            answer.MergeFromString(field(_COLUMN["patterns"], unsigned(rows)))
        else:
            answer.patterns.extend(rows.tolist())
        answer.MergeFromString(
            field(_COLUMN["symmetries"], unsigned(symmetries))
            + field(_COLUMN["rows"], signed(tops))
            + field(_COLUMN["columns"], signed(lefts))
        )
        if for_opponent is not None:
            answer.for_opponent.extend(for_opponent.tolist())

    def _tabled(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """Give each pattern that has none a row of the table, in order; return the rows."""
        rows = self._row_of.take(places)
        missing = places[rows < 0]
        if len(missing):
            # Placements of one pattern follow each other.
            first = np.empty(len(missing), dtype=np.bool_)
            first[0] = True
            np.not_equal(missing[1:], missing[:-1], out=first[1:])
            fresh = missing[first]
            self._row_of[fresh] = np.arange(self._rows, self._rows + len(fresh), dtype=np.int32)
            self._rows += len(fresh)
            self._told.append(fresh)
            rows = self._row_of.take(places)
        return rows

    def finish(self, stored: Mapping[int, bytes] | None = None) -> None:
        """Write the table of the patterns found, with their cells where the stored patterns are given."""
        places = self._places()
        ranked = self._ranked
        self._response.patterns.MergeFromString(
            field(_COLUMN["pattern_ids"], ranked.written_ids.taken(places))
            + field(_COLUMN["libraries"], ranked.libraries.take(places).tobytes())
            + field(_COLUMN["proposers"], ranked.written_proposers.taken(places))
            + field(_COLUMN["elos"], ranked.elos.take(places).tobytes())
            + field(_COLUMN["values"], ranked.values.take(places).tobytes())
        )
        if stored is not None:
            self._response.patterns.cells.extend(
                stored_cells(stored[pattern_id]) for pattern_id in ranked.pattern_ids.take(places).tolist()
            )

    def found(self, library: Library) -> list[int]:
        """The numbers of all patterns of a library that were returned."""
        places = self._places()
        number = library_to_proto(library)
        chosen = places[self._ranked.libraries.take(places) == number]
        found: list[int] = self._ranked.pattern_ids.take(chosen).tolist()
        return found

    def _places(self) -> NDArray[np.int32]:
        if len(self._told) == 1:
            return self._told[0]
        return np.concatenate(self._told) if self._told else np.zeros(0, dtype=np.int32)
