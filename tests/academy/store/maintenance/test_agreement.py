"""Two folders are compared: what one has not read yet is not a fault of it."""

from pathlib import Path

from academy.store.environment import Environment
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeleteGame
from academy.store.library_store import Store
from academy.store.maintenance.agreement import disagreements
from academy.store.maintenance.backup import backup
from tests.academy.store.examples import go_game, learn


def test_a_folder_that_has_not_read_yet_that_a_game_was_deleted_is_not_faulty(
    store: Store, tmp_path: Path
) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    learn(store, contests=2)
    backup(store.environment, tmp_path / "behind")
    store.run(DeleteGame("other", "admin"))
    with Environment(tmp_path / "behind", read_only=True) as behind:
        assert not list(disagreements(behind, store.environment))
        assert not list(disagreements(store.environment, behind))
        store.run(RegisterGame(go_game("other"), "arena"))
        assert not [finding for finding in disagreements(behind, store.environment) if finding.is_fault]


def test_a_game_whose_deletion_both_have_read_and_only_one_has_made_is_a_fault(
    store: Store, tmp_path: Path
) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    backup(store.environment, tmp_path / "ahead")
    store.run(DeleteGame("other", "admin"))
    with Store(tmp_path / "ahead") as ahead:
        learn(ahead, contests=2)
        (finding,) = disagreements(store.environment, ahead.environment)
    assert finding.is_fault
    assert (finding.game_id, finding.what) == ("other", "is known in only one of the two")
