"""Starting a program with pipes: its environment, limits and signals."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from arena.players.error_log import ErrorLog
from arena.players.failures import CannotStart

_LIMITED: Final = ("/bin/sh", "-c", 'ulimit -v "$1" && shift && exec "$@"', "arena")


# The arena's own rights at ACADEMY, and an operator's or another player's at the arena, are not its players'.
_WITHHELD: Final = (b"ACADEMY_", b"ARENA_")


def inherited_environment() -> dict[bytes, bytes]:
    """This process's variables, as far as a player's program gets them."""
    # As bytes: decoding takes longer than the rest.
    return {name: value for name, value in os.environb.items() if not name.startswith(_WITHHELD)}


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Keep children started meanwhile from inheriting that SIGINT is ignored: handlers are not inherited."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    ):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def started(
    command: Sequence[str],
    environment: Mapping[str, str],
    working_directory: str | None,
    stderr: ErrorLog | int | None,
    memory_bytes: int | None,
    lifeline: int,
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, with `lifeline` as an open descriptor of that number.

    The arguments are those of `ChildProcess`. Raises CannotStart.
    """
    if not command:
        raise CannotStart("the command is empty")
    if working_directory is not None and not Path(working_directory).is_dir():
        raise CannotStart(f"bad working directory: {working_directory!r} is not a directory")
    try:
        with _interruptible():
            return subprocess.Popen(
                # Limited from outside, a program could have started others before.
                command if memory_bytes is None else (*_LIMITED, str(memory_bytes // 1024), *command),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if isinstance(stderr, ErrorLog) else stderr,
                env=inherited_environment()
                | {os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
                cwd=working_directory,
                process_group=0,
                pass_fds=[lifeline],
            )
    except FileNotFoundError:
        raise CannotStart(f"cannot run {command[0]!r}: there is no such program") from None
    except PermissionError:
        raise CannotStart(f"cannot run {command[0]!r}: it is not an executable file") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CannotStart(f"cannot run {command[0]!r}: {error}") from error
