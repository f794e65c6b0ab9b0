"""A policy of the shape that DeepMind's agents have, which needs Python alone: no module of this project."""

import json
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WAIVE = 13


class RandomPolicy:
    """Plays any legal actions. `fault` happens in the call numbered `at`, the first being 0."""

    def __init__(self, seed: int = 0, fault: str = "none", at: int = 3, diary: str | None = None) -> None:
        self._chance = random.Random(seed)
        self._fault, self._at, self._diary = fault, at, diary
        self._calls = self._games = 0

    def __str__(self) -> str:
        return "foreign-random"

    def reset(self) -> None:
        self._games += 1

    def actions(self, slots_list: Sequence[int], observation: Any, legal_actions: Any) -> Any:
        print("a policy may print what it likes")
        fault = self._fault if self._calls == self._at else "none"
        self._note(slots_list, observation, legal_actions)
        self._calls += 1
        if fault == "raises":
            raise RuntimeError("lost the thread")
        if fault == "exits":
            os._exit(7)
        if fault == "sleeps":
            time.sleep(60)
        if fault == "no pair":
            return [[] for _ in slots_list], None, None
        if fault == "no numbers":
            return [["A PAR - BUR"] for _ in slots_list], None
        if fault == "a slot too few":
            return [[] for _ in slots_list[1:]], None
        chosen = [self._slot(slot, observation, legal_actions[slot]) for slot in slots_list]
        if fault == "illegal":
            # Of Burgundy, where nobody begins.
            chosen[0] = [0x011E000000021404 + (1 << 9), *chosen[0]]
        if fault == "twice":
            chosen[0] = chosen[0] + chosen[0][:1]
        return chosen, {"anything": "else"}

    def _slot(self, slot: int, observation: Any, legal: Sequence[int]) -> list[int]:
        by_unit: dict[int, list[int]] = {}
        for action in legal:
            by_unit.setdefault(action >> 8 & 0xFF, []).append(action)
        if observation.season.name != "BUILDS":
            return [self._chance.choice(choices) for choices in by_unit.values()]
        due = int(observation.build_numbers[slot])
        if due >= 0:
            # The fewer than are due: what the published agents' waives come to.
            return [action for action in legal if action & 0xFF == WAIVE][:due]
        return self._chance.sample(legal, -due)

    def _note(self, slots_list: Sequence[int], observation: Any, legal_actions: Any) -> None:
        if self._diary is None:
            return
        board = observation.board
        note = {
            "process": os.getpid(),
            "python": sys.prefix,
            "games": self._games,
            "slots": list(slots_list),
            "season": observation.season.name,
            "shape": [len(board), len(board[0])],
            "board": [[int(flag) for flag in row] for row in board],
            "builds": [int(number) for number in observation.build_numbers],
            "last": list(observation.last_actions),
            "lists": [type(actions).__name__ for actions in legal_actions],
            "legal": [list(actions) for actions in legal_actions],
        }
        with Path(self._diary).open("a") as diary:
            diary.write(json.dumps(note) + "\n")


class ConsultingPolicy(RandomPolicy):
    """The same, and it wants to know of its contests."""

    def academy_contest(self, slot: int, access: Any) -> None:
        assert self._diary is not None
        with Path(self._diary).open("a") as file:
            file.write(json.dumps({"slot": slot, "access": access}) + "\n")


def consulting(**arguments: Any) -> ConsultingPolicy:
    return ConsultingPolicy(**arguments)


def seeded(**arguments: Any) -> RandomPolicy:
    return RandomPolicy(**arguments)


def nothing() -> object:
    return object()


def broken() -> None:
    raise ValueError("no parameters at params.npz")
