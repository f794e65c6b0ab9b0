"""What a move does to the chains beside it, as tesujis of games where chains are taken.

A chain is stones of one player that touch each other by the sides of their cells; its liberties are the empty
cells beside it. A chain whose last liberty is filled is taken.
"""

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.learnt_weights import Numbers
from academy.knowledge.symmetries import Cell
from academy.knowledge.tesujis.fights import MOST_IN_FIGHT, Fight
from academy.knowledge.tesujis.shapes import (
    CAPTURES,
    EMPTY,
    KIND,
    OTHER,
    OWN,
    Flags,
    InvalidTesujiError,
    Places,
    Tesuji,
    Views,
    cells_around,
)

__all__ = ["Captures"]

_SIDES: Final[tuple[Cell, ...]] = ((-1, 0), (0, -1), (0, 1), (1, 0))


class Captures:
    """A shape that does not consist of cells: what a move to the cell takes, extends and threatens.

    Args:
        geometry: The board.
    """

    kind, size = CAPTURES, 1
    outlines: frozenset[frozenset[Cell]] = frozenset()

    def __init__(self, geometry: SquareGeometry) -> None:
        self._beside = cells_around(geometry, _SIDES)
        self._most = np.array(astuple(MOST_IN_FIGHT), dtype=np.int64)
        self._units = np.cumprod([1, *(self._most[:-1] + 1)])

    def read(self, code: int, player: int) -> Tesuji:
        """Return what a code of this kind stands for.

        Args:
            code: As `codes` gives it, without what says the player.
            player: The player to move: 1 in a symmetric game.
        """
        figures = code % KIND // self._units % (self._most + 1)
        return Tesuji(player, {}, fight=Fight(*figures.tolist()))

    def code(self, tesuji: Tesuji) -> int | None:
        """Return the code, None for a tesuji of cells.

        Args:
            tesuji: One that says what becomes of chains.

        Raises:
            InvalidTesujiError: More than is counted, or less than none.
        """
        if tesuji.fight is None or tesuji.cells:
            return None
        figures = np.array(astuple(tesuji.fight))
        if ((figures < 0) | (figures > self._most)).any():
            most = ", ".join(f"{name} {count}" for name, count in asdict(MOST_IN_FIGHT).items())
            raise InvalidTesujiError(f"{asdict(tesuji.fight)}: from 0, the most that count are {most}")
        return self.kind * KIND + int(figures @ self._units)

    def codes(self, views: Views, boards: Places, cells: Places, players: Places) -> Numbers:
        """Return a row of one code for each cell.

        Args:
            views: A row for each board: its cells as the player to move sees them, then one off the board.
            boards: The row of `views` of each cell that is asked for.
            cells: These cells.
            players: For each cell 1 or 2, who is to move on its board.
        """
        chains = self._chains(views)
        # A row for each side of the cells.
        beside = self._beside[:, cells]
        at = boards * views.shape[1] + beside
        at_side = chains.numbers.take(at)
        own, other, left = chains.owners == OWN, chains.owners == OTHER, chains.left
        # A chain on two sides of a cell has three stones or more: counted twice it is still the most.
        taken, extended, threatened = (
            (chains.sizes * which).take(at_side).sum(axis=0)
            for which in (other & (left == 1), own & (left == 1), other & (left == 2))
        )
        # A stone beside the cell that is taken leaves a liberty, too.
        free = (views.take(at) == EMPTY) | (other & (left == 1)).take(at_side)
        liberties = free.sum(axis=0)
        joined = np.where(own, np.arange(len(own)), chains.none).take(at_side)
        most_left = left.take(joined).max(axis=0)
        # A chain that the cell joins loses it as a liberty.
        liberties[most_left > MOST_IN_FIGHT.liberties] = MOST_IN_FIGHT.liberties
        few = np.flatnonzero((most_left > 0) & (liberties < MOST_IN_FIGHT.liberties))
        together = chains.liberties[joined[:, few]].any(axis=0)
        sides, numbers = np.nonzero(free[:, few])
        together[numbers, beside[sides, few[numbers]]] = True
        together[np.arange(len(few)), cells[few]] = False
        liberties[few] = np.count_nonzero(together, axis=1)
        figures = zip((taken, extended, threatened, liberties), self._most, self._units, strict=True)
        codes: Numbers = self.kind * KIND + sum(
            np.minimum(counts, most) * unit for counts, most, unit in figures
        )
        return codes[:, None]

    def _chains(self, views: Views) -> "_Chains":
        return _chains_of_board(views.tobytes(), self) if len(views) == 1 else _Chains.on(views, self._beside)

    def taken(self, view: Views, cells: Sequence[int]) -> list[list[int]]:
        """Return for each cell the cells that a move there empties.

        These are the cells of the stones that it takes. A move that takes nothing and has a liberty nowhere
        empties those of its own chain, its own cell among them: other rules forbid such a move.

        Args:
            view: One row: the board's cells as the player to move sees them, then one off the board.
            cells: The cells, which are empty.
        """
        chains = self._chains(view)
        number_of = chains.numbers[0]
        beside = self._beside[:, cells]
        touched = number_of[beside].T
        own, in_atari = chains.owners == OWN, chains.left == 1
        takes = ((chains.owners == OTHER) & in_atari)[touched]
        lives = (
            takes.any(axis=1)
            | (own & ~in_atari)[touched].any(axis=1)
            | (view[0, beside] == EMPTY).any(axis=0)
        )
        takes |= own[touched] & ~lives[:, None]
        taken: list[list[int]] = [
            [] if has_liberty else [cells[place]] for place, has_liberty in enumerate(lives)
        ]
        # Few moves take anything, and to look for the stones takes longer than all the rest.
        for place in np.flatnonzero(takes.any(axis=1)).tolist():
            chains_taken = touched[place][takes[place]]
            taken[place] += np.flatnonzero(np.isin(number_of, chains_taken)).tolist()
        return taken


@dataclass(frozen=True, slots=True, eq=False)
class _Chains:
    """The chains of some boards. The last one is none: that of cells without a stone.

    `numbers` has the chain of each cell, a row for each board. The others have a row for each chain: whose
    stones it has, how many, which cells are its liberties, and how many these are.
    """

    numbers: Places
    owners: NDArray[np.uint8]
    sizes: Numbers
    liberties: Flags
    left: Numbers

    @property
    def none(self) -> int:
        """The number of no chain."""
        return len(self.sizes) - 1

    @classmethod
    def on(cls, views: Views, beside: Places) -> "_Chains":
        """Find the chains of boards.

        Args:
            views: A row for each board: its cells as a player sees them, then one off the board.
            beside: The cells beside each cell, a row for each side.
        """
        held, width = views.ravel(), views.shape[1]
        stones = (held == OWN) | (held == OTHER)
        at = np.flatnonzero(stones)
        cells = at % width
        # Pairs of one colour, each pair once: those to the right and below.
        beside_stones = at - cells + beside[-2:, cells]
        connected = held.take(beside_stones) == held.take(at)
        here, there = np.broadcast_to(at, connected.shape)[connected], beside_stones[connected]
        # Each stone has the place of another stone of its chain, which in the end is the least of all.
        place = np.arange(held.size)
        while (apart := (of_here := place.take(here)) != (of_there := place.take(there))).any():
            here, there, *ends = (places[apart] for places in (here, there, of_here, of_there))
            np.minimum.at(place, np.maximum(*ends), np.minimum(*ends))
            while ((nearer := place.take(place)) != place).any():
                place = nearer
        first_of_chain = stones & (place == np.arange(held.size))
        chains = np.flatnonzero(first_of_chain)
        numbers = np.where(stones, (np.cumsum(first_of_chain) - 1)[place], len(chains)).reshape(views.shape)
        owners = np.append(held[chains], np.uint8(EMPTY))
        sizes = np.bincount(numbers.ravel()[stones], minlength=len(owners))
        liberties = np.zeros((len(sizes), width), dtype=np.bool_)
        at, cells = np.flatnonzero(held == EMPTY), np.nonzero(views == EMPTY)[1]
        touched = numbers.take(at - cells + beside[:, cells])
        liberties.ravel()[touched * width + cells] = True
        liberties[-1] = False
        return cls(numbers, owners, sizes, liberties, np.count_nonzero(liberties, axis=1))


@lru_cache(maxsize=4)
def _chains_of_board(view: bytes, captures: Captures) -> _Chains:
    """Find the chains of one board, which advice on a position needs twice."""
    return _Chains.on(np.frombuffer(view, dtype=np.uint8)[None], captures._beside)
