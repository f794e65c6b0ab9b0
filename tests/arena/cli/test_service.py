"""The command at a service: a real `arena serve`, over a real socket."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import grpc
import pytest
import trustme

from academy.wire.tls import Certificates
from arena.service.tokens import ServiceRole, add_token
from arena.v1 import competitions_pb2, competitions_pb2_grpc
from tests.arena.cli.command import arena
from tests.arena.control_files import RANDOM, SLOW, write_control
from tests.arena.service.serving import SECONDS, Service
from tests.waiting import until

_REFUSED = 1_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("served")
    write_control(folder, {"one": SLOW, "two": SLOW}, competition="rounds = 10_000")
    with closing(Service(folder)) as running:
        yield running
        assert running.end() == 0


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_competition_is_sent_started_watched_and_shown(
    service: Service, here: None, tmp_path: Path
) -> None:
    control = write_control(tmp_path, {"one": RANDOM, "two": RANDOM}, competition="rounds = 3")
    started = service.arena("start", "sent/cup", "--control", control, "-g", "2")
    assert started.stdout.startswith("sent/cup (all-play-all, go): running, ") and not started.stderr
    watched = service.arena("watch", "sent/cup", "--from-start", who="eye")
    # It stands before the games where the run was over before it was watched.
    assert re.search(
        r"^sent/cup \(all-play-all, go\): stopped, 2/3 games played", watched.stdout, re.MULTILINE
    )
    shown = service.arena("show", "sent/cup", who="eye")
    assert re.search(r"^player +games +wins", shown.stdout, re.MULTILINE) and "one" in shown.stdout
    as_json = json.loads(service.arena("show", "sent/cup", "--json", who="eye").stdout)
    assert as_json["standings"]["games"] == 2 and as_json["competition"]["gamesPlayed"] == 2
    listed = service.arena("list", who="eye").stdout.splitlines()
    # Those of other tests come after it.
    assert [line.split()[0] for line in listed][:3] == ["name", "contest", "sent/cup"]
    assert json.loads(service.arena("list", "--json").stdout)["competitions"][1]["name"] == "sent/cup"


def test_watching_ends_when_its_reader_has_seen_enough_and_a_run_when_it_is_stopped(
    service: Service, here: None, tmp_path: Path
) -> None:
    control = write_control(tmp_path, {"one": SLOW, "two": SLOW}, competition="rounds = 10_000")
    assert service.arena("start", "sent/long", "--control", control).returncode == 0
    watch = f"{sys.executable} -m arena.cli watch sent/long --address {service.address} --token $TOKEN"
    seen = subprocess.run(
        f"{watch} | head -n 1",
        shell=True,
        env={**os.environ, "TOKEN": service.tokens["eye"]},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert len(seen.stdout.splitlines()) == 1 and not seen.stderr
    assert "stopped, " in service.arena("stop", "sent/long", "--at-once").stdout
    again = service.arena("stop", "sent/long")
    assert again.returncode == 1 and "the competition sent/long is not running [NOT_RUNNING]" in again.stderr


def test_tokens_are_made_listed_and_revoked_from_elsewhere(service: Service, here: None) -> None:
    made = service.arena("token", "late", "--role", "watcher").stdout.strip()
    assert service.arena("list", who=made).returncode == 0
    listed = service.arena("tokens").stdout.splitlines()
    assert listed == ["eye: watcher", "late: watcher", "me: operator", "one: player", "two: player"]
    assert service.arena("token", "late", "--revoke").returncode == 0
    gone = service.arena("list", who=made)
    assert gone.returncode == 1 and "not known here" in gone.stderr and "ARENA_TOKEN" in gone.stderr
    for words in (("token", "chief", "--role", "operator"), ("token", "me", "--revoke")):
        refused = service.arena(*words)
        assert refused.returncode == 1 and "where the service runs" in refused.stderr
    twice = service.arena("token", "eye", "--role", "watcher")
    assert twice.returncode == 1 and "'eye' has a token already" in twice.stderr


def test_a_token_may_be_in_a_file(service: Service, here: None, tmp_path: Path) -> None:
    file = tmp_path / "me.token"
    file.write_text(f"{service.tokens['me']}\n")
    reached = arena("list", "--address", service.address, "--token-file", file)
    assert reached.returncode == 0 and "contest" in reached.stdout
    assert arena("tokens", "--address", service.address, "--token-file", file).returncode == 0

    both = arena("list", "--token-file", file, "--token", "other")
    assert both.returncode == 2 and "give --token or --token-file, not both" in both.stderr
    missing = arena("list", "--token-file", tmp_path / "none")
    assert missing.returncode == 2 and "cannot be read" in missing.stderr
    (tmp_path / "empty").touch()
    empty = arena("list", "--token-file", tmp_path / "empty")
    assert empty.returncode == 2 and "holds no token" in empty.stderr
    here_alone = arena("token", "bob", "--token-file", file, "--tokens", tmp_path / "arena.tokens")
    assert here_alone.returncode == 2 and "is for a service: give --address too" in here_alone.stderr
    assert not (tmp_path / "arena.tokens").exists()


@pytest.mark.parametrize(
    ("words", "whose"),
    [
        (("list",), "A watcher's or operator's token."),
        (("players",), "A watcher's or operator's token."),
        (("start",), "An operator's token."),
        (("stop",), "With --address, an operator's token."),
        (("games",), "With --address, a watcher's or operator's token."),
        (("pool", "add"), "An operator's token."),
        (("member", "rotate"), "The member's own, or an operator's, token."),
        (("rating", "list"), "Any token."),
        (("member", "register"), "Not needed."),
    ],
)
def test_the_help_says_whose_token_the_service_takes(words: tuple[str, ...], whose: str) -> None:
    assert whose in " ".join(arena(*words, "--help").stdout.split())


def test_players_that_have_dialled_in_are_listed(service: Service, here: None) -> None:
    bot = """
import sys
from clients.connection import Connection
from clients.remote_game import Engine
from clients.remote_play import dial_in
dial_in(Connection(sys.argv[1], token=sys.argv[2]), "one", None, Engine("Rambler", "1.0"))
"""
    process = subprocess.Popen([sys.executable, "-c", bot, service.address, service.tokens["one"]])
    try:
        players: list[object] = []

        def listed() -> list[object]:
            players[:] = json.loads(service.arena("players", "--json").stdout)["players"]
            return players

        until(listed, process)
        assert players == [{"name": "one", "engineName": "Rambler", "engineVersion": "1.0", "gamesAtOnce": 1}]
        assert service.arena("players").stdout.splitlines()[1].split() == ["one", "Rambler", "1.0", "0", "1"]
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("words", "who", "message"),
    [
        (("start", "x"), "me", "starting x: there is no competition 'x' [UNKNOWN_COMPETITION]"),
        (("show", "contest.toml"), "me", "'contest.toml': it must be of letters, digits"),
        (("start", "contest"), "guessed", "(give a token with --token-file, --token or ARENA_TOKEN"),
    ],
)
def test_a_refusal_of_a_service_is_an_error_of_one_line(
    service: Service, here: None, words: tuple[str, ...], who: str, message: str
) -> None:
    refused = service.arena(*words, who=who)
    assert refused.returncode == 1 and message in refused.stderr and "Traceback" not in refused.stderr


POOL = ("pool", "add", "cup", "--game", "go", "--set", "board_size=9")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("list", "--address", "127.0.0.1:1"), 1, "start it with `arena serve`, or give its --address"),
        (("list", "--address", "nowhere"), 2, "write host:port"),
        (("list", "--address", "192.0.2.1:50561"), 2, "give --tls-ca, or --insecure"),
        (("list", "--tls-ca", "missing.pem"), 1, "missing.pem"),
        (("start", "cup", "--control", "missing.toml"), 1, "can't read the control file missing.toml"),
        (("start", "cup", "--control", "cup.ctl"), 2, "services take control files in TOML"),
        (("stop", "contest.toml", "--at-once"), 2, "needs --address"),
        (("serve", "nopools"), 1, "nopools: there is no such folder, and no such control file; make it with"),
        (("serve", "nopools", "--league", "league.db"), 1, "nopools: there is no such folder"),
        (("watch", "\udcff"), 1, r"'\udcff' is not text: give what is not a path in UTF-8"),
        ((*POOL, "--main", "60", "--move-seconds", "5"), 2, "or --move-seconds, not both"),
        ((*POOL, "--schedule", "", "--hours", "5"), 2, "--schedule '' is always open: leave --hours out"),
        ((*POOL, "--openings", "latin.txt"), 2, "latin.txt is not UTF-8"),
        ((*POOL, "--openings", "gone.txt"), 2, "can't read gone.txt: No such file or directory"),
        (("member", "invite", "--for", ""), 2, "give a name; without --for, any name may register"),
    ],
)
def test_contradictory_options_are_an_error_at_once(
    here: None, words: tuple[str, ...], status: int, message: str
) -> None:
    Path("latin.txt").write_bytes(b"caf\xe9: C3\n")
    refused = arena(*words)
    assert refused.returncode == status and message in " ".join(refused.stderr.split())


@pytest.mark.parametrize("action", ["stop", "show", "games", "schedule", "replay"])
def test_a_name_of_a_services_competition_is_answered_with_the_missing_option(
    here: None, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    remedy = "(a competition of a service needs --address, such as 127.0.0.1:"
    refused = arena(action, "lost.toml")
    assert refused.returncode == 1 and remedy not in refused.stderr
    # No control file has such a name.
    refused = arena(action, "random")
    assert refused.returncode == 1 and f"{remedy}50561)" in refused.stderr
    monkeypatch.setenv("ARENA_ADDRESS", "127.0.0.1:50571")
    refused = arena(action, "random.toml")
    assert refused.returncode == 1 and f"{remedy}50571)" in refused.stderr


def test_a_folder_in_the_place_of_a_control_file_is_called_one(here: None) -> None:
    refused = arena("run", ".")
    assert refused.returncode == 1 and "control file .: it is a folder; name a file in it" in refused.stderr


@pytest.mark.threat("held_places")
def test_strangers_who_take_all_connections_leave_a_service_its_files(tmp_path: Path, here: None) -> None:
    token = add_token(tmp_path / "arena.tokens", "eye", ServiceRole.WATCHER)
    files = 512
    process = subprocess.Popen(
        [
            *("prlimit", f"--nofile={files}:{files}", sys.executable, "-m", "arena.cli", "serve"),
            *("--address", "127.0.0.1:0"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        host, _, port = address.rpartition(":")
        with ExitStack() as strangers:
            for _ in range(2 * files):
                strangers.enter_context(socket.create_connection((host, int(port)), SECONDS))
            taken = Path(f"/proc/{process.pid}/fd")
            until(lambda: len(list(taken.iterdir())) >= files // 2)
            assert len(list(taken.iterdir())) < files - 128
        until(lambda: arena("list", "--address", address, "--token", token).returncode == 0)
    finally:
        process.terminate()
        process.wait()


@pytest.mark.threat("flood")
def test_a_service_is_reached_by_tls_and_strangers_do_not_fill_its_log(tmp_path: Path, here: None) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    token = add_token(tmp_path / "arena.tokens", "eye", ServiceRole.WATCHER)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "arena.cli", "serve", "--address", "localhost:0"),
            *("--tls-cert", "cert.pem", "--tls-key", "key.pem"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        done = arena("list", "--address", address, "--token", token, "--tls-ca", "ca.pem")
        assert done.returncode == 0 and done.stdout.startswith("name"), done.stderr
        credentials = Certificates(authority=tmp_path / "ca.pem").channel_credentials()
        with grpc.secure_channel(address, credentials) as channel:
            competitions = competitions_pb2_grpc.CompetitionServiceStub(channel)
            wrong = (("authorization", "Bearer wrong"),)
            for _ in range(_REFUSED):
                with pytest.raises(grpc.RpcError):
                    competitions.ListPlayers(competitions_pb2.ListPlayersRequest(), metadata=wrong)
    finally:
        process.terminate()
        _, log = process.communicate()
    lines = [json.loads(line) for line in log.splitlines()]
    # A hundred at once, and then ten a second.
    assert {line["event"] for line in lines} == {"refused"} and 100 <= len(lines) < _REFUSED
