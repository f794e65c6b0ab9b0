"""Those who taught, as admins see to them in a data folder, while a server uses it."""

from pathlib import Path

import pytest

from academy.knowledge.settings import Library
from academy.store.contest_commands import ReportContest
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.cli.conftest import Beside, CommandResult, pointed_at, run
from tests.academy.service import examples
from tests.academy.service.running import serving


def test_a_player_muted_in_the_folder_loses_its_votes_at_the_server_that_runs(
    tmp_path: Path, beside: Beside
) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        server.register(examples.tiny_go("go"))
        examples.teach(server, "go", "taught", [("ann", "x", 0.9), ("troll", "xo-", 0.2), ("ann", "o", 0.1)])
        muted = beside("players", "mute", "troll", "--data", data)
        assert "muted in 1 game; its votes for 1 pattern" in muted.out
        listed = pointed_at(server)("patterns", "go", "--library", "endgame", "--json").json()
        assert len(listed["patterns"]) == 2
        assert beside("players", "forget", "troll", "--really", "--data", data).exit_code == 0
        kept = pointed_at(server)("patterns", "go", "--library", "endgame", "--json").json()
        assert kept["patterns"] == listed["patterns"]


def test_a_player_is_listed_muted_and_forgotten(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.register(examples.tiny_go("go"))
        examples.teach(server, "go", "taught", [("ann", "x", 0.9), ("troll", "xo-", 0.2), ("ann", "o", 0.1)])

    def players(*arguments: str) -> CommandResult:
        return run("players", *arguments, "--data", tmp_path)

    def patterns() -> int:
        with Store(tmp_path, read_only=True) as store:
            return len(store.follow().refresh("go").libraries[Library.ENDGAME])

    listed = {player["player"]: player["votes"]["endgame"] for player in players("list", "--json").json()}
    assert (listed["ann"], listed["troll"]) == (2, 1)
    assert "muted in 1 game; its votes for 1 pattern" in players("mute", "troll").out
    assert patterns() == 2
    assert "its votes for 1 pattern are back" in players("unmute", "troll").out
    assert patterns() == 3
    assert "'troll' is not muted" in players("unmute", "troll").err

    shown = players("forget", "troll")
    assert "go: 1 pattern would be removed" in shown.out and "do it with --really" in shown.out
    assert patterns() == 3
    assert "go: 1 pattern removed" in players("forget", "troll", "--really").out
    assert patterns() == 2
    assert "sound" in run("check", "--data", tmp_path).out


def test_a_name_that_nothing_is_known_of_is_muted_by_force_only(tmp_path) -> None:  # type: ignore[no-untyped-def]
    run("tokens", "create", "ann", "--data", tmp_path)
    assert run("players", "mute", "ann", "--data", tmp_path).exit_code == 0
    mistyped = run("players", "mute", "anm", "--data", tmp_path)
    assert mistyped.exit_code == 1 and "'anm' is unknown here" in mistyped.err
    assert "anm" not in run("players", "list", "--json", "--data", tmp_path).out
    assert run("players", "mute", "anm", "--force", "--data", tmp_path).exit_code == 0
    assert run("players", "unmute", "anm", "--data", tmp_path).exit_code == 0


@pytest.mark.parametrize("name", ["", "a\nb"])
def test_what_is_not_a_name_cannot_be_muted(tmp_path, name: str) -> None:  # type: ignore[no-untyped-def]
    run("tokens", "create", "x", "--data", tmp_path)
    assert "control characters" in run("players", "mute", name, "--data", tmp_path).err
    assert "is not registered" in run("players", "forget", "ann", "--game", "chess", "--data", tmp_path).err
    assert run("players", "list", "--data", tmp_path).exit_code == 0


def test_the_elo_of_a_player_is_shown_for_one_game_only(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with Store(tmp_path) as store:
        for game_id, elo in (("go-a", 2400), ("go-b", 900)):
            store.run(RegisterGame(examples.tiny_go(game_id), "admin"))
            contest = examples.contest(f"in/{game_id}", game_id, elos=(elo, 1500.0))
            store.run(ReportContest(examples.report(contest, ["c3"]), "arena"))

    def elo_of_ann(*options: str) -> object:
        rows = run("players", "list", "--json", *options, "--data", tmp_path).json()
        return next(row for row in rows if row["player"] == "ann")["elo"]

    assert elo_of_ann("--game", "go-a") == 2400
    assert elo_of_ann("--game", "go-b") == 900
    assert elo_of_ann() is None
