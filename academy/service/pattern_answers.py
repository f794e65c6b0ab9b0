"""Which patterns occur on a position, as the answer to a consultation.

Placements are on the board as the player whose value it is would see it playing first: for player 2
of a symmetric game (and for the opponent of player 1) the board and its colours are reversed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.fair_use import acceptable
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import write_cells
from academy.service.shelves import Shelf
from academy.store.game_records import library_to_proto
from academy.v1 import consultation_pb2 as messages


@dataclass(frozen=True)
class PatternQuestion:
    """What is asked about a position; `player_elo` is the asking player's, None outside a contest."""

    board: Board
    player: int
    both_players: bool
    max_matches: int
    player_elo: float | None = None


@dataclass(frozen=True)
class _Found:
    """Placements as columns, with the library each was found in and whose value it has."""

    pattern_ids: NDArray[np.int64]
    places: NDArray[np.int16]
    strengths: NDArray[np.float64]
    libraries: NDArray[np.intp]
    opponents: NDArray[np.bool_]


class PatternAnswer:
    """Gathers the answers to one call: placements by position, and each pattern found once."""

    def __init__(self, spec: GameSpec, shelves: Sequence[tuple[Library, Shelf]], include_cells: bool) -> None:
        self.response = messages.MatchPatternsResponse()
        self.placements = 0
        self._spec = spec
        self._shelves = shelves
        self._include_cells = include_cells
        self._rows: dict[tuple[int, int], int] = {}

    @property
    def found(self) -> dict[Library, list[int]]:
        """The numbers of all patterns returned, by library."""
        return {
            library: [pattern_id for shelf, pattern_id in self._rows if shelf == place]
            for place, (library, _) in enumerate(self._shelves)
        }

    def add(self, question: PatternQuestion) -> None:
        """Answer for one more position. Raises InvalidBoard for a board of another geometry."""
        parts = self._search(question)
        answer = self.response.positions.add()
        if not parts:
            return
        strengths = np.concatenate([part.strengths for part in parts])
        answer.total = len(strengths)
        strongest = np.argsort(-strengths, kind="stable")[: question.max_matches]
        self.placements += len(strongest)
        pattern_ids = np.concatenate([part.pattern_ids for part in parts])[strongest]
        libraries = np.concatenate([part.libraries for part in parts])[strongest]
        symmetries, rows, columns = np.concatenate([part.places for part in parts], axis=1)[
            :, strongest
        ].tolist()
        answer.patterns.extend(map(self._row, libraries.tolist(), pattern_ids.tolist()))
        answer.symmetries.extend(symmetries)
        answer.rows.extend(rows)
        answer.columns.extend(columns)
        if question.both_players:
            opponents = np.concatenate([part.opponents for part in parts])[strongest]
            answer.for_opponent.extend(opponents.tolist())

    def _search(self, question: PatternQuestion) -> list[_Found]:
        spec = self._spec
        views = [(question.board, False)]
        if spec.symmetric and spec.players == 2:
            own = question.board if question.player == 1 else spec.reversed_board(question.board)
            views = [(own, False)]
            if question.both_players:
                views.append((spec.reversed_board(own), True))
        parts = []
        for place, (_, shelf) in enumerate(self._shelves):
            for board, is_opponent in views if len(shelf) else ():
                matches, figures = shelf.match(board)
                opponents = np.full(len(matches), is_opponent)
                wanted = np.ones(len(matches), np.bool_)
                if question.player_elo is not None:
                    wanted = acceptable(figures["elo"], question.player_elo)
                if not spec.symmetric:
                    opponents = figures["player"] != question.player
                    if not question.both_players:
                        wanted &= ~opponents
                parts.append(
                    _Found(
                        matches.pattern_ids[wanted],
                        np.stack([matches.symmetries, matches.rows, matches.columns])[:, wanted],
                        figures["strength"][wanted],
                        np.full(np.count_nonzero(wanted), place),
                        opponents[wanted],
                    )
                )
        return parts

    def _row(self, place: int, pattern_id: int) -> int:
        row = self._rows.get((place, pattern_id))
        if row is None:
            row = self._rows[place, pattern_id] = len(self._rows)
            library, shelf = self._shelves[place]
            entry = shelf.entries[pattern_id]
            table = self.response.patterns
            table.pattern_ids.append(pattern_id)
            table.libraries.append(library_to_proto(library))
            table.proposers.append(entry.ballot.proposers)
            table.elos.append(entry.ballot.elo)
            table.values.append(entry.ballot.value)
            if self._include_cells:
                table.cells.append(write_cells(entry.pattern, self._spec.geometry))
        return row
