"""The standings of a competition, as a table on the terminal."""

import io
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.results.standings import Standings
from referees.legible_text import legible

_WIDTH: Final = 110


def standings_table(standings: Standings, most: int | None = None) -> Table:
    """The standings as a table, the best player first, with at most `most` players.

    `time losses` are games lost on time, `faults` games in which the player did something wrong, and `Elo`
    is live.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("player", no_wrap=True)
    for heading in (
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
    ):
        table.add_column(heading, justify="right")
    for player in standings.table()[:most]:
        score = player.score
        cpu = "-" if player.mean_cpu is None else f"{player.mean_cpu:.2f}"
        table.add_row(
            Text(legible(player.name)),
            *map(str, (score.games, score.wins, score.draws, score.losses, score.unknown)),
            str(player.time_losses),
            str(player.faults.total()),
            f"{player.points:g}",
            f"{player.elo:.0f}",
            cpu,
        )
    return table


def standings_text(standings: Standings) -> str:
    """The same without colours."""
    text = io.StringIO()
    Console(file=text, width=_WIDTH, color_system=None).print(standings_table(standings))
    return text.getvalue()
