"""How the sample Go bots think: at random, or by Monte Carlo playouts."""

import math
import random
from dataclasses import dataclass
from typing import Final

from clients.bots.flat_search import flat_search
from clients.bots.thinking import Candidate, Counsel, Thought, no_counsel
from referees.go import BLACK, EMPTY, PASS, WHITE, Board, Go, GoPosition

# Nobody needs to see the end of a playout in which one side is this far ahead (share of all points).
MERCY: Final = 0.4


@dataclass
class RandomGoThinker:
    """Plays anywhere but into its own eyes; expects what the area on the board says."""

    chance: random.Random

    def think(self, referee: Go, position: GoPosition, counsel: Counsel[int] = no_counsel) -> Thought[int]:
        """All sensible moves in random order, all of one value."""
        value = _from_area(referee, position)
        moves = sensible_moves(referee, position)
        self.chance.shuffle(moves)
        return Thought(value, tuple(Candidate(move, value) for move in moves or [PASS]))


@dataclass
class MonteCarloGoThinker:
    """Tries moves in random games to the end, counting a move wherever in a playout it was made.

    `playouts` is how many games it plays a move: its strength.
    """

    playouts: int
    chance: random.Random

    def think(self, referee: Go, position: GoPosition, counsel: Counsel[int] = no_counsel) -> Thought[int]:
        """Sensible moves by how many playouts with them were won."""
        moves = sensible_moves(referee, position)
        if not moves:
            return Thought(_from_area(referee, position), (Candidate(PASS, _from_area(referee, position)),))
        size, mover = referee.settings.board_size, position.mover
        komi = referee.settings.komi + referee.settings.compensation(position.handicap)

        def play(move: int) -> tuple[bool, set[int]]:
            board = Board(size, position.stones, position.ko)
            won, played = playout(board, mover, move, komi, self.chance)
            return won, played[mover - 1]

        return flat_search(moves, self.playouts, play, counsel)


def playout(
    board: Board, mover: int, first: int, komi: float, chance: random.Random
) -> tuple[bool, tuple[set[int], set[int]]]:
    """Play `first`, then at random to the end; whether the mover won, and Black's and White's points."""
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
    return (black - white > komi) == (mover == BLACK), played


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


def _from_area(referee: Go, position: GoPosition) -> float:
    """The mover's expected value if the area stayed as it is; the fuller the board, the surer."""
    black, white = referee.adjudicate(position).points
    lead = (black - white) if position.mover == BLACK else (white - black)
    filled = 1 - position.stones.count(EMPTY) / len(position.stones)
    return 1 / (1 + math.exp(-lead * filled / 4))
