"""A GTP engine that passes, in games up to the number that a file allows; in later ones it waits for it.

So a competition waits where a test wants it. Its arguments are the file, and what it is started with
in GNU Go's place.
"""

import os
import sys
import time
from pathlib import Path


def main() -> None:
    allowed, game = Path(sys.argv[1]), os.environ["GOMILL_GAME_ID"].rpartition("_")[2]
    for line in sys.stdin:
        command, *words = line.split()
        answer = ""
        if command == "protocol_version":
            answer = "2"
        elif command == "known_command":
            answer = "true" if words[0] == "final_score" else "false"
        elif command == "final_score":
            answer = "W+6.5"
        elif command == "genmove":
            while int(game) >= int(allowed.read_text() or 0):
                time.sleep(0.02)
            answer = "pass"
        sys.stdout.write(f"= {answer}\n\n")
        sys.stdout.flush()
        if command == "quit":
            return


main()
