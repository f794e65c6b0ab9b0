"""How a competition is run: what the user chose, and how the run ended."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.runner.competition import RunEnd


@dataclass(frozen=True)
class RunOptions:
    """How to run: games at a time, how many to start at most (None: no limit), what to show and to log.

    `readmit` lets players and matchups play again that were inhibited or left out. `without_tokens`
    lets remote players in without the tokens that a run makes. `on` is where games are played, empty for
    where the control file says.
    """

    parallel: int = 1
    max_games: int | None = None
    quiet: bool = False
    log_protocol: bool = False
    readmit: bool = False
    without_tokens: bool = False
    on: str = ""


@dataclass(frozen=True)
class Ended:
    """How a run ended, how many reports ACADEMY has not taken, and whether the league has all games."""

    end: "RunEnd"
    undelivered: int
    in_league: bool = True
