"""Make a game known to ACADEMY, or describe one that is."""

from dataclasses import dataclass

import numpy as np

from academy.knowledge.boards import GraphGeometry, SquareGeometry
from academy.knowledge.learnable import check_learnable
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import MOST_NODE_SYMMETRIES, Description, GameSpec, InvalidGameError, Placement
from academy.knowledge.symmetries import NodeSymmetry
from academy.store import removals
from academy.store.codec.games import settings_from_proto, spec_to_proto
from academy.store.errors import GameConflictError, UnknownGameError
from academy.store.game_tables import game_record
from academy.store.player_commands import mute_in_new_game
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, game_pb2
from academy.wire.games import description_message, differing_field, read_description, read_spec


@dataclass(frozen=True, slots=True)
class RegisterGame:
    """Make a game known. The result is the game as it stands, and whether it was new.

    With `may_describe` a new game gets the given settings, and any game the given description: the forms of
    moves, by which the reports of all arenas are checked, and how pieces come to cells. Without it a new game
    gets the default settings and none of this.
    Raises GameConflictError where another game has this id, InvalidGameError, InvalidBoardError or
    InvalidSettingsError where the description is not sound.
    """

    game: game_pb2.Game
    actor: str
    may_describe: bool = True

    def execute(self, work: WriteContext) -> tuple[game_pb2.Game, bool]:
        """Store the game and its event, or compare it with the one there is."""
        if (given := len(self.game.node_symmetries)) > MOST_NODE_SYMMETRIES:
            raise InvalidGameError(f"{given:,} node symmetries: there may be {MOST_NODE_SYMMETRIES}")
        spec = read_spec(self.game)
        try:
            known = game_record(work.transaction, spec.game_id)
        except UnknownGameError:
            _check_edges_stay(spec)
            if not self.may_describe:
                spec = spec.described(Description())
            defaults = LibrarySettings.for_kind(spec.players, spec.kind)
            settings = defaults
            if self.may_describe:
                settings = settings_from_proto(self.game.settings, defaults)
                check_learnable(settings, spec, defaults)
                _check_row_fits(spec)
            game = spec_to_proto(spec, settings)
            work.record(events_pb2.Event(game_id=spec.game_id, actor=self.actor, game_registered=game))
            mute_in_new_game(work, spec.game_id, self.actor)
            return game, True
        if (field := differing_field(spec, known)) is not None:
            raise GameConflictError(spec.game_id, field)
        before = read_description(known)
        if self.may_describe and (before.placement is not Placement.ANYWHERE or before.winning_row):
            _check_same_shapes(spec, before)
        # An earlier version, or a referee that knew less, may have registered it without all of this.
        now = Description(
            spec.move_forms or before.move_forms,
            before.placement if spec.placement is Placement.ANYWHERE else spec.placement,
            spec.winning_row or before.winning_row,
        )
        if self.may_describe and now != before:
            _check_row_fits(spec)
            new = description_message(now)
            work.record(events_pb2.Event(game_id=spec.game_id, actor=self.actor, game_described=new))
            if (now.placement, now.winning_row) != (before.placement, before.winning_row):
                removals.drop_tesujis(work, spec.game_id)
            known = game_record(work.transaction, spec.game_id)
        return known, False


def _check_row_fits(spec: GameSpec) -> None:
    """Raise InvalidGameError for a winning row longer than the board, which older games may have."""
    shape = spec.geometry
    if isinstance(shape, SquareGeometry) and spec.winning_row > (longest := max(shape.rows, shape.columns)):
        raise InvalidGameError(
            f"a winning row of {spec.winning_row}: the longest row of this board has {longest} cells"
        )


def _check_edges_stay(spec: GameSpec) -> None:
    """Raise InvalidGameError for a symmetry that takes touching nodes apart, which older games may have."""
    shape = spec.geometry
    if not isinstance(shape, GraphGeometry):
        return
    first, second = np.array(shape.edges, dtype=np.intp).reshape(-1, 2).T
    touch = np.zeros((shape.size, shape.size), dtype=np.bool_)
    touch[first, second] = touch[second, first] = True
    for symmetry in (*spec.symmetry_group, spec.reversal_symmetry):
        assert isinstance(symmetry, NodeSymmetry)
        image = np.array(symmetry.image)
        apart = np.flatnonzero(~touch[image[first], image[second]])
        if len(apart):
            edge = shape.edges[apart[0]]
            ends, images = (
                " - ".join(repr(shape.nodes[node]) for node in nodes)
                for nodes in (edge, [symmetry.image[end] for end in edge])
            )
            raise InvalidGameError(
                f"symmetry {symmetry.name!r} takes the edge {ends} to {images}, which do not touch: a "
                "symmetry takes nodes that touch to nodes that touch; correct its image or the edges, or "
                "leave it out"
            )


def _check_same_shapes(spec: GameSpec, before: Description) -> None:
    """Raise GameConflictError for a game whose tesujis would have other shapes than those that it learnt."""
    if spec.placement not in (Placement.ANYWHERE, before.placement):
        raise GameConflictError(spec.game_id, "placement")
    if spec.winning_row not in (0, before.winning_row):
        raise GameConflictError(spec.game_id, "winning_row")
