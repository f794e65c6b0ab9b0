"""A contest's whole way in a minute: ACADEMY on a temporary folder, a 9x9 all-play-all, what was learnt.

Run it with `make demo`. It uses nothing but the two commands `academy` and `arena`, and prints them.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
BUILD = Path(__file__).resolve().parent.parent / "build"
GO_BOT = "academy-bot go --set board_size=9 --set komi=7.5"
BOTS = {
    "random": f"{GO_BOT} --search random --seed {{seed}} --academy",
    "monte-carlo-10": f"{GO_BOT} --playouts 10 --seed {{seed}} --academy",
    "monte-carlo-30": f"{GO_BOT} --playouts 30 --seed {{seed}} --academy",
    "monte-carlo-90": f"{GO_BOT} --playouts 90 --seed {{seed}} --academy",
}

CONTROL = """\
[competition]
kind = "all-play-all"
description = "Four sample bots on a 9x9 board, all of which ask ACADEMY and teach it"
competitors = [{competitors}]
rounds = {rounds}
seed = 1

[game]
name = "go"
board_size = 9
komi = 7.5
move_limit = 250

[academy]
address = "{address}"
token_file = "{token_file}"

{players}"""

PLAYER = """\
[players.{name}]
command = "{command}"

"""


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="games of each pair (default 3)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep all files in this folder")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        play(options.keep.resolve(), options.rounds)
        kept = options.keep / "library", options.keep / "competition"
    else:
        with tempfile.TemporaryDirectory(prefix="academy-demo-") as folder:
            play(Path(folder), options.rounds)
            kept = keep(Path(folder), "library"), keep(Path(folder), "competition")
    if find_spec("uvicorn") and find_spec("starlette") and find_spec("jinja2"):
        pages = ["--library", str(kept[0]), "--competitions", str(kept[1])]
        command = shlex.join([os.path.relpath(BIN / "academy-web"), *pages])
        print(f"\nSee the games, and what ACADEMY has learnt from them, in a browser:\n\n$ {command}")


def keep(folder: Path, name: str) -> Path:
    """Put a part of what the demo made where the last demo left its own, and return that folder."""
    place = BUILD / f"demo-{name}"
    kept = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
    shutil.rmtree(kept, ignore_errors=True)
    kept.parent.mkdir(exist_ok=True)
    shutil.move(folder / name, kept)
    return kept


def play(folder: Path, rounds: int) -> None:
    """Start ACADEMY, run the competition, show what came of it."""
    address = f"unix:{folder / 'academy.sock'}"
    token_file = folder / "token"
    control = folder / "competition" / "demo.toml"
    control.parent.mkdir(exist_ok=True)
    control.write_text(
        CONTROL.format(
            competitors=", ".join(f'"{name}"' for name in BOTS),
            rounds=rounds,
            address=address,
            token_file=token_file,
            players="".join(PLAYER.format(name=name, command=command) for name, command in BOTS.items()),
        )
    )
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        # Where Numba is installed, compiling its kernel would take longer than all games.
        "ACADEMY_MATCHING_KERNEL": "numpy",
    }
    # That of a demo before would be taken for the new server's.
    token_file.unlink(missing_ok=True)
    started = time.monotonic()
    server = subprocess.Popen(
        show("academy", "serve", "--data", folder / "library", "--address", address,
             "--embedded-token-file", token_file),
        env=environment, stdout=subprocess.DEVNULL, stderr=(folder / "academy.log").open("w"),
    )  # fmt: skip
    try:
        wait_for(token_file, server, folder / "academy.log")
        run(environment, "arena", "run", control, "--parallel", str(os.cpu_count() or 1))
        environment |= {"ACADEMY_ADDRESS": address, "ACADEMY_TOKEN": token_file.read_text().strip()}
        for question in (
            ("openings", "go-9x9", "--depth", "4", "--limit", "12"),
            ("patterns", "go-9x9", "--library", "middle-game", "--limit", "4"),
            ("patterns", "go-9x9", "--library", "endgame", "--limit", "4"),
            ("statistics", "go-9x9"),
        ):
            run(environment, "academy", *question)
            if question[0] == "openings":
                draw_main_line(environment)
    finally:
        server.terminate()
        server.wait(timeout=30)
    print(f"\nThat took {time.monotonic() - started:.0f} seconds.")


def draw_main_line(environment: Mapping[str, str]) -> None:
    """Draw the line of openings that was played most, with the moves' numbers."""
    answer = subprocess.run(
        ["academy", "openings", "go-9x9", "--depth", "0", "--limit", "100000", "--json"],
        env=environment, capture_output=True, check=True,
    )  # fmt: skip
    children: dict[int, list[dict[str, Any]]] = {}
    for node in json.loads(answer.stdout):
        if node["depth"]:
            children.setdefault(node["parent_id"], []).append(node)
    line, place = [], 0
    while place in children:
        favourite = max(children[place], key=lambda node: node["visits"])
        if favourite["visits"] < 2:
            break
        line.append(favourite["move"])
        place = favourite["node_id"]
    numbers = {move: number for number, move in enumerate(line, 1)}
    columns = "ABCDEFGHJ"
    print(f"\nThe line played most: {' '.join(line)}\n\n    {'  '.join(columns)}")
    for row in range(9, 0, -1):
        cells = (str(numbers.get(f"{column}{row}", ".")) for column in columns)
        print(f"  {row} {' '.join(cell.ljust(2) for cell in cells)}")


def show(*command: object) -> list[str]:
    """Print a command as one would type it, and return its words."""
    words = [str(word) for word in command]
    print(f"\n$ {shlex.join(words)}", flush=True)
    return words


def run(environment: Mapping[str, str], *command: object) -> None:
    """Run a command to its end; leave when it fails."""
    finished = subprocess.run(show(*command), env=environment, check=False)
    if finished.returncode:
        sys.exit(f"{command[0]} ended with exit status {finished.returncode}")


def wait_for(file: Path, server: "subprocess.Popen[bytes]", log: Path, seconds: float = 20.0) -> None:
    """Wait until the server is ready to be talked to; leave with its log when it ends instead."""
    deadline = time.monotonic() + seconds
    while not file.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"ACADEMY did not start:\n{log.read_text()}")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
