"""OpenSpiel's own Monte Carlo tree search as a GTP engine, for every game that the library's referee plays.

    academy-openspiel-bot --simulations 1000

The command `game` says what is played (`game breakthrough(rows=6,columns=6)`); moves are the library's
action strings. What a move may cost is its strength: `--simulations`, or `--seconds`.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, Final

from clients.bots.gtp import GtpError, GtpProgram
from referees.api import InvalidSettingError, UnreadableMoveError
from referees.openspiel import OpenSpiel, SpielPosition

_MANY: Final = 1_000_000_000
_SEATS: Final = {"b": 1, "black": 1, "w": 2, "white": 2}


@dataclass(frozen=True)
class Search:
    """How a move is searched.

    `simulations` is how often the tree is walked, at most; `seconds` ends the search earlier where it is
    not None. Each new leaf is valued by `rollouts` random games. `exploration` is the constant c of UCT,
    `memory` what the tree may take, in megabytes.
    """

    simulations: int = 1000
    seconds: float | None = None
    rollouts: int = 1
    exploration: float = 2.0
    memory: int = 500


class MonteCarloEngine(GtpProgram):
    """The GTP commands; the rules are the referee's, the search is OpenSpiel's `MCTSBot`."""

    def __init__(self, search: Search, chance: random.Random, game: str = "tic_tac_toe") -> None:
        """Begin a game, which the command `game` can change. Raises InvalidSettingError."""
        super().__init__()
        strength = f"{search.simulations}" if search.seconds is None else f"{search.seconds:g}s"
        self.name = f"openspiel-mcts-{strength}"
        self._search = search
        self._chance = chance
        self._begin(OpenSpiel.from_settings({"game": game}))

    def _begin(self, referee: OpenSpiel) -> None:
        import pyspiel

        self._referee = referee
        self._positions: list[SpielPosition] = [referee.start(0)]
        self._expected_value: float | None = None
        search = self._search
        self._bot: Any = pyspiel.MCTSBot(
            referee.game,
            pyspiel.RandomRolloutEvaluator(search.rollouts, self._chance.getrandbits(31)),
            search.exploration,
            search.simulations,
            search.memory,
            True,  # proven wins and losses are known as such
            self._chance.getrandbits(31),
            False,
            max_wall_clock_time=-1.0 if search.seconds is None else search.seconds,
        )

    def gtp_game(self, arguments: Sequence[str]) -> str:
        """Change the game, or say which one it is."""
        if arguments:
            try:
                self._begin(OpenSpiel.from_settings({"game": " ".join(arguments)}))
            except InvalidSettingError as error:
                raise GtpError(str(error)) from None
        return str(self._referee.game)

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        """Begin a new game."""
        self._begin(self._referee)
        return ""

    def gtp_play(self, arguments: Sequence[str]) -> str:
        """Take in a move of either seat."""
        position, seat = self._positions[-1], self._seat(arguments)
        if seat not in self._referee.to_move(position):
            raise GtpError("illegal move")
        try:
            move = self._referee.read_move(position, seat, " ".join(arguments[1:]))
        except UnreadableMoveError:
            raise GtpError("illegal move") from None
        self._positions.append(position.after(move))
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        """Search for a move and make it."""
        position, seat = self._positions[-1], self._seat(arguments)
        if seat not in self._referee.to_move(position):
            raise GtpError("it is not this player's turn")
        root = self._bot.mcts_search(position.state)
        if root.children:
            best = root.best_child()
            move = next(move for move in position.moves if move.action == best.action)
            self._expected_value = self._value(best, seat)
        else:
            # One simulation, or a moment, is too little to see any move.
            move, self._expected_value = self._chance.choice(position.moves), None
        self._positions.append(position.after(move))
        return move.text

    def gtp_undo(self, arguments: Sequence[str]) -> str:
        """Take the last move back."""
        if len(self._positions) == 1:
            raise GtpError("cannot undo")
        self._positions.pop()
        return ""

    def gtp_showboard(self, arguments: Sequence[str]) -> str:
        """The position as OpenSpiel draws it."""
        # An empty line would end the answer.
        return "\n".join(("", *filter(str.strip, str(self._positions[-1].state).splitlines())))

    def gtp_academy__expected_value(self, arguments: Sequence[str]) -> str:
        """What the mover of the last `genmove` can expect."""
        if self._expected_value is None:
            raise GtpError("no move generated yet")
        return f"{self._expected_value:.6f}"

    def _seat(self, arguments: Sequence[str]) -> int:
        seat = _SEATS.get(arguments[0].lower()) if arguments else None
        if seat is None:
            raise GtpError("invalid color or coordinate")
        return seat

    def _value(self, node: Any, seat: int) -> float:
        game = self._referee.game
        # A node's rewards are those of the player who moved into it; a proven node has its outcome.
        reward: float = (
            node.outcome[seat - 1] if node.outcome else node.total_reward / max(1, node.explore_count)
        )
        least: float = game.min_utility()
        greatest: float = game.max_utility()
        return min(1.0, max(0.0, (reward - least) / (greatest - least)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the engine on standard input and output."""
    parser = argparse.ArgumentParser(prog="academy-openspiel-bot", description=__doc__.partition("\n")[0])
    parser.add_argument("--game", default="tic_tac_toe", help="until the command `game` says another")
    parser.add_argument(
        "--simulations", type=int, help="a move (default 1000; with --seconds as many as there is time for)"
    )
    parser.add_argument("--seconds", type=float, help="a move")
    parser.add_argument(
        "--rollouts", type=int, default=Search.rollouts, help="random games for each new leaf"
    )
    parser.add_argument("--exploration", type=float, default=Search.exploration, help="the c of UCT")
    parser.add_argument("--memory", type=int, default=Search.memory, help="of the tree, in megabytes")
    parser.add_argument("--seed", type=int, help="for games that can be repeated")
    options = parser.parse_args(arguments)
    for option in ("simulations", "seconds", "rollouts", "exploration", "memory"):
        value = getattr(options, option)
        if value is not None and not 0 < value <= _MANY:  # false for not-a-number too
            parser.error(f"--{option} {value}: a number above 0 and up to {_MANY} is needed")
    simulations = options.simulations or (Search.simulations if options.seconds is None else _MANY)
    search = Search(simulations, options.seconds, options.rollouts, options.exploration, options.memory)
    try:
        engine = MonteCarloEngine(search, random.Random(options.seed), options.game)
    except InvalidSettingError as error:
        parser.error(f"--game: {error}")
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    engine.run()


if __name__ == "__main__":
    main()
