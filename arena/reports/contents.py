"""What all forms of a report tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.ratings.bradley_terry import Ratings
from arena.ratings.skill import Skill
from arena.reports.tally import MatchupTally
from arena.results.standings import Standings
from arena.results.usage import Duration, PlayerUsage
from arena.results.verdicts import ProposalTally


@dataclass(frozen=True)
class PlayerFacts:
    """A player beside its standing: what it calls itself, and what it used (None: it has no game yet)."""

    name: str
    description: str
    usage: PlayerUsage | None
    daide_score: float
    skill: Skill


@dataclass(frozen=True)
class Report:
    """A competition's results at one moment.

    `letters` are the players' letters in the cross-table, empty for kinds that have none. `seats` are
    what the game's seats are called. `ratings` are None for games of more than two, where skills count.
    `lines` are what only the kind of competition has to tell (a tuner's candidates, a test's state);
    `academy_reports` the outbox's counts (empty where nothing is reported to ACADEMY), `refusals` why the
    newest refused reports were, by contest, `proposals` what became of each player's. `histories` are the
    players' live Elo after each game of theirs. A `warning` says why the games are not those of the control
    file as it is now: then nothing is told that only the control file knows.
    """

    name: str
    kind: str
    description: str
    game: str
    settings: Mapping[str, Any]
    total: int | None
    seats: Sequence[str]
    letters: Mapping[str, str]
    standings: Standings
    matchups: Sequence[MatchupTally]
    players: Mapping[str, PlayerFacts]
    ratings: Ratings | None
    histories: Mapping[str, Sequence[float]]
    lines: Sequence[str]
    voids: int
    academy_reports: Mapping[str, int]
    refusals: Mapping[str, str]
    proposals: Mapping[str, ProposalTally]
    duration: Duration | None
    warning: str = ""

    @property
    def ranked(self) -> Sequence[str]:
        """The players, the best first."""
        return [player.name for player in self.standings.table()]
