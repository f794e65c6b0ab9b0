"""A fork: what it takes of muted players, and where it is from when its first events are compacted."""

from typing import Any

import pytest

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.store import forgetting
from academy.store.errors import GameConflictError, GameInUseError
from academy.store.forgetting import ForgetPlayer
from academy.store.fork import ForkGame
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import ChangeSettings, DeleteGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.player_commands import UnmuteInGame, UnmutePlayer
from academy.v1 import game_pb2
from tests.academy.store.examples import go_game, learn, mute

GAME, FORK, PLAYERS = "go-9x9", "fork", ("gnugo 1", "seki")


def unmute(store: Store, *players: str) -> None:
    for player in players:
        store.run(UnmutePlayer(player))
        for game_id in (GAME, FORK):
            store.run(UnmuteInGame(game_id, player, "admin"))


def votes(store: Store, game_id: str) -> dict[Any, Any]:
    """The votes for each pattern, without the events that brought them: in a fork that is the import."""
    libraries = store.follow().refresh(game_id).libraries
    return {
        (library, entry.pattern_id, entry.pattern): (
            entry.uses,
            [(vote.player, vote.elo, vote.value) for vote in (*entry.votes.counted, *entry.votes.silent)],
        )
        for library in PATTERN_LIBRARIES
        for entry in libraries[library].values()
    }


@pytest.mark.parametrize("muted", [PLAYERS[:1], PLAYERS, PLAYERS[::-1]])
def test_unmuting_brings_votes_back_in_a_fork_made_meanwhile(store: Store, muted: tuple[str, ...]) -> None:
    learn(store, contests=6)
    before = votes(store, GAME)
    for player in muted:
        mute(store, GAME, player)
    forked = store.run(ForkGame(GAME, FORK, "admin"))
    left = votes(store, FORK)
    assert left == votes(store, GAME) and len(left) == forked.patterns < len(before)
    unmute(store, *muted)
    assert votes(store, FORK) == votes(store, GAME) == before
    assert not list(check(store.environment))


def test_a_player_who_was_muted_when_a_game_was_forked_can_be_forgotten_in_the_fork(store: Store) -> None:
    learn(store, contests=6)
    mute(store, GAME, "seki")
    store.run(ForkGame(GAME, FORK, "admin"))
    left = votes(store, FORK)
    replay = forgetting.begin_replay(store.environment, FORK, "seki")
    assert store.run(ForgetPlayer(replay, "admin")).replayed
    unmute(store, "seki")
    assert votes(store, FORK) == left != votes(store, GAME)
    assert not list(check(store.environment))


def test_a_fork_has_no_votes_that_its_full_game_has_no_room_for(store: Store) -> None:
    learn(store, contests=6)
    mute(store, GAME, "seki")
    capacity = len(votes(store, GAME))
    store.run(ChangeSettings(GAME, game_pb2.LibrarySettings(endgame_capacity=capacity), "admin"))
    store.run(ForkGame(GAME, FORK, "admin"))
    unmute(store, "seki")
    assert votes(store, FORK) == votes(store, GAME) and len(votes(store, FORK)) == capacity


def test_a_fork_whose_first_events_were_compacted_can_be_made_again_and_deleted(store: Store) -> None:
    learn(store, contests=6)
    store.run(ForkGame(GAME, FORK, "admin"))
    learn(store, contests=1, first=6)
    compact(store, keep=1)
    assert not store.run(ForkGame(GAME, FORK, "admin")).created
    with pytest.raises(GameConflictError, match="differs in origin"):
        store.run(ForkGame(FORK, GAME, "admin"))
    with pytest.raises(GameInUseError, match="`really` deletes it"):
        store.run(DeleteGame(FORK, "admin"))
    store.run(DeleteGame(FORK, "admin", really=True))
    assert store.run(ForkGame(GAME, FORK, "admin")).created
    assert not list(check(store.environment))


def test_a_game_that_has_the_id_of_a_deleted_fork_does_not_pass_for_it(store: Store) -> None:
    learn(store, contests=6)
    store.run(ForkGame(GAME, FORK, "admin"))
    learn(store, contests=1, first=6)
    compact(store, keep=1)
    store.run(DeleteGame(FORK, "admin", really=True))
    game = go_game()
    game.game_id = FORK
    store.run(RegisterGame(game, "arena"))
    with pytest.raises(GameConflictError, match="differs in origin"):
        store.run(ForkGame(GAME, FORK, "admin"))
