"""Fog: a seat sees its own territories and their neighbours, and orders that touch what it sees."""

from functools import cached_property

from referees.warlight.maps import WarMap
from referees.warlight.position import UNSEEN, WarPosition


class Sight:
    """Who sees what on a map; without `fog` everybody sees everything."""

    def __init__(self, war_map: WarMap, fog: bool) -> None:
        self._map = war_map
        self._fog = fog
        self._size = len(war_map.territories)

    @cached_property
    def _in_view(self) -> list[int]:
        # A territory with its neighbours as a number with 255 in each one's byte: masks for `owners`.
        return [
            0xFF << 8 * at | sum(0xFF << 8 * near for near in nears)
            for at, nears in enumerate(self._map.neighbours)
        ]

    def owners(self, position: WarPosition, seat: int) -> bytes:
        """The owners that a seat knows, UNSEEN for the others."""
        if not self._fog:
            return position.owners
        seen = 0
        for owner, in_view in zip(position.owners, self._in_view, strict=True):
            if owner == seat:
                seen |= in_view
        fog = int.from_bytes(bytes([UNSEEN]) * self._size)
        known = int.from_bytes(position.owners, "little") & seen | fog & ~seen
        return known.to_bytes(self._size, "little")

    def view(self, position: WarPosition, seat: int) -> WarPosition:
        """The position as a seat may see it; the game's seed would tell the future."""
        owners = self.owners(position, seat)
        return WarPosition(
            position.turn,
            owners,
            tuple([0 if o == UNSEEN else n for o, n in zip(owners, position.armies, strict=True)]),
            0,
            tuple([event for event in position.events if event.seat == seat or event.seen or not self._fog]),
            position.first,
        )
