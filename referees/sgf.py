"""What records in SGF, FF[4] (https://www.red-bean.com/sgf/), have in common in all games.

Seat 1 is SGF's Black, seat 2 its White.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from sgfmill.sgf import Sgf_game
from sgfmill.sgf_grammar import Coarse_game_tree, parse_sgf_collection, simpletext_value

from referees.api import GameRecord, Outcome, PlayedMove, Termination, UnreadableRecord

LETTERS: Final = {1: "B", 2: "W"}
MAX_GAMES: Final = 100_000


def given_to(seat: int, termination: Termination, detail: str) -> Outcome:
    """The outcome of a game that was decided without counting, with the result as SGF writes it (`B+R`)."""
    reason = {Termination.RESIGNATION: "R", Termination.FORFEIT: "F"}.get(termination, "")
    return Outcome((seat,), termination, f"{LETTERS[seat]}+{reason}", detail=detail)


def game_trees(content: bytes) -> list[Coarse_game_tree]:
    """The games of a file, at most MAX_GAMES of them. Raises UnreadableRecord."""
    try:
        return list(parse_sgf_collection(content))[:MAX_GAMES]
    except ValueError as error:
        raise UnreadableRecord(f"no SGF: {error}") from None


def text_of(node: Mapping[str, Sequence[bytes]], identifier: str, default: str = "") -> str:
    """A property's first value as one line of text; bytes that are no UTF-8 are replaced."""
    if identifier not in node:
        return default
    return bytes(simpletext_value(node[identifier][0])).decode("utf-8", "replace")


def begin(game: GameRecord, size: int) -> Sgf_game:
    """A record with its heading: who played what and when, the result, and the remarks as a comment.

    A void game has RE[Void].
    """
    tree = Sgf_game(size=size)
    root = tree.get_root()
    root.set("AP", ("academy-arena", _version()))
    for identifier, value in (
        ("GN", game.game_name),
        ("EV", game.event),
        ("DT", game.date),
        ("PB", game.players[0]),
        ("PW", game.players[1]),
        ("RE", game.outcome.summary if game.outcome is not None else "Void"),
    ):
        root.set(identifier, _encodable(value))
    if game.remarks:
        root.set("C", _encodable("\n".join(game.remarks)))
    return tree


def add_moves(tree: Sgf_game, game: GameRecord, put: Callable[[Any, PlayedMove], None]) -> None:
    """Add a node for each move, which `put` writes into it, and the final remarks to the last node.

    A move's comment holds what its player said and expected.
    """
    node = tree.get_root()
    for played in game.moves:
        # Not extend_main_sequence, which walks from the root to the end for each move.
        node = node.new_child()
        put(node, played)
        if comment := _comment(played):
            node.set("C", _encodable(comment))
    if game.final_remarks:
        node.add_comment_text(_encodable("\n".join(game.final_remarks)))


@cache
def _version() -> str:
    # Read from a file each time it is asked for.
    return version("academy-arena")


def _comment(played: PlayedMove) -> str:
    values = ", ".join(f"{LETTERS[seat]} {value:.3f}" for seat, value in sorted(played.values.items()))
    return "\n".join(filter(None, (played.comment, f"expected: {values}" if values else "")))


def _encodable(text: str) -> str:
    # Names of files and the talk of engines can hold half characters, which UTF-8 does not.
    return text.encode("utf-8", "replace").decode()
