"""A game while it is played: the process that plays it writes each turn to a file, which others read.

The first line is an object that describes the game, each later one an array of the moves of a turn. The
file is gone once the game's result is stored.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arena.jobs import JobMove

SUFFIX: Final = ".jsonl"
# Characters of a comment; the record has all of it when the game is over.
_LONGEST_COMMENT: Final = 2_000
# What is read at once of a file: a longer rest is read at the next look.
_MOST_READ: Final = 4 << 20
# One for all lines: `json.dumps` makes one for each, which takes longer than the rest.
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class LiveHeading:
    """What a game in progress is: its id, its players by seat, its start as Unix time.

    `arrangement` is the first position where a player arranged it, else None. The moves of a game
    that `hides` something from its players are kept without what they were. `settings_json` are the game's
    settings.
    """

    game_id: str
    players: tuple[str, ...]
    started: float
    arrangement: str | None = None
    hides: bool = False
    settings_json: str = ""


class LiveFile:
    """Writes a game's file. A disk that is full or read-only costs the watchers, not the game."""

    def __init__(self, path: Path, heading: LiveHeading) -> None:
        self._hides = heading.hides
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600
            )
        self._write_line(heading.__dict__)

    def add(self, moves: Sequence[JobMove]) -> None:
        """Write the moves of a turn."""
        if moves and self._file is not None:
            self._write_line(list(map(self._row, moves)))

    def _row(self, move: JobMove) -> list[object]:
        clock = None if move.clock_seconds is None else round(move.clock_seconds, 3)
        text, value, comment = move.text, move.values.get(move.seat), move.comment[:_LONGEST_COMMENT]
        if self._hides:
            text, value, comment = "", None, ""
        seconds = round(move.seconds, 3)
        return [move.seat, text, seconds, value, comment, clock, move.clock_stones, move.opening]

    def _write_line(self, value: object) -> None:
        if self._file is None:
            return
        line = f"{_encode(value)}\n".encode()
        try:
            whole = os.write(self._file, line) == len(line)
        except OSError:
            whole = False
        if not whole:
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


# The order of the fields is that of the file's rows: see LiveFile._row.
@dataclass(frozen=True)
class LiveMove:
    """A move of a game in progress, as `JobMove` has it; `text` is empty where the game hides it."""

    seat: int
    text: str
    seconds: float
    value: float | None
    comment: str
    clock_seconds: float | None
    clock_stones: int
    opening: bool


@dataclass(frozen=True)
class LiveNews:
    """What is new in a game: `moves` that follow `moves_before` others; `over` once its file is gone."""

    heading: LiveHeading
    moves_before: int
    moves: tuple[LiveMove, ...] = ()
    over: bool = False


@dataclass
class _Read:
    """How far a file has been read."""

    heading: LiveHeading | None = None
    offset: int = 0
    moves: int = 0


@dataclass
class LiveFolder:
    """Reads the files of a competition's games in progress: each look tells what is new since the last."""

    path: Path
    _known: dict[str, _Read] = field(default_factory=dict)

    def news(self) -> Iterator[LiveNews]:
        """Look, and tell what is new."""
        sizes = {}
        with suppress(FileNotFoundError):
            for entry in os.scandir(self.path):
                # A game may end while it is looked at.
                with suppress(FileNotFoundError):
                    sizes[entry.name] = entry.stat().st_size
        yield from self._end([name for name in self._known if name not in sizes])
        for name, size in sizes.items():
            read = self._known.setdefault(name, _Read())
            if name.endswith(SUFFIX) and size > read.offset and (news := self._read(name, read)) is not None:
                yield news

    def forget(self) -> Iterator[LiveNews]:
        """Tell of all games that they are over, as they are when nobody plays them any more."""
        return self._end(list(self._known))

    def _end(self, names: Sequence[str]) -> Iterator[LiveNews]:
        for name in names:
            read = self._known.pop(name)
            if read.heading is not None:
                yield LiveNews(read.heading, read.moves, over=True)

    def _read(self, name: str, read: _Read) -> LiveNews | None:
        try:
            with (self.path / name).open("rb") as file:
                file.seek(read.offset)
                content = file.read(_MOST_READ)
        except FileNotFoundError:
            return None
        lines = content[: content.rfind(b"\n") + 1].splitlines()
        read.offset += sum(len(line) + 1 for line in lines)
        if read.heading is None:
            if not lines:
                return None
            read.heading = _heading(json.loads(lines.pop(0)))
        moves = tuple(LiveMove(*row) for line in lines for row in json.loads(line))
        before, read.moves = read.moves, read.moves + len(moves)
        return LiveNews(read.heading, before, moves)

    @classmethod
    def game(cls, path: Path, game_id: str) -> LiveNews | None:
        """All of one game in progress; None where there is none of this id."""
        folder = cls(path)
        for name in [name for name in _files(path) if _game_id(name) == game_id]:
            read, offset = _Read(), -1
            moves: list[LiveMove] = []
            while read.offset > offset:
                offset = read.offset
                news = folder._read(name, read)
                moves += news.moves if news is not None else ()
            if read.heading is not None:
                return LiveNews(read.heading, 0, tuple(moves))
        return None

    @staticmethod
    def game_ids(path: Path) -> set[str]:
        """The ids of the games in progress."""
        return set(map(_game_id, _files(path)))


def _files(path: Path) -> list[str]:
    """The names of the files of games in progress, as `arena.runner.files` gives them."""
    return [file.name for file in path.glob(f"*{SUFFIX}")]


def _game_id(name: str) -> str:
    """The game's id, without the number of its attempt."""
    return name.removesuffix(SUFFIX).rpartition(".")[0]


def _heading(value: dict[str, Any]) -> LiveHeading:
    return LiveHeading(**{**value, "players": tuple(value["players"])})
