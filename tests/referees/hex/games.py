"""Games of Hex from lists of moves, and boards as they are drawn."""

from referees.api import PlayedMove
from referees.hex import BLACK, EMPTY, WHITE, Hex, HexPosition
from referees.hex.board import COLOUR

LETTERS = {EMPTY: ".", BLACK: "B", WHITE: "W"}


def played(game: Hex, text: str) -> tuple[HexPosition, list[PlayedMove]]:
    """The position after moves by turns, and the moves."""
    now, moves = game.start(0), []
    for word in text.split():
        move = game.read_move(now, now.mover, word)
        moves.append(PlayedMove(now.mover, move, game.move_text(move)))
        now = game.play(now, {now.mover: move})
    return now, moves


def drawn(game: Hex, position: HexPosition) -> str:
    """The rows from the top, without the slant."""
    columns = game.settings.columns
    letters = "".join(LETTERS[state & COLOUR] for state in position.cells)
    return " ".join(letters[start : start + columns] for start in range(0, len(letters), columns))
