"""Reports of tuners and of sequential tests: what they know, and nothing of each candidate."""

import itertools
import json
import random
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from arena.control.settings import Control
from arena.control.toml_file import read
from arena.jobs import Fault, PlayerUsage
from arena.reports.as_json import json_report
from arena.reports.assembly import assemble
from arena.reports.contents import CompetitionReport
from arena.reports.html_page import html_page
from arena.reports.text import text_report
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.series import PlannedGame, Series
from arena.runner.files import CompetitionFiles
from arena.runner.game_jobs import JobMaker
from arena.selection.kinds import selector_for
from arena.selection.selector import CompletedGame, Fixture
from arena.selection.tuner import MOST_STEPS, ThinnedPath
from referees.api import Outcome, Termination
from tests.arena.results.examples import heading, play_game, registered, result

GAMES = 150
# A candidate's name, not a colour of the page's.
CANDIDATE = re.compile(r"#\d+(?![0-9a-f;])")
GAME = '[game]\nname = "go"\nboard_size = 9\nkomi = 7.5\n\n[players.steady]\ncommand = "steady"\n'
MONTE_CARLO = f"""
[competition]
kind = "mc_tuner"
opponent = "steady"
games = {GAMES}
exploration = 0.45
initial_visits = 10
initial_wins = 5
max_depth = 2
{GAME}
[candidate]
command = "candidate {{level}} {{style}}"

[parameters.level]
low = 0
high = 1
split = 4

[parameters.style]
scale = "explicit"
values = ["<bold>", "shy"]
split = 2
"""
CROSS_ENTROPY = f"""
[competition]
kind = "ce_tuner"
opponent = "steady"
generations = 6
samples = 10
batch = 5
elite_proportion = 0.2
step_size = 0.8
{GAME}
[candidate]
command = "candidate {{level}}"

[parameters.level]
initial_mean = 0.2
initial_variance = 0.1
"""
SPRT = f"""
[competition]
kind = "sprt"
competitors = ["better", "steady"]
elo0 = 0
elo1 = 50
{GAME}
[players.better]
command = "better"
"""


def played(
    folder: Path, text: str, games: int, wins: Callable[[Fixture], float], *, broken: bool = False
) -> tuple[Control, CompetitionReport]:
    """A competition whose games are stored as a run does; `wins` is the chance of who is not `steady`.

    A loser who is not `steady` is `broken` or loses by score.
    """
    path = folder / "cup.toml"
    path.write_text(text)
    control = read(path)
    selector, jobs = selector_for(control), JobMaker(control, CompetitionFiles(path))
    with closing(ResultsDatabase.open(sqlite_url(folder / "cup.sqlite"))) as database:
        players = list(control.players.values())
        entered = heading(players, control.game, name="cup", kind=control.kind, ordered=False)
        series: Series = registered(database, entered)
        for number in range(games):
            fixture = selector.next_game()
            if fixture is None:
                break
            candidate = 1 + (fixture.players[0] == "steady")
            won = random.Random(number).random() < wins(fixture)
            how = Termination.FORFEIT if broken and not won else Termination.SCORE
            outcome = Outcome((candidate if won else 3 - candidate,), how, "?")
            game = result(fixture.game_id, outcome)
            if broken:
                fault = PlayerUsage(fault=Fault.DISCONNECTED, remark=f"exited in game {number}")
                usage = [PlayerUsage(), PlayerUsage()]
                if not won:
                    usage[candidate - 1] = fault
                game = replace(game, usage=tuple(usage))
            play_game(series, PlannedGame(fixture.matchup, jobs.players(fixture), fixture.detail), game)
            selector.completed(CompletedGame(fixture.game_id, fixture.players, outcome, fixture.detail))
        return control, assemble(control, "cup", series)


def hill(fixture: Fixture) -> float:
    """The candidate is the better the nearer its level is to 0.7."""
    (candidate,) = (setup for setup in fixture.setups if setup.name != "steady")
    return 1 / (1 + 20 * (float(candidate.command[1]) - 0.7) ** 2)


def test_a_tuners_report_has_the_best_values_and_no_candidates(tmp_path: Path) -> None:
    _, report = played(tmp_path, MONTE_CARLO, GAMES, hill)
    content = json_report(report)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert [player["name"] for player in content["players"]] == ["steady"]
    assert (content["cross_table"], content["superiority"], content["sprt"]) == ([], [], None)
    (matchup,) = content["matchups"]
    assert {player["name"] for player in matchup["players"]} == {"#candidates", "steady"}
    tuner = content["tuner"]
    assert (tuner["games"], set(tuner["best"])) == (GAMES, {"level", "style"})
    assert tuner["best"]["level"] == pytest.approx(0.7, abs=0.35)
    assert tuner["best"]["style"] in ("<bold>", "shy")
    assert len(tuner["place"]) == 2 and tuner["distribution"] is None
    assert tuner["path"][-1] == {"games": GAMES, "values": tuner["best"]}
    assert tuner["path"][0]["games"] <= 2 and len(tuner["path"]) > 100

    page, text = html_page(report), text_report(report)
    assert page.count('<svg class="tuning"') == 2 and "&lt;bold&gt;" in page
    assert 'id="standings"' not in page and 'id="cross-table"' not in page and 'class="ratings"' not in page
    assert "\n#candidates v steady (150 games)\n" in text and "LOS" not in text
    assert not any(CANDIDATE.search(whole) for whole in (page, text, json.dumps(content)))
    # Whatever the number of games: two pictures of at most some hundred steps each, and the tables.
    assert len(page) < 40_000 and len(json.dumps(content)) < 40_000


@pytest.mark.parametrize(("text", "last"), [(MONTE_CARLO, "19"), (CROSS_ENTROPY, "g0#9r1")])
def test_the_report_says_why_a_candidate_is_broken_and_that_the_best_means_nothing(
    tmp_path: Path, text: str, last: str
) -> None:
    _, report = played(tmp_path, text, 20, lambda fixture: 0.0, broken=True)
    candidates = json_report(report)["candidates"]
    assert (candidates["games"], candidates["forfeits"], candidates["faults"]) == (20, 20, 20)
    assert candidates["faults_by_kind"] == {"disconnected": 20}
    assert candidates["last_fault"] == {"game": last, "kind": "disconnected", "remark": "exited in game 19"}
    warning = "candidates forfeited 20 of 20 games"
    assert warning in candidates["warning"]
    as_text = text_report(report)
    assert f"faults of the candidates: 20 disconnected; the last in {last}: exited in game 19\n" in as_text
    assert as_text.count(f"warning: {warning}") == 1
    page = html_page(report)
    assert warning in page and "exited in game 19" in page


def test_candidates_that_lose_some_games_by_faults_are_not_a_cause_for_a_warning(tmp_path: Path) -> None:
    _, report = played(tmp_path, MONTE_CARLO, 20, lambda fixture: 0.8, broken=True)
    candidates = json_report(report)["candidates"]
    assert 0 < candidates["forfeits"] < 10 and candidates["warning"] is None
    assert "warning" not in text_report(report)


def test_a_tuner_whose_control_file_was_changed_has_no_candidates_in_its_report(tmp_path: Path) -> None:
    control, _ = played(tmp_path, MONTE_CARLO, 20, hill)
    control.path.write_text(MONTE_CARLO.replace("initial_visits = 10", "initial_visits = 20"))
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "cup.sqlite"))) as database:
        report = assemble(read(control.path), "cup", Series.find(database, "cup"))
    content = json_report(report)
    assert "initial_visits" in content["warning"] and content["tuner"] is None
    assert [player["name"] for player in content["players"]] == ["steady"]
    assert not CANDIDATE.search(html_page(report) + text_report(report))


def test_the_cross_entropy_tuner_reports_its_mean_by_generation(tmp_path: Path) -> None:
    _, report = played(tmp_path, CROSS_ENTROPY, 120, hill)
    tuner = json_report(report)["tuner"]
    assert [step["games"] for step in tuner["path"]] == [50, 100, 120]
    assert tuner["path"][-1]["values"] == tuner["best"] == {"level": tuner["distribution"]["level"]["mean"]}
    assert tuner["place"] is None
    assert html_page(report).count('<svg class="tuning"') == 1


def test_a_sequential_test_reports_its_state_as_values(tmp_path: Path) -> None:
    _, report = played(tmp_path, SPRT, 9, lambda fixture: 1.0 if fixture.players[0] == "better" else 0.7)
    content = json_report(report)
    sprt = content["sprt"]
    assert json.loads(json.dumps(content, allow_nan=False)) == content and content["tuner"] is None
    assert (sprt["player"], sprt["opponent"], sprt["elo0"], sprt["elo1"]) == ("better", "steady", 0, 50)
    assert (sprt["model"], sprt["alpha"], sprt["beta"]) == ("normalized", 0.05, 0.05)
    assert list(sprt["pairs"]) == ["0", "0.5", "1", "1.5", "2"] and sum(sprt["pairs"].values()) == 4
    assert (sprt["lower"], sprt["upper"]) == (-2.944439, 2.944439)
    assert sprt["lower"] < sprt["llr"] < sprt["upper"] and sprt["verdict"] is None
    assert f"LLR {sprt['llr']:.3f}, bounds -2.944 and 2.944" in content["lines"]


def test_a_verdict_is_reported(tmp_path: Path) -> None:
    _, report = played(tmp_path, SPRT, 2000, lambda fixture: 0.9)
    sprt = json_report(report)["sprt"]
    assert sprt["verdict"] == "H1" and sprt["llr"] >= sprt["upper"]


@pytest.mark.parametrize("games", [1, MOST_STEPS, MOST_STEPS + 1, 10_000])
def test_the_path_is_thinned_out_evenly(games: int) -> None:
    path: ThinnedPath[int] = ThinnedPath()
    for game in range(1, games + 1):
        if path.wants():
            path.note(game, game)
    steps = path.steps(games, -1)
    assert steps[-1] == (games, -1) and len(steps) <= MOST_STEPS + 1
    assert len(steps) > min(games, MOST_STEPS) // 2 - 1
    distances = {later - earlier for (earlier, _), (later, _) in itertools.pairwise(steps[:-1])}
    assert len(distances) <= 1
