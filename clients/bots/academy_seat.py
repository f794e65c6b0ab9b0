"""A bot's seat at ACADEMY, which a bot can do without."""

import sys
from collections.abc import Callable
from typing import TypeVar

from academy.v1 import game_pb2
from clients.academy import Academy
from clients.connection import AcademyRefusedError, AcademyUnavailableError
from clients.responses import fair_use_of
from clients.seat import FairUseError, Seat

Answer = TypeVar("Answer")


class AcademySeat:
    """A bot's seat; `academy` is None without ACADEMY, and from when ACADEMY has not answered."""

    def __init__(self, academy: Academy | None, seat: Seat) -> None:
        self.academy = academy
        self.seat = seat
        # What ACADEMY knows of the game, once it was read.
        self.game: game_pb2.Game | None = None
        # Whether this is one of the contests in which the player may not consult.
        self.plays_alone = False

    def learn_rules(self) -> None:
        """Read the game and the contest from ACADEMY, once, and keep to their rules from now on."""
        if self.game is not None:
            return
        self.game = self._try(lambda academy: academy.game(self.seat.game_id))
        if self.game is not None:
            self.seat.fair_use = fair_use_of(self.game.settings)
        contest_id = self.seat.contest_id
        contest = self._try(lambda academy: academy.contest(contest_id)) if contest_id else None
        if contest is not None and contest.HasField("fair_use"):
            self.seat.fair_use = fair_use_of(contest.fair_use)
            self.plays_alone = self.seat.player in contest.seats_alone

    def ask(self, question: Callable[[Academy], Answer]) -> Answer | None:
        """The answer to a question, None where it may not be asked or is not answered."""
        self.learn_rules()
        return None if self.plays_alone else self._try(question)

    def tell(self, act: Callable[[Academy], Answer]) -> Answer | None:
        """What comes of telling ACADEMY something, which every seat may; None where it does not answer."""
        return self._try(act)

    def _try(self, question: Callable[[Academy], Answer]) -> Answer | None:
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
