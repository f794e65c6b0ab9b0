"""Child processes: their start, pipes, limits, signals, and their end with their parent.

A program is spoken to line by line. No thread, and no wait without an end.
"""

import contextlib
import fcntl
import os
import resource
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from arena.players.logs import ErrorLog
from arena.players.player import (
    Cost,
    IllFormedAnswerError,
    PlayerDisconnectedError,
    PlayerStartError,
    PlayerTimeoutError,
)
from arena.players.process_tree import signal_name

_LIMITED: Final = ("/bin/sh", "-c", 'ulimit -v "$1" && shift && exec "$@"', "arena")


# The arena's own rights at ACADEMY and at a cluster, and an operator's or another player's at the arena, are
# not its players'.
_WITHHELD: Final = (b"ACADEMY_", b"ARENA_", b"RAY_AUTH_")


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


def start_process(
    command: Sequence[str],
    environment: Mapping[str, str],
    working_directory: str | None,
    stderr: ErrorLog | int | None,
    memory_bytes: int | None,
    lifeline: int,
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, with `lifeline` as an open descriptor of that number.

    The arguments are those of `ChildProcess`. Raises PlayerStartError.
    """
    if not command:
        raise PlayerStartError("the command is empty")
    if working_directory is not None and not Path(working_directory).is_dir():
        raise PlayerStartError(f"bad working directory: {working_directory!r} is not a directory")
    try:
        if memory_bytes is not None:
            _look_up(command[0], environment, working_directory)
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
        raise PlayerStartError(
            f"cannot run {command[0]!r}: there is no such program; install it, or give its path"
        ) from None
    except PermissionError:
        raise PlayerStartError(f"cannot run {command[0]!r}: it is not an executable file") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise PlayerStartError(f"cannot run {command[0]!r}: {error}") from error


def _look_up(program: str, environment: Mapping[str, str], working_directory: str | None) -> None:
    """Raise what starting the program would: behind a limit only the shell would know."""
    at = Path(working_directory or ".").absolute() / program if "/" in program else Path(program)
    if shutil.which(at, path=environment.get("PATH", os.environ.get("PATH"))) is None:
        raise PermissionError if at.is_absolute() and at.exists() else FileNotFoundError


# Not in Python's fcntl; the same on all architectures of Linux. See fcntl(2).
_F_SETSIG: Final = 10


class Lifeline:
    """A pipe whose reading end the children hold and whose writing end only this process has.

    Nothing is ever written. When the writing end is gone, which no way to end this process prevents,
    the kernel signals the owner of the reading end that there is input: by SIGKILL, as is arranged here,
    to a whole process group. A group of which no process has kept the reading end is not reached.
    """

    def __init__(self) -> None:
        self.descriptor, self._ours = os.pipe()
        fcntl.fcntl(self.descriptor, _F_SETSIG, int(signal.SIGKILL))

    def hold(self, group: int) -> None:
        """Kill this group when the time comes; it was started with `descriptor` passed on."""
        fcntl.fcntl(self.descriptor, fcntl.F_SETOWN, -group)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, fcntl.fcntl(self.descriptor, fcntl.F_GETFL) | os.O_ASYNC)
        os.close(self.descriptor)

    def abandon(self) -> None:
        """Close both ends where no group was started."""
        os.close(self.descriptor)
        os.close(self._ours)

    def cut(self) -> None:
        """Kill what is left of the group. Its number is not used, so it may have passed to others."""
        os.close(self._ours)


MAX_LINE: Final = 1 << 20
TERMINATE_SECONDS: Final = 0.5
KILL_SECONDS: Final = 5.0
_CHUNK: Final = 1 << 16
_LONGEST_POLL: Final = 3600.0
# A program that writes faster than the arena reads is not read for ever.
_MOST_CHUNKS: Final = 64
_OBITUARY_SECONDS: Final = 0.3


class ChildProcess:
    """A program with pipes to its standard input and output, in a process group of its own.

    `environment` is added to `inherited_environment`. `working_directory` None means this process's.
    `stderr` is None (this process's), subprocess.DEVNULL, or a log. `memory_bytes` limits the address space
    (RLIMIT_AS). The process and its group are killed when this process ends, however it ends. Raises
    PlayerStartError.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        working_directory: str | None = None,
        stderr: ErrorLog | int | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self._log = stderr if isinstance(stderr, ErrorLog) else None
        self._lifeline = Lifeline()
        try:
            self._child = start_process(
                command, environment, working_directory, stderr, memory_bytes, self._lifeline.descriptor
            )
        except PlayerStartError:
            self._lifeline.abandon()
            if self._log is not None:
                self._log.close()
            raise
        self._lifeline.hold(self._child.pid)
        self._peak_memory_bytes: int | None = None
        self._cpu_before = 0.0
        self._memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.pid: Final = self._child.pid
        self._pidfd = os.pidfd_open(self.pid)
        assert self._child.stdin is not None and self._child.stdout is not None
        self._in: int = self._child.stdin.fileno()
        self._out: int = self._child.stdout.fileno()
        self._err: int | None = None if self._child.stderr is None else self._child.stderr.fileno()
        self._buffer = bytearray()
        self._scanned = 0
        for descriptor in (self._in, self._out, self._err):
            if descriptor is not None:
                os.set_blocking(descriptor, False)
        self._poll = _poll_of(self._out, self._pidfd, self._err)
        self._only_output: Final = [(self._out, select.POLLIN)]
        self._on_one_core: Final = len(os.sched_getaffinity(0)) == 1

    def write_line(self, line: bytes, deadline: float) -> None:
        """Send a line; `deadline` is a time of time.monotonic().

        Raises PlayerTimeoutError and PlayerDisconnectedError.
        """
        self._write(line + b"\n", deadline)

    def _write(self, rest: bytes, deadline: float) -> None:
        while rest:
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                self._wait_for_room(deadline)
            except BrokenPipeError:
                raise PlayerDisconnectedError(self.obituary()) from None

    def _wait_for_room(self, deadline: float) -> None:
        # The child may be waiting until somebody takes its messages.
        room = _poll_of(self._pidfd, self._err)
        room.register(self._in, select.POLLOUT)
        ready = _poll_until(room, deadline)
        if self._err in ready:
            self._take_errors()
        if self._pidfd in ready:
            raise PlayerDisconnectedError(self.obituary())

    def read_line(self, deadline: float, *, cut: bool = False) -> bytes | None:
        """The next line without its end; None at the end of its output.

        What stands before the end of output without a line end counts as a line. A line above MAX_LINE is
        shortened to that where it may be `cut`. Raises PlayerTimeoutError, and IllFormedAnswerError for
        such a line where it is not.
        """
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            if end < 0:
                if len(self._buffer) > MAX_LINE:
                    if not cut:
                        raise IllFormedAnswerError(f"sent a line of more than {MAX_LINE} bytes")
                    # Kept here, not by the caller: the line may end after this deadline only.
                    del self._buffer[MAX_LINE:]
                self._scanned = len(self._buffer)
                if self._fill(deadline):
                    continue
            ended = end >= 0
            line = bytes(self._buffer[:end] if ended else self._buffer)
            del self._buffer[: end + 1 if ended else None]
            self._scanned = 0
            line = line[:MAX_LINE] if cut else line
            return line if ended else line or None

    def arrived_lines(self) -> list[bytes]:
        """Whole lines that have come, without waiting; the beginning of another line is kept."""
        for _ in range(_MOST_CHUNKS):
            try:
                chunk = os.read(self._out, _CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                break
            self._buffer += chunk
        whole = self._buffer.rfind(b"\n") + 1
        lines = bytes(self._buffer[:whole]).split(b"\n")[:-1]
        del self._buffer[:whole]
        self._scanned = 0
        return lines

    def exchange(self, line: bytes, seconds: float) -> bytes:
        """Send a line (with its end) and read what comes next in one piece, if that is all that happens.

        Empty where anything else happens, such as messages of errors or nothing within `seconds`: the line
        is sent then, and what comes is left to the other reads. This is the short way for what nearly all
        exchanges are; output that is not a whole answer can be `put_back`. Raises PlayerTimeoutError and
        PlayerDisconnectedError.
        """
        try:
            sent = os.write(self._in, line)
        except (BlockingIOError, BrokenPipeError):
            sent = 0
        if sent != len(line):
            self._write(line[sent:], time.monotonic() + seconds)
            return b""
        if self._on_one_core and seconds > 0:
            # A quick child has answered when the core is given back: that costs less than to wait for it.
            os.sched_yield()
            try:
                return os.read(self._out, _CHUNK)
            except BlockingIOError:
                pass
        if not 0 < seconds < _LONGEST_POLL or self._poll.poll(1000 * seconds) != self._only_output:
            return b""
        return os.read(self._out, _CHUNK)

    def put_back(self, output: bytes) -> None:
        """Leave to the other reads what `exchange` has read."""
        self._buffer += output

    def first_byte(self, deadline: float) -> int | None:
        """The byte that will be read next, or None at the end of its output. Raises PlayerTimeoutError."""
        while not self._buffer:
            if not self._fill(deadline):
                return None
        return self._buffer[0]

    @property
    def unread(self) -> bytes:
        """Output that has arrived and is not read yet."""
        # To read where nothing is costs several times as much as to look, and is done before each command.
        if self._poll.poll(0):
            with contextlib.suppress(BlockingIOError):
                self._buffer += os.read(self._out, _CHUNK)
        return bytes(self._buffer) if self._buffer else b""

    def _fill(self, deadline: float) -> bool:
        while True:
            ready = _poll_until(self._poll, deadline)
            if self._err in ready:
                self._take_errors()
            if self._out in ready:
                chunk = os.read(self._out, _CHUNK)
                self._buffer += chunk
                return bool(chunk)
            # Output is read before this is looked at. Descendants may hold the pipe open for ever.
            if self._pidfd in ready:
                return False

    def _take_errors(self) -> None:
        assert self._err is not None and self._log is not None and self._child.stderr is not None
        chunk = os.read(self._err, _CHUNK)
        if chunk:
            self._log.add(chunk)
        else:
            self._poll.unregister(self._err)
            self._child.stderr.close()
            self._err = None

    def cost(self) -> Cost:
        """What the process has used so far, with the children it waited for; None each where unknown."""
        self.note_memory()
        used = self._cpu_seconds()
        return Cost(None if used is None else used - self._cpu_before, self._peak_memory_bytes)

    def note_memory(self) -> None:
        """Note the peak of the memory in use so far: of a process that has exited it is not known."""
        with contextlib.suppress(OSError):
            with open(f"/proc/{self.pid}/status", "rb", buffering=0) as status:  # noqa: PTH123 - for each game
                _, _, peak = status.read().partition(b"\nVmHWM:")
            if peak:
                self._peak_memory_bytes = int(peak.split(maxsplit=1)[0]) * 1024

    def count_from_now(self, label: str) -> None:
        """Count from now on what the process uses, and log under a label. See proc(5), clear_refs."""
        if self._log is not None:
            self._log.relabel(label)
        self._cpu_before = self._cpu_seconds() or 0.0
        self._peak_memory_bytes = None
        with contextlib.suppress(OSError):
            Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def _cpu_seconds(self) -> float | None:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{self.pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return None

    @property
    def runs(self) -> bool:
        """Whether the process has not exited."""
        return self._exit_status() is None

    def obituary(self) -> str:
        """How the process ended, or what else it must be whose output has ended; with its last words."""
        end = "closed its channel"
        with contextlib.suppress(PlayerTimeoutError):
            self._await_exit(time.monotonic() + _OBITUARY_SECONDS)
        status = self._exit_status()
        if status is not None and status.si_code == os.CLD_EXITED:
            end = f"exited with status {status.si_status}"
        elif status is not None:
            end = f"was killed by {signal_name(status.si_status)}"
        if self._log is not None and self._log.last_words:
            end += f'; its last words: "{self._log.last_words}"'
        return end

    def _exit_status(self) -> os.waitid_result | None:
        # WNOWAIT: until it is reaped, its number stays its own and its group can be ended.
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)

    def _await_exit(self, deadline: float) -> None:
        """Wait, letting the process write what it likes. Raises PlayerTimeoutError."""
        out: int | None = self._out
        while True:
            ready = _poll_until(_poll_of(self._pidfd, out, self._err), deadline)
            # One read takes all that a pipe holds, so that nothing is lost of a process that is gone.
            if self._err in ready:
                self._take_errors()
            if out in ready and not os.read(self._out, _CHUNK):
                out = None
            if self._pidfd in ready:
                return

    def end(self, seconds: float) -> Cost:
        """End the process and all others of its group, and return what it used; to be called once.

        Its input is closed and it has `seconds` to exit by itself; then it gets SIGTERM, and
        TERMINATE_SECONDS later SIGKILL. What is left of its group gets SIGKILL in any case. A process that
        may not be killed, such as another user's, is left after KILL_SECONDS.
        """
        assert self._child.stdin is not None
        if self._peak_memory_bytes is None:
            self.note_memory()
        self._child.stdin.close()
        killed = self._exit_status() is None and not self._exits_within(seconds)
        if killed:
            self._signal_all(signal.SIGTERM)
            self._exits_within(TERMINATE_SECONDS)
        # Not reaped yet, so the group's number cannot have passed to others.
        self._signal_all(signal.SIGKILL)
        if self.runs:
            self._exits_within(KILL_SECONDS)
        reaped, status, usage = os.wait4(self.pid, os.WNOHANG)
        if reaped:
            self._child.returncode = os.waitstatus_to_exitcode(status)
        # wait4's figure counts what this process used before the child loaded its program.
        if self._peak_memory_bytes is None and usage.ru_maxrss * 1024 > self._memory_before:
            self._peak_memory_bytes = usage.ru_maxrss * 1024
        self._lifeline.cut()
        os.close(self._pidfd)
        if self._err is not None:
            # Its last words may not be read yet: it may have been gone before anybody waited for it.
            with contextlib.suppress(BlockingIOError):
                self._take_errors()
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()
        if self._log is not None:
            self._log.close()
        used = max(0.0, usage.ru_utime + usage.ru_stime - self._cpu_before) if reaped else None
        return Cost(used, self._peak_memory_bytes, killed)

    def _signal_all(self, number: signal.Signals) -> None:
        # The process may have left its group, and it may be empty then. It may be another user's, as of sudo.
        for send in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(self.pid, number)

    def _exits_within(self, seconds: float) -> bool:
        try:
            self._await_exit(time.monotonic() + seconds)
        except PlayerTimeoutError:
            return False
        return True


def _poll_of(*descriptors: int | None) -> select.poll:
    """What waits for input at those descriptors that there are."""
    poll = select.poll()
    for descriptor in descriptors:
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    return poll


def _poll_until(poll: select.poll, deadline: float) -> Collection[int | None]:
    while (remaining := deadline - time.monotonic()) > 0:
        ready = poll.poll(1000 * (remaining if remaining < _LONGEST_POLL else _LONGEST_POLL))
        if ready:
            return [descriptor for descriptor, _ in ready]
    raise PlayerTimeoutError("did not answer in time")


def seconds_until(deadline: float) -> float:
    """The seconds from now to a time of time.monotonic(), 0 when it has passed."""
    return max(0.0, deadline - time.monotonic())
