"""The process that executes a ringmaster's control file, and calls its functions on request.

Run by `arena.control.ringmaster.execution`, which limits its time; the limits of memory and of what it writes
are set here, before any of the file is executed. Requests and answers are lines of JSON.
"""

import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import IO, Any

from arena.control.ringmaster.definitions import (
    SETTINGS,
    Encoder,
    Opaque,
    UnencodableError,
    decode,
    namespace,
)
from arena.control.ringmaster.python2 import InconvertibleError, as_python_3
from arena.players.process_tree import die_with_parent


class Program:
    """One control file that was executed."""

    def __init__(self, path: str, text: str, kind: str) -> None:
        self._path = path
        self._encoder = Encoder()
        self._names: dict[str, Any] = {**namespace(kind), "__name__": "__main__", "__file__": path}
        self._text = text

    def execute(self) -> dict[str, Any]:
        """Execute the file; the answer has what it has set."""

        def names() -> dict[str, Any]:
            code = compile(as_python_3(self._path, self._text), self._path, "exec", dont_inherit=True)
            before = dict(self._names)
            exec(code, self._names)
            return {
                # Other values give only their names, for hints.
                name: value if name in SETTINGS else Opaque("no setting")
                for name, value in self._names.items()
                if not name.startswith("__") and (name not in before or before[name] is not value)
            }

        return self._answer(names)

    def call(self, number: int, arguments: Sequence[Any]) -> dict[str, Any]:
        """Call a function; the answer has what it returns."""
        return self._answer(lambda: self._encoder.functions[number](*arguments))

    def _answer(self, action: Callable[[], Any]) -> dict[str, Any]:
        try:
            return {"value": self._encoder.encode(action())}
        except UnencodableError as error:
            return {"error": str(error)}
        except InconvertibleError as error:
            return {"error": str(error), "line": error.line}
        except SyntaxError as error:
            return {"error": f"this is not Python: {error.msg}", "line": error.lineno}
        except MemoryError:
            return {"error": "it needs more memory than control files may have"}
        except KeyboardInterrupt:
            raise
        except SystemExit as error:
            why = f"it exits ({error.code!r}): a control file only sets things, so take out the call of exit"
            return {"error": why, "line": self._line(error)}
        # The file may raise anything.
        except BaseException as error:
            return {"error": f"{type(error).__name__}: {error}", "line": self._line(error)}

    def _line(self, error: BaseException) -> int | None:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self._path]
        return lines[-1] if lines else None


def _limit(memory_bytes: int, file_bytes: int) -> None:
    for limit, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(limit, (most, most))
    # Then a write fails as one to a full disk does, and the line is known.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def main(arguments: Sequence[str]) -> None:
    """Take the arena's process id, the descriptor of the answers, and the limits in bytes."""
    parent, descriptor, memory_bytes, file_bytes = map(int, arguments)
    die_with_parent(signal.SIGKILL, parent)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(descriptor, "w", encoding="utf-8")
    os.set_inheritable(descriptor, False)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    _limit(memory_bytes, file_bytes)
    _serve(requests, answers)


def _serve(requests: IO[bytes], answers: IO[str]) -> None:
    first = json.loads(requests.readline())
    program = Program(first["path"], first["text"], first["kind"])
    _send(answers, program.execute())
    for line in requests:
        request = json.loads(line)
        arguments = [decode(argument) for argument in request["arguments"]]
        _send(answers, program.call(request["function"], arguments))


def _send(answers: IO[str], answer: dict[str, Any]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
