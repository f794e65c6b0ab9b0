"""How long a player that dials in stays, and which games it still begins when its time is over."""

import asyncio
import math
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from arena.lobby.lobby import Lobby, LobbyLimits, RemoteSession
from arena.lobby.v1 import lobby_pb2
from arena.runner.remote_players import NamedPlayers
from arena.v1 import players_pb2
from clients import Engine

SEEK = lobby_pb2.Seek(player="one", competition="go")


def _lobby() -> Lobby:
    return Lobby(NamedPlayers({"one": None}), LobbyLimits())


def _enter(lobby: Lobby, leave_after: Duration) -> RemoteSession:
    return lobby.enter(players_pb2.Hello(player="one", leave_after=leave_after), "")


def test_a_game_for_which_a_player_is_held_begins_though_its_time_is_over() -> None:
    async def seated() -> bool:
        lobby = _lobby()
        _enter(lobby, Duration(nanos=1_000_000))
        question = lobby_pb2.ListFree(competition="go", players=["one"], hold=True, others=1, seats=2)
        assert lobby.offer(question) == ["one"]
        # Timers run in their order: its time is over then.
        await asyncio.sleep(0.1)
        promised = lobby.seek(SEEK, lambda message: None)
        return promised.session is not None

    assert asyncio.run(seated())


def test_a_player_that_comes_back_when_its_time_is_over_gets_no_new_game() -> None:
    async def seated() -> bool:
        lobby = _lobby()
        waiting = lobby.seek(SEEK, lambda message: None)
        _enter(lobby, Duration())
        return waiting.session is not None

    assert not asyncio.run(seated())


@pytest.mark.parametrize(
    ("begins", "kind", "free"),
    [
        ("when it is back", "game", False),
        ("while it is away", "game", False),
        ("unread", "game", False),
        # It says itself, when it is back, that one game less is left.
        ("and it is ready", "game", True),
        ("unread", "check", True),
    ],
)
def test_a_game_whose_start_a_player_never_heard_of_is_one_of_those_that_it_stays_for(
    begins: str, kind: str, free: bool
) -> None:
    async def offered() -> list[list[str]]:
        lobby = _lobby()
        hello = players_pb2.Hello(player="one", leave_after_games=1, games_at_once=2)
        session = lobby.enter(hello, "")
        seek = lobby_pb2.Seek(player="one", reconnect_seconds=60.0, is_check=kind == "check")
        seat = lobby.seek(seek, lambda message: None)

        def begin(when: str) -> None:
            if when == begins:
                seat.say(players_pb2.PlayResponse(game_start=players_pb2.GameStart(game_id="g")))

        begin("unread")
        begin("and it is ready")
        if begins == "and it is ready":
            ready = players_pb2.Ready(seat_id=seat.seat_id)
            lobby.receive(session, players_pb2.PlayRequest(ready=ready))
        lobby.leave(session, "its connection ended")
        begin("while it is away")
        again = lobby.enter(hello, "")
        assert seat.session is again
        begin("when it is back")
        question = lobby_pb2.ListFree(competition="go", players=["one"])
        during = lobby.offer(question)
        lobby.end(seat)
        return [during, lobby.offer(question)]

    assert asyncio.run(offered()) == ([["one"], ["one"]] if free else [[], []])


@pytest.mark.parametrize(("wanted", "quota", "games"), [(0, 0, 1), (8, 0, 8), (8, 2, 2), (1, 2, 1)])
def test_a_player_has_as_many_games_at_once_as_it_wants_and_its_quota_allows(
    wanted: int, quota: int, games: int
) -> None:
    session = RemoteSession(players_pb2.Hello(player="one", games_at_once=wanted), b"", 10, quota)
    for seat in range(games):
        assert session.has_room
        session.seats.add(seat)
    assert not session.has_room


@pytest.mark.parametrize("games", [-1, 0, 2**32])
def test_a_bot_learns_how_many_games_at_once_it_can_want(games: int) -> None:
    with pytest.raises(ValueError, match=f"games_at_once = {games}: write 1 to 4294967295"):
        Engine(games_at_once=games)


@pytest.mark.parametrize(
    "stay", [{"leave_after_games": -1}, {"leave_after_games": 2**32}, {"leave_after_seconds": math.nan}]
)
def test_a_bot_learns_what_is_wrong_with_the_stay_that_it_names(stay: dict[str, Any]) -> None:
    ((name, value),) = stay.items()
    with pytest.raises(ValueError, match=f"{name} = {value}: write 0 to .* or None"):
        Engine(**stay)
