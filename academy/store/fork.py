"""A changed game begins with the libraries of the game that was changed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from academy.knowledge.game import PATTERN_LIBRARIES, GameKnowledge
from academy.knowledge.library import PatternLibrary
from academy.knowledge.measures import Measures
from academy.knowledge.settings import Library
from academy.knowledge.votes import ELO_SCALE
from academy.store import event_log, game_tables, keys, removals, sources
from academy.store.codec.games import spec_to_proto
from academy.store.codec.learnt_tables import evaluation_records, tesuji_records
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entries_from_proto, entry_to_proto
from academy.store.environment import TableName
from academy.store.errors import GameConflictError
from academy.store.library_import import ImportLibraries
from academy.store.player_commands import mute_in_new_game, muted_players
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, events_pb2, libraries_pb2
from academy.wire.games import read_spec


@dataclass(frozen=True, slots=True)
class ForkGame:
    """Register a game with the libraries, ratings and settings of another, in one transaction.

    The events that follow its registration hold all of it, so that replays and backups need nothing of the
    old game. Its measures begin with its first contest, and its nodes without analyses: those of the old one
    are about other rules. Raises UnknownGameError, InvalidGameError for an id that cannot be one, and
    GameConflictError for the id of a game that is not a fork of this one.
    """

    game_id: str
    new_game_id: str
    actor: str

    def execute(self, work: WriteContext) -> libraries_pb2.ForkGameResponse:
        """Log the registration, where the libraries are from, and their records."""
        old = work.knowledge(self.game_id)
        message = spec_to_proto(old.spec, old.settings)
        message.game_id = self.new_game_id
        read_spec(message)
        response = libraries_pb2.ForkGameResponse(game=message)
        if work.transaction.get(TableName.GAMES, keys.game(self.new_game_id)) is not None:
            if sources.origin(work.transaction, self.new_game_id) != self.game_id:
                raise GameConflictError(self.new_game_id, "origin")
            response.game.CopyFrom(game_tables.game_record(work.transaction, self.new_game_id))
            return response
        forked = events_pb2.GameForked(
            from_game_id=self.game_id, last_event=event_log.last_sequence(work.transaction)
        )
        command = self._import_of(work, old)
        work.record(events_pb2.Event(game_id=self.new_game_id, actor=self.actor, game_registered=message))
        work.record(events_pb2.Event(game_id=self.new_game_id, actor=self.actor, game_forked=forked))
        imported = command.execute(work)
        # Takes the votes of muted players out again, and keeps them until these are unmuted in the new game.
        mute_in_new_game(work, self.new_game_id, self.actor)
        response.created = True
        response.patterns = sum(map(len, work.knowledge(self.new_game_id).libraries.values()))
        response.nodes = imported.nodes
        response.tesujis, response.weights = imported.tesujis, imported.weights
        return response

    def _import_of(self, work: WriteContext, old: GameKnowledge) -> ImportLibraries:
        spec = replace(old.spec, game_id=self.new_game_id)
        libraries = _with_muted_votes(work, old)
        ratings = [
            contests_pb2.PlayerRating(player=name, elo=elo / ELO_SCALE)
            for name, elo in sorted(game_tables.list_ratings(work.transaction, self.game_id))
        ]
        nodes = sorted(old.openings.nodes.values(), key=lambda node: (node.depth, node.node_id))
        return ImportLibraries(
            game_id=self.new_game_id,
            patterns={
                library: [
                    entry_to_proto(entry, library, spec)
                    for _, entry in sorted(libraries[library].entries.items())
                ]
                for library in PATTERN_LIBRARIES
            },
            # Searches hold for the old rules alone, and would keep equal ones by the new rules out.
            nodes=[node_to_proto(replace(node, analysis=None), self.new_game_id) for node in nodes],
            replace=False,
            actor=self.actor,
            history=libraries_pb2.GameHistory(
                measures=game_tables.write_measures(Measures()),
                ratings=ratings,
                sources=sources.of_libraries(work.transaction, self.game_id, Library),
            ),
            tesujis=list(tesuji_records(old.tesujis, spec, range(len(old.tesujis)))),
            evaluation=list(evaluation_records(old.evaluation, spec)),
        )


def _with_muted_votes(work: WriteContext, game: GameKnowledge) -> Mapping[Library, PatternLibrary]:
    """Return a game's patterns as unmuting every muted player would make them, as far as there is room."""
    copy = GameKnowledge(game.spec, game.settings)
    for library, patterns in game.libraries.items():
        for entry in patterns:
            copy.libraries[library].put(entry)
    # One that is not muted in new games would count in the fork.
    muted = {record.player for record in muted_players(work.transaction)} & game.muted
    for record in removals.newest_removals_first(work.transaction, game.spec.game_id):
        if record.muted in muted:
            copy.unmute(record.muted, entries_from_proto(record.patterns, game.spec))
    return copy.libraries
