"""The command lines of the sample bots: what they have in common, and which player, how strong."""

import argparse
import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import TextIOWrapper
from typing import Any, TypeVar

from clients.academy import Academy, Connection
from clients.bots.board_engine import BoardEngine
from clients.bots.gtp import ContestAccess, GtpProgram
from clients.bots.thinking import Thinker
from referees.api import Referee

Rules = TypeVar("Rules", bound=Referee[Any, Any])
Position = TypeVar("Position")
Move = TypeVar("Move")


def run_bot(
    program: str,
    description: str,
    *,
    at_random: Callable[[random.Random], Thinker[Rules, Position, Move]],
    monte_carlo: Callable[[int, random.Random], Thinker[Rules, Position, Move]],
    engine: Callable[
        [str, Thinker[Rules, Position, Move], Academy | None, str], BoardEngine[Rules, Position, Move]
    ],
    arguments: Sequence[str] | None,
) -> None:
    """Run a bot on standard input and output.

    `at_random` and `monte_carlo` make the players, the latter of a number of playouts; `engine` makes the
    engine of its name, player, ACADEMY and contest.
    """
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("player", choices=("random", "monte-carlo"))
    parser.add_argument("--playouts", type=int, default=50, help="random games a move: the strength")
    add_options(parser)
    options = parser.parse_args(arguments)
    if options.playouts < 1:
        parser.error(f"--playouts {options.playouts}: at least 1 is needed")
    chance = random.Random(options.seed)
    thinker, name = at_random(chance), "random"
    if options.player == "monte-carlo":
        thinker, name = monte_carlo(options.playouts, chance), f"monte-carlo-{options.playouts}"
    playing = engine(name, thinker, academy_of(options, parser), contest())
    accept_contests(playing, options)
    run(playing)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every bot has: `--seed` and `--academy`."""
    parser.add_argument("--seed", type=int, help="for games that can be repeated")
    parser.add_argument(
        "--academy",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="consult and propose; without an address, where the arena says (ACADEMY_ADDRESS)",
    )


def academy_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Academy | None:
    """The connection that the options ask for; ends the program where there can be none."""
    if options.academy is None:
        return None
    try:
        connection = (
            Connection(options.academy).with_environment()
            if options.academy
            else Connection.from_environment()
        )
        return Academy(connection) if connection else None
    except (OSError, ValueError) as error:
        parser.error(f"--academy: {error}")


def accept_contests(engine: BoardEngine[Any, Any, Any], options: argparse.Namespace) -> None:
    """Have an engine whose options ask for ACADEMY take part in contest after contest."""
    if options.academy is None:
        return

    def join(access: ContestAccess) -> Academy:
        connection = Connection(options.academy or access.address).with_environment()
        ca = connection.ca or access.tls_ca
        return Academy(replace(connection, token=access.token, ca=ca))

    engine.accept_contests(join)


def contest() -> str:
    """The contest that the arena says is played; empty outside the arena."""
    return os.environ.get("ACADEMY_CONTEST", "")


def run(engine: GtpProgram) -> None:
    """Answer commands on standard input until `quit`."""
    for stream in (sys.stdin, sys.stdout):
        # Whatever bytes arrive, each line is to be answered.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    engine.run()
