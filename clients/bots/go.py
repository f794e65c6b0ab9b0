"""A GTP engine for Go that plays at random or by Monte Carlo playouts, with ACADEMY or without.

    academy-go-bot random
    academy-go-bot monte-carlo --playouts 100 --academy

With `--academy` it consults and proposes; the arena tells it where, for which contest and as whom
(ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN, and for TLS ACADEMY_TLS_CA, _CERT and _KEY; or the command
academy-contest for contest after contest).
"""

from collections.abc import Sequence
from dataclasses import replace

from clients.academy import Academy
from clients.bots.board_engine import BoardEngine
from clients.bots.command_line import run_bot
from clients.bots.go_thinking import MonteCarloGoThinker, RandomGoThinker
from clients.bots.thinking import Candidate, Thinker
from referees.go import PASS, Go, GoPosition


class GoEngine(BoardEngine[Go, GoPosition, int]):
    """The GTP commands of the bots."""

    def __init__(
        self, name: str, thinker: Thinker[Go, GoPosition, int], academy: Academy | None, contest_id: str
    ) -> None:
        super().__init__(name, Go, {"board_size": 9, "komi": 7.5}, thinker, academy, contest_id)

    def gtp_boardsize(self, arguments: Sequence[str]) -> str:
        """Change the size; the board is cleared."""
        self._settings.pop("handicap", None)
        self._change(board_size=self._number(arguments, int))
        return ""

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        """Begin a new game without handicap."""
        self._settings.pop("handicap", None)
        return super().gtp_clear_board(arguments)

    def gtp_komi(self, arguments: Sequence[str]) -> str:
        """Change komi; the stones stay."""
        kept = self._position, self._moves, self._before
        self._change(komi=self._number(arguments, float))
        self._position, self._moves, self._before = kept
        return ""

    def gtp_fixed_handicap(self, arguments: Sequence[str]) -> str:
        """Place handicap stones in the usual places."""
        self._change(handicap=self._number(arguments, int))
        stones = enumerate(self._position.stones)
        return " ".join(self._referee.move_text(point) for point, stone in stones if stone)

    def gtp_final_score(self, arguments: Sequence[str]) -> str:
        """The area score, all stones alive."""
        return self._referee.adjudicate(self._position).summary

    def _with_mover(self, seat: int) -> GoPosition:
        """GTP lets a colour move twice in a row, and go on after two passes."""
        position = self._position
        if position.passes >= 2:
            position = replace(position, passes=0)
        return position if position.mover == seat else replace(position, mover=seat)

    def _decide(self, position: GoPosition, seat: int) -> Candidate[int]:
        if self._wins_by_passing(position):
            return Candidate(PASS, 1.0)
        return super()._decide(position, seat)

    def _is_over(self) -> bool:
        """GTP asks for moves after two passes, too."""
        return False

    def _wins_by_passing(self, position: GoPosition) -> bool:
        winners = self._referee.adjudicate(position).winners
        return position.passes == 1 and winners == (position.mover,)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bot on standard input and output."""
    run_bot(
        "academy-go-bot",
        __doc__.partition("\n")[0],
        at_random=RandomGoThinker,
        monte_carlo=MonteCarloGoThinker,
        engine=GoEngine,
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
