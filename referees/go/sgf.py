"""Games of Go as SGF, FF[4] (https://www.red-bean.com/sgf/), through sgfmill."""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from itertools import islice
from typing import Final

from sgfmill.sgf import Sgf_game
from sgfmill.sgf_grammar import Coarse_game_tree, parse_sgf_collection

from referees.api import GameRecord, PlayedMove, UnreadableRecord
from referees.go import vertices
from referees.go.board import BLACK, PASS, WHITE
from referees.go.position import GoPosition
from referees.go.score import LETTERS
from referees.go.settings import GoSettings

MAX_GAMES: Final = 100_000


def read(content: bytes, size: int, first: GoPosition) -> list[tuple[str, list[str]]]:
    """Each game's name (GN) and the moves of its main line. Raises UnreadableRecord.

    The games must be on a board of this size and begin with the first position's stones and mover.
    """
    try:
        trees = parse_sgf_collection(content)
    except ValueError as error:
        raise UnreadableRecord(f"no SGF: {error}") from None
    games = []
    for number, tree in enumerate(islice(_parsed(trees), MAX_GAMES), start=1):
        try:
            games.append(_main_line(Sgf_game.from_coarse_game_tree(tree), size, first))
        except (ValueError, KeyError) as error:
            raise UnreadableRecord(f"game {number}: {error or 'a property has no sensible value'}") from None
    return games


def _parsed(trees: Iterator[Coarse_game_tree]) -> Iterator[Coarse_game_tree]:
    try:
        yield from trees
    except ValueError as error:
        raise UnreadableRecord(str(error)) from None


def _main_line(game: Sgf_game, size: int, first: GoPosition) -> tuple[str, list[str]]:
    if game.get_size() != size:
        raise ValueError(f"its board has {game.get_size()} rows, not {size}")
    root, *nodes = game.get_main_sequence()
    black, white, empty = root.get_setup_stones()
    stones = {point for point, stone in enumerate(first.stones) if stone}
    if white or empty or {_point(cell, size) for cell in black} != stones:
        raise ValueError("its first position is another: AB, AW or AE differ")
    mover = first.mover
    moves: list[str] = []
    for node in nodes:
        if node.has_setup_stones():
            raise ValueError(f"after move {len(moves)} stones are placed that nobody played")
        colour, cell = node.get_move()
        if colour is None:
            continue
        if colour != LETTERS[mover].lower():
            raise ValueError(f"move {len(moves) + 1} is not by {LETTERS[mover]}, whose turn it is")
        moves.append(vertices.name(PASS if cell is None else _point(cell, size), size))
        mover = 3 - mover
    return (root.get("GN") if root.has_property("GN") else ""), moves


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


def _point(cell: tuple[int, int], size: int) -> int:
    row, column = cell
    return (size - 1 - row) * size + column


def _cell(point: int, size: int) -> tuple[int, int]:
    row, column = divmod(point, size)
    return size - 1 - row, column


def _encodable(text: str) -> str:
    # Names of files and the talk of engines can hold half characters, which UTF-8 does not.
    return text.encode("utf-8", "replace").decode()
