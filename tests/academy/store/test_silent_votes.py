"""Silent votes in the log, in records and in copies that follow: the same wherever they are looked at."""

from pathlib import Path

from academy.knowledge.settings import Library
from academy.store.codec.patterns import proposed_by
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from tests.academy.store.examples import endgame_proposal, go_game, report, submission


def propose(store: Store, number: int, name: str, elo: float) -> None:
    """A contest of the same moves as all others, in which a player of that Elo proposes the last position."""
    request = report(f"c{number}", seed=7, names=(name, "seki"))
    request.contest.players[0].elo = elo
    store.run(OpenContest(request.contest))
    store.run(submission(request.contest.contest_id, 1, [endgame_proposal(request)], name))
    store.run(ReportContest(request, "arena"))


def votes(store: Store) -> tuple[list[str], list[str]]:
    """Who is heard, and who is silent."""
    (entry,) = store.follow().refresh("go-9x9").libraries[Library.ENDGAME].values()
    return [vote.player for vote in entry.votes.counted], [vote.player for vote in entry.votes.silent]


def test_the_log_makes_silent_votes_again_before_and_after_compaction(store: Store) -> None:
    for number, (name, elo) in enumerate([("ann", 1600), ("weak", 0), ("riser", 900), ("bob", 1650)]):
        propose(store, number, name, elo)
    assert votes(store) == (["ann", "bob"], ["weak", "riser"])
    assert not list(check(store.environment))
    compact(store, keep=1)
    risen = report("risen", names=("riser", "seki"))
    risen.contest.players[0].elo = 1500
    store.run(ReportContest(risen, "arena"))
    assert votes(store) == (["ann", "riser", "bob"], ["weak"])
    assert not list(check(store.environment))


def test_a_process_that_takes_over_hears_those_whose_elo_another_saw_rise(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        propose(store, 1, "ann", 1600)
        propose(store, 2, "riser", 900)
    with Store(tmp_path) as store:
        propose(store, 3, "bob", 1600)
        store.run(ReportContest(report("risen", names=("seki", "riser")), "arena"))
        assert votes(store) == (["ann", "riser", "bob"], [])


def test_follower_sees_no_change_from_a_silent_vote(store: Store) -> None:
    propose(store, 1, "ann", 1600)
    changes = []
    follower = store.follow(lambda view, change: changes.append(change))
    follower.refresh("go-9x9")
    changes.clear()
    propose(store, 2, "weak", 0)
    view = follower.refresh("go-9x9")
    (change,) = changes
    assert (change.put, change.restated, change.removed) == ((), (), ())
    (stored,) = view.libraries[Library.ENDGAME].stored.values()
    assert proposed_by(stored, "weak") and not proposed_by(stored, "bob")
