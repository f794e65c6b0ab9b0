"""What programs have in common that let an engine play at an arena that they dial in to."""

import argparse
import math
import os
import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from academy.wire.addresses import InvalidAddressError, ServerAddress
from clients.command_line import program_parser
from clients.connection import ARENA_ADDRESS
from clients.remote_game import CHECK_GAME_ID, Answer, Engine, Game, GameDeclinedError, GameEnd, GameTurn
from clients.remote_play import run_bot
from referees.api import InvalidSettingError, MissingSettingError, Referee, UnknownRefereeError, referee
from referees.legible_text import legible

# No arena lets a player play more at once.
MAX_GAMES: Final = 256
MAX_VISIT_GAMES: Final = 10**9
MAX_VISIT_HOURS: Final = 10**6
_MOST_DIGITS: Final = 10


class SeatedProgram(Protocol):
    """A program in its seat of one game."""

    def choose(self, turn: GameTurn) -> Answer:
        """Return the program's move."""

    def end(self) -> None:
        """End the program: its game is over."""

    def abandon(self) -> None:
        """End the program at once: another takes its place in the game."""


# The rights of the connector's user, at ACADEMY and at arenas, are not the program's.
_WITHHELD: Final = ("ACADEMY_", "ARENA_")


def environment(game: Game) -> dict[str, str]:
    """The variables of a game's program, as of one that an arena starts.

    They are this process's, and what leads to ACADEMY in this game.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith(_WITHHELD)}
    if game.academy is None:
        return variables
    variables |= {
        "ACADEMY_ADDRESS": game.academy.address,
        "ACADEMY_CONTEST": game.contest_id,
        "ACADEMY_PLAYER": str(game.seat),
        "ACADEMY_TOKEN": game.academy.token,
    }
    if game.academy_game:
        variables["ACADEMY_GAME"] = game.academy_game
    if game.academy.ca is not None:
        variables["ACADEMY_TLS_CA"] = str(Path(game.academy.ca).absolute())
    return variables


def rules_of(game: Game) -> Referee[Any, Any]:
    """Return a game's referee. Raises GameDeclinedError where there is none for its name and settings."""
    try:
        return referee(game.name).from_settings(dict(game.settings))
    except (UnknownRefereeError, InvalidSettingError, MissingSettingError) as error:
        raise GameDeclinedError(str(error)) from None


class Connector:
    """The programs of all games in progress."""

    def __init__(self, seat: Callable[[Game], SeatedProgram]) -> None:
        """`seat` starts the program of a game, or raises GameDeclinedError."""
        self._seat = seat
        self._lock = threading.Lock()
        # By the arena's number of the seat, as games of two competitions may have the same id: the thread of
        # its game, which ends when the game or its stream does; and the program, once it has started.
        self._threads: dict[int, threading.Thread] = {}
        self._seated: dict[int, SeatedProgram] = {}

    def new_game(self, game: Game) -> Callable[[GameTurn], Answer]:
        """Start a program for a game.

        Earlier ones whose stream broke are ended: that of the same game, and those of games that the arena
        did not bring again, of whose end nobody hears.
        """
        own = threading.current_thread()
        with self._lock:
            left = [
                seat_id
                for seat_id, thread in self._threads.items()
                if seat_id == game.seat_id or not thread.is_alive()
            ]
            for seat_id in left:
                del self._threads[seat_id]
            earlier = [self._seated.pop(seat_id) for seat_id in left if seat_id in self._seated]
            self._threads[game.seat_id] = own
        for program in earlier:
            # The game goes on, and its clock runs.
            program.abandon()
        seated = self._seat(game)
        with self._lock:
            # The stream may have broken, and another have brought the game, while the program started.
            is_latest = self._threads.get(game.seat_id) is own
            if is_latest:
                self._seated[game.seat_id] = seated
        if not is_latest:
            seated.abandon()
            raise GameDeclinedError("the game was left while its program started")
        return seated.choose

    def game_over(self, game: Game, end: GameEnd) -> None:
        """End the game's program, and print how the game ended."""
        self._leave(game.seat_id)
        ending = (
            end.result or end.void_reason or ("ready" if game.game_id == CHECK_GAME_ID else "interrupted")
        )
        print(legible(f"{game.game_id}: {' v '.join(game.players)}: {ending}"), flush=True)

    def _leave(self, seat_id: int) -> None:
        with self._lock:
            self._threads.pop(seat_id, None)
            seated = self._seated.pop(seat_id, None)
        if seated is not None:
            seated.end()

    def close(self) -> None:
        """End all programs."""
        for seat_id in list(self._threads):
            self._leave(seat_id)


_SECURITY: Final = "With TLS, ARENA_TLS_CA names the PEM file of the authority."


def connector_parser(name: str, description: str, example: str) -> argparse.ArgumentParser:
    """The arguments that all connectors have."""
    parser = program_parser(name, description, f"{_SECURITY}\nExample:\n  {example}")
    parser.add_argument("--player", required=True, help="the player's name at the arena")
    parser.add_argument(
        "--address", type=_address, default=os.environ.get("ARENA_ADDRESS") or ARENA_ADDRESS,
        help=f"the arena: host:port or unix:PATH (ARENA_ADDRESS, else {ARENA_ADDRESS})",
    )  # fmt: skip
    parser.add_argument(
        "--token-file",
        type=_token_file,
        metavar="FILE",
        help="the file that holds the player's token (ARENA_TOKEN_FILE, or the token itself in ARENA_TOKEN)",
    )
    parser.add_argument(
        "--games", type=partial(_count, "a number", MAX_GAMES), default=1, metavar="N",
        help=f"games at once, 1 to {MAX_GAMES} (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--leave-after-games",
        type=partial(_count, "a number of games", MAX_VISIT_GAMES),
        metavar="N",
        help="leave after this number of games; without it, never",
    )
    parser.add_argument(
        "--leave-after-hours", type=_hours, metavar="H",
        help="begin no game after this number of hours, and leave when those in progress are over",
    )  # fmt: skip
    parser.add_argument(
        "command", nargs="+", type=str, metavar="COMMAND", help="the program and its arguments, after --"
    )
    return parser


def read_arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The command line by a parser of `connector_parser`, which ends the program where it is wrong."""
    arguments, unknown = parser.parse_known_args()
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}; write -- before the program that plays")
    return arguments


def _address(text: str) -> str:
    try:
        address = ServerAddress.parse(text)
    except InvalidAddressError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not address.path and address.port == 0:
        raise argparse.ArgumentTypeError(
            f"{text!r}: nothing listens at port 0; give the port that the arena prints"
        )
    return text


def _token_file(text: str) -> Path:
    file = Path(text)
    if not file.is_file():
        raise argparse.ArgumentTypeError(
            f"there is no file {text!r}: keep the token that the operator gave you in it (the operator makes "
            "one by 'arena token NAME --role player', a member by 'arena member register')"
        )
    return file


def _count(what: str, most: int, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and 1 <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not {what} from 1 to {most}")
    return int(text)


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0.0 < hours <= MAX_VISIT_HOURS:
        raise argparse.ArgumentTypeError(f"{text[:80]!r} is not a number of hours up to {MAX_VISIT_HOURS}")
    return hours


def connect(
    parser: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    seat: Callable[[Game], SeatedProgram],
    *,
    view: bool = False,
) -> None:
    """Dial in and play until the arena is gone; ends the process with a message where that fails.

    `seat` starts the program of a game, or raises GameDeclinedError. With `view` requests have what the seat
    sees in the game's own form.
    """
    program = arguments.command[0]
    if shutil.which(program) is None:
        parser.error(f"there is no program {program!r} to run here: install it, or give its path")
    connector = Connector(seat)
    hours = arguments.leave_after_hours
    engine = Engine(
        Path(program).name,
        games_at_once=arguments.games,
        view=view,
        leave_after_games=arguments.leave_after_games,
        leave_after_seconds=None if hours is None else 3600.0 * hours,
    )
    try:
        run_bot(
            arguments.player,
            connector.new_game,
            engine,
            address=arguments.address,
            token_file=arguments.token_file,
            game_over=connector.game_over,
        )
    finally:
        connector.close()
