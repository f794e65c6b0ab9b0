"""The listener of a competition: where DAIDE clients dial in, and from where games fetch them.

One thread, which waits for no client in particular. A client says who it is, agrees on the map, and waits
until a game wants it; then the listener passes its connection to the process that plays the game, over a
Unix socket that keeps messages whole, and forgets it.
"""

import json
import secrets
import selectors
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from referees.diplomacy.daide import grammar
from referees.diplomacy.daide.answers import answer
from referees.diplomacy.daide.frames import (
    ErrorCode,
    Frame,
    FrameType,
    message_frame,
    representation_frame,
)
from referees.diplomacy.daide.messages import DaideVariant, command, map_message
from referees.diplomacy.daide.orders import Tree, tree_of
from referees.diplomacy.daide.table import DaideTable
from referees.diplomacy.daide.tokens import FIXED, MOST_NUMBER, Tokens, Vocabulary, number_of, read_text
from referees.diplomacy.daide_server.connection import ClientConnection, ConnectionHungError, DaideLimits

MAX_BYTES: Final = 64 * 1024


class BrokenLinkError(ConnectionError):
    """The other side has gone."""


@dataclass(frozen=True)
class Seek:
    """A game wants clients: for each seat the name of its client, `*` for any that nobody else wants."""

    game_id: str
    seats: dict[int, str]


class Part(StrEnum):
    """What a client that is passed comes for."""

    PLAY = "play"
    RETURN = "return"
    OBSERVE = "observe"


@dataclass(frozen=True)
class Passed:
    """A client whose connection comes with this. `rest` is the beginning of a message, as hexadecimals."""

    part: Part
    seat: int = 0
    passcode: int = 0
    name: str = ""
    version: str = ""
    rest: str = ""


def send(link: socket.socket, content: Seek | Passed, *connections: socket.socket) -> None:
    """Say whom a game wants, or pass a connection, which the caller closes. Raises BrokenLinkError."""
    try:
        socket.send_fds(
            link, [json.dumps(asdict(content)).encode()], [connection.fileno() for connection in connections]
        )
    except OSError as error:
        raise BrokenLinkError(f"the other side has gone: {error}") from error


def receive_seek(link: socket.socket) -> Seek:
    """Whom a game wants. Raises BrokenLinkError when it has gone, and BlockingIOError."""
    content, _ = _receive(link, 0)
    return Seek(content["game_id"], {int(seat): client for seat, client in content["seats"].items()})


def receive_passed(link: socket.socket) -> tuple[Passed, socket.socket]:
    """A client and its connection. Raises BrokenLinkError when the listener has gone, and BlockingIOError."""
    content, descriptors = _receive(link, 1)
    if not descriptors:
        raise BrokenLinkError("a client came without its connection")
    return Passed(**{**content, "part": Part(content["part"])}), socket.socket(fileno=descriptors[0])


def _receive(link: socket.socket, connections: int) -> tuple[dict[str, Any], list[int]]:
    """A message, with at most that number of connections."""
    try:
        # Programs that are started later must not hold connections open.
        data, descriptors, _, _ = socket.recv_fds(link, MAX_BYTES, connections, socket.MSG_CMSG_CLOEXEC)
    except BlockingIOError:
        raise
    except OSError as error:
        raise BrokenLinkError(f"the other side has gone: {error}") from error
    if not data:
        raise BrokenLinkError("the other side has gone")
    return json.loads(data), descriptors


ANY_CLIENT: Final = "*"
_TICK_SECONDS: Final = 0.5

Note = Callable[..., object]


class _Client:
    """A client at the listener. `part` is what it comes for, None before its first message."""

    power: int | None = None

    def __init__(self, connection: ClientConnection, address: str) -> None:
        self.connection = connection
        self.address = address
        self.came = time.monotonic()
        self.greeted = False
        self.part: Part | None = None
        self.name = ""
        self.version = ""
        self.returns_to: tuple[_Game, int] | None = None
        self.claim: Tokens = ()
        self.backlog = b""

    def say(self, tokens: Tokens) -> None:
        self.connection.say(tokens)

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}".strip() or self.address


class _Game:
    """A game that wants clients: the seats that are still to be filled, and the passcodes of the others."""

    def __init__(self, link: socket.socket, seek: Seek) -> None:
        self.link = link
        self.game_id = seek.game_id
        self.wanted = dict(seek.seats)
        self.passcodes: dict[int, int] = {}
        self.wrong_passcodes: Counter[int] = Counter()


class DaideListener:
    """A listener that is open while its `with` block lasts. Entering raises OSError.

    `clients` are the names that clients may have, `*` among them lets all others in too. `note` is called
    in the listener's thread when clients come and go.
    """

    def __init__(
        self,
        address: tuple[str, int],
        words: Vocabulary,
        clients: frozenset[str],
        note: Note,
        limits: DaideLimits | None = None,
    ) -> None:
        self._address = address
        self._words = words
        self._names = clients
        self._note = note
        self._limits = limits or DaideLimits()
        self._waiting_room = DaideTable(words, DaideVariant(), (), {})
        self._clients: list[_Client] = []
        self._games: list[_Game] = []
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._run, name="daide listener", daemon=True)

    def __enter__(self) -> Self:
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        with ExitStack() as stack:
            self._folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-"))
            self._server = stack.enter_context(
                socket.create_server(self._address, family=family, backlog=128)
            )
            self._links = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            try:
                self._links.bind(self.games)
            except OSError as error:
                why = f"{error}; name another folder by the variable TMPDIR"
                raise OSError(error.errno, why, self.games) from None
            self._links.listen(128)
            self._bell, self._bell_rope = map(stack.enter_context, socket.socketpair())
            for opened in (self._server, self._links, self._bell):
                opened.setblocking(False)
                self._selector.register(opened, selectors.EVENT_READ, opened)
            self._thread.start()
            self._opened = stack.pop_all()
        return self

    @property
    def address(self) -> tuple[str, int]:
        """The host and port where clients dial in."""
        host, port = self._server.getsockname()[:2]
        return host, port

    @property
    def games(self) -> str:
        """The path of the socket where games ask for clients."""
        return str(Path(self._folder) / "listener")

    def __exit__(self, *error: object) -> None:
        self._bell_rope.close()
        self._thread.join()
        for client in self._clients:
            client.say((FIXED["OFF"],))
            client.connection.close()
        for game in self._games:
            game.link.close()
        self._selector.close()
        self._opened.close()

    # The thread

    def _run(self) -> None:
        while True:
            for key, mask in self._selector.select(_TICK_SECONDS):
                if key.data is self._bell:
                    return
                if key.data is self._server:
                    self._admit()
                elif key.data is self._links:
                    self._take_link()
                elif isinstance(key.data, _Client):
                    if mask & selectors.EVENT_WRITE:
                        key.data.connection.flush()
                    if mask & selectors.EVENT_READ:
                        self._hear(key.data)
                else:
                    self._hear_game(key.fileobj)  # type: ignore[arg-type]
            self._send_away()
            self._fill_seats()

    def _admit(self) -> None:
        try:
            client_socket, address = self._server.accept()
        except OSError:
            # No descriptors are left; there will be some again.
            time.sleep(_TICK_SECONDS)
            return
        if len(self._clients) >= self._limits.clients and not self._make_room():
            self._note("client refused", peer=f"{address[0]}:{address[1]}", why="too many clients")
            ClientConnection(client_socket, self._words, self._limits).close()
            return
        client = _Client(
            ClientConnection(client_socket, self._words, self._limits), f"{address[0]}:{address[1]}"
        )
        self._clients.append(client)
        self._selector.register(client_socket, selectors.EVENT_READ, client)

    def _make_room(self) -> bool:
        """Send away the unnamed client that came first. Returns whether there was one."""
        for client in self._clients:
            if client.part is None:
                self._forget(client)
                client.connection.close()
                return True
        return False

    def _send_away(self) -> None:
        now = time.monotonic()
        for client in list(self._clients):
            agreed = client.part is not None and (
                client.part is Part.OBSERVE or client in self._waiting_room.agreed
            )
            try:
                slow = not agreed and now - client.came > self._limits.greeting_seconds
                if slow and not client.greeted:
                    client.connection.complain(ErrorCode.INITIAL_TIMER)
                client.connection.check()
                if slow:
                    raise ConnectionHungError(
                        f"it did not say who it is within {self._limits.greeting_seconds:g} s"
                    )
                if self._waiting_room.agreed.get(client) is False:
                    raise ConnectionHungError("it cannot play the map")
            except ConnectionHungError as why:
                self._forget(client)
                client.connection.close()
                self._note("client went", client=client.label, peer=client.address, why=str(why))
            else:
                client.connection.wait_in(self._selector, client)

    def _forget(self, client: _Client) -> None:
        self._selector.unregister(client.connection.socket)
        self._clients.remove(client)
        self._waiting_room.leave(client)

    # What clients say

    def _hear(self, client: _Client) -> None:
        for frame in client.connection.receive():
            if client.returns_to is None:
                self._hear_frame(client, frame)
            else:
                # For its game to answer.
                client.backlog += message_frame(frame.tokens)

    def _hear_frame(self, client: _Client, frame: Frame) -> None:
        if frame.type is FrameType.INITIAL:
            client.greeted = True
            client.connection.send(representation_frame(self._words))
            return
        tokens = frame.tokens
        if client.part is None and tokens[0] in (FIXED["NME"], FIXED["OBS"], FIXED["IAM"]):
            try:
                grammar.check_message(self._words, tokens, 0)
            except (grammar.DaideSyntaxError, grammar.UnbalancedParenthesesError):
                # Its answer is the same as that to any other wrong message.
                pass
            else:
                self._introduce(client, tokens, tree_of(tokens))
                return
        answer(self._waiting_room, client, tokens, time.monotonic())

    def _introduce(self, client: _Client, tokens: Tokens, tree: tuple[Tree, ...]) -> None:
        if tokens[0] == FIXED["IAM"]:
            self._return(client, tokens, tree)
        elif tokens[0] == FIXED["OBS"]:
            observers = sum(other.part is Part.OBSERVE for other in self._clients)
            if observers >= self._limits.observers:
                client.say(command("REJ", tokens))
                return
            client.part = Part.OBSERVE
            client.say(command("YES", tokens))
            client.say(map_message(self._words))
        else:
            name, version = (read_text(part) for part in tree[1:])
            why = self._why_not(name, version)
            if why:
                client.say(command("REJ", tokens))
                self._note("client refused", client=name[:64], peer=client.address, why=why)
                return
            client.name, client.version, client.part = name, version, Part.PLAY
            client.say(command("YES", tokens))
            client.say(map_message(self._words))
            self._note("client came", client=client.label, peer=client.address)

    def _why_not(self, name: str, version: str) -> str:
        """Why a client of this name cannot play; nothing if it can."""
        limits = self._limits
        if max(len(name), len(version)) > limits.name_characters:
            return f"a name of more than {limits.name_characters} characters"
        if not (name + version).isprintable():
            return "a name with characters that cannot be printed"
        if name not in self._names and ANY_CLIENT not in self._names:
            return "unknown name"
        if sum(other.name == name for other in self._clients) >= limits.clients_of_name:
            return f"{limits.clients_of_name} of this name wait already"
        return ""

    def _return(self, client: _Client, tokens: Tokens, tree: tuple[Tree, ...]) -> None:
        power, passcode = (part[0] for part in tree[1:])
        seat = self._words.power_of[power] + 1
        games = [game for game in self._games if seat in game.passcodes]
        for game in games:
            trusted = game.wrong_passcodes[seat] < self._limits.wrong_passcodes
            if trusted and game.passcodes[seat] == number_of(passcode):
                client.part, client.claim = Part.RETURN, tokens
                client.returns_to = game, seat
                return
        for game in games:
            game.wrong_passcodes[seat] += 1
            if game.wrong_passcodes[seat] == self._limits.wrong_passcodes:
                self._note(
                    "passcodes were guessed",
                    game=game.game_id,
                    power=self._words.names[power],
                    peer=client.address,
                    why="nobody comes back to this power any more",
                )
        client.say(command("REJ", tokens))

    # What games want

    def _take_link(self) -> None:
        with suppress(OSError):
            link, _ = self._links.accept()
            link.setblocking(False)
            self._selector.register(link, selectors.EVENT_READ, None)

    def _hear_game(self, link: socket.socket) -> None:
        try:
            seek = receive_seek(link)
        except BlockingIOError:
            return
        except BrokenLinkError:
            self._selector.unregister(link)
            self._games = [game for game in self._games if game.link is not link]
            link.close()
        else:
            self._games.append(_Game(link, seek))

    def _fill_seats(self) -> None:
        for client in [client for client in self._clients if client.returns_to is not None]:
            assert client.returns_to is not None
            if not self._pass(*client.returns_to, client):
                client.part = client.returns_to = None
                client.say(command("REJ", client.claim))
        for game in list(self._games):
            for seat, name in list(game.wanted.items()):
                free = self._free(name)
                if free is not None:
                    game.passcodes[seat] = self._new_passcode()
                    if self._pass(game, seat, free):
                        del game.wanted[seat]
            if not game.wanted:
                for client in [client for client in self._clients if client.part is Part.OBSERVE]:
                    if not client.connection.unsent:
                        self._pass(game, 0, client)

    def _free(self, name: str) -> _Client | None:
        """The client that has waited longest among those that fit."""
        for client in self._clients:
            fits = client.name == name or (name == ANY_CLIENT and client.name not in self._names)
            ready = self._waiting_room.agreed.get(client) and not client.connection.unsent
            if client.part is Part.PLAY and fits and ready:
                return client
        return None

    def _new_passcode(self) -> int:
        taken = {code for game in self._games for code in game.passcodes.values()}
        while True:
            code = 1 + secrets.randbelow(MOST_NUMBER)
            if code not in taken:
                return code

    def _pass(self, game: _Game, seat: int, client: _Client) -> bool:
        """Pass a client's connection to a game. Returns whether the game still goes on."""
        assert client.part is not None
        passed = Passed(
            client.part,
            seat,
            game.passcodes.get(seat, 0),
            client.name,
            client.version,
            (client.backlog + client.connection.rest).hex(),
        )
        try:
            send(game.link, passed, client.connection.socket)
        except BrokenLinkError:
            # It has ended; its link will say so.
            return False
        self._forget(client)
        client.connection.pass_on()
        return True
