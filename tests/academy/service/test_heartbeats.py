"""What is silence, and what is not: for how long the event loop of another process has not turned."""

import asyncio
from collections.abc import Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pytest

from academy.service.workers import HeartbeatReceiver, HeartbeatSender, Watchdog


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    hears, says = Pipe(duplex=False)
    with hears, says:
        yield hears, says


def silent_at(pulse: HeartbeatReceiver, looks: Sequence[float]) -> list[float]:
    """The looks at which a pulse is found too silent, of those of a watch that allows 30 seconds."""
    watch = Watchdog(30.0, iter((0.0, *looks)).__next__)
    return [look for look in looks if watch.too_silent([pulse])]


EVERY_THREE = [3.0 * number for number in range(1, 13)]


@pytest.mark.parametrize(
    ("looks", "too_silent"),
    [
        pytest.param(EVERY_THREE, [33.0, 36.0], id="looked-at-all-the-time"),
        pytest.param([3.0, 6.0, 3_600.0, 3_603.0], [], id="the-machine-slept"),
        pytest.param([*EVERY_THREE[:9], 3_600.0, 3_603.0], [3_603.0], id="slept-after-27-seconds-of-silence"),
        pytest.param([number / 10 for number in range(290, 310)], [], id="many-looks-after-a-long-time"),
    ],
)
def test_silence_counts_while_the_watch_is_awake(
    pipe: tuple[Connection, Connection],
    looks: list[float],
    too_silent: list[float],
) -> None:
    pulse = HeartbeatReceiver(pipe[0])
    pulse.has_beaten = True
    assert silent_at(pulse, looks) == too_silent


def test_process_that_does_not_serve_yet_may_be_silent(pipe: tuple[Connection, Connection]) -> None:
    assert silent_at(HeartbeatReceiver(pipe[0]), EVERY_THREE) == []


def test_the_heart_beats_while_the_event_loop_turns(pipe: tuple[Connection, Connection]) -> None:
    hears, says = pipe
    pulse = HeartbeatReceiver(hears)

    async def turn() -> None:
        HeartbeatSender(says, 0.01).begin()
        for _ in range(3):
            while not hears.poll():
                await asyncio.sleep(0.001)
            pulse.silent = 1.0
            assert pulse.read()
            assert pulse.has_beaten and pulse.silent == 0.0

    asyncio.run(turn())
    while hears.poll():
        pulse.read()
    says.close()
    assert not pulse.read()


def test_the_heart_beats_once_where_any_silence_is_allowed(pipe: tuple[Connection, Connection]) -> None:
    hears, says = pipe

    async def turn() -> None:
        HeartbeatSender(says, 0.0).begin()
        await asyncio.sleep(0.05)

    asyncio.run(turn())
    says.close()
    pulse = HeartbeatReceiver(hears)
    assert pulse.read() and not pulse.read()
    assert Watchdog(0.0).too_silent([pulse]) == []


def test_heartbeats_continue_without_a_reader(pipe: tuple[Connection, Connection]) -> None:
    hears, says = pipe

    async def turn() -> None:
        heart = HeartbeatSender(says, 0.0)
        for _ in range(100_000):
            heart.begin()
        hears.close()
        heart.begin()

    asyncio.run(turn())
