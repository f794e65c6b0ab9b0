"""Asks a family's own program for a variant: a line of JSON with what the members have shown, one in return.

    {"family": "learning", "generation": 3, "seed": 8130..., "kept": ["learning-g2-0"],
     "members": [{"name": "learning-g2-0", "values": {"rate": 0.5}, "score": 0.75, "games": 8}, ...]}
    {"values": {"rate": 0.4}, "parents": ["learning-g2-0"]}

Members come best first; `score` is null before a member's first game. `parents` may be left out: then the
best of those that are kept is the parent.
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.control.plans import ChildProgram
from arena.players.logs import ErrorLog
from arena.players.player import PlayerError
from arena.players.process import ChildProcess
from referees.legible_text import legible

MAX_ANSWER: Final = 65_536
MAX_VALUE: Final = 4096
_MOST_PARENTS: Final = 16
_EXIT_SECONDS: Final = 1.0
_STDERR: Final = 2


class ChildProgramError(ValueError):
    """A program that makes a family's variants gave none that can be used."""


@dataclass(frozen=True)
class Child:
    """A variant: its values by name, and the members that it comes from."""

    values: Mapping[str, Any]
    parents: tuple[str, ...]


def ask_for_child(program: ChildProgram, family: str, request: Mapping[str, Any]) -> Child:
    """Start the program, send it the request, and return its answer. Raises ChildProgramError.

    `request` has `kept` and `members`; the names in the answer must be among theirs, or those of the family's
    first values.
    """
    answer = _exchange(program, family, json.dumps(request).encode())
    try:
        return _read(program, answer, [member["name"] for member in request["members"]], request["kept"])
    except ChildProgramError as error:
        shown = legible(answer[:200].decode("utf-8", "replace"))
        raise ChildProgramError(
            f"families.{family}.child: the program {program.command[0]} answered {shown!r}: {error}"
        ) from None


def check_child_program(program: ChildProgram, family: str) -> None:
    """Have the program make a first variant, which nobody plays. Raises ChildProgramError."""
    first = {"name": f"{family}-g0-0", "values": dict(program.first), "score": None, "games": 0}
    ask_for_child(
        program, family, {"family": family, "generation": 0, "seed": 0, "kept": [], "members": [first]}
    )


def _exchange(program: ChildProgram, family: str, request: bytes) -> bytes:
    deadline = time.monotonic() + program.seconds
    try:
        process = ChildProcess(
            program.command,
            environment={},
            working_directory=str(program.folder),
            stderr=ErrorLog(_STDERR, f"families.{family}.child"),
        )
        try:
            process.write_line(request, deadline)
            answer = process.read_line(deadline)
            why = "" if answer else process.obituary()
        finally:
            process.end(_EXIT_SECONDS)
    except PlayerError as error:
        raise ChildProgramError(
            f"families.{family}.child: {error}; within child_seconds = {program.seconds:g} it must read a "
            "line of JSON and answer with one"
        ) from error
    if not answer:
        raise ChildProgramError(f"families.{family}.child: the program gave no answer: {why}")
    return answer


def _read(program: ChildProgram, answer: bytes, members: Sequence[str], kept: Sequence[str]) -> Child:
    if len(answer) > MAX_ANSWER:
        raise ChildProgramError(f"it has {len(answer)} bytes, at most {MAX_ANSWER} are allowed")
    try:
        given = json.loads(answer, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ChildProgramError(f"this is not JSON ({error})") from None
    if not isinstance(given, dict) or not isinstance(given.get("values"), dict):
        raise ChildProgramError('it must be {"values": {...}}, and may have "parents"')
    values = given["values"]
    if values.keys() != program.first.keys():
        raise ChildProgramError(
            f"its values must be those of `first`: {', '.join(program.first)}; it has "
            f"{', '.join(values) or 'none'}"
        )
    for name, value in values.items():
        if not _is_plain(value):
            raise ChildProgramError(
                f"{name} must be printable text, a number, true or false, of at most {MAX_VALUE} characters"
            )
    parents = given.get("parents", list(kept[:1] or members[:1]))
    if not isinstance(parents, list) or len(parents) > _MOST_PARENTS:
        raise ChildProgramError(f"parents must be a list of at most {_MOST_PARENTS} names")
    for name in parents:
        if name not in members:
            raise ChildProgramError(f"parents: {str(name)[:80]!r} is none of the family's members")
    return Child(values, tuple(parents))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")


def _is_plain(value: object) -> bool:
    """Whether a value can be an argument of a program."""
    if not isinstance(value, str | int | float):
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    text = str(value)
    return text.isprintable() and len(text.encode()) <= MAX_VALUE
