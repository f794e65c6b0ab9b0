"""The standings of a competition, as a table on the terminal."""

import io
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from arena.results.standings import PlayerStanding, Standings
from referees.legible_text import legible

# The text goes to pipes and logs, too, where no line is too long.
_WIDTH: Final = 1_000
_GAP: Final = 2
_FIGURES: Final = (
    "games",
    "wins",
    "draws",
    "losses",
    "unknown",
    "time losses",
    "faults",
    "points",
    "Elo",
    "CPU s",
)


@dataclass(frozen=True)
class StandingsTable:
    """A table that is cut off at the right where even its least width is too much: no figure is shortened."""

    table: Table
    least_width: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from console.render(self.table, options.update_width(max(options.max_width, self.least_width)))


def standings_table(standings: Standings, most: int | None = None) -> StandingsTable:
    """The standings as a table, the best player first, with at most `most` players.

    `time losses` are games lost on time, `faults` games in which the player did something wrong, and `Elo`
    is live. Where there is little room names are shortened, and that heading takes two lines.
    """
    players = standings.table()[:most]
    rows = [_figures(player) for player in players]
    table = Table(box=None, header_style="bold", pad_edge=False)
    least_width = len("player")
    table.add_column("player", min_width=least_width)
    for heading, *figures in zip(_FIGURES, *rows, strict=True):
        may_wrap = heading == "time losses"
        width = max(map(len, (*(heading.split() if may_wrap else [heading]), *figures)))
        table.add_column(heading, justify="right", no_wrap=not may_wrap, min_width=width)
        least_width += _GAP + width
    for player, line in zip(players, rows, strict=True):
        table.add_row(Text(legible(player.name), overflow="ellipsis", no_wrap=True), *line)
    return StandingsTable(table, least_width)


def _figures(player: PlayerStanding) -> list[str]:
    score = player.score
    return [
        *map(str, (score.games, score.wins, score.draws, score.losses, score.unknown)),
        str(player.time_losses),
        str(player.fault_games),
        f"{player.points:g}",
        f"{player.elo:.0f}",
        "-" if player.mean_cpu is None else f"{player.mean_cpu:.2f}",
    ]


def standings_text(standings: Standings) -> str:
    """The same without colours."""
    text = io.StringIO()
    Console(file=text, width=_WIDTH, color_system=None).print(standings_table(standings))
    return text.getvalue()
