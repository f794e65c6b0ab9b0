"""The tokens of players that dial in to `arena run`: made, kept, demanded, and hidden from everybody else."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from academy.wire.addresses import InvalidAddressError
from arena.control.settings import Control
from arena.control.tokens import MissingTokenError
from arena.control.toml_file import parse
from arena.runner.files import CompetitionFiles
from arena.runner.remote_players import remote_players
from clients.connection import AcademyRefusedError, Connection
from clients.remote_play import dial_in

CONTROL = """
[competition]
kind = "all-play-all"
[game]
name = "go"
board_size = 5
[remote]
address = "127.0.0.1:0"
[players.one]
protocol = "grpc"
reconnect_seconds = 0
[players.two]
protocol = "grpc"
"""


Opening = Callable[..., tuple[Control, list[str]]]


@pytest.fixture
def opening(tmp_path: Path) -> Iterator[Opening]:
    """Opens the lobby of a control file until the test ends; returns the players and the messages."""
    stack = ExitStack()

    def opened(content: str = CONTROL, without_tokens: bool = False) -> tuple[Control, list[str]]:
        lines: list[str] = []
        path = tmp_path / "cup.toml"
        tokens = CompetitionFiles(path).tokens
        block = remote_players(
            parse(path, content), lines.append, lambda *_, **__: None, tokens, without_tokens=without_tokens
        )
        return stack.enter_context(block), lines

    with stack:
        yield opened


def address_in(lines: list[str]) -> str:
    return lines[0].split()[5].rstrip(",")


def dialled(address: str, token: str) -> int:
    return dial_in(Connection(address, token=token), "one", lambda game: lambda turn: None, redial_seconds=0)


@pytest.mark.threat("impersonation")
def test_each_player_gets_a_token_in_a_file_that_only_this_user_reads(
    tmp_path: Path, opening: Opening
) -> None:
    _, lines = opening()
    folder = tmp_path / "cup.tokens"
    assert lines == [f"remote players dial in at {address_in(lines)}, with the tokens in {folder}: one, two"]
    tokens = {file.name: file.read_text(encoding="ascii").strip() for file in folder.iterdir()}
    assert sorted(tokens) == ["one", "two"] and tokens["one"] != tokens["two"]
    assert all(len(token) >= 43 for token in tokens.values())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


@pytest.mark.threat("impersonation")
def test_a_bot_without_the_players_token_does_not_get_in(tmp_path: Path, opening: Opening) -> None:
    _, lines = opening()
    of_two = (tmp_path / "cup.tokens" / "two").read_text().strip()
    for token, reason in (("", "TOKEN_INVALID"), ("guess", "NOT_PERMITTED"), (of_two, "NOT_PERMITTED")):
        with pytest.raises(AcademyRefusedError) as refused:
            dialled(address_in(lines), token)
        assert refused.value.reason == reason


def test_a_later_run_has_the_same_tokens(opening: Opening) -> None:
    first, _ = opening()
    again, _ = opening()
    digests = [control.players["one"].parameters["token_digest"] for control in (first, again)]
    assert digests[0] == digests[1]


def test_a_token_of_the_control_file_takes_the_place_of_the_file(
    tmp_path: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_TWO", "sesame")
    _, lines = opening(CONTROL + 'token_env = "TOKEN_OF_TWO"\n')
    assert [file.name for file in (tmp_path / "cup.tokens").iterdir()] == ["one"]
    assert lines[0].endswith(": one")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: folder.chmod(0o755), r"cup.tokens: others may read .* \(mode 755\); chmod 700"),
        (lambda folder: (folder / "one").chmod(0o644), r"one: others may read .* \(mode 644\); chmod 600"),
        (lambda folder: (folder / "one").write_text("\n"), "one: holds no token: 1 to 512"),
        (lambda folder: (folder / "one").write_text("x" * 1000), "one: holds no token: 1 to 512"),
        (
            lambda folder: (folder / "one").rename(folder / "o") and (folder / "one").symlink_to("o"),
            "one: is not a file of this user",
        ),
        (
            lambda folder: folder.rename(folder.with_name("x")) and folder.symlink_to("x"),
            "cup.tokens: is not a folder of this user",
        ),
    ],
)
@pytest.mark.threat("impersonation")
def test_a_file_that_others_can_read_or_put_there_is_refused(
    tmp_path: Path, opening: Opening, spoil: Callable[[Path], object], says: str
) -> None:
    opening()
    spoil(tmp_path / "cup.tokens")
    with pytest.raises(MissingTokenError, match=says):
        opening()


def test_a_run_without_player_tokens_admits_any_caller_of_the_name_and_warns(
    tmp_path: Path, opening: Opening, capsys: pytest.CaptureFixture[str]
) -> None:
    control, lines = opening(without_tokens=True)
    assert "token_digest" not in control.players["one"].parameters
    assert not (tmp_path / "cup.tokens").exists() and lines == [
        f"remote players dial in at {address_in(lines)}"
    ]
    assert (
        "arena: --no-player-tokens: any program on this machine can take over the games and the ACADEMY "
        "tickets of one, two" in capsys.readouterr().err
    )


@pytest.mark.threat("impersonation")
def test_a_run_without_player_tokens_does_not_reach_beyond_this_machine(opening: Opening) -> None:
    beyond = CONTROL.replace('"127.0.0.1:0"', '"0.0.0.0:0"\ninsecure = true')
    with pytest.raises(InvalidAddressError, match=r"0\.0\.0\.0:0 is open to other machines"):
        opening(beyond, without_tokens=True)
    _, lines = opening(beyond)
    assert "with the tokens in" in lines[0]


def test_a_client_finds_its_token_in_a_file_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one"
    file.write_text("sesame\n")

    assert Connection.to_arena() == Connection("127.0.0.1:50561")
    assert Connection.to_arena("there:1", token_file=file) == Connection("there:1", token="sesame")
    monkeypatch.setenv("ARENA_TOKEN_FILE", str(file))
    monkeypatch.setenv("ARENA_ADDRESS", "elsewhere:2")
    monkeypatch.setenv("ARENA_TLS_CA", "ca.pem")
    assert Connection.to_arena() == Connection("elsewhere:2", token="sesame", ca="ca.pem")
    monkeypatch.setenv("ARENA_TOKEN", "open")
    assert Connection.to_arena().token == "open"
    with pytest.raises(OSError, match="none"):
        Connection.to_arena(token_file=tmp_path / "none")
    file.write_text("")
    with pytest.raises(ValueError, match="one: holds no token"):
        Connection.to_arena(token_file=file)


def test_the_owner_of_the_file_is_checked(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    opening()
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(MissingTokenError, match="is not a folder of this user"):
        opening()
