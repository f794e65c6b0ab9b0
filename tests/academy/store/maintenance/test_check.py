"""The check: silent about a sound folder, and telling about every kind of damage."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from academy.knowledge.own_proposals import ACADEMY_PROPOSER
from academy.knowledge.settings import Library
from academy.store import event_log, keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import ChangeSettings, DeletePattern, PruneLibrary, RestorePattern
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.rebuild import differences, rebuild
from academy.store.tokens import CreateToken, Role
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2, game_pb2, pattern_pb2, proposals_pb2
from tests.academy.store.examples import (
    contest,
    endgame_proposal,
    go_game,
    learn,
    opened_copy,
    report,
    submission,
)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two games in which everything has happened once."""
    folder = tmp_path_factory.mktemp("lived") / "data"
    with Store(folder) as store:
        live(store)
    return folder


@pytest.fixture
def lived_in(lived: Path, tmp_path: Path) -> Iterator[Store]:
    """A store with a copy of it."""
    with opened_copy(lived, tmp_path / "copy") as store:
        yield store


def live(store: Store) -> None:
    store.run(RegisterGame(go_game(), "arena"))
    store.run(RegisterGame(go_game("other"), "arena"))
    learn(store, contests=2, game_id="other")
    learn(store, contests=12)
    store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(opening_capacity=50), "admin"))
    first, second, *_ = store.follow().refresh("go-9x9").libraries[Library.ENDGAME]
    for number in (first, second):
        store.run(DeletePattern("go-9x9", Library.ENDGAME, number, "admin"))
    store.run(RestorePattern("go-9x9", Library.ENDGAME, second, "admin"))
    store.run(PruneLibrary("go-9x9", Library.ENDGAME, 0.5, False, "admin"))
    late = report("go-9x9/3")
    store.run(submission("go-9x9/3", 1, [endgame_proposal(late, back=4)], "gnugo 1"))
    store.run(OpenContest(contest("open")))
    store.run(submission("open", 1, [endgame_proposal(report("open"))], "gnugo 1"))
    store.note(NoteUses("open", 1, Library.ENDGAME, [second]))


def test_a_sound_folder_gives_no_finding(lived_in: Store) -> None:
    assert list(check(lived_in.environment)) == []


def test_the_log_alone_makes_the_same_libraries(lived_in: Store) -> None:
    view = lived_in.follow().refresh("go-9x9")
    with lived_in.environment.reading() as transaction:
        knowledge, generation = rebuild(transaction, "go-9x9")
    assert generation == view.generation
    assert {library: patterns.entries for library, patterns in knowledge.libraries.items()} == view.libraries
    assert knowledge.openings.nodes == view.openings.nodes
    assert knowledge.measures == view.measures


def first_key(transaction: Transaction, table: TableName, prefix: bytes = b"") -> bytes:
    return next(transaction.scan(table, prefix))[0]


def delete_first(table: TableName, prefix: bytes = b"") -> Callable[[Transaction], object]:
    return lambda transaction: transaction.delete(table, first_key(transaction, table, prefix))


def lose_an_event(transaction: Transaction) -> None:
    transaction.delete(TableName.EVENTS, keys.number(5))


def garble_an_event(transaction: Transaction) -> None:
    transaction.put(TableName.EVENTS, keys.number(5), b"\x01garbled")


def garble_a_pattern(transaction: Transaction) -> None:
    transaction.put(TableName.PATTERNS, first_key(transaction, TableName.PATTERNS), b"\xff\xff")


def miscount_a_node(transaction: Transaction) -> None:
    key = keys.in_game("go-9x9", 0)
    node = unpack_message(pattern_pb2.OpeningNodeRecord, transaction.get(TableName.OPENINGS, key) or b"")
    node.visits += 1
    transaction.put(TableName.OPENINGS, key, pack_message(node))


def invent_a_node(transaction: Transaction) -> None:
    root = transaction.get(TableName.OPENINGS, keys.in_game("go-9x9", 0)) or b""
    node = unpack_message(pattern_pb2.OpeningNodeRecord, root)
    node.node_id, node.depth, node.move, node.mover = 99_999, 1, "E5", 1
    transaction.put(TableName.OPENINGS, keys.in_game("go-9x9", 99_999), pack_message(node))


def lose_a_pattern(transaction: Transaction) -> None:
    transaction.delete(TableName.PATTERNS, first_key(transaction, TableName.PATTERNS, keys.in_game("go-9x9")))


def forget_the_measures(transaction: Transaction) -> None:
    transaction.put(TableName.MEASURES, b"go-9x9", transaction.get(TableName.MEASURES, b"other") or b"")


def misrate_a_player(transaction: Transaction) -> None:
    wrong = records_pb2.Rating(player="seki", elo_hundredths=1)
    transaction.put(TableName.RATINGS, keys.rating("go-9x9", "seki"), pack_message(wrong))


def change_capacity(transaction: Transaction) -> None:
    game = unpack_message(game_pb2.Game, transaction.get(TableName.GAMES, b"go-9x9") or b"")
    game.settings.opening_capacity = 10
    transaction.put(TableName.GAMES, b"go-9x9", pack_message(game))


def lag_behind(transaction: Transaction) -> None:
    state = unpack_message(records_pb2.GameState, transaction.get(TableName.GAME_STATE, b"other") or b"")
    state.generation -= 1
    transaction.put(TableName.GAME_STATE, b"other", pack_message(state))


def reopen_a_contest(transaction: Transaction) -> None:
    key = keys.contest("go-9x9/3")
    record = unpack_message(records_pb2.ContestRecord, transaction.get(TableName.CONTESTS, key) or b"")
    record.contest.state = contests_pb2.CONTEST_STATE_OPEN
    transaction.put(TableName.CONTESTS, key, pack_message(record))


def misname_a_report(transaction: Transaction) -> None:
    key = keys.contest("go-9x9/3")
    record = unpack_message(records_pb2.ContestRecord, transaction.get(TableName.CONTESTS, key) or b"")
    record.event = 1
    transaction.put(TableName.CONTESTS, key, pack_message(record))


def cross_an_index(transaction: Transaction) -> None:
    (key, value), (_, other), *_ = transaction.scan(TableName.PROPOSALS_BY_CONTEST)
    assert value != other
    transaction.put(TableName.PROPOSALS_BY_CONTEST, key, other)


def hold_a_judged_proposal(transaction: Transaction) -> None:
    proposals = (
        unpack_message(proposals_pb2.Proposal, stored) for _, stored in transaction.scan(TableName.PROPOSALS)
    )
    judged = next(proposal for proposal in proposals if proposal.contest_id == "go-9x9/3")
    judged.verdict = proposals_pb2.VERDICT_HELD
    transaction.put(TableName.PROPOSALS, judged.proposal_id.encode(), pack_message(judged))


@pytest.mark.parametrize(
    ("damage", "finding_text"),
    [
        (lose_an_event, "event 5 is missing: 6 comes in its place"),
        (garble_an_event, "event 5: a stored event cannot be decompressed"),
        (delete_first(TableName.EVENTS_BY_GAME), "missing in the index by game"),
        (
            lambda record: record.put(TableName.EVENTS_BY_GAME, keys.in_game("other", 999)),
            "events that do not exist",
        ),
        (garble_a_pattern, "cannot be read"),
        (miscount_a_node, "opening node 0 differs from what the events make"),
        (invent_a_node, "opening node 99999 is stored, but the events do not make it"),
        (lose_a_pattern, "endgame pattern 2 is missing"),
        (forget_the_measures, "the record in 'measures' differs"),
        (misrate_a_player, "the rating of player 'seki' differs from what the events make"),
        (delete_first(TableName.RATINGS), "is missing"),
        (change_capacity, "the opening library holds 50, its capacity is 10"),
        (lag_behind, "its last event is"),
        (delete_first(TableName.GAMES), "has events, but no record of the game"),
        (delete_first(TableName.GAME_STATE), "is not registered"),
        (delete_first(TableName.MEASURES), "measures of a game cannot be read"),
        (delete_first(TableName.CONTESTS), "there is no record of it"),
        (reopen_a_contest, "the index of open contests by player differs"),
        (misname_a_report, "contest 'go-9x9/3', but its record names event 1"),
        (delete_first(TableName.OPEN_CONTESTS), "the index of open contests by player differs"),
        (delete_first(TableName.OPEN_CONTESTS_BY_AGE), "the index of open contests by age differs"),
        (
            lambda record: record.put(TableName.USES, keys.use("go-9x9/3", 1, Library.ENDGAME, 1)),
            "uses are noted",
        ),
        (hold_a_judged_proposal, "is VERDICT_HELD, its contest CONTEST_STATE_REPORTED"),
        (delete_first(TableName.HELD_PROPOSALS), "missing in the index of held ones"),
        (lambda record: record.put(TableName.HELD_PROPOSALS, b"go-9x9\0x"), "proposals that are not held"),
        (
            delete_first(TableName.PROPOSALS_BY_CONTEST),
            "'proposals_by_contest' does not name every proposal once",
        ),
        (
            delete_first(TableName.PROPOSALS_BY_PLAYER),
            "'proposals_by_player' does not name every proposal once",
        ),
        (delete_first(TableName.PROPOSALS), "does not name every proposal once"),
        (cross_an_index, "names proposal"),
        (delete_first(TableName.CHANGES), ""),
    ],
)
def test_damage_of_any_table_is_reported(
    lived_in: Store, damage: Callable[[Transaction], object], finding_text: str
) -> None:
    lived_in.environment.write(damage)
    findings = [finding.what for finding in check(lived_in.environment)]
    if finding_text:
        assert any(finding_text in what for what in findings), findings
    else:
        assert not findings, "an old entry of the feed may be gone"


@pytest.mark.parametrize("how", ["overwritten", "cut short"])
def test_a_damaged_record_of_any_table_ends_no_check(lived_in: Store, how: str) -> None:
    def damage(table: TableName, key: bytes, value: bytes, transaction: Transaction) -> None:
        transaction.put(table, key, value)

    lived_in.run(CreateToken("ann", Role.BOT))
    for table in TableName:
        with lived_in.environment.reading() as transaction:
            key, value = next(transaction.scan(table), (b"", b""))
        # Some indexes have keys alone, some tables nothing; what META holds is read as the folder is opened.
        if not value or table is TableName.META:
            continue
        damaged = b"\xff" * len(value) if how == "overwritten" else value[:-1]
        lived_in.environment.write(partial(damage, table, key, damaged))
        # Tokens are looked at last.
        lived_in.environment.write(partial(damage, TableName.TOKENS, b"stray", b"\xff"))
        findings = [finding.what for finding in check(lived_in.environment)]
        assert findings.pop().startswith("record 'stray' of table 'tokens' cannot be read"), table
        assert findings, table
        lived_in.environment.write(partial(damage, table, key, value))


def test_without_replay_only_the_structure_is_checked(lived_in: Store) -> None:
    lived_in.environment.write(miscount_a_node)
    assert list(check(lived_in.environment, replay=False)) == []
    lived_in.environment.write(lose_an_event)
    assert list(check(lived_in.environment, replay=False))


@pytest.mark.parametrize("rules", [0, 7])
def test_what_other_rules_made_is_not_a_fault(lived_in: Store, rules: int) -> None:
    """A replay by these rules may then come to other libraries."""

    def as_by_other_rules(transaction: Transaction) -> None:
        event = event_log.get(transaction, event_log.last_sequence(transaction))
        event.rules = rules
        transaction.put(TableName.EVENTS, keys.number(event.sequence), event_log.pack(event))

    def different(transaction: Transaction) -> None:
        transaction.delete(TableName.PATTERNS, first_key(transaction, TableName.PATTERNS))

    lived_in.environment.write(as_by_other_rules)
    assert list(check(lived_in.environment)) == []
    lived_in.environment.write(different)
    (finding,) = check(lived_in.environment)
    assert (finding.is_fault, finding.game_id) == (False, "go-9x9")
    assert f"written under rules {rules}" in finding.what


def test_what_academy_found_by_itself_is_made_again_byte_for_byte(store: Store) -> None:
    store.run(RegisterGame(go_game(), "arena"))
    store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(analysed_patterns=10), "admin"))
    learn(store, contests=12)
    entries = store.follow().refresh("go-9x9").libraries[Library.ENDGAME].values()
    votes = [vote.player for entry in entries for vote in entry.votes.counted]
    assert votes.count(ACADEMY_PROPOSER) > 50
    with store.environment.reading() as transaction:
        assert list(differences(transaction, "go-9x9")) == []
    # No player may pass for ACADEMY.
    with pytest.raises(InvalidRecordError, match="ACADEMY's own name"):
        store.run(OpenContest(contest("c", names=(ACADEMY_PROPOSER, "bob"))))
