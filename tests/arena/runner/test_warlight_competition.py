"""A competition of bots that speak lines: read from a control file, stopped, resumed, and recorded."""

import csv
import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.control.settings import ControlError
from arena.control.toml_file import read
from arena.reports.as_json import json_report
from arena.reports.html_page import html_page
from arena.reports.text import text_report
from arena.results.database import ResultsDatabase, ResultsError
from arena.results.exchange.exporting import export
from arena.runner.competition import RunEnd
from arena.runner.files import CompetitionFiles
from arena.runner.options import RunOptions
from arena.runner.report import read_report
from arena.runner.run import run
from arena.terminal.standings_table import standings_text
from referees.warlight import WarLight
from tests.arena.cli.command import arena

pytestmark = pytest.mark.usefixtures("games_here")

BOT = Path(__file__).parents[1] / "warlight_bot.py"
CONTROL = f"""
[competition]
kind = "all-play-all"
competitors = ["ann", "bob"]
rounds = 2

[game]
name = "warlight"
map = "double_small"
turn_limit = 12

[time_control]
main_seconds = 100
increment_seconds = 5
most_seconds = 100

[players.ann]
protocol = "lines"
crash = "lose"
late_turns = 5
command = "{sys.executable} -I -S {BOT} none"

[players.bob]
protocol = "lines"
dialogue = "ai-challenge-2"
command = "{sys.executable} -I -S {BOT} none ai-challenge-2"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "war.toml"
    path.write_text(CONTROL)
    return path


def test_a_control_file_says_how_bots_are_spoken_to(path: Path) -> None:
    control = read(path)
    assert control.players["ann"].parameters == {"crash": "lose", "late_turns": 5}
    assert control.players["bob"].parameters == {"dialogue": "ai-challenge-2"}
    clock = control.players["bob"].time_control
    assert clock is not None
    assert clock.most_seconds == 100


def test_a_check_says_that_bots_without_a_name_work(path: Path) -> None:
    printed = arena("check", path).stdout.splitlines()
    assert printed == [
        line for name in ("ann", "bob") for line in (f"checking player {name}", f"player {name} works")
    ]


def test_the_documents_control_file_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "warlight.md").read_text(encoding="utf-8")
    path = tmp_path / "war.toml"
    path.write_text(text.split("```toml\n")[1].split("```")[0])
    control = read(path)
    assert control.game.settings == {"map": "double_small"}
    assert [control.players[name].protocol for name in ("ann", "bob")] == ["lines", "lines"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('crash = "lose"', 'crash = "win"', "players.ann.crash: must be one of 'pass', 'lose'"),
        ("late_turns = 5", "late_turns = 0", "players.ann.late_turns"),
    ],
)
def test_a_wrong_setting_is_named(path: Path, old: str, new: str, message: str) -> None:
    path.write_text(CONTROL.replace(old, new))
    with pytest.raises(ControlError, match=message):
        read(path)


ISLAND = """Map
TerritoryDefinition 1 AN 2 3 11
TerritoryDefinition 2 BN 1 3
TerritoryDefinition 3 CN 1 2
TerritoryDefinition 11 AS 12 13 1
TerritoryDefinition 12 BS 11 13
TerritoryDefinition 13 CS 11 12
BonusDefinition 2 AllN 1 2 3
BonusDefinition 2 AllS 11 12 13
EndMap
"""


def test_a_maps_file_lies_beside_the_control_file_and_may_not_change(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    island = path.parent / "island.txt"
    island.write_text(ISLAND)
    path.write_text(CONTROL.replace('"double_small"', '"island.txt"\nstarts = 1'))
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    control = read(path)
    assert control.game.settings["map"] == "island.txt"
    assert control.game.located["map"] == str(island)
    files = CompetitionFiles(control.path)
    run(control, files, RunOptions(quiet=True, max_games=1))

    island.write_text(ISLAND.replace("BonusDefinition 2", "BonusDefinition 3"))
    with pytest.raises(
        ResultsError,
        match=r"^game: the games so far were played with warlight-island-\S+, the control file now has warl",
    ):
        run(read(path), files, RunOptions(quiet=True))

    island.write_text(ISLAND)
    assert run(read(path), files, RunOptions(quiet=True)).end is RunEnd.COMPLETED


def test_a_competition_goes_on_where_its_folder_was_moved_to_with_its_map(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    (first / "island.txt").write_text(ISLAND)
    (first / "war.toml").write_text(CONTROL.replace('"double_small"', '"island.txt"\nstarts = 1'))
    run(read(first / "war.toml"), CompetitionFiles(first / "war.toml"), RunOptions(quiet=True, max_games=1))
    first.rename(second)
    moved = read(second / "war.toml")
    assert run(moved, CompetitionFiles(moved.path), RunOptions(quiet=True)).end is RunEnd.COMPLETED


@pytest.mark.parametrize(
    ("more", "limit"),
    [
        ("", 1000),
        ("turn_limit = 500", 1000),
        ("turn_limit = 501", 1002),
        ("turn_limit = 900\nmove_limit = 30", 30),
    ],
)
def test_a_game_may_go_on_to_its_last_turn_unless_a_limit_is_given(path: Path, more: str, limit: int) -> None:
    path.write_text(CONTROL.replace("turn_limit = 12", more))
    assert read(path).game.move_limit == limit


def test_a_competition_is_played_resumed_and_recorded(path: Path) -> None:
    control = read(path)
    files = CompetitionFiles(control.path)
    run(control, files, RunOptions(quiet=True, max_games=1))
    records = sorted(path.parent.glob("war.games/*.json"))
    assert len(records) == 1
    run(control, files, RunOptions(quiet=True))
    records = sorted(path.parent.glob("war.games/*.json"))
    assert len(records) == 2
    for file in records:
        record = json.loads(file.read_text())
        rules = WarLight.from_settings(record["settings"])
        position = rules.start(int(record["seed"]))
        for turn in record["turns"]:
            assert turn["standing"]["armies"] == list(position.armies)
            orders = {
                seat: rules.read_move(position, seat, "; ".join(turn["orders"][seat - 1])) for seat in (1, 2)
            }
            position = rules.play(position, orders)
        assert record["final"]["armies"] == list(position.armies)
        assert all(seconds > 0 for seconds in record["turns"][-1]["seconds"])


@pytest.mark.parametrize(
    ("bot", "limits", "fault", "problem", "remark"),
    [
        ("exit-at-once", "", "disconnected", "2", "turn 1: "),
        (
            "mute",
            "late_turns = 2\nmove_seconds = 0.1\nstart_seconds = 0.5\nexit_seconds = 30\n",
            "late",
            "1",
            "turn 2: gets no more requests after 2 late turns",
        ),
    ],
)
def test_a_bot_that_is_lost_has_its_fault_in_all_results(
    path: Path, bot: str, limits: str, fault: str, problem: str, remark: str
) -> None:
    own = f'{limits}command = "{sys.executable} -I -S {BOT} {bot}"'
    whole = CONTROL.replace(f'command = "{sys.executable} -I -S {BOT} none"', own)
    whole = whole.replace('crash = "lose"\nlate_turns = 5\n', "")
    whole = whole.replace("[competition]\n", "[competition]\ncheck_players = false\n")
    path.write_text(whole.replace(whole[whole.index("[time_control]") : whole.index("[players.ann]")], ""))
    control = read(path)
    files = CompetitionFiles(control.path)
    run(control, files, RunOptions(quiet=True))

    report = read_report(control, files)
    ann = next(player for player in json_report(report)["players"] if player["name"] == "ann")
    bob = next(player for player in json_report(report)["players"] if player["name"] == "bob")
    assert (ann["faults"], ann["faults_by_kind"], bob["faults"]) == (2, {fault: 2}, 0)
    # It passed, and was beaten: no rule says that it has lost.
    assert (ann["forfeits"], ann["time_losses"]) == (0, 0)
    assert ann["last_fault"]["kind"] == fault and ann["last_fault"]["remark"].startswith(remark)
    assert f"faults of ann: 2 {fault}; the last in AvB_1: {remark}" in text_report(report)
    assert f"AvB_1: {fault}: {remark}" in html_page(report)
    live = [line.split() for line in standings_text(report.standings).splitlines()]
    assert live[0][6:9] == ["time", "losses", "faults"]
    assert next(line for line in live if line[0] == "ann")[6:8] == ["0", "2"]

    with closing(ResultsDatabase.open(files.results)) as database:
        with database.transaction() as connection:
            query = text("SELECT fault, remark FROM arena_results WHERE name = 'ann'")
            stored = connection.execute(query).all()
        export(database, path.parent / "saga", "saga2", files.name)
    assert [row.fault for row in stored] == [fault] * 2
    assert all(row.remark.startswith(remark) for row in stored)
    with (path.parent / "saga" / "SAGA_Player.csv").open() as file:
        exported = [(row["Problem"], row["Disorder"]) for row in csv.DictReader(file)]
    assert sorted(exported) == [("0", ""), ("0", ""), (problem, "0"), (problem, "0")]


def test_a_winner_that_was_late_once_does_not_make_its_game_hung(tmp_path: Path) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(
        '[competition]\nkind = "mars"\ncheck_players = false\n'
        '[game]\nname = "warlight"\nmap = "double_small"\nturn_limit = 12\n'
        '[[series]]\nname = "first"\nselector = "least-played"\nclones = false\ngames = 1\n'
        "contestants = { late = 1, gone = 1 }\n"
        '[players.late]\nprotocol = "lines"\nmove_seconds = 2\nlate_turns = 10\nstart_seconds = 30\n'
        f'command = "{sys.executable} -I -S {BOT} late-once"\n'
        '[players.gone]\nprotocol = "lines"\ncrash = "lose"\n'
        f'command = "{sys.executable} -I -S {BOT} exit-in-game"\n'
    )
    control, files = read(path), CompetitionFiles(path)
    assert run(control, files, RunOptions(quiet=True)).end is RunEnd.COMPLETED
    report = json_report(read_report(control, files))
    late = next(player for player in report["players"] if player["name"] == "late")
    gone = next(player for player in report["players"] if player["name"] == "gone")
    assert (report["voids"], late["wins"], late["faults_by_kind"]) == (0, 1, {"late": 1})
    assert (gone["forfeits"], gone["time_losses"], gone["faults_by_kind"]) == (1, 0, {"disconnected": 1})
