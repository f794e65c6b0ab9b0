"""Executes a ringmaster's control file in a process of its own, with limits of time, memory and output."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from arena.control.ringmaster.definitions import Encoder, decode
from arena.control.settings import ControlError
from arena.output import complain
from arena.players.process_tree import kill_session, signal_name

SECONDS: Final = 30.0
CALL_SECONDS: Final = 10.0
MEMORY_BYTES: Final = 4 * 2**30
# The limit of each file that the program writes, and of its answers.
OUTPUT_BYTES: Final = 16 * 2**20
_SHOWN_OUTPUT: Final = 10_000
_VARIABLES: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "PYTHONPATH"}
)


class ProgramError(ValueError):
    """A control file, or a function of one, that gave no value; `line` is the file's, where it is known."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


class ControlProgram:
    """A control file that is executed; its functions can be called as long as this object lives."""

    def __init__(self, path: Path, text: str, kind: str) -> None:
        self._path = path
        self._request = {"path": str(path), "text": text, "kind": kind}
        self._process: _Process | None = None
        self._functions = 0

    def execute(self) -> dict[str, Any]:
        """Execute the file; what it has set, by name. Raises ControlError."""
        try:
            names = self._start()
        except ProgramError as error:
            place = "" if error.line is None else f", line {error.line}"
            raise ControlError(f"{self._path.name}{place}: {error}") from None
        if not self._functions:
            self._end()
        return names

    def _call(self, number: int, *arguments: Any) -> Any:
        """What a function of the file returns. Raises ProgramError, which names the line if it is known."""
        encoder = Encoder()
        encoded = [encoder.encode(argument) for argument in arguments]
        try:
            if self._process is None:
                self._start()
            return self._ask({"function": number, "arguments": encoded}, CALL_SECONDS)
        except ProgramError as error:
            place = "" if error.line is None else f"line {error.line}: "
            raise ProgramError(f"{place}{error}", error.line) from None

    def _start(self) -> dict[str, Any]:
        self._process = _Process(self._path.parent)
        names: dict[str, Any] = self._ask(self._request, SECONDS)
        return names

    def _ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        assert self._process is not None
        try:
            answer = self._process.ask(request, seconds)
        except ProgramError:
            self._end()
            raise
        if "error" in answer:
            raise ProgramError(answer["error"], answer.get("line"))
        try:
            return decode(answer["value"], self._function)
        except (KeyError, ValueError, TypeError) as error:
            self._end()
            raise ProgramError(f"what it sets cannot be used: {error}") from None

    def _function(self, number: int) -> Callable[..., Any]:
        self._functions += 1
        return partial(self._call, number)

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


class _Process:
    def __init__(self, folder: Path) -> None:
        read, write = os.pipe()
        self._answers = os.fdopen(read, "rb", buffering=0)
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "arena.control.ringmaster.program"),
                    *map(str, (os.getpid(), write, MEMORY_BYTES, OUTPUT_BYTES)),
                ],
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._output,
                cwd=folder,
                env=_program_environment(),
                pass_fds=[write],
                start_new_session=True,
            )
        finally:
            os.close(write)
        self.close = weakref.finalize(self, _end, self._process, self._answers, self._output)

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request; the answer. Raises ProgramError."""
        assert self._process.stdin is not None
        deadline = time.monotonic() + seconds
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise ProgramError(self._exit_reason(deadline, seconds)) from None
        line = self._read(deadline, seconds)
        self._show_output()
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise ProgramError(
                f"it wrote {line[:40]!r} where the arena reads its settings: "
                "take out what writes to descriptors"
            )
        return answer

    def _read(self, deadline: float, seconds: float) -> bytes:
        waiting = select.poll()
        waiting.register(self._answers, select.POLLIN)
        parts: list[bytes] = []
        size = 0
        while not (parts and parts[-1].endswith(b"\n")):
            if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
                self._show_output()
                raise ProgramError(f"it took longer than {seconds:g} s to execute, and was ended")
            parts.append(os.read(self._answers.fileno(), 2**16))
            size += len(parts[-1])
            if not parts[-1]:
                self._show_output()
                raise ProgramError(self._exit_reason(deadline, seconds))
            if size > OUTPUT_BYTES:
                raise ProgramError(f"what it sets takes more than {OUTPUT_BYTES // 2**20} MiB")
        return b"".join(parts)

    def _exit_reason(self, deadline: float, seconds: float) -> str:
        try:
            code = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            what = "it closed the descriptor of its answers"
            return f"{what} and went on for longer than {seconds:g} s, and was ended"
        how = f"exited with status {code}" if code >= 0 else f"was killed by {signal_name(-code)}"
        return f"the process that executed it {how}"

    def _show_output(self) -> None:
        """Pass on what the file has printed."""
        size = os.fstat(self._output.fileno()).st_size
        if not size:
            return
        text = os.pread(self._output.fileno(), _SHOWN_OUTPUT, 0).decode(errors="replace").rstrip()
        complain(f"{text}\n... and {size - _SHOWN_OUTPUT} bytes more" if size > _SHOWN_OUTPUT else text)
        os.lseek(self._output.fileno(), 0, os.SEEK_SET)
        os.ftruncate(self._output.fileno(), 0)


def _end(process: subprocess.Popen[bytes], answers: IO[bytes], output: IO[bytes]) -> None:
    process.kill()
    kill_session(process.pid)
    process.wait()
    assert process.stdin is not None
    for file in (process.stdin, answers, output):
        file.close()


def _program_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in _VARIABLES or name.startswith("LC_")}
