"""A GTP engine that plays one stone and passes, in the place of engines that example files name."""

import sys

NAMES = "abcdefghjklmnopqrst"


def corners(size: int, stones: int) -> str:
    """The standard layout of two or four stones."""
    low, high = (3, size - 2) if size < 13 else (4, size - 3)
    vertices = [f"{NAMES[low - 1]}{low}", f"{NAMES[high - 1]}{high}"]
    if stones == 4:
        vertices += [f"{NAMES[low - 1]}{high}", f"{NAMES[high - 1]}{low}"]
    return " ".join(vertices)


def main() -> None:
    size, moved = 19, False
    for line in sys.stdin:
        command, *words = line.split()
        answer = ""
        if command == "protocol_version":
            answer = "2"
        elif command == "name":
            answer = "Quick"
        elif command == "known_command":
            answer = "true" if words[0] == "final_score" else "false"
        elif command == "boardsize":
            size = int(words[0])
        elif command in ("fixed_handicap", "place_free_handicap"):
            answer = corners(size, int(words[0]))
        elif command == "genmove":
            answer = "pass" if moved else {"b": "a1", "w": "b1"}[words[0][0].lower()]
            moved = True
        elif command == "final_score":
            answer = "W+4.5"
        sys.stdout.write(f"= {answer}\n\n")
        sys.stdout.flush()
        if command == "quit":
            return


main()
