"""A real PostgreSQL server, which tests start for themselves."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
A_GENEROUS_TIME = 180

needs_postgresql = pytest.mark.skipif(
    not PROGRAMS and shutil.which("pg_ctl") is None,
    reason="there is no PostgreSQL: Debian's package postgresql is not installed",
)


def program(name: str) -> str:
    """A program of PostgreSQL, of the newest version there is."""
    return str(PROGRAMS[-1].parent / name) if PROGRAMS else str(shutil.which(name))


def run_as_a_user(*command: str) -> None:
    """Run a command, as another user if this is root, whom PostgreSQL refuses to serve."""
    # Python would fork to change the user, which the threads of gRPC here do not survive.
    another = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    finished = subprocess.run(
        [*(another if os.getuid() == 0 else []), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=A_GENEROUS_TIME,
        cwd="/",
    )
    assert finished.returncode == 0, finished.stdout.decode(errors="replace")


@contextmanager
def postgresql_server() -> Iterator[str]:
    """The beginning of the URL of a server of our own, on a socket in a folder: no port is taken."""
    # Sockets' paths must be short, and another user must be able to enter the folder.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    data = folder / "data"
    if os.getuid() == 0:
        account = pwd.getpwnam("postgres")
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        run_as_a_user(
            program("initdb"), "--pgdata", str(data), "--auth=trust", "--username=arena",
            "--encoding=UTF8", "--locale=C", "--no-sync",
        )  # fmt: skip
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        log = str(folder / "log")
        run_as_a_user(
            program("pg_ctl"), "--pgdata", str(data), "--wait", f"--timeout={A_GENEROUS_TIME}",
            "--log", log, "--options", options, "start",
        )  # fmt: skip
        try:
            yield f"postgresql+psycopg://arena@/postgres?host={quote(str(folder))}"
        finally:
            run_as_a_user(program("pg_ctl"), "--pgdata", str(data), "--wait", "--mode=immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
