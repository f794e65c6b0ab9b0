"""Variables that a control file names as tokens: no player's program finds them, wherever it is started."""

import asyncio
import sys
from pathlib import Path

import pytest

from arena.control.tokens import MissingTokenError, token_in, variables_named, withheld_tokens
from arena.control.toml_file import parse
from arena.players.process import inherited_environment
from arena.service.folder import CompetitionFolder
from arena.service.runs import Runs
from referees.toml_text import read_toml
from tests.arena.cli.command import arena
from tests.arena.contest_server import TOKEN, ContestServer
from tests.arena.engines import ENGINE

GO = '[competition]\nkind = "all-play-all"\nrounds = 2\n[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\n'
WARLIGHT = GO.partition("[game]")[0] + '[game]\nname = "warlight"\n'
DIPLOMACY = (
    '[competition]\nkind = "mars"\n[[series]]\nname = "one"\nselector = "least-played"\ngames = 1\n'
    'contestants = { ann = 1, bob = 1 }\n[game]\nname = "diplomacy"\n'
)
GTP = f'["sh", "-c", "env >> seen.txt; exec {sys.executable} -I -S {ENGINE} passes"]'
ENV = '["sh", "-c", "env >> seen.txt; exit 1"]'


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUP_TOK", TOKEN)
    monkeypatch.setenv("BOT_TOK", "token-of-a-bot")


def written(folder: Path, game: str, player: str, address: str = "127.0.0.1:1") -> Path:
    (folder / "env.sh").write_text(f"#!/bin/sh\nenv >> {folder}/seen.txt\nexit 1\n")
    (folder / "env.sh").chmod(0o755)
    where = f'working_directory = "{folder}"'
    players = "".join(f"[players.{name}]\n{player}\n{where}\n" for name in ("ann", "bob"))
    dials_in = '[players.eve]\nprotocol = "grpc"\ntoken_env = "BOT_TOK"\n' if game is GO else ""
    chosen = game.replace("rounds", 'competitors = ["ann", "bob"]\nrounds')
    path = folder / "cup.toml"
    path.write_text(f'{chosen}{players}{dials_in}[academy]\naddress = "{address}"\ntoken_env = "CUP_TOK"\n')
    return path


def seen_by(folder: Path) -> str:
    seen = (folder / "seen.txt").read_text()
    assert "PATH=" in seen
    return seen


@pytest.mark.parametrize(
    ("game", "player"),
    [
        (GO, f"command = {GTP}"),
        (WARLIGHT, f'protocol = "lines"\ncommand = {ENV}'),
        (DIPLOMACY, 'protocol = "policy"\ncommand = "bots:make"\ninterpreter = "./env.sh"'),
    ],
)
@pytest.mark.parametrize("address", ["127.0.0.1:1", "none"])
def test_a_checked_program_finds_no_token(tmp_path: Path, game: str, player: str, address: str) -> None:
    arena("check", written(tmp_path, game, player, address))
    seen = seen_by(tmp_path)
    assert TOKEN not in seen
    assert ("BOT_TOK=" in seen) == (game is not GO)


@pytest.mark.parametrize("kept", ["", "\nrestart = false"])
@pytest.mark.threat("impersonation")
def test_a_program_that_plays_finds_no_token_and_the_arena_still_has_it(
    tmp_path: Path, server: ContestServer, kept: str
) -> None:
    path = written(tmp_path, GO, f"command = {GTP}{kept}", server.address)
    done = arena("run", "--quiet", path)
    assert done.returncode == 0, done.stderr
    assert len(server.reports) == 2
    seen = seen_by(tmp_path)
    assert "_TOK=" not in seen and TOKEN not in seen


@pytest.mark.threat("impersonation")
def test_a_run_under_a_service_finds_no_token_of_another_competition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, GO, f"command = {GTP}")
    (tmp_path / "broken.toml").write_text("[")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.toml").write_text('[players.x]\ntoken_env = "OTHERS_TOK"\n')
    monkeypatch.setenv("OTHERS_TOK", "of-another")
    folder = CompetitionFolder(tmp_path)
    assert folder.token_variables() == {"CUP_TOK", "BOT_TOK", "OTHERS_TOK"}
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen.txt\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))

    async def start() -> None:
        runs = Runs(tmp_path / "lobby")
        await runs.start(tmp_path / "cup.toml", {}, folder.token_variables() - {"CUP_TOK", "BOT_TOK"})
        while len(runs):
            await asyncio.sleep(0.02)

    asyncio.run(start())
    seen = seen_by(tmp_path)
    assert "OTHERS_TOK=" not in seen and "CUP_TOK=" in seen and "ARENA_LOBBY=" in seen


def test_a_withheld_token_can_be_read_by_the_arena_and_is_there_again_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = parse(tmp_path / "cup.toml", written(tmp_path, GO, f"command = {GTP}").read_text())
    assert control.token_variables == {"CUP_TOK", "BOT_TOK"} and control.academy is not None
    with withheld_tokens(control.token_variables):
        assert control.academy.read_token() == TOKEN
    assert token_in("CUP_TOK") == TOKEN
    monkeypatch.delenv("CUP_TOK")
    with pytest.raises(MissingTokenError):
        control.academy.read_token()


def test_a_variable_that_only_the_users_own_names_make_a_token_is_kept_from_nobody(tmp_path: Path) -> None:
    text = written(tmp_path, GO, 'command = "x"\nenvironment = { token_env = "HOME" }').read_text()
    text += '[workers]\nvariables = { token_env = "PATH" }\n'
    assert parse(tmp_path / "cup.toml", text).token_variables == {"CUP_TOK", "BOT_TOK"}


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ('[players.academy]\ntoken_env = "A"\n[players.environment]\ntoken_env = "B"', {"A", "B"}),
        ('[listener]\ntoken_env = "A"', {"A"}),
        ('players = 1\n[academy]\ntoken_env = ["A"]', set()),
    ],
)
def test_tokens_of_players_academy_and_listeners_are_withheld(table: str, named: set[str]) -> None:
    assert set(variables_named(read_toml(table))) == named


def test_programs_find_no_token_of_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TOKEN", "an operator's")
    assert b"ARENA_TOKEN" not in inherited_environment() and b"PATH" in inherited_environment()
