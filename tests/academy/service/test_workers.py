"""`academy serve --processes`: several processes, one port, one folder."""

import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import grpc
import pytest

from academy.service.workers import ServerProcessError, ServerProcesses, own_ports, shared_port, signals
from academy.store.library_store import Store
from academy.store.maintenance import clean_shutdown
from academy.store.maintenance.check import check
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from academy.wire.addresses import InvalidAddressError, ServerAddress
from tests.academy.cli.conftest import run
from tests.academy.service import examples
from tests.academy.service.examples import contest, report
from tests.academy.service.faulty_work import hang_once, second_fails
from tests.academy.service.running import Client
from tests.academy.service.server_programs import SECONDS, Served, served, started
from tests.processes import alive, spawned
from tests.waiting import until

PROCESSES = 2
# This many connections all fall to one of two processes once in 2,000 times.
CONNECTIONS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server that lasts."""
    return tmp_path_factory.mktemp("lasting")


@pytest.fixture(scope="module")
def lasting(folder: Path) -> Iterator[Served]:
    """A server for the tests that leave its processes alone: each takes a game of its own."""
    with served(folder, "--processes", str(PROCESSES), "--log-level", "warning") as running:
        yield running


def connections(academy: Served, count: int = CONNECTIONS) -> list[Client]:
    options = [("grpc.use_local_subchannel_pool", 1)]
    return [Client(grpc.insecure_channel(academy.address, options), academy.token) for _ in range(count)]


def listening(academy: Served) -> set[int]:
    """The processes that hold a connection to the port, by its inodes."""
    port = f"{int(academy.address.rpartition(':')[2]):04X}"
    tables = [Path(f"/proc/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    lines = [line.split() for table in tables for line in table]
    established = "01"
    inodes = {line[9] for line in lines if line[1].endswith(f":{port}") and line[3] == established}
    return {
        pid
        for pid in spawned(academy.process.pid)
        for file in Path(f"/proc/{pid}/fd").iterdir()
        if file.is_symlink() and str(file.readlink()).removeprefix("socket:[").removesuffix("]") in inodes
    }


def look_up(client: Client, game_id: str = "go") -> consultation_pb2.LookUpOpeningResponse:
    request = consultation_pb2.LookUpOpeningRequest(game_id=game_id, player=1)
    return client.consultation.LookUpOpening(request, timeout=SECONDS, wait_for_ready=True)


def register(client: Client, game_id: str = "go") -> None:
    client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(game_id)))


def test_all_processes_see_a_write_at_once(lasting: Served) -> None:
    clients = connections(lasting)
    register(clients[0], "spread")
    assert [look_up(client, "spread").position.visits for client in clients] == [0] * CONNECTIONS
    assert len(listening(lasting)) == PROCESSES
    for number, client in enumerate(clients, 1):
        client.contests.ReportContest(report(contest(f"spread/{number}", "spread"), ["c3", "b2"]))
        visits = [look_up(other, "spread").position.visits for other in clients]
        assert visits == [number] * CONNECTIONS


def test_writes_of_all_processes_are_counted_once_each(lasting: Served, folder: Path) -> None:
    clients = connections(lasting)
    register(clients[0], "many")

    def tell(number: int) -> bool:
        played = report(contest(f"many/{number % 60}", "many"), ["c3", "b2", "d4"])
        return clients[number % CONNECTIONS].contests.ReportContest(played, timeout=SECONDS).counted

    # Each contest is reported twice, by different connections.
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        counted = list(threads.map(tell, range(120)))

    assert sum(counted) == 60
    measured = libraries_pb2.GetStatisticsRequest(game_id="many")
    assert {client.libraries.GetStatistics(measured).contests for client in clients} == {60}
    with Store(folder, read_only=True) as store:
        assert list(check(store.environment)) == []


def test_processes_that_die_or_hang_are_replaced_and_a_signal_lets_all_end_with_status_0(
    tmp_path: Path,
) -> None:
    options = ("--processes", str(PROCESSES), "--hang-seconds", "5", "--log-level", "warning")
    with served(tmp_path / "data", *options) as academy:
        register(connections(academy, 1)[0])
        before = spawned(academy.process.pid)
        assert len(before) == PROCESSES
        # As LMDB's assertions do, on a page that makes no sense: these pages make sense. Also connections
        # that the dying one had not taken yet find another.
        os.kill(before[0], signal.SIGABRT)
        until(lambda: not alive(before[0]))
        assert {look_up(client).known for client in connections(academy)} == {True}
        until(lambda: len(spawned(academy.process.pid)) == PROCESSES)
        assert before[1] in spawned(academy.process.pid)

        def all_serve() -> bool:
            clients = connections(academy)
            return all(look_up(client).known for client in clients) and len(listening(academy)) == PROCESSES

        until(all_serve)
        os.kill(before[1], signal.SIGSTOP)
        until(lambda: not alive(before[1]))
        until(lambda: len(spawned(academy.process.pid)) == PROCESSES)
        assert all(look_up(client).known for client in connections(academy))
        assert academy.process.poll() is None
        serving = spawned(academy.process.pid)
        # The others leave it to the first one, as a terminal sends it to all of them.
        academy.process.send_signal(signal.SIGINT)
        _, output = academy.process.communicate(timeout=SECONDS)
    assert academy.process.returncode == 0
    assert not any(map(alive, serving))
    assert "process hangs and is killed" in output and "another takes its place" in output


def test_process_with_a_blocked_event_loop_is_replaced(tmp_path: Path) -> None:
    with signals(signal.SIGTERM) as pending:
        work = partial(hang_once, tmp_path / "stood")
        ServerProcesses(work, 1, hang_seconds=2.0).run(lambda: None, pending)
    assert (tmp_path / "stood").exists()


def test_processes_that_still_start_end_cleanly_on_sigterm(tmp_path: Path) -> None:
    options = ("--address", "127.0.0.1:0", "--processes", "2", "--log-level", "warning")
    process = started(tmp_path / "data", *options)
    try:
        until(lambda: spawned(process.pid))
        process.terminate()
        output = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait(SECONDS)
    assert (process.returncode, output[1]) == (0, "")


def test_when_the_first_is_killed_all_end_and_one_that_was_just_being_started_too(tmp_path: Path) -> None:
    with served(tmp_path / "data", "--processes", "3", "--log-level", "warning") as academy:
        before = spawned(academy.process.pid)
        os.kill(before[0], signal.SIGKILL)
        until(lambda: set(spawned(academy.process.pid)) - set(before))
        (young,) = set(spawned(academy.process.pid)) - set(before)
        # It is kept from asking for its parent's end until that has come.
        os.kill(young, signal.SIGSTOP)
        try:
            # The first process has started it whole once it sees to the next one that dies.
            os.kill(before[1], signal.SIGKILL)
            until(lambda: not Path(f"/proc/{before[1]}").exists())
            academy.process.kill()
            academy.ended()
            until(lambda: not alive(before[2]))
            os.kill(young, signal.SIGCONT)
            until(lambda: not alive(young), seconds=6 * SECONDS)
        finally:
            if alive(young):
                os.kill(young, signal.SIGKILL)


def test_a_port_in_use_is_not_joined(lasting: Served, tmp_path: Path) -> None:
    refused = run("serve", "--data", tmp_path / "other", "--address", lasting.address, "--processes", "2")
    assert refused.exit_code == 2
    assert f"{lasting.address}: cannot listen there" in refused.err


def test_a_unix_socket_cannot_be_shared(tmp_path: Path) -> None:
    options = ("--address", f"unix:{tmp_path}/socket", "--processes", "2")
    refused = run("serve", "--data", tmp_path / "data", *options)
    assert refused.exit_code == 2
    assert "processes share a port, not a Unix socket" in refused.err


def test_taken_metrics_port_is_reported_before_processes_start(tmp_path: Path) -> None:
    # The second process's metrics would be at this port, which is taken.
    with socket.create_server(("127.0.0.1", 0)) as first:
        taken = first.getsockname()[1]
        options = ("--metrics-address", f"127.0.0.1:{taken - 1}", "--processes", "2")
        refused = run("serve", "--data", tmp_path / "data", "--address", "127.0.0.1:0", *options)
    assert refused.exit_code == 2
    # The one before it may be taken too.
    assert refused.err.startswith("academy: 127.0.0.1:") and len(refused.err.splitlines()) == 1
    assert "cannot be served there" in refused.err
    assert clean_shutdown.markers(tmp_path / "data") == []


def test_metrics_are_not_served_at_the_port_of_the_calls() -> None:
    with shared_port(ServerAddress.parse("127.0.0.1:0")) as address:
        with pytest.raises(InvalidAddressError, match=f"^{address}: the metrics of process 0"):
            own_ports(address, 1)
        before = address.with_port(address.port - 1)
        with pytest.raises(InvalidAddressError, match="cannot be served there"):
            own_ports(before, 2)


def test_ports_beyond_the_last_are_refused_and_any_port_is_any_for_each() -> None:
    with pytest.raises(InvalidAddressError, match="need the ports up to 65537"):
        own_ports(ServerAddress.parse("127.0.0.1:65535"), 3)
    assert [address.port for address in own_ports(ServerAddress.parse("127.0.0.1:0"), 3)] == [0, 0, 0]


def test_failed_process_at_the_start_ends_all() -> None:
    failing = pytest.raises(ServerProcessError, match="server process 1 ended with 3 before it served")
    with signals(signal.SIGTERM) as pending, failing:
        ServerProcesses(second_fails, 2).run(lambda: pytest.fail("not all of them serve"), pending)
