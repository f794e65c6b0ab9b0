"""Go's board: points and their names, stones, captures, the area score, and a game's position."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Final

from referees.api import Outcome, Termination, UnreadableMoveError
from referees.sgf import LETTERS

EMPTY: Final = 0
BLACK: Final = 1
WHITE: Final = 2
PASS: Final = -1
NO_KO: Final = -1

MIN_SIZE: Final = 2
MAX_SIZE: Final = 25


class OccupiedPointError(ValueError):
    """A stone was placed where one stands."""


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """For each point of a board of `size` rows, the two to four points next to it."""
    return tuple(
        tuple(
            r * size + c
            for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
            if 0 <= r < size and 0 <= c < size
        )
        for row in range(size)
        for column in range(size)
    )


class Board:
    """Stones on a board of `size` rows.

    `stones` has EMPTY, BLACK or WHITE for each point. `ko` is the point where the next stone is
    forbidden by simple ko, or NO_KO; `play` sets it and does not check it. `neighbours` are the
    points next to each point.
    """

    __slots__ = ("ko", "neighbours", "size", "stones")

    def __init__(self, size: int, stones: Iterable[int] | None = None, ko: int = NO_KO) -> None:
        self.size = size
        self.stones = bytearray(size * size) if stones is None else bytearray(stones)
        self.ko = ko
        self.neighbours = neighbours(size)

    def play(self, colour: int, point: int) -> Sequence[int]:  # noqa: C901 - hot: playouts
        """Place a stone and take off what it captures; PASS only lifts the ko.

        Captures the opponent's groups without liberties first; if there are none and the stone's
        own group has no liberty, that group goes (self-capture). Returns the points that became
        empty. Raises OccupiedPointError.

        Simple ko: a lone stone with a single liberty that captured exactly one stone must not be
        recaptured at once.
        """
        self.ko = NO_KO
        if point == PASS:
            return ()
        stones = self.stones
        if stones[point]:
            raise OccupiedPointError(f"point {point} is occupied")
        beside = self.neighbours
        stones[point] = colour
        opponent = 3 - colour
        captured: list[int] = []
        breathing = False
        enclosed = True
        for next_to in beside[point]:
            state = stones[next_to]
            if state == opponent:
                # Most groups breathe right here: the search is for the others.
                for liberty in beside[next_to]:
                    if not stones[liberty]:
                        break
                else:
                    group = self._stifled(next_to)
                    for stone in group:
                        stones[stone] = EMPTY
                    captured += group
            else:
                enclosed = False
                if not state:
                    breathing = True
        if captured:
            if enclosed and len(captured) == 1:
                self.ko = captured[0]
        elif not breathing:
            captured = self._stifled(point)
            for stone in captured:
                stones[stone] = EMPTY
        return captured

    def _stifled(self, start: int) -> list[int]:
        """The stones of the group at a point if it has no liberty, else an empty list."""
        stones = self.stones
        beside = self.neighbours
        colour = stones[start]
        group = [start]
        seen = {start}
        for stone in group:
            for next_to in beside[stone]:
                state = stones[next_to]
                if not state:
                    return []
                if state == colour and next_to not in seen:
                    seen.add(next_to)
                    group.append(next_to)
        return group

    def liberties(self, point: int, enough: int = MAX_SIZE * MAX_SIZE) -> set[int]:
        """The liberties of the group at a point; the search stops when `enough` are found."""
        stones = self.stones
        beside = self.neighbours
        colour = stones[point]
        group = [point]
        seen = {point}
        points: set[int] = set()
        for stone in group:
            for next_to in beside[stone]:
                state = stones[next_to]
                if not state:
                    points.add(next_to)
                    if len(points) >= enough:
                        return points
                elif state == colour and next_to not in seen:
                    seen.add(next_to)
                    group.append(next_to)
        return points

    def is_self_capture(self, colour: int, point: int) -> bool:
        """Whether a stone of a colour on this empty point would have its own group taken off."""
        stones = self.stones
        around = self.neighbours[point]
        for next_to in around:
            if not stones[next_to]:
                return False
        # A friend that has a second liberty, or an enemy that has none, leaves room to breathe.
        return all((stones[next_to] == colour) != (len(self.liberties(next_to, 2)) > 1) for next_to in around)

    def has_atari(self) -> bool:
        """Whether a group of either colour has exactly one liberty."""
        stones = self.stones
        beside = self.neighbours
        # `liberties` of each stone takes longer, and this is asked after every ply.
        seen = bytearray(len(stones))
        for start, colour in enumerate(stones):
            if not colour or seen[start]:
                continue
            seen[start] = 1
            group = [start]
            liberties: set[int] = set()
            for stone in group:
                for next_to in beside[stone]:
                    state = stones[next_to]
                    if not state:
                        liberties.add(next_to)
                    elif state == colour and not seen[next_to]:
                        seen[next_to] = 1
                        group.append(next_to)
            if len(liberties) == 1:
                return True
        return False

    def area(self) -> tuple[int, int]:
        """The areas of Black and of White, all stones alive.

        A player's area is their stones and the empty regions that border on their stones alone.
        """
        stones = self.stones
        counts = [0, stones.count(BLACK), stones.count(WHITE)]
        seen: set[int] = set()
        for start, state in enumerate(stones):
            if state or start in seen:
                continue
            region = [start]
            seen.add(start)
            borders = 0
            for point in region:
                for next_to in self.neighbours[point]:
                    beside = stones[next_to]
                    if beside:
                        borders |= beside
                    elif next_to not in seen:
                        seen.add(next_to)
                        region.append(next_to)
            if borders in (BLACK, WHITE):
                counts[borders] += len(region)
        return counts[BLACK], counts[WHITE]


COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


@cache
def names(size: int) -> tuple[str, ...]:
    """The names of all points of a board of `size` rows, in the order of their numbers."""
    return tuple(f"{column}{row}" for row in range(size, 0, -1) for column in COLUMNS[:size])


@cache
def _points(size: int) -> dict[str, int]:
    return {name: point for point, name in enumerate(names(size))}


def name(move: int, size: int) -> str:
    """A move as text: a point's name, or `pass`."""
    return "pass" if move == PASS else names(size)[move]


def read(text: str, size: int) -> int:
    """Read a move; case, surrounding blanks and zeros before the row do not matter.

    Raises UnreadableMoveError.
    """
    word = text.strip().upper()
    if word == "PASS":
        return PASS
    point = _points(size).get(word[:1] + word[1:].lstrip("0"))
    if point is None:
        raise UnreadableMoveError(
            f"{text[:40]!r} is neither a point of a board of {size} rows "
            f"(columns A to {COLUMNS[size - 1]} without I, rows 1 to {size}) nor 'pass'"
        )
    return point


@dataclass(frozen=True, slots=True)
class GoPosition:
    """A position in a game.

    `stones` has EMPTY, BLACK or WHITE for each point, row by row from the top; `mover` is the colour
    to move; `ko` the point that simple ko forbids, or NO_KO; `passes` counts the passes just made.
    `history` holds all `stones` so far under positional superko, and nothing otherwise; `handicap` is
    the number of handicap stones that Black began with.
    """

    stones: bytes
    mover: int
    ko: int = NO_KO
    passes: int = 0
    history: frozenset[bytes] = frozenset()
    handicap: int = 0


def score_area(black: int, white: int, for_white: tuple[float, ...], termination: Termination) -> Outcome:
    """Score areas of `black` and `white` points, and what White gets besides (komi, compensation)."""
    # Decimal, because komi 7.1 has no exact float and would show in the margin.
    total = sum((Decimal(repr(points)) for points in for_white), Decimal(white))
    points = (float(black), float(total))
    margin = black - total
    if not margin:
        return Outcome((BLACK, WHITE), termination, "0", points)
    winner = BLACK if margin > 0 else WHITE
    return Outcome((winner,), termination, f"{LETTERS[winner]}+{plain(abs(margin))}", points)


def plain(number: Decimal | float) -> str:
    """A number without exponent and without zeros at its end: `3.5`, `2`."""
    text = f"{Decimal(repr(number)) if isinstance(number, float) else number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
