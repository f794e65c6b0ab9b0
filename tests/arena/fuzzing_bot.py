"""A WarLight bot for tests that writes anything: fuzzing_bot.py SEED [ai-challenge-2].

To each request it writes random lines, cut ones, megabytes without an end of line, or bytes that are no
UTF-8, and then an order that can be carried out; or it ends in the middle of a line.
"""

import os
import random
import sys

WORDS = (
    b"Deploy", b"AttackTransfer", b"on", b"from", b"to", b"player1", b"player2", b"place_armies",
    b"attack/transfer", b"No moves", b"academy-expected_value", b",", b";", b"0", b"1", b"7", b"-3", b"1e9",
    b"nan", b"9" * 40, b"\xff\xfe", b"\xe2\x82", b"\x00", b"\r", b"\t", b"end of it", b"EndStanding",
)  # fmt: skip
REQUESTS = ("EndStanding", "go ", "pick_starting_region ")


def noise(chance: random.Random) -> bytes:
    kind = chance.randrange(7)
    if kind == 0:
        return chance.randbytes(chance.randrange(200))
    if kind == 1:
        return b"x" * chance.choice((1, 70_000, 3_000_000)) + chance.choice((b"", b"\n"))
    if kind == 2:
        return b"\n" * chance.randrange(50)
    lines = (
        b" ".join(chance.choices(WORDS, k=chance.randrange(8))) for _ in range(chance.choice((1, 5, 300)))
    )
    return b"\n".join(lines) + chance.choice((b"", b"\n"))


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    chance = random.Random(sys.argv[1])
    own = ""
    for line in sys.stdin:
        # Its own territories come first in the one dialogue, anywhere in the other.
        if line.startswith("update_map ") or " ownedBy You " in line:
            own = line.split()[1]
        if not line.startswith(REQUESTS):
            continue
        for _ in range(chance.randrange(3)):
            write(noise(chance))
        if chance.random() < 0.03:
            # In the middle of a line, of a word, or of a letter.
            write(b"Deploy 5 on \xe2")
            return
        if sys.argv[2:]:
            orders = "No moves" if "attack" in line else f"player1 place_armies {own} 1"
        else:
            orders = f"Deploy 1 on {own}\nend"
        write(f"\n{orders}\n".encode())


if __name__ == "__main__":
    main()
