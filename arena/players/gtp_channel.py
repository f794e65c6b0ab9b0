"""The Go Text Protocol, version 2, on the wire: commands out, responses in.

Command ids are not used. https://www.lysator.liu.se/~gunnar/gtp/gtp2-spec-draft2/gtp2-spec.html
"""

import re
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from arena.players.logs import Transcript
from arena.players.player import (
    IllFormedAnswerError,
    MoveRefusedError,
    PlayerDisconnectedError,
    PlayerError,
    PlayerTimeoutError,
)
from arena.players.process import ChildProcess

MAX_RESPONSE: Final = 1 << 20
_WORD: Final = re.compile(rb"[\x21-\x7e\x80-\xff]+")
_WORDS: Final = re.compile(rb"[\x21-\x7e\x80-\xff]+(?: [\x21-\x7e\x80-\xff]+)*")
_CONTROLS: Final = bytes(code for code in range(128) if (code < 32 and code not in b"\t\n") or code == 127)
_TABS_TO_SPACES: Final = bytes.maketrans(b"\t", b" ")
_OPENINGS: Final = b" \t\r\n#=?"
_STATUSES: Final = (b"=", b"?")
_GMP: Final = 0x01
_HIDDEN: Final = "***"
# Moves come again and again, in all games: what is made of such lines is remembered.
_REMEMBERED: Final = 4096
_SHORT: Final = 64


class InvalidGtpWordError(ValueError):
    """Text that cannot be a word of a GTP command: empty, or with blanks or control characters."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word!r} cannot be a word of a GTP command: no blanks, no control characters")


def check_word(word: str) -> str:
    """Return the word if it can be sent. Raises InvalidGtpWordError."""
    if not _WORD.fullmatch(word.encode()):
        raise InvalidGtpWordError(word)
    return word


@lru_cache(_REMEMBERED)
def _spell(words: tuple[str, ...]) -> tuple[str, bytes]:
    """A command as text and as the line to send. Raises InvalidGtpWordError."""
    command = " ".join(words)
    line = command.encode()
    # All words at once: one by one they would take as long as the pipe.
    if not _WORDS.fullmatch(line) or line.count(b" ") != len(words) - 1:
        for word in words:
            check_word(word)
    return command, line + b"\n"


class _Response(NamedTuple):
    """What an engine answered: `whole`, its first character, and what follows without blanks around it."""

    whole: str
    mark: str
    text: str


def _response(read: bytes) -> _Response:
    whole = read.decode(errors="replace")
    return _Response(whole, whole[0], whole[1:].strip())


def _parse_response(output: bytes) -> _Response | None:
    """The response that the output is, if it is one of one line with the empty line after it."""
    if not (output.startswith(_STATUSES) and output.endswith(b"\n\n") and output.count(b"\n") == 2):
        return None
    return _response(output[:-2].translate(_TABS_TO_SPACES, _CONTROLS))


_short_response = lru_cache(_REMEMBERED)(_parse_response)


class GtpChannel:
    """A GTP engine's two pipes.

    `label` is the player in messages, `aliases` rename commands on their way out; label and
    `transcript` may be changed. After any failure but MoveRefusedError the channel is `broken`: what would be
    read next is not known to be an answer.
    """

    def __init__(
        self,
        process: ChildProcess,
        label: str,
        aliases: Mapping[str, str] | None = None,
        transcript: Transcript | None = None,
    ) -> None:
        self._process = process
        self.label = label
        self._aliases = aliases or {}
        self.transcript = transcript
        self._known: dict[str, bool] = {}
        self._opened = False
        self.broken = False

    def ask(self, *words: str, seconds: float, secret: str = "") -> str:
        """Send a command and return the text of its response.

        A `secret` among the words is sent, but is in no transcript and in no message. Raises MoveRefusedError
        for a failure response, PlayerTimeoutError when the whole response has not come after `seconds`,
        IllFormedAnswerError, PlayerDisconnectedError, and InvalidGtpWordError before anything is sent.
        """
        if words[0] in self._aliases:
            words = (self._aliases[words[0]], *words[1:])
        command, line = _spell(words)
        if secret:
            command = command.replace(secret, _HIDDEN)
        if self.transcript is not None:
            self.transcript.log_sent(self.label, command)
        try:
            response = self._exchange(line, seconds)
        except PlayerTimeoutError:
            self.broken = True
            raise PlayerTimeoutError(self._message(command, f"no answer within {seconds:.3g} s")) from None
        except PlayerError as failure:
            self.broken = True
            raise type(failure)(self._message(command, str(failure))) from None
        if secret:
            response = _Response(*(part.replace(secret, _HIDDEN) for part in response))
        if self.transcript is not None:
            self.transcript.log_received(self.label, response.whole)
        if response.mark == "=":
            return response.text
        if response.mark == "?":
            what = f'answered with a failure: "{response.text[:500]}"'
            raise MoveRefusedError(self._message(command, what), response.text)
        self.broken = True
        first = response.whole.split("\n")[0][:80]
        raise IllFormedAnswerError(
            self._message(command, f'a response must begin with "=" or "?", not "{first}"')
        )

    def knows(self, command: str, seconds: float) -> bool:
        """Whether the engine has a command. It is asked once."""
        if command not in self._known:
            try:
                answer = self.ask("known_command", self._aliases.get(command, command), seconds=seconds)
                self._known[command] = answer == "true"
            except MoveRefusedError:
                self._known[command] = False
        return self._known[command]

    def _message(self, command: str, what: str) -> str:
        return f"player {self.label}: '{command}': {what}"

    def _exchange(self, line: bytes, seconds: float) -> _Response:
        process, deadline = self._process, time.monotonic() + seconds
        if not self._opened:
            process.write_line(line[:-1], deadline)
            self._check_first_byte(deadline)
            self._opened = True
            return self._read_response(deadline)
        if (unread := process.unread) and (unasked := unread.translate(_TABS_TO_SPACES, _CONTROLS).strip()):
            raise IllFormedAnswerError(
                f"spoke without being asked: {unasked[:80].decode(errors='replace')!r}"
            )
        if output := process.exchange(line, seconds):
            response = _short_response(output) if len(output) < _SHORT else _parse_response(output)
            if response is not None:
                return response
            process.put_back(output)
        return self._read_response(deadline)

    def _read_response(self, deadline: float) -> _Response:
        lines: list[bytes] = []
        size = 0
        while True:
            line = self._process.read_line(deadline)
            if line is None:
                if not lines:
                    raise PlayerDisconnectedError(self._process.obituary())
                break
            size += len(line) + 1
            if size > MAX_RESPONSE:
                raise IllFormedAnswerError(f"sent a response of more than {MAX_RESPONSE} bytes")
            line = line.translate(_TABS_TO_SPACES, _CONTROLS)
            if lines and not line:
                break
            if lines or line.strip():
                lines.append(line)
        lines[0] = lines[0].lstrip()
        return _response(b"\n".join(lines))

    def _check_first_byte(self, deadline: float) -> None:
        first = self._process.first_byte(deadline)
        if first == _GMP:
            raise IllFormedAnswerError("the engine speaks GMP, not GTP (its first byte is 0x01)")
        if first is not None and first not in _OPENINGS:
            raise IllFormedAnswerError(f"the engine does not speak GTP: its first byte is {bytes([first])!r}")
