"""The learning experiment: it goes on where it ended, learns nothing while it measures, and reports."""

import time
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from academy.knowledge.settings import Library
from academy.store.library_store import Store
from benchmarks.learning import bound, experiment, games, report
from benchmarks.learning.experiment import Population, run
from benchmarks.learning.games import School, Trial
from benchmarks.learning.ledger import Ledger, Piece
from benchmarks.learning.records import Records

SMALL = Trial(
    "Tic-tac-toe", "openspiel", {"game": "tic_tac_toe"}, School((2, 2, 30), 2), School((3, 5), 3), 0.01, (3,)
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bound, games, experiment, report):
        monkeypatch.setattr(module, "TRIALS", {"small": SMALL})
    # No time is measured here that ACADEMY's warming up would matter for.
    monkeypatch.setattr(experiment, "MOST_LOOKS", 0)


def piece(pairs: int) -> Piece:
    return Piece(pairs, time.monotonic() + 600.0)


def test_it_goes_on_where_it_ended_and_reports_what_it_found(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    run("small", ["full"], [3], piece(1), Ledger(file), tmp_path / "data")
    first = file.read_text()
    contests = tmp_path / "data" / "final" / "small" / "contests"
    assert len(Records(contests).reports) == 3
    run("small", ["full", "unlimited", "specific"], [4], piece(2), Ledger(file), tmp_path / "data")
    assert file.read_text().startswith(first)
    # Where more was learnt since, nothing is measured any more.
    run("small", ["openings"], [3], piece(1), Ledger(file), tmp_path / "data")
    ledger = Ledger(file)
    assert list(ledger.of("pair", condition="openings")) == []
    # Both kinds of lessons were of the same contests.
    assert len(Records(contests).reports) == 4
    for condition, lessons in (("full", "all"), ("unlimited", "all"), ("specific", "specific")):
        pairs = list(ledger.of("pair", condition=condition, contests=4))
        assert [(line["number"], line["lessons"]) for line in pairs] == [(0, lessons), (1, lessons)]
        assert all(line["points"] in (0, 0.5, 1, 1.5, 2) for line in pairs)
        assert sum(ledger.counts(condition=condition, contests=4)) == 2
    # What was measured was not learnt from.
    with Store(tmp_path / "data" / "final" / "small" / "all" / "academy") as store:
        view = store.follow().refresh("openspiel-tic_tac_toe")
        assert view.measures.contests == 4
        assert len(view.libraries[Library.ENDGAME]) > 0
    document = tmp_path / "learning.md"
    marks = "\n".join(
        f"<!-- {name}: measured -->\nwas here\n<!-- {name}: end -->" for name in ("learning", "room")
    )
    document.write_text(f"before\n{marks}\nafter\n")
    report.tabulate(ledger, document)
    text = document.read_text()
    assert text.startswith("before")
    assert "was here" not in text
    assert "| Tic-tac-toe | 10 ms | fair use off | 4 | 4 |" in text


def test_a_strong_players_advice_is_worth_most_where_it_may_always_be_asked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "results.jsonl")
    bound.measure("small", Piece(12, time.monotonic() + 600.0), ledger)
    points = {
        place: sum(line["points"] for line in ledger.of("bound", place=place)) for place in bound.PLACES
    }
    assert sum(ledger.counts("bound")) == 12 * len(bound.PLACES)
    # By the seeds of the series, which are always the same.
    assert points["always"] == max(points.values()) > 15.0
    assert report.room(ledger, "final", "small")[-1].startswith("| Tic-tac-toe | before every move | 24 |")


def test_an_interrupted_run_loses_no_more_than_its_last_contest(tmp_path: Path) -> None:
    file = tmp_path / "contests"
    population = Population("small", SMALL, "final", Records(file))
    whole = [population.contest(number) for number in (1, 2)]
    file.write_bytes(file.read_bytes()[:-5])
    resumed = Population("small", SMALL, "final", Records(file))
    assert resumed.played(1) and not resumed.played(2)
    # What was lost is played again as it was.
    assert [resumed.contest(number) for number in (1, 2)] == whole
    assert Records(file).reports == whole


def test_the_population_is_rated_by_its_contests(tmp_path: Path) -> None:
    population = Population("small", SMALL, "final", Records(tmp_path / "contests"))
    for number in range(1, 7):
        told = {each.name: each.elo for each in population.contest(number).contest.players}
        before = dict(zip(population.players, population.elos(number - 1), strict=True))
        assert told == {name: before[name] for name in told}
    assert sum(population.elos(6)) == pytest.approx(3000.0)


def test_when_the_time_is_up_it_ends(tmp_path: Path) -> None:
    over = Piece(5, time.monotonic() - 1.0)
    run("small", ["full"], [5], over, Ledger(tmp_path / "results.jsonl"), tmp_path / "data")
    assert Ledger(tmp_path / "results.jsonl").lines == []


def test_the_same_figures_draw_the_same_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ledger = Ledger(tmp_path / "results.jsonl")
    for number, points in enumerate((0.5, 1, 2, 1.5, 1)):
        ledger.add(
            kind="pair",
            series="final",
            game="small",
            equal="time",
            condition="full",
            contests=7,
            number=number,
            points=points,
        )
    for name in ("a.svg", "b.svg"):
        report.draw(Ledger(tmp_path / "results.jsonl"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "Tic-tac-toe" in (tmp_path / "a.svg").read_text()
