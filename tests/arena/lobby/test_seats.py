"""What a seat passes on: to its game what the player says, and to a player that comes back its game."""

import asyncio

import pytest

from arena.lobby.errors import TooManyError
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


def test_a_player_comes_back_to_games_of_more_moves_than_it_may_leave_unread() -> None:
    async def heard() -> tuple[list[str | None], str]:
        lobby = Lobby(NamedPlayers({"one": None}), LobbyLimits(waiting_messages=4))
        hello = players_pb2.Hello(player="one", games_at_once=2)
        session = lobby.enter(hello, "")
        seek = lobby_pb2.Seek(player="one", reconnect_seconds=60.0)
        for seat in [lobby.seek(seek, lambda message: None) for _ in range(2)]:
            seat.say(players_pb2.PlayResponse(game_start=players_pb2.GameStart()))
            await session.next_message()
            for _ in range(5):
                seat.say(players_pb2.PlayResponse(moves_made=players_pb2.MovesMade()))
                await session.next_message()
        lobby.leave(session, "its connection ended")
        again = lobby.enter(hello, "")
        first = await again.next_message()
        assert first is not None and first.game_start.resumed
        kinds = [await again.next_message() for _ in range(11)]
        # What it leaves unread then is counted as before.
        for _ in range(5):
            seat.say(players_pb2.PlayResponse(moves_made=players_pb2.MovesMade()))
        with pytest.raises(TooManyError) as error:
            await again.next_message()
        return [message and message.WhichOneof("message") for message in kinds], str(error.value)

    moves = ["moves_made"] * 5
    assert asyncio.run(heard()) == ([*moves, "game_start", *moves], "4 messages were not read")


def test_a_player_that_is_awaited_after_a_game_hears_of_its_end_once_and_again_when_it_comes_back() -> None:
    async def heard() -> tuple[list[str | None], list[str | None], list[str | None]]:
        passed: list[lobby_pb2.ToGame] = []
        lobby = Lobby(NamedPlayers({"one": None}), LobbyLimits())
        hello = players_pb2.Hello(player="one", says_done=True)
        done = players_pb2.PlayRequest(done=players_pb2.Done())
        session = lobby.enter(hello, "")
        seat = lobby.seek(lobby_pb2.Seek(player="one", reconnect_seconds=60.0), passed.append)
        done.done.seat_id = seat.seat_id
        seat.say(players_pb2.PlayResponse(game_start=players_pb2.GameStart()))
        seat.say(players_pb2.PlayResponse(move_request=players_pb2.MoveRequest(request=1)))
        # It has not ended yet.
        lobby.receive(session, done)
        end = players_pb2.GameEnd(outcome=players_pb2.Outcome(winners=[1]))
        end.time_to_finish.FromSeconds(5)
        seat.say(players_pb2.PlayResponse(game_end=end))
        first = [await session.next_message() for _ in range(3)]
        lobby.leave(session, "its connection ended")
        again = lobby.enter(hello, "")
        lobby.receive(again, done)
        lobby.end(seat)
        again.end()
        second: list[str | None] = []
        while (message := await again.next_message()) is not None:
            second.append(message.WhichOneof("message"))
        answers: list[str | None] = [
            message.heard.WhichOneof("message") for message in passed if message.HasField("heard")
        ]
        return [message and message.WhichOneof("message") for message in first], second, answers

    assert asyncio.run(heard()) == (
        ["game_start", "move_request", "game_end"],
        ["game_start", "game_end"],
        ["done"],
    )
