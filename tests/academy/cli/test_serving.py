"""The options of `academy serve`, and what becomes of them."""

from pathlib import Path
from typing import Any

import pytest

from academy.cli import server_process
from academy.service.limits import Limits
from academy.service.server import ServerSettings
from academy.store.shared_log.address import LogAddress
from academy.wire import logs
from academy.wire.addresses import ServerAddress
from academy.wire.tls import Certificates
from tests.academy.cli.conftest import run


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """How logs were configured."""
    words: list[tuple[str, str]] = []
    monkeypatch.setattr(logs, "configure", lambda *level_and_format: words.append(level_and_format))
    return words


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What servers would have been run with."""
    runs: list[Any] = []
    monkeypatch.setattr(server_process, "run_server", lambda *arguments: runs.append(arguments))
    return runs


def test_the_options_of_serve_become_the_servers_settings(
    tmp_path: Path, given: list[Any], configured: list[tuple[str, str]]
) -> None:
    options = {
        "--data": tmp_path,
        "--address": "0.0.0.0:7000",
        "--tls-cert": "server.pem",
        "--tls-key": "server.key",
        "--tls-client-ca": "clients.pem",
        "--processes": 3,
        "--hang-seconds": 7.5,
        "--metrics-address": "127.0.0.1:7001",
        "--grace": 2.5,
        "--rate": 12.0,
        "--concurrent-calls": 5,
        "--idle-seconds": 45.0,
        "--contest-hours": 1.5,
        "--analysis-patterns": 99,
        "--backups": "copies",
        "--log": "nats://one,two/club",
        "--log-replicas": 2,
        "--snapshot-every": 1_000,
        "--log-level": "warning",
        "--log-format": "json",
    }
    words = [word for option in options.items() for word in option]

    result = run("serve", *words, "--insecure", "--cut-log")

    assert result.exit_code == 0, result.err
    ((data, settings, configure_logs, *others),) = given
    assert settings == ServerSettings(
        address=ServerAddress.parse("0.0.0.0:7000"),
        certificates=Certificates(Path("server.pem"), Path("server.key"), Path("clients.pem")),
        insecure=True,
        metrics_address=ServerAddress.parse("127.0.0.1:7001"),
        grace=2.5,
        limits=Limits(
            questions_per_second=12.0,
            question_burst=24.0,
            concurrent_calls=5,
            concurrent_calls_per_caller=5,
            idle_stream_seconds=45.0,
            contest_seconds=5_400.0,
            patterns_outside_contests_per_hour=99,
        ),
        backups=Path("copies"),
        log=LogAddress.parse("nats://one,two/club", 2),
        snapshot_every=1_000,
        cut_log=True,
    )
    assert (data, *others) == (tmp_path, 3, 7.5, None)
    configure_logs()
    assert configured == [("warning", "json")] * 2


def test_without_options_a_server_has_the_settings_that_are_the_default(
    given: list[Any], configured: list[tuple[str, str]]
) -> None:
    assert run("serve").exit_code == 0
    ((data, settings, *_),) = given
    assert (data, settings, configured) == (Path("academy-data"), ServerSettings(), [("info", "auto")])
