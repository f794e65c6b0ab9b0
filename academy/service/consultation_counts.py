"""Counts of consultations: opening questions, claims and uses in contests, patterns seen outside.

A player's opening questions and claims are counted in the store, before the answer.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

import structlog

from academy.knowledge.fair_use import Claim, FairUse
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.service.access import ContestSeat
from academy.store.contest_commands import (
    HOUR,
    AnalysisExceededError,
    CountConsultation,
    CountPatterns,
    NoteClaims,
    NoteUses,
)
from academy.store.errors import StoreError
from academy.store.library_store import Store
from academy.store.tokens import Caller, Role

_SEATS_REMEMBERED: Final = 1_024
# A number takes about 100 bytes, and a seat may use every pattern of the libraries.
_USES_REMEMBERED: Final = 65_536
_CLAIMS_REMEMBERED: Final = 64
# Each holds up to an hour's allowance of numbers.
_NAMES_REMEMBERED: Final = 1_024
_log = structlog.get_logger()


class ContestCounts:
    """Counts the questions, claims and uses of players in contests. For one event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._uses: OrderedDict[tuple[ContestSeat, Library], set[int]] = OrderedDict()
        self._uses_remembered = 0
        self._claims: OrderedDict[ContestSeat, set[Claim]] = OrderedDict()

    async def count_opening_question(
        self, seat: ContestSeat, spec: GameSpec, moves: Sequence[str], rules: FairUse
    ) -> int:
        """Count a question about the opening tree; return the player's number of them in this contest.

        Raises FairUseExceededError and ConsultationOrderError.
        """
        own_moves = len(moves)
        if not spec.simultaneous:
            # Players take turns in order of the seats.
            own_moves = (own_moves + spec.players - seat.player) // spec.players
        return await self._store.write(
            CountConsultation(seat.contest_id, seat.player, tuple(moves), own_moves + 1, rules)
        )

    def note_claim(self, seat: ContestSeat, claim: Claim) -> None:
        """Have a player's claimed value written soon; each claim once a seat.

        Raises StoreBusyError without room for it: a claim that is not noted must not be answered.
        """
        claims = self._claims.setdefault(seat, set())
        if claim in claims:
            return
        written = self._store.submit(NoteClaims(seat.contest_id, seat.player, (claim,)))

        def forget_failure(future: "Future[None]") -> None:
            error = future.exception()
            if error is not None:
                # The same claim is noted when it is made again.
                claims.discard(claim)
                _log.warning("claim not noted", contest=seat.contest_id, why=str(error))

        written.add_done_callback(forget_failure)
        if len(claims) >= _CLAIMS_REMEMBERED:
            claims.clear()
        claims.add(claim)
        self._claims.move_to_end(seat)
        while len(self._claims) > _SEATS_REMEMBERED:
            self._claims.popitem(last=False)

    def note_uses(self, seat: ContestSeat, library: Library, pattern_ids: Iterable[int]) -> None:
        """Have the patterns of an answer written soon, each once a seat, without waiting."""
        known = self._uses.get((seat, library), set())
        fresh = [pattern_id for pattern_id in pattern_ids if pattern_id not in known]
        if not fresh:
            return
        command = NoteUses(seat.contest_id, seat.player, library, fresh)
        try:
            self._store.submit(command).add_done_callback(_log_failure)
        except StoreError as error:
            # The count of uses is worth less than the answer.
            _log.warning("uses not noted", contest=seat.contest_id, why=str(error))
            return
        known.update(fresh)
        self._uses[seat, library] = known
        self._uses.move_to_end((seat, library))
        self._uses_remembered += len(fresh)
        while len(self._uses) > _SEATS_REMEMBERED or (
            self._uses_remembered > _USES_REMEMBERED and len(self._uses) > 1
        ):
            self._uses_remembered -= len(self._uses.popitem(last=False)[1])


def _log_failure(future: "Future[None]") -> None:
    error = future.exception()
    if error is not None:
        _log.warning("uses not noted", why=str(error))


@dataclass
class _Hour:
    """The patterns counted in an hour that began at a time in seconds since 1970."""

    began: float
    patterns: set[tuple[str, int]] = field(default_factory=set)


class AnalysisAllowance:
    """Counts the different patterns that each name sees in an hour. For one event loop."""

    def __init__(self, store: Store, limit: int) -> None:
        """Allow each name `limit` patterns in an hour; 0 is any number."""
        self._store = store
        self._limit = limit
        self._hours: OrderedDict[str, _Hour] = OrderedDict()

    async def take(self, caller: Caller, game_id: str, pattern_ids: Collection[int]) -> None:
        """Count the patterns of an answer before it is sent; admins and analysts are free.

        Nothing is written if the caller saw all of them in this hour. Raises AnalysisExceededError.
        """
        free = caller.analyst or caller.role in (Role.ADMIN, Role.ANALYST)
        if not self._limit or not pattern_ids or free:
            return
        clock = self._store.clock
        hour = self._hours.get(caller.name)
        if hour is None or not 0 <= clock() - hour.began < HOUR:
            hour = _Hour(clock())
        fresh = [pattern_id for pattern_id in pattern_ids if (game_id, pattern_id) not in hour.patterns]
        if not fresh:
            return
        try:
            began = await self._store.write(CountPatterns(caller.name, game_id, fresh, self._limit))
        except StoreError:
            # Questions are answered even if nothing can be written: then this process alone counts.
            began = hour.began
            if len(hour.patterns) + len(fresh) > self._limit:
                left = began + HOUR - clock()
                raise AnalysisExceededError(len(hour.patterns), len(fresh), self._limit, left) from None
        known = self._hours.get(caller.name)
        hour = known if known is not None and known.began == began else _Hour(began)
        hour.patterns.update((game_id, pattern_id) for pattern_id in fresh)
        self._hours[caller.name] = hour
        self._hours.move_to_end(caller.name)
        if len(self._hours) > _NAMES_REMEMBERED:
            self._hours.popitem(last=False)
