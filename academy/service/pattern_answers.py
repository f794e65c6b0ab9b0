"""Which patterns occur on a position, as the answer to a consultation.

Placements are on the board as the player whose value it is would see it playing first: for player 2
of a symmetric game (and for the opponent of player 1) the board and its colours are reversed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.matches import Matches
from academy.service.ranked import Ranked
from academy.service.written_answers import WrittenAnswer, joined, positions_written
from academy.store.game_records import library_to_proto


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
    """Writes the answers to one call: placements by position, and each pattern found once.

    All questions of a call are about both players, or none is.
    """

    def __init__(self, spec: GameSpec, ranked: Ranked, libraries: Sequence[Library]) -> None:
        self.placements = 0
        self._spec = spec
        self._ranked = ranked
        self._libraries = [library_to_proto(library) for library in libraries]
        self._found: list[Matches] = []
        self._for_opponent: list[NDArray[np.bool_]] = []

    def add(self, question: PatternQuestion) -> None:
        """Answer for one more position. Raises InvalidBoard for a board of another geometry."""
        spec = self._spec
        board = question.board
        if question.player != 1 and spec.symmetric and spec.players == 2:
            board = spec.reversed_board(board)
        found = self._matches(board, question)
        if question.both_players:
            flags = found.reversed
            if not spec.symmetric:
                flags = self._ranked.players.take(found.places) != question.player
            self._for_opponent.append(flags)
        self.placements += len(found)
        self._found.append(found)

    def _matches(self, board: Board, question: PatternQuestion) -> Matches:
        only = 0 if self._spec.symmetric or question.both_players else question.player
        selection = self._ranked.selection(self._libraries, question.player_elo, only)
        return self._ranked.match(
            board,
            selection,
            most=question.max_matches,
            each=question.matches_each,
            both=question.both_players and self._spec.symmetric,
        )

    def written(self) -> WrittenAnswer:
        """Return the answer, a MatchPatternsResponse without cells."""
        if not self._for_opponent:
            return positions_written(self._ranked, self._found)
        return positions_written(self._ranked, self._found, joined(self._for_opponent))
