"""What a game's end is worth by supply centres; the arena keeps the DAIDE score (a pot) of every game."""

from collections.abc import Sequence


def centre_shares(centres: Sequence[float]) -> tuple[float, ...]:
    """Each power's share of all owned supply centres; nothing for anyone where none is owned."""
    whole = sum(centres)
    return tuple(count / whole if whole else 0.0 for count in centres)
