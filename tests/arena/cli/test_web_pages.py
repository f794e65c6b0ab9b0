"""The pages beside a run: what of the control file they get."""

import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from academy.service.server import ServerSettings
from academy.store.tokens import Role
from academy.wire.addresses import ServerAddress
from academy.wire.tls import Certificates
from arena.cli.web_pages import served_pages
from arena.control.control_file import read_control
from tests.academy.service.certificates import authority, signed
from tests.academy.service.running import serving
from tests.arena.control_files import RANDOM, write_control


def pages_beside(folder: Path, academy: str) -> AbstractContextManager[str]:
    """The pages beside a run at an ACADEMY, as `arena run --web` starts them."""
    control = write_control(folder, {"ann": RANDOM, "bob": RANDOM}, more=f"[academy]\n{academy}")
    return served_pages(control, "127.0.0.1:0", read_control(control).academy)


def test_pages_start_where_the_token_goes_in_clear_because_the_control_file_says_so(tmp_path: Path) -> None:
    with pages_beside(tmp_path, 'address = "192.0.2.1:50551"\ninsecure = true\ntoken = "any"') as opened:
        assert opened.startswith("Open http://")


def test_pages_show_an_academy_that_asks_for_the_arenas_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the arena's environment says is of another ACADEMY.
    monkeypatch.setenv("ACADEMY_TLS_CA", str(tmp_path / "other.pem"))
    ours = authority(tmp_path, "ours")
    server = signed(tmp_path, "server", ours)
    signed(tmp_path, "arena", ours)
    settings = ServerSettings(
        ServerAddress.parse("127.0.0.1:0"), Certificates(server.certificate, server.key, ours)
    )
    with serving(tmp_path / "data", settings) as running:
        token = running.token("admin", Role.ADMIN)
        settings_of_academy = (
            f'address = "{running.address}"\ntoken = "{token}"\n'
            'tls_ca = "ours.pem"\ntls_cert = "arena.pem"\ntls_key = "arena.key"'
        )
        with pages_beside(tmp_path, settings_of_academy) as opened:
            page = urllib.request.urlopen(opened.split()[1], timeout=30).read().decode()

    assert "knows no game yet" in page
