"""GNU Go as a second opinion on the rules."""

import shutil
import subprocess
from types import TracebackType
from typing import Self

import pytest

PROGRAM = shutil.which("gnugo")
needs_gnugo = pytest.mark.skipif(PROGRAM is None, reason="GNU Go is not installed")


class Gnugo:
    """A GNU Go process that answers GTP commands."""

    def __init__(self, *options: str) -> None:
        assert PROGRAM is not None
        self._process = subprocess.Popen(
            [PROGRAM, "--mode", "gtp", "--level", "1", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def answer(self, command: str) -> tuple[bool, str]:
        """Whether the engine obeyed the command, and its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        lines = []
        while line := self._process.stdout.readline().strip():
            lines.append(line)
        return lines[0].startswith("="), "\n".join(lines)[1:].strip()

    def ask(self, command: str) -> str:
        """The answer to a command that must succeed."""
        accepted, answer = self.answer(command)
        assert accepted, (command, answer)
        return answer
