"""A matchup's block in a text report, in the layout of Gomill's ringmaster.

Counts and percentages are of all games of the matchup, those of unknown result included. A draw counts
half a win for each player wherever it is counted.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena.control.plans import GameSettings
from arena.output import count_text
from arena.reports.tally import MatchupTally, PlayerTally, SeatTally
from arena.reports.text_table import TextColumn, rendered

MISSING: Final = "?? (missing from control file)"
# Of Go's settings the ringmaster shows those that players see.
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
    shares = [percent(player.wins, matchup.total) for player in players]
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
    return rendered(columns)


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
