"""Bots of all kinds in six games, and what ACADEMY has learnt from them: `python examples/six_games/play.py`.

The competitions are the control files beside this one, which `arena run` plays one by one just as well. Here
they are copied to a folder, played one after the other, and the patterns of each game are shown.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
GAMES = tuple(sorted(file.stem for file in HERE.glob("*.toml")))


def main() -> None:
    """Play, and show what was learnt."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(GAMES)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="games of each pair (default 5)")
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", default=Path("six-games"), help="default six-games"
    )
    options = parser.parse_args()
    for game in options.games:
        if game not in GAMES:
            parser.error(f"{game!r} is not one of {', '.join(GAMES)}")
    options.to.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    for game in options.games or GAMES:
        control = options.to / f"{game}.toml"
        text = (HERE / control.name).read_text()
        control.write_text(re.sub(r"^rounds = \d+$", f"rounds = {options.rounds}", text, flags=re.MULTILINE))
        run(environment, "arena", "run", control, "--parallel", str(os.cpu_count() or 1))
    show_patterns(options.to, environment)


def show_patterns(folder: Path, environment: Mapping[str, str]) -> None:
    """Serve what was learnt, and ask for the best patterns of each game."""
    token_file = folder / "token"
    token_file.unlink(missing_ok=True)
    # Names relative to the folder: a socket's may have but some hundred characters.
    server = subprocess.Popen(
        ["academy", "serve", "--data", "six-games.academy", "--address", "unix:academy.sock",
         "--embedded-token-file", "token"],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=(folder / "academy.log").open("w"),
    )  # fmt: skip
    try:
        while not token_file.exists():
            if server.poll() is not None:
                sys.exit(f"ACADEMY did not start:\n{(folder / 'academy.log').read_text()}")
            time.sleep(0.05)
        asking = {
            **environment,
            "ACADEMY_ADDRESS": "unix:academy.sock",
            "ACADEMY_TOKEN": token_file.read_text().strip(),
        }
        run(asking, "academy", "games", folder=folder)
        known = subprocess.run(
            ["academy", "games", "--json"], cwd=folder, env=asking, capture_output=True, check=True
        )
        for game in json.loads(known.stdout):
            for library in ("middle-game", "endgame"):
                words = ("patterns", "list", game["game_id"], "--library", library, "--limit", "4")
                run(asking, "academy", *words, folder=folder)
    finally:
        server.terminate()
        server.wait()


def run(environment: Mapping[str, str], *command: object, folder: Path | None = None) -> None:
    """Print a command as one would type it, and run it to its end; leave when it fails."""
    words: Sequence[str] = [str(word) for word in command]
    print(f"\n$ {shlex.join(words)}", flush=True)
    finished = subprocess.run(words, cwd=folder, env=environment, check=False)
    if finished.returncode:
        sys.exit(f"{words[0]} ended with exit status {finished.returncode}")


if __name__ == "__main__":
    main()
