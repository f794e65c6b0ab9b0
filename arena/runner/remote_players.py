"""Gives a competition's remote players somewhere to dial in, and the tokens by which they are known there."""

import math
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Final

from academy.wire.addresses import InvalidAddressError
from academy.wire.tokens import digest_of, read_token_file
from arena.control.settings import Control
from arena.control.tokens import MissingTokenError, token_digest
from arena.jobs import REMOTE, PlayerSetup
from arena.output import complain

if TYPE_CHECKING:
    from arena.lobby.server import Note

# Set for competitions that a service runs, whose players dial in to the service.
LOBBY_VARIABLE: Final = "ARENA_LOBBY"
_TOKEN_BYTES: Final = 32


class NamedPlayers:
    """Lets in the players of one competition, each with its token if the control file knows one."""

    def __init__(self, digests: Mapping[str, bytes | None]) -> None:
        self._digests = digests

    def admit(self, player: str, token: str) -> int:
        """Let a player in that is expected, to any number of games at once.

        Raises NotAuthenticatedError and NotPermittedError.
        """
        from academy.wire.errors import NotAuthenticatedError, NotPermittedError

        wanted = self._digests.get(player, b"")
        if wanted is None:
            return 0
        if not token:
            raise NotAuthenticatedError("no token: send metadata 'authorization: Bearer TOKEN'")
        if not compare_digest(wanted, digest_of(token)):
            # Strangers do not learn which names there are.
            raise NotPermittedError(f"no player {player!r} with this token plays here")
        return 0

    def games_left(self, player: str) -> float:
        """Nobody bounds how many games are played here."""
        return math.inf

    def note_game(self, player: str) -> None:
        """Nothing is counted."""


@contextmanager
def remote_players(
    control: Control,
    tell: Callable[[str], None],
    note: "Note",
    tokens: Path,
    *,
    without_tokens: bool = False,
) -> Iterator[Control]:
    """Open a lobby for the block, if a player of the competition dials in, and say where.

    A player for which the control file names no token has one in a file of its name in the folder `tokens`,
    made here the first time; with `without_tokens` it needs none. `note` hears, in another thread, who comes
    and goes. Yields the control file with the players that know the lobby. Raises InvalidAddressError and
    MissingTokenError.
    """
    players = {name: setup for name, setup in control.players.items() if setup.protocol == REMOTE}
    digests = {name: token_digest(name, player.parameters) for name, player in players.items()}
    nameless = [name for name, wanted in digests.items() if wanted is None]
    lobby = os.environ.get(LOBBY_VARIABLE)
    if not digests:
        yield control
        return
    if lobby is not None:
        yield _point_to_lobby(control, lobby, digests)
        return
    # Few competitions have a player that dials in, and what these load takes long.
    from arena.lobby.server import background_lobby

    endpoint = control.remote
    if nameless and without_tokens:
        if not endpoint.address.is_local:
            raise InvalidAddressError(
                f"remote.address: {endpoint.address} is open to other machines, so each remote player "
                f"needs a token, also with --no-player-tokens; without are: {', '.join(nameless)}"
            )
        complain(
            "arena: --no-player-tokens: any program on this machine can take over the games and the "
            f"ACADEMY tickets of {', '.join(nameless)}"
        )
    elif nameless:
        digests |= {name: digest_of(_keep_token(tokens, name)) for name in nameless}
    made = nameless and not without_tokens
    where = f", with the tokens in {tokens}: {', '.join(nameless)}" if made else ""
    with background_lobby(endpoint, NamedPlayers(digests), note) as opened:
        tell(f"remote players dial in at {opened.address}{where}")
        yield _point_to_lobby(control, str(opened.games), digests)


def at_service(control: Control) -> Control:
    """The control file with players that know the lobby of their service. Raises MissingTokenError."""
    players = {name: setup for name, setup in control.players.items() if setup.protocol == REMOTE}
    fresh = {name: setup for name, setup in players.items() if "lobby" not in setup.parameters}
    digests = {name: token_digest(name, setup.parameters) for name, setup in fresh.items()}
    return _point_to_lobby(control, os.environ[LOBBY_VARIABLE], digests)


def free_competitors(control: Control, names: Sequence[str], *, hold: bool = False) -> set[str]:
    """Those players that can begin a game: who need not dial in over gRPC, and who has and is not busy.

    They are held for a game that is about to begin, if it says so and all of them can. `control` knows the
    lobby.
    """
    from arena.lobby.game_socket import free_players
    from arena.lobby.v1 import lobby_pb2

    lobbies = {
        name: str(control.players[name].parameters["lobby"])
        for name in names
        if control.players[name].protocol == REMOTE
    }
    free = set(names) - lobbies.keys()
    question = lobby_pb2.ListFree(
        competition=str(control.path),
        players=lobbies,
        hold=hold,
        others=len(free),
        seats=control.game.rules().seats,
    )
    for lobby in set(lobbies.values()):
        free.update(free_players(lobby, question))
    return free


def _keep_token(folder: Path, player: str) -> str:
    """The token in a player's file, which is made if it is missing. Raises MissingTokenError."""
    file = folder / player
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _check_private(folder, stat.S_ISDIR, "folder", 0o700)
        if not os.path.lexists(file):
            _make_token(file)
        _check_private(file, stat.S_ISREG, "file", 0o600)
        return read_token_file(file)
    except OSError as error:
        raise MissingTokenError(f"players.{player}: {error.filename}: {error.strerror}") from error
    except ValueError as error:
        raise MissingTokenError(f"players.{player}: {error}; remove it, and a new one is made") from error


def _check_private(path: Path, kind: Callable[[int], bool], noun: str, mode: int) -> None:
    """Raises MissingTokenError where another user put it there, or can read or change it, and OSError."""
    status = path.lstat()
    if not kind(status.st_mode) or status.st_uid != os.geteuid():
        raise MissingTokenError(f"{path}: is not a {noun} of this user; remove it, and a new one is made")
    if status.st_mode & 0o077:
        others = stat.S_IMODE(status.st_mode)
        raise MissingTokenError(
            f"{path}: others may read or change it (mode {others:o}); chmod {mode:o} it, or remove it "
            "and a new one is made"
        )


def _make_token(file: Path) -> None:
    """Make a file with a new token, whole or not at all; one that another process made first stays."""
    # Made with mode 600.
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=".") as draft:
        draft.write(secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
        draft.flush()
        try:
            os.link(draft.name, file)
        except FileExistsError:
            return


def _point_to_lobby(control: Control, lobby: str, digests: Mapping[str, bytes | None]) -> Control:
    players: dict[str, PlayerSetup] = dict(control.players)
    for name, wanted in digests.items():
        parameters = {"lobby": lobby, "competition": str(control.path)}
        if wanted is not None:
            parameters["token_digest"] = wanted.hex()
        if "reconnect_seconds" in players[name].parameters:
            parameters["reconnect_seconds"] = players[name].parameters["reconnect_seconds"]
        players[name] = replace(players[name], parameters=parameters)
    return replace(control, players=players)
