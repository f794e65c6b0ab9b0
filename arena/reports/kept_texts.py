"""What the players of a game received, answered and wrote to standard error, as far as it was kept."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.match.recorder import labels
from referees.legible_text import legible

# Characters of each text: a page with all of them is to open in a browser.
MOST_TEXT: Final = 4 << 20
_PROTOCOL_LINE: Final = re.compile(r"(>> |<< )(\S+?): (.*)", re.DOTALL)


@dataclass(frozen=True)
class KeptTexts:
    """What was kept of a player in a game.

    `seat` counts from 1; `label` is what files call the player. `protocol` is what it received (`>>`) and
    answered (`<<`), `errors` what it wrote to standard error; each is None where nothing was kept.
    """

    seat: int
    label: str
    protocol: str | None
    errors: str | None


def read_texts(
    protocols: Path, log: Path, game_id: str, players: Sequence[str], most: int = MOST_TEXT
) -> list[KeptTexts]:
    """What was kept of each player, by seat, at most `most` characters of each text.

    `protocols` is the folder of transcripts, `log` the competition's log. Raises OSError.
    """
    lines_of = _by_player(protocols / f"{game_id}.log", _PROTOCOL_LINE, most)
    of_game = re.compile(rf"(){re.escape(game_id)} (\S+?): (.*)", re.DOTALL)
    errors_of = _by_player(log, of_game, most, f"{game_id} ")
    return [
        KeptTexts(
            seat,
            label,
            None if lines_of is None else lines_of.get(label, ""),
            None if errors_of is None else errors_of.get(label, ""),
        )
        for seat, label in enumerate(labels(players), start=1)
    ]


def _by_player(file: Path, of_game: re.Pattern[str], most: int, beginning: str = "") -> dict[str, str] | None:
    """The lines of each player; None where there is no such file.

    `of_game` matches them, with a beginning that is kept, the player, and what follows. Lines without
    `beginning` are passed over quickly: a log has those of all games.
    """
    if not file.exists():
        return None
    lines_of: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            if not line.startswith(beginning) or not (match := of_game.fullmatch(line)):
                continue
            # Files of earlier releases have it as it was written.
            player, text = match[2], legible(match[1] + match[3])
            size = sizes[player] = sizes.get(player, 0) + len(text)
            if size <= most:
                lines_of.setdefault(player, []).append(text)
            elif size - len(text) <= most:
                lines_of.setdefault(player, []).append(f"(cut here; all of it is in {file.name})\n")
    return {player: "".join(texts) for player, texts in lines_of.items()}
