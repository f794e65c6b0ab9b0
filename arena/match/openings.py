"""Openings that games begin with: read from a file, checked by the referee, given out by their places."""

import functools
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from referees.api import IllegalMoveError, RecordedGame, Referee, UnreadableMoveError, UnreadableRecordError

MAX_BYTES: Final = 1 << 26
MAX_OPENINGS: Final = 100_000
# A name ends with a colon and a blank: captures in Russian books of draughts have colons without one.
_NAMED: Final = re.compile(r"(?:(.*):(?:\s+|$))?(.*)", re.DOTALL)


class InvalidOpeningsError(ValueError):
    """A file of openings that cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Opening:
    """The first moves of a game, as text, what they are called, and their place in their file from 1."""

    name: str
    moves: tuple[str, ...]
    number: int = 0


def read_openings(path: Path, referee: Referee[Any, Any], plies: int | None = None) -> tuple[Opening, ...]:
    """The openings in a file, in their order, each cut to at most `plies` plies.

    A file with the referee's record extension (`.sgf`) holds records, one or many: their main lines are
    the openings. Any other is a list: a line holds the moves of an opening, with commas between them
    where there is one outside brackets and else with blanks, after a name, a colon and a blank if it has a
    name; empty lines and those that begin with `#` are nothing.
    All moves must be legal and leave a game to play. Raises InvalidOpeningsError.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidOpeningsError(f"the openings {path} cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise InvalidOpeningsError(f"the openings {path} have more than {MAX_BYTES} bytes")
    openings: list[Opening] = []
    for place, opening in _entries(path, content, referee):
        whole = len(opening.moves)
        opening = Opening(opening.name, opening.moves[:plies])
        if len(openings) == MAX_OPENINGS:
            raise InvalidOpeningsError(f"{path}: more than {MAX_OPENINGS} openings")
        moves = _check_opening(f"{path}, {place}", opening, referee, whole)
        openings.append(Opening(opening.name, moves, len(openings) + 1))
    if not openings:
        raise InvalidOpeningsError(f"{path} holds no opening")
    return tuple(openings)


def choose_opening(openings: Sequence[Opening], place: int, seed: int | None = None) -> Opening:
    """The opening of a place that counts on without end: after the last comes the first again.

    With a seed they are in a random order, another one in each round through the list.
    """
    cycle, index = divmod(place, len(openings))
    if seed is None:
        return openings[index]
    return openings[_order(len(openings), seed, cycle)[index]]


# Games of two rounds through the list may be played side by side.
@functools.lru_cache(maxsize=2)
def _order(count: int, seed: int, cycle: int) -> list[int]:
    return random.Random(f"{seed}/{cycle}").sample(range(count), count)


def _entries(path: Path, content: bytes, referee: Referee[Any, Any]) -> list[tuple[str, Opening]]:
    if path.suffix.lower() == f".{referee.record_extension}":
        try:
            records = referee.read_records(content)
        except UnreadableRecordError as error:
            raise InvalidOpeningsError(f"{path}: {error}") from None
        entries = []
        for number, record in enumerate(starmap(RecordedGame, records), start=1):
            if record.fault:
                raise InvalidOpeningsError(f"{path}, record {number}: {record.fault}")
            entries.append((f"record {number}", Opening(record.name, tuple(record.moves))))
        return entries
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidOpeningsError(f"{path} is not text: {error}") from None
    return [
        (f"line {number}", _opening(line))
        for number, line in enumerate(map(str.strip, lines), start=1)
        if line and not line.startswith("#")
    ]


def _opening(line: str) -> Opening:
    name, text = _NAMED.fullmatch(line).groups(default="")  # type: ignore[union-attr]
    words = _split_outside_brackets(text)
    return Opening(name.strip(), tuple(word.strip() for word in (words if len(words) > 1 else text.split())))


def _split_outside_brackets(text: str) -> list[str]:
    """The parts between commas, but for those within brackets: some games' moves have them (`x(0,1)`)."""
    parts, depth = [""], 0
    for character in text:
        depth = max(0, depth + (character in "([{") - (character in ")]}"))
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _check_opening(place: str, opening: Opening, referee: Referee[Any, Any], whole: int) -> tuple[str, ...]:
    """The moves of an opening in the referee's own spelling; `whole` counts those before it was cut.

    Raises InvalidOpeningsError.
    """
    position = referee.start(0)
    texts: list[str] = []
    where = f"{place} ({opening.name})" if opening.name else place
    while len(texts) < len(opening.moves):
        seats = referee.to_move(position)
        moves: dict[int, Any] = {}
        turn = zip(seats, opening.moves[len(texts) : len(texts) + len(seats)], strict=False)
        for number, (seat, text) in enumerate(turn, start=len(texts) + 1):
            try:
                moves[seat] = referee.read_move(position, seat, text)
                referee.check(position, seat, moves[seat])
            except (UnreadableMoveError, IllegalMoveError) as error:
                raise InvalidOpeningsError(f"{where}: move {number}: {error}") from None
        if seats and len(moves) < len(seats):
            end = len(texts) + len(seats)
            why = (
                f"plies = {len(opening.moves)} ends within a turn of {len(seats)} moves: "
                f"give {end} for all of it"
                if len(opening.moves) < end <= whole
                else f"the last turn has {min(whole, end) - len(texts)} of {len(seats)} moves"
            )
            raise InvalidOpeningsError(f"{where}: {why}")
        if moves:
            position = referee.play(position, moves)
            texts += [referee.move_text(move) for move in moves.values()]
        if not referee.to_move(position):
            raise InvalidOpeningsError(f"{where}: the game is over after move {len(texts)}")
    if not texts:
        raise InvalidOpeningsError(f"{where}: there is no move")
    return tuple(texts)
