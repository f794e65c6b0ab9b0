"""The learning experiment: it goes on where it ended, learns nothing while it measures, and reports."""

import itertools
import json
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from academy.knowledge.settings import Library
from academy.store.library_store import Store
from research.learning import __main__ as command
from research.learning import bound, experiment, games, ledger, report, society
from research.learning.experiment import run
from research.learning.games import FINAL, PLAYER, School, Trial
from research.learning.ledger import Ledger, Piece
from research.learning.population import PAIRS, Population, Records, elo_of_timed, performance

SMALL = Trial(
    "Tic-tac-toe", "openspiel", {"game": "tic_tac_toe"}, School((2, 2, 30), 2), School((3, 5), 3), 0.01, (3,)
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bound, command, experiment, games, ledger, report, society):
        monkeypatch.setattr(module, "TRIALS", {"small": SMALL})
    # No time is measured here that ACADEMY's warming up would matter for.
    monkeypatch.setattr(experiment, "MOST_LOOKS", 0)


def piece(pairs: int) -> Piece:
    return Piece(pairs, time.monotonic() + 600.0)


def test_it_goes_on_where_it_ended_and_reports_what_it_found(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    run("small", ["full"], [3], piece(1), Ledger(file), tmp_path / "data")
    first = file.read_text()
    folder = tmp_path / "data" / FINAL / "small"
    assert len(Records(folder / "contests").reports) == 3
    run("small", ["full", "unlimited", "specific"], [4, 3], piece(2), Ledger(file), tmp_path / "data")
    assert file.read_text().startswith(first)
    ledger = Ledger(file)
    # Both kinds of lessons were of the same contests.
    assert len(Records(folder / "contests").reports) == 4
    for condition, lessons in (("full", "all"), ("unlimited", "all"), ("specific", "specific")):
        pairs = list(ledger.of("pair", condition=condition, contests=4))
        assert [(line["number"], line["lessons"]) for line in pairs] == [(0, lessons), (1, lessons)]
        assert all(line["points"] in (0, 0.5, 1, 1.5, 2) for line in pairs)
        assert sum(ledger.counts(condition=condition, contests=4)) == 2
    # Before the last checkpoint everything alone; that ACADEMY knows more since does not matter.
    assert [line["condition"] for line in ledger.of("pair", contests=3)] == ["full", "full"]
    # What was measured was not learnt from.
    for contests in (3, 4):
        with Store(folder / "all" / str(contests) / "academy") as store:
            view = store.follow().refresh("openspiel-tic_tac_toe")
            assert view.measures.contests == contests
            assert len(view.libraries[Library.ENDGAME]) > 0
    document = tmp_path / "learning.md"
    marks = "\n".join(
        f"<!-- {name}: measured -->\nwas here\n<!-- {name}: end -->"
        for name in ("learning", "room", "society", "rated")
    )
    document.write_text(f"before\n{marks}\nafter\n")
    report.tabulate(ledger, document)
    text = document.read_text()
    assert text.startswith("before")
    assert "was here" not in text
    assert f"| Tic-tac-toe | {FINAL} | 10 ms | fair use off | 4 | 4 |" in text
    # ACADEMY received the results against each level of the population.
    assert f"of {2 * PAIRS}, 30 playouts: " in text
    population = Population("small", SMALL, FINAL, Records(folder / "contests"))
    elos = {line["contests"]: line["elo"] for line in ledger.of("pair", lessons="all")}
    for contests in (3, 4):
        elo = elo_of_timed(population.levels(contests), piece(1).key("small"), ledger)
        assert elos[contests] == round(elo)
    assert {line["elo"] for line in ledger.of("pair", lessons="specific")} == {elos[4]}


def test_a_society_that_was_interrupted_goes_on_and_has_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    for contests in (3, 6):
        society.live("small", 0.5, contests, piece(1), Ledger(file), tmp_path / "data")
    assert [line["number"] for line in Ledger(file).of("society", share=0.5)] == [2, 4, 6]
    with Store(tmp_path / "data" / FINAL / "small" / "society-0.5" / "academy") as store:
        # What measures teaches nothing.
        assert store.follow().refresh("openspiel-tic_tac_toe").measures.contests == 6
    (row,) = report.society(Ledger(file), "small")
    assert row.startswith(f"| Tic-tac-toe | {FINAL} | 50 % | 0 to 500 | 6 |")


def test_knowledge_that_is_not_shared_is_of_one_players_contests(tmp_path: Path) -> None:
    run("small", ["own"], [4], piece(1), Ledger(tmp_path / "results.jsonl"), tmp_path / "data")
    folder = tmp_path / "data" / FINAL / "small"
    population = Population("small", SMALL, FINAL, Records(folder / "contests"))
    own = [
        number
        for number in range(1, 5)
        if population.student in (player.name for player in population.contest(number).contest.players)
    ]
    with Store(folder / "own" / "4" / "academy") as store:
        assert store.follow().refresh("openspiel-tic_tac_toe").measures.contests == len(own) < 4


class Interrupted(Ledger):
    """Somebody stops the run after some pairs."""

    left = 7

    def add(self, **result: object) -> None:
        super().add(**result)
        if result["kind"] == "pair":
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt


def test_all_rows_have_pairs_whenever_it_is_stopped(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    few = Piece(5, time.monotonic() + 600.0, equal="playouts")
    conditions = ["full", "endgame", "unrated"]
    with pytest.raises(KeyboardInterrupt):
        run("small", conditions, [2, 3], few, Interrupted(file), tmp_path / "data")
    ledger = Ledger(file)
    played = [ledger.pairs(condition=name, contests=3) for name in conditions]
    assert sorted([*played, ledger.pairs(condition="full", contests=2)]) == [1, 2, 2, 2]
    assert {line["elo"] for line in ledger.of("pair", condition="unrated")} == {0}
    assert all(line["elo"] > 0 for line in ledger.of("pair", condition="endgame"))


def test_a_strong_players_advice_is_worth_most_where_it_may_always_be_asked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    bound.measure("small", Piece(12, time.monotonic() + 600.0, equal="playouts"), ledger)
    points = {
        place: sum(line["points"] for line in ledger.of("bound", place=place)) for place in bound.PLACES
    }
    assert sum(ledger.counts("bound")) == 12 * len(bound.PLACES)
    # By the seeds of the series, which are always the same.
    assert points["always"] == max(points.values()) > 15.0
    assert report.room(ledger, "small")[-1].startswith(
        f"| Tic-tac-toe | {FINAL} | 2 playouts | 30 playouts | before every move | 24 |"
    )


def test_an_interrupted_run_loses_no_more_than_its_last_contest(tmp_path: Path) -> None:
    file = tmp_path / "contests"
    population = Population("small", SMALL, FINAL, Records(file))
    whole = [population.contest(number) for number in (1, 2)]
    file.write_bytes(file.read_bytes()[:-5])
    resumed = Population("small", SMALL, FINAL, Records(file))
    assert resumed.played(1) and not resumed.played(2)
    # What was lost is played again as it was.
    assert [resumed.contest(number) for number in (1, 2)] == whole
    assert Records(file).reports == whole


def test_the_population_is_rated_by_its_contests(tmp_path: Path) -> None:
    population = Population("small", SMALL, FINAL, Records(tmp_path / "contests"))
    for number in range(1, 7):
        elos = {player.name: player.elo for player in population.contest(number).contest.players}
        before = dict(zip(population.players, population.elos(number - 1), strict=True))
        assert elos == {name: before[name] for name in elos}
    assert sum(population.elos(6)) == pytest.approx(3000.0)


def test_when_the_time_is_up_it_ends(tmp_path: Path) -> None:
    over = Piece(5, time.monotonic() - 1.0)
    run("small", ["full"], [5], over, Ledger(tmp_path / "results.jsonl"), tmp_path / "data")
    assert Ledger(tmp_path / "results.jsonl").lines == []


def add_pairs(ledger: Ledger, *points: float, **changes: object) -> None:
    key = {
        "series": FINAL,
        "game": "small",
        "equal": "time",
        "a_move": "10 ms",
        "player": PLAYER,
        "lessons": "all",
        "condition": "full",
        "contests": 7,
        **changes,
    }
    for number, score in enumerate(points):
        ledger.add(kind="pair", **key, number=number, points=score, took=[2.0, 1.0], elo=1000)


def test_the_same_figures_draw_the_same_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ledger = Ledger(tmp_path / "results.jsonl")
    enough = [0.5, 1, 2, 1.5, 1] * report.FEWEST_PAIRS_DRAWN
    add_pairs(ledger, *enough)
    add_pairs(ledger, *enough, equal="playouts", a_move="2 playouts")
    add_pairs(ledger, 0.5, 1, 2, equal="playouts", a_move="3 playouts")
    for name in ("a.svg", "b.svg"):
        report.draw(Ledger(tmp_path / "results.jsonl"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    text = (tmp_path / "a.svg").read_text()
    assert "Tic-tac-toe, 10 ms" in text
    assert "Tic-tac-toe, 2 playouts" in text
    assert "Tic-tac-toe, 3 playouts" not in text


def test_results_under_other_circumstances_are_rows_of_their_own(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    add_pairs(ledger, 1, 1, 0.5, 1.5)
    add_pairs(ledger, 2, 2, 2, a_move="25 ms")
    add_pairs(ledger, 0, 0, player=PLAYER - 1)
    assert report.lines(ledger, FINAL, "small") == [
        f"| Tic-tac-toe | {FINAL} | 10 ms | everything | 7 | 8 | 0 | ± 126 | open | x 2.00 |",
        f"| Tic-tac-toe | {FINAL} | 10 ms, player {PLAYER - 1} of {PLAYER} | everything | 7 | 4 "
        "| all lost | unknown | open | x 2.00 |",
        f"| Tic-tac-toe | {FINAL} | 25 ms | everything | 7 | 6 | all won | unknown | open | x 2.00 |",
    ]


def test_half_a_line_that_an_interrupted_run_wrote_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    add_pairs(Ledger(file), 1, 2)
    whole = file.read_bytes()
    for cut in (1, 10, len(whole) // 2 - 1):
        file.write_bytes(whole[:-cut])
        assert [line["points"] for line in Ledger(file).lines] == [1]
        add_pairs(Ledger(file), 0.5)
        assert [json.loads(line)["points"] for line in file.read_text().splitlines()] == [1, 0.5]


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
        (["--pairs", "0"], "'0': it must be a whole number from 1"),
        (["--pairs", "-3"], "'-3': it must be a whole number from 1"),
        (["--contests", "5", "1.5"], "'1.5': it must be a whole number from 1"),
        (["--minutes", "0"], "'0': it must be a number above 0"),
        (["--minutes", "nan"], "'nan': it must be a number above 0"),
        (["--series", "final"], "invalid choice: 'final'"),
        (["chess"], "'chess': the games are small"),
    ],
)
def test_what_cannot_be_run_is_refused(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    results = ["--results", str(tmp_path / "results.jsonl")]
    monkeypatch.setattr(sys, "argv", ["learning", "run", *arguments, *results])
    with pytest.raises(SystemExit):
        command.main()
    assert message in capsys.readouterr().err


def test_no_document_is_written_from_no_results(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["learning", "report", "--results", str(tmp_path / "typo.jsonl")])
    with pytest.raises(SystemExit):
        command.main()
    assert "typo.jsonl: holds no results" in capsys.readouterr().err
