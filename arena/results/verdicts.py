"""What ACADEMY made of the players' proposals, kept so that it can be told without a server."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from arena.results.database import ResultsDatabase
from arena.results.own_tables import VERDICT

DROPPED: Final = "dropped"
# A reason tells its numbers; those who are dropped for one rule are told together.
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d[\d.,]*(?<=\d)")
_LONGEST_REASON: Final = 500


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
    """Keep a contest's verdicts, instead of any that are there."""
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


def tallies(database: ResultsDatabase, series_id: int) -> Mapping[str, ProposalTally]:
    """What became of each player's proposals in a competition, by player ("" where it is not known)."""
    table = VERDICT.c
    query = (
        select(table.Player, table.Verdict, table.Reason, func.sum(table.Count))
        .where(table.SeriesId == series_id)
        .group_by(table.Player, table.Verdict, table.Reason)
        .order_by(table.Player)
    )
    found: defaultdict[str, ProposalTally] = defaultdict(ProposalTally)
    with database.transaction() as connection:
        for player, verdict, reason, count in connection.execute(query):
            tally = found[player]
            if verdict == DROPPED:
                tally.dropped += count
                tally.reasons[_NUMBER.sub("N", reason)] += count
            else:
                tally.accepted += count
    return dict(found)
