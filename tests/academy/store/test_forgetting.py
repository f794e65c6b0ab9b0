"""A player can be muted, and forgotten: then the libraries are as if it had never proposed anything."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.settings import Library
from academy.knowledge.votes import digest
from academy.store import arenas, event_log, forgetting
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import TableName
from academy.store.errors import InvalidRecordError, NotDeletedError, StoreBusyError
from academy.store.forgetting import Difference, ForgetPlayer
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import ChangeSettings, DeletePattern, DeleteTesuji, RestorePattern
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.player_commands import MuteInGame, MutePlayer, Unmuted, UnmuteInGame, UnmutePlayer
from academy.store.proposal_tables import ProposalFilter
from academy.store.removals import RestoreRemoval, list_removals
from academy.store.writer import WriteContext
from academy.v1 import game_pb2, pattern_pb2, proposals_pb2
from tests.academy.store.examples import (
    SIZE,
    contest,
    go,
    go_game,
    marked_proposal,
    mute,
    report,
    submission,
    view,
)

GAME = "go-9x9"
NAMES = ("ann", "bob", "troll")
CELLS = go().cell_names


@contextmanager
def world(folder: Path) -> Iterator[Store]:
    with Store(folder) as store:
        game = go_game()
        # Two cells say little.
        game.settings.least_information = 0
        store.run(RegisterGame(game, "arena"))
        yield store


def play(store: Store, first: int, contests: int, silent: Collection[str] = ()) -> None:
    """Contests of which everybody, but the silent, proposes pairs of cells: there are few, so they merge."""
    for number in range(first, first + contests):
        names = (NAMES[number % 3], NAMES[(number + 1) % 3])
        request = report(f"{GAME}/{number}", plies=60, names=names, first_wins=number % 3 > 0)
        store.run(OpenContest(contest(f"{GAME}/{number}", names=names)))
        for seat, name in enumerate(names, 1):
            proposals = [] if name in silent else [pair(request, seat, back) for back in range(4)]
            store.run(submission(f"{GAME}/{number}", seat, proposals, name))
        store.run(ReportContest(request, "arena"))


def pair(request: Any, seat: int, back: int) -> proposals_pb2.NewProposal:
    ply = request.plies[len(request.plies) - 1 - back]
    (value,) = [value.value for value in ply.values if value.player == seat]
    column = CELLS.index(ply.move) % SIZE
    start = CELLS.index(ply.move) - (1 if column else 0)
    cells = ply.board[start : start + 2]
    return proposals_pb2.NewProposal(
        library=pattern_pb2.LIBRARY_ENDGAME, cells=cells, ply=len(request.plies) - back, value=value
    )


def contents(store: Store) -> dict[Any, Any]:
    """What is known by its cells, whatever its number."""
    libraries = view(store).libraries
    return {
        (library, entry.player, entry.pattern): (entry.votes, entry.last_contest_id)
        for library in PATTERN_LIBRARIES
        for entry in libraries[library].values()
    }


def forget(store: Store, player: str) -> Difference:
    return store.run(ForgetPlayer(forgetting.begin_replay(store.environment, GAME, player), "admin"))


def delete_everywhere(*stores: Store) -> None:
    """Delete a pattern that is known in all of them, and bring back another one that was deleted."""
    common = set.intersection(*(set(contents(store)) for store in stores))
    chosen = sorted(common, key=str)[:2]
    assert len(chosen) == 2
    for store in stores:
        for library, player, pattern in chosen:
            (number,) = [
                entry.pattern_id
                for entry in view(store).libraries[library].values()
                if (entry.player, entry.pattern) == (player, pattern)
            ]
            store.run(DeletePattern(GAME, library, number, "admin"))
        store.run(RestorePattern(GAME, library, number, "admin"))


def test_the_libraries_are_as_if_the_player_had_never_proposed(tmp_path: Path) -> None:
    with world(tmp_path / "was") as store, world(tmp_path / "without") as without:
        for first in (0, 12):
            play(store, first, 12)
            play(without, first, 12, silent=("troll",))
            delete_everywhere(store, without)
            small = game_pb2.LibrarySettings(endgame_capacity=40, least_information=0)
            for folder in (store, without):
                folder.run(ChangeSettings(GAME, small, "admin"))
        before, openings = contents(store), view(store).openings.nodes
        assert before != contents(without)

        shown = forgetting.preview_forgetting(
            store.environment, forgetting.begin_replay(store.environment, GAME, "troll")
        )
        assert contents(store) == before, "a look changes nothing"
        done = forget(store, "troll")
        assert (done.gone, done.changed, done.new) == (shown.gone, shown.changed, shown.new)
        assert done.replayed and done.gone and done.changed
        assert contents(store) == contents(without)
        assert view(store).openings.nodes == openings

        # Once is enough; the log makes the same libraries again; so it does when it is compacted.
        again = forget(store, "troll")
        assert not again.removed and not again.patterns
        assert not list(check(store.environment))
        compact(store, keep=1)
        assert not list(check(store.environment)) and contents(store) == contents(without)


def test_a_forgotten_player_may_propose_again_before_another_is_forgotten(tmp_path: Path) -> None:
    with world(tmp_path / "was") as store, world(tmp_path / "without") as without:
        play(store, 0, 12)
        play(without, 0, 12, silent=("troll", "bob"))
        forget(store, "troll")
        # What the first proposes from now on counts.
        play(store, 12, 6)
        play(without, 12, 6, silent=("bob",))
        forget(store, "bob")
        assert votes(store) == votes(without)
        assert votes_of(store, "bob") == 0 and votes_of(store, "troll") > 0
        assert not list(check(store.environment))


def test_who_was_forgotten_while_another_was_replayed_stays_so(tmp_path: Path) -> None:
    with world(tmp_path / "was") as store, world(tmp_path / "without") as without:
        play(store, 0, 12)
        play(without, 0, 12, silent=("ann", "bob"))
        both = [forgetting.begin_replay(store.environment, GAME, name) for name in ("bob", "ann")]
        store.run(ForgetPlayer(both[0], "admin"))
        with pytest.raises(StoreBusyError):
            store.run(ForgetPlayer(both[1], "admin"))
        forgetting.preview_forgetting(store.environment, both[1])
        assert store.run(ForgetPlayer(both[1], "admin")).replayed
        assert votes_of(store, "ann") == votes_of(store, "bob") == 0 < votes_of(store, "troll")
        assert contents(store) == contents(without)
        assert not list(check(store.environment))


def votes(store: Store) -> dict[Any, Any]:
    """All votes by the cells, but for the events that brought them."""
    return {
        key: {(vote.player, vote.elo, vote.value) for vote in votes.counted}
        for key, (votes, _) in contents(store).items()
    }


def votes_of(store: Store, player: str) -> int:
    entries = (entry for library in view(store).libraries.values() for entry in library.values())
    return sum(vote.player == player for entry in entries for vote in entry.votes.counted)


def test_after_a_compaction_votes_are_taken_out_of_the_records(tmp_path: Path) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 12)
        compact(store, keep=3)
        before = votes_of(store, "ann"), votes_of(store, "bob")
        done = forget(store, "troll")
        assert done.compacted == store.read(event_log.last_sequence) - 4 and done.replayed
        assert votes_of(store, "troll") == 0 and all(before)
        assert not list(check(store.environment))


def test_events_of_other_rules_are_not_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 12)
        monkeypatch.setattr(forgetting, "_is_same", lambda made, now: False)
        done = forget(store, "troll")
        assert not done.replayed and not done.new
        assert votes_of(store, "troll") == 0
        monkeypatch.undo()
        assert not list(check(store.environment))


def test_a_forgotten_players_votes_do_not_come_back_with_a_deleted_pattern(tmp_path: Path) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 12)
        number, entry = next(
            (number, entry)
            for number, entry in view(store).libraries[Library.ENDGAME].items()
            if {vote.player for vote in entry.votes.counted} > {"troll"}
        )
        store.run(DeletePattern(GAME, Library.ENDGAME, number, "admin"))
        forget(store, "troll")
        restored = store.run(RestorePattern(GAME, Library.ENDGAME, number, "admin"))
        assert restored is not None and restored.votes == entry.votes.without("troll")


def test_a_muted_players_votes_count_for_nothing_until_it_is_unmuted(tmp_path: Path) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 9)
        before = contents(store)
        assert votes_of(store, "troll")
        taken = mute(store, GAME, "troll")
        assert taken and votes_of(store, "troll") == 0
        assert store.run(MuteInGame(GAME, "troll", "admin")) == 0
        assert not list(check(store.environment))

        # What it proposes is dropped with the reason, also in a game that is registered later.
        play(store, 9, 3)
        assert votes_of(store, "troll") == 0
        proposed, _ = store.read(arenas.list_proposals, ProposalFilter(player="troll"))
        assert {proposal.reason for proposal in proposed[:8]} == {"an admin has muted the proposer"}
        store.run(RegisterGame(go_game("later"), "arena"))
        assert store.run(MuteInGame("later", "troll", "admin")) == 0
        compact(store, keep=1)

        assert store.run(UnmutePlayer("troll"))
        assert store.run(UnmuteInGame(GAME, "troll", "admin")) == Unmuted(taken, 0)
        assert votes_of(store, "troll") >= sum(
            vote.player == "troll" for votes, _ in before.values() for vote in votes.counted
        ) - len(before)
        assert not store.run(UnmutePlayer("troll"))
        assert not list(check(store.environment))


def test_what_muting_took_out_comes_back_by_unmuting_alone_and_is_kept_for_it_however_long(
    tmp_path: Path,
) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 3)
        number = min(view(store).libraries[Library.ENDGAME])
        for name in NAMES:
            mute(store, GAME, name)
        assert number not in view(store).libraries[Library.ENDGAME]
        with pytest.raises(NotDeletedError):
            store.run(RestorePattern(GAME, Library.ENDGAME, number, "admin"))
        years_later = store.read(list_removals, GAME, store.clock() + 1e9)
        assert [removal.what for removal in years_later] == ["player muted"] * len(NAMES)


def test_who_mutes_or_unmutes_last_prevails_in_all_games(tmp_path: Path) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 9)
        # One admin unmutes while another is about to mute in the games.
        store.run(MutePlayer("troll"))
        store.run(UnmutePlayer("troll"))
        assert store.run(MuteInGame(GAME, "troll", "admin")) == 0 < votes_of(store, "troll")
        taken = mute(store, GAME, "troll")
        store.run(UnmutePlayer("troll"))
        store.run(MutePlayer("troll"))
        assert store.run(UnmuteInGame(GAME, "troll", "admin")) == Unmuted(0, 0)
        assert taken and votes_of(store, "troll") == 0


def test_a_player_whose_only_vote_is_in_the_sum_of_the_oldest_is_known(tmp_path: Path) -> None:
    class Fold:
        def execute(self, work: WriteContext) -> None:
            key, stored = next(iter(work.transaction.scan(TableName.PATTERNS)))
            record = pattern_pb2.PatternRecord.FromString(stored)
            record.folded.players.append(digest("old"))
            work.transaction.put(TableName.PATTERNS, key, record.SerializeToString())

    with world(tmp_path / "data") as store:
        play(store, 0, 1)
        with pytest.raises(InvalidRecordError, match="'old' is unknown here"):
            store.run(MutePlayer("old", force=False))
        store.run(Fold())
        store.run(MutePlayer("old", force=False))


@pytest.mark.parametrize("whole_removal", [True, False])
def test_votes_of_muted_players_that_a_restored_pattern_lacks_come_back_with_their_players(
    tmp_path: Path, whole_removal: bool
) -> None:
    with world(tmp_path / "data") as store:
        play(store, 0, 12)
        before = contents(store)
        library, number = next(
            (library, entry.pattern_id)
            for library in PATTERN_LIBRARIES
            for entry in view(store).libraries[library].values()
            if {vote.player for vote in entry.votes.counted} == set(NAMES)
        )
        if whole_removal:
            store.run(ChangeSettings(GAME, game_pb2.LibrarySettings(endgame_capacity=1), "admin"))
            store.run(ChangeSettings(GAME, game_pb2.LibrarySettings(endgame_capacity=5_000), "admin"))
        else:
            store.run(DeletePattern(GAME, library, number, "admin"))
        for muted in ("troll", "bob"):
            mute(store, GAME, muted)
        if whole_removal:
            restore_removals(store)
        else:
            restored = store.run(RestorePattern(GAME, library, number, "admin"))
            assert restored is not None and [vote.player for vote in restored.votes.counted] == ["ann"]
        for muted in ("troll", "bob"):
            assert votes_of(store, muted) == 0
            store.run(UnmutePlayer(muted))
            store.run(UnmuteInGame(GAME, muted, "admin"))
        if whole_removal:
            # What only muted players voted for was kept.
            restore_removals(store)
        after = contents(store)
        assert after.keys() == before.keys()
        for key, (votes, _) in before.items():
            assert after[key][0].counted == votes.counted
        assert not list(check(store.environment))
        unchanged = forget(store, "nobody")
        assert unchanged.replayed and not (unchanged.removed or unchanged.patterns)


def restore_removals(store: Store) -> None:
    for removal in store.read(list_removals, GAME, store.clock()):
        if removal.what != "player muted":
            store.run(RestoreRemoval(GAME, removal.event, "admin"))


def import_with_silent_votes(store: Store, *silent: str) -> int:
    """Import a pattern of the troll's, on which weaker players have silent votes; return its number."""
    imported = pattern_pb2.PatternRecord(
        library=pattern_pb2.LIBRARY_ENDGAME,
        player=1,
        cells="x - o",
        votes=[pattern_pb2.Vote(player="troll", elo_hundredths=190_000, value_millionths=0)],
        silent_votes=[
            pattern_pb2.Vote(player=name, elo_hundredths=150_000, value_millionths=900_000, order=order)
            for order, name in enumerate(silent, 1)
        ],
    )
    store.run(ImportLibraries(GAME, {Library.ENDGAME: [imported]}, [], False, "admin"))
    (number,) = view(store).libraries[Library.ENDGAME]
    return number


@pytest.mark.parametrize("replayed", [True, False])
def test_forgetting_who_proposed_first_leaves_the_silent_votes_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replayed: bool
) -> None:
    with world(tmp_path / "data") as store:
        number = import_with_silent_votes(store, "ann", "bob")
        store.run(DeletePattern(GAME, Library.ENDGAME, number, "admin"))
        store.run(RestorePattern(GAME, Library.ENDGAME, number, "admin"))
        if not replayed:
            monkeypatch.setattr(forgetting, "_is_same", lambda made, now: False)
        assert forget(store, "troll").replayed is replayed
        (entry,) = view(store).libraries[Library.ENDGAME].values()
        assert [vote.player for vote in entry.votes.counted] == ["ann", "bob"]
        assert not list(check(store.environment))


def test_a_deleted_pattern_comes_back_with_the_silent_votes_of_others_than_the_forgotten(
    tmp_path: Path,
) -> None:
    with world(tmp_path / "data") as store:
        number = import_with_silent_votes(store, "ann")
        store.run(DeletePattern(GAME, Library.ENDGAME, number, "admin"))
        forget(store, "troll")
        restored = store.run(RestorePattern(GAME, Library.ENDGAME, number, "admin"))
        assert restored is not None and [vote.player for vote in restored.votes.counted] == ["ann"]


def test_a_player_whose_proposed_tesuji_was_deleted_and_restored_can_be_forgotten(tmp_path: Path) -> None:
    with world(tmp_path / "data") as store:
        store.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=100), "admin"))
        names = ("troll", "ann")
        request = report("marked", names=names)
        store.run(OpenContest(contest("marked", names=names)))
        store.run(submission("marked", 1, [marked_proposal(request), pair(request, 1, 1)], "troll"))
        store.run(ReportContest(request, "arena"))
        (code,) = view(store).tesujis.proposed
        _, event = store.run(DeleteTesuji(GAME, code, "admin"))
        store.run(RestoreRemoval(GAME, event, "admin"))
        # The replay without the player knows no such tesuji.
        store.run(DeleteTesuji(GAME, code, "admin"))
        done = forget(store, "troll")
        assert done.replayed and done.gone and votes_of(store, "troll") == 0
        assert not view(store).tesujis.proposed and not list(check(store.environment))


def use_all(store: Store, contest_id: str) -> None:
    """A contest in which each pattern helps."""
    store.run(OpenContest(contest(contest_id)))
    store.note(NoteUses(contest_id, 1, Library.ENDGAME, list(view(store).libraries[Library.ENDGAME])))
    store.run(ReportContest(report(contest_id, plies=60), "arena"))


def uses(store: Store) -> dict[Any, int]:
    """How often each pattern helped, by its cells."""
    libraries = view(store).libraries
    return {
        (library, entry.player, entry.pattern): entry.uses
        for library in PATTERN_LIBRARIES
        for entry in libraries[library].values()
    }


@pytest.mark.parametrize("compacted", [False, True])
def test_what_unmuting_brings_back_after_forgetting_another_has_all_its_uses(
    tmp_path: Path, compacted: bool
) -> None:
    with world(tmp_path) as store:
        play(store, 0, 12)
        use_all(store, "used")
        if compacted:
            compact(store, keep=1)
            play(store, 12, 1)
        mute(store, GAME, "bob")
        forget(store, "troll")
        store.run(UnmutePlayer("bob"))
        store.run(UnmuteInGame(GAME, "bob", "admin"))
        again = forget(store, "troll")
        assert again.replayed and (again.gone, again.changed) == (0, 0)
        assert any(uses(store).values())
        assert not list(check(store.environment))


def test_what_forgetting_brings_back_is_not_restored_once_more(tmp_path: Path) -> None:
    with world(tmp_path) as store:
        play(store, 0, 12)
        use_all(store, "used")
        small = len(uses(store)) // 2
        store.run(ChangeSettings(GAME, game_pb2.LibrarySettings(endgame_capacity=small), "admin"))
        removal = store.read(event_log.last_sequence)
        store.run(ChangeSettings(GAME, game_pb2.LibrarySettings(endgame_capacity=200), "admin"))
        assert forget(store, "troll").new
        before = uses(store)
        store.run(RestoreRemoval(GAME, removal, "admin"))
        after = uses(store)
        assert after.keys() > before.keys()
        assert {pattern: after[pattern] for pattern in before} == before
        again = forget(store, "troll")
        assert (again.gone, again.changed) == (0, 0) and not list(check(store.environment))
