"""Runs a policy for the arena, in the environment of any Python: it needs nothing else.

A line of JSON on standard input is answered with one on standard output, which is the arena's alone: what
the policy prints goes to standard error. Any Python from 3.7 on will do; arrays are numpy's where it is
installed, and lists where it is not.
"""

from __future__ import annotations

import base64
import collections
import enum
import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

# Where the code of the published agents has these two.
THEIR_OBSERVATIONS = "diplomacy.environment.observation_utils"

Observation = collections.namedtuple("Observation", ["season", "board", "build_numbers", "last_actions"])


class Season(enum.Enum):
    """When it is, as DeepMind counts."""

    SPRING_MOVES = 0
    SPRING_RETREATS = 1
    AUTUMN_MOVES = 2
    AUTUMN_RETREATS = 3
    BUILDS = 4

    def is_moves(self) -> bool:
        """Whether units move."""
        return self in (Season.SPRING_MOVES, Season.AUTUMN_MOVES)

    def is_retreats(self) -> bool:
        """Whether dislodged units retreat."""
        return self in (Season.SPRING_RETREATS, Season.AUTUMN_RETREATS)

    def is_builds(self) -> bool:
        """Whether units are built and removed."""
        return self is Season.BUILDS


class WrongAnswerError(Exception):
    """The policy's answer has not the shape that it must have."""


class Host:
    """One policy, and what its calls are made of."""

    def __init__(self) -> None:
        self.policy: Any = None

    def start(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Import the module, and have its factory make the policy."""
        module, _, factory = frame["factory"].partition(":")
        self.policy = getattr(importlib.import_module(module), factory)(**frame["arguments"])
        if not callable(getattr(self.policy, "actions", None)):
            raise WrongAnswerError(f"the factory made a {type(self.policy).__name__}, which has no actions()")
        return {"name": str(self.policy), "contests": callable(getattr(self.policy, "academy_contest", None))}

    def contest(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Give the policy ACADEMY's address for a slot's contest, or announce the contest's end."""
        self.policy.academy_contest(frame["slot"], frame["access"])
        return {}

    def reset(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Announce a game to the policy."""
        if hasattr(self.policy, "reset"):
            self.policy.reset()
        return {}

    def actions(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Show the policy a position, and return the actions of its slots."""
        slots = frame["slots"]
        answer = self.policy.actions(slots, _observation(frame), frame["legal_actions"])
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise WrongAnswerError(
                f"actions() returned {_described(answer)}: a pair, of which the first are actions, is needed"
            )
        try:
            lists = [[int(action) for action in actions] for actions in answer[0]]
        except (TypeError, ValueError) as error:
            raise WrongAnswerError(
                f"actions() returned {_described(answer[0])}: for each slot numbers are needed ({error})"
            ) from None
        if len(lists) != len(slots):
            raise WrongAnswerError(f"actions() returned actions of {len(lists)} slots: asked were {slots}")
        return {"actions": lists}

    def answer(self, line: str) -> dict[str, Any]:
        """Do what a line says; an exception of the policy is reported and traced, and the program goes on."""
        frame = json.loads(line)
        try:
            reply: dict[str, Any] = getattr(self, frame["do"])(frame)
        except WrongAnswerError as error:
            reply = {"error": str(error)}
        except Exception as error:  # Anything can come out of other people's code.
            traceback.print_exc()
            reply = {"error": f"{frame['do']} failed: {type(error).__name__}: {error}"}
        reply["id"] = frame["id"]
        return reply


def _observation(frame: dict[str, Any]) -> Any:
    theirs = sys.modules.get(THEIR_OBSERVATIONS)
    observation = getattr(theirs, "Observation", Observation)
    season = getattr(theirs, "Season", Season)
    rows, columns = frame["shape"]
    data = base64.b64decode(frame["board"])
    builds = frame["build_numbers"]
    try:
        numpy: Any = importlib.import_module("numpy")
    except ImportError:
        board: Any = [list(data[row * columns : (row + 1) * columns]) for row in range(rows)]
    else:
        board = numpy.frombuffer(bytearray(data), numpy.uint8).reshape(rows, columns)
        builds = numpy.array(builds, numpy.int32)
    return observation(season(frame["season"]), board, builds, frame["last_actions"])


def _described(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= 100 else text[:100] + "..."


def _own_output() -> TextIO:
    """Standard output for the arena alone: from now on, all other output there goes to standard error."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def main() -> None:
    """Answer until the input ends."""
    # In place of this program's folder, so that modules are found where the player's are.
    sys.path[0] = str(Path.cwd())
    out = _own_output()
    host = Host()
    for line in sys.stdin:
        out.write(json.dumps(host.answer(line)) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
