"""A competition's report as plain text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.results.standings import Standings


@dataclass(frozen=True)
class Summary:
    """What a report tells beside the standings.

    `letters` are the players' letters in the cross-table, `reports` the outbox's counts (empty where
    nothing is reported to ACADEMY), `refusals` why the newest refused reports were, by contest.
    """

    name: str
    kind: str
    description: str
    game: str
    settings: Mapping[str, Any]
    total: int | None
    letters: Mapping[str, str]
    voids: int
    reports: Mapping[str, int]
    refusals: Mapping[str, str]


def report_text(summary: Summary, standings: Standings) -> str:
    """The whole report."""
    total = "" if summary.total is None else f"/{summary.total}"
    settings = "   ".join(f"{name}: {value}" for name, value in summary.settings.items())
    lines = [f"{summary.kind}: {summary.name}"]
    if summary.description:
        lines.append(summary.description)
    lines += ["", f"{summary.game}   {settings}".rstrip(), f"{standings.games}{total} games played"]
    if summary.voids:
        lines.append(f"{summary.voids} void games; see the log")
    if any(summary.reports.values()):
        counts = (f"{count} {state}" for state, count in summary.reports.items() if count)
        lines.append(f"reports to ACADEMY: {', '.join(counts)}")
    lines += [f"report of {contest_id} refused: {why}" for contest_id, why in summary.refusals.items()]
    lines += ["", *_standings(standings), "", *_cross_table(summary, standings)]
    return "\n".join(lines) + "\n"


def _standings(standings: Standings) -> Sequence[str]:
    rows: list[Sequence[str]] = [
        ("player", "games", "wins", "draws", "losses", "unknown", "forfeits", "points", "Elo", "CPU s")
    ]
    for player in standings.table():
        score = player.score
        numbers = (score.games, score.wins, score.draws, score.losses, score.unknown, player.forfeits)
        cpu = "-" if player.mean_cpu is None else f"{player.mean_cpu:.2f}"
        rows.append((player.name, *map(str, numbers), f"{player.points:g}", f"{player.elo:.0f}", cpu))
    return _aligned(rows)


def _cross_table(summary: Summary, standings: Standings) -> Sequence[str]:
    """Wins-losses of the player in the row against the one in the column, draws as a third number."""
    rows: list[Sequence[str]] = [("", *(summary.letters.get(name, name) for name in standings.order))]
    for name in standings.order:
        cells = []
        for opponent in standings.order:
            score = standings.against(name, opponent)
            draws = f"-{score.draws}" if score.draws else ""
            cells.append("" if name == opponent else f"{score.wins}-{score.losses}{draws}")
        rows.append((f"{summary.letters.get(name, '')} {name}".strip(), *cells))
    return _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
