"""The board of Konane: its cells, their names, and the ways a stone can jump."""

from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase

from konane.position import BLACK, EMPTY, STONES, WHITE, KonaneMove


@dataclass(frozen=True)
class KonaneBoard:
    """A board of `size` rows and columns; `size` is even. Cells are numbered row by row from the top."""

    size: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The cells' names: `a1` is at the bottom left."""
        return tuple(
            f"{column}{row}" for row in range(self.size, 0, -1) for column in ascii_lowercase[: self.size]
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The cells' numbers by their names."""
        return {name: cell for cell, name in enumerate(self.names)}

    def text(self, move: KonaneMove) -> str:
        """`d5` for a stone taken off, `c3-e3` for a jump."""
        start = self.names[move.start]
        return start if move.end is None else f"{start}-{self.names[move.end]}"

    @cached_property
    def full(self) -> str:
        """The stones at first, in alternating colours; Black's are at the top left and the bottom right."""
        return "".join(STONES[BLACK + sum(divmod(cell, self.size)) % 2] for cell in range(self.size**2))

    @cached_property
    def rays(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each cell, the cells in each of the four directions, the nearest first."""
        return tuple(
            (
                tuple(range(cell - self.size, -1, -self.size)),
                tuple(range(cell + self.size, self.size**2, self.size)),
                tuple(range(cell - 1, cell - cell % self.size - 1, -1)),
                tuple(range(cell + 1, cell - cell % self.size + self.size)),
            )
            for cell in range(self.size**2)
        )

    def moves(self, cells: str, mover: int) -> tuple[KonaneMove, ...]:
        """All moves of a player whose turn it is, in the order of the cells."""
        stone = STONES[mover]
        if EMPTY not in cells:
            half = self.size // 2
            middle = range(half - 1, half + 1)
            centre = {row * self.size + column for row in middle for column in middle}
            corners = {0, self.size - 1, self.size**2 - self.size, self.size**2 - 1}
            return tuple(KonaneMove(cell) for cell in sorted(centre | corners) if cells[cell] == stone)
        if cells.count(EMPTY) == 1:
            return tuple(
                KonaneMove(cell) for cell in sorted(ray[0] for ray in self.rays[cells.index(EMPTY)] if ray)
            )
        return tuple(
            KonaneMove(cell, end)
            for cell, letter in enumerate(cells)
            if letter == stone
            for ray in self.rays[cell]
            for end in _landings(cells, ray, STONES[BLACK + WHITE - mover])
        )

    def after(self, cells: str, move: KonaneMove) -> str:
        """The cells after a legal move: what the stone jumped over is gone."""
        board = list(cells)
        stone, board[move.start] = board[move.start], EMPTY
        if move.end is not None:
            ray = next(ray for ray in self.rays[move.start] if move.end in ray)
            for cell in ray[: ray.index(move.end)]:
                board[cell] = EMPTY
            board[move.end] = stone
        return "".join(board)


def _landings(cells: str, ray: tuple[int, ...], enemy: str) -> list[int]:
    """Where one jump, two, three... in this direction end."""
    landings = []
    for over, end in zip(ray[::2], ray[1::2], strict=False):
        if cells[over] != enemy or cells[end] != EMPTY:
            break
        landings.append(end)
    return landings
