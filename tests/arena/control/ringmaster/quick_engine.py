"""A GTP engine that plays a few stones at random and passes, in the place of engines that example files name.

Its arguments are the number of its stones and, if it shall score games, the score it always tells.
"""

import random
import sys

NAMES = "abcdefghjklmnopqrst"


def corners(size: int, stones: int) -> list[str]:
    """The standard layout of two, three or four stones."""
    low, high = (3, size - 2) if size < 13 else (4, size - 3)
    places = [(low, low), (high, high), (low, high), (high, low)]
    return [f"{NAMES[column - 1]}{row}" for column, row in places[:stones]]


def main() -> None:
    stones, score = int(sys.argv[1]), sys.argv[2:]
    dice = random.Random(1)
    size, used, moves = 19, set[str](), 0
    for line in sys.stdin:
        command, *words = line.split()
        answer = ""
        if command == "protocol_version":
            answer = "2"
        elif command == "name":
            answer = "Quick"
        elif command == "known_command":
            answer = "true" if score and words[0] == "final_score" else "false"
        elif command == "boardsize":
            size = int(words[0])
        elif command in ("fixed_handicap", "place_free_handicap"):
            answer = " ".join(corners(size, int(words[0])))
            used.update(answer.split())
        elif command == "set_free_handicap":
            used.update(word.lower() for word in words)
        elif command == "play":
            used.add(words[1].lower())
        elif command == "genmove":
            free = [f"{letter}{row}" for letter in NAMES[:size] for row in range(1, size + 1)]
            free = [vertex for vertex in free if vertex not in used]
            answer = dice.choice(free) if free and moves < stones else "pass"
            used.add(answer)
            moves += 1
        elif command == "final_score":
            answer = score[0]
        sys.stdout.write(f"= {answer}\n\n")
        sys.stdout.flush()
        if command == "quit":
            return


main()
