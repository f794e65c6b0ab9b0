"""Which moves there are: captures, of which one must be made if there are any, and plain moves.

Pieces are bits of numbers (see `variants.Layout`), so that all men are looked at in a few operations.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from referees.draughts.variants import Crowning, Variant

# What remains of a capture: the squares where the piece lands, and the pieces it takes.
_Tail = tuple[tuple[int, ...], int]


class Move(NamedTuple):
    """The squares a piece starts from and lands on, and the squares of the pieces it takes, by number.

    The squares alone say which move it is: between two of them lies at most one piece.
    """

    squares: tuple[int, ...]
    captured: tuple[int, ...] = ()


def legal_moves(variant: Variant, own: int, other: int, kings: int, *, white: bool) -> tuple[Move, ...]:
    """All moves of the side with the pieces `own` against `other`, in the order of their squares.

    Captures that differ only in the way between start and end are one move, the first of them. There is
    none for a side that has lost.
    """
    return tuple(sorted(_Side(variant, own, other, kings, white).moves()))


def can_capture(variant: Variant, own: int, other: int, kings: int, *, white: bool) -> bool:
    """Whether the side with the pieces `own` could capture, were it to move."""
    return next(_Side(variant, own, other, kings, white).captures(), None) is not None


def _ahead(bits: int, step: int) -> int:
    return bits << step if step > 0 else bits >> -step


def _single_bits(bits: int) -> Iterator[int]:
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit


class _Side:
    """The side to move, its pieces and its ways."""

    __slots__ = ("backwards", "crown", "empty", "forwards", "kings", "men", "other", "variant")

    def __init__(self, variant: Variant, own: int, other: int, kings: int, white: bool) -> None:
        layout = variant.layout
        near, far = layout.down
        self.variant = variant
        self.men = own & ~kings
        self.kings = own & kings
        self.other = other
        self.empty = layout.playable & ~(own | other)
        self.forwards = (-near, -far) if white else (near, far)
        self.backwards = (near, far) if white else (-near, -far)
        self.crown = layout.top if white else layout.bottom

    def moves(self) -> list[Move]:
        numbers = self.variant.layout.numbers
        captures = list(self.captures())
        if not captures:
            return [Move((numbers[start], numbers[end])) for start, end in self._plain()]
        if self.variant.most_captures:
            most = max(captured.bit_count() for _, captured in captures)
            captures = [(path, captured) for path, captured in captures if captured.bit_count() == most]
        # Where a man is crowned on one of them, it is on all: it takes the piece before the far row there.
        moves: dict[tuple[int, int, int], Move] = {}
        for path, captured in captures:
            move = Move(
                tuple([numbers[bit] for bit in path]), tuple([numbers[bit] for bit in _single_bits(captured)])
            )
            key = path[0], path[-1], captured
            moves[key] = min(moves.get(key, move), move)
        return list(moves.values())

    def _plain(self) -> Iterator[tuple[int, int]]:
        empty = self.empty
        for step in self.forwards:
            for end in _single_bits(_ahead(self.men, step) & empty):
                yield _ahead(end, -step), end
        if not self.kings:
            return
        for step in (*self.forwards, *self.backwards):
            if not self.variant.flying_kings:
                for end in _single_bits(_ahead(self.kings, step) & empty):
                    yield _ahead(end, -step), end
                continue
            for start in _single_bits(self.kings):
                end = _ahead(start, step)
                while end & empty:
                    yield start, end
                    end = _ahead(end, step)

    def captures(self) -> Iterator[_Tail]:
        """All ways to capture to the end, with the square where the piece starts."""
        flying, around = self.variant.flying_kings, (*self.forwards, *self.backwards)
        backwards = self.variant.men_capture_backwards
        starts = 0
        for step in around:
            over = self.other & _ahead(self.empty, -step)
            if over:
                able = self.men if backwards or step in self.forwards else 0
                starts |= _ahead(over, -step) & (able | self.kings)
        if flying:
            starts |= self.kings
        for start in _single_bits(starts):
            # The square it leaves is free for it to pass and to land on.
            self.empty |= start
            if start & self.men:
                ways = around if backwards else self.forwards
                tails = self._by_steps(start, self.other, ways, self.crown)
            elif flying:
                tails = self._by_flying_king(start, self.other, around)
            else:
                tails = self._by_steps(start, self.other, around, 0)
            self.empty ^= start
            for path, captured in tails:
                yield (start, *path), captured

    # Pieces taken stay on the board until the move ends: they are in the way, but not taken twice.

    def _by_steps(self, bit: int, other: int, steps: tuple[int, ...], crown: int) -> list[_Tail]:
        """The captures of a man, which `crown` makes a king, or of a king that does not fly."""
        tails: list[_Tail] = []
        for step in steps:
            over = _ahead(bit, step) & other
            if over and (landing := _ahead(over, step) & self.empty):
                rest = other ^ over
                crowned = landing & crown
                if crowned and self.variant.crowning is Crowning.ENDS_THE_MOVE:
                    further = []
                elif crowned and self.variant.crowning is Crowning.GOES_ON:
                    further = self._by_flying_king(landing, rest, (*self.forwards, *self.backwards))
                else:
                    further = self._by_steps(landing, rest, steps, crown)
                tails += _extended(landing, over, further)
        return tails

    def _by_flying_king(self, bit: int, other: int, steps: tuple[int, ...]) -> list[_Tail]:
        tails: list[_Tail] = []
        empty = self.empty
        for step in steps:
            over = _ahead(bit, step)
            while over & empty:
                over = _ahead(over, step)
            landing = _ahead(over, step)
            if not (over & other and landing & empty):
                continue
            ending: list[_Tail] = []
            going_on: list[_Tail] = []
            while landing & empty:
                further = self._by_flying_king(landing, other ^ over, steps)
                (going_on if further else ending).extend(_extended(landing, over, further))
                landing = _ahead(landing, step)
            # It must not land where its capture ends, if it can land where it takes more.
            tails += going_on or ending
        return tails


def _extended(landing: int, over: int, further: list[_Tail]) -> list[_Tail]:
    if not further:
        return [((landing,), over)]
    return [((landing, *path), over | captured) for path, captured in further]


Placement = tuple[int, int, int, bool]


@dataclass(frozen=True, slots=True)
class DraughtsPosition:
    """A position in a game.

    `white`, `black` and `kings` have a bit for each square with such a piece (see `variants.Layout`);
    `white_to_move` says whose turn it is, `moves` which moves there are. The rest is what the draw rules
    must know: `quiet` counts the plies since the last capture or move of a man; `endings` the plies since
    each of the variant's endings began, None for one that has not; `earlier` are the placements since
    the last capture or move of a man, this one not included, where repetition counts.
    """

    white: int
    black: int
    kings: int
    white_to_move: bool
    moves: tuple[Move, ...] = field(compare=False)
    quiet: int = 0
    endings: tuple[int | None, ...] = ()
    earlier: tuple[Placement, ...] = ()

    @property
    def placement(self) -> Placement:
        """The pieces and whose turn it is: what makes two positions the same to the repetition rule."""
        return self.white, self.black, self.kings, self.white_to_move
