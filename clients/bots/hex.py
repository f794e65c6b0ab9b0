"""An engine for Hex in HTP that plays at random or by Monte Carlo playouts, with ACADEMY or without.

    academy-hex-bot random
    academy-hex-bot monte-carlo --playouts 200 --academy

With `--academy` it consults and proposes; the arena tells it where, for which contest and as whom
(ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN, and for TLS ACADEMY_TLS_CA, _CERT and _KEY; or the command
academy-contest for contest after contest).
"""

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import Final

from clients.academy import Academy
from clients.bots.board_engine import BoardEngine
from clients.bots.command_line import run_bot
from clients.bots.gtp import GtpError
from clients.bots.hex_thinking import MonteCarloHexThinker, RandomHexThinker
from clients.bots.thinking import Thinker
from referees.hex import Hex, HexPosition
from referees.hex.board import COLOUR

_LETTERS: Final = ".BW"
_SWITCH: Final = {"0": False, "1": True, "false": False, "true": True}


class HexEngine(BoardEngine[Hex, HexPosition, int]):
    """The HTP commands of the bots, as MoHex has them."""

    def __init__(
        self, name: str, thinker: Thinker[Hex, HexPosition, int], academy: Academy | None, contest_id: str
    ) -> None:
        self._allow_swap = False
        super().__init__(name, Hex, {"board_size": 11}, thinker, academy, contest_id)

    def gtp_boardsize(self, arguments: Sequence[str]) -> str:
        """Change the size, columns first where two numbers are given; the board is cleared."""
        columns = self._number(arguments, int)
        rows = self._number(arguments[1:], int) if len(arguments) > 1 else columns
        self._change(board_size=rows, columns=columns, swap=self._allow_swap and rows == columns)
        return ""

    def gtp_param_game(self, arguments: Sequence[str]) -> str:
        """Tell or change `allow_swap`: whether the second player may swap; the board is cleared then."""
        if not arguments:
            return f"\n[bool] allow_swap {int(self._allow_swap)}"
        name, *value = arguments
        if name != "allow_swap" or len(value) != 1 or value[0].lower() not in _SWITCH:
            raise GtpError(f"{' '.join(arguments)!r}: 'allow_swap 0' or 'allow_swap 1' is needed")
        self._allow_swap = _SWITCH[value[0].lower()]
        settings = self._referee.settings
        self._change(swap=self._allow_swap and settings.square)
        return ""

    def gtp_all_legal_moves(self, arguments: Sequence[str]) -> str:
        """All legal moves of the colour to move."""
        position = self._position
        moves = self._referee.legal_moves(position, position.mover)
        return " ".join(map(self._referee.move_text, moves))

    def gtp_final_score(self, arguments: Sequence[str]) -> str:
        """`B+` or `W+` when edges are linked."""
        outcome = self._referee.outcome(self._position)
        return outcome.summary if outcome else "cannot score"

    def gtp_showboard(self, arguments: Sequence[str]) -> str:
        """The board, each row half a cell further to the right than the one above it."""
        settings = self._referee.settings
        heading = "  ".join(ascii_lowercase[: settings.columns])
        lines = [f"   {heading}"]
        for row in range(settings.rows):
            states = self._position.cells[row * settings.columns : (row + 1) * settings.columns]
            stones = "  ".join(_LETTERS[state & COLOUR] for state in states)
            lines.append(f"{' ' * row}{row + 1:>2}\\{stones}\\{row + 1}")
        lines.append(f"{' ' * settings.rows}   {heading}")
        return "\n" + "\n".join(lines)

    def _with_mover(self, seat: int) -> HexPosition:
        """GTP lets a colour move twice in a row."""
        position = self._position
        return position if position.mover == seat else replace(position, mover=seat)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bot on standard input and output."""
    run_bot(
        "academy-hex-bot",
        __doc__.partition("\n")[0],
        at_random=RandomHexThinker,
        monte_carlo=MonteCarloHexThinker,
        engine=HexEngine,
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
