"""A small WarLight bot for tests, in either dialogue, that misbehaves in the way its argument names.

    warlight_bot.py FAULT [ai-challenge-2]

It deploys all of its income on its first border and attacks from there with all it can.
"""

import os
import random
import signal
import sys

FAULTS = (
    "none",
    "garbage",
    "illegal",
    "truncated-lines",
    "no-newline-megabytes",
    "many-lines",
    "invalid-utf8",
    "late-once",
    "silent-once",
    "mute",
    "early-end",
    "remarks",
    "never-answers",
    "exit-at-once",
    "exit-in-game",
    "crash-in-game",
    "half-an-answer-and-exit",
    "closes-output",
    "flood",
    "deaf",
)
JUNK = random.Random(5)


def say(text: str | bytes) -> None:
    left = text if isinstance(text, bytes) else text.encode()
    # A machine that pauses a process cuts what it is writing.
    while left:
        left = left[os.write(1, left) :]


def misbehave(fault: str, turn: int) -> None:
    if fault == "garbage":
        for _ in range(20):
            say(
                bytes(JUNK.choice(b"Deploy on fromAttackTransfer 0123456789-.;,\t") for _ in range(30))
                + b"\n"
            )
    elif fault == "illegal":
        say("Deploy 5 on 99999\nDeploy -1 on 1\nAttackTransfer 1 from 1 to 1\nAttackTransfer 9 from 3 to 3\n")
    elif fault == "truncated-lines":
        say("Deploy\nDeploy 3\nDeploy 3 on\nAttackTransfer 3 from\nAttackTransfer 3 from 4 to\n")
    elif fault == "no-newline-megabytes":
        for _ in range(3 if turn < 4 else 0):
            say(b"x" * 1_000_000)
        say("\n")
    elif fault == "many-lines":
        say("Deploy 1 on 1\n" * (20_000 if turn < 4 else 1))
    elif fault == "mute":
        for line in sys.stdin:
            if line == "GameOver\n":
                print("so it is over", file=sys.stderr, flush=True)
        sys.exit()
    elif fault == "early-end":
        # In one piece, so that what follows the first end has come with it.
        say("end\nDeploy 1 on 1\nend\n")
    elif fault == "remarks":
        say("thinking of where to go\nthinking of how many\n")
    elif fault == "invalid-utf8":
        say(b"\xff\xfe Deploy \x80\n\x00\x00\nDeploy \xe2\x82 on 4\n")
    elif fault == "never-answers" or (fault == "flood" and turn == 2):
        while True:
            if fault == "flood":
                say("Deploy 1 on 1\n" * 1000)
            else:
                signal.pause()
    elif turn == 3 and fault == "exit-in-game":
        print("lost my way", file=sys.stderr, flush=True)
        sys.exit(4)
    elif turn == 3 and fault == "crash-in-game":
        os.abort()
    elif turn == 3 and fault == "half-an-answer-and-exit":
        say("Deploy 1 on 1\nAttackTransf")
        sys.exit(0)
    elif turn == 3 and fault == "closes-output":
        os.close(1)
        signal.pause()


Standing = dict[int, tuple[str, int]]


class Map:
    def __init__(self) -> None:
        self.neighbours: dict[int, list[int]] = {}
        self.bonuses: list[tuple[int, list[int]]] = []

    def income(self, owners: dict[int, str]) -> int:
        return 5 + sum(n for n, region in self.bonuses if all(owners.get(at) == "You" for at in region))

    def orders(self, standing: Standing) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
        """(armies, territory) to deploy, and (armies, source, target) to send."""
        owners = {id_: owner for id_, (owner, _) in standing.items()}
        own = [id_ for id_ in sorted(standing) if owners[id_] == "You"]
        border = next(id_ for id_ in own if any(owners[near] != "You" for near in self.neighbours[id_]))
        income = self.income(owners)
        armies = {id_: standing[id_][1] for id_ in own}
        armies[border] += income
        moves = []
        for id_ in own:
            targets = [near for near in self.neighbours[id_] if owners[near] != "You"]
            if armies[id_] > 3 and targets:
                moves.append((armies[id_] - 1, id_, min(targets)))
            elif armies[id_] > 1 and not targets:
                moves.append((armies[id_] - 1, id_, min(self.neighbours[id_])))
        return [(income, border)], moves


def challenge(fault: str) -> None:
    world, turn = Map(), 0
    standing: Standing = {}
    for line in sys.stdin:
        words = line.split()
        if words[0] == "TerritoryDefinition":
            world.neighbours[int(words[1])] = [int(word) for word in words[3:]]
        elif words[0] == "BonusDefinition":
            world.bonuses.append((int(words[1]), [int(word) for word in words[3:]]))
        elif words[0] == "Turn":
            standing, turn = {}, int(words[1])
        elif words[0] == "Territory":
            standing[int(words[1])] = words[3], int(words[5])
        elif words[0] == "EndStanding":
            misbehave(fault, turn)
            if fault == "late-once" and turn == 2:
                continue
            if fault == "late-once" and turn == 3:
                say("Deploy 424242 on 1\nend\n")
            deploys, moves = world.orders(standing)
            for armies, at in deploys:
                say(f"Deploy {armies} on {at}\n")
            for armies, source, to in moves:
                say(f"AttackTransfer {armies} from {source} to {to}\n")
            say("end\n")
        elif words[0] == "GameOver":
            return


def ai_challenge_2(fault: str) -> None:
    world, name, turn = Map(), "", 0
    moves: list[tuple[int, int, int]] = []
    rewards: dict[str, int] = {}
    members: dict[str, list[int]] = {}
    standing: Standing = {}
    for line in sys.stdin:
        words = line.split()
        if words[:2] == ["settings", "your_bot"]:
            name = words[2]
        elif words[:2] == ["setup_map", "super_regions"]:
            rewards = dict(zip(words[2::2], map(int, words[3::2]), strict=True))
        elif words[:2] == ["setup_map", "regions"]:
            for id_, region in zip(words[2::2], words[3::2], strict=True):
                members.setdefault(region, []).append(int(id_))
            world.bonuses = [(rewards[region], ids) for region, ids in members.items()]
        elif words[:2] == ["setup_map", "neighbors"]:
            for id_, nears in zip(words[2::2], words[3::2], strict=True):
                for near in map(int, nears.split(",")):
                    world.neighbours.setdefault(int(id_), []).append(near)
                    world.neighbours.setdefault(near, []).append(int(id_))
        elif words[0] == "pick_starting_region":
            say(words[2] + "\n")
        elif words[0] == "update_map":
            turn += 1
            called = {name: "You", "neutral": "Neutral"}
            standing = {
                int(id_): (called.get(owner, "Opponent"), int(armies))
                for id_, owner, armies in zip(words[1::3], words[2::3], words[3::3], strict=True)
            }
        elif words[:2] == ["go", "place_armies"]:
            misbehave(fault, turn)
            if fault in ("silent-once", "late-once") and turn == 2:
                continue
            if fault == "late-once" and turn == 3:
                say(f"{name} place_armies 1 424242\n")
            deploys, moves = world.orders(standing)
            say(",".join(f"{name} place_armies {at} {armies}" for armies, at in deploys) + "\n")
        elif words[:2] == ["go", "attack/transfer"]:
            if fault == "remarks":
                say("thinking of an attack\n")
            orders = [f"{name} attack/transfer {source} {to} {armies}" for armies, source, to in moves]
            say((",".join(orders) or "No moves") + "\n")


if __name__ == "__main__":
    fault = sys.argv[1]
    assert fault in FAULTS
    if fault == "exit-at-once":
        sys.exit(3)
    if fault == "deaf":
        signal.pause()
    (ai_challenge_2 if sys.argv[2:] else challenge)(fault)
