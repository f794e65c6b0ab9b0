"""The command `python -m referees.conformance`."""

import argparse
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from academy.knowledge.boards import InvalidBoardError
from academy.knowledge.spec import InvalidGameError
from referees.api import InvalidSettingError, UnknownRefereeError, referee
from referees.conformance import LAWS, NonConformingRefereeError, UnlistedMovesError, check_referee
from referees.conformance.laws import AnyReferee
from referees.legible_text import legible
from referees.toml_text import InvalidTomlError, read_toml

# As of `Referee.start`.
MAX_SEED: Final = 2**63 - 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Check an installed referee and print what was checked; return 1 where a law is broken."""
    parser = argparse.ArgumentParser(
        prog="python -m referees.conformance",
        description="Play random games of an installed referee and check that it keeps the laws.",
    )
    parser.add_argument("game", help="the referee's name, such as go")
    parser.add_argument(
        "--set",
        "--setting",
        dest="settings",
        action="append",
        type=_setting,
        default=[],
        metavar="NAME=VALUE",
        help="as in a control file; repeatable",
    )
    parser.add_argument("--games", type=_positive, default=20, help="how many games (default 20)")
    parser.add_argument("--seed", type=_seed, default=0, help="the first game's seed (default 0)")
    parser.add_argument(
        "--max-plies",
        type=_positive,
        default=1000,
        help="interrupt games after this number of plies (default 1000)",
    )
    options = parser.parse_args(arguments)
    try:
        judge = _make_referee(options.game, dict(options.settings))
        report = check_referee(judge, options.games, options.seed, options.max_plies)
    except (UnknownRefereeError, InvalidSettingError) as error:
        parser.error(legible(str(error)))
    except UnlistedMovesError as error:
        parser.error(f"{error}: call referees.conformance.check_referee from Python")
    except NonConformingRefereeError as breach:
        print(legible(f"{breach}{_place(breach.__cause__, options.game)}"), file=sys.stderr)
        return 1
    lines = [f"{report.game_id}: {report.games} games, {report.finished} finished, {report.plies} plies"]
    lines += [f"{checks:>8}  {law}: {LAWS[law]}" for law, checks in report.checks.items()]
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:
        # Who reads has seen enough. What waits to be written must not fail at Python's end.
        with suppress(BrokenPipeError):
            sys.stdout.close()
    return 0


def _place(error: BaseException | None, game: str) -> str:
    """The last line of the referee's own module that led to what it raised; empty where it raised nothing."""
    file = sys.modules[referee(game).__module__].__file__
    trace = traceback.walk_tb(error.__traceback__ if error is not None else None)
    lines = [line for frame, line in trace if frame.f_code.co_filename == file]
    return f" It was raised by {file}, line {lines[-1]}." if lines else ""


def _make_referee(game: str, settings: Mapping[str, object]) -> AnyReferee:
    kind = referee(game)
    try:
        return kind.from_settings(settings)
    except InvalidSettingError:
        raise
    except (InvalidBoardError, InvalidGameError) as error:
        # Some referees describe their games as they are made.
        raise NonConformingRefereeError("spec", f"{type(error).__name__}: {error}") from error
    except Exception as error:
        raise NonConformingRefereeError("settings", f"{type(error).__name__}: {error}") from error


def _setting(text: str) -> tuple[str, object]:
    # Values are TOML, as in control files; what is not TOML is a string without its quotes.
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: NAME=VALUE is needed, such as board_size=9")
    try:
        return name, read_toml(f"value = {value}")["value"]
    except InvalidTomlError:
        return name, value


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a whole number") from None


def _positive(text: str) -> int:
    number = _number(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def _seed(text: str) -> int:
    number = _number(text)
    if not 0 <= number <= MAX_SEED:
        raise argparse.ArgumentTypeError(f"{number} is not a seed: give 0 to {MAX_SEED}")
    return number


if __name__ == "__main__":
    sys.exit(main())
