"""A bot's seat at ACADEMY, which a bot can do without."""

import sys
from collections.abc import Callable
from typing import TypeVar

from clients.academy import Academy
from clients.connection import AcademyRefusedError, AcademyUnavailableError
from clients.seat import FairUseError, Seat

Answer = TypeVar("Answer")


class AcademySeat:
    """A bot's seat; `academy` is None without ACADEMY, and from when ACADEMY has not answered."""

    def __init__(self, academy: Academy | None, seat: Seat) -> None:
        self.academy = academy
        self.seat = seat

    def ask(self, question: Callable[[Academy], Answer]) -> Answer | None:
        """The answer to a question, None where it may not be asked or is not answered."""
        if self.academy is None:
            return None
        try:
            return question(self.academy)
        except FairUseError:
            return None
        except (AcademyRefusedError, AcademyUnavailableError) as error:
            print(f"going on without ACADEMY: {error}", file=sys.stderr)
            self.academy = None
            return None
