"""What is kept of a player's output: the log of its standard error, and the transcript of its protocol."""

import contextlib
import os
import re
from pathlib import Path
from typing import Final, Self

from referees.legible_text import legible

ERROR_LIMIT: Final = 1 << 20
_LONGEST_LINE: Final = 4096
_LAST_WORDS: Final = 200
# All but the tab: they would steer the reader's terminal, or look like ends of lines.
_CONTROL_BYTES: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
# Bytes that are no UTF-8, as Python's surrogates; they are written as they came.
_NO_UTF8: Final = re.compile("([\udc80-\udcff]+)")


class ErrorLog:
    """Appends what a player writes to its standard error to a file, each line under the player's label.

    Control characters and what turns text round are written as escapes such as `\\x1b`. Whole lines are
    written in one go, so that several games can share the file. After `limit` bytes the rest is dropped,
    which the file says once. Raises OSError where the file can't be opened.
    """

    def __init__(self, path: str | Path | int, label: str, limit: int = ERROR_LIMIT) -> None:
        """`path` may be an open descriptor, which stays open."""
        self._limit = limit
        self._label, self._left = label, limit
        self._unfinished = b""
        self._last_line = b""
        if isinstance(path, int):
            self._file = os.dup(path)
            return
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def add(self, chunk: bytes) -> None:
        """Take what was read, which may end inside a line."""
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        if len(self._unfinished) > _LONGEST_LINE:
            lines.append(self._unfinished)
            self._unfinished = b""
        if self._left < 0:
            # Only the last words are kept: to clean each line would keep a talkative player waiting.
            lines = [next(filter(bytes.strip, reversed(lines)), b"")]
        for line in lines:
            self._write(line)

    def _write(self, line: bytes) -> None:
        line = _one_line(line.removesuffix(b"\r"))
        if line.strip():
            self._last_line = line
        if self._left < 0:
            return
        self._left -= len(line) + 1
        if self._left < 0:
            line = b"(more than fits in the log: what follows is dropped)"
        # A full disk is not a reason to interrupt a game.
        with contextlib.suppress(OSError):
            os.write(self._file, self._label.encode() + b": " + line + b"\n")

    @property
    def last_words(self) -> str:
        """The last line that is not blank, shortened; empty without one."""
        line = self._unfinished if self._unfinished.strip() else self._last_line
        return line.decode(errors="replace").strip()[:_LAST_WORDS]

    def relabel(self, label: str) -> None:
        """Go on under another label, with the whole limit before it."""
        self._finish_line()
        self._label, self._left = label, self._limit

    def close(self) -> None:
        """Write an unfinished last line and close the file."""
        self._finish_line()
        os.close(self._file)

    def _finish_line(self) -> None:
        if self._unfinished:
            self._write(self._unfinished)
            self._unfinished = b""


def _one_line(line: bytes) -> bytes:
    line = _CONTROL_BYTES.sub(lambda match: b"\\x%02x" % ord(match[0]), line)
    if line.isascii():
        return line
    parts = _NO_UTF8.split(line.decode(errors="surrogateescape"))
    parts[::2] = map(legible, parts[::2])
    return "".join(parts).encode(errors="surrogateescape")


TRANSCRIPT_LIMIT: Final = 16 << 20
# All but the tab: they would look like ends of lines, or steer the reader's terminal.
_CONTROL_CHARACTERS: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def one_line(text: str) -> str:
    """A text as one line: what steers terminals or turns text round, but the tab, as escapes like `\\x0d`."""
    return legible(_CONTROL_CHARACTERS.sub(lambda match: f"\\x{ord(match[0]):02x}", text))


class Transcript:
    """A file of the lines to each player (`>>`) and from it (`<<`), written as they come.

    An older file of the same name is replaced. The file keeps `limit` characters from each player, and as
    much to it; then it says once that more was dropped. Raises OSError where the file can't be
    written.
    """

    def __init__(self, path: str | Path, limit: int = TRANSCRIPT_LIMIT) -> None:
        self._file = Path(path).open("w", encoding="utf-8", buffering=1, newline="\n")  # noqa: SIM115 - closed by __exit__
        self._limit = limit
        self._sizes: dict[str, int] = {}

    def log_sent(self, label: str, line: str) -> None:
        """Note a line that a player was sent."""
        self._write(f">> {label}", line)

    def log_received(self, label: str, text: str) -> None:
        """Note a player's answer, of one line or several."""
        for line in text.split("\n"):
            self._write(f"<< {label}", line)

    def _write(self, part: str, line: str) -> None:
        before = self._sizes.get(part, 0)
        if before > self._limit:
            return
        self._sizes[part] = before + len(line) + 1
        if self._sizes[part] > self._limit:
            line = "(more than fits in the log: what follows is dropped)"
        # A full disk is not a reason to interrupt a game.
        with contextlib.suppress(OSError):
            self._file.write(f"{part}: {one_line(line)}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
