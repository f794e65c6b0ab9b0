"""Types of numbers on the command lines of what is measured: none is accepted of which nothing would come."""

import argparse
import math


def count(text: str) -> int:
    """Read a whole number from 1. Raises argparse.ArgumentTypeError."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a whole number from 1")
    return number


def positive(text: str) -> float:
    """Read a finite number above 0. Raises argparse.ArgumentTypeError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: it must be a number above 0")
    return number
