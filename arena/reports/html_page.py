"""A report as one short page of HTML that needs nothing else: no files, no network, no scripts."""

from collections.abc import Sequence
from datetime import timedelta
from html import escape
from typing import Final
from urllib.parse import quote

from arena.jobs import Fault
from arena.output import count_text
from arena.reports.contents import CompetitionReport
from arena.reports.descent import descent_drawing
from arena.reports.plots import Bar, rating_plot, tuning_plot
from arena.reports.text import MISSING, settings_line
from arena.results.games import FinishedGame
from referees.legible_text import legible

MOST_MATCHUPS: Final = 2000
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667085; --line: #d5dae3; --page: #fff;
  --mark: #2563c9; --head: #f3f5f9; --good: #1a7f4b1f; --bad: #c0362c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --dim: #98a2b3; --line: #3a4252;
  --page: #171b22; --mark: #7aa7f0; --head: #222833; --good: #3fb97a2b; --bad: #e0685f2b; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; } p { margin: .3rem 0; } .dim { color: var(--dim); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th { background: var(--head); font-weight: 600; }
th:first-child, td:first-child, td.text,
#usage th:last-child, #games-list th, #matchups th { text-align: left; }
a { color: var(--mark); }
td.own { background: var(--head); } td.won { background: var(--good); } td.lost { background: var(--bad); }
svg { max-width: 100%; height: auto; } svg text { font-size: 12.5px; fill: var(--ink); }
svg.ratings, svg.tuning { min-width: 40rem; }
svg .tick { fill: var(--dim); font-size: 11px; } svg .grid { stroke: var(--line); }
svg .error { stroke: var(--mark); stroke-width: 2; }
svg.ratings circle, svg.tuning circle { fill: var(--mark); }
svg .path { fill: none; stroke: var(--mark); stroke-width: 2; }
pre { background: var(--head); padding: .8rem; overflow-x: auto; }
"""


def html_page(report: CompetitionReport, records: str = "") -> str:
    """The whole page. All that players and control files say is escaped, and commands nothing.

    `records` is the folder of the games' records as seen from the page; "" for no links to them.
    """
    title = escape(f"{report.name}: {report.kind}")
    sections = [
        _heading(report),
        "" if report.of_tuner else _standings(report),
        _cross_table(report),
        "" if report.of_tuner else _ratings(report),
        _tuning(report),
        _descent(report),
        _lines(report),
        _matchups(report),
        _games(report, records),
        _usage(report),
        _notes(report),
    ]
    return legible(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(section for section in sections if section)
        + "\n</body></html>\n"
    )


def _table(identity: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; cells are whole elements, see `_cell`."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table id="{escape(identity)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(text: str, kind: str = "") -> str:
    return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def _heading(report: CompetitionReport) -> str:
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in report.settings.items())
    parts = [f"<h1>{escape(report.name)}</h1>"]
    if report.description:
        parts.append(f"<p>{escape(report.description)}</p>")
    parts.append(
        f'<p class="dim">{escape(report.kind)} · {escape(report.game)} '
        f"{escape(f'({settings})' if settings else '')} · "
        f'<span id="games">{count_text(report.standings.games, report.total)} games</span></p>'
    )
    if report.warning:
        warning = f"The control file does not fit these games, arena run refuses it: {report.warning}"
        parts.append(f'<p id="warning"><strong>{escape(warning)}</strong></p>')
    if report.duration is not None:
        took = timedelta(seconds=round(report.duration.total_seconds))
        parts.append(
            f'<p class="dim" id="duration">{report.duration.first_started:%Y-%m-%d %H:%M} to '
            f"{report.duration.last_finished:%Y-%m-%d %H:%M} UTC · games took {took} in all</p>"
        )
    return "".join(parts)


def _ratings(report: CompetitionReport) -> str:
    if report.ratings is not None:
        estimates = report.ratings.estimates
        bars = [Bar(name, estimates[name].elo, estimates[name].error) for name in estimates]
        unit, text = "likeliest Elo", "The likeliest Elo for all games together, with 95 % intervals."
    else:
        played = [facts for facts in report.players.values() if facts.usage]
        bars = [Bar(facts.name, facts.skill.mu, 2 * facts.skill.sigma) for facts in played]
        unit, text = "skill", "openskill's Plackett-Luce, with two deviations to either side."
    if not bars:
        return ""
    bars.sort(key=lambda bar: -bar.value)
    return f'<h2>Ratings</h2><p class="dim">{text}</p>{rating_plot(bars, unit)}'


def _standings(report: CompetitionReport) -> str:
    headings, *rows = report.standings_table
    table = _table("standings", headings, [list(map(_cell, row)) for row in rows])
    began = f'<p class="dim" id="began">{escape(report.beginnings)}</p>' if report.beginnings else ""
    return f'<h2>Standings</h2>{table}<p class="dim">{report.star}</p>{began}'


def _cross_table(report: CompetitionReport) -> str:
    names = list(report.standings.order)
    if len(names) < 2:
        return ""
    rows = []
    for name in names:
        row = [_cell(f"{report.letters.get(name, '')} {name}".strip())]
        for opponent in names:
            score = report.standings.against(name, opponent)
            if name == opponent:
                row.append('<td class="own"></td>')
                continue
            balance = score.wins - score.losses
            kind = "won" if balance > 0 else "lost" if balance < 0 else ""
            draws = f"={score.draws}" if score.draws else ""
            chance = report.ratings.superiority(name, opponent) if report.ratings else None
            title = "" if chance is None else f' title="likelihood of superiority {100 * chance:.1f} %"'
            text = f"{score.wins}-{score.losses}{draws}" if score.games else ""
            row.append(f'<td class="{kind}"{title}>{text}</td>')
        rows.append(row)
    headings = ["", *(report.letters.get(name, name) for name in names)]
    return (
        "<h2>Cross-table</h2>"
        "<p class=\"dim\">Wins-losses of the row's player against the column's, =draws.</p>"
        + _table("cross-table", headings, rows)
    )


def _descent(report: CompetitionReport) -> str:
    if report.descent is None:
        return ""
    return (
        '<h2>Descent</h2><p class="dim">A row is a place in a family, a line a member, from red for points '
        f'lost to green for points won.</p><div class="scroll">{descent_drawing(report.descent)}</div>'
    )


def _tuning(report: CompetitionReport) -> str:
    if report.tuning is None:
        return ""
    tuning = report.tuning
    warning = report.candidates.warning if report.candidates else ""
    warned = f'<p id="candidates-warning"><strong>{escape(warning)}</strong></p>' if warning else ""
    best = [
        (_cell(code), _cell(str(value))) for code, value in zip(tuning.parameters, tuning.best, strict=True)
    ]
    return (
        f'<h2>Best parameters</h2><p id="best">{escape(tuning.best_text)}</p>{warned}'
        + _table("parameters", ["parameter", "best value"], best)
        + '<h2>How they came about</h2><p class="dim">The best value, by games played.</p>'
        + tuning_plot(tuning)
    )


def _lines(report: CompetitionReport) -> str:
    if not report.lines:
        return ""
    return f'<h2>State</h2><pre id="state">{escape(chr(10).join(report.lines))}</pre>'


def _matchups(report: CompetitionReport) -> str:
    """A row for each matchup, where the cross-table does not say the same."""
    played = [matchup for matchup in report.matchups if matchup.total]
    plain = dict(report.settings)
    if all(
        matchup.title == " v ".join(matchup.players)
        and matchup.game is not None
        and dict(matchup.game.settings) == plain
        for matchup in played
    ):
        return ""
    rows = []
    for matchup in played[:MOST_MATCHUPS]:
        wins = ", ".join(f"{tally.name} {tally.wins:g}" for tally in matchup.tallies.values())
        unknown = f", unknown results: {matchup.unknown}" if matchup.unknown else ""
        settings = MISSING if matchup.game is None else settings_line(matchup.game).replace("   ", " · ")
        texts = (f"{wins}{unknown}", settings)
        rows.append(
            [
                _cell(matchup.title),
                _cell(count_text(matchup.total, matchup.wanted)),
                *(_cell(text, "text") for text in texts),
            ]
        )
    more = len(played) - MOST_MATCHUPS
    table = _table("matchups", ["matchup", "games", "wins", "settings"], rows)
    return f"<h2>Matchups</h2>{table}" + (f"<p>{more} more are not shown.</p>" if more > 0 else "")


def _games(report: CompetitionReport, records: str) -> str:
    """The newest games, each with a link to its record."""
    if not report.newest:
        return ""
    rows = [
        _game(game, f"{records}/{game.game_id}.{report.record_extension}" if records else "")
        for game in report.newest
    ]
    total = report.standings.games
    which = "All games" if total == len(rows) else f"The last {len(rows):,} of {total:,} games"
    return (
        f'<h2>Games</h2><p class="dim">{which}, the newest first. '
        "<code>arena replay</code> makes a page of each.</p>"
        + _table("games-list", ["game", "players", "result", "ended by"], rows)
    )


def _game(game: FinishedGame, record: str) -> list[str]:
    name = escape(game.game_id)
    if record:
        name = f'<a href="{escape(quote(record))}">{name}</a>'
    players = ", ".join(
        f"<strong>{escape(player)}</strong>" if seat in game.outcome.winners else escape(player)
        for seat, player in enumerate(game.players, start=1)
    )
    faults = [
        f"{player}: {fault.value}"
        for player, fault in zip(game.players, game.faults, strict=True)
        if fault is not Fault.NONE
    ]
    ended = ", ".join([game.outcome.termination.value, *faults])
    return [
        f"<td>{name}</td>",
        f'<td class="text">{players}</td>',
        *(_cell(text, "text") for text in (game.outcome.summary, ended)),
    ]


def _usage(report: CompetitionReport) -> str:
    rows = []
    for name in report.ranked:
        facts = report.players[name]
        if facts.usage is None:
            continue
        cpu, memory, last = facts.usage.cpu_seconds, facts.usage.peak_memory_bytes, facts.last_fault
        fault = "" if last is None else f"{last.game_id}: {last.fault.value}: {last.remark}"
        rows.append(
            [
                _cell(name),
                _cell("-" if cpu is None else f"{cpu:.3f}"),
                _cell(f"{facts.usage.wall_seconds:.3f}"),
                _cell("-" if memory is None else f"{memory / 1e6:.1f}"),
                *(_cell(text, "text") for text in (fault, facts.description)),
            ]
        )
    if not rows:
        return ""
    headings = ["player", "CPU s a game", "wall s a game", "peak memory MB", "last fault", "calls itself"]
    return f"<h2>What players used</h2>{_table('usage', headings, rows)}"


def _notes(report: CompetitionReport) -> str:
    faults = report.candidates.summary if report.candidates else ""
    notes = [*([faults] if faults else []), *report.notes]
    return "".join(f'<p class="dim">{escape(note)}</p>' for note in notes)
