"""A player that asks ACADEMY: openings first, patterns when it stands badly; and proposes what worked.

It goes on alone when ACADEMY does not answer.
"""

import sys
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from clients.academy import Academy, AcademyRefusal, AcademyUnavailable
from clients.bots.thinking import Candidate, Thinker, Thought
from clients.cutting import InvalidCut, cut_around
from clients.seat import Seat
from referees.api import Referee

Rules = TypeVar("Rules", bound=Referee[Any, int])
Position = TypeVar("Position")

# Successors asked about, when the position is bad enough to ask at all.
WIDEST: Final = 20
# A pattern's voice against the player's own playouts.
TRUST: Final = 0.5
# How far proposed patterns reach around a move: 3x3 and 5x5 points, or hexagons of 7 and 19 cells.
REACHES: Final = (1, 2)


class Scholar(Generic[Rules, Position]):
    """One seat's player. `moves` are always all moves of the game so far, as text."""

    def __init__(
        self, thinker: Thinker[Rules, Position], referee: Rules, academy: Academy | None, seat: Seat
    ) -> None:
        self.thinker = thinker
        self.referee = referee
        self.academy = academy
        self.seat = seat
        self._told: float | None = None

    def choose(self, position: Position, moves: Sequence[str]) -> Candidate:
        """A move for the position that `moves` led to, and what is expected after it.

        The value is what the arena is told: the next move's is compared with it.
        """
        thought = self.thinker.think(self.referee, position)
        chosen = self._from_openings(position, moves, thought) or self._best(position, thought)
        before, self._told = self._told, chosen.value
        if self.academy is not None and chosen.move >= 0:
            after = self.referee.play(position, {self.seat.player: chosen.move})
            board = self.referee.board(after, self.seat.player)
            for reach in REACHES:
                try:
                    pattern = cut_around(board, chosen.move, reach)
                except InvalidCut:
                    # Larger than this board and its edge.
                    continue
                self.seat.moved(pattern, len(moves) + 1, before, chosen.value)
        return chosen

    def _from_openings(self, position: Position, moves: Sequence[str], thought: Thought) -> Candidate | None:
        """The known move that did best, if it did better than what one would think of oneself."""
        if self.academy is None:
            return None
        try:
            known = self.academy.opening(self.seat, moves, len(moves) // 2)
        except (AcademyRefusal, AcademyUnavailable) as error:
            self._alone(error)
            return None
        for opening in known:
            move = self.referee.read_move(position, self.seat.player, opening.move)
            legal = self.referee.legal_moves(position, self.seat.player) or ()
            if move in legal and opening.visits > 1 and opening.value >= thought.value:
                return Candidate(move, thought.value)
        return None

    def _best(self, position: Position, thought: Thought) -> Candidate:
        """The best candidate, patterns on the boards after each of them considered."""
        candidates = thought.candidates[:WIDEST]
        if self.academy is None or candidates[0].move < 0:
            return candidates[0]
        boards = [
            self.referee.board(self.referee.play(position, {self.seat.player: each.move}), self.seat.player)
            for each in candidates
        ]
        try:
            matches = self.academy.patterns(self.seat, boards, thought.value)
        except (AcademyRefusal, AcademyUnavailable) as error:
            self._alone(error)
            return candidates[0]
        # What lies on every one of the boards says nothing of the move.
        everywhere = set.intersection(*({each.pattern_id for each in found} for found in matches))
        best, best_value = candidates[0], -1.0
        for candidate, found in zip(candidates, matches, strict=True):
            values = [each.value for each in found if each.pattern_id not in everywhere]
            voice = TRUST * len(values)
            value = (candidate.value + TRUST * sum(values)) / (1 + voice)
            if value > best_value:
                best, best_value = candidate, value
        return best

    def finish(self, plies: int) -> None:
        """Propose what the contest of `plies` plies taught."""
        if self.academy is None or not plies:
            return
        try:
            self.academy.propose(self.seat, plies)
        except (AcademyRefusal, AcademyUnavailable) as error:
            self._alone(error)

    def _alone(self, error: Exception) -> None:
        print(f"going on without ACADEMY: {error}", file=sys.stderr)
        self.academy = None
