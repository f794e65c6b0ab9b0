"""Commands of admins about players: mute one, let one propose again; and whom ACADEMY knows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from academy.store import contest_tables, game_tables, keys, proposal_tables, removals
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import proposed_by
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import events_pb2

MOST_MUTED: Final = 1_000


@dataclass(frozen=True, slots=True)
class MutePlayer:
    """Mute a player in games registered from now on.

    With `force` also one that nothing is known of yet. Raises InvalidRecordError for such a one without it,
    for too many, or no name.
    """

    player: str
    force: bool = True

    def execute(self, work: WriteContext) -> None:
        """Enter the player in the list."""
        keys.check_voter_name("player", self.player)
        if _is_listed(work, self.player):
            return
        if not self.force and not _is_known(work.transaction, self.player):
            raise InvalidRecordError(
                "player",
                f"{self.player!r} is unknown here: it has no rating, open contest, proposal, vote or token; "
                "`academy players list` shows names as they are kept, --force mutes it all the same",
            )
        if work.transaction.count(TableName.MUTED_PLAYERS) >= MOST_MUTED:
            raise InvalidRecordError("player", f"{MOST_MUTED:,} players are muted already: unmute some first")
        muted = records_pb2.MutedPlayer(player=self.player, time=work.now)
        work.transaction.put(TableName.MUTED_PLAYERS, keys.player(self.player), pack_message(muted))


@dataclass(frozen=True, slots=True)
class MuteInGame:
    """Take a player's votes out of a game, and drop its proposals from now on.

    The result is the number of patterns that lost votes. Nothing is done where it is muted already, or is no
    longer on the list: those who mute and unmute a player at the same time go through the games one by one,
    and the list says who came last.
    """

    game_id: str
    player: str
    actor: str

    def execute(self, work: WriteContext) -> int:
        """Log the muting and keep the votes."""
        if self.player in work.knowledge(self.game_id).muted or not _is_listed(work, self.player):
            return 0
        return removals.record_muting(
            work,
            events_pb2.Event(
                game_id=self.game_id,
                actor=self.actor,
                player_muted=events_pb2.PlayerMuted(player=self.player),
            ),
        )


@dataclass(frozen=True, slots=True)
class UnmutePlayer:
    """Mute a player no longer in games registered from now on. The result is whether it was muted.

    Raises InvalidRecordError for no name.
    """

    player: str

    def execute(self, work: WriteContext) -> bool:
        """Take the player off the list."""
        keys.check_voter_name("player", self.player)
        return work.transaction.delete(TableName.MUTED_PLAYERS, keys.player(self.player))


@dataclass(frozen=True, slots=True)
class Unmuted:
    """How many patterns got a player's votes back, and how many have no room."""

    patterns: int
    no_room: int


@dataclass(frozen=True, slots=True)
class UnmuteInGame:
    """Let a player propose in a game again, and put back the votes that muting took out.

    Nothing is done where it is not muted, or is on the list again, as for `MuteInGame`.
    """

    game_id: str
    player: str
    actor: str

    def execute(self, work: WriteContext) -> Unmuted:
        """Log the votes that come back."""
        if self.player not in work.knowledge(self.game_id).muted or _is_listed(work, self.player):
            return Unmuted(0, 0)
        unmuted = events_pb2.PlayerUnmuted(player=self.player)
        for record in list(removals.newest_removals_first(work.transaction, self.game_id)):
            if record.muted == self.player:
                unmuted.patterns.extend(record.patterns)
                removals.drop_removal(work.transaction, self.game_id, record)
        event = events_pb2.Event(game_id=self.game_id, actor=self.actor, player_unmuted=unmuted)
        outcome = work.record(event)
        return Unmuted(len(unmuted.patterns) - outcome.removed, outcome.removed)


def known_players(transaction: Transaction) -> Iterator[str]:
    """Yield who was rated, plays in an open contest, has a token, is muted, or proposed; some twice."""
    for _, stored in transaction.scan(TableName.RATINGS):
        yield game_tables.read_rating(stored)[0]
    for contest in contest_tables.open_contests(transaction):
        for player in contest.players:
            yield player.name
    for _, stored in transaction.scan(TableName.TOKENS):
        yield unpack_message(records_pb2.TokenRecord, stored).name
    for muted in muted_players(transaction):
        yield muted.player
    yield from proposal_tables.proposers(transaction)


def _is_listed(work: WriteContext, player: str) -> bool:
    return work.transaction.get(TableName.MUTED_PLAYERS, keys.player(player)) is not None


def _is_known(transaction: Transaction, name: str) -> bool:
    if name in known_players(transaction):
        return True
    # Imported votes leave no other trace of a player.
    return any(proposed_by(stored, name) for _, stored in transaction.scan(TableName.PATTERNS))


def muted_players(transaction: Transaction) -> list[records_pb2.MutedPlayer]:
    """Return the players that are muted, by name."""
    stored = (record for _, record in transaction.scan(TableName.MUTED_PLAYERS))
    muted = (unpack_message(records_pb2.MutedPlayer, record) for record in stored)
    return sorted(muted, key=lambda record: record.player)


def mute_in_new_game(work: WriteContext, game_id: str, actor: str) -> None:
    """Mute in a new game every player that is muted everywhere."""
    for muted in muted_players(work.transaction):
        MuteInGame(game_id, muted.player, actor).execute(work)
