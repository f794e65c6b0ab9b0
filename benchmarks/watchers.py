"""How soon a thousand watchers see the moves of a live game: `python -m benchmarks.watchers`.

A real run plays Go on 19x19 with a move every 0.3 seconds, `academy-web` serves it, and this process holds
all watchers' connections. The delay is from the moment when the player has answered.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from academy.wire.open_files import allow_open_files
from benchmarks import arguments
from referees.api import Referee

PAUSE: Final = 0.3
_TIMES: Final = "WATCHED_TIMES"
_MOVE: Final = re.compile(rb'"note":"[Mm]ove (\d+)')
_GAME: Final = re.compile(r'href="/competition/game\?name=cup&amp;game=(\w+)"')
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def slow(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """A player that makes the first legal move after a pause, and notes when."""
    times = Path(os.environ[_TIMES])

    def choose(view: Any) -> str:
        time.sleep(PAUSE)
        move = referee.move_text((referee.legal_moves(view, seat) or ())[0])
        with times.open("a") as file:
            file.write(f"{time.time()}\n")
        return move

    return choose


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--watchers", type=arguments.count, default=1_000)
    parser.add_argument("--seconds", type=arguments.positive, default=30.0)
    options = parser.parse_args()
    print(measure(options.watchers, options.seconds))


def measure(watchers: int, seconds: float) -> str:
    """Return the figures in a line."""
    allow_open_files(65_536)
    with tempfile.TemporaryDirectory() as folder:
        control, times = Path(folder) / "cup.toml", Path(folder) / "times"
        players = "".join(
            f'[players.{name}]\nprotocol = "python"\ncommand = "benchmarks.watchers:slow"\n' for name in "ab"
        )
        control.write_text(
            '[competition]\nkind = "all-play-all"\nrounds = 1\ncheck_players = false\n'
            f'[game]\nname = "go"\nboard_size = 19\nkomi = 7.5\n{players}'
        )
        environment = {**os.environ, _TIMES: str(times)}
        run = subprocess.Popen(
            [sys.executable, "-m", "arena.cli", "run", "--quiet", str(control)], env=environment
        )
        pages = subprocess.Popen(
            [sys.executable, "-m", "web.cli", "--competitions", str(control), "--address", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert pages.stdout is not None
            port = int(pages.stdout.readline().split(":")[2].partition("/")[0])
            game = _wait_for_game(port)
            return asyncio.run(_watch(port, game, pages.pid, times, watchers, seconds))
        finally:
            for process in (pages, run):
                process.terminate()
                process.wait(30)


def _wait_for_game(port: int) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/competition?name=cup") as page:
            if match := _GAME.search(page.read().decode()):
                return match[1]
        time.sleep(0.5)
    raise TimeoutError("no game is in progress after a minute")


async def _watch(port: int, game: str, pid: int, times: Path, watchers: int, seconds: float) -> str:
    seen: list[tuple[int, float]] = []
    received = 0

    async def watch() -> None:
        nonlocal received
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        # As many moves as there can be: only what comes from now on is sent.
        writer.write(
            f"GET /competition/game/events?name=cup&game={game}&after=5000 HTTP/1.1\r\n"
            f"Host: 127.0.0.1\r\n\r\n".encode()
        )
        try:
            while chunk := await reader.read(65_536):
                received += len(chunk)
                now = time.time()
                seen.extend((int(number), now) for number in _MOVE.findall(chunk))
        finally:
            writer.close()

    tasks = []
    for number in range(watchers):
        tasks.append(asyncio.create_task(watch()))
        if number % 50 == 49:
            await asyncio.sleep(0.2)
    await asyncio.sleep(3)
    seen.clear()
    received, before, began = 0, _cpu_seconds(pid), time.monotonic()
    await asyncio.sleep(seconds)
    spent, passed = _cpu_seconds(pid) - before, time.monotonic() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    made = [float(line) for line in times.read_text().splitlines()]
    delays = sorted(1_000 * (when - made[number - 1]) for number, when in seen)
    moves = len({number for number, _ in seen})
    p50, p99 = (delays[int(share * (len(delays) - 1))] for share in (0.5, 0.99))
    return (
        f"{watchers} watchers, {moves} moves in {passed:.0f} s: {len(delays)} of {moves * watchers} events, "
        f"delay p50 {p50:.0f} ms, p99 {p99:.0f} ms, most {delays[-1]:.0f} ms; {spent / passed:.2f} cores, "
        f"{received / len(delays):.0f} bytes an event"
    )


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    main()
