"""What a report writes and others read after it: what it changed, however much is known."""

import pytest

from academy.store import game_tables
from academy.store.contest_commands import ReportContest
from academy.store.environment import TableName, Transaction
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from tests.academy.store.examples import go_game, report


def bytes_written(
    monkeypatch: pytest.MonkeyPatch, store: Store, contest_id: str, names: tuple[str, str]
) -> int:
    """How much a report of one ply writes besides the event itself."""
    written = 0

    def counting(self: Transaction, table: TableName, key: bytes, value: bytes = b"") -> None:
        nonlocal written
        written += len(key) + len(value) if table not in (TableName.EVENTS, TableName.CONTESTS) else 0
        put(self, table, key, value)

    put = Transaction.put
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "put", counting)
        store.run(ReportContest(report(contest_id, plies=1, names=names), "arena"))
    return written


def test_a_report_writes_as_much_with_many_names_as_with_few(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for first in (100, 200):
        for number in range(first, first + 100, 2):
            names = f"player {number}", f"player {number + 1}"
            store.run(ReportContest(report(f"c{number}", plies=1, names=names), "arena"))
        costs.append(bytes_written(monkeypatch, store, f"d{first}", ("player 100", "player 150")))
    assert store.follow().refresh("go-9x9").measures.players == 200
    # Counts may have a digit more.
    assert abs(costs[1] - costs[0]) < 50
    assert not list(check(store.environment))


def test_ratings_are_the_latest_of_each_game(store: Store) -> None:
    store.run(RegisterGame(go_game("go"), "arena"))
    store.run(ReportContest(report("c1", names=("ann", "bob")), "arena"))
    store.run(ReportContest(report("c2", names=("bob", "cas")), "arena"))
    store.run(ReportContest(report("c3", "go", names=("cas", "ann")), "arena"))
    assert [store.read(game_tables.find_elo, "go-9x9", name) for name in ("ann", "bob", "cas")] == [
        1500.0,
        1500.0,
        1550.0,
    ]
    assert [store.read(game_tables.find_elo, "go", name) for name in ("ann", "bob", "cas")] == [
        1550.0,
        None,
        1500.0,
    ]


def test_other_processes_read_only_ratings_that_changed(store: Store) -> None:
    store.run(ReportContest(report("c1", names=("ann", "bob")), "arena"))
    before = store.follow().refresh("go-9x9").generation
    store.run(ReportContest(report("c2", names=("bob", "cas")), "arena"))
    store.run(ReportContest(report("c3", names=("dan", "bob")), "arena"))
    with store.environment.reading() as transaction:
        state = game_tables.game_state(transaction, "go-9x9")
        touched = game_tables.changes_since(transaction, "go-9x9", before, state.generation)
    assert touched is not None and touched.players == {"bob", "cas", "dan"}
