"""Servers that share a log, as administrators start and compare them."""

import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from academy.store import event_log
from academy.store.environment import SCHEMA_VERSION, Environment, TableName
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance import clean_shutdown
from academy.store.shared_log.jetstream import JetStreamLog
from academy.store.shared_log.place import FreezeLog
from academy.store.shared_log.stream import Message
from academy.store.tokens import Role
from academy.v1 import contests_pb2
from tests.academy.cli.conftest import Beside, pointed_at, run
from tests.academy.service.examples import contest, report, tiny_go
from tests.academy.service.running import serving
from tests.academy.service.server_programs import Served, started
from tests.academy.store.examples import go_game
from tests.academy.store.shared_log.nats_servers import NatsServer
from tests.processes import spawned
from tests.waiting import until


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "one", tmp_path / "two"


def read_last_event(folder: Environment) -> int:
    with folder.reading() as transaction:
        return event_log.last_sequence(transaction)


def test_a_report_at_one_server_is_known_at_the_other_and_check_says_that_they_agree(
    own_nats: NatsServer, folders: tuple[Path, Path]
) -> None:
    log = ("--address", "127.0.0.1:0", "--log", str(own_nats.address("club")))
    with started(folders[0], *log) as first, started(folders[1], *log) as second:
        try:
            server, _ = Served(first, ""), Served(second, "")
            # Beside a server, without --log: the folder knows its log.
            made = run("tokens", "create", "boss", "--role", "admin", "--data", folders[0])
            server.token = token = made.out.strip()
            server.client().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go("go")))
            server.client().contests.ReportContest(report(contest("shared", "go"), ["c3", "a1"], first="WIN"))
            with Environment(folders[1], read_only=True) as folder:
                until(lambda: read_last_event(folder) == 2)
            checked = run("check", "--data", folders[1], "--against", server.address, "--token", token)
            assert checked.exit_code == 0, checked
            assert "2 events, sound, and compared with the server's to event 2\n" in checked.out
            alone = run("check", "--data", folders[1])
            assert "2 events, sound\n" in alone.out
            assert f"two: has read {own_nats.address('club')} to message 3\n" in alone.out
            # What looks after them works beside servers.
            assert run("snapshot", "--data", folders[0], "--cut").exit_code == 0
            compacted = run("compact", "--data", folders[1], "--keep", "1")
            assert "1 event replaced by snapshots, 1 left" in compacted.out
            # The events that are left do not say which folder has most.
            shortened = run("check", "--data", folders[1], "--json").json()
            assert (shortened["events"], shortened["message"]) == (1, 4)
        finally:
            for process in (first, second):
                process.kill()


def test_a_server_that_is_stopped_while_it_waits_for_its_log_ends_well(
    own_nats: NatsServer, folders: tuple[Path, Path]
) -> None:
    address = own_nats.address("club")
    with Store(folders[0], log=address):
        pass
    own_nats.pause()
    server = started(folders[0], "--log", str(address))
    # Its handlers are there before its marker.
    until(lambda: (folders[0] / clean_shutdown.FOLDER).exists() and bool(clean_shutdown.markers(folders[0])))
    server.terminate()
    _, errors = server.communicate(timeout=60)
    assert (server.returncode, errors) == (0, "")
    assert not clean_shutdown.markers(folders[0])


def test_a_process_that_waits_for_the_log_in_a_dead_ones_place_ends_with_the_server(
    own_nats: NatsServer, folders: tuple[Path, Path]
) -> None:
    address = str(own_nats.address("club"))
    server = started(folders[0], "--address", "127.0.0.1:0", "--log", address, "--processes", "2")
    try:
        assert Served(server, "").address
        before = spawned(server.pid)
        own_nats.pause()
        os.kill(before[0], signal.SIGKILL)
        until(lambda: any(catches_term(pid) for pid in spawned(server.pid) if pid not in before))
        server.terminate()
        _, errors = server.communicate(timeout=60)
        assert (server.returncode, "failed to end well" in errors) == (0, False), errors
    finally:
        server.kill()


def catches_term(pid: int) -> bool:
    """Whether a process would see SIGTERM, instead of being ended by it."""
    caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_metrics_say_when_a_server_has_lost_its_log(own_nats: NatsServer, tmp_path: Path) -> None:
    with serving(tmp_path / "data", log=own_nats.address("club")) as server:

        def is_up() -> Any:
            return server.server.metrics.registry.get_sample_value("academy_shared_log_up")

        until(lambda: is_up() == 1.0)
        own_nats.kill()
        until(lambda: is_up() == 0.0)
        own_nats.start()
        until(lambda: is_up() == 1.0)
        with closing(JetStreamLog(own_nats.address("club"))) as log:
            log.run(log.stream.delete_stream("club"))
        until(lambda: is_up() == 0.0)


def test_check_names_the_record_in_which_a_folder_and_a_server_differ(
    folders: tuple[Path, Path], beside: Beside
) -> None:
    served, copied = folders
    with serving(served) as server:
        for game in ("go", "hex"):
            server.register(tiny_go(game))
        assert beside("backup", copied, "--data", served).exit_code == 0
        note = served / "last_backup"
        note.unlink()
        # That the server has learnt more is not a difference.
        server.report(report(contest("later", "go"), ["c3"], first="WIN"))
        admin = server.token("admin", Role.ADMIN)
        command = ("check", "--data", copied, "--against", server.address, "--token", admin)
        assert run(*command).exit_code == 0
        with Environment(copied) as folder:
            folder.write(lambda transaction: transaction.put(TableName.MEASURES, b"hex", b"{}"))
        checked = run(*command)
        # Its copy was thrown away, and no alert may take it for a backup.
        assert not note.exists()
        address = ("--address", server.address, "--token", admin)
        assert run("backup", copied.with_name("sent"), *address).exit_code == 0
        assert note.exists()
    assert checked.exit_code == 4
    assert "hex: record 'hex' of table 'measures' differs" in checked.out


def test_a_sound_folder_that_differs_from_a_server_is_not_called_damaged(
    folders: tuple[Path, Path],
) -> None:
    served, other = folders
    with Store(other) as store:
        store.run(RegisterGame(go_game("go-9x9"), "arena"))
    with serving(served) as server:
        server.register(tiny_go("go"))
        admin = server.token("admin", Role.ADMIN)
        checked = run("check", "--data", other, "--against", server.address, "--token", admin)
    assert checked.exit_code == 4
    assert "go: is known in only one of the two" in checked.out
    assert f"{other}: 1 event, sound, but the server's differ in 2 ways" in checked.out


def test_a_log_that_is_not_an_address_is_refused_with_the_rule(tmp_path: Path) -> None:
    refused = run("serve", "--data", tmp_path, "--log", "http://one")
    assert refused.exit_code == 2
    assert "write nats://HOST[:PORT]" in refused.err


def waiting_line(server: subprocess.Popen[str]) -> Any:
    """The first line of a server's log, once there is one."""
    assert server.stderr is not None
    return json.loads(server.stderr.readline())


def test_servers_that_are_started_before_nats_wait_for_it_and_say_so_once(
    own_nats: NatsServer, folders: tuple[Path, Path]
) -> None:
    own_nats.kill()
    options = ("--address", "127.0.0.1:0", "--log", str(own_nats.address("club")), "--log-level", "warning")
    with started(folders[0], *options) as new:
        try:
            line = waiting_line(new)
            assert line["event"] == "waits for the shared log" and line["at_most_seconds"] == 300.0
            assert f"no NATS server lets this one in at {own_nats.address('club')}" in line["why"]
            own_nats.start()
            assert Served(new, "").address
            new.terminate()
            assert new.communicate(timeout=60)[1] == "" and new.returncode == 0
            # So does one whose folder follows the log already, with each of its processes.
            own_nats.kill()
            with started(folders[0], *options[:2], "--processes", "2") as known:
                try:
                    assert waiting_line(known)["event"] == "waits for the shared log"
                    own_nats.start()
                    assert Served(known, "").address
                finally:
                    known.kill()
        finally:
            new.kill()


def test_sigterm_ends_a_server_that_waits_for_nats_and_leaves_no_folder(folders: tuple[Path, Path]) -> None:
    with started(folders[0], "--log", "nats://127.0.0.1:1/club") as server:
        waiting_line(server)
        server.terminate()
        _, errors = server.communicate(timeout=60)
    assert (server.returncode, errors) == (0, "")
    assert not folders[0].exists()


def test_a_log_that_nobody_serves_is_named_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("academy.store.shared_log.connection._CONNECTING_SECONDS", 0.5)
    monkeypatch.setattr("academy.cli.server_process._AWAY_SECONDS", 0.0)
    refused = run("serve", "--data", tmp_path / "data", "--log", "nats://127.0.0.1:1/club")
    assert refused.exit_code == 3
    assert not (tmp_path / "data").exists()
    assert "no NATS server lets this one in at nats://127.0.0.1:1/club" in refused.err
    assert "nats-server --jetstream" in refused.err


def test_a_log_whose_host_nobody_knows_is_waited_for_less_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def know_none(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    # What the name service of this machine knows is not ours.
    monkeypatch.setattr("socket.getaddrinfo", know_none)
    monkeypatch.setattr("academy.store.shared_log.connection._CONNECTING_SECONDS", 0.5)
    monkeypatch.setattr("academy.cli.server_process._UNKNOWN_HOST_SECONDS", 2.0)
    refused = run("serve", "--data", tmp_path, "--log", "nats://mistyped/club")
    assert refused.exit_code == 3
    waiting, line = refused.err.splitlines()
    assert json.loads(waiting)["at_most_seconds"] == 2.0
    assert "Name or service not known; check the address" in line


def test_a_wrong_password_for_nats_is_named_and_not_shown(tmp_path: Path) -> None:
    accounts = 'authorization { user: "academy", password: "right" }\n'
    with NatsServer(tmp_path / "nats", more=accounts) as nats:
        refused = run("serve", "--data", tmp_path / "data", "--log", f"nats://academy:wrong@{nats.host}/club")
    assert refused.exit_code == 3
    # At once: waiting mends none.
    assert refused.err.startswith("academy: no NATS server lets this one in")
    assert "'Authorization Violation'; check the user and the password" in refused.err
    assert "wrong" not in refused.err


def test_a_missing_client_of_nats_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith(("nats", "academy.store.shared_log."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "nats", None)
    refused = run("serve", "--data", tmp_path, "--log", "nats://127.0.0.1:1")
    assert refused.exit_code == 1
    assert "pip install 'academy-arena[nats]'" in refused.err


def test_a_snapshot_without_the_client_of_nats_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with Store(tmp_path):
        pass
    without = (
        "import runpy, sys; sys.modules['nats'] = None; runpy.run_module('academy', run_name='__main__')"
    )
    refused = subprocess.run(
        [sys.executable, "-c", without, "snapshot", "--data", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr == (
        "academy: a shared log needs the client of NATS: pip install 'academy-arena[nats]'\n"
    )


def fail_as_a_full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_folder_moves_into_a_log_and_out_of_it(
    own_nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "library"
    made = run("tokens", "create", "boss", "--role", "admin", "--data", data, "--json").json()
    stream = own_nats.address("club")
    moved = run("move", "--data", data, "--to", stream)
    assert (moved.exit_code, moved.out) == (0, f"{data}: follows {stream} now, 1 message\n")
    # As after a kill behind its last commit.
    again = run("move", "--data", data, "--to", stream)
    assert (again.exit_code, again.out) == (0, moved.out)
    # A backup's folder, given by mistake, does the same: so it says which log it was.
    assert run("freeze", "--data", data).out == (
        f"{stream}: no server of this version writes any more; "
        f"undo it with: academy freeze --lift --data {data}\n"
    )
    frozen = run("tokens", "create", "bob", "--data", data)
    assert (frozen.exit_code, "frozen for an upgrade" in frozen.err) == (3, True)
    assert run("freeze", "--lift", "--data", data).out == f"{stream}: writes go on\n"
    with monkeypatch.context() as full:
        full.setattr("tarfile.open", fail_as_a_full_disk)
        refused = run("snapshot", "--data", data)
    assert refused.exit_code == 1
    assert refused.err.startswith(f"academy: {data}: No space left on device; a snapshot needs room")
    # One alone may be damaged.
    assert run("snapshot", "--data", data, "--keep", "1").exit_code == 2
    elsewhere = run("move", "--data", data, "--to", own_nats.address("other"))
    assert elsewhere.exit_code == 1
    assert f"take it out of that first: `academy move --data {data} --to own`" in elsewhere.err
    # As an earlier version has left it, which has lost its stream.
    with Environment(data) as folder:
        folder.write(lambda transaction: transaction.put_schema(SCHEMA_VERSION - 1))
    left = run("move", "--data", data, "--to", "own")
    assert (left.exit_code, left.out) == (
        0,
        f"{data}: has a log of its own now, with what it had read of {stream}: to message 3\n",
    )
    own_nats.kill()
    # Without NATS: the folder has its own log again, and all that it had.
    assert run("tokens", "revoke", made["token_id"], "--data", data).exit_code == 0
    again = run("move", "--data", data, "--to", "own")
    assert (again.exit_code, again.out) == (0, f"{data}: has a log of its own now\n")


def test_a_command_that_a_shared_log_refuses_says_so_once(
    own_nats: NatsServer, tmp_path: Path, beside: Beside
) -> None:
    data, address = tmp_path / "library", own_nats.address("club")
    run("tokens", "create", "boss", "--data", data)
    assert run("move", "--data", data, "--to", address).exit_code == 0
    assert run("freeze", "--data", data).exit_code == 0
    frozen = beside("tokens", "create", "bob", "--data", data)
    assert re.fullmatch(r"academy: writes are frozen for an upgrade: .*\n", frozen.err)
    with closing(JetStreamLog(address)) as log:
        log.publish(Message(log.state.last + 1, b"junk", "junk"), time.monotonic() + 10)
    unread = beside("tokens", "create", "bob", "--data", data)
    assert re.fullmatch(r"academy: message \d+ of the shared log cannot be read \(.*\): .*\n", unread.err)


def test_a_server_that_answers_that_it_cannot_write_now_is_not_called_missing(
    own_nats: NatsServer, tmp_path: Path
) -> None:
    with serving(tmp_path / "data", log=own_nats.address("club")) as server:
        academy = pointed_at(server)
        assert academy("games").exit_code == 0
        server.store.run(FreezeLog())
        frozen = academy("tesujis", "delete", "go", 1)
        assert frozen.exit_code == 3
        assert frozen.err.startswith("academy: writes are frozen for an upgrade: ")
        assert frozen.err.endswith(" [UNAVAILABLE, LOG_UPGRADING]\n")


def test_a_target_that_is_neither_a_log_nor_own_is_refused(tmp_path: Path) -> None:
    run("tokens", "create", "boss", "--data", tmp_path)
    refused = run("move", "--data", tmp_path, "--to", "elsewhere")
    assert refused.exit_code == 2
    assert "write nats://HOST[:PORT]" in refused.err and "or write own" in refused.err


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--cut-log"], "add --snapshot-every N"),
        (["--snapshot-every", "5", "--cut-log"], "follows none; add --log"),
        (["--log-replicas", "3"], "add --log"),
    ],
)
def test_options_of_a_log_that_is_not_shared_are_refused(
    tmp_path: Path, options: list[str], remedy: str
) -> None:
    data = tmp_path / "library"
    command = ("serve", "--data", data, "--address", "127.0.0.1:0", *options)
    refused = run(*command)
    assert (refused.exit_code, remedy in refused.err) == (2, True), refused
    # A mistyped name becomes no folder.
    assert not data.exists()
    run("tokens", "create", "boss", "--data", data)
    refused = run(*command)
    assert (refused.exit_code, remedy in refused.err) == (2, True), refused
    # Its next start need not look for damage.
    assert not (data / clean_shutdown.FOLDER).exists() or not clean_shutdown.markers(data)
