"""Players of a competition reach an ACADEMY that asks for certificates, and propose to it."""

from pathlib import Path

import pytest

from academy.service.server import ServerSettings
from academy.store.tokens import Role
from academy.wire.addresses import ServerAddress
from academy.wire.tls import Certificates
from clients import Academy, Connection
from tests.academy.service import certificates
from tests.academy.service.running import serving
from tests.arena.cli.command import arena

CONTROL = """\
[competition]
kind = "all-play-all"
rounds = 2
check_players = false

[game]
name = "go"
board_size = 5
komi = 0.5
move_limit = 60

[players.random]
command = "academy-bot go --set board_size=5 --set komi=0.5 --search random --seed {{seed}} --academy"

[players.monte-carlo]
command = "academy-bot go --set board_size=5 --set komi=0.5 --playouts 5 --seed {{seed}} --academy"

[academy]
address = "localhost:{port}"
token = "{token}"
tls_ca = "ours.pem"
tls_cert = "arena.pem"
tls_key = "arena.key"
player_tls_cert = "player.pem"
player_tls_key = "player.key"
"""


def test_players_show_the_certificate_that_the_control_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = certificates.authority(tmp_path, "ours")
    server = certificates.signed(tmp_path, "server", authority)
    for name in ("arena", "player"):
        certificates.signed(tmp_path, name, authority)
    settings = ServerSettings(
        address=ServerAddress.parse("127.0.0.1:0"),
        certificates=Certificates(server.certificate, server.key, authority=authority),
    )
    with serving(tmp_path / "data", settings) as academy:
        control = tmp_path / "cup.toml"
        token = academy.token("arena", Role.ARENA)
        control.write_text(CONTROL.format(port=academy.address.port, token=token))
        # The files are named relative to the control file's folder.
        monkeypatch.chdir("/")
        done = arena("run", control, "--quiet")
        log = (tmp_path / "cup.log").read_text()
        assert done.returncode == 0, done.stdout + done.stderr + log
        assert "without ACADEMY" not in log
        for name in ("random", "monte-carlo"):
            own = Connection(
                f"localhost:{academy.address.port}",
                academy.token(name),
                authority,
                tmp_path / "player.pem",
                tmp_path / "player.key",
            )
            with Academy(own) as reader:
                contests = {proposal.contest_id for proposal in reader.own_proposals()}
            # A contest that ends with passes has nothing to propose among its last plies.
            assert contests, f"{name} proposed nothing"
