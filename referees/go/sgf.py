"""Games of Go as SGF, FF[4] (https://www.red-bean.com/sgf/), through sgfmill."""

from functools import cache
from importlib.metadata import version

from sgfmill.sgf import Sgf_game

from referees.api import GameRecord, PlayedMove
from referees.go.board import BLACK, PASS, WHITE
from referees.go.score import LETTERS
from referees.go.settings import GoSettings


def write(game: GameRecord, settings: GoSettings, first: bytes) -> str:
    """The record's text; `first` are the stones of the first position.

    The root's comment holds the remarks, a move's comment what its player said and expected, and the
    last node's comment the final remarks. A void game has RE[Void].
    """
    size = settings.board_size
    tree = Sgf_game(size=size)
    root = tree.get_root()
    root.set("AP", ("academy-arena", _version()))
    root.set("KM", settings.komi)
    for identifier, value in (
        ("GN", game.game_name),
        ("EV", game.event),
        ("DT", game.date),
        ("PB", game.players[BLACK - 1]),
        ("PW", game.players[WHITE - 1]),
        ("RE", game.outcome.summary if game.outcome is not None else "Void"),
    ):
        root.set(identifier, _encodable(value))
    if settings.handicap is not None:
        stones = [point for point, stone in enumerate(first) if stone]
        root.set("HA", len(stones))
        root.set_setup_stones([_cell(point, size) for point in stones], [])
    if game.remarks:
        root.set("C", _encodable("\n".join(game.remarks)))
    node = root
    for played in game.moves:
        # Not extend_main_sequence, which walks from the root to the end for each move.
        node = node.new_child()
        node.set_move(LETTERS[played.seat].lower(), None if played.move == PASS else _cell(played.move, size))
        if comment := _comment(played):
            node.set("C", _encodable(comment))
    if game.final_remarks:
        node.add_comment_text(_encodable("\n".join(game.final_remarks)))
    return bytes(tree.serialise()).decode()


@cache
def _version() -> str:
    # Read from a file each time it is asked for.
    return version("academy-arena")


def _comment(played: PlayedMove) -> str:
    values = ", ".join(f"{LETTERS[seat]} {value:.3f}" for seat, value in sorted(played.values.items()))
    return "\n".join(filter(None, (played.comment, f"expected: {values}" if values else "")))


def _cell(point: int, size: int) -> tuple[int, int]:
    row, column = divmod(point, size)
    return size - 1 - row, column


def _encodable(text: str) -> str:
    # Names of files and the talk of engines can hold half characters, which UTF-8 does not.
    return text.encode("utf-8", "replace").decode()
