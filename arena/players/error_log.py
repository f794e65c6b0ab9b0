"""Where a player's standard error goes: a log file, line by line, up to a limit."""

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from referees.legible_text import legible

ERROR_LIMIT: Final = 1 << 20
_LONGEST_LINE: Final = 4096
_LAST_WORDS: Final = 200
# All but the tab: they would steer the terminal of who reads the log, or look like ends of lines.
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
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
        # A full disk is no reason to break off a game.
        with contextlib.suppress(OSError):
            os.write(self._file, self._label.encode() + b": " + line + b"\n")

    @property
    def last_words(self) -> str:
        """The last line that is not blank, shortened; empty where there is none."""
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
    line = _CONTROL.sub(lambda found: b"\\x%02x" % ord(found[0]), line)
    if line.isascii():
        return line
    parts = _NO_UTF8.split(line.decode(errors="surrogateescape"))
    parts[::2] = map(legible, parts[::2])
    return "".join(parts).encode(errors="surrogateescape")
