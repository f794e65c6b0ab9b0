"""Child processes of the service: one for each competition, for any caller at any time."""

import asyncio
import sys
from pathlib import Path

import pytest

from arena.lobby.errors import TooManyError
from arena.service import runs
from arena.service.errors import AlreadyRunningError
from arena.service.runs import Runs


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


def test_one_that_ends_while_it_is_interrupted_is_waited_for(control: Path) -> None:
    async def end() -> bool:
        children = Runs(control.parent / "lobby")
        await children.start(control, {})
        # Whichever step of the event loop the end of the process falls into.
        while children.running(control):
            await children.interrupt(control)
            await asyncio.sleep(0)
        return await children.interrupt(control)

    assert not asyncio.run(end())
