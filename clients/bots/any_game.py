"""A GTP engine for every game that has a referee, with ACADEMY or without.

    academy-bot go --set board_size=9 --set komi=7.5 --playouts 200 --academy
    academy-bot draughts --set variant=english --depth 6
    academy-bot openspiel --set 'game=breakthrough(rows=6,columns=6)' --seconds 0.5

The game and its settings are those of the control file. With `--academy` it consults and proposes; the arena
tells it where, for which contest and as whom (ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN, or for contest
after contest the command academy-contest).
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from clients.academy import Academy
from clients.bots.board_engine import BoardEngine
from clients.bots.command_line import academy_of, accept_contests, add_options, contest, run
from clients.bots.craft import UnsuitableGameError
from clients.bots.gtp import GtpError
from clients.bots.strength import Strength
from clients.bots.thinking import Thinker
from referees.api import Referee, UnknownRefereeError, referee
from referees.dialogues import GtpGame
from referees.toml_text import InvalidTomlError, read_toml


class AnyGameEngine(BoardEngine[Referee[Any, Any], Any, Any]):
    """Plays the one game it was started for; of what sets a game up it accepts what fits that one."""

    def __init__(
        self,
        name: str,
        game: type[Referee[Any, Any]],
        settings: Mapping[str, object],
        thinker: Thinker[Any, Any, Any],
        academy: Academy | None = None,
        contest_id: str = "",
    ) -> None:
        """Raises InvalidSettingError, and UnsuitableGameError for a game not played over GTP or with a
        handicap.
        """
        super().__init__(name, game, dict(settings), thinker, academy, contest_id)
        words = cast("GtpGame[Any, Any] | None", self._referee.dialogue("gtp"))
        if words is None:
            raise UnsuitableGameError(f"{game.name}: this game is not played over GTP")
        if words.handicap() is not None or self._referee.arranger() is not None:
            raise UnsuitableGameError(f"{game.name}: this engine plays no handicap games")
        self._setup = [line.split() for line in words.setup()]
        for word in {line[0] for line in self._setup} - set(self._commands):
            self._commands[word] = partial(self._agree, word)

    def _agree(self, word: str, arguments: Sequence[str]) -> str:
        """Begin anew, where what is to be set up is what this engine plays."""
        ours = [line[1:] for line in self._setup if line[0] == word]
        if not any(_same(arguments, each) for each in ours):
            wanted = " or ".join(f"'{word} {' '.join(each)}'" for each in ours)
            raise GtpError(f"this engine was started for a game of {wanted}")
        self._finish()
        self._begin()
        return ""


def _same(said: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(said) == len(wanted) and all(map(_equal, said, wanted))


def _equal(said: str, wanted: str) -> bool:
    try:
        return float(said) == float(wanted)
    except ValueError:
        return said == wanted


def read_settings(texts: Sequence[str]) -> dict[str, object]:
    """Read game settings from `name=value`, values as in control files. Raises ValueError."""
    settings: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"{text!r}: name=value is needed, such as board_size=9")
        try:
            settings[name.strip()] = read_toml(f"value = {value}")["value"]
        except InvalidTomlError:
            # A word need not stand in quotes here.
            settings[name.strip()] = value.strip()
    return settings


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the engine on standard input and output."""
    parser = argparse.ArgumentParser(prog="academy-bot", description=__doc__.partition("\n")[0])
    parser.add_argument("game", help="its name in control files: go, hex, draughts, openspiel, ...")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the game; repeat it"
    )
    parser.add_argument("--search", choices=("auto", "alpha-beta", "monte-carlo", "random"), default="auto")
    parser.add_argument(
        "--playouts", type=int, default=Strength().playouts, help="random games a move (monte-carlo)"
    )
    parser.add_argument("--depth", type=int, default=Strength().depth, help="plies ahead (alpha-beta)")
    parser.add_argument("--seconds", type=float, help="a move, instead of playouts and depth")
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        settings = read_settings(options.set)
        game = referee(options.game)
        strength = Strength(options.search, options.playouts, options.depth, options.seconds)
        thinker = strength.thinker(game.from_settings(settings), random.Random(options.seed))
        academy = academy_of(options, parser)
        engine = AnyGameEngine(f"{options.game}-bot", game, settings, thinker, academy, contest())
        accept_contests(engine, options)
    except (ValueError, UnknownRefereeError) as error:
        parser.error(str(error.args[0]))
    run(engine)


if __name__ == "__main__":
    main()
