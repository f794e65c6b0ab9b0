"""What records in SGF, FF[4] (https://www.red-bean.com/sgf/), have in common in all games.

Seat 1 is SGF's Black, seat 2 its White.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Final

from sgfmill.sgf import Sgf_game, Tree_node
from sgfmill.sgf_grammar import (
    Coarse_game_tree,
    block_format,
    escape_text,
    parse_sgf_game,
    simpletext_value,
    tokenise,
)

from referees.api import (
    GameRecord,
    Outcome,
    PlayedMove,
    RecordedGame,
    Termination,
    UnreadableRecordError,
)

LETTERS: Final = {1: "B", 2: "W"}
MAX_GAMES: Final = 100_000
_DRAWN: Final = ("0", "DRAW", "JIGO")
# A rating with the `?` of one that is not settled.
_RATING: Final = re.compile(r"\s*(\d{2,4}(?:\.\d+)?)\s*\??\s*")


class SgfResults:
    """The outcomes of games that were not counted, for a referee whose results are those of SGF."""

    def won_by(self, seat: int, termination: Termination, detail: str = "") -> Outcome:
        """`B+R` for a resignation, `B+F` for a forfeit, `B+` for the rest."""
        reason = {Termination.RESIGNATION: "R", Termination.FORFEIT: "F"}.get(termination, "")
        return Outcome((seat,), termination, f"{LETTERS[seat]}+{reason}", detail=detail)

    def drawn(self, termination: Termination, detail: str = "") -> Outcome:
        """`0`, as SGF writes a draw."""
        return Outcome(tuple(LETTERS), termination, "0", detail=detail)


def read_games(content: bytes, read: Callable[[Coarse_game_tree], RecordedGame]) -> list[RecordedGame]:
    """What `read` makes of each game of a file, which may have MAX_GAMES. Raises UnreadableRecordError.

    The text of a ValueError or KeyError of `read` is the game's fault, and so is damage: what cannot be read
    is left out until the next game begins.
    """
    games: list[RecordedGame] = []
    start, (tokens, end) = 0, tokenise(content)
    while tokens:
        if len(games) == MAX_GAMES:
            raise UnreadableRecordError(f"more than {MAX_GAMES} games")
        try:
            games.append(read(parse_sgf_game(content[start:end])))
        except (ValueError, KeyError) as error:
            games.append(RecordedGame("", (), fault=str(error)))
        start, (tokens, end) = end, tokenise(content, end)
    if not games:
        raise UnreadableRecordError("no SGF: there is no game in it")
    return games


def with_heading(
    root: Mapping[str, Sequence[bytes]],
    moves: Sequence[str],
    rank_elo: Callable[[str], float | None] = lambda rank: None,
) -> RecordedGame:
    """A game's moves with what its first node says of the players (PB, PW, BR, WR) and the result (RE).

    `rank_elo` gives the rating of a rank that is not a number.
    """
    players = [_name(root, f"P{letter}") for letter in LETTERS.values()]
    ranks = [read_text(root, f"{letter}R") for letter in LETTERS.values()]
    return RecordedGame(
        read_text(root, "GN"),
        moves,
        players if any(players) else (),
        _winners(read_text(root, "RE")),
        [float(match[1]) if (match := _RATING.fullmatch(rank)) else rank_elo(rank) for rank in ranks],
    )


def _winners(result: str) -> tuple[int, ...]:
    result = result.strip().upper()
    if result in _DRAWN:
        return tuple(LETTERS)
    return tuple(seat for seat, letter in LETTERS.items() if result.startswith(f"{letter}+"))


def read_text(node: Mapping[str, Sequence[bytes]], identifier: str, default: str = "") -> str:
    """Read a property's first value as one line of text; bytes that are no UTF-8 are replaced."""
    if identifier not in node:
        return default
    return bytes(simpletext_value(node[identifier][0])).decode("utf-8", "replace")


def _name(root: Mapping[str, Sequence[bytes]], identifier: str) -> str:
    """A name in the character set that the record names (CA), else in UTF-8, else in SGF's own.

    All else that is read here has letters that are the same in all of them.
    """
    raw = bytes(simpletext_value(root.get(identifier, [b""])[0]))
    for charset in (read_text(root, "CA").strip(), "utf-8"):
        try:
            return raw.decode(charset)
        except (LookupError, ValueError):
            continue
    return raw.decode("latin-1")


def begin(game: GameRecord, size: int) -> Tree_node:
    """A record's heading: who played what and when, the clock, the result, and the remarks as a comment.

    A void game has RE[Void].
    """
    root = Sgf_game(size=size).get_root()
    root.set("AP", ("academy-arena", own_version()))
    for identifier, value in (
        ("GN", game.game_name),
        ("EV", game.event),
        ("DT", game.date),
        ("PB", game.players[0]),
        ("PW", game.players[1]),
        ("RE", game.outcome.summary if game.outcome is not None else "Void"),
    ):
        root.set(identifier, encodable(value))
    if game.main_seconds is not None:
        root.set("TM", game.main_seconds)
    if game.overtime:
        root.set("OT", encodable(game.overtime))
    if game.remarks:
        root.set("C", encodable("\n".join(game.remarks)))
    return root


def write_record(
    heading: dict[str, list[bytes]], game: GameRecord, move: Callable[[PlayedMove], bytes]
) -> str:
    """Write a record: the heading's raw properties, a node for each move, the final remarks.

    `move` gives the raw value of a move's property. What is left on the mover's clock stands in BL or WL, in
    byo-yomi with the moves it is for in OB or OW. The move's comment holds its player's comment and
    expectation; the last node's comment ends with the final remarks.
    """
    nodes = [heading]
    for played in game.moves:
        letter = LETTERS[played.seat]
        node = {letter: [move(played)]}
        if played.clock_seconds is not None:
            node[f"{letter}L"] = [b"%.3f" % played.clock_seconds]
            if played.clock_stones:
                node[f"O{letter}"] = [b"%d" % played.clock_stones]
        if comment := _comment(played):
            node["C"] = [_raw(comment)]
        nodes.append(node)
    if game.final_remarks:
        last = nodes[-1]
        nodes[-1] = last | {"C": [b"\n\n".join((*last.get("C", ()), _raw("\n".join(game.final_remarks))))]}
    # As sgfmill would write a tree of such nodes, which takes longer than a short game.
    pieces = [b"("]
    for node in nodes:
        pieces.append(b";")
        for name, values in node.items() if len(node) == 1 else sorted(node.items(), key=_place):
            pieces.append(b"%b[%b]" % (name.encode(), b"][".join(values)))
    return bytes(block_format([*pieces, b")", b"\n"])).decode()


def _place(named: tuple[str, list[bytes]]) -> tuple[bool, str]:
    """Where a property stands in its node: FF, which says what the file is, before all others."""
    return named[0] != "FF", named[0]


def _raw(text: str) -> bytes:
    return bytes(escape_text(text.encode("utf-8", "replace")))


@cache
def own_version() -> str:
    """The version of this package."""
    # Read from a file each time it is asked for.
    return version("academy-arena")


def _comment(played: PlayedMove) -> str:
    if not played.values:
        return played.comment
    values = ", ".join(f"{LETTERS[seat]} {value:.3f}" for seat, value in sorted(played.values.items()))
    return "\n".join(filter(None, (played.comment, f"expected: {values}")))


def encodable(text: str) -> str:
    """The text as UTF-8 can hold it."""
    # Names of files and the talk of engines can hold half characters, which UTF-8 does not.
    return text.encode("utf-8", "replace").decode()
