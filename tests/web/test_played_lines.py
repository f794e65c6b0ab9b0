"""Moves that are played again for pages: who waits for whom."""

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest

from arena.v1 import competitions_pb2
from tests.web.filling import GO, judge_of
from web.pages import arena_game
from web.pages.played_lines import ReplayThreads, board_after
from web.replay import GameReplay, GameStart, replay_game

_CUP = competitions_pb2.Competition(name="cup", game="go", settings_json='{"board_size": 5}')
_SHORTLY = 0.05


def page_of(*moves: str) -> Coroutine[Any, Any, Any]:
    """What the page of a finished game does for its board."""
    known = competitions_pb2.GetGameResponse()
    for number, text in enumerate(moves):
        known.moves.add(seat=1 + number % 2, text=text)
    return arena_game._board_of(_CUP, known, None, 0, 0)


def test_whole_games_hold_up_no_line_and_no_game_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    going_on = threading.Event()
    going_on.set()
    played: Counter[int] = Counter()

    def play_long(start: GameStart, moves: tuple[tuple[int, str], ...]) -> GameReplay:
        played[len(moves)] += 1
        going_on.wait(30)
        return replay_game(start, moves)

    monkeypatch.setattr(arena_game, "replay_game", play_long)
    monkeypatch.setattr(arena_game, "_replays", ReplayThreads(1))
    monkeypatch.setattr(arena_game, "_kept", {})

    async def visit() -> None:
        await page_of()
        going_on.clear()
        long = [asyncio.create_task(page_of(*moves)) for moves in (["A1"], ["A1"], ["A1", "B2"])]
        await asyncio.sleep(_SHORTLY)
        try:
            async with asyncio.timeout(120):
                await page_of()
                reached, _ = await board_after(judge_of(GO).spec(), ("C3",), 1)
                assert reached is not None
                assert played == {0: 1, 1: 1}
        finally:
            going_on.set()
            await asyncio.gather(*long)

    asyncio.run(visit())
    assert played == {0: 1, 1: 1, 2: 1}


def test_a_visitor_who_leaves_lets_nobody_play_beside_the_thread_that_plays_on() -> None:
    going_on = threading.Event()

    async def visit() -> list[str]:
        threads = ReplayThreads(1)
        order: list[str] = []

        def play_long() -> None:
            going_on.wait(30)
            order.append("first")

        leaving = asyncio.create_task(threads.run(play_long))
        await asyncio.sleep(_SHORTLY)
        waiting = asyncio.create_task(threads.run(lambda: order.append("second")))
        leaves_early = asyncio.create_task(threads.run(lambda: order.append("nobody's")))
        await asyncio.sleep(_SHORTLY)
        leaving.cancel()
        leaves_early.cancel()
        await asyncio.sleep(_SHORTLY)
        order.append("left")
        going_on.set()
        await waiting
        return order

    assert asyncio.run(visit()) == ["left", "first", "second"]
