"""A position in a game of draughts, as a value."""

from dataclasses import dataclass, field

from referees.draughts.moves import Move

Placement = tuple[int, int, int, bool]


@dataclass(frozen=True, slots=True)
class DraughtsPosition:
    """A position in a game.

    `white`, `black` and `kings` have a bit for each square with such a piece (see `layout`);
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
