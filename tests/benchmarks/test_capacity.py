"""What the plan of capacity promises follows from what was measured."""

import re
from pathlib import Path

import numpy as np
import pytest

from academy.service import server
from academy.service.limits import Limits
from benchmarks import capacity
from benchmarks.capacity import Load, OverloadError, plan, waiting

DOCS = Path(__file__).parents[2] / "docs"


def test_the_figures_are_those_of_the_document() -> None:
    text = (DOCS / "explanation" / "performance.md").read_text(encoding="utf-8")
    assert f"| consultations, shared log | {capacity.CONSULTATIONS_A_SECOND:,} |" in text
    assert f"| reports, shared log | {capacity.REPORTS_A_SECOND} |" in text
    assert f"| reports to one game | {capacity.REPORTS_OF_ALL} |" in text
    assert f"to {capacity.FOLDER_BYTES:,} bytes of each folder and {capacity.STREAM_BYTES:,} bytes" in text
    assert f"| {capacity.PROCESS_MIB} MiB of memory |" in text
    archive = (DOCS / "archive" / "performance.md").read_text(encoding="utf-8")
    (alone,) = re.findall(r"\| one report, acknowledged before the next \| ([\d.]+) ms", archive)
    (followed,) = re.findall(r"\| one report, then following it \| ([\d.]+) ms", archive)
    assert pytest.approx(float(followed) - float(alone)) == capacity.FOLLOWING_SECONDS * 1e3


def test_the_page_has_the_table_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    capacity.main([])
    page = (DOCS / "how-to" / "capacity.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"<!-- capacity -->\n(.*?)\n<!-- capacity: end -->", page, re.DOTALL)
    assert shown == capsys.readouterr().out.strip()


@pytest.mark.parametrize("share", [0.3, 0.7, 0.9])
def test_questions_alone_wait_as_long_as_theory_has_it(share: float) -> None:
    # In a queue of one server with exponential times the time until the answer is exponential, too.
    rate = capacity.CONSULTATIONS_A_SECOND
    expected = np.log(100) / (rate * (1 - share))
    measured = [waiting(share * rate, 0.0, np.random.default_rng(seed)) for seed in range(8)]
    assert np.mean(measured) == pytest.approx(expected, rel=0.1)


def test_the_servers_that_remain_answer_in_time_and_one_process_less_would_not() -> None:
    load = Load(100_000, questions=200.0)
    need = plan(load)
    assert need.p99 <= capacity.IN_TIME
    assert need.processes_each * (need.servers - 1) >= need.processes
    chance = np.random.default_rng(2)
    late = [
        waiting(load.questions_a_second / (need.processes - 1), load.contests_a_second, chance)
        for _ in range(5)
    ]
    assert np.mean(late) > need.p99


def test_the_servers_that_remain_hold_a_connection_for_each_bot() -> None:
    assert (Limits().connections, server._LISTENERS) == (capacity.CONNECTIONS, capacity.LISTENERS)
    need = plan(Load(10_000))
    assert need.processes_each * (need.servers - 1) * capacity.CONNECTIONS >= 10_000
    assert need.processes_each > plan(Load(1_000)).processes_each == 1


def test_more_bots_never_need_less() -> None:
    needs = [plan(Load(bots)) for bots in (1_000, 30_000, 100_000, 300_000)]
    assert [need.processes for need in needs] == sorted(need.processes for need in needs)
    assert needs[-1].processes > needs[0].processes


def test_more_reports_than_the_log_takes_are_refused_with_the_remedy() -> None:
    with pytest.raises(OverloadError, match=r"833 reports a second.*309.*a log of their own"):
        plan(Load(100_000, minutes=1.0))


def test_servers_with_too_few_cores_are_refused() -> None:
    with pytest.raises(OverloadError, match="2 cores: one is for NATS"):
        plan(Load(1_000), cores=2)


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--minutes", "0"], ["--minutes", "nan"], ["--minutes", "10", "inf"], ["--questions", "nan"]),
        *(["--questions", "inf"], ["--cores", "0"], ["0"]),
    ],
    ids=" ".join,
)
def test_nonsense_is_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        capacity.main(arguments)
    assert ended.value.code == 2
    assert re.search("it must be a (whole number from 1|number above 0)", capsys.readouterr().err)


def test_where_every_load_is_too_much_there_is_no_table_and_the_status_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match=r"^Games of 1 minute: 100,000 bots bring .* a log of their own\.$"):
        capacity.main(["--minutes", "1", "--", "100000"])
    assert not capsys.readouterr().out
