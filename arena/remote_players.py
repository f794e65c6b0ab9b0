"""Gives a competition's remote players somewhere to dial in."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from arena.control.remote_table import token_digest
from arena.control.settings import Control
from arena.jobs import PlayerSetup
from arena.lobby.addresses import InvalidAddress
from arena.lobby.background import BackgroundLobby
from arena.lobby.refusals import NotAuthenticated, NotPermitted
from arena.lobby.streams import Note
from arena.lobby.tokens import digest, same

REMOTE: Final = "grpc"
# Set for competitions that a service runs, whose players dial in to the service.
LOBBY_VARIABLE: Final = "ARENA_LOBBY"


class NamedPlayers:
    """Lets in the players of one competition, each with its token if the control file knows one."""

    def __init__(self, digests: Mapping[str, bytes | None]) -> None:
        self._digests = digests

    def admit(self, player: str, token: str) -> None:
        """Do nothing for a player that is expected. Raises NotAuthenticated and NotPermitted."""
        wanted = self._digests.get(player, b"")
        if wanted is None:
            return
        if not token:
            raise NotAuthenticated("no token: send metadata 'authorization: Bearer TOKEN'")
        if not same(wanted, digest(token)):
            # Strangers are not told which names there are.
            raise NotPermitted(f"no player {player!r} with this token plays here")


@contextmanager
def remote_players(control: Control, tell: Callable[[str], None], note: Note) -> Iterator[Control]:
    """Open a lobby for the block, if a player of the competition dials in, and say where.

    `note` hears, in another thread, who comes and goes. Yields the control file with the players that
    know the lobby. Raises InvalidAddress and MissingToken.
    """
    digests = {
        name: token_digest(name, player.parameters)
        for name, player in control.players.items()
        if player.protocol == REMOTE
    }
    lobby = os.environ.get(LOBBY_VARIABLE)
    if not digests:
        yield control
    elif lobby is not None:
        yield _seated(control, lobby, digests)
    else:
        endpoint = control.remote
        if None in digests.values() and not endpoint.is_local:
            open_names = ", ".join(name for name, wanted in digests.items() if wanted is None)
            raise InvalidAddress(
                f"remote.address: {endpoint.address} is open to other machines, so each remote player needs "
                f"token_env or token_file; without are: {open_names}"
            )
        with BackgroundLobby(endpoint, NamedPlayers(digests), note) as opened:
            tell(f"remote players dial in at {opened.open.address}")
            yield _seated(control, str(opened.open.games), digests)


def _seated(control: Control, lobby: str, digests: Mapping[str, bytes | None]) -> Control:
    players: dict[str, PlayerSetup] = dict(control.players)
    for name, wanted in digests.items():
        parameters = {"lobby": lobby}
        if wanted is not None:
            parameters["token_digest"] = wanted.hex()
        if "reconnect_seconds" in players[name].parameters:
            parameters["reconnect_seconds"] = players[name].parameters["reconnect_seconds"]
        players[name] = replace(players[name], parameters=parameters)
    return replace(control, players=players)
