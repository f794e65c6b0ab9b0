"""What all forms of a report contain."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.control.schema import TUNERS
from arena.jobs import Fault
from arena.reports.tally import MatchupTally
from arena.results.exclusions import Exclusion
from arena.results.first_ratings import NEWCOMER, FirstRating
from arena.results.games import FinishedGame
from arena.results.outbox import ProposalTally
from arena.results.series_reader import Duration, LastFault, PlayerTotals
from arena.results.standings import Standings
from arena.selection.generations import Descent
from arena.selection.sprt import SprtState
from arena.selection.tuner import TuningState

if TYPE_CHECKING:
    from arena.ratings.rating_list import RatingList
    from arena.ratings.skill import Skill


@dataclass(frozen=True)
class PlayerFacts:
    """A player beside its standing: what it calls itself, and what it used (None: it has no game yet).

    `last_fault` is None where it did nothing wrong.
    """

    name: str
    description: str
    usage: PlayerTotals | None
    daide_score: float
    skill: "Skill"
    last_fault: LastFault | None


def faults_line(whose: str, by_kind: Mapping[Fault, int], last: LastFault) -> str:
    """A player's faults in one line."""
    counts = ", ".join(f"{count} {fault.value}" for fault, count in by_kind.items())
    return f"faults of {whose}: {counts}; the last in {last.game_id}: {last.remark}"


@dataclass(frozen=True)
class CandidateFaults:
    """What a tuner's candidates did wrong, all together: games by kind of fault, and the last one.

    `forfeits` of their `games` are lost by a fault. Where these are the most, the tuner has learnt little.
    """

    games: int
    forfeits: int
    by_kind: Counter[Fault]
    last: LastFault | None

    @property
    def summary(self) -> str:
        """The faults in one line; empty where there are none."""
        return faults_line("the candidates", self.by_kind, self.last) if self.last is not None else ""

    @property
    def warning(self) -> str:
        """Why the best values mean little; empty where most games were played out."""
        if 2 * self.forfeits <= self.games:
            return ""
        return (
            f"candidates forfeited {self.forfeits} of {self.games} games, so the best parameters are "
            "those of a broken player: see the faults of the candidates"
        )


@dataclass(frozen=True)
class CompetitionReport:
    """A competition's results at one moment.

    `letters` are the players' letters in the cross-table, empty for kinds that have none. `seats` are
    what the game's seats are called. `ratings` are None for games of more than two, where skills count.
    `lines` are what only the kind of competition reports (a tuner's candidates, a test's state), `sprt`,
    `tuning` and `descent` the same as values. A tuner's candidates have no ratings, standings and facts of
    their own, and their games are one matchup;
    `candidates` is what they did wrong. `excluded` are the players and matchups that are left out now;
    `academy_reports` the outbox's counts (empty where nothing is reported to ACADEMY), `refusals` why the
    newest refused reports were, by contest, `proposals` what became of each player's. `first_ratings` are
    what players began with, by name, but for those whose Elo is fixed. A `warning` says why the games are not
    those of the control file as it is now: then the report leaves out what only the control file knows.
    `newest` are the last games, the newest first, `record_extension` is that of their record files.
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
    ratings: "RatingList | None"
    lines: Sequence[str]
    voids: int
    excluded: Sequence[Exclusion]
    academy_reports: Mapping[str, int]
    refusals: Mapping[str, str]
    proposals: Mapping[str, ProposalTally]
    duration: Duration | None
    first_ratings: Mapping[str, FirstRating]
    sprt: SprtState | None
    tuning: TuningState | None
    descent: Descent | None
    candidates: CandidateFaults | None
    warning: str
    newest: Sequence[FinishedGame]
    record_extension: str

    @property
    def beginnings(self) -> str:
        """Where players began and why, as text; empty where all were newcomers without ACADEMY."""
        began = self.first_ratings
        if not self.academy_reports and all(rating.source == NEWCOMER for rating in began.values()):
            return ""
        reasons = (
            f"{name} {began[name].elo:.0f} ({began[name].reason})"
            for name in self.standings.order
            if name in began
        )
        return f"began at Elo: {', '.join(reasons)}" if began else ""

    @property
    def of_tuner(self) -> bool:
        """Whether the games are those of a tuner's candidates."""
        return self.kind in TUNERS

    @property
    def ranked(self) -> Sequence[str]:
        """The players, the best first."""
        return [player.name for player in self.standings.table()]

    @property
    def standings_table(self) -> list[list[str]]:
        """The standings as a table's cells, its headings first; an Elo with imaginary draws has a star."""
        head = ["player", "games", "wins", "draws", "losses", "unknown", "forfeits", "time losses", "faults"]
        head += ["points", "Elo", *(["likeliest", "±"] if self.ratings else ["DAIDE", "skill", "±"])]
        rows = [head]
        for player in self.standings.table():
            score, facts = player.score, self.players[player.name]
            counts = [score.games, score.wins, score.draws, score.losses, score.unknown, player.forfeits]
            row = [player.name, *map(str, [*counts, player.time_losses, player.fault_games])]
            row += [f"{player.points:g}", f"{player.elo:.0f}"]
            if self.ratings:
                estimate = self.ratings.estimates.get(player.name)
                row.append("-" if estimate is None else f"{estimate.elo:.0f}{'*' * estimate.imagined}")
                row.append("-" if estimate is None or estimate.error is None else f"{estimate.error:.0f}")
            else:
                row += [f"{facts.daide_score:+.1f}", f"{facts.skill.mu:.1f}", f"{2 * facts.skill.sigma:.1f}"]
            rows.append(row)
        return rows

    @property
    def star(self) -> str:
        """What the star in the table of standings says; empty where there is none."""
        if self.ratings is None or not any(rating.imagined for rating in self.ratings.estimates.values()):
            return ""
        return "* Some only won or only lost: one imaginary draw of each pair keeps their Elo finite."

    @property
    def notes(self) -> list[str]:
        """Void games, who is left out, and what became of the reports to ACADEMY, in a line each."""
        lines = []
        if self.voids:
            games = "1 void game" if self.voids == 1 else f"{self.voids} void games"
            lines.append(f"{games}; see log file.")
        lines += [
            f"{exclusion.scope} {exclusion.name} is left out since {exclusion.games} games were finished: "
            f"{exclusion.reason}"
            for exclusion in self.excluded
        ]
        if any(self.academy_reports.values()):
            counts = (f"{count} {state}" for state, count in self.academy_reports.items() if count)
            lines.append(f"reports to ACADEMY: {', '.join(counts)}")
        return lines + [f"report of {contest} refused: {why}" for contest, why in self.refusals.items()]
