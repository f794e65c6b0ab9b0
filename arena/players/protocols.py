"""Which protocols players are reached by."""

from collections.abc import Callable
from typing import Final

from arena.players.daide.parameters import PROTOCOL as DAIDE
from arena.players.daide.player import DaidePlayer
from arena.players.gtp import GtpPlayer
from arena.players.lines import LinesPlayer
from arena.players.player import InvalidPlayerParametersError, Player, Seating
from arena.players.policy import PolicyPlayer
from arena.players.python_callable import PythonPlayer
from arena.players.remote import RemotePlayer

PROTOCOLS: Final[dict[str, Callable[[Seating], Player]]] = {
    "gtp": GtpPlayer,
    "lines": LinesPlayer,
    "python": PythonPlayer,
    "policy": PolicyPlayer,
    "grpc": RemotePlayer,
    DAIDE: DaidePlayer,
}


def player_for(seating: Seating) -> Player:
    """The player of a seat, not yet started. Raises InvalidPlayerParametersError."""
    protocol = seating.setup.protocol
    if protocol not in PROTOCOLS:
        raise InvalidPlayerParametersError(f"protocol {protocol!r} is none of {', '.join(sorted(PROTOCOLS))}")
    return PROTOCOLS[protocol](seating)
