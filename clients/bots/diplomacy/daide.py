"""A bot that plays Diplomacy over DAIDE, and the connection to a DAIDE server that it uses.

    academy-daide-bot --bot tactical --host 127.0.0.1 --port 16713 --name Albert --games 0

It plays no press. When its connection breaks in a game, it comes back with its passcode.
"""

import argparse
import math
import random
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Self

from academy.wire.addresses import LARGEST_PORT
from academy.wire.standard_streams import open_closed
from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import BOTS, bot
from clients.command_line import ending_with_its_output, program_parser
from referees.diplomacy import InvalidMapError, InvalidPositionError, Phase, shipped_map, shipped_maps
from referees.diplomacy.daide.frames import (
    DaideProtocolError,
    FrameReader,
    FrameType,
    error_frame,
    final_frame,
    initial_frame,
    message_frame,
    read_representation,
)
from referees.diplomacy.daide.grammar import (
    DaideSyntaxError,
    UnbalancedParenthesesError,
    check_parentheses,
)
from referees.diplomacy.daide.messages import command
from referees.diplomacy.daide.orders import (
    Tree,
    UnreadableMessageError,
    flat,
    order_tokens,
    read_owners,
    read_position,
    tree_of,
)
from referees.diplomacy.daide.tokens import (
    FIXED,
    Tokens,
    Vocabulary,
    bracketed,
    read_text,
    text_tokens,
    vocabulary,
)
from referees.legible_text import legible

DEFAULT_PORT: Final = 16713
_CHUNK: Final = 1 << 15


class ServerDisconnectedError(ConnectionError):
    """The server has closed the connection, or broke the protocol."""


class UnknownMapError(ValueError):
    """A map that this client has no file of, or whose tokens the server numbers otherwise."""


class DaideClient:
    """One connection to a DAIDE server, which waits in all it does; use it in a `with` block.

    `connect_seconds` is how long connecting, and each sending, may take. Raises OSError where there is no
    server.
    """

    def __init__(self, host: str, port: int, connect_seconds: float = 10.0) -> None:
        self._socket = socket.create_connection((host, port), timeout=connect_seconds)
        self._connect_seconds = connect_seconds
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._reader = FrameReader(at_server=False)
        self._messages: list[Tokens] = []
        self._represented: dict[str, int] = {}
        # After a final or an error message of either side, nothing more is sent.
        self._over = False
        self._send(initial_frame())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def send(self, tokens: Sequence[int]) -> None:
        """Send a message. Raises ServerDisconnectedError."""
        self._send(message_frame(tokens))

    def receive(self, seconds: float | None = None) -> Tokens:
        """The next message, within `seconds` seconds (None: without limit).

        Raises TimeoutError and ServerDisconnectedError.
        """
        self._socket.settimeout(seconds)
        while not self._messages:
            try:
                data = self._socket.recv(_CHUNK)
            except TimeoutError:
                raise
            except OSError as error:
                raise ServerDisconnectedError(f"the connection broke: {error}") from error
            if not data:
                raise ServerDisconnectedError("the server closed the connection")
            self._read(data)
        return self._messages.pop(0)

    def _read(self, data: bytes) -> None:
        try:
            for frame in self._reader.feed(data):
                if frame.type is FrameType.REPRESENTATION:
                    self._represented = read_representation(frame)
                elif frame.type is FrameType.DIPLOMACY:
                    self._messages.append(frame.tokens)
                elif frame.type is FrameType.ERROR:
                    self._over = True
                    code = int.from_bytes(frame.content[:2])
                    raise ServerDisconnectedError(
                        f"the server says that this client broke the protocol: error {code}"
                    )
                else:
                    self._over = True
                    if not self._messages:
                        raise ServerDisconnectedError("the server announced its end")
        except DaideProtocolError as error:
            if error.code is not None:
                self._send(error_frame(error.code))
                self._over = True
            raise ServerDisconnectedError(f"the server broke the protocol: {error}") from error

    def words(self, map_name: str) -> Vocabulary:
        """The tokens of the map that the server named. Raises UnknownMapError."""
        name = map_name.lower()
        if name not in shipped_maps():
            raise UnknownMapError(f"no map {map_name!r}; there are {', '.join(shipped_maps())}")
        try:
            words = vocabulary(shipped_map(name))
        except InvalidMapError as error:
            raise UnknownMapError(f"{map_name!r}: {error}") from None
        if self._represented not in ({}, {name: token for token, name in words.own}):
            raise UnknownMapError(f"{map_name!r}: the server numbers its powers or provinces otherwise")
        self._reader.words = words
        return words

    def _send(self, frame: bytes) -> None:
        if self._over:
            return
        try:
            self._socket.settimeout(self._connect_seconds)
            self._socket.sendall(frame)
        except OSError as error:
            raise ServerDisconnectedError(f"the connection broke: {error}") from error

    def close(self) -> None:
        """Say that this client goes, and close the connection."""
        # It may have been closed at the other side.
        with suppress(ServerDisconnectedError):
            self._send(final_frame())
        self._socket.close()


VERSION: Final = "1"
_NAMES: Final = {token: name for name, token in FIXED.items()}
_RETRY_SECONDS: Final = 0.2
_MOST_DIGITS: Final = 9


class RejectedError(RuntimeError):
    """The server does not let this bot play."""


class NotAwaitedError(ServerDisconnectedError):
    """The game goes on without this bot, or the server has not noticed yet that its connection broke."""


class DaideBot:
    """One game of a bot, from its name to the server's OFF."""

    def __init__(self, name: str, kind: str, seed: int | str | None, *, verbose: bool = False) -> None:
        self._name = name
        self._kind = kind
        self._seed = seed
        self._verbose = verbose
        self._words: Vocabulary | None = None
        self._player: Bot | None = None
        self._power = 0
        self._passcode = 0
        self._owners: tuple[int, ...] = ()
        self.over = False
        self.heard = 0
        """How many messages of the server made sense to it."""

    @property
    def took_place(self) -> bool:
        """Whether a game has begun."""
        return self._player is not None

    @property
    def in_game(self) -> bool:
        """Whether a game has begun and is not over, so that it could be taken up again."""
        return self.took_place and not self.over

    def play(self, client: DaideClient) -> None:
        """Play until the server sends it off.

        Raises ServerDisconnectedError, RejectedError, UnreadableMessageError and InvalidPositionError.
        """
        if self.in_game:
            assert self._words is not None
            self._say(client, self._iam(self._words))
        else:
            self._say(client, self._introduction())
        while True:
            tokens = client.receive()
            self._show("<", tokens)
            if tokens[0] == FIXED["OFF"]:
                return
            self._answer(client, tokens)
            self.heard += 1

    def _introduction(self) -> Tokens:
        return command("NME", text_tokens(self._name), text_tokens(VERSION))

    def _iam(self, words: Vocabulary) -> Tokens:
        return command("IAM", (words.powers[self._power],), (self._passcode,))

    def _say(self, client: DaideClient, tokens: Tokens) -> None:
        self._show(">", tokens)
        client.send(tokens)

    def _show(self, who: str, tokens: Tokens) -> None:
        if self._verbose:
            print(legible(f"{who} {self._text(tokens)}"), file=sys.stderr, flush=True)

    def _text(self, tokens: Tokens) -> str:
        # Before the map is named no message has any of its tokens.
        return (self._words or vocabulary(shipped_map("standard"))).text(tokens)

    def _tree(self, tokens: Tokens) -> tuple[Tree, ...]:
        try:
            check_parentheses(tokens)
        except (UnbalancedParenthesesError, DaideSyntaxError) as error:
            raise UnreadableMessageError(f"parentheses: {self._text(tokens)}") from error
        return tree_of(tokens)

    def _answer(self, client: DaideClient, tokens: Tokens) -> None:
        words = self._words
        match _NAMES.get(tokens[0]):
            case "MAP":
                self._agree(client, tokens)
            case "YES" if words is not None and tokens == command("YES", self._iam(words)):
                # The server does not repeat what it sent meanwhile.
                for name in ("SCO", "NOW"):
                    self._say(client, (FIXED[name],))
            case "REJ":
                self._take_refusal(tokens)
            case "HLO" if words is not None:
                self._begin(words, tokens)
            case "SLO" | "DRW" | "SMR":
                self.over = True
            case "FRM":
                self._decline_press(client, tokens)
            case "HUH" | "PRN":
                complaint = f"the server does not understand: {self._text(tokens)}"
                print(legible(complaint), file=sys.stderr, flush=True)
            case "SCO" | "NOW" as name if words is not None:
                self._take_standing(client, words, name, tokens)

    def _take_standing(self, client: DaideClient, words: Vocabulary, name: str, tokens: Tokens) -> None:
        if name == "SCO":
            self._owners = read_owners(words, self._tree(tokens))
        elif self.in_game:
            self._move(client, words, tokens)

    def _agree(self, client: DaideClient, tokens: Tokens) -> None:
        try:
            self._words = client.words(read_text(tokens[2:-1]))
        except UnknownMapError as error:
            self._say(client, command("REJ", tokens))
            raise RejectedError(str(error)) from None
        self._say(client, command("YES", tokens))

    def _take_refusal(self, tokens: Tokens) -> None:
        refused = _NAMES.get(tokens[2]) if len(tokens) > 2 else None
        if refused == "NME":
            raise RejectedError(f"the server wants no client named {self._name!r}")
        if refused == "IAM":
            raise NotAwaitedError("the game does not wait for this client")

    def _begin(self, words: Vocabulary, tokens: Tokens) -> None:
        match self._tree(tokens):
            case (_, (int(power), *_), (int(passcode), *_), *_):
                pass
            case _:
                raise UnreadableMessageError(f"a game's beginning: {self._text(tokens)}")
        number = words.power_of.get(power)
        if number is None:
            raise RejectedError("the server takes this client for an observer")
        self._power, self._passcode = number, passcode
        if self._player is None:
            seed = None if self._seed is None else f"{self._seed}/{number}"
            self._player = bot(self._kind, seed)

    def _move(self, client: DaideClient, words: Vocabulary, tokens: Tokens) -> None:
        assert self._player is not None
        position = read_position(words, self._tree(tokens), self._owners)
        orders = self._player.orders(position, self._power)
        if orders:
            order_texts = [order_tokens(words, position, self._power, order) for order in orders]
            self._say(client, (FIXED["SUB"], *(token for order in order_texts for token in order)))
        alive = bool(position.units_of(self._power) or position.centres_of(self._power))
        if position.phase is Phase.MOVES and alive and self._player.draws(position, self._power):
            self._say(client, (FIXED["DRW"],))

    def _decline_press(self, client: DaideClient, tokens: Tokens) -> None:
        """As the syntax asks of clients that do without press; what is TRY or HUH is not answered."""
        match self._tree(tokens):
            case (_, tuple(sender), _, (first, *_) as press, *_):
                pass
            case _:
                raise UnreadableMessageError(f"press: {self._text(tokens)}")
        if first in (FIXED["TRY"], FIXED["HUH"]):
            return
        back = bracketed(*flat(sender))
        marked = bracketed(FIXED["HUH"], *bracketed(FIXED["ERR"], *flat(press)))
        self._say(client, (FIXED["SND"], *back, *marked))
        self._say(client, (FIXED["SND"], *back, *bracketed(FIXED["TRY"], *bracketed())))


def argument_parser() -> argparse.ArgumentParser:
    """The arguments of `academy-daide-bot`."""
    example = "Example:\n  academy-daide-bot --bot random --name Albert --port 16713 --games 0"
    parser = program_parser("academy-daide-bot", "Play Diplomacy over DAIDE.", example)
    parser.add_argument("--bot", choices=sorted(BOTS), default="random", help="who plays (%(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="the server (%(default)s)")
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, help="the server's port (%(default)s)")
    parser.add_argument("--name", help="what it calls itself (default: as --bot)")
    parser.add_argument(
        "--games", type=_games, default=1, help="how many; 0: until the server is gone (%(default)s)"
    )
    parser.add_argument("--seed", help="for games that can be repeated")
    parser.add_argument(
        "--patience",
        type=_seconds,
        default=10.0,
        help="seconds in which the server must be reached (%(default)s)",
    )
    parser.add_argument("--verbose", action="store_true", help="show all messages on standard error")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Play as many games as asked for, one after the other."""
    open_closed()
    with ending_with_its_output("academy-daide-bot"):
        options = argument_parser().parse_args(arguments)
    seeds = random.Random(options.seed)
    played = 0
    try:
        while not options.games or played < options.games:
            seed = None if options.seed is None else seeds.getrandbits(32)
            game = DaideBot(options.name or options.bot, options.bot, seed, verbose=options.verbose)
            if not _play(game, options.host, options.port, options.patience):
                break
            played += game.took_place
            if not game.took_place:
                time.sleep(_RETRY_SECONDS)
    except RejectedError as error:
        sys.exit(legible(f"academy-daide-bot: {error}"))
    except (UnreadableMessageError, InvalidPositionError) as error:
        sys.exit(legible(f"academy-daide-bot: the server sent what cannot be read: {error}"))
    except KeyboardInterrupt:
        sys.exit(130)
    if not played:
        sys.exit(
            f"academy-daide-bot: no game at {options.host}:{options.port}; start `arena run` of a control "
            "file with [daide] first, or give its --host and --port"
        )


def _games(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not a number of games: give 0 or more")
    return int(text)


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0
    if not 0 < port <= LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not a port: give 1 to {LARGEST_PORT}")
    return port


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not a number of seconds: give 0 or more")
    return seconds


def _play(game: DaideBot, host: str, port: int, patience: float) -> bool:
    """Play a game, redialling while it is in progress. Returns whether the server was there to the last."""
    heard, lost_at = 0, time.monotonic()
    while True:
        reached = False
        try:
            with DaideClient(host, port) as client:
                reached = True
                game.play(client)
                return True
        except OSError as error:
            if game.heard > heard:
                heard, lost_at = game.heard, time.monotonic()
            waited = time.monotonic() - lost_at
            # Servers take a while to notice that a connection broke, but not for ever.
            if game.over or (isinstance(error, NotAwaitedError) and waited >= patience / 3):
                return True
            if waited >= patience:
                return reached
            time.sleep(_RETRY_SECONDS)


if __name__ == "__main__":
    main()
