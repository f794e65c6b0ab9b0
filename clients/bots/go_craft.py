"""Go for a search: no move into one's own eyes, and fast random games."""

import random
from collections.abc import Sequence

from clients.bots.craft import Playout, SearchGame
from clients.bots.go_thinking import playout, sensible_moves
from referees.go import BLACK, PASS, Board, Go, GoPosition


class GoCraft(SearchGame[GoPosition, int]):
    """Area scoring with all stones alive, as the referee counts."""

    def __init__(self, referee: Go, chance: random.Random) -> None:
        super().__init__(referee, chance)
        self._go = referee

    def moves(self, position: GoPosition) -> Sequence[int]:
        """Sensible points; the pass where there are none, and where it wins at once."""
        if position.passes and self.referee.adjudicate(position).winners == (position.mover,):  # type: ignore[union-attr]
            return (PASS,)
        return sensible_moves(self._go, position) or (PASS,)

    def playout(self, position: GoPosition) -> Playout[int]:
        """Random points until both pass."""
        first = self.chance.choice(self.moves(position))
        if first == PASS:
            return Playout(self.scores(position), ((), ()))
        settings = self._go.settings
        board = Board(settings.board_size, position.stones, position.ko)
        komi = settings.komi + settings.compensation(position.handicap)
        won, played = playout(board, position.mover, first, komi, self.chance)
        black = won == (position.mover == BLACK)
        return Playout((float(black), float(not black)), played)
