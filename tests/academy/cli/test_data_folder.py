"""Tokens, check, backup and restore, on a folder that a server uses."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from academy.v1 import contests_pb2
from tests.academy.cli.conftest import Academy, Beside, run, run_each_in_one_process
from tests.academy.service import examples
from tests.academy.service.running import Running, refusal, serving
from tests.rights import obeying

GAMES = contests_pb2.ListGamesRequest()


def test_a_token_made_beside_a_running_server_is_good_until_it_is_revoked(
    tmp_path: Path, beside: Beside
) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        made = beside("tokens", "create", "ann lee", "--data", data)
        assert re.fullmatch(r"acd_[0-9a-f]{16}_[\w-]{43}\n", made.out)
        client = server.client(made.out.strip())
        client.contests.ListGames(GAMES)

        token_id = made.out.split("_")[1]
        assert "revoked" in beside("tokens", "revoke", token_id, "--data", data).out

        assert refusal(lambda: client.contests.ListGames(GAMES)).reason == "TOKEN_REVOKED"


def test_tokens_and_muted_players_of_a_server_on_another_machine(running: Running, academy: Academy) -> None:
    there = ("--address", running.address)
    made = academy(
        "tokens", "create", "far", "--role", "analyst", "--expires", "30d", *there, "--json"
    ).json()
    running.client(made["token"]).contests.ListGames(GAMES)
    listed = academy("tokens", "list", *there, "--json").json()
    (far,) = [token for token in listed if token["name"] == "far"]
    assert far == {name: value for name, value in made.items() if name != "token"}
    assert academy("tokens", "revoke", "far", *there).out == f"revoked {made['token_id']} of far\n"
    refused = academy("tokens", "create", "boss", "--role", "admin", *there)
    assert refused.exit_code == 1 and "made where the data are" in refused.err
    assert "votes for 1 pattern count no longer" in academy("players", "mute", "ann lee", *there).out
    assert "votes for 1 pattern are back" in academy("players", "unmute", "ann lee", *there).out
    assert "is not muted" in academy("players", "unmute", "ann lee", *there).err


def test_a_token_is_revoked_by_its_name_where_no_other_has_it(tmp_path: Path) -> None:
    def made(name: str) -> str:
        return str(run("tokens", "create", name, "--data", tmp_path, "--json").json()["token_id"])

    first, other = made("ann"), made("bob")
    assert run("tokens", "revoke", "ann", "--data", tmp_path).out == f"revoked {first} of ann\n"
    # One that is revoked already is not meant.
    second, third = made("ann"), made("ann")
    result = run("tokens", "revoke", "ann", "--data", tmp_path)
    assert result.exit_code == 1
    assert "'ann' is the name of 2 tokens" in result.err and second in result.err and third in result.err
    assert first not in result.err
    # An id comes before a name.
    made(other)
    assert run("tokens", "revoke", other, "--data", tmp_path).out == f"revoked {other} of bob\n"


def test_tokens_have_roles_and_may_expire(tmp_path: Path) -> None:
    made = run(
        "tokens", "create", "boss", "--role", "admin", "--expires", "30d", "--data", tmp_path, "--json"
    ).json()
    assert (made["name"], made["role"], made["revoked"]) == ("boss", "admin", None)
    assert made["token"].startswith(f"acd_{made['token_id']}_")
    table = run("tokens", "list", "--data", tmp_path).out
    assert "boss" in table and made["expires"][:10] in table
    assert run("tokens", "create", "ann lee", "--data", tmp_path).exit_code == 0
    listed = run("tokens", "list", "--data", tmp_path, "--json").json()
    assert {(token["name"], token["role"], token["revoked"]) for token in listed} == {
        ("ann lee", "bot", None),
        ("boss", "admin", None),
    }
    assert "secret" not in listed[0] and made["token"] not in str(listed)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (("create", "x", "--expires", "soon"), 2, "'soon' is not a time"),
        (("create", "x", "--expires", "0d"), 2, "'0d' is not a time"),
        (("create", "x", "--expires", "99999999w"), 2, "at most 100 years"),
        (("create", "x", "--expires", "9" * 5_000 + "w"), 2, "at most 100 years"),
        (("create", ""), 1, "1 to 128 characters"),
        (("create", " "), 1, "begins or ends with a blank"),
        (("create", "x", "--role", "king"), 2, "king"),
        (("revoke", "nobody"), 1, "no token 'nobody'"),
    ],
)
def test_a_token_with_a_wrong_name_role_or_time_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], exit_code: int, words: str
) -> None:
    run("tokens", "create", "first", "--data", tmp_path)
    result = run("tokens", *arguments, "--data", tmp_path)
    assert (result.exit_code, words in result.err) == (exit_code, True), result.err


def test_a_folder_that_a_token_makes_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "libary is a new data folder" in run("tokens", "create", "ann", "--data", "libary").err
    assert run("tokens", "create", "ann", "--data", "libary").err == ""
    assert "Tokens in libary" in run("tokens", "list", "--data", "libary").out


def test_tokens_that_ended_are_listed_where_all_are_wanted(tmp_path: Path) -> None:
    for name in ("good", "gone"):
        run("tokens", "create", name, "--data", tmp_path)
    run("tokens", "revoke", "gone", "--data", tmp_path)
    # Only where it is long past can a token be made that has expired.
    with Store(tmp_path, clock=lambda: 1_000.0) as store:
        store.run(CreateToken("late", Role.BOT, expires=2_000.0))

    shown = run("tokens", "list", "--data", tmp_path).out
    assert "good" in shown and "gone" not in shown and "late" not in shown
    assert "2 that are revoked or have expired are listed with --all" in shown
    listed = run("tokens", "list", "--all", "--data", tmp_path, "--json").json()
    assert {token["name"] for token in listed} == {"good", "gone", "late"}


def test_an_address_in_the_environment_alone_is_answered_with_the_option(tmp_path: Path) -> None:
    refused = run("tokens", "list", "--data", tmp_path, ACADEMY_ADDRESS="unix:some.socket")
    assert refused.exit_code == 2
    assert "a server only with --address, such as unix:some.socket" in refused.err


@pytest.mark.parametrize(
    "command",
    [("compact",), ("check",), ("snapshot",), ("freeze",), ("players", "list"), ("players", "forget", "a")],
)
def test_nobody_is_sent_to_an_address_that_the_command_does_not_take(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    refused = run(*command, "--data", tmp_path, ACADEMY_ADDRESS="unix:some.socket")
    assert refused.exit_code == 2
    assert "give the folder with --data; this command works on a data folder only\n" in refused.err


def test_a_token_that_an_earlier_version_let_live_too_long_is_listed(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(CreateToken("ann", Role.BOT, 6e13))
    assert "6e+13" in run("tokens", "list", "--data", tmp_path).out.replace("\n", "")
    (listed,) = run("tokens", "list", "--data", tmp_path, "--json").json()
    assert listed["expires"] == "6e+13 s after 1970"


@pytest.mark.parametrize(
    "command", [("tokens", "list"), ("tokens", "revoke", "x"), ("check",), ("backup", "copy")]
)
def test_a_folder_without_data_is_not_made_into_one(tmp_path: Path, command: tuple[str, ...]) -> None:
    result = run(*command, "--data", tmp_path / "none")
    assert result.exit_code == 2
    assert "give the folder with --data" in result.err
    assert not (tmp_path / "none").exists()


@pytest.fixture(scope="module")
def some_contests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some contests."""
    data = tmp_path_factory.mktemp("filled") / "data"
    with serving(data) as server:
        fill(server)
    return data


@pytest.fixture
def filled(some_contests: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(some_contests, tmp_path / "data")


def fill(server: Running, first: int = 0) -> None:
    server.register(examples.tiny_go("go"))
    for number in range(first, first + 3):
        server.report(examples.report(examples.contest(f"c/{number}", "go"), ["c3", "b2"]))


def test_check_calls_a_sound_folder_sound(filled: Path) -> None:
    assert f"{filled}: 4 events, sound" in run("check", "--data", filled).out
    assert run("check", "--data", filled, "--no-replay", "--json").json() == {"events": 4, "findings": []}


def test_check_names_a_missing_event(filled: Path) -> None:
    environment = lmdb.open(str(filled), max_dbs=32)
    with environment.begin(write=True) as transaction:
        table = environment.open_db(b"events", txn=transaction)
        assert transaction.delete((2).to_bytes(8), db=table)
    environment.close()

    result = run("check", "--data", filled)

    assert result.exit_code == 4
    assert "event 2 is missing" in result.out
    assert "faults" in result.out.splitlines()[-1]


def test_a_backup_of_a_served_folder_is_its_state_and_can_be_served(tmp_path: Path, beside: Beside) -> None:
    data, copy, again = tmp_path / "data", tmp_path / "copy", tmp_path / "again"
    with serving(data) as server:
        fill(server)
        assert "verified" in beside("backup", copy, "--data", data).out
        fill(server, first=3)
    shutil.rmtree(data)

    assert "verified" in run("restore", copy, "--data", again).out

    assert "4 events, sound" in run("check", "--data", again).out
    with serving(again) as server:
        fill(server, first=3)
    assert "7 events, sound" in run("check", "--data", again).out


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--token", "x"), "--token is for --address"),
        (("--token-file", "x"), "--token-file is for --address"),
        (("--insecure",), "--insecure is for --address"),
        (("--tls-ca", "x.pem"), "--tls-ca is for --address"),
        (("--address", "127.0.0.1:1"), "give --address or --data, not both"),
    ],
)
def test_options_of_a_backup_that_would_be_ignored_are_refused(
    filled: Path, tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    refused = run("backup", tmp_path / "copy", "--data", filled, *options)
    assert refused.exit_code == 2 and why in refused.err
    checked = run("check", "--data", filled, "--tls-cert", "x.pem")
    assert checked.exit_code == 2 and "--tls-cert is for --against" in checked.err
    moved = run("move", "--to", "own", "--data", filled, "--log-replicas", "3")
    assert moved.exit_code == 2 and "--log-replicas is for a new stream" in moved.err


def test_a_backup_that_is_ended_leaves_nothing_of_its_copy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        command = (sys.executable, "-m", "academy", "backup", "copy", "--address", address)
        environment = {**os.environ, "ACADEMY_TOKEN": "academy_of_nobody"}
        with subprocess.Popen(command, cwd=tmp_path, env=environment) as backup:
            # It calls the server from within the folder of its copy.
            silent.settimeout(60)
            with silent.accept()[0]:
                assert any(tmp_path.iterdir())
                backup.terminate()
                assert backup.wait(60) == -signal.SIGTERM
    assert not any(tmp_path.iterdir())


def test_a_folder_that_this_user_may_not_read_is_not_called_damaged(tmp_path: Path) -> None:
    data = tmp_path / "data"
    Store(data).close()
    (data / "data.mdb").chmod(0)
    commands = [["check", "--data", data], ["compact", "--data", data]]
    commands += [
        ["backup", tmp_path / "copy", "--data", data],
        ["restore", data, "--data", tmp_path / "copy"],
    ]
    for refused in run_each_in_one_process(commands, obeying):
        assert refused.exit_code == 1 and "Permission denied; check owner" in refused.err
        assert "restore" not in refused.err and not (tmp_path / "copy").exists()


def test_the_version_and_the_commands_are_shown() -> None:
    assert re.fullmatch(r"academy \d+\.\d+\.\d+\n", run("--version").out)
    help_text = run("--help").out
    for command in (
        "serve", "games", "patterns", "openings", "events", "statistics", "prune", "export", "import",
        "settings", "tokens", "check", "backup", "restore",
    ):  # fmt: skip
        assert command in help_text


@pytest.mark.parametrize("words", [(), ("patterns",), ("openings",), ("arenas",), ("players",)])
def test_help_in_a_narrow_terminal_says_whole_sentences_of_each_command(words: tuple[str, ...]) -> None:
    shown = " ".join(run(*words, "--help", COLUMNS="80").out.split())
    assert "..." not in shown.replace("[ARGS]...", "")


def test_the_help_of_the_program_shows_first_steps() -> None:
    assert "academy serve --data library" in " ".join(run("--help", COLUMNS="80").out.split())


def test_old_events_are_compacted_beside_a_running_server(tmp_path: Path, beside: Beside) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        server.register(examples.tiny_go("go"))
        reports = [examples.report(examples.contest(f"go/{number}", "go"), ["c3"]) for number in range(9)]
        for report in reports:
            server.report(report)

        done = beside("compact", "--data", data, "--keep", 2, "--json").json()

        assert done == {"removed": 8, "left": 2}
        assert not server.report(reports[0]).counted
        more = examples.report(examples.contest("go/more", "go"), ["c3"])
        assert server.report(more).counted
        refused = beside("compact", "--data", data, "--shrink")
        assert refused.exit_code == 1 and "stop its servers" in refused.err
        assert "events replaced by snapshots" in refused.out, "it tells what it did before"
    assert "sound" in run("check", "--data", data).out
    shrunk = run("compact", "--data", data, "--keep", 1, "--shrink").out
    assert "2 events replaced by snapshots, 1 left" in shrunk and "bytes before" in shrunk
    assert "sound" in run("check", "--data", data).out


@pytest.mark.parametrize("command", [("backup", "TARGET"), ("compact",), ("compact", "--shrink")])
def test_damaged_pages_are_neither_copied_nor_compacted(
    filled: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = filled / "data.mdb"
    content = bytearray(file.read_bytes())
    content[2 * 4096 :] = b"\x5a" * (len(content) - 2 * 4096)
    file.write_bytes(content)
    target = tmp_path / "backup"

    result = run(*(str(target) if word == "TARGET" else word for word in command), "--data", filled)

    assert result.exit_code == 4
    assert "page" in result.err and "restore a backup" in result.err
    assert not target.exists()
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "command",
    [
        *(("check",), ("backup", "TARGET"), ("compact",), ("tokens", "list"), ("tokens", "create", "ann")),
        ("serve", "--address", "127.0.0.1:0", "--log-level", "warning"),
    ],
)
def test_a_file_that_was_cut_short_ends_no_command_without_a_word(
    filled: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = filled / "data.mdb"
    file.write_bytes(file.read_bytes()[: 4 * 4096])

    result = run(*(str(tmp_path / "b") if word == "TARGET" else word for word in command), "--data", filled)

    assert result.exit_code == 4
    assert "the file ends after page 3" in result.out + result.err
    assert "restore a backup" in result.out + result.err
