"""A GTP engine that writes down what it receives of contests and needs Python alone."""

import json
import sys
from pathlib import Path

KNOWN = {
    "listed": ("academy-contest",),
    "refuses": ("academy-contest",),
    "echoes": ("academy-contest",),
    "lacks": (),
}


def answer(kind: str, notes: Path, words: list[str]) -> str:
    """What the engine answers a command."""
    if words[0] == "genmove":
        return "= resign"
    if words[0] == "list_commands":
        return "\n".join(["= list_commands", "genmove", *KNOWN[kind]])
    if words[0] == "academy-contest":
        with notes.open("a") as file:
            file.write(json.dumps(words[1:]) + "\n")
        if kind == "refuses":
            return f"? cannot use {' '.join(words[1:])}"
        if kind == "echoes":
            return f"= {' '.join(words[1:])}"
    return "="


def main(kind: str, notes: str) -> None:
    """Answer until `quit`. `known_command` is false of all: only `list_commands` tells what there is."""
    for line in sys.stdin:
        words = line.split()
        text = "= false" if words[0] == "known_command" else answer(kind, Path(notes), words)
        print(f"{text}\n", flush=True)
        if words[0] == "quit":
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
