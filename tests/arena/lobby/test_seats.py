"""What a seat passes on to its game of what the player says."""

import asyncio

from arena.lobby.lobby import Lobby, LobbyLimits
from arena.lobby.v1 import lobby_pb2
from arena.runner.remote_players import NamedPlayers
from arena.v1 import players_pb2


def test_a_player_that_declines_a_game_it_plays_fills_nobodys_memory() -> None:
    async def heard() -> list[str | None]:
        passed: list[lobby_pb2.ToGame] = []
        lobby = Lobby(NamedPlayers({"one": None}), LobbyLimits())
        session = lobby.enter(players_pb2.Hello(player="one"), "")
        seat = lobby.seek(lobby_pb2.Seek(player="one"), passed.append)

        def say(kind: str) -> None:
            answer = players_pb2.PlayRequest()
            getattr(answer, kind).seat_id = seat.seat_id
            lobby.receive(session, answer)

        say("ready")
        for _ in range(3):
            say("decline")
        seat.say(players_pb2.PlayResponse(move_request=players_pb2.MoveRequest(request=1)))
        for _ in range(3):
            say("decline")
        return [message.heard.WhichOneof("message") for message in passed if message.HasField("heard")]

    # That it declines instead of moving its game must know.
    assert asyncio.run(heard()) == ["ready", "decline"]
