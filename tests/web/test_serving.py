"""Where the pages may be served, and what the command refuses."""

import socket
import ssl
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme
from typer.testing import CliRunner

from academy.store.library_store import Store
from tests.processes import children, running
from tests.waiting import until
from tests.web.conftest import served_by, served_pages
from tests.web.visiting import Visitor
from web.cli.app import application

TOKEN = {"ACADEMY_TOKEN": "not-used"}


def refusal(*options: str, **environment: str) -> str:
    """What the command writes as it refuses these options, which it does before it serves anything."""
    return written(2, options, environment)


def failure(*options: str) -> str:
    """What the command writes of data that it cannot serve."""
    return written(1, options, {})


def written(status: int, options: Sequence[str], environment: Mapping[str, str]) -> str:
    unset: dict[str, str | None] = dict.fromkeys(("ACADEMY_TOKEN", "ACADEMY_ADDRESS", "ACADEMY_TLS_CA"))
    done = CliRunner().invoke(application, options, env={**unset, **environment})
    assert done.exit_code == status and isinstance(done.exception, SystemExit)
    return done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--address", "0.0.0.0:0"], "--behind-proxy"),
        (["--address", "0.0.0.0:0", "--public"], "--behind-proxy"),
        (["--address", "0.0.0.0:0", "--behind-proxy"], "--public"),
        (["--address", "127.0.0.1:0", "--behind-proxy"], "--public"),
        (["--address", "[::]:0", "--public"], "--behind-proxy"),
        (["--address", "example.org:0", "--public"], "--behind-proxy"),
        (["--address", "nonsense"], "host:port"),
        (["--address", "unix:/tmp/x"], "host:port"),
        (["--address", "127.0.0.1:0", "--tls-cert", "a.pem"], "both files or neither"),
        (["--address", "127.0.0.1:0", "--tls-cert", "a.pem", "--tls-key", "b.pem"], "a.pem"),
        (["--address", "127.0.0.1:0", "--public", "--sign-in"], "--public or --sign-in, not both"),
        (["--academy", "192.0.2.1:50551"], "--academy-insecure"),
    ],
)
def test_an_unsafe_address_is_refused_with_the_option_to_add(options: list[str], why: str) -> None:
    assert why in refusal(*options, **TOKEN)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--library", ".", "--academy", "127.0.0.1:1"], "--library or --academy, not both"),
        (["--library", ".", "--academy-token-file", "t"], "--library or --academy-token-file, not both"),
        (["--competitions", ".", "--arena", "127.0.0.1:1"], "--competitions or --arena, not both"),
        (
            ["--competitions", ".", "--arena-token-file", "t"],
            "or --arena-token-file, not both",
        ),
        (["--arena-token-file", "t"], "--arena-token-file is for --arena"),
        (["--arena-tls-ca", "t"], "--arena-tls-ca is for --arena"),
        (["--sign-in", "--academy-token-file", "t"], "--sign-in or --academy-token-file, not both"),
        (["--library", ".", "--academy-insecure"], "--library or --academy-insecure, not both"),
        (["--library", ".", "--academy-tls-ca", "t"], "--library or --academy-tls-ca, not both"),
        (["--competitions", ".", "--arena-tls-ca", "t"], "--competitions or --arena-tls-ca, not both"),
        (["--competitions", ".", "--academy-insecure"], "--academy-insecure is for --academy"),
        (["--competitions", ".", "--academy", "127.0.0.1:1"], "ACADEMY_TOKEN is not set"),
    ],
)
def test_options_that_would_be_ignored_are_refused(options: list[str], why: str) -> None:
    assert why in refusal(*options)


@pytest.mark.parametrize("option", ["tls-cert", "academy-tls-ca", "academy-tls-cert", "arena-tls-ca"])
@pytest.mark.parametrize(("file", "why"), [("none.pem", "cannot be read"), (__file__, "no PEM block")])
def test_a_file_for_tls_that_cannot_be_used_is_named_with_its_option(
    option: str, file: str, why: str
) -> None:
    pair = {"tls-cert": ["--tls-key", file], "arena-tls-ca": ["--arena", "127.0.0.1:1"]}.get(option, [])

    refused = refusal(f"--{option}", file, *pair, **TOKEN)

    assert f"--{option} {file}: " in refused and why in refused


@pytest.mark.parametrize("content", ["", " \n", "two words", "x" * 600, "ünïcode"])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content, encoding="utf-8")
    assert "token" in refusal("--academy-token-file", str(file))


@pytest.mark.parametrize("option", ["academy", "arena"])
def test_a_file_of_a_token_that_cannot_be_read_is_named_with_its_option(tmp_path: Path, option: str) -> None:
    arena = ["--arena", "127.0.0.1:1"] if option == "arena" else []
    for file in (tmp_path / "none", tmp_path):
        refused = refusal(f"--{option}-token-file", str(file), *arena)
        assert f"--{option}-token-file {file}: cannot be read (" in refused


def test_no_token_at_all_is_refused() -> None:
    assert "academy tokens create" in refusal()


def test_the_version_is_that_of_the_package() -> None:
    done = CliRunner().invoke(application, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"academy-web {version('academy-arena')}\n")


def test_an_address_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = refusal("--address", address, **TOKEN)
    assert address in refused and "cannot listen there" in refused


def test_a_folder_is_served_by_an_academy_that_ends_with_the_pages(tmp_path: Path) -> None:
    with Store(tmp_path / "library"):
        pass
    with served_pages("--library", tmp_path / "library") as visitor:
        assert "knows no game yet" in visitor.get("/").words
        started = children(visitor.process.pid)
        assert started
    assert visitor.process.returncode == 0
    assert not running(started)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "no such folder" in failure("--library", str(tmp_path / "nothing"))


def test_a_folder_of_other_things_does_not_become_a_library(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ann")

    assert "holds no data of ACADEMY" in failure("--library", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_competitions_that_cannot_be_served_are_named(tmp_path: Path) -> None:
    assert "no such control file" in failure("--competitions", str(tmp_path / "nothing"))
    program = tmp_path / "old.ctl"
    program.write_text("competition_type = 'playoff'\n")
    refused = failure("--competitions", str(program))
    assert "write it in TOML" in refused and refused.count("\n") == 1


def test_pages_are_served_over_tls_with_everybodys_names(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    options = ("--public", "--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem")
    with served_pages(*options, token="any") as visitor:
        assert visitor.base.startswith("https://")
        address = visitor.base.replace("127.0.0.1", "localhost") + "/robots.txt"
        with urllib.request.urlopen(address, context=context, timeout=20) as answer:
            assert answer.status == 200
            assert "max-age" in answer.headers["strict-transport-security"]


def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def make() -> str:
        made = authority.issue_cert("localhost")
        made.cert_chain_pems[0].write_to_path(certificate)
        made.private_key_pem.write_to_path(key)
        return made.cert_chain_pems[0].bytes().decode()

    first = make()
    with served_pages("--public", "--tls-cert", certificate, "--tls-key", key, token="any") as visitor:
        address = "localhost", int(visitor.base.rpartition(":")[2])
        assert ssl.get_server_certificate(address) == first
        second = make()
        until(lambda: ssl.get_server_certificate(address) == second)
        # With one file gone it goes on.
        key.unlink()
        assert visitor.process.stderr is not None
        assert "cannot be used, the one before is shown" in visitor.process.stderr.readline()
        assert ssl.get_server_certificate(address) == second
        third = make()
        until(lambda: ssl.get_server_certificate(address) == third)


def test_a_key_of_another_certificate_is_named(tmp_path: Path) -> None:
    authority = trustme.CA()
    options = []
    for kind in ("cert", "key"):
        options += [f"--tls-{kind}", str(tmp_path / f"{kind}.pem")]
        authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(options[-1])

    refused = refusal(*options, **TOKEN)

    assert f"{' and '.join((' '.join(options[:2]), ' '.join(options[2:])))}: " in refused
    assert "mismatch" in refused.lower()
    assert "both files or neither" in refusal("--academy-tls-cert", options[1], **TOKEN)


@pytest.fixture(scope="module")
def public_pages() -> Iterator[Visitor]:
    """Pages for everybody, behind a proxy, at an address of all networks."""
    with served_pages("--address", "[::]:0", "--public", "--behind-proxy", token="any") as visitor:
        yield visitor


def test_behind_a_proxy_every_name_is_taken(public_pages: Visitor) -> None:
    answer = public_pages.get("/robots.txt", host="games.example.org")
    assert answer.status == 200
    assert "max-age" in answer.headers["strict-transport-security"]


_WITHIN_LIMITS = """\
import sys
from academy.wire.addresses import ServerAddress
from clients.connection import Connection
from web.serving import serve_pages
from web.settings import WebLimits, WebSettings

settings = WebSettings(ServerAddress.parse("127.0.0.1:0"), limits=WebLimits(idle_seconds=1))
academy = Connection(sys.argv[1], "any", timeout=2)
serve_pages(academy, settings, lambda address: print("Open", address, flush=True))
"""
_ROBOTS = b"GET /robots.txt HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def served_impatiently(*before: str, academy: str = "127.0.0.1:1") -> Iterator[Visitor]:
    """Serve pages, by a program where one is named, that wait a second for a request and two for ACADEMY."""
    with served_by([*before, sys.executable, "-c", _WITHIN_LIMITS, academy]) as visitor:
        yield visitor


def connect(visitor: Visitor) -> socket.socket:
    place = urlsplit(visitor.base)
    return socket.create_connection((place.hostname, place.port), timeout=15)


@pytest.fixture(scope="module")
def impatient_pages() -> Iterator[Visitor]:
    """Pages of an ACADEMY that takes connections, and never answers."""
    with (
        socket.create_server(("127.0.0.1", 0)) as academy,
        served_impatiently(academy=f"127.0.0.1:{academy.getsockname()[1]}") as visitor,
    ):
        yield visitor


def test_a_visitor_who_sends_half_a_request_is_disconnected(impatient_pages: Visitor) -> None:
    sent = {
        "nothing": b"",
        "half a head": _ROBOTS,
        "half a second head": _ROBOTS + b"\r\n" + _ROBOTS,
    }
    with ExitStack() as open_ones:
        connections = {}
        for what, request in sent.items():
            # At once: who is silent for a second is disconnected.
            connections[what] = open_ones.enter_context(connect(impatient_pages))
            connections[what].sendall(request)
        answers = {what: connection.makefile("rb").read() for what, connection in connections.items()}

    heads = {what: answer[:15] for what, answer in answers.items()}
    assert heads == {"nothing": b"", "half a head": b"", "half a second head": b"HTTP/1.1 200 OK"}


def test_a_page_that_takes_longer_than_a_silent_connection_may_is_sent(impatient_pages: Visitor) -> None:
    with connect(impatient_pages) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(4_096).startswith(b"HTTP/1.1 504")


def test_pages_take_as_many_connections_as_they_may_have_open_files() -> None:
    with served_impatiently("prlimit", "--nofile=200:20000") as visitor, ExitStack() as open_ones:
        for _ in range(300):
            open_ones.enter_context(connect(visitor))
        assert visitor.get("/robots.txt").status == 200


def test_pages_with_few_open_files_say_so_and_do_not_hang() -> None:
    with served_impatiently("prlimit", "--nofile=256:256") as visitor, ExitStack() as open_ones:
        for _ in range(280):
            open_ones.enter_context(connect(visitor))
            time.sleep(0.002)
        until(lambda: _status(visitor) == 200)
        visitor.process.terminate()
        _, errors = visitor.process.communicate(timeout=120)

    assert "128 connections" in errors and "ulimit -n 1648" in errors
    assert "out of system resource" not in errors


def _status(visitor: Visitor) -> int:
    try:
        return visitor.get("/robots.txt").status
    except OSError:
        return 0


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_address_of_all_networks_is_reached_by_both_versions(public_pages: Visitor, host: str) -> None:
    with socket.create_connection((host, urlsplit(public_pages.base).port), timeout=10) as connection:
        connection.sendall(_ROBOTS + b"\r\n")
        assert connection.recv(4_096).startswith(b"HTTP/1.1 200")
