"""Our bot at a DAIDE server that a test speaks for, and at the arena's."""

import socket
import threading
from collections.abc import Iterator

import pytest

from arena.jobs import Fault
from clients.bots.diplomacy import daide
from clients.bots.diplomacy.daide import DaideClient, ServerDisconnectedError
from referees.diplomacy.daide.frames import FrameReader, FrameType, message_frame, representation_frame
from referees.diplomacy.daide.tokens import vocabulary
from referees.diplomacy.map import shipped_map
from tests.referees.diplomacy.daide_server.rooms import PATIENCE, Played, daide_player, game_of, open_door

WORDS = vocabulary(shipped_map("straits"))
OWNERS = "SCO (NOR NCA NPO) (SOU SCA SPO) (UNO ISL MID)"
FIRST = "NOW (SPR 1) (NOR AMY NCA) (NOR FLT NPO) (SOU AMY SCA) (SOU FLT SPO)"


class Server:
    """The server's side of connections, one after the other."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def accept(self) -> None:
        """Take the next connection, and greet it."""
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(PATIENCE)
        self._reader = FrameReader(at_server=True)
        self._messages: list[str] = []
        assert self._frame() is FrameType.INITIAL
        self.connection.sendall(representation_frame(WORDS))

    def _frame(self) -> FrameType:
        while True:
            for frame in self._reader.feed(self.connection.recv(1)):
                if frame.type is FrameType.DIPLOMACY:
                    self._messages.append(WORDS.text(frame.tokens))
                return frame.type

    def hear(self) -> str:
        assert self._frame() is FrameType.DIPLOMACY
        return self._messages.pop()

    def say(self, *texts: str) -> None:
        for text in texts:
            self.connection.sendall(message_frame(WORDS.tokens(text)))

    def greet(self, name: str) -> None:
        """Let a bot of this name in, and begin a game with it as North."""
        self.accept()
        message = self.hear()
        assert message == f"NME ('{name}') ('1')"
        self.say(f"YES ({message})", "MAP ('straits')")
        assert self.hear() == "YES (MAP ('straits'))"
        self.say("HLO (NOR) (1234) ((LVL 0))", OWNERS, FIRST)

    def close(self) -> None:
        self.connection.close()


@pytest.fixture
def server() -> Iterator[Server]:
    opened = Server()
    yield opened
    opened.listener.close()


class Running:
    """The bot's command in a thread; `status` waits for its end and tells how it exited."""

    def __init__(self, server: Server | int, *arguments: str) -> None:
        port = server if isinstance(server, int) else server.port
        self._status: list[object] = []
        self._arguments = ["--port", str(port), "--patience", "0.5", *arguments]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            daide.main(self._arguments)
        except SystemExit as end:
            self._status.append(end.code)
        else:
            self._status.append(0)

    @property
    def status(self) -> object:
        self._thread.join(PATIENCE)
        return self._status[0]


def test_a_daide_bot_introduces_itself_orders_and_offers_draws(server: Server) -> None:
    running = Running(server, "--bot", "hold")
    server.greet("hold")
    assert server.hear() == "SUB ((NOR AMY NCA) HLD) ((NOR FLT NPO) HLD)"
    assert server.hear() == "DRW"
    server.say("NOW (SUM 1) (NOR AMY NCA) (SOU AMY SCA) (NOR FLT NPO MRT (WSE ISL)) (SOU FLT STR)")
    assert server.hear() == "SUB ((NOR FLT NPO) DSB)"
    server.say("SCO (NOR NCA NPO ISL) (SOU SCA SPO) (UNO MID)", "NOW (WIN 1) (NOR AMY NMO) (NOR FLT ISL)")
    assert server.hear() == "SUB (NOR WVE)"
    server.say("DRW", "OFF")
    assert running.status == 0


def test_a_daide_bot_does_without_press_as_the_syntax_asks(server: Server) -> None:
    running = Running(server, "--bot", "hold")
    server.greet("hold")
    server.hear()
    server.hear()
    server.say("FRM (SOU) (NOR) (PRP (PCE (NOR SOU)))", "FRM (SOU) (NOR) (TRY (PRP))")
    assert server.hear() == "SND (SOU) (HUH (ERR PRP (PCE (NOR SOU))))"
    assert server.hear() == "SND (SOU) (TRY ())"
    server.say("SLO (SOU)", "OFF")
    assert running.status == 0


def test_a_daide_bot_comes_back_to_its_game_when_the_connection_breaks(server: Server) -> None:
    running = Running(server, "--bot", "hold", "--patience", "60")
    server.greet("hold")
    server.hear()
    server.close()
    server.accept()
    assert server.hear() == "IAM (NOR) (1234)"
    # The server has not noticed yet.
    server.say("REJ (IAM (NOR) (1234))")
    server.accept()
    assert server.hear() == "IAM (NOR) (1234)"
    server.say("YES (IAM (NOR) (1234))")
    assert [server.hear(), server.hear()] == ["SCO", "NOW"]
    server.say(OWNERS, FIRST)
    assert server.hear() == "SUB ((NOR AMY NCA) HLD) ((NOR FLT NPO) HLD)"
    server.say("DRW", "OFF")
    assert running.status == 0


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (["REJ (NME ('hold') ('1'))"], "wants no client named 'hold'"),
        (["YES (NME ('hold') ('1'))", "MAP ('hundred')"], "no map 'hundred'"),
    ],
)
def test_a_daide_bot_ends_where_it_cannot_play(server: Server, answers: list[str], says: str) -> None:
    running = Running(server, "--bot", "hold")
    server.accept()
    server.hear()
    server.say(*answers)
    assert says in str(running.status)


@pytest.mark.parametrize(
    "message",
    ["FRM", "FRM (SOU) (NOR) ()", "HLO", "HLO () () ()", "HLO (NOR) ((1)) ()", "SCO ()", "SCO )", "SCO (NOR",
     "NOW", "NOW (SPR 1) (NOR)", "NOW (SPR 1) (NOR AMY NCA) (NOR AMY NCA)"],
)  # fmt: skip
def test_a_message_that_cannot_be_read_ends_it_with_a_line(server: Server, message: str) -> None:
    running = Running(server, "--bot", "hold")
    server.greet("hold")
    # What it says of another's message, whose parentheses do not match, is not a reason to end.
    server.say("PRN (NOT))")
    server.say(message)
    assert "academy-daide-bot: the server sent what cannot be read: " in str(running.status)


def test_text_of_a_server_commands_no_terminal(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    running = Running(server, "--bot", "hold", "--verbose")
    server.greet("hold")
    server.say("PRN ('\x1b[31m')", "HLO ('\x1b[32m')")
    assert r"a game's beginning: HLO ('\x1b[32m')" in str(running.status)
    printed = capsys.readouterr().err
    assert r"< PRN ('\x1b[31m')" in printed
    assert r"does not understand: PRN ('\x1b[31m')" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--patience", "nan"], "'nan' is not a number of seconds: give 0 or more"),
        (["--patience", "-1"], "'-1' is not a number of seconds: give 0 or more"),
        (["--games", "-1"], "'-1' is not a number of games: give 0 or more"),
        (["--port", "99999"], "'99999' is not a port: give 1 to 65535"),
        (["--port", "0"], "'0' is not a port: give 1 to 65535"),
    ],
)
def test_a_daide_bot_refuses_what_would_wait_for_ever_or_play_nothing(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        daide.main(arguments)
    assert ended.value.code == 2 and says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        (bytes.fromhex("03 00 0000"), b""),
        (bytes.fromhex("04 00 0002 000E"), b""),
        (bytes.fromhex("01 00 0000"), bytes.fromhex("04 00 0002 000C")),
    ],
)
def test_a_daide_client_answers_no_final_or_error_message_and_says_nothing_after_its_own(
    server: Server, last: bytes, answer: bytes
) -> None:
    with DaideClient("127.0.0.1", server.port) as client:
        server.accept()
        server.connection.sendall(last)
        with pytest.raises(ServerDisconnectedError):
            client.receive(PATIENCE)
    assert b"".join(iter(lambda: server.connection.recv(100), b"")) == answer


def test_a_daide_bot_says_when_there_is_no_server() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        port = unheard.getsockname()[1]
        assert Running(port, "--bot", "hold").status == (
            f"academy-daide-bot: no game at 127.0.0.1:{port}; start `arena run` of a control file with "
            "[daide] first, or give its --host and --port"
        )


@pytest.mark.parametrize("kind", ["hold", "random", "tactical"])
def test_every_bot_plays_a_game_at_the_arena_and_is_understood(
    kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_door("bot", board="standard") as door:
        job = game_of(
            *(daide_player(door, "bot", exit_seconds=PATIENCE) for _ in range(7)),
            map="standard",
            year_limit=2,
            aoa=False,
        )
        with Played(job) as played:
            arguments = ["--bot", kind, "--name", "bot", "--seed", "3"]
            bots = [Running(door.address[1], *arguments) for _ in range(7)]
            result = played.result
        assert [bot.status for bot in bots] == [0] * 7
    assert result.outcome is not None, result.void_reason
    assert {usage.fault for usage in result.usage} == {Fault.NONE} and not result.warnings
    assert not any(move.stand_in for move in result.moves)
    assert "does not understand" not in capfd.readouterr().err
