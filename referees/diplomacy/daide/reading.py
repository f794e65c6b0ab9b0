"""What a DAIDE client reads from the server's messages: who owns what, and who stands where."""

from collections.abc import Sequence
from typing import Final

from referees.diplomacy.daide.orders import PHASES, Tree, read_place, read_turn, read_unit
from referees.diplomacy.daide.tokens import Vocabulary
from referees.diplomacy.position import Dislodged, Position
from referees.diplomacy.provinces import NOBODY, Unit

_OPTIONS_PLACE: Final = 4


class UnreadableMessageError(ValueError):
    """A server's message that is not what the syntax says it is."""


def read_owners(words: Vocabulary, tree: Sequence[Tree]) -> tuple[int, ...]:
    """The owners of all centres, from SCO. Raises UnreadableMessageError."""
    owners = dict.fromkeys(words.map.centres, NOBODY)
    for part in tree[1:]:
        if not isinstance(part, tuple) or not all(isinstance(token, int) for token in part):
            raise UnreadableMessageError(f"owners of centres: {part!r}")
        power, *centres = part
        number = words.power(power)  # type: ignore[arg-type]
        for token in centres:
            centre = words.province(token)  # type: ignore[arg-type]
            if centre not in owners:
                raise UnreadableMessageError(f"a centre {token!r}: the map has none there")
            owners[centre] = NOBODY if number is None else number
    return tuple(owners.values())


def read_position(words: Vocabulary, tree: Sequence[Tree], owners: tuple[int, ...]) -> Position:
    """The position from NOW, given who owns what. Raises UnreadableMessageError, and InvalidPositionError."""
    try:
        season_token, year = read_turn(tree[1])
        phase, season = PHASES[season_token]
        standing, dislodged = [], []
        for said in tree[2:]:
            assert isinstance(said, tuple)
            power, kind, location = read_unit(words, said)
            assert location is not None
            unit = Unit(power, kind, location)
            if len(said) <= _OPTIONS_PLACE:
                standing.append(unit)
                continue
            listed = said[_OPTIONS_PLACE]
            assert isinstance(listed, tuple)
            options = [read_place(words, option) for option in listed]
            dislodged.append(
                Dislodged(unit, tuple(sorted(option for option in options if option is not None)))
            )
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        raise UnreadableMessageError(f"a position: {error}") from error
    return Position(
        words.map,
        year,
        season,
        phase,
        tuple(sorted(standing, key=lambda unit: unit.location)),
        tuple(sorted(dislodged, key=lambda entry: entry.unit.location)),
        owners,
    ).checked()
