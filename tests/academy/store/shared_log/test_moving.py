"""A folder that had a log of its own becomes one of several."""

import shutil
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from academy.knowledge.game import RULES_VERSION
from academy.store import event_log, tokens
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import Environment
from academy.store.errors import LogDivergedError, StoreError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.agreement import disagreements
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import RefuseLateProposals, compact
from academy.store.shared_log import moving, place
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from academy.store.shared_log.moving import share
from academy.store.shared_log.place import FreezeLog
from academy.store.shared_log.snapshots import make
from academy.store.tokens import CreateToken, Role
from academy.store.v1 import records_pb2
from tests.academy.store.examples import contest, go_game, learn, report, teach
from tests.academy.store.processes import start_python
from tests.academy.store.shared_log.conftest import OpenStore
from tests.academy.store.shared_log.nats_servers import NatsServer, silent_until_the_third_sending
from tests.academy.store.shared_log.test_shared_writer import wait_until_equal


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a history that takes several messages."""
    folder = tmp_path_factory.mktemp("history") / "library"
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=60)
    return folder


@pytest.fixture
def library(long_history: Path, tmp_path: Path) -> Path:
    """A copy of it, to be moved."""
    return shutil.copytree(long_history, tmp_path / "library")


def test_servers_that_follow_a_moved_folders_log_know_all_that_it_had(
    library: Path, log: LogAddress, open_store: OpenStore
) -> None:
    with Store(library) as store:
        _, token = store.run(CreateToken("ann", Role.BOT))
        _, tickets = store.run(OpenContest(contest("open")))
    assert share(library, log) > 1
    moved, fresh = open_store("library"), open_store("fresh", log)
    assert not list(disagreements(moved.environment, fresh.environment))
    assert fresh.read(tokens.authenticate, token, time.time()).name == "ann"
    assert fresh.read(tokens.authenticate, tickets[0], time.time()).contest_id == "open"
    assert fresh.run(ReportContest(report("open", plies=20), "arena")).counted
    assert not moved.run(ReportContest(report("open", plies=20), "arena")).counted


def test_a_folder_takes_into_a_new_log_what_all_must_refuse_but_no_freeze(
    library: Path, log: LogAddress, open_store: OpenStore
) -> None:
    share(library, log)
    with Store(library) as store:
        # As a server that was killed while it compacted has left it.
        store.run(RefuseLateProposals(cut=5, seen=store.read(event_log.last_sequence)))
        store.run(FreezeLog())
        store.environment.write(place.remove)
    again = LogAddress.parse(f"{log.text[:-1]}2")
    share(library, again)
    moved, fresh = open_store("library"), open_store("fresh", again)
    moved.run(CreateToken("ann", Role.BOT))
    assert fresh.read(event_log.last_unreferable) == moved.read(event_log.last_unreferable) == 5


_KILLED_WHILE_IT_MOVES = """
    import os, signal, sys
    from pathlib import Path
    from academy.store.shared_log.address import LogAddress
    from academy.store.shared_log.jetstream import JetStreamLog
    from academy.store.shared_log.moving import share

    publish = JetStreamLog.publish

    def publish_two(log, message, *arguments):
        publish(log, message, *arguments)
        if message.place == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    JetStreamLog.publish = publish_two
    share(Path(sys.argv[1]), LogAddress.parse(sys.argv[2]))
"""


def test_a_move_that_was_killed_goes_on_when_it_is_run_again(
    library: Path, log: LogAddress, open_store: OpenStore
) -> None:
    assert start_python(_KILLED_WHILE_IT_MOVES, str(library), log.text).wait(60) == -9
    assert share(library, log) > 2
    assert not list(disagreements(open_store("library").environment, open_store("fresh", log).environment))


def test_a_stream_that_holds_something_else_is_left_alone(
    library: Path, log: LogAddress, open_store: OpenStore
) -> None:
    open_store("other", log).run(RegisterGame(go_game("go-7x7"), "arena"))
    with pytest.raises(LogDivergedError, match="message 1 of the stream is not this folder's"):
        share(library, log)


def test_a_move_whose_acknowledgements_are_late_comes_to_its_end(
    library: Path, own_nats: NatsServer, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(address: LogAddress, known: records_pb2.LogPlace | None) -> JetStreamLog:
        connection = JetStreamLog(address, known)
        late.enter_context(silent_until_the_third_sending(own_nats))
        return connection

    log = own_nats.address("late")
    monkeypatch.setattr(moving, "JetStreamLog", connect)
    with ExitStack() as late:
        share(library, log)
    assert not list(disagreements(open_store("library").environment, open_store("fresh", log).environment))


def test_a_move_to_a_stream_that_a_server_writes_to_meanwhile_asks_for_another_stream(
    library: Path, log: LogAddress, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(address: LogAddress, known: records_pb2.LogPlace | None) -> JetStreamLog:
        connection = JetStreamLog(address, known)
        open_store("other", address).run(RegisterGame(go_game("go-7x7"), "arena"))
        return connection

    monkeypatch.setattr(moving, "JetStreamLog", connect)
    with pytest.raises(LogDivergedError, match="another server writes to this stream: name a new stream"):
        share(library, log)


def test_of_two_folders_that_move_to_one_stream_at_once_one_is_refused(
    library: Path, log: LogAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    with Store(other) as store:
        store.run(RegisterGame(go_game("go-7x7"), "arena"))

    def connect(address: LogAddress, known: records_pb2.LogPlace | None) -> JetStreamLog:
        connection = JetStreamLog(address, known)
        with monkeypatch.context() as first:
            first.setattr(moving, "JetStreamLog", JetStreamLog)
            share(other, address)
        return connection

    monkeypatch.setattr(moving, "JetStreamLog", connect)
    with pytest.raises(LogDivergedError, match="another server writes to this stream: name a new stream"):
        share(library, log)


_KILLED_BEFORE_THE_SNAPSHOT = """
    import os, signal, sys
    from pathlib import Path
    from academy.store.shared_log import snapshots
    from academy.store.shared_log.address import LogAddress
    from academy.store.shared_log.moving import share

    snapshots.make = lambda environment: os.kill(os.getpid(), signal.SIGKILL)
    share(Path(sys.argv[1]), LogAddress.parse(sys.argv[2]))
"""


def test_a_compacted_folder_becomes_a_log_that_begins_with_its_snapshot(
    library: Path, log: LogAddress, open_store: OpenStore
) -> None:
    with Store(library) as store:
        compact(store, keep=1)
        _, token = store.run(CreateToken("ann", Role.BOT))
    assert start_python(_KILLED_BEFORE_THE_SNAPSHOT, str(library), log.text).wait(60) == -9
    with pytest.raises(LogDivergedError, match="new servers need a snapshot: run the `academy move`"):
        open_store("early", log).run(CreateToken("bob", Role.BOT))
    share(library, log)
    fresh, moved = open_store("fresh", log), open_store("library")
    assert fresh.read(tokens.authenticate, token, time.time()).name == "ann"
    # A report whose event was removed does not count again.
    assert not fresh.run(ReportContest(report("go-9x9/1", first_wins=True), "arena")).counted
    assert teach(fresh, "new")
    wait_until_equal(moved, fresh)
    assert list(check(fresh.environment)) == []


def test_a_folder_does_not_return_into_a_log_that_was_cut(library: Path, log: LogAddress) -> None:
    with Store(library) as store:
        compact(store, keep=1)
    share(library, log)
    with Environment(library) as environment:
        environment.write(place.remove)
    with pytest.raises(LogDivergedError, match="is a log that was cut already: name a new stream"):
        share(library, log)


def test_a_killed_move_that_was_written_to_since_says_how_to_end_it(
    library: Path, log: LogAddress, open_store: OpenStore
) -> None:
    with Store(library) as store:
        compact(store, keep=1)
    assert start_python(_KILLED_BEFORE_THE_SNAPSHOT, str(library), log.text).wait(60) == -9
    moved = open_store("library")
    assert teach(moved, "since")
    moved.close()
    with pytest.raises(StoreError, match=r"already, and was written to since; .* `academy snapshot --data"):
        share(library, log)
    with Environment(library) as environment:
        make(environment)
    assert teach(open_store("fresh", log), "new")


def test_a_folder_with_events_of_earlier_rules_becomes_a_log_that_begins_with_its_snapshot(
    library: Path, log: LogAddress, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr("academy.store.shared_log.moving.RULES_VERSION", RULES_VERSION + 1)
        share(library, log)
    with closing(JetStreamLog(log)) as connection:
        # No server can read what comes before.
        assert connection.state.first == connection.state.last + 1
    wait_until_equal(open_store("library"), open_store("fresh", log))


def test_a_folder_that_another_process_serves_is_not_moved(library: Path, log: LogAddress) -> None:
    program = """
        import sys
        from pathlib import Path
        from academy.store.library_store import Store

        with Store(Path(sys.argv[1])):
            print("open")
            sys.stdin.read()
    """
    process = start_python(program, str(library), says="open")
    with pytest.raises(StoreError, match="another process uses it; stop its servers"):
        share(library, log)
    process.stdin.close()
    assert process.wait(60) == 0


_SERVER = """
    import sys
    from pathlib import Path
    from academy.store.contest_commands import ReportContest
    from academy.store.errors import StoreError
    from academy.store.library_store import Store
    from tests.academy.store.examples import report

    with Store(Path(sys.argv[1])) as store:
        print("open")
        sys.stdin.readline()
        try:
            store.run(ReportContest(report("too late"), "arena"))
        except StoreError as error:
            print(type(error).__name__, error)
"""


def test_a_server_that_starts_amid_a_move_acknowledges_nothing_that_the_log_would_lack(
    library: Path, log: LogAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = []

    def connect(address: LogAddress, known: records_pb2.LogPlace | None) -> JetStreamLog:
        # A large folder is read, and a slow NATS server connected, after the lock was looked at.
        servers.append(start_python(_SERVER, str(library), says="open"))
        return JetStreamLog(address, known)

    monkeypatch.setattr(moving, "JetStreamLog", connect)
    share(library, log)
    output, _ = servers[0].communicate("\n", timeout=60)
    assert output.startswith("LogDivergedError this folder was moved to a log that servers share")


def test_a_server_of_a_folder_that_is_taken_out_of_its_log_acknowledges_no_more(
    log: LogAddress, open_store: OpenStore
) -> None:
    server = open_store("library", log)
    server.run(RegisterGame(go_game(), "arena"))
    server.environment.write(place.remove)
    with pytest.raises(LogDivergedError, match="taken out of the shared log since its server started"):
        learn(server, contests=1)
