"""Arenas: whose contests are whose, and where the names of their players live.

An arena is the holder of a token of its name. It comes to be known with its first contest. The first of a
folder has the folder's own namespace, in which a player's name is its identity; the players of each other
arena have a namespace named for it: `NAME@ARENA`. A player's identity is decided when its contest is opened,
or reported, and stands in the event: later links change nothing that was learnt before.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from academy.store import event_log, game_tables, keys, player_commands, proposal_tables
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.contest_tables import contest_record, find_contest
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError, UnknownArenaError, UnknownContestError
from academy.store.game_tables import MAX_PAGE
from academy.store.proposal_tables import ProposalFilter
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, proposals_pb2

_MARK: Final = "@"
# A name, this mark and a namespace must be legible to people.
_LONGEST_NAMESPACE: Final = 128


def find(transaction: Transaction, name: str) -> records_pb2.ArenaRecord | None:
    """Return an arena, or None where none of this name has come yet."""
    stored = transaction.get(TableName.ARENAS, keys.player(name))
    return None if stored is None else unpack_message(records_pb2.ArenaRecord, stored)


def list_arenas(transaction: Transaction) -> list[records_pb2.ArenaRecord]:
    """Return all arenas in the order in which they came."""
    records = (
        unpack_message(records_pb2.ArenaRecord, stored) for _, stored in transaction.scan(TableName.ARENAS)
    )
    return sorted(records, key=lambda arena: arena.number)


def enter(transaction: Transaction, name: str) -> records_pb2.ArenaRecord:
    """Return an arena, which is added where its name is new.

    An arena without a name is not added: its contests lie in the folder's own namespace.
    """
    known = find(transaction, name) if name else records_pb2.ArenaRecord()
    return known or _add(transaction, name)


def _add(transaction: Transaction, name: str) -> records_pb2.ArenaRecord:
    known = list_arenas(transaction)
    namespace = _free_namespace(transaction, name, known) if known else ""
    arena = records_pb2.ArenaRecord(
        name=name, number=len(known), namespace=namespace, own_namespace=namespace
    )
    _put(transaction, arena)
    return arena


def _put(transaction: Transaction, arena: records_pb2.ArenaRecord) -> None:
    transaction.put(TableName.ARENAS, keys.player(arena.name), pack_message(arena))


def _free_namespace(transaction: Transaction, name: str, known: list[records_pb2.ArenaRecord]) -> str:
    """The arena's name, numbered where a name that is in use already would seem to be one of it."""
    stem = name.replace(_MARK, "_")[: _LONGEST_NAMESPACE - 10]
    names = player_commands.known_players(transaction)
    taken = {arena.own_namespace for arena in known} | {
        name.rpartition(_MARK)[2] for name in names if _MARK in name
    }
    free, number = stem, 2
    while free in taken:
        free, number = f"{stem}.{number}", number + 1
    return free


def name_home(transaction: Transaction) -> None:
    """Make the arena that reported most of the events kept the folder's own, in a folder that knows none."""
    tokens = {
        record.name
        for _, stored in transaction.scan(TableName.TOKENS)
        if (record := unpack_message(records_pb2.TokenRecord, stored)).role == "arena"
    }
    reports = Counter(
        event.actor
        for event in event_log.scan(transaction)
        if event.WhichOneof("kind") == "contest_reported" and event.actor in tokens
    )
    if reports or len(tokens) == 1:
        _add(transaction, max(reports or tokens, key=reports.__getitem__))


def identity(transaction: Transaction, arena: records_pb2.ArenaRecord, name: str, field: str = "name") -> str:
    """Return the name that a player's knowledge is kept under.

    Raises InvalidRecordError for a name that would seem to be one of another namespace.
    """
    keys.check_player_name(field, name)
    if arena.namespace:
        return f"{name}{_MARK}{arena.namespace}"
    player, mark, end = name.rpartition(_MARK)
    if mark and any(end == other.own_namespace for other in list_arenas(transaction)):
        raise InvalidRecordError(
            field,
            f"{name!r} would be player {player!r} of arena {end!r}: "
            f"what follows the last {_MARK!r} must not be the name of an arena",
        )
    return name


def kept_contest(
    transaction: Transaction, arena: records_pb2.ArenaRecord, given: contests_pb2.Contest
) -> contests_pb2.Contest:
    """Return a contest as it is kept: by its own id and its players' identities.

    Raises InvalidRecordError.
    """
    kept = contests_pb2.Contest(
        contest_id=keys.kept_contest_id(given.contest_id, arena.number), game_id=given.game_id
    )
    for place, player in enumerate(given.players):
        name = identity(transaction, arena, player.name, f"players[{place}].name")
        kept.players.add(name=name, elo=player.elo)
    return kept


def as_message(arena: records_pb2.ArenaRecord) -> contests_pb2.Arena:
    """Return an arena as admins see it."""
    return contests_pb2.Arena(name=arena.name, namespace=arena.namespace, acts_for=arena.acts_for)


def may_act(transaction: Transaction, name: str, other: str) -> bool:
    """Whether an arena may act for another."""
    arena = find(transaction, name)
    return arena is not None and other in arena.acts_for


def number_of(transaction: Transaction, name: str) -> int | None:
    """Return the number of an arena, None where the name is new."""
    arena = find(transaction, name)
    return None if arena is None else arena.number


def is_home(transaction: Transaction, name: str) -> bool:
    """Whether an arena is the first of this folder, or would be."""
    arena = find(transaction, name)
    return not list_arenas(transaction) if arena is None else arena.number == 0


def identity_in(transaction: Transaction, name: str, player: str) -> str:
    """Return the identity that a player has in an arena now. Raises InvalidRecordError."""
    arena = find(transaction, name)
    return player if arena is None else identity(transaction, arena, player, "player")


def contest_of_arena(transaction: Transaction, name: str, contest_id: str) -> records_pb2.ContestRecord:
    """Return an arena's contest by the arena's own id for it.

    Raises UnknownContestError, InvalidRecordError.
    """
    arena = find(transaction, name)
    if arena is None:
        raise UnknownContestError(contest_id)
    return contest_record(transaction, keys.kept_contest_id(contest_id, arena.number))


def contests_of_id(transaction: Transaction, contest_id: str) -> list[records_pb2.ContestRecord]:
    """Return the contests of all arenas that were given this id. Raises InvalidRecordError."""
    numbers = {0, *(arena.number for arena in list_arenas(transaction))}
    kept = (keys.kept_contest_id(contest_id, number) for number in sorted(numbers))
    return [record for kept_id in kept if (record := find_contest(transaction, kept_id)) is not None]


def list_proposals(
    transaction: Transaction, wanted: ProposalFilter, start: bytes = b"", most: int = MAX_PAGE
) -> tuple[list[proposals_pb2.Proposal], bytes]:
    """Return proposals as `proposal_tables.list_proposals` does, with contests as their arenas know them."""
    proposals, after = proposal_tables.list_proposals(transaction, wanted, start, most)
    return proposals_as_given(transaction, proposals), after


def proposals_as_given(
    transaction: Transaction, proposals: list[proposals_pb2.Proposal]
) -> list[proposals_pb2.Proposal]:
    """Return proposals with their contests as the arenas know them, not as they are kept."""
    names = {arena.number: arena.name for arena in list_arenas(transaction)}
    for proposal in proposals:
        proposal.arena = names.get(keys.arena_number(proposal.contest_id), "")
        proposal.contest_id = keys.given_contest_id(proposal.contest_id)
    return proposals


def list_ratings(
    transaction: Transaction, game_id: str, name: str, players: Iterable[str], *, of_admin: bool = False
) -> dict[str, float]:
    """Return the last Elo in a game of those players of an arena that are known there.

    With `of_admin` the players are identities, unless there is an arena of that name.

    Raises UnknownGameError, and InvalidRecordError for names that cannot be of this arena.
    """
    game_tables.game_record(transaction, game_id)
    arena = find(transaction, name)
    if arena is None and of_admin:
        elos = {player: game_tables.find_elo(transaction, game_id, player) for player in players}
    elif arena is None and list_arenas(transaction):
        # Its namespace is made with its first contest; no player can be known there yet.
        return {}
    else:
        arena = arena or records_pb2.ArenaRecord()
        elos = {
            player: game_tables.find_elo(transaction, game_id, identity(transaction, arena, player))
            for player in players
        }
    return {player: elo for player, elo in elos.items() if elo is not None}


@dataclass(frozen=True, slots=True)
class LinkArena:
    """Put an arena's players into another's namespace, or back into their own where `other` is empty.

    Contests that are open keep the identities they were opened with. Raises UnknownArenaError.
    """

    name: str
    other: str = ""

    def execute(self, work: WriteContext) -> contests_pb2.Arena:
        """Store it."""
        arena = _find_known(work.transaction, self.name)
        shared = _find_known(work.transaction, self.other) if self.other else None
        arena.namespace = arena.own_namespace if shared is None else shared.namespace
        _put(work.transaction, arena)
        return as_message(arena)


@dataclass(frozen=True, slots=True)
class AllowArena:
    """Let an arena act for another, or end that. Raises UnknownArenaError, InvalidRecordError."""

    name: str
    other: str
    forbid: bool = False

    def execute(self, work: WriteContext) -> contests_pb2.Arena:
        """Store it."""
        if self.forbid:
            arena = _find_known(work.transaction, self.name)
        else:
            keys.check_player_name("arena", self.name)
            # An arena may act for others before its own first contest.
            arena = enter(work.transaction, self.name)
        if self.name == self.other:
            raise InvalidRecordError("acts_for", f"{self.other!r} acts for itself without being allowed")
        others = set(arena.acts_for) - {self.other}
        if not self.forbid:
            others.add(_find_known(work.transaction, self.other).name)
        arena.acts_for[:] = sorted(others)
        _put(work.transaction, arena)
        return as_message(arena)


def _find_known(transaction: Transaction, name: str) -> records_pb2.ArenaRecord:
    arena = find(transaction, name)
    if arena is None:
        raise UnknownArenaError(name)
    return arena
