"""Commands on a data folder whose disk is full: one line and an exit code, never a bus error."""

import subprocess
import sys
from pathlib import Path

import pytest

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from tests.academy.cli.conftest import CommandResult
from tests.academy.service.running import Running

# A disk of its own, which no other process sees: filled up beside a folder without a lock file.
_FULL_DISK = """
mount -t tmpfs -o size=4m none "$1" && mkdir "$1/data" && cp "$2/data.mdb" "$1/data/" || exit 99
cat /dev/zero 2>/dev/null >"$1/fill"
shift 2
exec "$@"
"""


def _with_own_disks(*command: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", *map(str, command)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a token."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    with Store(folder) as store:
        store.run(CreateToken("ann", Role.BOT))
    return folder


def _on_full_disk(data: Path, mounted: Path, *arguments: object, used: str = "data") -> CommandResult:
    mounted.mkdir()
    try:
        allowed = _with_own_disks("mount", "-t", "tmpfs", "none", mounted).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("this user may not mount a disk")
    academy = (sys.executable, "-m", "academy", *arguments, "--data", mounted / used)
    done = _with_own_disks("sh", "-c", _FULL_DISK, "sh", mounted, data, *academy)
    return CommandResult(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["check"], "sound"),
        (["tokens", "list"], "ann"),
        (["backup"], "verified"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_reading_commands_work_on_a_full_disk(
    data: Path, tmp_path: Path, command: list[str], output: str
) -> None:
    target = [tmp_path / "backup"] if command == ["backup"] else []
    result = _on_full_disk(data, tmp_path / "full", *command, *target)
    assert result.exit_code == 0, result.err
    assert output in result.out
    assert result.err.splitlines() == [
        f"{tmp_path / 'full' / 'data'}: no room for its lock.mdb: read without; start no server meanwhile"
    ]


@pytest.mark.parametrize("command", [["tokens", "create", "bob"], ["compact"], ["serve"]], ids=" ".join)
def test_what_writes_says_that_there_is_no_room(data: Path, tmp_path: Path, command: list[str]) -> None:
    result = _on_full_disk(data, tmp_path / "full", *command)
    assert result.exit_code == 1
    assert "no room left on the disk" in result.err, result.err
    assert len(result.err.splitlines()) == 1


def test_a_copy_that_finds_no_room_names_its_place(data: Path, tmp_path: Path) -> None:
    result = _on_full_disk(data, tmp_path / "full", "restore", data, used="new")
    assert result.exit_code == 1
    assert result.err.startswith(f"academy: {tmp_path / 'full' / 'new'}: no room left on the disk"), (
        result.err
    )


@pytest.mark.parametrize(
    "command", [["export", "go"], ["games", "list"], ["games", "list", "--json"]], ids=" ".join
)
def test_what_is_printed_onto_a_full_disk_ends_with_one_line(running: Running, command: list[str]) -> None:
    connecting = ("--address", str(running.address), "--token", running.token("admin", Role.ADMIN))
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "academy", *command, *connecting],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=180,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "academy: cannot go on: No space left on device\n")
