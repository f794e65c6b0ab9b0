"""A report as plain text, with tables of aligned columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from arena.control.plans import GameSettings
from arena.output import count_text
from arena.reports.contents import CompetitionReport, faults_line
from arena.reports.tally import MatchupTally, PlayerTally, SeatTally
from referees.legible_text import indented, legible


@dataclass(frozen=True)
class TextColumn:
    """A column: its cells, aligned to the `right` or left, and the blanks that follow it.

    A `heading` stands over this column and the next `span` - 1; an empty one over none.
    """

    cells: Sequence[str]
    heading: str = ""
    right: bool = False
    padding: int = 1
    span: int = 1


def render_columns(columns: Sequence[TextColumn]) -> list[str]:
    """The lines of a table: its headings, then its rows; without blanks at their ends."""
    widths = [max(map(len, column.cells), default=0) for column in columns]
    place = 0
    while place < len(columns):
        covered = range(place, place + columns[place].span)
        wide = sum(widths[i] for i in covered) + sum(columns[i].padding for i in covered[:-1])
        widths[covered[-1]] += max(0, len(columns[place].heading) - wide)
        place = covered.stop
    heading = ""
    at = 0
    for column, width in zip(columns, widths, strict=True):
        if column.heading:
            text = column.heading.rjust(width) if column.right and column.span == 1 else column.heading
            heading = heading.ljust(at) + text
        at += width + column.padding
    rows = []
    for number in range(max(len(column.cells) for column in columns)):
        row = ""
        for column, width in zip(columns, widths, strict=True):
            cell = column.cells[number] if number < len(column.cells) else ""
            row += (cell.rjust(width) if column.right else cell.ljust(width)) + " " * column.padding
        rows.append(row.rstrip())
    return [heading.rstrip(), *rows]


def align_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """A plain table whose first row is its headings: the first column to the left, others to the right."""
    columns = list(zip(*rows, strict=True))
    return render_columns(
        [
            TextColumn(cells, heading, right=place > 0, padding=2)
            for place, (heading, *cells) in enumerate(columns)
        ]
    )


MISSING: Final = "?? (missing from control file)"
# The ringmaster shows those of Go's settings that players see.
_SHOWN: Final[Mapping[str, Sequence[str]]] = {"go": ("board_size", "handicap", "komi")}


def matchup_lines(matchup: MatchupTally, seats: Sequence[str]) -> list[str]:
    """The block's lines; `seats` are what the game's seats are called."""
    lines = [f"{matchup.title} ({count_text(matchup.total, matchup.wanted)} games)"]
    if matchup.unknown:
        lines.append(f"unknown results: {matchup.unknown} {percent(matchup.unknown, matchup.total)}")
    settings = MISSING if matchup.game is None else settings_line(matchup.game)
    if settings:
        lines.append(settings)
    return [*lines, *_table(matchup, [seat.lower() for seat in seats])]


def settings_line(game: GameSettings) -> str:
    """A game's settings: `board size: 9   handicap: 2 (fixed)   komi: 6.5`."""
    settings: Mapping[str, Any] = game.settings
    if game.name in _SHOWN:
        settings = {name: settings[name] for name in _SHOWN[game.name] if name in settings}
    parts = []
    for name, value in settings.items():
        if value is None or (name == "handicap" and not value):
            continue
        style = game.settings.get(f"{name}_style", "fixed") if name == "handicap" else ""
        parts.append(f"{name.replace('_', ' ')}: {value}" + (f" ({style})" if style else ""))
    return "   ".join(parts)


def percent(part: float, whole: float) -> str:
    """A share in per cent; `--` of nothing in nothing, `??` of something in nothing."""
    if whole:
        return f"{100.0 * part / whole:.2f}%"
    return "??" if part else "--"


def _table(matchup: MatchupTally, seats: Sequence[str]) -> list[str]:
    players = list(matchup.tallies.values())
    of_two = len(seats) == 2 and len(players) == 2
    columns = [
        TextColumn([player.name for player in players], padding=3),
        TextColumn([f"{player.wins:g}" for player in players], "wins".rjust(4), right=True),
    ]
    # Nobody plays all games where there are more players than seats.
    some_each = len(players) > len(seats)
    shares = [percent(player.wins, player.games if some_each else matchup.total) for player in players]
    if of_two and matchup.alternated:
        columns.append(TextColumn(shares, right=True, padding=7))
        for place, seat in enumerate(seats, start=1):
            columns += _seat_columns(matchup, players, place, seat, last=place == len(seats))
    elif of_two and matchup.total:
        columns.append(TextColumn(shares, right=True, padding=3))
        columns.append(TextColumn([f"({seats[min(player.seats) - 1]})" for player in players]))
    else:
        columns.append(TextColumn(shares, right=True, padding=3))
    if any(player.forfeits for player in players):
        columns.append(TextColumn([str(player.forfeits) for player in players], "forfeits", right=True))
    if any(player.mean_cpu is not None for player in players):
        columns.append(TextColumn([_cpu(player.mean_cpu) for player in players], "avg cpu", right=True))
    return render_columns(columns)


def _seat_columns(
    matchup: MatchupTally, players: Sequence[PlayerTally], place: int, seat: str, last: bool
) -> list[TextColumn]:
    mine = [player.seats.get(place, SeatTally()) for player in players]
    won = matchup.seat_wins(place)
    numbers = [*(f"{tally.wins:g}" for tally in mine), f"{won:g}"]
    shares = [*(percent(tally.wins, tally.games) for tally in mine), percent(won, matchup.total)]
    return [TextColumn(numbers, seat, span=2), TextColumn(shares, right=True, padding=3 if last else 5)]


def _cpu(seconds: float | None) -> str:
    return "   ----" if seconds is None else f"{seconds:7.2f}"


# Blocks of more matchups are left out of text: the cross-table has them all.
MOST_MATCHUPS: Final = 200
_MOST_REASONS: Final = 5
_RINGMASTERS_WORD: Final = {"all-play-all": "allplayall"}


def text_report(report: CompetitionReport) -> str:
    """The whole report."""
    tuned = report.of_tuner
    sections = [
        [f"{_RINGMASTERS_WORD.get(report.kind, report.kind)}: {report.name}", *_lines(report.description)],
        _warning(report),
        _progress(report),
        _grid(report),
        [*report.lines, *_candidates_warning(report)],
        *_matchups(report),
        [
            f"player {name}: {indented(facts.description)}"
            for name, facts in sorted(report.players.items())
            if facts.description
        ],
        # A tuner's candidates have a game or two each: its own lines say what came of them.
        [] if tuned else _standings(report),
        [] if tuned else _superiority(report),
        _faults(report),
        _proposals(report),
        _notes(report),
    ]
    return legible("\n\n".join("\n".join(section) for section in sections if section) + "\n")


def _lines(text: str) -> list[str]:
    return [text] if text else []


def _warning(report: CompetitionReport) -> Sequence[str]:
    if not report.warning:
        return []
    return ["warning: the control file does not fit these games, `arena run` refuses it:", report.warning]


def _candidates_warning(report: CompetitionReport) -> Sequence[str]:
    warning = report.candidates.warning if report.candidates else ""
    return [f"warning: {warning}"] if warning else []


def _progress(report: CompetitionReport) -> Sequence[str]:
    if report.kind == "playoff":
        return []
    return [f"{count_text(report.standings.games, report.total)} games played"]


def _grid(report: CompetitionReport) -> Sequence[str]:
    """Wins-losses of the player in the row against the one in the column; unknown results are omitted."""
    if not report.letters:
        return []
    names = list(report.letters)
    longest = max(map(len, names))
    rows = []
    for name in names:
        cells = []
        for opponent in names:
            score = report.standings.against(name, opponent)
            half = score.draws / 2
            cells.append("" if name == opponent else f"{score.wins + half:g}-{score.losses + half:g}")
        rows.append(cells)
    widths = [
        max(len(report.letters[name]), 3, *(len(row[place]) for row in rows))
        for place, name in enumerate(names)
    ]
    label = max(len(letter) for letter in report.letters.values()) + 1 + longest
    heading = " " * label + "".join(
        " " + report.letters[name].center(width) for name, width in zip(names, widths, strict=True)
    )
    return [
        heading.rstrip(),
        *(
            f"{report.letters[name]} {name}".ljust(label)
            + "".join(" " + cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for name, row in zip(names, rows, strict=True)
        ),
    ]


def _matchups(report: CompetitionReport) -> list[list[str]]:
    played = [matchup for matchup in report.matchups if matchup.total]
    if len(played) > MOST_MATCHUPS:
        return [[f"{len(played)} matchups; `--json` and `--html` have them one by one"]]
    return [matchup_lines(matchup, report.seats) for matchup in played]


def _standings(report: CompetitionReport) -> Sequence[str]:
    return [*align_rows(report.standings_table), _legend(report), *_lines(report.star)]


def _legend(report: CompetitionReport) -> str:
    live = "time losses are among the forfeits; Elo: live, after the last game"
    if report.ratings:
        return f"{live}; likeliest: for all games together, ± its 95 % interval."
    return f"{live}; DAIDE: pots won less stakes paid; skill: openskill's Plackett-Luce, ± two deviations."


def _faults(report: CompetitionReport) -> Sequence[str]:
    lines = []
    for player in report.standings.table():
        last = report.players[player.name].last_fault
        if last is not None:
            lines.append(faults_line(player.name, player.faults, last))
    return [*lines, *_lines(report.candidates.summary if report.candidates else "")]


def _superiority(report: CompetitionReport) -> Sequence[str]:
    """The likelihood, in per cent, that the player of the row is better than that of the column."""
    ratings = report.ratings
    if ratings is None or len(ratings.estimates) < 2:
        return []
    names = [name for name in report.ranked if name in ratings.estimates]
    if len(names) > 20:
        return []
    rows: list[Sequence[str]] = [["LOS %", *names[1:]]]
    for place, name in enumerate(names[:-1]):
        cells = [""] * place
        for other in names[place + 1 :]:
            chance = ratings.superiority(name, other)
            cells.append("-" if chance is None else f"{100.0 * chance:.1f}")
        rows.append([name, *cells])
    return align_rows(rows)


def _proposals(report: CompetitionReport) -> Sequence[str]:
    """What ACADEMY made of the players' proposals."""
    lines = []
    for name, tally in report.proposals.items():
        lines.append(f"{name or 'all players'}: {tally.accepted} accepted, {tally.dropped} dropped")
        lines += [
            f"  {count} x {reason}" for reason, count in tally.reasons.most_common(_MOST_REASONS) if reason
        ]
    return ["proposals to ACADEMY, and why they were dropped (N: numbers)", *lines] if lines else []


def _notes(report: CompetitionReport) -> Sequence[str]:
    lines = [*_lines(report.beginnings), *report.notes]
    if report.duration is not None:
        took = timedelta(seconds=round(report.duration.total_seconds))
        span = report.duration.last_finished - report.duration.first_started
        lines.append(f"games took {took} in all, within {timedelta(seconds=round(span.total_seconds()))}")
    return lines
