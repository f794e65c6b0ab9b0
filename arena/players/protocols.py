"""The protocols by which players are reached: the arena's own, and those that other packages add.

A package adds a protocol with an entry point in the group `arena.protocols` that names a subclass of
`DialInProtocol`; the entry point's name is the protocol's name in control files.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, Final, NamedTuple

from arena.jobs import PlayerSetup
from arena.players.gtp import GtpPlayer
from arena.players.lines import LinesPlayer
from arena.players.player import InvalidPlayerParametersError, Player, Seating
from arena.players.policy import PolicyPlayer
from arena.players.python_callable import PythonPlayer
from arena.players.remote import RemotePlayer
from referees.api import Referee

ENTRY_POINT_GROUP: Final = "arena.protocols"
PROTOCOLS: Final[dict[str, Callable[[Seating], Player]]] = {
    "gtp": GtpPlayer,
    "lines": LinesPlayer,
    "python": PythonPlayer,
    "policy": PolicyPlayer,
    "grpc": RemotePlayer,
}


class Setting(NamedTuple):
    """A setting of a control file: `read` checks a value and makes it ours, or raises ValueError."""

    default: Any
    read: Callable[[object], Any]


class InvalidListenerError(ValueError):
    """Settings of a listener that exclude each other, or an address that cannot be listened on."""

    def __init__(self, setting: str, why: str) -> None:
        super().__init__(f"{setting}: {why}")
        self.setting = setting
        self.why = why


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

    `player_settings` are those of a table [players.NAME] besides `start_seconds`, `move_seconds` and
    `exit_seconds`, and become the setup's parameters; `listener_settings` are those of the table that has
    the protocol's name.
    """

    player_settings: ClassVar[Mapping[str, Setting]]
    listener_settings: ClassVar[Mapping[str, Setting]]

    @abstractmethod
    def read_move_seconds(self, value: object) -> float:
        """How long a move may take, as a control file gives it. Raises ValueError."""

    @abstractmethod
    def check_listener(self, settings: Mapping[str, Any]) -> None:
        """Do nothing for settings that go together. Raises InvalidListenerError."""

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
def dial_in_protocol(name: str) -> DialInProtocol | None:
    """The protocol that a package adds under this name, or None."""
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        protocol: DialInProtocol = point.load()()
        return protocol
    return None


@cache
def added_protocols() -> tuple[str, ...]:
    """The names of the protocols that packages add."""
    return tuple(sorted(point.name for point in entry_points(group=ENTRY_POINT_GROUP)))


def player_for(seating: Seating) -> Player:
    """The player of a seat, not yet started. Raises InvalidPlayerParametersError."""
    name = seating.setup.protocol
    if name in PROTOCOLS:
        return PROTOCOLS[name](seating)
    if (added := dial_in_protocol(name)) is None:
        known = sorted([*PROTOCOLS, *added_protocols()])
        raise InvalidPlayerParametersError(f"protocol {name!r} is none of {', '.join(known)}")
    return added.player(seating)
