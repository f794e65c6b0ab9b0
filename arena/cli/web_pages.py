"""The pages of a competition for a browser, beside its run: the command `academy-web` as a child process."""

import importlib.util
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from arena.control.settings import AcademySettings

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0
_MOST_WORDS: Final = 4_000
# The control file says which ACADEMY it is, not the environment.
_OF_ACADEMY: Final = (
    "ACADEMY_ADDRESS",
    "ACADEMY_TOKEN",
    "ACADEMY_TLS_CA",
    "ACADEMY_TLS_CERT",
    "ACADEMY_TLS_KEY",
)
# The program has itself ended with its parent. Between fork and exec (`preexec_fn`) gRPC's threads, which
# begin again in a fork, would now and then end the process before it is the program.
_PROGRAM: Final = """
import sys
from signal import SIGTERM
from arena.players.process_tree import die_with_parent
die_with_parent(SIGTERM, int(sys.argv.pop(1)))
from web.cli import main
main()
"""
_NEEDED: Final = ("jinja2", "sse_starlette", "starlette", "uvicorn")


class PagesNotServedError(RuntimeError):
    """The pages cannot be served; the message says why."""


@contextmanager
def served_pages(file: Path, address: str, academy: AcademySettings | None) -> Iterator[str]:
    """Serve pages of the competition, and of the ACADEMY that it plays at, while the block runs.

    Gives what to tell the user. Raises PagesNotServedError and MissingTokenError.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise PagesNotServedError(f"--web needs {', '.join(missing)}: pip install 'academy-arena[web]'")
    command = [sys.executable, "-P", "-c", _PROGRAM, str(os.getpid())]
    command += ["--address", address, "--competitions", str(file)]
    environment = {name: value for name, value in os.environ.items() if name not in _OF_ACADEMY}
    # An embedded ACADEMY is the run's alone.
    if academy is not None and not academy.embedded:
        token = academy.read_token()
        if token:
            command += ["--academy", academy.address]
            files = {"ca": academy.tls_ca, "cert": academy.tls_cert, "key": academy.tls_key}
            for name, part in files.items():
                command += [f"--academy-tls-{name}", str(part)] if part else []
            command += ["--academy-insecure"] if academy.insecure else []
            environment["ACADEMY_TOKEN"] = token
    # A file, as nobody reads while the competition runs: a pipe would fill up, and the pages wait for ever.
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            # Ctrl-C is for the run, which ends this process when it is ready to.
            start_new_session=True,
        )
        try:
            yield _first_line(process, complaints)
        finally:
            process.terminate()
            try:
                process.communicate(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _first_line(process: "subprocess.Popen[bytes]", complaints: IO[bytes]) -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _START_SECONDS)
    line = process.stdout.readline().decode(errors="replace").strip() if ready else ""
    if not line:
        process.kill()
        process.wait()
        complaints.seek(0)
        words = complaints.read(_MOST_WORDS).decode(errors="replace").strip()
        raise PagesNotServedError(words or f"academy-web is not ready after {_START_SECONDS:g} seconds")
    return line.partition(";")[0]
