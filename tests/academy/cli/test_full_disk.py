"""Commands on a data folder whose disk is full: one line and an exit code, never a bus error."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from tests.academy.cli.conftest import CommandResult, run_each_in_one_process
from tests.academy.service.running import Running

# Disks of their own, which no other process sees: each filled up beside a folder without a lock file.
_FULL_DISKS = """
data=$1
while shift; [ "$1" != -- ]; do
    mount -t tmpfs -o size=4m none "$1" && mkdir "$1/data" && cp "$data/data.mdb" "$1/data/" || exit 99
    cat /dev/zero 2>/dev/null >"$1/fill"
done
shift
exec "$@"
"""
READING = [(["check"], "sound"), (["tokens", "list"], "ann"), (["backup", "TARGET"], "verified")]
WRITING = [["tokens", "create", "bob"], ["compact"], ["serve"]]
OWN_DISKS = ("unshare", "--user", "--map-root-user", "--mount")


def _with_own_disks(*command: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*OWN_DISKS, *map(str, command)],
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


def _on_full_disks(
    data: Path, folder: Path, commands: Sequence[tuple[Sequence[object], str]]
) -> list[tuple[Path, CommandResult]]:
    """Run each command on a folder of this name on a full disk of its own; return both."""
    disks = [folder / f"full-{number}" for number in range(len(commands))]
    for disk in disks:
        disk.mkdir()
    try:
        allowed = _with_own_disks("mount", "-t", "tmpfs", "none", disks[0]).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("this user may not mount a disk")

    def within(*words: str) -> list[str]:
        return [*OWN_DISKS, "sh", "-c", _FULL_DISKS, "sh", str(data), *map(str, disks), "--", *words]

    used = [disk / name for disk, (_, name) in zip(disks, commands, strict=True)]
    on_disks = [[*words, "--data", place] for (words, _), place in zip(commands, used, strict=True)]
    return list(zip(used, run_each_in_one_process(on_disks, within), strict=True))


def test_reading_commands_work_on_a_full_disk(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    commands = [([target if word == "TARGET" else word for word in words], "data") for words, _ in READING]
    results = _on_full_disks(data, tmp_path, commands)
    for (_, output), (used, result) in zip(READING, results, strict=True):
        assert result.exit_code == 0, result.err
        assert output in result.out
        assert result.err.splitlines() == [
            f"{used}: no room for its lock.mdb: read without; start no server meanwhile"
        ]


def test_what_writes_says_that_there_is_no_room_and_a_copy_names_its_place(
    data: Path, tmp_path: Path
) -> None:
    commands: list[tuple[Sequence[object], str]] = [(words, "data") for words in WRITING]
    results = _on_full_disks(data, tmp_path, [(["restore", data], "new"), *commands])
    for _, result in results:
        assert result.exit_code == 1
        assert "no room left on the disk" in result.err, result.err
        assert len(result.err.splitlines()) == 1
    used, restored = results[0]
    assert restored.err.startswith(f"academy: {used}: no room left on the disk"), restored.err


@pytest.mark.parametrize("command", [["export", "go"], ["games", "list"]], ids=" ".join)
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


def test_a_command_whose_reader_has_left_does_not_fail(running: Running) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    connecting = ("--address", str(running.address), "--token", running.token("admin", Role.ADMIN))
    with os.fdopen(writer, "w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "academy", "games", "list", *connecting],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=180,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
