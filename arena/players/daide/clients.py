"""Clients in a game: a power's place, and a connection to it or to an observer."""

import time
from typing import Final

from arena.players.daide.parameters import DaideParameters
from arena.players.daide.wire import Wire
from arena.players.player import Disorder, Seating
from arena.players.transcript import Transcript
from referees.diplomacy.daide.tokens import Tokens, Vocabulary

MAX_WARNINGS: Final = 50


class Session:
    """A connection to a client: of a power, or of an observer (None)."""

    def __init__(
        self, wire: Wire, power: int | None, label: str, transcript: Transcript | None, words: Vocabulary
    ) -> None:
        self.wire = wire
        self.power = power
        self._label = label
        self._transcript = transcript
        self._words = words

    def say(self, tokens: Tokens) -> None:
        """Have it told."""
        if self._transcript is not None:
            self._transcript.told(self._label, self._words.text(tokens))
        self.wire.say(tokens)

    def heard(self, tokens: Tokens) -> None:
        """Note what it said."""
        if self._transcript is not None:
            self._transcript.said(self._label, self._words.text(tokens))


class Place:
    """A power that is played over DAIDE.

    `came` is whether its client was ever there, `why` why it went the last time, `out` whether the game goes
    on without it; `settled_at` is when its orders for this turn were complete, `disorder` its first civil
    disorder.
    """

    def __init__(self, seating: Seating, parameters: DaideParameters) -> None:
        self.seating = seating
        self.parameters = parameters
        self.power = seating.seat - 1
        self.label = seating.label
        self.client = parameters.client_of(seating.setup.name)
        self.name = self.version = ""
        self.came = self.out = False
        self.session: Session | None = None
        self.absent_since: float | None = None
        self.why = ""
        self.late_turns = 0
        self.settled_at: float | None = None
        self.disorder: Disorder | None = None
        self.warnings: list[str] = []
        self._unsaid = 0

    def given_up(self) -> bool:
        """Whether its client has been away for too long."""
        since = self.absent_since
        return since is not None and time.monotonic() - since >= self.parameters.reconnect_seconds

    def warn(self, what: str) -> None:
        """Note an oddity that does not stop the game."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(f"player {self.label}: {what}")
        else:
            self._unsaid += 1

    def all_warnings(self) -> list[str]:
        """The oddities, with how many more there were."""
        more = [f"player {self.label}: {self._unsaid} more such warnings"] if self._unsaid else []
        return [*self.warnings, *more]
