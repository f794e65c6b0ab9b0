"""Players that dial in over TCP and speak DAIDE."""

import time
from collections.abc import Mapping
from typing import Any, Final

from arena.players.daide.clients import Place
from arena.players.daide.game import DaideGame
from arena.players.daide.parameters import DaideParameters
from arena.players.failures import PlayerError, PlayerStartError
from arena.players.player import Choice, Cost, InvalidPlayerParametersError, Player, Seating
from referees.api import Outcome

_GAMES: Final[dict[str, DaideGame]] = {}


class DaidePlayer(Player):
    """A player in its seat whose client dialled in at the competition's door.

    All players of a game in this process share its clients' conductor. What a client costs is not known, as
    it runs elsewhere.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        setup = seating.setup
        if setup.command:
            raise InvalidPlayerParametersError(
                f"a DAIDE client dials in: it has no command {setup.command[0]!r}"
            )
        if setup.time_control is not None:
            raise InvalidPlayerParametersError(
                "DAIDE has no clock: its limits are mtl, rtl and btl of the game"
            )
        parameters = DaideParameters.read(setup.parameters)
        if not parameters.door:
            raise InvalidPlayerParametersError("there is no door where DAIDE clients could dial in")
        self._door = parameters.door
        self._place = Place(seating, parameters)
        game = _GAMES.get(seating.game_id)
        self._game = DaideGame(seating.referee, seating.game_id) if game is None else game
        self._game.add(self._place)
        _GAMES[seating.game_id] = self._game

    def start(self) -> None:
        """Ask the door for the client."""
        try:
            self._game.seek(self._door)
        except PlayerStartError as failure:
            raise PlayerStartError(f"player {self.seating.label}: {failure}") from failure

    def set_up(self) -> None:
        """Wait until the client has dialled in and plays the map, for `start_seconds` in all."""
        seconds = self.seating.setup.start_seconds
        try:
            self._game.await_client(self._place, time.monotonic() + seconds)
        except PlayerError as failure:
            raise type(failure)(f"player {self.seating.label}: {failure} within {seconds:g} s") from failure
        self.name = f"{self._place.name}:{self._place.version}".strip(":")
        self.description = f"{self._place.name} {self._place.version}".strip()

    def given(self, moves: Mapping[int, Any], view: Any) -> None:
        """Tell of an opening's moves."""
        self._game.show(moves, view)

    def choose(self, view: Any) -> Choice:
        """Wait for the orders of all clients at once, until the deadline."""
        return self._game.choose(self._place, view)

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Tell of the turn's results; the first player that is told has all clients told."""
        self._game.show(moves, view)

    def ended(self, outcome: Outcome | None, void_reason: str) -> None:
        """Tell how the game ended."""
        self._game.finish(outcome)

    def close(self, *, at_once: bool = False) -> Cost:
        """Send the game's clients off; the first player that is closed sends all of them."""
        if _GAMES.get(self.seating.game_id) is self._game:
            del _GAMES[self.seating.game_id]
            self._game.close(0.0 if at_once else self.seating.setup.exit_seconds)
        self.warnings += self._place.all_warnings()
        self.disorder = self._place.disorder
        return Cost()
