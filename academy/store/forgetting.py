"""Forgetting a player: a game's libraries become what they would be if it had proposed nothing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from academy.knowledge.game import PATTERN_LIBRARIES, GameKnowledge
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library
from academy.store import event_effects, event_log, game_tables, keys, library_import, rebuild, removals
from academy.store.codec.games import library_to_proto, pattern_library_from_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import (
    entries_from_proto,
    entries_to_proto,
    entry_to_proto,
    set_votes,
    votes_from_proto,
)
from academy.store.environment import Environment, TableName, Transaction
from academy.store.errors import StoreBusyError, StoreCorruptError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, pattern_pb2

# How many events the writer may replay itself, while other writes wait.
_EVENTS_WHILE_WRITING: Final = 50
_READ_AT_ONCE: Final = 200

_REMOVING: Final = frozenset({"pattern_deleted", "settings_changed", "library_pruned", "player_muted"})

_Numbered = tuple[Library, int]
_Patterns = Sequence[tuple[Library, PatternEntry]]


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes to a game when a player is forgotten.

    `removed` are patterns that go or become others, `patterns` what is put; `gone`, `changed` and `new` count
    them. `compacted` is the last event that cannot be replayed (0: all can), as a snapshot replaced it.
    `replayed` says whether the rest was: if not, votes are taken out of the patterns as they are.
    """

    removed: tuple[_Numbered, ...]
    patterns: tuple[tuple[Library, PatternEntry], ...]
    gone: int
    changed: int
    new: int
    compacted: int
    replayed: bool


@dataclass(frozen=True, slots=True)
class _Worlds:
    """The game as it happened (`actual`) and as it would be if the player had proposed nothing (`without`).

    Both are as of one event. `counts` says whose proposals count in `without`. `known_numbers` maps numbers
    of patterns in `actual` to those in `without`: of all that were known when an admin removed some.
    """

    actual: GameKnowledge
    without: GameKnowledge
    counts: Callable[[str], bool]
    known_numbers: dict[_Numbered, int]

    def find_number(self, library: pattern_pb2.Library.ValueType, pattern_id: int) -> int:
        """Return the number in `without` of a pattern of `actual`, 0 where `without` has no such pattern."""
        name = pattern_library_from_proto(library)
        entry = self.actual.libraries[name].entries.get(pattern_id)
        other = None if entry is None else self.without.libraries[name].find(entry.pattern, entry.player)
        return 0 if other is None else other.pattern_id

    def keep_votes(self, record: pattern_pb2.PatternRecord) -> bool:
        """Keep the votes that count in a record; return whether any is left."""
        return _keep_votes(record, self.counts)

    def holds(self, record: pattern_pb2.PatternRecord) -> bool:
        """Whether a pattern of `without` has a record's number."""
        return record.pattern_id in self.without.libraries[pattern_library_from_proto(record.library)].entries

    def renumber(self, record: pattern_pb2.PatternRecord) -> None:
        """Give a record the number that its pattern had in `without`, or a new one."""
        record.pattern_id = self.known_numbers.get(
            (pattern_library_from_proto(record.library), record.pattern_id), 0
        )
        if not record.pattern_id or self.holds(record):
            record.pattern_id = self.without.counters.next_pattern_id
            self.without.counters = replace(self.without.counters, next_pattern_id=record.pattern_id + 1)


class Replay:
    """A game replayed up to event `generation`, as it happened and without a player."""

    def __init__(
        self, transaction: Transaction, game_id: str, player: str, note_event: rebuild.NoteEvent
    ) -> None:
        """Begin at the game's snapshot, or before its first event.

        Raises UnknownGameError and StoreCorruptError.
        """
        game_tables.game_record(transaction, game_id)
        self.game_id = game_id
        self.player = player
        self._note_event = note_event
        self._begin(transaction)

    def _begin(self, transaction: Transaction) -> None:
        self.compacted = rebuild.snapshot_generation(transaction, self.game_id)
        self.generation = self.compacted
        self._actual: GameKnowledge | None = None
        self._without: GameKnowledge | None = None
        self._known_numbers: dict[_Numbered, int] = {}
        # Patterns of `without` by the event that removed them, and by the player whose muting did.
        self._lost: dict[int, list[tuple[Library, PatternEntry]]] = {}
        self._muted: dict[str, tuple[tuple[Library, PatternEntry], ...]] = {}
        # Players that were forgotten before, by the event up to which their proposals do not count.
        self._forgotten: dict[str, int] = {}
        for event in event_log.scan(transaction, self.game_id, after=self.compacted):
            if event.WhichOneof("kind") == "player_forgotten":
                self._forgotten[event.player_forgotten.player] = event.sequence
        # Twice: each is changed by itself.
        begun, again = (rebuild.find_snapshot(transaction, self.game_id) for _ in range(2))
        if begun is not None and again is not None:
            self._actual, self._without = begun[0], again[0]
            for name in {self.player, *self._forgotten}:
                self._without.take_votes_out(name)

    def advance(self, transaction: Transaction, most: int) -> bool:
        """Apply up to `most` further events; return whether there are more. Raises StoreCorruptError.

        Where a player was forgotten meanwhile, the replay begins again: it has what that player proposed.
        """
        for taken, event in enumerate(event_log.scan(transaction, self.game_id, after=self.generation)):
            if taken == most:
                return True
            forgotten = event.player_forgotten.player
            if forgotten and self._forgotten.get(forgotten, 0) < event.sequence:
                self._begin(transaction)
                return True
            try:
                self._take(transaction, event)
            except (ValueError, LookupError) as error:
                raise StoreCorruptError(f"event {event.sequence} cannot be taken in: {error}") from error
            self.generation = event.sequence
            self._note_event()
        return False

    def _take(self, transaction: Transaction, event: events_pb2.Event) -> None:
        def earlier(number: int) -> events_pb2.Event:
            return event_log.get(transaction, number)

        if self._actual is None or self._without is None:
            self._actual, self._without = event_effects.begin(event), event_effects.begin(event)
            return
        kind = event.WhichOneof("kind")
        other = events_pb2.Event()
        other.CopyFrom(event)
        if kind != "player_forgotten" and self._edit_event(self._actual, self._without, other):
            known = [
                (library, entry)
                for library in (PATTERN_LIBRARIES if kind in _REMOVING else ())
                for entry in self._without.libraries[library]
            ]
            outcome = event_effects.apply(self._without, other, earlier)
            lost = [
                pair for pair in known if pair[1].pattern_id not in self._without.libraries[pair[0]].entries
            ]
            if kind == "player_muted":
                self._muted[event.player_muted.player] = outcome.taken_out
            elif lost:
                self._lost[event.sequence] = lost
            for muted, library, votes in outcome.kept_out:
                if muted in self._muted:
                    self._muted[muted] = (*self._muted[muted], (library, votes))
        event_effects.apply(self._actual, event, earlier)

    def _edit_event(self, actual: GameKnowledge, without: GameKnowledge, event: events_pb2.Event) -> bool:
        """Change an event into the one that would have happened without the player.

        Returns False if there would have been none.
        """
        kind = event.WhichOneof("kind") or ""
        if kind in _REMOVING:
            self._note_numbers(actual, without)
        edits: dict[str, Callable[[_Worlds, Any], bool]] = {
            "contest_reported": self._edit_report,
            "proposal_judged": lambda worlds, judged: worlds.counts(judged.proposal.player),
            "pattern_deleted": self._edit_deletion,
            "pattern_restored": self._edit_restored_pattern,
            "removal_restored": self._edit_restored_removal,
            "patterns_imported": self._edit_import,
            "player_unmuted": self._edit_unmuting,
        }
        if kind not in edits:
            return True

        def counts(name: str) -> bool:
            return name != self.player and event.sequence >= self._forgotten.get(name, 0)

        worlds = _Worlds(actual, without, counts, self._known_numbers)
        return edits[kind](worlds, getattr(event, kind))

    def _edit_report(self, worlds: _Worlds, reported: events_pb2.ContestReported) -> bool:
        left = [proposal for proposal in reported.proposals if worlds.counts(proposal.player)]
        del reported.proposals[:]
        reported.proposals.extend(left)
        for use in reported.uses:
            numbers = {worlds.find_number(use.library, pattern_id) for pattern_id in use.pattern_ids}
            use.pattern_ids[:] = sorted(numbers - {0})
        return True

    def _edit_deletion(self, worlds: _Worlds, deleted: events_pb2.PatternDeleted) -> bool:
        deleted.pattern_id = worlds.find_number(deleted.library, deleted.pattern_id)
        return bool(deleted.pattern_id)

    def _edit_restored_pattern(self, worlds: _Worlds, restored: events_pb2.PatternRestored) -> bool:
        record = restored.record
        worlds.renumber(record)
        library = pattern_library_from_proto(record.library)
        lost = self._lost_pattern(library, record.pattern_id)
        if lost is not None:
            record.CopyFrom(entry_to_proto(lost, library, worlds.actual.spec))
        return worlds.keep_votes(record)

    def _edit_restored_removal(self, worlds: _Worlds, restored: events_pb2.RemovalRestored) -> bool:
        records = [record for record in restored.patterns if worlds.keep_votes(record)]
        if restored.removal in self._lost:
            records = entries_to_proto(self._lost[restored.removal], worlds.actual.spec)
        else:
            for record in records:
                worlds.renumber(record)
        _set_patterns(restored, [record for record in records if not worlds.holds(record)])
        return True

    def _edit_import(self, worlds: _Worlds, imported: events_pb2.PatternsImported) -> bool:
        left = [record for record in imported.records if worlds.keep_votes(record)]
        del imported.records[:]
        imported.records.extend(left)
        return True

    def _edit_unmuting(self, worlds: _Worlds, unmuted: events_pb2.PlayerUnmuted) -> bool:
        if unmuted.player in self._muted:
            _set_patterns(unmuted, entries_to_proto(self._muted.pop(unmuted.player), worlds.actual.spec))
            return True
        back = [record for record in unmuted.patterns if worlds.keep_votes(record)]
        for record in back:
            number = worlds.find_number(record.library, record.pattern_id)
            if number:
                record.pattern_id = number
            else:
                worlds.renumber(record)
        _set_patterns(unmuted, back)
        return True

    def _lost_pattern(self, library: Library, number: int) -> PatternEntry | None:
        """Return a pattern as it was in `without` when it was removed last."""
        for lost in reversed(self._lost.values()):
            for pair in lost:
                if (pair[0], pair[1].pattern_id) == (library, number):
                    return pair[1]
        return None

    def _note_numbers(self, actual: GameKnowledge, without: GameKnowledge) -> None:
        """Note the number of each pattern in `without`: what is removed now may be restored."""
        for library in PATTERN_LIBRARIES:
            for entry in actual.libraries[library]:
                other = without.libraries[library].find(entry.pattern, entry.player)
                if other is not None:
                    self._known_numbers[library, entry.pattern_id] = other.pattern_id

    def difference(self, now: GameKnowledge) -> Difference:
        """Return the changes to the present libraries, which must be of `generation`."""
        without = self._without
        is_replayed = self._actual is not None and without is not None and _is_same(self._actual, now)
        if without is None or not is_replayed:
            return self._compare_records(now)
        removed: list[_Numbered] = []
        patterns: list[tuple[Library, PatternEntry]] = []
        gone = changed = 0
        fresh_id = now.counters.next_pattern_id
        for library in PATTERN_LIBRARIES:
            for entry in now.libraries[library]:
                other = without.libraries[library].find(entry.pattern, entry.player)
                if other is not None:
                    other = replace(other, pattern_id=entry.pattern_id)
                if other == entry:
                    continue
                removed.append((library, entry.pattern_id))
                if other is None:
                    gone += 1
                else:
                    changed += 1
                    patterns.append((library, other))
        new = 0
        for library in PATTERN_LIBRARIES:
            for entry in sorted(without.libraries[library], key=lambda entry: entry.pattern_id):
                if now.libraries[library].find(entry.pattern, entry.player) is None:
                    patterns.append((library, replace(entry, pattern_id=fresh_id + new)))
                    new += 1
        return Difference(tuple(removed), tuple(patterns), gone, changed, new, self.compacted, True)

    def muted_votes(
        self, muted: str, kept: _Patterns, now: GameKnowledge
    ) -> Iterator[tuple[Library, PatternEntry]]:
        """Yield what muting a player took out without the forgotten one, with the present numbers.

        `now` is as it is after the forgetting. Patterns that went whole have the numbers of those that are
        `kept`, other ones the numbers of those that are kept no longer; what there is no number for is left
        out.
        """
        assert self._without is not None
        known = {(library, entry.pattern, entry.player): entry.pattern_id for library, entry in kept}
        taken = self._muted.get(muted, ())
        alike = {(library, entry.pattern, entry.player) for library, entry in taken}
        spare = [
            number
            for (library, pattern, player), number in known.items()
            if (library, pattern, player) not in alike and number not in now.libraries[library].entries
        ]
        for library, entry in taken:
            present = self._without.libraries[library].entries.get(entry.pattern_id)
            other = present and now.libraries[library].find(present.pattern, present.player)
            number = other.pattern_id if other else known.get((library, entry.pattern, entry.player), 0)
            number = number or (spare.pop(0) if spare else 0)
            if number:
                yield library, replace(entry, pattern_id=number)

    def lost_patterns(
        self, event: int, kept: _Patterns, difference: Difference
    ) -> Iterator[tuple[Library, PatternEntry]]:
        """Yield what is `kept` of an event's removal, as it is without the forgotten player.

        What did not go without this player is back by the difference.
        """
        lost = {(library, entry.pattern, entry.player): entry for library, entry in self._lost.get(event, ())}
        back = {(library, entry.pattern, entry.player) for library, entry in difference.patterns}
        for library, entry in kept:
            pattern = (library, entry.pattern, entry.player)
            if pattern in lost:
                yield library, replace(lost[pattern], pattern_id=entry.pattern_id)
            elif pattern not in back:
                yield library, entry

    def _compare_records(self, now: GameKnowledge) -> Difference:
        """Votes taken out of the patterns as they are, where the log does not make these again."""
        removed: list[_Numbered] = []
        patterns: list[tuple[Library, PatternEntry]] = []
        for library in PATTERN_LIBRARIES:
            for entry in now.libraries[library]:
                left = entry.votes.without(self.player)
                if left != entry.votes:
                    removed.append((library, entry.pattern_id))
                    if left.proposers:
                        patterns.append((library, replace(entry, votes=left)))
        changed = len(patterns)
        return Difference(
            tuple(removed), tuple(patterns), len(removed) - changed, changed, 0, self.compacted, False
        )


def _set_patterns(
    event: events_pb2.RemovalRestored | events_pb2.PlayerUnmuted, records: list[pattern_pb2.PatternRecord]
) -> None:
    del event.patterns[:]
    event.patterns.extend(records)


def _is_same(made: GameKnowledge, now: GameKnowledge) -> bool:
    return all(
        made.libraries[library].entries == now.libraries[library].entries for library in PATTERN_LIBRARIES
    )


def begin_replay(
    environment: Environment, game_id: str, player: str, note_event: rebuild.NoteEvent = rebuild.note_nothing
) -> Replay:
    """Replay a game without a player up to its newest event, in parts, so that the file need not grow."""
    with environment.reading() as transaction:
        replay = Replay(transaction, game_id, player, note_event)
    while True:
        with environment.reading() as transaction:
            if not replay.advance(transaction, _READ_AT_ONCE):
                return replay


def preview_forgetting(environment: Environment, replay: Replay) -> Difference:
    """Return the changes as of the newest event."""
    while True:
        with environment.reading() as transaction:
            if not replay.advance(transaction, _READ_AT_ONCE):
                return replay.difference(game_tables.load(transaction, replay.game_id)[0])


@dataclass(frozen=True)
class ForgetPlayer:
    """Make a game's libraries what they are without all that a player proposed until now.

    The result says what changed. Raises StoreBusyError where too much was learnt since the replay, or another
    player was forgotten: go on with it.
    """

    replay: Replay
    actor: str

    def execute(self, work: WriteContext) -> Difference:
        """Log the difference, in several events where it is large, and what is kept for undoing."""
        replay = self.replay
        if replay.advance(work.transaction, _EVENTS_WHILE_WRITING):
            raise StoreBusyError("more was learnt since the replay; replay that, too")
        knowledge = work.knowledge(replay.game_id)
        difference = replay.difference(knowledge)
        removed = [
            events_pb2.PatternKey(library=library_to_proto(library), pattern_id=number)
            for library, number in difference.removed
        ]
        records = entries_to_proto(difference.patterns, knowledge.spec)
        for first in range(0, max(1, len(records)), library_import.RECORDS_PER_EVENT):
            forgotten = events_pb2.PlayerForgotten(
                player=replay.player,
                removed=removed if first == 0 else (),
                patterns=records[first : first + library_import.RECORDS_PER_EVENT],
            )
            work.record(
                events_pb2.Event(game_id=replay.game_id, actor=self.actor, player_forgotten=forgotten)
            )
        _forget_what_was_kept(work, replay, difference)
        return difference


def _forget_what_was_kept(work: WriteContext, replay: Replay, difference: Difference) -> None:
    """Make what could be restored what it would be without the player, or take the player's votes out."""
    game_id, player = replay.game_id, replay.player
    knowledge = work.knowledge(game_id)
    for removal in list(removals.newest_removals_first(work.transaction, game_id)):
        kept = entries_from_proto(removal.patterns, knowledge.spec)
        if removal.muted == player:
            left = []
        elif not difference.replayed or removal.removal.event <= difference.compacted:
            left = [record for record in removal.patterns if _drop_votes(record, player)]
        elif removal.muted:
            muted = replay.muted_votes(removal.muted, kept, knowledge)
            left = entries_to_proto(muted, knowledge.spec)
        else:
            lost = replay.lost_patterns(removal.removal.event, kept, difference)
            left = [
                record for record in entries_to_proto(lost, knowledge.spec) if _drop_votes(record, player)
            ]
        del removal.patterns[:]
        removal.patterns.extend(left)
        removals.keep_removal(work, game_id, removal)
    for key, stored in list(work.transaction.scan(TableName.DELETED_PATTERNS, keys.in_game(game_id))):
        deleted = unpack_message(records_pb2.DeletedPattern, stored)
        if _drop_votes(deleted.record, player):
            work.transaction.put(TableName.DELETED_PATTERNS, key, pack_message(deleted))
        else:
            work.transaction.delete(TableName.DELETED_PATTERNS, key)


def _drop_votes(record: pattern_pb2.PatternRecord, player: str) -> bool:
    """Take a player's votes out of a record; return whether others are left."""
    return _keep_votes(record, lambda name: name != player)


def _keep_votes(record: pattern_pb2.PatternRecord, keep: Callable[[str], bool]) -> bool:
    """Keep the votes of some players in a record; return whether any is left, silent or not."""
    votes = votes_from_proto(record)
    for player in {vote.player for vote in (*votes.counted, *votes.silent) if not keep(vote.player)}:
        votes = votes.without(player)
    set_votes(record, votes)
    return bool(votes.proposers)
