"""Command lines of programs that measure: numbers with which one would do nothing are refused."""

import argparse
import math
from collections.abc import Callable


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help shows a module's docstring line by line."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def at_least(fewest: int) -> Callable[[str], int]:
    """A type of whole numbers from `fewest`, which raises argparse.ArgumentTypeError."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = fewest - 1
        if number < fewest:
            raise argparse.ArgumentTypeError(f"{text!r}: it must be a whole number from {fewest}")
        return number

    return read


count = at_least(1)


def positive(text: str) -> float:
    """Read a finite number above 0. Raises argparse.ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a number above 0")
    return number
