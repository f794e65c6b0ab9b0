"""The learning study: it goes on where it ended, learns nothing while it measures, and reports."""

import itertools
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import Library
from academy.store import event_log
from academy.store.library_store import Store
from research.learning import __main__ as command
from research.learning import conditions, experiment, games, gnu_go, held_out, repeat, report, society
from research.learning.classroom import Classroom
from research.learning.experiment import Row, Size, Workplace, run
from research.learning.games import EDITIONS, PLAYER, STUDY, Analysis, Trial
from research.learning.gnu_go import GnuGo
from research.learning.ledger import Ledger
from research.learning.population import Population, Records, alone, performance

SMALL = Trial(
    "Tic-tac-toe",
    "openspiel",
    {"game": "tic_tac_toe"},
    levels=(2, 2, 30),
    student=2,
    seconds=0.01,
    contests=8,
    conditions=("shared", "own"),
    analysis=Analysis(3, 200),
)
GAME = "openspiel-tic_tac_toe"
FIRST = Row("small", "first", "shared")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (command, experiment, games, report, society):
        monkeypatch.setattr(module, "TRIALS", {"small": SMALL})
    # No time is measured here that ACADEMY's warming up would matter for.
    monkeypatch.setattr(experiment, "MOST_LOOKS", 0)


def workplace(folder: Path) -> Workplace:
    return Workplace(Ledger(folder / "results.jsonl", folder / "pairs.jsonl"), folder, "a revision")


def _analysed(tree: OpeningTree) -> int:
    nodes = [tree.root]
    for node in nodes:
        nodes += tree.children(node.node_id)
    return sum(node.analysis is not None for node in nodes)


def soon() -> float:
    return time.monotonic() + 600.0


def test_the_experiment_goes_on_where_it_ended_and_learns_nothing_from_what_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "RATED_PAIRS", 2)
    rows = [Row("small", "first", name) for name in ("evaluated", "everything", "open-own")]
    run(rows[:1], Size(1, 1), soon(), workplace(tmp_path))
    before = (tmp_path / "pairs.jsonl").read_text()
    run(rows, Size(2, 2), soon(), workplace(tmp_path))
    assert (tmp_path / "pairs.jsonl").read_text().startswith(before)
    results = workplace(tmp_path).ledger
    # Each level of the population rates the player once, for all rows.
    assert {level: results.pairs("rating", level=level) for level in (2, 30)} == {2: 2, 30: 2}
    for row in rows:
        pairs = list(results.of("pair", **row.key))
        assert [pair["number"] for pair in pairs] == [0, 1]
        assert all(pair["points"] in (0, 0.5, 1, 1.5, 2) for pair in pairs)
        assert all(seconds > 0.0 for pair in pairs for seconds in pair["took"])
    folder = tmp_path / STUDY / "first" / "small"
    population = Population("small", SMALL, "first", Records(folder / "contests"))
    own = [
        number
        for number in range(1, SMALL.contests + 1)
        if population.student in (player.name for player in population.contest(number).contest.players)
    ]
    assert 0 < len(own) < SMALL.contests
    contests_of = dict.fromkeys(("all", "analysed", "evaluated"), SMALL.contests) | {"own": len(own)}
    for lessons, contests in contests_of.items():
        with Store(folder / f"{lessons}-{SMALL.contests}" / "academy") as store:
            view = store.follow().refresh(GAME)
            assert view.measures.contests == contests
            # Only an analyst's searches tell the two apart.
            assert _analysed(view.openings) == (3 if lessons == "analysed" else 0)
            assert len(view.libraries[Library.MIDDLE_GAME]) == 0
            assert (view.evaluation.patterns > 0) == (lessons == "evaluated")
            # The rules of the row are in force. None is measured by all lessons as they are.
            assert view.settings.local_weights == (lessons == "own")
            assert (view.settings.opening_plies_ahead == 6) == (lessons != "all")


def test_a_trial_with_another_ones_contests_plays_none_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower = replace(SMALL, seconds=0.02, contests_of="small")
    for module in (command, experiment):
        monkeypatch.setattr(module, "TRIALS", {"small": SMALL, "slower": slower})
    monkeypatch.setattr(experiment, "RATED_PAIRS", 1)
    run([FIRST, Row("slower", "first", "shared")], Size(1, 1), soon(), workplace(tmp_path))
    assert [folder.name for folder in (tmp_path / STUDY / "first").iterdir()] == ["small"]
    results = workplace(tmp_path).ledger
    # Other time for a move may make another player.
    assert {name: results.pairs("rating", game=name) for name in ("small", "slower")} == {
        "small": 2,
        "slower": 2,
    }
    assert [(line["game"], line["a_move"]) for line in results.of("pair")] == [
        ("small", "10 ms"),
        ("slower", "20 ms"),
    ]


def test_of_moves_and_results_alone_academy_learns_all_but_what_players_expected(tmp_path: Path) -> None:
    folder = tmp_path / STUDY / "first" / "small"
    population = Population("small", SMALL, "first", Records(folder / "contests"))
    known = {}
    for lessons in ("all", "silent"):
        assert Classroom(population, lessons, folder).learn(soon())
        with Store(folder / f"{lessons}-{SMALL.contests}" / "academy") as store:
            tree = store.follow().refresh(GAME).openings
            nodes = tree.children(tree.root.node_id)
            results = [(node.move, node.visits, node.wins) for node in nodes]
            known[lessons] = sorted(results), sum(node.values for node in nodes)
    assert known["silent"] == (known["all"][0], 0) and known["all"][1] > 0


def test_a_society_that_was_interrupted_goes_on_and_has_its_rows(tmp_path: Path) -> None:
    for contests in (3, 6):
        society.live("small", 0.5, contests, soon(), workplace(tmp_path))
    results = workplace(tmp_path).ledger
    assert [line["number"] for line in results.of("society", share=0.5)] == [2, 4, 6]
    with Store(tmp_path / STUDY / "first" / "small-society-0.5" / "academy") as store:
        # What measures teaches nothing.
        assert store.follow().refresh(GAME).measures.contests == 6
    (row,) = report.society_rows(results, "small")
    assert row.startswith("| Tic-tac-toe | 50 % | 0 to 500 | 6 | ")


def test_an_interrupted_run_loses_no_more_than_its_last_contest(tmp_path: Path) -> None:
    file = tmp_path / "contests"
    population = Population("small", SMALL, "first", Records(file))
    whole = [population.contest(number) for number in (1, 2)]
    file.write_bytes(file.read_bytes()[:-5])
    resumed = Population("small", SMALL, "first", Records(file))
    assert resumed.played(1) and not resumed.played(2)
    # What was lost is played again as it was.
    assert [resumed.contest(number) for number in (1, 2)] == whole
    assert Records(file).reports == whole


def test_the_population_is_rated_by_its_contests(tmp_path: Path) -> None:
    population = Population("small", SMALL, "second", Records(tmp_path / "contests"))
    for number in range(1, 7):
        elos = {player.name: player.elo for player in population.contest(number).contest.players}
        before = dict(zip(population.players, population.elos(number - 1), strict=True))
        assert elos == {name: before[name] for name in elos}
    elos_now = population.elos(6)
    assert sum(elos_now) == pytest.approx(3000.0)
    assert population.levels(6) == pytest.approx({2: (elos_now[0] + elos_now[1]) / 2, 30: elos_now[2]})


def test_when_the_time_is_up_it_ends(tmp_path: Path) -> None:
    here = workplace(tmp_path)
    run([FIRST], Size(5, 5), time.monotonic() - 1.0, here)
    assert here.ledger.lines == []


def test_each_row_has_its_share_of_the_time_and_what_one_leaves_goes_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_one(row: Row, _size: Size, until: float, place: Workplace) -> None:
        deadlines.append(until)
        place.ledger.add(kind="pair", **row.key, number=0, points=1.0)

    deadlines: list[float] = []
    monkeypatch.setattr(experiment, "measure", play_one)
    began = time.monotonic()
    rows = [Row("small", "first", name) for name in ("shared", "own", "open")]
    run(rows, Size(1, 1), began + 90.0, workplace(tmp_path))
    assert [deadline - began for deadline in deadlines] == pytest.approx([30.0, 45.0, 90.0], abs=7.0)


@pytest.mark.parametrize(
    ("points", "most", "reached"),
    [
        ([2.0, 1.5] * 14, 100, False),
        ([2.0, 1.5] * 15, 100, True),
        ([0.0, 1.0] * 15, 100, True),
        ([1.0, 1.0, 1.0, 2.0, 0.5] * 6, 100, False),
        ([1.0, 1.0, 1.0, 2.0, 0.5] * 6, 30, True),
    ],
    ids=["too few pairs", "gains", "gains nothing", "undecided", "undecided and long enough"],
)
def test_a_row_goes_on_while_its_test_is_open(
    tmp_path: Path, points: list[float], most: int, reached: bool
) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, *points)
    assert Size(30, most).reached(FIRST, results) == reached


def test_the_table_says_after_how_many_pairs_a_gain_was_shown_or_excluded(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, *[2.0, 1.5] * 15)
    add_pairs(results, Row("small", "second", "shared"), *[0.0, 1.0] * 15)
    (row,) = report.rows(results, "small")
    assert row.split(" | ")[7] == "gain (30) + none (20)"


def edition(number: int) -> dict[str, object]:
    """A study and its player; -1 are those of today."""
    study, player = EDITIONS[number]
    return {"study": study, "player": player}


def add_pairs(results: Ledger, row: Row, *points: float, **changes: object) -> None:
    for number, score in enumerate(points):
        line = {**row.key, "elo": 1000, "commit": "one", **changes}
        results.add(kind="pair", **line, number=number, points=score, took=[2.0, 1.0])


def test_rows_have_each_population_and_both_together(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, 1, 1, 0.5, 1.5)
    add_pairs(results, Row("small", "second", "shared"), 2, 2, 2)
    add_pairs(results, Row("small", "second", "own"), 1, 1, 2, 0)
    # Results of a player that stands in no table are not counted.
    add_pairs(results, FIRST, 0, 0, player=0)
    # Nor are those of an earlier study or player, where the present ones have them of the same population.
    add_pairs(results, FIRST, 0, 0, **edition(-2))
    add_pairs(results, Row("small", "second", "own"), 0, 0, **edition(0))
    add_pairs(results, Row("small", "first", "openings"), 1, 1, **edition(0))
    assert report.rows(results, "small") == [
        "| Tic-tac-toe, 10 ms | 8 | openings and tesujis | +0 [-126, +126] | all won | +159 [-54, +372] "
        f"| 8 + 6 | open + open | x 2.00 | 5 | {PLAYER} |",
        "| Tic-tac-toe, 10 ms | 8 | openings only | +0, error unknown |  |  | 4 | open | x 2.00 | 4 | 8 |",
        "| Tic-tac-toe, 10 ms | 8 | openings and tesujis, of own contests only |  | +0 [-297, +297] |  "
        f"| 8 | open | x 2.00 | 5 | {PLAYER} |",
    ]


def test_a_row_of_an_earlier_study_stays_until_later_ones_have_all_its_populations(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    for population in ("first", "second"):
        add_pairs(results, Row("small", population, "own"), 0, 1, **edition(0))
    add_pairs(results, Row("small", "second", "own"), 1, 1, 2)

    def rows() -> list[tuple[str, str]]:
        cells = [row.split(" | ") for row in report.rows(results, "small")]
        return [(row[-2], row[-5]) for row in cells]

    assert rows() == [("5", "6"), ("4", "4 + 4")]
    add_pairs(results, Row("small", "first", "own"), 1, 2)
    assert rows() == [("5", "4 + 6")]


def test_libraries_after_growing_numbers_of_contests_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, 1, 1, 0.5, 1.5)
    assert report.checkpoint_rows(results, "small") == []
    add_pairs(results, Row("small", "first", "shared", 2), 0.5, 1, 1, 1)
    add_pairs(results, Row("small", "second", "shared", 2), 1, 1)
    # A curve has two numbers of contests or more.
    add_pairs(results, Row("small", "first", "own", 2), 1, 1)
    assert report.checkpoint_rows(results, "small") == [
        "| Tic-tac-toe, 10 ms | openings and tesujis | 2 | -44 [-120, +32] | +0, error unknown "
        f"| -29 [-82, +24] | 8 + 4 | {PLAYER} |",
        f"| Tic-tac-toe, 10 ms | openings and tesujis | 8 | +0 [-126, +126] |  |  | 8 | {PLAYER} |",
    ]
    assert report.rows(results, "small")[0].split(" | ")[1] == "8"


def test_a_row_learns_from_as_many_contests_as_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_one(row: Row, _population: Population, place: Workplace, _until: float) -> None:
        place.ledger.add(kind="pair", **row.key, number=0, points=1.0)

    # It ends where the player measured would be rated.
    monkeypatch.setattr(experiment, "rate", play_one)
    rows = [Row("small", "first", "shared", contests) for contests in (5, 3)]
    run(rows, Size(1, 1), soon(), workplace(tmp_path))
    folder = tmp_path / STUDY / "first" / "small"
    for row in rows:
        population = Population("small", row.trial, "first", Records(folder / "contests"))
        with Store(folder / f"all-{row.trial.contests}" / "academy", read_only=True) as store:
            events, _ = store.read(event_log.read_page, 1000)
        heard = [
            event.contest_reported.report.contest.contest_id
            for event in events
            if event.HasField("contest_reported")
        ]
        assert heard == [population.contest_id(number) for number in range(1, row.trial.contests + 1)]


def test_the_same_figures_make_the_same_page_and_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, *[0.5, 1, 2, 1.5, 1] * report.FEWEST_PAIRS_DRAWN)
    add_pairs(results, Row("small", "first", "own"), 0.5, 1, 2)
    add_pairs(results, Row("small", "first", "shared", 2), 0.5, 1, 2)
    for number, points in enumerate((0.5, 1.0, 2.0, 1.0), 1):
        results.add(kind="society", **society.key("small", 0.5), commit="", number=2 * number, points=points)
    results.keep()
    (tmp_path / "pairs.jsonl").unlink()
    for draw in (report.draw, report.draw_checkpoints, report.draw_societies):
        for name in ("a.svg", "b.svg"):
            draw(workplace(tmp_path).ledger, tmp_path / f"{draw.__name__}-{name}")
        first, second = (tmp_path / f"{draw.__name__}-{name}" for name in ("a.svg", "b.svg"))
        assert first.read_bytes() == second.read_bytes()
    text = (tmp_path / "draw-a.svg").read_text()
    assert "Tic-tac-toe, 10 ms" in text and "asks as LUDAE allows" in text
    assert text.count("Tic-tac-toe") == 1
    assert "Tic-tac-toe, consulted in 50 % of the contests" in (tmp_path / "draw_societies-a.svg").read_text()


def test_the_page_has_the_tables_in_their_places(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, 1, 1, 0.5, 1.5)
    document = tmp_path / "does-it-help.md"
    marks = "\n".join(
        f"<!-- {name}: measured -->\nwas here\n<!-- {name}: end -->"
        for name in ("learning", "checkpoints", "society")
    )
    document.write_text(f"before\n{marks}\nafter\n")
    report.tabulate(results, document)
    text = document.read_text()
    assert text.startswith("before")
    assert "was here" not in text
    assert "| Tic-tac-toe, 10 ms | 8 | openings and tesujis |" in text
    assert f"<!-- society: measured -->\n{report.NOTHING}\n" in text


def test_results_are_kept_one_line_a_row_and_counted_once(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, 1, 2, 0.5)
    add_pairs(results, Row("small", "first", "own"), 1, 0)
    results.keep()
    kept = (tmp_path / "results.jsonl").read_text()
    assert [json.loads(line)["points"] for line in kept.splitlines()] == [[1, 2, 0.5], [1, 0]]
    # The run's own file has the same pairs.
    again = workplace(tmp_path).ledger
    assert again.pairs(**FIRST.key) == 3
    (tmp_path / "pairs.jsonl").unlink()
    alone = workplace(tmp_path).ledger
    assert alone.counts(**FIRST.key) == again.counts(**FIRST.key) == (0, 1, 1, 0, 1)
    alone.keep()
    assert (tmp_path / "results.jsonl").read_text() == kept


def test_results_that_cannot_be_written_whole_leave_the_earlier_ones(tmp_path: Path) -> None:
    results = workplace(tmp_path).ledger
    add_pairs(results, FIRST, 1, 2, 0.5)
    results.keep()
    kept = (tmp_path / "results.jsonl").read_text()
    add_pairs(results, Row("small", "first", "own"), *[1.0] * 100)
    program = (
        "import resource; from pathlib import Path; from research.learning.ledger import Ledger\n"
        "results = Ledger(Path('results.jsonl'), Path('pairs.jsonl'))\n"
        # What comes nearest to a full disk.
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(kept)}, {len(kept)}))\n"
        "results.keep()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    keeping = [sys.executable, "-c", program]
    done = subprocess.run(keeping, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode and "File too large" in done.stderr
    assert (tmp_path / "results.jsonl").read_text() == kept


def test_a_pair_that_two_runs_or_two_revisions_played_counts_once(tmp_path: Path) -> None:
    side_by_side = [workplace(tmp_path).ledger for _ in range(2)]
    for number, results in enumerate(side_by_side):
        add_pairs(results, FIRST, 2, 1, commit=f"revision {number}", elo=1000 + number)
    add_pairs(side_by_side[1], Row("small", "second", "shared"), 0)
    counted = workplace(tmp_path).ledger
    assert counted.pairs(**FIRST.key) == 2
    assert {line["commit"] for line in counted.of("pair", **FIRST.key)} == {"revision 0"}
    assert counted.pairs(**Row("small", "second", "shared").key) == 1


def test_a_second_run_leaves_a_population_to_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = workplace(tmp_path)
    with alone(here.folder("small", "first")):
        run([FIRST], Size(1, 1), soon(), here)
    assert here.ledger.lines == []
    assert "another run is at work there; wait for it, or give another --data" in capsys.readouterr().out


def test_without_gnu_go_the_other_games_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taught = Trial("Go", "go", {"board_size": 5}, (2, GnuGo(9)), 2, 0.01, 4, ("shared",))
    for module in (command, experiment, games, report, society, held_out):
        monkeypatch.setattr(module, "TRIALS", {"taught": taught, "small": SMALL})
    monkeypatch.setattr(experiment, "RATED_PAIRS", 1)
    monkeypatch.setattr(gnu_go, "_FOLDERS", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    here = workplace(tmp_path)
    run([Row("taught", "first", "shared"), FIRST], Size(1, 1), soon(), here)
    assert "Go, first population, openings and tesujis: GNU Go is not installed" in capsys.readouterr().out
    assert here.ledger.pairs(**FIRST.key) == 1
    monkeypatch.setattr(sys, "argv", ["learning", "held-out", "--contests", "5", "--data", str(tmp_path)])
    command.main()
    printed = capsys.readouterr().out
    assert "taught: GNU Go is not installed" in printed and "Tic-tac-toe: 4 contests learnt from" in printed


def test_half_a_line_that_an_interrupted_run_wrote_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    add_pairs(workplace(tmp_path).ledger, FIRST, 1, 2)
    whole = file.read_bytes()
    for cut in (1, 10, len(whole) // 2 - 1):
        file.write_bytes(whole[:-cut])
        results = workplace(tmp_path).ledger
        assert [line["points"] for line in results.lines] == [1]
        results.add(kind="pair", **FIRST.key, number=1, points=0.5, took=[1.0, 1.0])
        assert [json.loads(line)["points"] for line in file.read_text().splitlines()] == [1, 0.5]


def test_conditions_of_all_games_are_known_and_strict_but_for_open_ones() -> None:
    for trial in games.TRIALS.values():
        assert set(trial.conditions) <= set(conditions.CONDITIONS)
    loosened = {
        name
        for name, condition in conditions.CONDITIONS.items()
        if condition.rules["pattern_value_limit"] != 0.33 or condition.rules["local_weights"]
    }
    assert loosened == {"open", "open-evaluated", "open-no-openings", "open-own"}


@pytest.mark.parametrize(
    ("results", "elo"),
    [
        ([(1000.0, 5.0, 10)], 1000.0),
        # Three of four points are worth 191 Elo.
        ([(1000.0, 7499.5, 9999)], 1190.8),
        ([(800.0, 5.0, 10), (1200.0, 5.0, 10)], 1000.0),
    ],
)
def test_a_performance_is_the_elo_that_explains_the_points(
    results: list[tuple[float, float, int]], elo: float
) -> None:
    assert performance(results) == pytest.approx(elo, abs=0.1)


def test_a_performance_grows_with_the_points_and_is_never_without_bounds() -> None:
    performances = [performance([(700.0, points, 30), (1300.0, points / 2, 30)]) for points in range(31)]
    assert all(less < more for less, more in itertools.pairwise(performances))
    assert -1000.0 < performance([(700.0, 0.0, 30)]) < 200.0
    assert 1200.0 < performance([(700.0, 30.0, 30)]) < 3000.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--pairs", "0"], "'0': it must be a whole number from 1"),
        (["run", "--minutes", "nan"], "'nan': it must be a number above 0"),
        (["run", "--populations", "third"], "invalid choice: 'third'"),
        (["run", "chess"], "'chess': the games are small"),
        (["held-out", "--contests", "4"], "'4': it must be a whole number from 5"),
        # No document is written from no results.
        (["report", "--results", "typo.jsonl"], "typo.jsonl: holds no results"),
    ],
)
def test_what_cannot_be_run_is_refused(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["learning", *arguments, "--data", str(tmp_path)])
    with pytest.raises(SystemExit):
        command.main()
    assert message in capsys.readouterr().err


def test_rows_whose_share_of_the_time_was_too_short_go_on_when_the_others_had_theirs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def play_one(row: Row, _size: Size, _until: float, place: Workplace) -> None:
        measured.append(row.condition)
        place.ledger.add(kind="pair", **row.key, number=measured.count(row.condition), points=1.0)

    measured: list[str] = []
    monkeypatch.setattr(experiment, "measure", play_one)
    here = workplace(tmp_path)
    for condition, pairs in (("shared", 0), ("own", 1)):
        for number in range(pairs):
            key = Row("small", "first", condition).key
            here.ledger.add(kind="pair", **key, number=-number, points=1.0)
    run([Row("small", "first", name) for name in ("shared", "own")], Size(3, 3), soon(), here)
    assert measured == ["shared", "own", "shared", "own", "shared"]


def test_what_the_readme_says_is_played_again_by_other_contests_and_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(experiment, "RATED_PAIRS", 1)
    monkeypatch.setattr(repeat, "QUOTED", [("small", "shared", None)])
    kept = Ledger(tmp_path / "none.jsonl", tmp_path / "results.jsonl")
    for population in ("first", "second"):
        for number, points in enumerate((2.0, 1.0, 1.5)):
            key = Row("small", population, "shared").key
            kept.add(kind="pair", **key, number=number, points=points, took=[1.0, 1.0])
    places = ["--results", str(tmp_path / "results.jsonl"), "--data", str(tmp_path / "repeated")]
    tables = []
    for population in ("third", "fourth"):
        arguments = ["learning", "repeat", "--pairs", "2", "--populations", population, *places]
        monkeypatch.setattr(sys, "argv", arguments)
        command.main()
        tables.append(capsys.readouterr().out.splitlines()[-1].split(" | "))
    readme = 3
    assert tables[0][readme] == tables[1][readme] == report.gained((0, 0, 2, 2, 2))
    assert [table[-1] for table in tables] == ["4 |", "4 + 4 |"]
    assert tables[0][-2] == "" and tables[1][-2] != ""
    contests = [
        Records(tmp_path / "repeated" / STUDY / name / "small" / "contests").reports
        for name in ("third", "fourth")
    ]
    assert [len(played) for played in contests] == [8, 8]
    assert contests[0] != contests[1]
