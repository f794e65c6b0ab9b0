"""A player is muted in all games or in none, whatever happens meanwhile."""

from collections.abc import Sequence
from typing import Any

import grpc
import pytest

from academy.store import game_tables
from academy.store.environment import Transaction
from academy.store.library_commands import DeleteGame
from academy.store.library_store import Store
from academy.store.player_commands import MuteInGame, UnmuteInGame
from academy.v1 import libraries_pb2
from tests.academy.service.examples import tiny_go
from tests.academy.service.running import Client, Running
from tests.academy.store.holding import held
from tests.waiting import until

GAMES = ("a", "b", "c")


@pytest.fixture
def admin(fresh: Running) -> Client:
    for game_id in GAMES:
        fresh.register(tiny_go(game_id))
    return fresh.admin()


def muted_in(store: Store, player: str = "troll") -> Sequence[str]:
    """The games in which a player is muted."""

    def read(transaction: Transaction) -> Sequence[str]:
        games = game_tables.list_game_ids(transaction)
        return [game_id for game_id in games if player in game_tables.load(transaction, game_id)[0].muted]

    return store.read(read)


def leave_while_it_waits(store: Store, method: Any, request: Any) -> None:
    """Call, and go away before anything is written."""
    hold, _ = held(store)
    call = method.future(request)
    until(lambda: store.waiting_writes)
    call.cancel()
    with pytest.raises(grpc.FutureCancelledError):
        call.result()
    hold.may_end.set()


def test_a_player_is_muted_and_unmuted_in_all_games_when_the_caller_goes_away(
    fresh: Running, admin: Client
) -> None:
    mute = libraries_pb2.MutePlayerRequest(player="troll", force=True)
    leave_while_it_waits(fresh.store, admin.libraries.MutePlayer, mute)
    until(lambda: muted_in(fresh.store) == [*GAMES])
    unmute = libraries_pb2.UnmutePlayerRequest(player="troll")
    leave_while_it_waits(fresh.store, admin.libraries.UnmutePlayer, unmute)
    until(lambda: not muted_in(fresh.store))


@pytest.mark.parametrize("command", [MuteInGame, UnmuteInGame])
def test_a_game_that_is_deleted_meanwhile_keeps_no_other_from_it(
    fresh: Running, admin: Client, command: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = fresh.store.write

    async def write_with_news(wanted: Any) -> Any:
        if isinstance(wanted, command) and wanted.game_id == "b":
            await write(DeleteGame("b", "admin"))
        return await write(wanted)

    monkeypatch.setattr(fresh.store, "write", write_with_news)
    muted = admin.libraries.MutePlayer(libraries_pb2.MutePlayerRequest(player="troll", force=True))
    if command is MuteInGame:
        assert muted.games == 2 and muted_in(fresh.store) == ["a", "c"]
    else:
        admin.libraries.UnmutePlayer(libraries_pb2.UnmutePlayerRequest(player="troll"))
        assert not muted_in(fresh.store)
