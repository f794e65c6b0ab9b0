"""A game is registered once, keeps what it is, and may be described later."""

from dataclasses import dataclass, replace

import pytest

from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import InvalidGameError
from academy.store import event_log, game_tables
from academy.store.codec.games import settings_to_proto, spec_to_proto
from academy.store.errors import (
    GameConflictError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.writer import WriteContext
from academy.v1 import events_pb2, game_pb2
from academy.wire.games import game_message, read_spec
from referees.diplomacy.rules import Diplomacy
from referees.warlight.maps import map_names
from referees.warlight.rules import WarLight
from tests.academy.store.examples import go_game


def test_registering_the_same_game_again_changes_nothing(store: Store) -> None:
    game, created = store.run(RegisterGame(go_game(), "another"))
    assert not created
    assert game == store.read(game_tables.game_record, "go-9x9")
    assert store.read(event_log.last_sequence) == 1


def test_settings_of_a_second_registration_do_not_count(store: Store) -> None:
    again = go_game()
    again.settings.CopyFrom(settings_to_proto(LibrarySettings(opening_capacity=1)))
    game, created = store.run(RegisterGame(again, "arena"))
    assert (game.settings.opening_capacity, created) == (1_000, False)


def test_a_game_of_many_begins_with_a_threshold_of_its_own(store: Store) -> None:
    seven = spec_to_proto(replace(read_spec(go_game()), game_id="seven", players=7, symmetric=False))
    game, _ = store.run(RegisterGame(seven, "arena"))
    assert game.settings.prune_below == 0.0943
    seven.game_id = "seven-set"
    seven.settings.prune_below = 0.33
    game, _ = store.run(RegisterGame(seven, "arena"))
    assert game.settings.prune_below == 0.33


@pytest.mark.parametrize(
    ("field", "value"), [("players", 1), ("expected_length", 61.0), ("reversal", "rotate_180")]
)
def test_another_game_of_the_same_id_is_refused_naming_what_differs(
    store: Store, field: str, value: object
) -> None:
    other = go_game()
    setattr(other, field, value)
    with pytest.raises(GameConflictError) as refused:
        store.run(RegisterGame(other, "arena"))
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("field", "value"), [("placement", game_pb2.PLACEMENT_OUTFLANKING), ("winning_row", 3)]
)
def test_a_game_keeps_the_shapes_of_its_tesujis_once_it_has_some(
    store: Store, field: str, value: int
) -> None:
    game = go_game("fighting")
    game.placement = game_pb2.PLACEMENT_CAPTURING
    store.run(RegisterGame(game, "arena"))
    other = go_game("fighting")
    setattr(other, field, value)
    with pytest.raises(GameConflictError) as refused:
        store.run(RegisterGame(other, "arena"))
    assert refused.value.field == field
    # An arena that may not describe games changes nothing, and neither does one that knows less.
    assert store.run(RegisterGame(other, "arena", may_describe=False))[0].placement == game.placement
    assert store.run(RegisterGame(go_game("fighting"), "arena"))[0].placement == game.placement


def ring(nodes: int) -> game_pb2.Game:
    """A game on a ring, that does not change when the ring is turned."""
    game = game_pb2.Game(game_id="ring", players=1, reversal="identity", expected_length=60.0)
    game.geometry.graph.nodes.extend(map(str, range(nodes)))
    for by in range(nodes):
        name = "identity" if by == 0 else f"turn {by}"
        game.symmetries.append(name)
        game.node_symmetries.add(name=name, image=[(node + by) % nodes for node in range(nodes)])
    return game


@pytest.mark.threat("bad_input")
def test_a_game_of_very_many_symmetries_is_refused_before_they_are_put_together(store: Store) -> None:
    assert store.run(RegisterGame(ring(48), "arena"))[1]
    # To put these together would take minutes.
    with pytest.raises(InvalidGameError, match="1,000 node symmetries: there may be 48"):
        store.run(RegisterGame(ring(1_000), "arena"))


@dataclass(frozen=True, slots=True)
class RegisteredBefore:
    """A game that a version with fewer rules registered."""

    game: game_pb2.Game

    def execute(self, work: WriteContext) -> None:
        """Log its registration."""
        work.record(events_pb2.Event(game_id=self.game.game_id, actor="arena", game_registered=self.game))


def path(*symmetries: tuple[str, tuple[int, ...]], reversal: str = "identity") -> game_pb2.Game:
    """A game of two on three nodes in a row, a - b - c, and d apart from them."""
    game = game_pb2.Game(game_id="path", players=2, reversal=reversal, expected_length=60.0, symmetric=True)
    game.geometry.graph.nodes.extend("abcd")
    for first, second in ((0, 1), (2, 1), (1, 0)):
        game.geometry.graph.edges.add(first=first, second=second)
    game.symmetries.append("identity")
    for name, image in symmetries:
        game.node_symmetries.add(name=name, image=image)
        if name != reversal:
            game.symmetries.append(name)
    return game


@pytest.mark.parametrize("reversal", ["identity", "swap"])
def test_a_symmetry_that_takes_nodes_that_touch_apart_is_refused(store: Store, reversal: str) -> None:
    refusal = (
        "^symmetry 'swap' takes the edge 'c' - 'b' to 'c' - 'a', which do not touch: .* "
        "correct its image or the edges, or leave it out$"
    )
    for may_describe in (True, False):
        with pytest.raises(InvalidGameError, match=refusal):
            game = path(("swap", (1, 0, 2, 3)), reversal=reversal)
            store.run(RegisterGame(game, "arena", may_describe))
    # However the edges are written.
    assert store.run(RegisterGame(path(("swap", (2, 1, 0, 3)), reversal=reversal), "arena"))[1]


def test_a_game_with_such_a_symmetry_from_before_is_still_known(store: Store) -> None:
    old = path(("swap", (1, 0, 2, 3)))
    store.run(RegisteredBefore(spec_to_proto(read_spec(old), LibrarySettings())))
    assert not store.run(RegisterGame(old, "arena"))[1]


def test_all_maps_of_the_referees_can_be_registered(store: Store) -> None:
    specs = [Diplomacy.from_settings({}).spec()]
    specs += [WarLight.from_settings({"map": name}).spec() for name in map_names()]
    assert all(store.run(RegisterGame(game_message(spec), "arena"))[1] for spec in specs)


def test_a_winning_row_that_does_not_fit_on_the_board_is_refused(store: Store) -> None:
    game = go_game("rows")
    game.geometry.square.rows = game.geometry.square.columns = 7
    game.ClearField("cell_names")
    plain = game_pb2.Game.FromString(game.SerializeToString())
    game.winning_row = 8
    refusal = "a winning row of 8: the longest row of this board has 7 cells"
    with pytest.raises(InvalidGameError, match=refusal):
        store.run(RegisterGame(game, "arena"))
    store.run(RegisterGame(plain, "arena"))
    with pytest.raises(InvalidGameError, match=refusal):
        store.run(RegisterGame(game, "arena"))
    game.winning_row = 7
    assert store.run(RegisterGame(game, "arena"))[0].winning_row == 7


def test_games_are_listed_in_pages(store: Store) -> None:
    for game_id in ("b", "a", "a.1", "z"):
        store.run(RegisterGame(go_game(game_id), "arena"))
    first = [game.game_id for game in store.read(game_tables.list_games, most=3)]
    rest = [game.game_id for game in store.read(game_tables.list_games, after=first[-1])]
    assert first + rest == ["a", "a.1", "b", "go-9x9", "z"]
