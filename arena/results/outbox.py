"""The reports that wait for ACADEMY, and what it made of the players' proposals, readable without it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, text, update

from arena.results.database import ResultsDatabase, utc_now
from arena.results.own_tables import OUTBOX, VERDICT
from referees.legible_text import legible

DROPPED: Final = "dropped"
# A reason contains numbers; proposals that are dropped for one rule are counted together.
# Digits between quotes are symbols of patterns, or moves.
_QUOTED_OR_NUMBER: Final = re.compile(r"""((?<!\w)(?:'[^']*'|"[^"]*")(?!\w))|(?<![\w.])-?\d[\d.,]*(?<=\d)""")
_LONGEST_REASON: Final = 500
# In these words, which databases find their index by.
_WAITING: Final = text("\"State\" = 'waiting'")


class StoredVerdict(NamedTuple):
    """What became of one proposal; seat 0 and no player where only the contest's counts are known."""

    seat: int
    player: str
    verdict: str
    reason: str = ""


@dataclass
class ProposalTally:
    """One player's proposals: how many were accepted and dropped, and how often for which reason."""

    accepted: int = 0
    dropped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def note(connection: Connection, series_id: int, contest_id: str, verdicts: Iterable[StoredVerdict]) -> None:
    """Store a contest's verdicts in place of earlier ones."""
    connection.execute(delete(VERDICT).filter_by(ContestId=contest_id))
    rows = [
        {
            "SeriesId": series_id,
            "ContestId": contest_id,
            "Seat": verdict.seat,
            "Player": verdict.player,
            "Verdict": verdict.verdict,
            "Reason": verdict.reason,
            "Count": count,
        }
        for verdict, count in Counter(
            verdict._replace(reason=verdict.reason[:_LONGEST_REASON]) for verdict in verdicts
        ).items()
    ]
    if rows:
        connection.execute(insert(VERDICT), rows)


@dataclass(frozen=True)
class WaitingReport:
    """A report to deliver: a serialised academy.v1.ReportContestRequest, and how often it was tried."""

    outbox_id: int
    contest_id: str
    report: bytes
    attempts: int


def _name_rule(reason: str) -> str:
    """Return a reason with N for every number that is not quoted."""
    return _QUOTED_OR_NUMBER.sub(lambda match: match[1] or "N", reason)


def post(connection: Connection, series_id: int, contest_id: str, report: bytes) -> None:
    """Put a report into the outbox, in the transaction of its game."""
    connection.execute(
        insert(OUTBOX).values(SeriesId=series_id, ContestId=contest_id, Report=report, Changed=utc_now())
    )


class Outbox:
    """The reports of one competition."""

    def __init__(self, database: ResultsDatabase, series_id: int) -> None:
        self._database = database
        self._series_id = series_id

    def waiting(self, limit: int = 100) -> Sequence[WaitingReport]:
        """Reports that ACADEMY has neither acknowledged nor refused.

        Those tried least often come first, so that none can hold up the others, then the oldest.
        """
        table = OUTBOX.c
        query = (
            select(table.OutboxId, table.ContestId, table.Report, table.Attempts)
            .where(table.SeriesId == self._series_id, _WAITING)
            .order_by(table.Attempts, table.OutboxId)
            .limit(limit)
        )
        return [WaitingReport(*row) for row in self._database.rows(query)]

    def count_waiting(self) -> int:
        """How many reports ACADEMY has neither acknowledged nor refused."""
        query = select(func.count()).select_from(OUTBOX).filter_by(SeriesId=self._series_id).where(_WAITING)
        return int(self._database.value(query))

    def mark_acknowledged(self, report: WaitingReport, verdicts: Iterable[StoredVerdict] = ()) -> None:
        """Note that ACADEMY has the report, whose content is dropped, and what it made of the proposals."""
        with self._database.transaction() as connection:
            note(connection, self._series_id, report.contest_id, verdicts)
            _change(connection, report, State="acknowledged", Report=None, LastError="")

    def proposals(self) -> Mapping[str, ProposalTally]:
        """What became of each player's proposals, by player ("" where it is not known)."""
        table = VERDICT.c
        query = (
            select(table.Player, table.Verdict, table.Reason, func.sum(table.Count))
            .where(table.SeriesId == self._series_id)
            .group_by(table.Player, table.Verdict, table.Reason)
            .order_by(table.Player)
        )
        tallies: defaultdict[str, ProposalTally] = defaultdict(ProposalTally)
        for player, verdict, reason, count in self._database.rows(query):
            if verdict == DROPPED:
                tallies[player].dropped += count
                tallies[player].reasons[_name_rule(reason)] += count
            else:
                tallies[player].accepted += count
        return dict(tallies)

    def mark_refused(self, report: WaitingReport, why: str) -> None:
        """Note that ACADEMY will never take the report; it is kept for inspection but not sent again."""
        with self._database.transaction() as connection:
            _change(connection, report, State="refused", LastError=why)

    def mark_failed(self, report: WaitingReport, why: str) -> None:
        """Note a failed delivery; the report goes on waiting."""
        with self._database.transaction() as connection:
            _change(connection, report, LastError=why)

    def counts(self) -> dict[str, int]:
        """How many reports are `waiting`, `acknowledged` and `refused`."""
        query = (
            select(OUTBOX.c.State, func.count()).filter_by(SeriesId=self._series_id).group_by(OUTBOX.c.State)
        )
        known = {row.State: row[1] for row in self._database.rows(query)}
        return {state: known.get(state, 0) for state in ("waiting", "acknowledged", "refused")}

    def refusals(self, limit: int = 10) -> dict[str, str]:
        """Why ACADEMY refused the newest of the refused reports, by contest."""
        table = OUTBOX.c
        query = (
            select(table.ContestId, table.LastError)
            .where(table.SeriesId == self._series_id, table.State == "refused")
            .order_by(table.OutboxId.desc())
            .limit(limit)
        )
        return {row.ContestId: legible(row.LastError) for row in self._database.rows(query)}


def _change(connection: Connection, report: WaitingReport, **values: object) -> None:
    """Note a delivery and what came of it."""
    connection.execute(
        update(OUTBOX)
        .filter_by(OutboxId=report.outbox_id)
        .values(Attempts=report.attempts + 1, Changed=utc_now(), **values)
    )
