"""A GTP engine for every game that is played in turns over GTP, with ACADEMY or without.

    academy-bot go --set board_size=9 --set komi=7.5 --playouts 200 --academy
    academy-bot draughts --set variant=english --depth 6
    academy-bot openspiel --set 'game=breakthrough(rows=6,columns=6)' --seconds 0.5

The game and its settings are those of the control file. With `--academy` it consults and proposes; the arena
gives the address, the contest and the token (ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN and for TLS
ACADEMY_TLS_CA, _CERT and _KEY; or for contest after contest the command academy-contest).
"""

import argparse
import gc
import os
import random
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from typing import Any, Final, cast

from academy.wire.addresses import ServerAddress
from academy.wire.standard_streams import open_closed
from clients.academy import Academy
from clients.bots.advised_player import AdvisedPlayer
from clients.bots.gtp import ContestAccess, GtpError, GtpProgram
from clients.bots.search_game import UnsuitableGameError
from clients.bots.strength import WEIGHTS, Method, Strength
from clients.bots.thinking import Thinker
from clients.command_line import ending_with_its_output, program_parser
from clients.connection import Connection
from clients.seat import Seat
from referees.api import (
    IllegalMoveError,
    MissingSettingError,
    Referee,
    UnknownRefereeError,
    UnreadableMoveError,
    referee,
)
from referees.dialogues import GtpGame
from referees.toml_text import InvalidTomlError, read_toml

_COLOURS: Final = {"black": "b", "white": "w"}


class AnyGameEngine(GtpProgram):
    """Plays the one game it was started for; it accepts the commands that set this game up, and no others.

    All rules are the referee's.
    """

    def __init__(
        self,
        name: str,
        rules: Referee[Any, Any],
        thinker: Thinker[Any, Any, Any],
        academy: Academy | None = None,
        contest_id: str = "",
        saves_time: bool = False,
    ) -> None:
        """Raises UnsuitableGameError for a game not played over GTP or with a handicap."""
        super().__init__()
        self.name = name
        self._referee = rules
        self._thinker = thinker
        self._academy = academy
        self._contest_id = contest_id
        self._saves_time = saves_time
        words = cast("GtpGame[Any, Any] | None", rules.dialogue("gtp"))
        if words is None:
            raise UnsuitableGameError(
                f"{rules.name}: this game is not played over GTP; programs can play it once its referee has "
                'dialogue("gtp") (docs/reference/referee.md)'
            )
        if words.handicap() is not None or rules.arranger() is not None:
            raise UnsuitableGameError(f"{rules.name}: this engine plays no handicap games")
        self._seats = {words.colour(seat): seat for seat in range(1, rules.seats + 1)}
        self._setup = [line.split() for line in words.setup()]
        for word in {line[0] for line in self._setup} - set(self._commands):
            self._commands[word] = partial(self._set_up, word)
        self._begin()

    def _set_up(self, word: str, arguments: Sequence[str]) -> str:
        """Begin a new game if the command sets up the game of this engine."""
        ours = [line[1:] for line in self._setup if line[0] == word]
        if not any(_equal(arguments, wanted) for wanted in ours):
            expected = " or ".join(f"'{word} {' '.join(wanted)}'" for wanted in ours)
            raise GtpError(f"this engine was started for a game of {expected}")
        return self.gtp_clear_board(())

    def accept_contests(self, join: Callable[[ContestAccess], Academy]) -> None:
        """Have the command `academy-contest`, with which the arena announces contest after contest.

        `join` connects to ACADEMY as the arena says. It may raise OSError and ValueError.
        """
        self._join = join
        self._commands["academy-contest"] = self._change_contest

    def _change_contest(self, arguments: Sequence[str]) -> str:
        """Propose what the contest before taught; then belong to the one that the arguments name, if any."""
        access = ContestAccess.read(arguments) if arguments else None
        self._finish()
        self._players.clear()
        if self._academy is not None:
            self._academy.close()
        self._academy, self._contest_id = None, ""
        if access is not None:
            try:
                self._academy, self._contest_id = self._join(access), access.contest_id
            except (OSError, ValueError) as error:
                raise GtpError(f"ACADEMY cannot be reached at the given address: {error}") from None
        return ""

    def _begin(self) -> None:
        """Set the first position; both colours have new players."""
        self._position = self._referee.start(0)
        self._moves: list[str] = []
        # The position before each move, and the seat that made it.
        self._before: list[tuple[Any, int]] = []
        self._players: dict[int, AdvisedPlayer[Any, Any]] = {}
        self._expected_values: tuple[float, ...] = ()

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        """Begin a new game."""
        self._finish()
        self._begin()
        return ""

    def gtp_play(self, arguments: Sequence[str]) -> str:
        """Take in a move of either colour."""
        seat = self._seat_to_move(arguments)
        try:
            self._make(seat, self._referee.read_move(self._position, seat, " ".join(arguments[1:])))
        except UnreadableMoveError:
            raise GtpError("invalid color or coordinate") from None
        except IllegalMoveError:
            raise GtpError("illegal move") from None
        return ""

    def gtp_undo(self, arguments: Sequence[str]) -> str:
        """Take back the last move."""
        if not self._moves:
            raise GtpError("cannot undo")
        self._position, _ = self._before.pop()
        self._moves.pop()
        for player in self._players.values():
            player.forget(len(self._moves))
        self._expected_values = ()
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        """Choose a move and make it."""
        if not self._referee.to_move(self._position):
            return "resign"
        seat = self._seat_to_move(arguments)
        player = self._player(seat)
        own_moves = [mover for _, mover in self._before].count(seat)
        chosen = player.choose(self._position, self._moves, own_moves)
        before = player.value_before
        self._expected_values = (chosen.value,) if before is None else (before, chosen.value)
        self._make(seat, chosen.move)
        return self._moves[-1]

    def gtp_academy__expected_value(self, arguments: Sequence[str]) -> str:
        """Answer the bot's expected values before its last move and after it."""
        if not self._expected_values:
            raise GtpError("no move generated yet")
        return " ".join(f"{value:.6f}" for value in self._expected_values)

    def gtp_final_score(self, arguments: Sequence[str]) -> str:
        """Answer the result by the referee's rules, or the referee's count of an unfinished game."""
        outcome = self._referee.outcome(self._position) or self._referee.adjudicate(self._position)
        if outcome is None or not outcome.winners:
            raise GtpError("cannot score")
        return outcome.summary

    def gtp_quit(self, arguments: Sequence[str]) -> str:
        """Propose what the game taught, and end."""
        self._finish()
        return ""

    def _seat_to_move(self, arguments: Sequence[str]) -> int:
        colour = arguments[0].lower() if arguments else ""
        seat = self._seats.get(_COLOURS.get(colour, colour))
        if seat is None:
            raise GtpError("invalid color or coordinate")
        if seat not in self._referee.to_move(self._position):
            raise GtpError("illegal move")
        return seat

    def _make(self, seat: int, move: Any) -> None:
        after = self._referee.play(self._position, {seat: move})
        self._before.append((self._position, seat))
        self._position = after
        self._moves.append(self._referee.move_text(move))

    def _player(self, number: int) -> AdvisedPlayer[Any, Any]:
        if number not in self._players:
            spec = self._referee.spec()
            # The name of a fork; where this variable is missing, the player reads it from the contest.
            game_id = os.environ.get("ACADEMY_GAME") or spec.game_id
            seat = Seat(game_id, spec.geometry, number, self._contest_id)
            self._players[number] = AdvisedPlayer(
                self._thinker, self._referee, self._academy, seat, saves_time=self._saves_time
            )
        return self._players[number]

    def _finish(self) -> None:
        for player in self._players.values():
            player.finish(len(self._moves))


def _equal(arguments: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(arguments) == len(wanted) and all(map(_equal_words, arguments, wanted))


def _equal_words(argument: str, wanted: str) -> bool:
    try:
        return float(argument) == float(wanted)
    except ValueError:
        return argument == wanted


def read_settings(texts: Sequence[str]) -> dict[str, object]:
    """Read game settings from `name=value`, values as in control files. Raises ValueError."""
    settings: dict[str, object] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ValueError(f"{text!r}: name=value is needed, such as board_size=9")
        if name in settings:
            raise ValueError(f"{name} is given twice, as {settings[name]} and {value}: leave one out")
        try:
            settings[name] = read_toml(f"value = {value}")["value"]
        except InvalidTomlError:
            # A word needs no quotes here.
            settings[name] = value
    return settings


def _read_weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise ValueError(
            f"--weights {text[:80]!r}: {WEIGHTS} finite numbers are needed, such as 0,0,0.1,0.5,1.5"
        ) from None


def chosen_search(options: argparse.Namespace) -> tuple[Method, dict[str, Any]]:
    """Return how to search, and --depth or --playouts as far as given: they choose the search, too.

    Raises ValueError where one of them is for another search.
    """
    uses: dict[str, Method] = {"depth": "alpha-beta", "playouts": "monte-carlo"}
    given = {name: value for name in uses if (value := getattr(options, name)) is not None}
    search: Method = options.search
    if search == "auto" and given:
        search = uses[next(iter(given))]
    for name, value in given.items():
        if search != uses[name]:
            raise ValueError(
                f"--{name} {value}: it is for --search {uses[name]}, not for {search}; leave it out"
            )
    return search, given


def _read_strength(options: argparse.Namespace) -> Strength:
    """Return how to search. Raises ValueError for numbers that this search does not go by."""
    search, given = chosen_search(options)
    if options.seconds is not None:
        for name, value in given.items():
            raise ValueError(f"--{name} {value}: with --seconds a move takes these; give one of the two")
    weights = () if options.weights is None else _read_weights(options.weights)
    return Strength(search, seconds=options.seconds, weights=weights, **given)


_EXAMPLES: Final = """Examples:
  academy-bot go --set board_size=9 --set komi=7.5 --playouts 200 --academy
  academy-bot draughts --set variant=english --depth 4"""


def read_rules(game: str, settings: Sequence[str]) -> Referee[Any, Any]:
    """Return the referee of a game with settings of the command line, `name=value` each.

    Raises ValueError for a wrong or missing setting, and UnknownRefereeError.
    """
    try:
        return referee(game).from_settings(read_settings(settings))
    except MissingSettingError as error:
        example = shlex.quote(f"{error.setting}={error.example}")
        raise ValueError(f"{game} needs {error.setting}: add --set {example} ({error.allowed})") from None


def add_game(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `read_rules` takes."""
    parser.add_argument(
        "game", metavar="GAME", help="its name in control files: go, hex, draughts, openspiel, ..."
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the game, as under [game] in a control file (docs/reference/games.md); repeat it "
        "for more",
    )


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the program's arguments."""
    parser = program_parser("academy-bot", (__doc__ or "").partition("\n")[0], _EXAMPLES)
    add_game(parser)
    parser.add_argument(
        "--search",
        choices=("auto", "alpha-beta", "monte-carlo", "random"),
        default="auto",
        help="how moves are compared; auto: by what --depth or --playouts is for, else alpha-beta where they "
        "are few and the board shows who is ahead, or Monte Carlo tree search (%(default)s)",
    )
    parser.add_argument(
        "--playouts",
        type=int,
        metavar="N",
        help=f"random games a move (monte-carlo; {Strength().playouts})",
    )
    parser.add_argument(
        "--depth", type=int, metavar="N", help=f"plies ahead (alpha-beta; {Strength().depth})"
    )
    parser.add_argument(
        "--weights",
        metavar="W,W,W,W,W",
        help="alpha-beta's, of being first, the move, freedom to move, soldiers ahead, kings ahead; without "
        "them, ACADEMY's weights, or weights fitted to random games",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="time for each move, in seconds; instead of --playouts or --depth",
    )
    parser.add_argument(
        "--save-time",
        action="store_true",
        help="treat --seconds as a mean: time that a move does not use, such as a book move, goes to "
        "later moves; for a clock of all moves together",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="for games that can be repeated (a random one)")
    parser.add_argument(
        "--academy",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="consult and propose; without an address, where the arena says (ACADEMY_ADDRESS)",
    )
    return parser


@ending_with_its_output("academy-bot")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the engine on standard input and output."""
    open_closed()
    # What is loaded stays: neither a search nor the end of a game's process need look through it for cycles.
    gc.freeze()
    parser = argument_parser()
    options = parser.parse_args(arguments)
    try:
        rules = read_rules(options.game, options.set)
        if options.save_time and options.seconds is None:
            raise ValueError("--save-time needs --seconds: without them no move has a time to save")
        thinker = _read_strength(options).thinker(rules, random.Random(options.seed))
        contest_id = os.environ.get("ACADEMY_CONTEST", "")
        engine = AnyGameEngine(
            f"{options.game}-bot",
            rules,
            thinker,
            _connect(options.academy),
            contest_id,
            options.save_time,
        )
    except (OSError, ValueError, UnknownRefereeError) as error:
        parser.error(str(error.args[0] if isinstance(error, UnknownRefereeError) else error))
    if options.academy is not None:
        engine.accept_contests(partial(_join, options.academy))
    for stream in (sys.stdin, sys.stdout):
        # Each line gets an answer, with any bytes.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    engine.run()


def _connect(address: str | None) -> Academy | None:
    """Connect to an address, "" for that of the environment; None without one. Raises OSError, ValueError."""
    if address is None:
        return None
    if address:
        ServerAddress.parse(address)
    connection = Connection(address).with_environment() if address else Connection.from_environment()
    return Academy(connection) if connection else None


def _join(address: str, access: ContestAccess) -> Academy:
    """Connect as one contest's ticket says. Raises OSError and ValueError."""
    connection = Connection(address or access.address).with_environment()
    return Academy(replace(connection, token=access.token, ca=connection.ca or access.tls_ca))


if __name__ == "__main__":
    main()
