"""What a finished game is worth, and how results are written (`B+3.5`, `0`)."""

from decimal import Decimal

from referees.api import Outcome, Termination
from referees.go.board import BLACK, WHITE
from referees.sgf import LETTERS


def counted(black: int, white: int, for_white: tuple[float, ...], termination: Termination) -> Outcome:
    """The outcome of areas of `black` and `white` points and what White gets besides (komi, compensation)."""
    # Decimal, since komi 7.1 has no exact float and would show in the margin.
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
