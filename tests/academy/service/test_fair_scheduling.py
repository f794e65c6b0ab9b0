"""Turns: one part at a time, callers one after the other."""

import asyncio

import pytest

from academy.service.scheduling import FairScheduler


async def work(turns: FairScheduler, caller: str, parts: int, done: list[str]) -> None:
    for _ in range(parts):
        await turns.wait(caller)
        done.append(caller)


@pytest.mark.threat("flood")
def test_callers_take_turns_however_much_one_asks() -> None:
    done: list[str] = []

    async def all_of_them() -> None:
        turns = FairScheduler()
        many = [work(turns, "ann", 3, done) for _ in range(20)]
        await asyncio.gather(*many, work(turns, "bob", 4, done), work(turns, "cid", 2, done))

    asyncio.run(all_of_them())

    assert done[:10] == ["ann", "bob", "cid"] * 2 + ["ann", "bob"] * 2
    assert done.count("ann") == 60


def test_one_callers_work_is_done_in_order() -> None:
    done: list[str] = []

    async def one(turns: FairScheduler, number: int) -> None:
        await turns.wait("ann")
        done.append(str(number))

    async def all_of_them() -> None:
        turns = FairScheduler()
        await asyncio.gather(*(one(turns, number) for number in range(10)))

    asyncio.run(all_of_them())

    assert done == list("0123456789")


def test_others_are_let_in_after_each_part() -> None:
    done: list[str] = []

    async def all_of_them() -> None:
        turns = FairScheduler()
        working = asyncio.gather(*(work(turns, "ann", 1, done) for _ in range(10)))
        for _ in range(30):
            seen = len(done)
            await asyncio.sleep(0)
            assert len(done) <= seen + 1
        await working

    asyncio.run(all_of_them())


def test_cancelled_caller_does_not_delay_others() -> None:
    done: list[str] = []

    async def all_of_them() -> None:
        turns = FairScheduler()
        going = [asyncio.create_task(work(turns, "ann", 1, done)) for _ in range(5)]
        await asyncio.sleep(0)
        staying = asyncio.create_task(work(turns, "bob", 3, done))
        for task in going:
            task.cancel()
        await staying
        await work(turns, "ann", 1, done)

    asyncio.run(all_of_them())

    assert done == ["bob"] * 3 + ["ann"]
