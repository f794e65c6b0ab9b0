"""Go for a search: no move into one's own eyes, and fast random games.

The referee's own moves fill eyes, so random games by them hardly end, and Go on a board of its own is faster.
"""

import random
from collections.abc import Sequence
from typing import Final

from clients.bots.search_game import Playout, SearchGame
from referees.go import BLACK, PASS, WHITE, Board, Go, GoPosition

# A playout ends where one side is this far ahead (share of all points).
MERCY: Final = 0.4


class GoSearchGame(SearchGame[GoPosition, int]):
    """Area scoring with all stones alive, as the referee counts."""

    def __init__(self, referee: Go, chance: random.Random) -> None:
        super().__init__(referee, chance)
        self._go = referee

    def moves(self, position: GoPosition) -> Sequence[int]:
        """Sensible points; the pass where there are none, and where it wins at once."""
        if position.passes and self._go.adjudicate(position).winners == (position.mover,):
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
        score, played = playout(board, position.mover, first, komi, self.chance)
        black = score if position.mover == BLACK else 1.0 - score
        return Playout((black, 1.0 - black), played)


def playout(
    board: Board, mover: int, first: int, komi: float, chance: random.Random
) -> tuple[float, tuple[set[int], set[int]]]:
    """Play `first`, then at random to the end; the mover's score, and where Black and White played.

    The score is 1 for a win, and 0.5 where whole komi makes both sides equal.
    """
    stones = board.stones
    points = len(stones)
    board.play(mover, first)
    played: tuple[set[int], set[int]] = (set(), set())
    played[mover - 1].add(first)
    empty = [point for point, stone in enumerate(stones) if not stone]
    colour, passes = 3 - mover, 0
    lead = stones.count(BLACK) - stones.count(WHITE)
    for _ in range(3 * points):
        move = _random_move(board, colour, empty, chance)
        if move == PASS:
            passes += 1
            if passes == 2:
                break
        else:
            passes = 0
            captured = board.play(colour, move)
            empty.extend(captured)
            gained = 1 + len(captured)
            lead += gained if colour == BLACK else -gained
            played[colour - 1].add(move)
            if abs(lead) > MERCY * points:
                break
        colour = 3 - colour
    black, white = board.area()
    margin = black - white - komi
    if not margin:
        return 0.5, played
    return float((margin > 0) == (mover == BLACK)), played


def _random_move(board: Board, colour: int, empty: list[int], chance: random.Random) -> int:
    """Take a random point off the list of empty ones: no eye of one's own, no self-capture, no ko."""
    tried = len(empty)
    while tried:
        index = int(chance.random() * tried)
        point = empty[index]
        if (
            point != board.ko
            and not is_eye(board, colour, point)
            and not board.is_self_capture(colour, point)
        ):
            empty[index] = empty[-1]
            empty.pop()
            return point
        # Rejected points go behind those still to be tried.
        tried -= 1
        empty[index], empty[tried] = empty[tried], empty[index]
    return PASS


def is_eye(board: Board, colour: int, point: int) -> bool:
    """Whether an empty point is one colour's eye: at most one foreign corner, none at the edge."""
    stones, size = board.stones, board.size
    for beside in board.neighbours[point]:
        if stones[beside] != colour:
            return False
    row, column = divmod(point, size)
    foreign = 3 - colour
    count = at_edge = 0
    for r in (row - 1, row + 1):
        for c in (column - 1, column + 1):
            if 0 <= r < size and 0 <= c < size:
                count += stones[r * size + c] == foreign
            else:
                at_edge = 1
    return count + at_edge < 2


def sensible_moves(referee: Go, position: GoPosition) -> list[int]:
    """Legal moves without passes, self-captures and stones in one's own eyes."""
    board = Board(referee.settings.board_size, position.stones, position.ko)
    return [
        move
        for move in referee.legal_moves(position, position.mover)
        if move != PASS
        and not is_eye(board, position.mover, move)
        and not board.is_self_capture(position.mover, move)
    ]
