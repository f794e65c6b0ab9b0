"""Where the pages may be served, and what the command refuses."""

import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
import trustme
from typer.testing import CliRunner

from academy.store.library_store import Store
from tests.web.conftest import BIN, ENVIRONMENT, served_pages
from tests.web.visiting import Visitor
from web.cli.app import application

TOKEN = {"ACADEMY_TOKEN": "not-used"}


def run(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself."""
    return subprocess.run(
        [BIN / "academy-web", *options],
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def refusal(*options: str, **environment: str) -> str:
    """What the command writes as it refuses these options, which it does before it serves anything."""
    unset: dict[str, str | None] = dict.fromkeys(("ACADEMY_TOKEN", "ACADEMY_ADDRESS", "ACADEMY_TLS_CA"))
    done = CliRunner().invoke(application, options, env=unset | environment)
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit)
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
        (["--academy", "192.0.2.1:50551"], "--academy-insecure"),
    ],
)
def test_what_would_be_unsafe_is_refused_with_what_to_add(options: list[str], why: str) -> None:
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
    pair = ["--tls-key", file] if option == "tls-cert" else []

    refused = refusal(f"--{option}", file, *pair, **TOKEN)

    assert f"--{option} {file}: " in refused and why in refused


@pytest.mark.parametrize("content", ["", " \n", "two words", "x" * 600, "ünïcode"])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content, encoding="utf-8")
    assert "token" in refusal("--academy-token-file", str(file))


def test_no_token_at_all_is_refused() -> None:
    done = run()

    assert done.returncode == 2 and "academy tokens create" in done.stderr and "Traceback" not in done.stderr


def test_an_address_that_is_taken_is_named() -> None:
    with served_pages(token="any") as visitor:
        done = run("--address", visitor.base.removeprefix("http://"), **TOKEN)

    assert done.returncode == 2 and "cannot listen there" in done.stderr


def test_a_folder_is_served_by_an_academy_that_ends_with_the_pages(tmp_path: Path) -> None:
    with Store(tmp_path / "library"):
        pass
    with served_pages("--library", tmp_path / "library") as visitor:
        assert "knows no game yet" in visitor.get("/").words
        children = (
            Path(f"/proc/{visitor.process.pid}/task/{visitor.process.pid}/children").read_text().split()
        )
        assert children
    assert visitor.process.returncode == 0
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    done = run("--library", str(tmp_path / "nothing"))

    assert done.returncode == 1 and "no such folder" in done.stderr


def test_a_folder_of_other_things_does_not_become_a_library(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ann")

    done = run("--library", str(tmp_path))

    assert done.returncode == 1 and "holds no data of ACADEMY" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_competitions_that_cannot_be_served_are_named(tmp_path: Path) -> None:
    done = run("--competitions", str(tmp_path / "nothing"))
    assert done.returncode == 1 and "no such control file" in done.stderr
    program = tmp_path / "old.ctl"
    program.write_text("competition_type = 'playoff'\n")
    done = run("--competitions", str(program))
    assert done.returncode == 1 and "write it in TOML" in done.stderr
    assert done.stderr.count("\n") == 1
    done = run("--competitions", str(tmp_path), "--arena", "127.0.0.1:1")
    assert done.returncode == 2 and "not both" in done.stderr


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


def test_behind_a_proxy_every_name_is_taken() -> None:
    with served_pages("--behind-proxy", "--public", token="any") as visitor:
        answer = visitor.get("/robots.txt", host="games.example.org")
    assert isinstance(visitor, Visitor) and answer.status == 200
    assert "max-age" in answer.headers["strict-transport-security"]
