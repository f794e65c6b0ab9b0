"""Doors, and clients that a test speaks for."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Self

from arena.jobs import GameJob, GameResult, PlayerSetup
from arena.match.game import play
from clients.bots.diplomacy.daide import DaideClient
from referees.diplomacy.daide.tokens import Vocabulary, vocabulary
from referees.diplomacy.daide_server.connection import DaideLimits
from referees.diplomacy.daide_server.listener import DaideListener
from referees.diplomacy.map import shipped_map

# Long enough for any machine; nobody waits for it to pass.
PATIENCE = 60.0
NORTH, SOUTH = 1, 2
HOLD = {"NOR": "((NOR AMY NCA) HLD) ((NOR FLT NPO) HLD)", "SOU": "((SOU AMY SCA) HLD) ((SOU FLT SPO) HLD)"}


@contextmanager
def open_door(
    *names: str, board: str = "straits", limits: DaideLimits | None = None
) -> Iterator[DaideListener]:
    words = vocabulary(shipped_map(board))
    with DaideListener(("127.0.0.1", 0), words, frozenset(names), lambda *_, **__: None, limits) as door:
        yield door


def daide_player(door: DaideListener, name: str, **settings: Any) -> PlayerSetup:
    """A player of this door; `settings` of the setup, or parameters of the protocol."""
    own = ("start_seconds", "move_seconds", "exit_seconds")
    return PlayerSetup(
        name,
        (),
        protocol="daide",
        **{
            "start_seconds": PATIENCE,
            # Clients for whom a test speaks do not close when they are sent off.
            "exit_seconds": 0.2,
            **{name: settings.pop(name) for name in own if name in settings},
        },
        parameters={"listener": door.games, **settings},
    )


def game_of(*players: PlayerSetup, **settings: Any) -> GameJob:
    """A game on the map for two, unless the settings name another."""
    return GameJob(
        "game", "diplomacy", {"map": "straits", "year_limit": 2, **settings}, players, seed=1, move_limit=500
    )


class Played:
    """A game that is played in another thread while its block lasts; `result` waits for its end."""

    def __init__(self, job: GameJob) -> None:
        self._results: list[GameResult] = []
        self._thread = threading.Thread(target=lambda: self._results.append(play(job)), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            assert self.result

    @property
    def result(self) -> GameResult:
        self._thread.join(PATIENCE)
        assert self._results, "the game did not end"
        return self._results[0]


class Hand:
    """A client for whom the test speaks."""

    def __init__(self, door: DaideListener, board: str = "straits") -> None:
        self.client = DaideClient(*door.address)
        self.words: Vocabulary = vocabulary(shipped_map(board))

    def say(self, text: str) -> None:
        self.client.send(self.words.tokens(text))

    def hear(self) -> str:
        return self.words.text(self.client.receive(PATIENCE))

    def until(self, beginning: str) -> list[str]:
        """What it hears, up to a message that begins so."""
        heard = [self.hear()]
        while not heard[-1].startswith(beginning):
            heard.append(self.hear())
        return heard

    def ask(self, text: str) -> str:
        self.say(text)
        return self.hear()

    def introduce(self, name: str) -> Self:
        """Say the name, and that the map is known."""
        assert self.ask(f"NME ('{name}') ('1')") == f"YES (NME ('{name}') ('1'))"
        message = self.hear()
        assert message == f"MAP ('{self.words.map.name}')"
        self.say(f"YES ({message})")
        return self

    def close(self) -> None:
        self.client.close()


class RawClient:
    """A connection, on the standard map, of which every byte is written here."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._words = vocabulary(shipped_map("standard"))
        self._connection = socket.create_connection(address, PATIENCE)
        self._connection.sendall(bytes.fromhex("00 00 0004 0001 DA10"))
        assert self._read(4) == bytes.fromhex("01 00 0000")

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._connection.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def say(self, text: str) -> None:
        tokens = self._words.tokens(text)
        self._connection.sendall(struct.pack(f">BBH{len(tokens)}H", 2, 0, 2 * len(tokens), *tokens))

    def hear(self) -> str:
        kind, _, size = struct.unpack(">BBH", self._read(4))
        assert kind == 2, f"a frame of type {kind}"
        return self._words.text(struct.unpack(f">{size // 2}H", self._read(size)))

    def ask(self, text: str) -> str:
        self.say(text)
        return self.hear()

    def until(self, beginning: str) -> str:
        while not (message := self.hear()).startswith(beginning):
            pass
        return message

    def introduce(self, name: str) -> Self:
        assert self.ask(f"NME ('{name}') ('1')").startswith("YES")
        self.say(f"YES ({self.hear()})")
        return self

    def is_sent_off(self) -> bool:
        """Whether OFF comes, then the final frame, and nothing more; the arena waits until it is closed."""
        self.until("OFF")
        ended = self._read(4) == bytes.fromhex("03 00 0000") and not self._connection.recv(1)
        self.close()
        return ended

    def close(self) -> None:
        self._connection.close()


@contextmanager
def hands(door: DaideListener, *names: str, board: str = "straits") -> Iterator[list[Hand]]:
    """Clients of these names, who have accepted the map."""
    with ExitStack() as stack:
        clients = []
        for name in names:
            hand = Hand(door, board)
            stack.callback(hand.close)
            clients.append(hand.introduce(name))
        yield clients


def moves_of(result: GameResult, seat: int) -> list[str]:
    """What a seat ordered, phase by phase."""
    return [move.text for move in result.moves if move.seat == seat]
