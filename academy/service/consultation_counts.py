"""Counts of consultations: opening questions, claims and uses in contests, patterns seen outside.

A player's opening questions and claims are noted before the answer, for all server processes, and are part of
the store within a second.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, TypeVar

import structlog

from academy.knowledge.claims import Claim, ClaimsContradictError
from academy.knowledge.fair_use import FairUse
from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import Library
from academy.service.access import ContestSeat
from academy.store.analysis_allowance import HOUR, CountPatterns
from academy.store.consultation_journal import Note
from academy.store.consultation_notes import CountConsultation, NoteAnswer, NoteClaim, NoteUses
from academy.store.errors import AnalysisExceededError, StoreClosedError, StoreError
from academy.store.library_store import Store
from academy.store.tokens import Caller
from academy.v1 import contests_pb2

_T = TypeVar("_T")
_KEEPING_SECONDS: Final = 0.9
# How long an answer waits for its count where servers share a log; clients wait for 5 s.
_PATIENCE: Final = 0.5
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
        # Until the store has it, which is within a second.
        self._contradicting: OrderedDict[ContestSeat, None] = OrderedDict()
        self._keeping: asyncio.TimerHandle | None = None
        self._kept: Future[None] | None = None
        self._waits = False

    def count_opening_question(
        self,
        seat: ContestSeat,
        tree: OpeningTree,
        moves: Sequence[str],
        rules: FairUse,
        answer: contests_pb2.OpeningAnswer,
    ) -> int:
        """Count a question about a game's opening tree; return the player's number of them in this contest.

        `answer` is kept with it.

        Raises FairUseExceededError, ConsultationOrderError, ClaimsContradictError, and StoreError: what
        cannot be counted is not answered.
        """
        self.check_claims(seat)
        own = len(moves) if tree.spec.simultaneous else tree.movers(moves).count(seat.player)
        question = CountConsultation(seat.contest_id, seat.player, tuple(moves), own + 1, rules, answer)
        return self._note(question)

    def check_claims(self, seat: ContestSeat) -> None:
        """Raise ClaimsContradictError for a seat whose claims are known here to contradict each other."""
        if seat in self._contradicting:
            raise ClaimsContradictError(seat.contest_id, seat.player)

    def note_answer(
        self,
        seat: ContestSeat,
        claim: Claim,
        answer: contests_pb2.PatternAnswer,
        uses: Mapping[Library, Sequence[int]],
    ) -> None:
        """Note the value that a player claims, what it is answered, and the patterns behind that.

        Each claim, with its first answer, and each pattern is noted once a seat.

        Raises StoreError: a claim that is not noted must not be answered. Raises ClaimsContradictError for
        this claim and for all that follow where it contradicts an earlier one; then only the claim is noted.
        """
        self.check_claims(seat)
        claims = self._claims.setdefault(seat, set())
        if claim in claims:
            for library, pattern_ids in uses.items():
                self.note_uses(seat, library, pattern_ids)
            return
        fresh = {library: self._fresh_uses(seat, library, ids) for library, ids in uses.items()}
        notes = [NoteUses(seat.contest_id, seat.player, *use) for use in fresh.items()]
        if self._note(NoteAnswer(NoteClaim(seat.contest_id, seat.player, claim), answer, notes)):
            self._contradicting[seat] = None
            if len(self._contradicting) > _SEATS_REMEMBERED:
                self._contradicting.popitem(last=False)
            self.check_claims(seat)
        for library, pattern_ids in fresh.items():
            self._remember_uses(seat, library, pattern_ids)
        if len(claims) >= _CLAIMS_REMEMBERED:
            claims.clear()
        claims.add(claim)
        self._claims.move_to_end(seat)
        while len(self._claims) > _SEATS_REMEMBERED:
            self._claims.popitem(last=False)

    def note_uses(self, seat: ContestSeat, library: Library, pattern_ids: Iterable[int]) -> None:
        """Note the patterns of an answer, each once a seat."""
        fresh = self._fresh_uses(seat, library, pattern_ids)
        if not fresh:
            return
        try:
            self._note(NoteUses(seat.contest_id, seat.player, library, fresh))
        except StoreError as error:
            # The count of uses is worth less than the answer.
            _log.warning("uses not noted", contest=seat.contest_id, why=str(error))
            return
        self._remember_uses(seat, library, fresh)

    def _fresh_uses(self, seat: ContestSeat, library: Library, pattern_ids: Iterable[int]) -> list[int]:
        known = self._uses.get((seat, library), set())
        return [pattern_id for pattern_id in pattern_ids if pattern_id not in known]

    def _remember_uses(self, seat: ContestSeat, library: Library, fresh: Sequence[int]) -> None:
        if not fresh:
            return
        self._uses.setdefault((seat, library), set()).update(fresh)
        self._uses.move_to_end((seat, library))
        self._uses_remembered += len(fresh)
        while len(self._uses) > _SEATS_REMEMBERED or (
            self._uses_remembered > _USES_REMEMBERED and len(self._uses) > 1
        ):
            self._uses_remembered -= len(self._uses.popitem(last=False)[1])

    def _note(self, note: Note[_T]) -> _T:
        """Note something; it becomes part of the store within a second."""
        result = self._store.note(note)
        if self._keeping is None:
            self._keep_later()
        return result

    def _keep_later(self) -> None:
        self._keeping = asyncio.get_running_loop().call_later(_KEEPING_SECONDS, self._keep)

    def _keep(self) -> None:
        self._keeping = None
        try:
            if self._kept is None or self._kept.done():
                self._kept = self._store.keep_notes()
                if self._kept is None:
                    return
                self._kept.add_done_callback(lambda kept: self._note_outcome(kept.exception()))
        except StoreClosedError:
            return
        except StoreError as error:
            self._note_outcome(error)
        # Until the journal is empty.
        self._keep_later()

    def _note_outcome(self, error: BaseException | None) -> None:
        """Log when notes begin to wait, and when they are kept again, instead of each try."""
        if error is not None and not self._waits:
            _log.warning("notes of consultations wait", why=str(error))
        elif error is None and self._waits:
            _log.info("notes of consultations are kept again")
        self._waits = error is not None


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
        if not self._limit or caller.analyses_freely:
            return
        clock = self._store.clock
        hour = self._hours.get(caller.name)
        if hour is None or not 0 <= clock() - hour.began < HOUR:
            hour = _Hour(clock())
        fresh = [pattern_id for pattern_id in pattern_ids if (game_id, pattern_id) not in hour.patterns]
        if not fresh:
            return
        count = CountPatterns(caller.name, game_id, fresh, self._limit)
        # The count is not shared, but waits behind writes that are, which may wait long for NATS.
        patience = None if self._store.follows_log is None else _PATIENCE
        try:
            began = await asyncio.wait_for(self._store.write(count), patience)
        except (StoreError, TimeoutError):
            # Questions are answered even if nothing can be written: then only this process counts.
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
