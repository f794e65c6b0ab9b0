"""Players that dial in over TCP and speak DAIDE, and the protocol as a plug-in of the arena."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from arena.jobs import PlayerSetup
from arena.players.player import (
    Choice,
    Cost,
    InvalidPlayerParametersError,
    Player,
    PlayerError,
    PlayerLeftError,
    PlayerStartError,
    Seating,
)
from arena.players.protocols import Announcer, DialInProtocol, InvalidListenerError
from referees.api import Outcome, Referee
from referees.diplomacy.daide.table import DaideDialogue
from referees.diplomacy.daide.tokens import Vocabulary
from referees.diplomacy.daide_server.game import DaideGame, Place
from referees.diplomacy.daide_server.listener import DaideListener
from referees.diplomacy.daide_server.settings import (
    PROTOCOL,
    DaideAddress,
    DaideParameters,
)
from referees.diplomacy.map import InvalidMapError

if TYPE_CHECKING:
    from pydantic import BaseModel

_GAMES: Final[dict[str, DaideGame]] = {}


class DaidePlayer(Player):
    """A player in its seat whose client dialled in at the competition's listener.

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
        if not parameters.listener:
            raise InvalidPlayerParametersError("there is no listener where DAIDE clients could dial in")
        self._listener = parameters.listener
        self._place = Place(seating, parameters)
        if seating.game_id not in _GAMES:
            _GAMES[seating.game_id] = DaideGame(seating)
        self._game = _GAMES[seating.game_id]
        self._game.add(self._place)

    def start(self) -> None:
        """Ask the listener for the client."""
        try:
            self._game.seek(self._listener)
        except PlayerStartError as failure:
            raise PlayerStartError(f"player {self.seating.label}: {failure}") from failure

    def set_up(self) -> None:
        """Wait until the client has dialled in and plays the map, for `start_seconds` in all."""
        seconds = self.seating.setup.start_seconds
        try:
            self._game.await_client(self._place, time.monotonic() + seconds)
        except PlayerError as failure:
            waited = "" if isinstance(failure, PlayerLeftError) else f" within {seconds:g} s"
            raise type(failure)(f"player {self.seating.label}: {failure}{waited}") from failure
        self.name = f"{self._place.name}:{self._place.version}".strip(":")
        self.description = f"{self._place.name} {self._place.version}".strip()

    def choose(self, view: Any) -> Choice:
        """Wait for the orders of all clients at once, until the deadline."""
        return self._game.choose(self._place, view)

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send the turn's results to all clients, on behalf of the first player that hears of them."""
        self._game.show(view)

    def ended(self, outcome: Outcome | None, void_reason: str) -> None:
        """Send how the game ended."""
        self._game.finish(outcome)

    def close(self, *, at_once: bool = False) -> Cost:
        """Send the game's clients off; the first player that is closed sends all of them."""
        if _GAMES.get(self.seating.game_id) is self._game:
            del _GAMES[self.seating.game_id]
            self._game.close(0.0 if at_once else self.seating.setup.exit_seconds)
        label = self.seating.label
        self.warnings += [f"player {label}: {warning}" for warning in self._place.warnings.lines()]
        self.disorder = self._place.disorder
        return Cost()


class DaideProtocol(DialInProtocol):
    """DAIDE, as control files name it: `protocol = "daide"`, and the table [daide]."""

    def player_settings(self) -> "type[BaseModel]":
        """Return the settings of a player."""
        from referees.diplomacy.daide_server.schema import DaidePlayerTable

        return DaidePlayerTable

    def listener_settings(self) -> "type[BaseModel]":
        """Return the settings of the table [daide]."""
        from referees.diplomacy.daide_server.schema import DaideTable

        return DaideTable

    @contextmanager
    def listen(
        self,
        settings: Mapping[str, Any],
        players: Mapping[str, PlayerSetup],
        games: Mapping[str, Referee[Any, Any]],
        announcer: Announcer,
    ) -> Iterator[Mapping[str, Any]]:
        """Open the listener for the block and say where.

        Raises InvalidListenerError, and InvalidPlayerParametersError for games that are not played over
        DAIDE, or on several maps.
        """
        address = DaideAddress.read(settings["address"])
        clients = {DaideParameters.read(setup.parameters).client_of(name) for name, setup in players.items()}
        if not address.is_local:
            announcer.warn(
                f"daide.address: {address} is open to other machines; DAIDE has neither passwords nor "
                "encryption, so everybody who reaches it can play"
            )
        listener = DaideListener(
            (address.host, address.port), _vocabulary(games), frozenset(clients), announcer.note
        )
        with ExitStack() as stack:
            try:
                stack.enter_context(listener)
            except OSError as error:
                raise InvalidListenerError(
                    "address", f"{error.filename or address}: cannot listen there ({error.strerror})"
                ) from error
            announcer.say(f"DAIDE clients dial in at {DaideAddress(*listener.address)}")
            yield {"listener": listener.games}

    def player(self, seating: Seating) -> DaidePlayer:
        """The player of a seat. Raises InvalidPlayerParametersError."""
        return DaidePlayer(seating)


def _vocabulary(games: Mapping[str, Referee[Any, Any]]) -> Vocabulary:
    """The tokens of the one map that all games are played on. Raises InvalidPlayerParametersError."""
    vocabularies = set()
    for player, rules in games.items():
        try:
            dialogue = rules.dialogue(PROTOCOL)
        except InvalidMapError as error:
            raise InvalidPlayerParametersError(f"player {player}: {error}") from None
        if not isinstance(dialogue, DaideDialogue):
            raise InvalidPlayerParametersError(f"player {player}: {rules.name!r} is not played over DAIDE")
        vocabularies.add(dialogue.words)
    if len(vocabularies) != 1:
        raise InvalidPlayerParametersError("DAIDE clients of one competition play on one map")
    return vocabularies.pop()
