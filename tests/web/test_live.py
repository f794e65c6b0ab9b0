"""Feeds of games in progress: what they keep for watchers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from types import SimpleNamespace
from typing import cast

import pytest
from sse_starlette import EventSourceResponse
from starlette.requests import Request

from arena.v1 import competitions_pb2
from tests.web.conftest import FailsOnce
from tests.web.filling import GO, SEEDS, judge_of, random_line
from web.arena_service import ArenaService
from web.failures import PageError
from web.live import _MOST_BEHIND, Change, Feed, Feeds, LiveGame
from web.pages.live import follow_competition, follow_game
from web.replay import GameStart


class BusyArena:
    """An arena whose one game goes on and on."""

    async def watch(self, name: str) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        for number in range(4 * _MOST_BEHIND):
            news = competitions_pb2.GameInProgress(game_id="AvB_0", players=["a", "b"], moves_before=number)
            news.moves.add(seat=1 + number % 2, text="b2")
            yield competitions_pb2.WatchCompetitionResponse(in_progress=news)
            await asyncio.sleep(0)


async def no_results(name: str) -> str:
    return ""


def test_for_a_watcher_who_never_reads_little_is_kept_and_the_stream_ends() -> None:
    async def watch() -> tuple[int, int]:
        competition = competitions_pb2.Competition(name="cup", game="hex", settings_json="{}")
        feed = Feed(cast(ArenaService, BusyArena()), competition, no_results)
        try:
            with feed.watching() as changes:
                while feed.running:
                    await asyncio.sleep(0)
                (queue,) = feed._watchers
                kept = queue.qsize()
                return kept, len([change async for change in changes])
        finally:
            await feed.close()

    kept, read = asyncio.run(watch())
    assert kept <= _MOST_BEHIND + 1
    assert read == 0


class CountingArena:
    """An arena that counts its watches, the first of which ends at once."""

    def __init__(self) -> None:
        self.begun = self.open = 0

    async def watch(self, name: str) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        self.begun, self.open = self.begun + 1, self.open + 1
        first = self.begun == 1
        try:
            yield competitions_pb2.WatchCompetitionResponse()
            while not first:
                await asyncio.sleep(0.01)
        finally:
            self.open -= 1


def test_pages_that_come_back_together_after_a_lost_watch_share_one() -> None:
    async def watch() -> tuple[int, int]:
        arena = CountingArena()
        feeds = Feeds(cast(ArenaService, arena), no_results)
        competition = competitions_pb2.Competition(name="cup", game="hex", settings_json="{}")
        lost = await feeds.feed(competition)
        while lost.running:
            await asyncio.sleep(0.01)
        await asyncio.gather(*(feeds.feed(competition) for _ in range(5)))
        await asyncio.sleep(0.05)
        shared = arena.open
        await feeds.close()
        return shared, arena.open

    assert asyncio.run(watch()) == (1, 0)


class LostArena:
    """An arena that is away after a moment."""

    async def watch(self, name: str) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        news = competitions_pb2.GameInProgress(game_id="AvB_0", players=["a", "b"])
        yield competitions_pb2.WatchCompetitionResponse(in_progress=news)
        await asyncio.sleep(0.2)
        raise PageError(503, "The arena is away", "It does not answer.")

    async def competition(self, name: str) -> competitions_pb2.Competition:
        return competitions_pb2.Competition(name=name, game="hex", settings_json="{}")


async def let_in(request: Request) -> bool:
    return True


def test_an_open_page_does_not_take_its_game_for_over_because_the_arena_is_away() -> None:
    async def watch() -> list[bytes]:
        arena = cast(ArenaService, LostArena())
        feeds = Feeds(arena, no_results)
        state = SimpleNamespace(feeds=feeds, sign_in=SimpleNamespace(lets_in=let_in))
        scope = {"type": "http", "headers": [], "app": SimpleNamespace(state=state)}
        pages = (follow_game, b"name=cup&game=AvB_0"), (follow_competition, b"name=cup")
        sent = []
        for follow, query in pages:
            stream = cast(EventSourceResponse, await follow(Request({**scope, "query_string": query}), arena))
            sent += [cast(bytes, event) async for event in stream.body_iterator]
        await feeds.close()
        return sent

    assert {event.split(b"\n")[0] for event in asyncio.run(watch())} == {b"event: wall"}


def test_a_visitor_who_leaves_while_a_board_is_drawn_takes_it_from_nobody_else() -> None:
    line, _ = random_line(judge_of(GO), 1, 200)
    name, settings = SEEDS[GO]
    moves = [
        competitions_pb2.GameMove(seat=1 + number % 2, text=move or "pass")
        for number, move in enumerate(line)
    ]
    game = LiveGame("AvB_0", ("a", "b"), GameStart(name, json.dumps(settings)), moves)

    async def look() -> tuple[bool, str]:
        leaving = asyncio.create_task(game.board(len(moves)))
        while game._replay is None:
            await asyncio.sleep(0)
        leaving.cancel()
        drawn = await game.board(len(moves))
        with suppress(asyncio.CancelledError):
            await leaving
        return drawn is not None, game.reason

    assert asyncio.run(look()) == (True, "")


class TwoAttempts:
    """An arena that shows the second attempt at a game before it says that the first one is over."""

    async def watch(self, name: str) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        for started, before, moves, over in [
            (1, 0, 3, False),
            (2, 0, 1, False),
            (1, 3, 1, False),
            (1, 4, 0, True),
            (2, 1, 2, False),
        ]:
            news = competitions_pb2.GameInProgress(game_id="AvB_0", moves_before=before, over=over)
            news.started.FromSeconds(started)
            for _ in range(moves):
                news.moves.add(seat=1, text="b2")
            yield competitions_pb2.WatchCompetitionResponse(in_progress=news)
            if before == 0:
                yield competitions_pb2.WatchCompetitionResponse(competition=competitions_pb2.Competition())
                await asyncio.sleep(0.05)


def test_a_game_that_is_played_again_ends_the_pages_of_its_first_attempt_alone() -> None:
    async def watch() -> tuple[list[tuple[bool, int, bool]], int]:
        competition = competitions_pb2.Competition(name="cup", game="hex", settings_json="{}")
        feed = Feed(cast(ArenaService, TwoAttempts()), competition, no_results)
        await feed.ready()
        first = feed.games["AvB_0"]
        with feed.watching() as changes:
            seen: list[Change] = [change async for change in changes if change.game is not None]
        await feed.close()
        heard = [(change.game is first, change.after, change.over) for change in seen]
        return heard, len(feed.games["AvB_0"].moves)

    assert asyncio.run(watch()) == ([(True, 0, True), (False, 1, False), (False, 3, False)], 3)


class PlayingArena:
    """An arena that has another result from time to time."""

    async def watch(self, name: str) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        yield competitions_pb2.WatchCompetitionResponse(competition=competitions_pb2.Competition())
        while True:
            await asyncio.sleep(0.05)
            yield competitions_pb2.WatchCompetitionResponse(game=competitions_pb2.Game())


def test_results_go_on_after_some_that_could_not_be_drawn(caplog: pytest.LogCaptureFixture) -> None:
    async def watch() -> str:
        feed = Feed(cast(ArenaService, PlayingArena()), competitions_pb2.Competition(name="cup"), FailsOnce())
        try:
            with feed.watching() as changes:
                async with asyncio.timeout(120):
                    return (await anext(changes)).results
        finally:
            await feed.close()

    assert asyncio.run(watch()) == "drawn"
    assert "no such column" in caplog.text
