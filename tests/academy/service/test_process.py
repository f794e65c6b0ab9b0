"""`academy serve` as a process: how it starts, drains, ends, and dies with its parent."""

import fcntl
import json
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from academy.cli.commands import ExitCode
from academy.knowledge.game import RULES_VERSION
from academy.matching import kernels
from academy.service.limits import Limits
from academy.store.environment import SCHEMA_VERSION
from academy.store.library_store import Store
from academy.store.maintenance import clean_shutdown
from academy.store.tokens import CreateToken, Role
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2, proposals_pb2
from tests.academy.cli.conftest import run
from tests.academy.service import examples
from tests.academy.service.certificates import authority, signed
from tests.academy.service.examples import contest, report
from tests.academy.service.running import Client, Playing, as_refused
from tests.academy.service.server_programs import ACADEMY, SECONDS, Served, served, started
from tests.asking_health import health_of
from tests.ports import free_ports
from tests.processes import alive, waits_for_a_lock
from tests.waiting import until


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_server_finish_its_calls_and_end_with_status_0(
    tmp_path: Path, number: signal.Signals
) -> None:
    with served(tmp_path / "data", "--grace", "60") as academy:
        channel = grpc.insecure_channel(academy.address)
        client = Client(channel, academy.token)
        client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
        health = health_of(grpc.insecure_channel(academy.address))
        watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=SECONDS)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        playing = Playing(academy.client())
        question = consultation_pb2.LookUpOpeningRequest(game_id="go", player=1)
        assert playing.ask(opening=question).opening.known
        boards = [examples.position("-" * 25)] * 1_024
        call = client.consultation.MatchPatterns.future(
            consultation_pb2.MatchPatternsRequest(game_id="go", positions=boards)
        )
        # The message is small enough to be sent at once, so what comes later on the same connection is
        # answered after it has come, between two parts of its positions.
        health_of(channel).Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)

        academy.process.send_signal(number)

        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watch.cancel()
        # A stream that waits is ended at once, with the reason.
        with pytest.raises(grpc.RpcError) as caught:
            next(playing.answers)
        refused = as_refused(caught.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        # A running call is finished within the grace.
        assert len(call.result(SECONDS).positions) == 1_024
        assert academy.ended() == 0
        playing.end()


@pytest.mark.skipif(find_spec("numba") is None, reason="without Numba there is nothing to load")
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks for libraries in /proc")
def test_a_server_loads_the_compiled_kernel_with_the_first_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernels.VARIABLE, "numba")
    with Store(tmp_path) as store:
        _, token = store.run(CreateToken("arena", Role.ARENA))
    with served(tmp_path) as academy:
        libraries = Path(f"/proc/{academy.process.pid}/maps")
        channel = grpc.insecure_channel(academy.address)
        arena = Client(channel, token)
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
        question = consultation_pb2.MatchPatternsRequest(
            game_id="go", positions=[examples.position("-" * 25)]
        )
        assert not arena.consultation.MatchPatterns(question).positions[0].patterns
        assert "llvmlite" not in libraries.read_text()

        played = contest("first", "go")
        tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets
        proposal = proposals_pb2.NewProposal(library=examples.ENDGAME, cells="--", ply=1, value=0.9)
        Client(channel, tickets[0]).proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(contest_id="first", proposals=[proposal])
        )
        arena.contests.ReportContest(report(played, ["c3"], first="DRAW", values=[0.9]))
        assert arena.consultation.MatchPatterns(question).positions[0].patterns
        until(lambda: "llvmlite" in libraries.read_text())


def test_signal_during_the_start_ends_the_server_cleanly(tmp_path: Path) -> None:
    data = tmp_path / "data"
    # As another server does that is starting at the same time.
    (data / clean_shutdown.FOLDER).mkdir(parents=True)
    with (data / clean_shutdown.FOLDER / ".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        process = started(data, "--address", "127.0.0.1:0", "--log-level", "warning")
        try:
            until(lambda: waits_for_a_lock(process.pid))
            process.terminate()
            fcntl.flock(turn, fcntl.LOCK_UN)
            output = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
            process.wait(SECONDS)
    assert (process.returncode, output) == (0, ("", ""))
    assert clean_shutdown.markers(data) == []


ENDS_SLOWLY = """
import atexit, sys
from academy.cli.app import main
atexit.register(sys.stdin.readline)
atexit.register(print, "ending", flush=True)
sys.argv = ["academy", "--version"]
main()
"""


def test_further_signals_during_the_stop_change_nothing() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDS_SLOWLY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        while process.stdout.readline() != "ending\n":
            assert process.poll() is None
        for number in (signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
        process.communicate("go on\n", timeout=SECONDS)
    finally:
        process.kill()
        process.wait(SECONDS)
    assert process.returncode == 0


PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_an_embedded_server_tells_its_token_to_its_parent_alone_and_dies_with_it(tmp_path: Path) -> None:
    token_file, path = tmp_path / "token", tmp_path / "socket"
    options = ["--data", str(tmp_path / "data"), "--address", f"unix:{path}"]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *ACADEMY, "serve", *options, "--embedded-token-file", str(token_file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        until(token_file.exists)
        assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
        with grpc.insecure_channel(f"unix:{path}") as channel:
            grpc.channel_ready_future(channel).result(SECONDS)
            assert health_of(channel).Check(health_pb2.HealthCheckRequest()).status == 1
            client = Client(channel, token_file.read_text())
            client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
            assert client.libraries.ListEvents(libraries_pb2.ListEventsRequest()).events[0].actor == "arena"
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait(SECONDS)

    until(lambda: not alive(child))
    assert not path.exists()
    if parent.stdout is not None:
        parent.stdout.close()


@pytest.mark.threat("flood")
@pytest.mark.parametrize("processes", [1, 2])
def test_strangers_who_speak_no_tls_write_nothing_into_the_log(tmp_path: Path, processes: int) -> None:
    own = signed(tmp_path, "server", authority(tmp_path, "ours"))
    options = "--tls-cert", str(own.certificate), "--tls-key", str(own.key), "--processes", str(processes)
    with served(tmp_path / "data", *options) as academy:
        host, _, port = academy.address.rpartition(":")
        for _ in range(20):
            with socket.create_connection((host, int(port)), SECONDS) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                while stranger.recv(1_000):
                    pass
        academy.process.send_signal(signal.SIGTERM)
        _, log = academy.process.communicate(timeout=SECONDS)
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["serving"] * processes


@pytest.mark.threat("faults")
def test_a_server_may_open_the_files_that_its_connections_need(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with served(tmp_path) as server:
            allowed, _ = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert allowed == min(Limits().connections + 128, hard)


def test_a_server_whose_log_nobody_takes_answers_and_ends_as_others_do(tmp_path: Path) -> None:
    with served(tmp_path / "data") as academy:
        assert academy.process.stderr is not None
        academy.process.stderr.close()
        with pytest.raises(grpc.RpcError) as caught:
            Client(grpc.insecure_channel(academy.address), "wrong").contests.ListGames(
                contests_pb2.ListGamesRequest(), timeout=SECONDS
            )
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        academy.process.send_signal(signal.SIGTERM)
        assert academy.ended() == 0


@pytest.mark.threat("faults")
def test_a_server_starts_where_its_log_is_on_a_full_disk(tmp_path: Path) -> None:
    with (
        Path("/dev/full").open("w") as full,
        started(tmp_path / "data", "--address", "127.0.0.1:0", stderr=full.fileno()) as process,
    ):
        academy = Served(process, "")
        process.send_signal(signal.SIGTERM)
        assert academy.ended() == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--address", "nowhere"], "'nowhere': write host:port"),
        (["--address", "0.0.0.0:0"], "--insecure"),
        (["--address", "127.0.0.1:0", "--tls-cert", "missing.pem"], "certificate and its key"),
        (["--address", "127.0.0.1:0", "--metrics-address", "unix:x"], "metrics need host:port"),
    ],
)
def test_a_start_at_an_address_that_cannot_be_is_refused_in_one_line(
    tmp_path: Path, options: list[str], words: str
) -> None:
    result = run("serve", "--data", tmp_path / "data", *options)
    assert result.exit_code == ExitCode.USAGE
    assert words in result.err and len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rate", "0"], "0.0 is not in the range x>=1"),
        (["--idle-seconds", "1e9"], "is not in the range 1.0<=x<=2147483.0"),
        (["--idle-seconds", "inf"], "inf is not in the range"),
        (["--hang-seconds", "inf", "--processes", "2"], "is not in the range 0.0<=x<=86400.0"),
        (["--hang-seconds", "nan"], "nan is not a number"),
        (["--log-level", "loud"], "loud"),
    ],
)
def test_an_option_that_breaks_its_rule_is_refused_by_name(
    tmp_path: Path, options: list[str], words: str
) -> None:
    result = run("serve", "--data", tmp_path / "data", *options)
    assert result.exit_code == ExitCode.USAGE
    assert f"Invalid value for '{options[0]}'" in result.err and words in result.err


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"not a database" * 1_000)
    ended = run("serve", "--data", tmp_path)
    assert ended.exit_code == ExitCode.FAULTY
    assert ended.err.startswith("academy: ") and str(tmp_path) in ended.err
    assert len(ended.err.splitlines()) == 1


def test_start_prints_the_address_metrics_tell_what_was_done_and_acknowledged_writes_survive_a_kill(
    tmp_path: Path,
) -> None:
    (port,) = free_ports(1)
    data = tmp_path / "data"
    with served(data, "--metrics-address", f"127.0.0.1:{port}") as academy:
        assert str(data) in academy.line
        assert "1 token" in academy.line
        assert academy.token not in academy.line
        assert not academy.address.endswith(":0")
        client = academy.client()
        client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
        client.contests.ReportContest(report(contest("killed/0", "go"), ["c3"]))
        client.consultation.LookUpOpening(consultation_pb2.LookUpOpeningRequest(game_id="go", player=1))
        with pytest.raises(grpc.RpcError):
            client.contests.GetGame(contests_pb2.GetGameRequest(game_id="chess"))
        with pytest.raises(grpc.RpcError):
            Client(grpc.insecure_channel(academy.address), "acd_0_wrong").contests.ListGames(
                contests_pb2.ListGamesRequest()
            )
        client.contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest("open", "go")))
        assert run("backup", tmp_path / "backup", "--data", data).exit_code == 0
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as page:
            text = page.read().decode()
        for number in range(1, 20):
            client.contests.ReportContest(report(contest(f"killed/{number}", "go"), ["c3"]))
        academy.process.send_signal(signal.SIGKILL)
        academy.ended()
    with served(data) as academy:
        statistics = libraries_pb2.GetStatisticsRequest(game_id="go")
        assert academy.client().libraries.GetStatistics(statistics).contests == 20

    version = metadata.version("academy-arena")
    for line in (
        'academy_calls_total{code="OK",method="/academy.v1.ContestService/ReportContest"} 1.0',
        'academy_calls_total{code="NOT_FOUND",method="/academy.v1.ContestService/GetGame"} 1.0',
        'academy_call_seconds_count{method="/academy.v1.ContestService/RegisterGame"} 1.0',
        'academy_questions_total{kind="opening"} 1.0',
        'academy_library_records{game="go",library="opening"} 1.0',
        "academy_writes_waiting 0.0",
        'academy_refusals_total{method="/academy.v1.ContestService/GetGame",reason="UNKNOWN_GAME"} 1.0',
        'academy_refusals_total{method="/academy.v1.ContestService/ListGames",reason="TOKEN_UNKNOWN"} 1.0',
        "academy_open_contests 1.0",
        f'academy_build_info{{rules="{RULES_VERSION}",schema="{SCHEMA_VERSION}",version="{version}"}} 1.0',
    ):
        assert line in text
    figures = {
        line.split()[0]: float(line.split()[1])
        for line in text.splitlines()
        if line[0] != "#" and "{" not in line
    }
    assert time.time() - 600 < figures["process_start_time_seconds"] < time.time()
    assert figures["process_resident_memory_bytes"] > 1e6 and figures["process_open_fds"] > 3
    assert 0 < figures["academy_map_used_bytes"] < figures["academy_map_free_bytes"]
    assert figures["academy_disk_free_bytes"] > 0
    assert 0 <= figures["academy_last_backup_age_seconds"] < 600
