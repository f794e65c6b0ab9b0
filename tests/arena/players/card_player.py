"""A player of the card game over GTP and lines, and a policy: it notes how it was started."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def note_start(path: str, *more: Any) -> None:
    """Write down all that the system tells a program of itself."""
    with Path(path).open("a") as file:
        json.dump([sys.argv, dict(os.environ), sorted(map(str, Path().iterdir())), more], file)
        file.write("\n")


class NotingPolicy:
    """Does nothing, and receives games."""

    def __init__(self, notes: str, **arguments: Any) -> None:
        note_start(notes, arguments)

    def actions(self, slots: list[int], observation: Any, legal_actions: Any) -> tuple[list[list[int]], None]:
        return [[0] for _ in slots], None


def main(protocol: str, notes: str, *more: str) -> None:
    """Speak the protocol: resign over GTP, and say the last word of each prompt in lines."""
    note_start(notes, more)
    for line in sys.stdin:
        words = line.split()
        if protocol == "lines":
            if words[0] == "card":
                print(line.strip(), flush=True)
            continue
        print("= resign\n" if words[0] == "genmove" else "= \n", flush=True)
        if words[0] == "quit":
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
