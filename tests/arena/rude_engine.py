"""A GTP engine whose texts try to command terminals and to turn text round.

It passes once; then it says a move that is none.
"""

import sys

EVIL = "\u202eevil\u2066\x9b31m"
COMMANDS = (
    "protocol_version", "name", "version", "list_commands", "boardsize", "clear_board", "komi", "play",
    "genmove", "gomill-explain_last_move", "gomill-describe_engine", "quit",
)  # fmt: skip


def answers() -> None:
    moves = iter(["pass", f"D4{EVIL}"])
    texts = {"protocol_version": "2", "list_commands": "\n".join(COMMANDS), "version": "1"}
    for line in sys.stdin:
        command = line.split()[0]
        print(f"\x1b]0;title\x07 {EVIL}", file=sys.stderr, flush=True)
        text = texts.get(command, "")
        if command in ("name", "gomill-explain_last_move", "gomill-describe_engine"):
            text = f"{command} {EVIL}"
        elif command == "genmove":
            text = next(moves)
        print(f"= {text}\n", flush=True)
        if command == "quit":
            return


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stderr.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    answers()
