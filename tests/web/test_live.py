"""Feeds of games in progress: what they keep for watchers."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast

from arena.v1 import competitions_pb2
from web.arena_watch import ArenaWatch
from web.live import _MOST_BEHIND, Feed, Feeds


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
        feed = Feed(cast(ArenaWatch, BusyArena()), competition, no_results)
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
        feeds = Feeds(cast(ArenaWatch, arena), no_results)
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
