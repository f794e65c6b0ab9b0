"""The engine's side of GTP, command by command."""

import io
import subprocess
import sys

import pytest

from clients.bots.gtp import ContestAccess, GtpError, GtpProgram
from referees.api import IllegalMoveError, InvalidSettingError, UnreadableMoveError

REFUSED = [UnreadableMoveError("no cell"), IllegalMoveError("taken"), InvalidSettingError("board_size", "no")]


class Parrot(GtpProgram):
    name = "parrot"
    version = "3"

    def gtp_say(self, arguments: list[str]) -> str:
        if not arguments:
            raise GtpError("nothing to say")
        return " ".join(arguments)

    def gtp_raise(self, arguments: list[str]) -> str:
        raise REFUSED[self.argument(arguments, 0, int)]


def converse(text: str) -> str:
    answers = io.StringIO()
    Parrot().run(io.StringIO(text), answers)
    return answers.getvalue()


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("protocol_version\n", "= 2\n\n"),
        ("name\n", "= parrot\n\n"),
        ("7 version\n", "=7 3\n\n"),
        ("say a  b\tc\n", "= a b c\n\n"),
        ("say\n", "? nothing to say\n\n"),
        ("raise 0\n", "? no cell\n\n"),
        ("raise 1\n", "? taken\n\n"),
        ("raise 2\n", "? 'board_size': no\n\n"),
        ("raise\n", "? syntax error\n\n"),
        ("raise first\n", "? syntax error\n\n"),
        (f"4 raise {'9' * 5_000}\n", "?4 syntax error\n\n"),
        ("3 dance\n", "?3 unknown command\n\n"),
        ("known_command say\n", "= true\n\n"),
        ("known_command gomill-cpu_time\n", "= true\n\n"),
        ("known_command dance\n", "= false\n\n"),
        ("known_command\n", "= false\n\n"),
        ("# remark\n\n   \nname # who\n", "= parrot\n\n"),
        ("na\x07me\r\n", "= parrot\n\n"),
        ("12\n", ""),
        ("quit\nname\n", "=\n\n"),
        ("", ""),
    ],
)
def test_conversation(command: str, answer: str) -> None:
    assert converse(command) == answer


def test_all_commands_are_listed() -> None:
    listed = converse("list_commands\n").removeprefix("= ").split()
    assert "say" in listed
    assert "gomill-cpu_time" in listed
    assert listed == sorted(listed)


@pytest.mark.parametrize("seat", ["", "-1", "1.5", "two", "9" * 5_000])
def test_a_seat_that_is_none_is_refused(seat: str) -> None:
    with pytest.raises(GtpError, match="SEAT"):
        ContestAccess.read(["academy:1", "cup/1", "ticket", seat])


def test_a_program_whose_answers_nobody_reads_ends_quietly() -> None:
    program = "from clients.bots.gtp import GtpProgram; GtpProgram().run()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as bot:
        assert bot.stdin and bot.stdout and bot.stderr
        bot.stdout.close()
        bot.stdin.write(b"name\nname\n")
        bot.stdin.close()
        assert (bot.stderr.read(), bot.wait()) == (b"", 0)
