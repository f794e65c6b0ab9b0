"""Which patterns occur on a position, as the answer to a consultation.

Placements are on the board as the player whose value it is would see it playing first: for player 2
of a symmetric game (and for the opponent of player 1) the board and its colours are reversed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.arrays import Number
from academy.service.columns import field, number_field, signed, unsigned
from academy.service.ranked import Placements, Ranked
from academy.store.game_records import library_to_proto
from academy.store.pattern_records import stored_cells
from academy.v1 import consultation_pb2 as messages


def _numbers(message: type[Message]) -> dict[str, int]:
    return {each.name: each.number for each in message.DESCRIPTOR.fields}


_ANSWER: Final = _numbers(messages.MatchPatternsResponse)
_POSITION: Final = _numbers(messages.PositionMatches)
_COLUMN: Final = _numbers(messages.PatternTable)


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
    """Writes the answers to one call: placements by position, and each pattern found once."""

    def __init__(self, spec: GameSpec, ranked: Ranked, libraries: Sequence[Library]) -> None:
        self.placements = 0
        self._spec = spec
        self._ranked = ranked
        self._libraries = [library_to_proto(library) for library in libraries]
        self._found: list[Placements] = []
        self._for_opponent: list[bytes] = []
        # The places of all patterns found.
        self._table: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    def add(self, question: PatternQuestion) -> None:
        """Answer for one more position. Raises InvalidBoard for a board of another geometry."""
        spec = self._spec
        board = question.board
        if question.player != 1 and spec.symmetric and spec.players == 2:
            board = spec.reversed_board(board)
        found = self._matches(board, question)
        for_opponent = b""
        if question.both_players:
            flags = found.reversed
            if not spec.symmetric:
                flags = self._ranked.players.take(found.places) != question.player
            for_opponent = flags.tobytes()
        self.placements += len(found.places)
        self._found.append(found)
        self._for_opponent.append(for_opponent)

    def _matches(self, board: Board, question: PatternQuestion) -> Placements:
        only = 0 if self._spec.symmetric or question.both_players else question.player
        selection = self._ranked.selection(self._libraries, question.player_elo, only)
        return self._ranked.match(
            board,
            selection,
            most=question.max_matches,
            each=question.matches_each,
            both=question.both_players and self._spec.symmetric,
        )

    def written(self) -> bytes:
        """Return the answer, a MatchPatternsResponse without cells."""
        ranked, found = self._ranked, self._found
        places, tops, lefts, symmetries = (
            _all([each.places for each in found]),
            signed(_all([each.rows for each in found])),
            signed(_all([each.columns for each in found])),
            unsigned(_all([each.symmetries for each in found])),
        )
        told = np.zeros(len(ranked), dtype=np.bool_)
        told[places] = True
        self._table = table = np.flatnonzero(told)
        row_of = np.empty(len(ranked), dtype=np.int32)
        row_of[table] = np.arange(len(table), dtype=np.int32)
        rows = unsigned(row_of.take(places))
        columns = (
            (_POSITION["patterns"], rows),
            (_POSITION["symmetries"], symmetries),
            (_POSITION["rows"], tops),
            (_POSITION["columns"], lefts),
        )
        answers = []
        first = 0
        for each, for_opponent in zip(found, self._for_opponent, strict=True):
            end = first + len(each.places)
            answer = [field(number, column.part(first, end)) for number, column in columns]
            if for_opponent:
                answer.append(field(_POSITION["for_opponent"], for_opponent))
            answer.append(number_field(_POSITION["total"], each.total))
            if each.more:
                answer.append(number_field(_POSITION["more"], 1))
            answers.append(field(_ANSWER["positions"], b"".join(answer)))
            first = end
        answers.append(
            field(
                _ANSWER["patterns"],
                field(_COLUMN["pattern_ids"], ranked.written_ids.taken(table))
                + field(_COLUMN["libraries"], ranked.libraries.take(table).tobytes())
                + field(_COLUMN["proposers"], ranked.written_proposers.taken(table))
                + field(_COLUMN["elos"], ranked.elos.take(table).tobytes())
                + field(_COLUMN["values"], ranked.values.take(table).tobytes()),
            )
        )
        return b"".join(answers)

    def cells(self, stored: Mapping[int, bytes]) -> list[str]:
        """Return the cells of the patterns written, in the order of the table."""
        pattern_ids = self._ranked.pattern_ids.take(self._table).tolist()
        return [stored_cells(stored[pattern_id]) for pattern_id in pattern_ids]

    def found(self, library: Library) -> list[int]:
        """The numbers of all patterns of a library that were written."""
        chosen = self._table[self._ranked.libraries.take(self._table) == library_to_proto(library)]
        found: list[int] = self._ranked.pattern_ids.take(chosen).tolist()
        return found


def _all(columns: list[NDArray[Number]]) -> NDArray[Number]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
