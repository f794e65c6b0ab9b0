"""GTP on the wire: which bytes are which response."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.players import gtp_channel
from arena.players.gtp_channel import GtpChannel, InvalidGtpWordError
from arena.players.logs import Transcript
from arena.players.player import (
    IllFormedAnswerError,
    MoveRefusedError,
    PlayerDisconnectedError,
    PlayerTimeoutError,
)
from arena.players.process import ChildProcess
from tests.waiting import until

A_GENEROUS_TIME = 180.0
Channels = Callable[..., GtpChannel]

# Answers each line it reads with the next of its arguments (in hex), then ends.
PARROT = (
    "import os, sys\n"
    "for answer in sys.argv[1:]:\n"
    "    sys.stdin.readline()\n"
    "    os.write(1, bytes.fromhex(answer))\n"
)


@pytest.fixture
def channel() -> Iterator[Channels]:
    made: list[ChildProcess] = []

    def make(*answers: bytes, **options: Any) -> GtpChannel:
        command = (sys.executable, "-I", "-S", "-c", PARROT, *(answer.hex() for answer in answers))
        made.append(ChildProcess(command, environment={}))
        return GtpChannel(made[-1], "alpha", **options)

    yield make
    for process in made:
        process.end(0.0)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"= D4\n\n", "D4"),
        (b"=D4\n\n", "D4"),
        (b"=\n\n", ""),
        (b"= D4\r\n\r\n", "D4"),
        (b"\n \n\r\n= D4\n\n", "D4"),
        (b"  = D4  \n\n", "D4"),
        (b"= a\tb\n\n", "a b"),
        (b"= a\x07\x00b\x7f\n\n", "ab"),
        (b"= one\n  two  \nthree\n\n", "one\n  two  \nthree"),
        (b"=\none\n \ntwo\n\n", "one\n \ntwo"),
        (b"= cut off", "cut off"),
        (b"= cut\noff\n", "cut\noff"),
        ("= 囲碁\n\n".encode(), "囲碁"),
        (b"= \xff\n\n", "\ufffd"),
    ],
)
def test_responses_are_read_leniently(channel: Channels, answer: bytes, text: str) -> None:
    assert channel(answer).ask("name", seconds=A_GENEROUS_TIME) == text


@pytest.mark.parametrize(
    ("answer", "failure", "says"),
    [
        (
            b"? no such command\n\n",
            MoveRefusedError,
            "player alpha: 'name': answered with a failure: \"no such command\"",
        ),
        (b"?\n\n", MoveRefusedError, "failure"),
        (b"", PlayerDisconnectedError, "player alpha: 'name': exited with status 0"),
        (b"\n\n\n", PlayerDisconnectedError, "exited with status 0"),
        (b"\x01abc", IllFormedAnswerError, "speaks GMP"),
        (b"player\n\n", IllFormedAnswerError, "first byte is b'p'"),
        (b"# comment\n\n", IllFormedAnswerError, 'must begin with "=" or "\\?", not "# comment"'),
    ],
)
def test_other_bytes_are_failures_that_say_which_command_met_them(
    channel: Channels, answer: bytes, failure: type[Exception], says: str
) -> None:
    engine = channel(answer)
    with pytest.raises(failure, match=says):
        engine.ask("name", seconds=A_GENEROUS_TIME)
    assert engine.broken == (failure is not MoveRefusedError)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("print('= ' + 'x' * (1 << 21))", "line of more than 1048576 bytes"),
        ("print('= x' + 'y\\n' * (1 << 20))", "response of more than 32768 bytes"),
        ("while True: print()", "response of more than 32768 bytes"),
    ],
)
def test_a_response_has_a_limited_length(program: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A million lines would take a second.
    monkeypatch.setattr(gtp_channel, "MAX_RESPONSE", 1 << 15)
    process = ChildProcess(
        (sys.executable, "-I", "-S", "-c", program), environment={}, stderr=subprocess.DEVNULL
    )
    with pytest.raises(IllFormedAnswerError, match=says):
        GtpChannel(process, "alpha").ask("name", seconds=A_GENEROUS_TIME)
    process.end(0.0)


def test_the_first_byte_is_looked_at_only_once(channel: Channels) -> None:
    engine = channel(b"= 2\n\n", b"what?\n\n")
    engine.ask("protocol_version", seconds=A_GENEROUS_TIME)
    with pytest.raises(IllFormedAnswerError, match='must begin with "=" or "\\?", not "what\\?"'):
        engine.ask("name", seconds=A_GENEROUS_TIME)


def test_a_second_response_to_one_command_is_not_taken_for_the_next(channel: Channels) -> None:
    engine = channel(b"= D4\n\n= E5\n\n", b"= F6\n\n")
    assert engine.ask("genmove", "b", seconds=A_GENEROUS_TIME) == "D4"
    with pytest.raises(IllFormedAnswerError, match="spoke without being asked: '= E5'"):
        engine.ask("genmove", "b", seconds=A_GENEROUS_TIME)


TALKATIVE = """
import os, sys
sys.stdin.readline()
os.write(1, b"= D4\\n\\n")
sys.stdin.readline()
os.write(1, b"= E5\\n\\n")
os.write(1, b"= F6\\n\\n")
open(sys.argv[1], "w").close()
sys.stdin.read()
"""


def test_an_answer_that_comes_unasked_after_a_while_is_not_taken_for_the_next(tmp_path: Path) -> None:
    spoken = tmp_path / "spoken"
    process = ChildProcess((sys.executable, "-I", "-S", "-c", TALKATIVE, str(spoken)), environment={})
    engine = GtpChannel(process, "alpha")
    assert engine.ask("genmove", "b", seconds=A_GENEROUS_TIME) == "D4"
    process.write_line(b"now", time.monotonic() + A_GENEROUS_TIME)
    until(spoken.exists)
    with pytest.raises(IllFormedAnswerError, match="spoke without being asked: '= E5"):
        engine.ask("genmove", "b", seconds=A_GENEROUS_TIME)
    process.end(0.0)


def test_superfluous_blank_lines_are_nothing(channel: Channels) -> None:
    engine = channel(b"= D4\n\n\n\r\n", b"= F6\n\n")
    assert [engine.ask("genmove", "b", seconds=A_GENEROUS_TIME) for _ in range(2)] == ["D4", "F6"]


def test_the_whole_response_must_be_there_in_time(channel: Channels) -> None:
    engine = channel(b"= D4\n", b"")
    with pytest.raises(PlayerTimeoutError, match=r"player alpha: 'genmove b': no answer within 0\.2 s"):
        engine.ask("genmove", "b", seconds=0.2)
    assert engine.broken


@pytest.mark.parametrize("word", ["", "two words", "line\n", "bell\x07", "del\x7f"])
def test_a_text_that_is_not_a_word_is_never_sent(channel: Channels, word: str) -> None:
    engine = channel(b"= 2\n\n")
    with pytest.raises(InvalidGtpWordError):
        engine.ask("play", word, seconds=A_GENEROUS_TIME)
    assert engine.ask("protocol_version", seconds=A_GENEROUS_TIME) == "2"


def test_aliases_rename_commands_and_what_is_asked_of_them(channel: Channels, tmp_path: Path) -> None:
    with Transcript(tmp_path / "t") as transcript:
        engine = channel(
            b"= true\n\n", b"= D4\n\n", b"? eh\n\n", aliases={"genmove": "move!"}, transcript=transcript
        )
        assert engine.knows("genmove", 10)
        assert engine.knows("genmove", 10)
        assert engine.ask("genmove", "b", seconds=A_GENEROUS_TIME) == "D4"
        assert not engine.knows("final_score", 10)
        assert not engine.knows("final_score", 10)
    assert (tmp_path / "t").read_text().splitlines() == [
        ">> alpha: known_command move!",
        "<< alpha: = true",
        ">> alpha: move! b",
        "<< alpha: = D4",
        ">> alpha: known_command final_score",
        "<< alpha: ? eh",
    ]


@pytest.mark.parametrize("answer", [b"= false\n\n", b"= yes\n\n", b"= TRUE\n\n", b"=\n\n"])
def test_only_true_means_that_a_command_is_known(channel: Channels, answer: bytes) -> None:
    assert not channel(answer).knows("gomill-cpu_time", 10)
