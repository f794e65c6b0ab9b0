"""Pages that play a game again, from its record and what was kept beside it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from arena.match.recorder import labels
from referees.api import Referee, UnknownRefereeError, UnreadableRecordError, referee, referees
from referees.legible_text import legible

MAX_BYTES: Final = 256 << 20
# Characters of each text beside the record; a page is to open in a browser.
_MAX_TEXT: Final = 4 << 20
_GAMES: Final = ".games"
_PROTOCOL: Final = "what it was told (>>) and answered (<<)"
_ERRORS: Final = "standard error"
_PROTOCOL_LINE: Final = re.compile(r"(>> |<< )(\S+?): (.*)", re.DOTALL)


def page_of(record: Path) -> str:
    """The page of a record that names its game, such as WarLight's.

    Where the record lies in a competition's folder, the page also shows what the game's players
    received, answered and wrote on standard error, as far as that was kept. Raises UnreadableRecordError,
    which says what records have pages where this one has none, also where the file can't be read.
    """
    try:
        if record.stat().st_size > MAX_BYTES:
            raise UnreadableRecordError(f"{record}: larger than {MAX_BYTES:,} bytes")
        content = record.read_bytes()
    except OSError as error:
        raise UnreadableRecordError(f"{record} can't be read: {error.strerror}") from error
    try:
        contents = json.loads(content)
    except (ValueError, RecursionError):
        raise UnreadableRecordError(f"{record}: no JSON; {_who_has_pages()}") from None
    game = contents.get("game") if isinstance(contents, dict) else None
    if not isinstance(game, str):
        raise UnreadableRecordError(
            f'{record}: it has no "game" that says what was played; {_who_has_pages()}'
        )
    try:
        played = referee(game)
    except UnknownRefereeError:
        # OpenSpiel's records have the game's own name there.
        played = None
    if played is None or not has_page(played):
        raise UnreadableRecordError(f"{record}: games of {game[:100]!r} have no page; {_who_has_pages()}")
    try:
        return played.replay_page(content, _said(record, _players(contents)))
    except UnreadableRecordError as error:
        raise UnreadableRecordError(f"{record}: {error}") from None


def has_page(played: type[Referee[Any, Any]]) -> bool:
    """Whether records of a game can be made a page of."""
    # Looked up as its base has it, so that the two are the same.
    return played.replay_page.__func__ is not Referee.replay_page.__func__  # type: ignore[attr-defined]


def _who_has_pages() -> str:
    names = [name for name, played in sorted(referees().items()) if has_page(played)]
    return f"records (.json) of these games have one: {', '.join(names)}"


def _players(record: dict[str, Any]) -> list[str]:
    """What the players are called beside the record, as far as the record names them."""
    players = record.get("players")
    if not isinstance(players, list) or not all(isinstance(player, str) for player in players):
        return []
    return labels(players)


def _said(record: Path, players: Sequence[str]) -> dict[str, str]:
    """What each player received, answered and wrote on standard error, by title; or why it is not there."""
    folder = record.parent
    if folder.suffix != _GAMES:
        alone = f"Not kept: the record does not lie in the folder of a competition's games, NAME{_GAMES}."
        return dict.fromkeys((_PROTOCOL, _ERRORS), alone)
    protocol = _by_player(folder.with_suffix(".protocol") / f"{record.stem}.log", _PROTOCOL_LINE)
    errors = _by_player(
        folder.with_suffix(".log"), re.compile(rf"(){re.escape(record.stem)} (\S+?): (.*)", re.DOTALL)
    )
    no_errors = f"Not kept: there is no {folder.with_suffix('.log').name}."
    kept = (
        (
            _PROTOCOL,
            protocol,
            "Not kept: arena run --log-protocol keeps it.",
            "It received nothing in lines of text.",
        ),
        (_ERRORS, errors, no_errors, "Nothing, or it was discarded."),
    )
    return {
        f"{player}: {title}": without_file if lines is None else lines.get(player, nothing)
        for player in dict.fromkeys([*players, *(protocol or ()), *(errors or ())])
        for title, lines, without_file, nothing in kept
    }


def _by_player(file: Path, of_game: re.Pattern[str]) -> dict[str, str] | None:
    """The lines of each player; None where there is no such file.

    `of_game` matches them, with a beginning that is kept, the player, and what follows.
    """
    if not file.exists():
        return None
    lines_of: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            if not (match := of_game.fullmatch(line)):
                continue
            # Files of earlier releases have it as it was written.
            player, text = match[2], legible(match[1] + match[3])
            size = sizes[player] = sizes.get(player, 0) + len(text)
            if size <= _MAX_TEXT:
                lines_of.setdefault(player, []).append(text)
            elif size - len(text) <= _MAX_TEXT:
                lines_of.setdefault(player, []).append(
                    f"(cut after {_MAX_TEXT >> 20} MiB; all of it is in {file.name})\n"
                )
    return {player: "".join(texts) for player, texts in lines_of.items()}
