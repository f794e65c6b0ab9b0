"""A player that asks ACADEMY: openings first, patterns when it stands badly; and proposes what worked.

What ACADEMY answers is told to the thinker as experience with moves: a value, and how many games it is
worth. It goes on alone when ACADEMY does not answer.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from academy.knowledge.boards import Board
from academy.knowledge.cutting import around_move
from academy.knowledge.fair_use import LOW_VALUE
from academy.knowledge.settings import Library
from clients.academy import Academy, AcademyRefusal, AcademyUnavailable
from clients.advice import OpeningMove, PatternMatch
from clients.bots.thinking import Candidate, Experience, Thinker
from clients.seat import Seat
from referees.api import IllegalMove, Referee, UnreadableMove

Position = TypeVar("Position")
Move = TypeVar("Move")

# As many games as this an opening's statistics may count for, and each of them for so much of one.
MOST_OPENING_GAMES: Final = 30.0
OPENING_TRUST: Final = 0.5
# What all patterns that a move brings may count for, and each proposer of one.
MOST_PATTERN_GAMES: Final = 8.0
PATTERN_TRUST: Final = 1.0
# As many moves can be asked about in one question.
WIDEST: Final = 400


class Scholar(Generic[Position, Move]):
    """One seat's player. `moves` are always all moves of the game so far, as text.

    `libraries` are those that it consults.
    """

    def __init__(
        self,
        thinker: Thinker[Any, Position, Move],
        referee: Referee[Position, Move],
        academy: Academy | None,
        seat: Seat,
        libraries: Collection[Library] = tuple(Library),
    ) -> None:
        self.thinker = thinker
        self.referee = referee
        self.academy = academy
        self.seat = seat
        self._openings = Library.OPENING in libraries
        self._pattern_libraries = [
            each for each in Library if each in libraries and each is not Library.OPENING
        ]
        self._told: float | None = None

    def choose(self, position: Position, moves: Sequence[str], own_moves: int) -> Candidate[Move]:
        """A move for the position that `moves` led to, `own_moves` of them one's own; and what is expected.

        The value is what the arena is told: the next move's is compared with it.
        """

        def counsel(value: float) -> Mapping[Move, Experience]:
            return self._opening(position, moves, own_moves) or self._patterns(position, value)

        chosen = self.thinker.think(self.referee, position, counsel).candidates[0]
        before, self._told = self._told, chosen.value
        if self.academy is not None:
            after = self.referee.play(position, {self.seat.player: chosen.move})
            for pattern in around_move(self._board(position), self._board(after), self.seat.player):
                self.seat.moved(pattern, len(moves) + 1, before, chosen.value)
        return chosen

    def _board(self, position: Position) -> Board:
        return self.referee.board(position, self.seat.player)

    def _opening(self, position: Position, moves: Sequence[str], own_moves: int) -> Mapping[Move, Experience]:
        """What the opening tree says of the moves; nothing where it may not be asked."""
        if self.academy is None or not self._openings:
            return {}
        try:
            known = self.academy.opening(self.seat, moves, own_moves)
        except (AcademyRefusal, AcademyUnavailable) as error:
            self._alone(error)
            return {}
        found: dict[Move, Experience] = {}
        for opening in known:
            for text in (opening.move, *opening.equivalents):
                try:
                    move = self.referee.read_move(position, self.seat.player, text)
                    self.referee.check(position, self.seat.player, move)
                except (UnreadableMove, IllegalMove):
                    # The tree knows games by their board; other settings may forbid its moves.
                    continue
                found[move] = opening_experience(opening)
        return found

    def _patterns(self, position: Position, value: float) -> Mapping[Move, Experience]:
        """What the patterns say that moves bring; nothing where they may not be asked for."""
        if self.academy is None or not self._pattern_libraries:
            return {}
        if self.seat.contest_id and value > LOW_VALUE:
            return {}
        legal = list(self.referee.legal_moves(position, self.seat.player) or ())[:WIDEST]
        after = [self._board(self.referee.play(position, {self.seat.player: move})) for move in legal]
        try:
            found = self.academy.successors(
                self.seat, self._board(position), after, value, libraries=self._pattern_libraries
            )
        except (AcademyRefusal, AcademyUnavailable) as error:
            self._alone(error)
            return {}
        return {
            move: pattern_experience(gained)
            for move, gained in zip(legal, found.gained, strict=True)
            if any(not match.for_opponent for match in gained)
        }

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


def opening_experience(opening: OpeningMove) -> Experience:
    """An opening's results, its expected value counting as one of them."""
    results = opening.wins + opening.draws + opening.losses
    value = (opening.wins + opening.draws / 2 + opening.value) / (results + 1)
    return Experience(value, min(MOST_OPENING_GAMES, OPENING_TRUST * (results + 1)))


def pattern_experience(gained: Sequence[PatternMatch]) -> Experience:
    """The mean of the patterns' values, each counting as often as it was proposed."""
    own = [match for match in gained if not match.for_opponent]
    voices = sum(match.proposers for match in own)
    value = sum(match.value * match.proposers for match in own) / voices
    return Experience(value, min(MOST_PATTERN_GAMES, PATTERN_TRUST * voices))
