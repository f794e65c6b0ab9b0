"""Hex for a search: wins are taken and prevented, and random games keep their bridges."""

import random
from collections.abc import Sequence

from clients.bots.craft import Playout, SearchGame
from clients.bots.hex_thinking import decisive_moves, playout, surrounded
from referees.hex import BLACK, WHITE, Hex, HexPosition


class HexCraft(SearchGame[HexPosition, int]):
    """A random game fills the board."""

    def __init__(self, referee: Hex, chance: random.Random) -> None:
        super().__init__(referee, chance)
        self._hex = referee

    def moves(self, position: HexPosition) -> Sequence[int]:
        """All legal moves, but where one side would win at once only those that matter."""
        legal = super().moves(position)
        decisive = decisive_moves(self._hex, position)
        return legal if decisive is None else [each.move for each in decisive.candidates]

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
