"""How the sample Hex bots think: at random, or by Monte Carlo playouts in which bridges are kept.

A bridge is two stones of one colour, or a stone and an edge, with two empty cells between them: when the
opponent takes one of the cells, the other links them.
"""

import random
from dataclasses import dataclass
from functools import cache
from typing import Final

from clients.bots.flat_search import flat_search
from clients.bots.thinking import Candidate, Counsel, Thought, no_counsel
from referees.hex import BLACK, EMPTY, SWAP, WHITE, Board, Hex, HexPosition
from referees.hex.board import BOTH_EDGES, COLOUR

# The corners around the board belong to nobody.
_NOBODY: Final = 3
_STONES: Final = bytes(state & COLOUR for state in range(256))


@dataclass
class RandomHexThinker:
    """Plays anywhere and swaps as often as it makes any other move; expects nothing."""

    chance: random.Random

    def think(self, referee: Hex, position: HexPosition, counsel: Counsel[int] = no_counsel) -> Thought[int]:
        """All legal moves in random order, all of one value."""
        moves = list(referee.legal_moves(position, position.mover))
        self.chance.shuffle(moves)
        return Thought(0.5, tuple(Candidate(move, 0.5) for move in moves))


@dataclass
class MonteCarloHexThinker:
    """Tries moves in playouts to the full board, counting a cell wherever in a playout it was one's own.

    `playouts` is how many it plays a move: its strength. A move that wins at once is played, and one that
    would win for the opponent is taken from them, without any.
    """

    playouts: int
    chance: random.Random

    def think(self, referee: Hex, position: HexPosition, counsel: Counsel[int] = no_counsel) -> Thought[int]:
        """Moves by how many playouts with them were won; the swap and the first move by what they leave."""
        decisive = decisive_moves(referee, position)
        if decisive is not None:
            return decisive
        thought = self._by_playouts(referee, position, counsel)
        if SWAP in referee.legal_moves(position, position.mover):
            # What the opponent has now would be one's own.
            swapping = Candidate(SWAP, 1 - thought.value)
            ranked = sorted((*thought.candidates, swapping), key=lambda each: each.value, reverse=True)
            return Thought(max(thought.value, swapping.value), tuple(ranked))
        if referee.settings.swap and position.plies == 0:
            # Of a first move the opponent takes the better side.
            left = [Candidate(each.move, min(each.value, 1 - each.value)) for each in thought.candidates]
            return Thought(0.5, tuple(sorted(left, key=lambda each: each.value, reverse=True)))
        return thought

    def _by_playouts(self, referee: Hex, position: HexPosition, counsel: Counsel[int]) -> Thought[int]:
        rows, columns = referee.settings.rows, referee.settings.columns
        width = columns + 2
        stones = surrounded(position.cells, rows, columns)
        mover = position.mover
        moves = [cell for cell, state in enumerate(position.cells) if not state]
        places = [(cell, (cell // columns + 1) * width + cell % columns + 1) for cell in moves]
        place = dict(places)

        def play(move: int) -> tuple[bool, list[int]]:
            full = bytearray(stones)
            winner = playout(full, columns, mover, place[move], self.chance)
            return winner == mover, [cell for cell, there in places if full[there] == mover]

        return flat_search(moves, self.playouts, play, counsel)


def decisive_moves(referee: Hex, position: HexPosition) -> Thought[int] | None:
    """The move that wins at once, or the cells where the opponent would; None where there are none."""
    board = Board(referee.settings.rows, referee.settings.columns, position.cells)
    empty = [cell for cell, state in enumerate(position.cells) if not state]
    for colour, value in ((position.mover, 1.0), (3 - position.mover, 0.0)):
        winning = [cell for cell in empty if board.links(colour, cell) == BOTH_EDGES]
        if winning:
            # Of two threats only one can be met; a single one says nothing of what comes after it.
            expected = 0.5 if not value and len(winning) == 1 else value
            return Thought(expected, tuple(Candidate(cell, expected) for cell in winning))
    return None


def surrounded(cells: bytes, rows: int, columns: int) -> bytes:
    """The stones with a rim around them: Black's above and below, White's left and right."""
    stones = cells.translate(_STONES)
    rim = bytes((_NOBODY, *(BLACK,) * columns, _NOBODY))
    white = bytes((WHITE,))
    lines = (white + stones[start : start + columns] + white for start in range(0, rows * columns, columns))
    return rim + b"".join(lines) + rim


@cache
def _steps(width: int) -> tuple[int, ...]:
    """The steps from a cell to the six around it, clockwise."""
    return -width, 1 - width, 1, width, width - 1, -1


@cache
def _corners(width: int) -> tuple[tuple[int, int, int], ...]:
    """Each three successive steps around a cell."""
    steps = _steps(width)
    return tuple((steps[turn - 2], steps[turn - 1], steps[turn]) for turn in range(6))


def playout(stones: bytearray, columns: int, mover: int, first: int, chance: random.Random) -> int:
    """Play `first`, then fill the board at random, keeping bridges; returns the colour that won.

    `stones` are as `surrounded` gives them.
    """
    width = columns + 2
    corners = _corners(width)
    stones[first] = mover
    order = [cell for cell, stone in enumerate(stones) if not stone]
    chance.shuffle(order)
    last, colour = first, 3 - mover
    for cell in order:
        # Cells that kept bridges are taken before their turn comes.
        while not stones[cell]:
            last = _bridge_end(stones, last, colour, corners) or cell
            stones[last] = colour
            colour = 3 - colour
    return BLACK if _black_is_linked(stones, width) else WHITE


def _bridge_end(stones: bytearray, last: int, colour: int, corners: tuple[tuple[int, int, int], ...]) -> int:
    """The cell that keeps a bridge of `colour` into which the last stone was put; 0 where there is none."""
    for left, middle, right in corners:
        if not stones[last + middle] and stones[last + left] == colour and stones[last + right] == colour:
            return last + middle
    return 0


def _black_is_linked(stones: bytearray, width: int) -> bool:
    """Whether Black's stones on a full board link the rim above with the rim below."""
    bottom = len(stones) - width
    steps = _steps(width)
    seen = bytearray(stones)
    chain = [cell for cell in range(width + 1, 2 * width - 1) if stones[cell] == BLACK]
    for cell in chain:
        seen[cell] = EMPTY
    for cell in chain:
        for step in steps:
            near = cell + step
            if near >= bottom:
                return True
            if near >= width and seen[near] == BLACK:
                seen[near] = EMPTY
                chain.append(near)
    return False
