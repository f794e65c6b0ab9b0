"""The protocols by which players are reached: the arena's own, and those that other packages add.

A package adds a protocol with an entry point in the group `arena.protocols` that names a subclass of
`DialInProtocol`; the entry point's name is the protocol's name in control files.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from arena.jobs import PlayerSetup
from arena.players.gtp import GtpPlayer
from arena.players.lines import LinesPlayer
from arena.players.player import InvalidPlayerParametersError, Player, Seating
from arena.players.policy import PolicyPlayer
from arena.players.python_callable import PythonPlayer
from referees.api import Referee
from referees.installed import list_entry_points

if TYPE_CHECKING:
    from pydantic import BaseModel

ENTRY_POINT_GROUP: Final = "arena.protocols"


def _remote_player(seating: Seating) -> Player:
    # What it loads takes a process longer than the rules of most games, and few games have such a player.
    from arena.players.remote import RemotePlayer

    return RemotePlayer(seating)


PROTOCOLS: Final[dict[str, Callable[[Seating], Player]]] = {
    "gtp": GtpPlayer,
    "lines": LinesPlayer,
    "python": PythonPlayer,
    "policy": PolicyPlayer,
    "grpc": _remote_player,
}


class InvalidListenerError(ValueError):
    """Settings of a listener that exclude each other, or an address that cannot be listened on."""

    def __init__(self, setting: str, why: str) -> None:
        super().__init__(f"{setting}: {why}")


@dataclass(frozen=True)
class Announcer:
    """Where a listener says what happens.

    `say` takes a line for the terminal or the log, `warn` a line for standard error. `note` writes an event
    with its values to the log; a listener may call it in any thread.
    """

    say: Callable[[str], None]
    warn: Callable[[str], None]
    note: Callable[..., object]


class DialInProtocol(ABC):
    """A protocol whose players dial in at a listener that is open while the competition runs.

    Settings are models of pydantic, as in `arena.control.player_tables`, which their modules load only where
    a control file is read.
    """

    @abstractmethod
    def player_settings(self) -> "type[BaseModel]":
        """Return the model of a table [players.NAME].

        It is a subclass of `arena.control.player_tables.PlayerTable`.

        What a `PlayerSetup` has no field for becomes the setup's parameters.
        """

    @abstractmethod
    def listener_settings(self) -> "type[BaseModel]":
        """Return the model of the listener's table, which has the protocol's name: [PROTOCOL]."""

    @abstractmethod
    def listen(
        self,
        settings: Mapping[str, Any],
        players: Mapping[str, PlayerSetup],
        games: Mapping[str, Referee[Any, Any]],
        announcer: Announcer,
    ) -> AbstractContextManager[Mapping[str, Any]]:
        """Open the listener for a block, which gets the parameters that all players have besides their own.

        Args:
            settings: The listener's, by name.
            players: The players of this protocol, by name.
            games: The rules of all games that these players play, by the player's name and the game.
            announcer: Where the listener says what happens.

        Raises:
            InvalidListenerError: Nothing can listen there.
            InvalidPlayerParametersError: A player's game is not played over this protocol.
        """

    @abstractmethod
    def player(self, seating: Seating) -> Player:
        """The player of a seat, not yet started. Raises InvalidPlayerParametersError."""


@cache
def dial_in_protocol(name: str) -> DialInProtocol:
    """Return the protocol that a package adds under this name. Raises InvalidPlayerParametersError."""
    for point in list_entry_points(ENTRY_POINT_GROUP).select(name=name):
        protocol: DialInProtocol = point.load()()
        return protocol
    known = sorted([*PROTOCOLS, *added_protocols()])
    raise InvalidPlayerParametersError(f"protocol {name!r} is not one of {', '.join(known)}")


@cache
def added_protocols() -> tuple[str, ...]:
    """Return the names of the protocols that packages add."""
    return tuple(sorted(point.name for point in list_entry_points(ENTRY_POINT_GROUP)))


def player_for(seating: Seating) -> Player:
    """Make the player of a seat, not yet started. Raises InvalidPlayerParametersError."""
    name = seating.setup.protocol
    return PROTOCOLS[name](seating) if name in PROTOCOLS else dial_in_protocol(name).player(seating)
