"""Hex for a search: wins are taken and prevented, and random games keep their bridges.

A bridge is two stones of one colour, or a stone and an edge, with two empty cells between them: when the
opponent takes one of the cells, the other links them.
"""

import random
from collections.abc import Sequence
from functools import cache
from typing import Final

from clients.bots.search_game import Playout, SearchGame
from referees.hex import BLACK, EMPTY, WHITE, Board, Hex, HexPosition
from referees.hex.board import BOTH_EDGES, COLOUR

# The corners around the board belong to neither player.
_NOBODY: Final = 3
_STONES: Final = bytes(state & COLOUR for state in range(256))


class HexSearchGame(SearchGame[HexPosition, int]):
    """A random game fills the board."""

    def __init__(self, referee: Hex, chance: random.Random) -> None:
        super().__init__(referee, chance)
        self._hex = referee

    def moves(self, position: HexPosition) -> Sequence[int]:
        """All legal moves, but where one side would win at once only those that matter."""
        return decisive_moves(self._hex, position) or super().moves(position)

    def playout(self, position: HexPosition) -> Playout[int]:
        """Fill the board at random."""
        settings = self._hex.settings
        stones = bytearray(surrounded(position.cells, settings.rows, settings.columns))
        width = settings.columns + 2
        empty = [cell for cell, stone in enumerate(stones) if not stone]
        winner = playout(stones, settings.columns, position.mover, self.chance.choice(empty), self.chance)
        played: tuple[list[int], list[int]] = ([], [])
        for cell in empty:
            row, column = divmod(cell, width)
            played[stones[cell] != BLACK].append((row - 1) * settings.columns + column - 1)
        return Playout((float(winner == BLACK), float(winner == WHITE)), played)


def decisive_moves(referee: Hex, position: HexPosition) -> list[int]:
    """Return the moves that win at once, else the cells where the opponent would win."""
    board = Board(referee.settings.rows, referee.settings.columns, position.cells)
    empty = [cell for cell, state in enumerate(position.cells) if not state]
    for colour in (position.mover, 3 - position.mover):
        winning = [cell for cell in empty if board.links(colour, cell) == BOTH_EDGES]
        if winning:
            return winning
    return []


def surrounded(cells: bytes, rows: int, columns: int) -> bytes:
    """The stones with a rim around them: Black's above and below, White's left and right."""
    stones = cells.translate(_STONES)
    rim = bytes((_NOBODY, *(BLACK,) * columns, _NOBODY))
    white = bytes((WHITE,))
    lines = (white + stones[start : start + columns] + white for start in range(0, rows * columns, columns))
    return rim + b"".join(lines) + rim


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
    """The cell that keeps a bridge of `colour` into which the last stone was put; 0 without one."""
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
