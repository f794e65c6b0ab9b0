"""Commands rest between their steps for questions that are asked meanwhile."""

from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.library_store import Store
from academy.store.writer import WriterYield
from tests.academy.store.examples import endgame_proposal, report, submission
from tests.academy.store.holding import held

GAME = "go-9x9"
MANY = 20


class Questions:
    """How many were asked so far; remembers how often it was looked at."""

    def __init__(self) -> None:
        self.asked = 0.0
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.asked


def test_a_write_rests_only_after_questions() -> None:
    rests: list[float] = []
    questions = Questions()
    giving_way = WriterYield(rests.append)
    giving_way()
    assert rests == []
    giving_way.to(questions)
    giving_way()
    assert rests == []
    questions.asked = 3
    giving_way()
    giving_way()
    assert len(rests) == 1
    questions.asked = 4
    giving_way()
    assert len(rests) == 2


def test_a_report_and_each_of_its_proposals_are_steps(store: Store) -> None:
    questions = Questions()
    store.give_way(questions)
    store.run(ReportContest(report("c1", GAME, plies=4), "arena"))
    without = questions.looks
    request = report("c2", GAME, plies=4)
    store.run(OpenContest(request.contest))
    proposals = [endgame_proposal(request, back=back) for back in (0, 2)]
    store.run(submission("c2", 1, proposals, "arena", GAME))
    questions.looks = 0
    store.run(ReportContest(request, "arena"))
    assert without >= 4
    assert questions.looks == without + len(proposals)


def test_a_report_is_the_same_with_rests(store: Store) -> None:
    store.give_way(iter(range(1_000)).__next__)
    store.run(ReportContest(report("c1", GAME, plies=4), "arena"))
    view = store.follow().refresh(GAME)
    assert view.measures.contests == 1
    assert view.openings.root.visits == 1


def test_many_commands_are_not_held_up(store: Store) -> None:
    questions = Questions()
    store.give_way(questions)
    hold, first = held(store)
    others = [
        store.submit(ReportContest(report(f"c{number}", GAME, plies=4), "arena")) for number in range(MANY)
    ]
    hold.may_end.set()
    first.result()
    assert all(future.result().counted for future in others)
    assert questions.looks == 0
