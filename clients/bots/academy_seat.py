"""A bot's seat at ACADEMY, which a bot can do without."""

import sys
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from academy.v1 import game_pb2
from clients.academy import Academy
from clients.connection import AcademyRefusedError, AcademyUnavailableError
from clients.responses import PatternMatch, fair_use_of
from clients.seat import FairUseError, Seat
from referees.legible_text import legible

Answer = TypeVar("Answer")

# Refusals that hold for all questions of a contest; others, such as RATE_EXCEEDED, are about one question.
_STATUSES_FOR_GOOD: Final = ("UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND")
_REASONS_FOR_GOOD: Final = ("PLAYS_ALONE", "CONTEST_OVER", "CLAIMS_CONTRADICT")


class AcademySeat:
    """A bot's seat; `academy` is None without ACADEMY.

    Attributes:
        may_ask: Whether questions still have a chance: no refusal was for the whole contest, and ACADEMY has
            answered so far. Proposals are made in any case.
    """

    def __init__(self, academy: Academy | None, seat: Seat) -> None:
        self.academy = academy
        self.may_ask = academy is not None
        self.seat = seat
        # Why ACADEMY refused: each reason is printed once.
        self._printed: set[str] = set()
        # What ACADEMY knows of the game, once it was read.
        self.game: game_pb2.Game | None = None
        # Whether this is one of the contests in which the player may not consult.
        self.plays_alone = False

    def learn_rules(self) -> None:
        """Read the game and the contest from ACADEMY, once, and keep to their rules from now on."""
        if self.game is not None or not self.may_ask:
            return
        contest_id = self.seat.contest_id
        contest = self._try(lambda academy: academy.contest(contest_id)) if contest_id else None
        if contest is not None:
            # A fork has a name that the referee does not know.
            self.seat.game_id = contest.game_id
        self.game = self._try(lambda academy: academy.game(self.seat.game_id)) if self.may_ask else None
        if self.game is not None:
            self.seat.fair_use = fair_use_of(self.game.settings)
        if contest is not None and contest.HasField("fair_use"):
            self.seat.fair_use = fair_use_of(contest.fair_use)
            self.plays_alone = self.seat.player in contest.seats_alone

    def ask(self, question: Callable[[Academy], Answer]) -> Answer | None:
        """The answer to a question, None where it may not be asked or is not answered."""
        self.learn_rules()
        return self._try(question) if self.may_ask and not self.plays_alone else None

    def tell(self, act: Callable[[Academy], Answer]) -> Answer | None:
        """What comes of telling ACADEMY something, which every seat may; None where it is not heard."""
        return self._try(act)

    def _try(self, question: Callable[[Academy], Answer]) -> Answer | None:
        if self.academy is None:
            return None
        try:
            return question(self.academy)
        except FairUseError:
            return None
        except AcademyUnavailableError as error:
            # To wait for it before each move would cost the game.
            self._end_questions(error)
        except AcademyRefusedError as error:
            if error.code in _STATUSES_FOR_GOOD or error.reason in _REASONS_FOR_GOOD:
                self._end_questions(error)
            else:
                self._say(f"ACADEMY refused this: {error}", error.reason)
        return None

    def _end_questions(self, error: Exception) -> None:
        self.may_ask = False
        self._say(f"going on without ACADEMY's answers: {error}", "")

    def _say(self, text: str, reason: str) -> None:
        if reason not in self._printed:
            self._printed.add(reason)
            print(legible(text), file=sys.stderr)


def mean_value(matches: Sequence[PatternMatch]) -> float:
    """The mean of the patterns' values, each counting as often as it was proposed."""
    return sum(match.value * match.proposers for match in matches) / sum(match.proposers for match in matches)
