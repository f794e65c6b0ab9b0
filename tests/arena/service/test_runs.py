"""Child processes of the service: one for each competition, for any caller at any time."""

import asyncio
import errno
import os
import sys
from pathlib import Path

import pytest

from arena.lobby.errors import LobbyClosingError, TooManyError
from arena.runner.exit_status import ExitStatus
from arena.service import runs
from arena.service.errors import AlreadyRunningError
from arena.service.runs import LastRun, Runs


@pytest.fixture
def control(tmp_path: Path) -> Path:
    """A control file that no run gets far with."""
    path = tmp_path / "cup.toml"
    path.write_text("nothing = 'of use'")
    return path


def test_two_who_ask_at_once_start_one_run(control: Path) -> None:
    async def ask() -> tuple[list[object], bool]:
        children = Runs(control.parent / "lobby")
        results = await asyncio.gather(
            *(children.start(control, {}) for _ in range(2)), return_exceptions=True
        )
        await children.close()
        assert children.last(control) is not None
        return list(results), children.running(control)

    (first, second), running = asyncio.run(ask())
    assert first is None
    assert isinstance(second, AlreadyRunningError)
    assert not running


def test_a_place_is_taken_as_soon_as_it_is_asked_for(control: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_RUNS", 1)

    async def ask() -> list[object]:
        children = Runs(control.parent / "lobby")
        answers = await asyncio.gather(
            children.start(control, {}),
            children.start(control.with_name("other.toml"), {}),
            return_exceptions=True,
        )
        await children.close()
        return list(answers)

    first, second = asyncio.run(ask())
    assert first is None
    assert isinstance(second, TooManyError)


def test_a_run_that_could_not_be_started_holds_no_place(
    control: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask() -> bool:
        children = Runs(control.parent / "lobby")
        with monkeypatch.context() as without:
            without.setattr(sys, "executable", str(control.parent / "missing"))
            with pytest.raises(FileNotFoundError):
                await children.start(control, {})
        return children.running(control)

    assert not asyncio.run(ask())


def test_a_run_that_ends_while_it_is_interrupted_is_waited_for(control: Path) -> None:
    async def end() -> bool:
        children = Runs(control.parent / "lobby")
        await children.start(control, {})
        # Whichever step of the event loop the end of the process falls into.
        while children.running(control):
            await children.interrupt(control)
            await asyncio.sleep(0)
        return await children.interrupt(control)

    assert not asyncio.run(end())


def test_a_run_that_is_interrupted_before_it_hears_of_it_has_not_failed(control: Path) -> None:
    async def interrupt() -> LastRun | None:
        children = Runs(control.parent / "lobby")
        await children.start(control, {})
        assert await children.interrupt(control)
        return children.last(control)

    last = asyncio.run(interrupt())
    assert last is not None and last.status == ExitStatus.INTERRUPTED


def test_a_run_that_warns_for_weeks_fills_no_disk_and_its_last_words_are_kept(
    control: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = control.with_name("run")
    written, end = control.with_name("written"), control.with_name("end")
    run.write_text(
        f"#!/bin/sh\nyes 'a forfeit' | head -c 3000000\ntouch {written}\n"
        f"until [ -e {end} ]; do sleep 0.01; done\necho 'the last words' >&2\nexit 4\n"
    )
    run.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(run))
    monkeypatch.setattr(runs, "_TRIM_SECONDS", 0.01)
    monkeypatch.setattr(runs, "_MOST_OUTPUT", 2_000)

    async def warn() -> LastRun | None:
        children = Runs(control.parent / "lobby")
        await children.start(control, {})
        output = Path(f"/proc/{children._runs[control].process.pid}/fd/1")
        try:
            async with asyncio.timeout(60.0):
                while not written.exists() or output.stat().st_size > 2_000:
                    await asyncio.sleep(0.01)
        finally:
            end.touch()
        while children.running(control):
            await asyncio.sleep(0.01)
        return children.last(control)

    last = asyncio.run(warn())
    assert last is not None and last.status == 4
    # A line may be cut in its middle: what comes in the moment of a cut is lost.
    assert "a forfeit\n" in last.words and len(last.words) <= 2_000
    assert last.words.endswith("the last words")


def test_where_a_full_disk_keeps_the_output_from_being_shortened_the_end_of_a_run_is_seen(
    control: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = control.with_name("run")
    run.write_text("#!/bin/sh\necho 'the last words'\nexit 4\n")
    run.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(run))
    monkeypatch.setattr(runs, "_MOST_OUTPUT", 2)

    def fail(_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(runs, "_trim", fail)

    async def end() -> LastRun | None:
        children = Runs(control.parent / "lobby")
        await children.start(control, {})
        async with asyncio.timeout(60.0):
            while children.running(control):
                await asyncio.sleep(0.01)
        return children.last(control)

    assert asyncio.run(end()) == LastRun(4, "the last words")


def test_no_run_begins_while_a_service_ends_the_others(control: Path) -> None:
    async def ask() -> list[object]:
        children = Runs(control.parent / "lobby")
        begins = asyncio.create_task(children.start(control, {}))
        # Its process is being made.
        await asyncio.sleep(0)
        await children.close()
        late = children.start(control.with_name("other.toml"), {})
        answers = await asyncio.gather(begins, late, return_exceptions=True)
        return [*map(type, answers), children.running(control)]

    assert asyncio.run(ask()) == [LobbyClosingError, LobbyClosingError, False]
