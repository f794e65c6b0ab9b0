"""GNU Go, a program beside the project, as a player of a population that teaches ACADEMY."""

import math
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from clients.bots.search_game import UnsuitableGameError
from clients.bots.thinking import Advice, Candidate, Thought, no_advice
from referees.api import IllegalMoveError, Referee
from referees.go import Go
from referees.go.board import GoPosition
from referees.sgf import LETTERS

# Debian's package puts it outside of the usual PATH.
_FOLDERS: Final = "/usr/games:/usr/local/games"
# It plays as the referee scores: stones that stay on the board live, and there is no self-capture.
_OPTIONS: Final = (
    "--mode gtp --chinese-rules --forbid-suicide --capture-all-dead --play-out-aftermath --never-resign"
)
# The points of its estimate that make a win 2.7 times as likely as a loss; roughly, as it states no chances.
_POINTS: Final = 8.0
_SEEDS: Final = 1 << 24
_ESTIMATE: Final = re.compile(r"([BW])\+(\d+(?:\.\d+)?)")


class GnuGoMissingError(RuntimeError):
    """GNU Go is not installed."""


@dataclass(frozen=True)
class GnuGo:
    """A strength of GNU Go, from 0 to 10."""

    level: int

    def __str__(self) -> str:
        return f"GNU Go {self.level}"

    def thinker(self, referee: Referee[Any, Any], chance: random.Random) -> "GnuGoThinker":
        """The player of one seat. Raises GnuGoMissingError, and UnsuitableGameError for another game."""
        if not isinstance(referee, Go):
            raise UnsuitableGameError(f"{referee.name}: GNU Go plays Go")
        engine = _engine(self.level)
        settings = referee.settings
        engine.ask(
            f"boardsize {settings.board_size}",
            f"komi {settings.komi:g}",
            f"set_random_seed {chance.randrange(_SEEDS)}",
        )
        return GnuGoThinker(engine)


class _Engine:
    """A running GNU Go; it ends when this process closes its pipe."""

    def __init__(self, level: int) -> None:
        program = shutil.which("gnugo") or shutil.which("gnugo", path=_FOLDERS)
        if program is None:
            raise GnuGoMissingError("GNU Go is not installed: `apt-get install gnugo`")
        self._process = subprocess.Popen(
            [program, *_OPTIONS.split(), "--level", str(level)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, *commands: str) -> str:
        """Send commands at once; return the answer to the last. Raises RuntimeError for a failure."""
        stream, answers = self._process.stdin, self._process.stdout
        assert stream is not None and answers is not None
        stream.write("".join(f"{command}\n" for command in commands))
        stream.flush()
        answer = ""
        for command in commands:
            answer = answers.readline().strip()
            if not answer.startswith("="):
                raise RuntimeError(f"GNU Go answered {answer!r} to {command!r}")
            while answers.readline().strip():
                pass
        return answer.removeprefix("=").strip()


@cache
def _engine(level: int) -> _Engine:
    return _Engine(level)


@dataclass(frozen=True)
class GnuGoThinker:
    """Sets the position up and asks for a move; asks no advice."""

    engine: _Engine

    def think(
        self, referee: Referee[Any, Any], position: GoPosition, advice: Advice[Any] = no_advice
    ) -> Thought[Any]:
        """GNU Go's move, and what its estimate of the score promises."""
        colour = LETTERS[position.mover]
        # Stones of a position can be placed in any order: a part of a chain with a liberty has one, too.
        names = referee.spec().cell_names
        placed = (
            f"play {LETTERS[stone]} {names[point]}" for point, stone in enumerate(position.stones) if stone
        )
        answer = self.engine.ask("clear_board", *placed, f"genmove {colour}")
        move = referee.read_move(position, position.mover, answer)
        try:
            referee.check(position, position.mover, move)
        except IllegalMoveError:
            # It does not know what the ko was: then it passes.
            move = referee.read_move(position, position.mover, "pass")
        value = _chance_of(colour, self.engine.ask("estimate_score"))
        return Thought(value, (Candidate(move, value),))


def _chance_of(colour: str, estimate: str) -> float:
    """The chance of a colour to win by an estimate like `W+6.4 (upper bound: 6.4, lower: 6.4)`."""
    score = _ESTIMATE.match(estimate)
    if score is None:
        return 0.5
    leader, points = score.groups()
    chance = 1.0 / (1.0 + math.exp(-float(points) / _POINTS))
    return chance if leader == colour.upper() else 1.0 - chance
