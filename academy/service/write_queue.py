"""Writing from the event loop: commands handed to the store's writer thread."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Final, TypeVar

import structlog

from academy.knowledge.fair_use import Claim
from academy.knowledge.settings import Library
from academy.service.contest_access import ContestSeat
from academy.store.contest_commands import NoteClaims, NoteUses
from academy.store.errors import StoreError
from academy.store.library_store import Store
from academy.store.writer import Command

_T = TypeVar("_T")
_SEATS_REMEMBERED: Final = 1_024
# A number takes about 100 bytes, and of one seat there may be as many as the libraries have patterns.
_USES_REMEMBERED: Final = 65_536
_CLAIMS_REMEMBERED: Final = 64
_log = structlog.get_logger()


class WriteQueue:
    """The store's writer as servicers use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._noted: OrderedDict[tuple[ContestSeat, Library], set[int]] = OrderedDict()
        self._remembered = 0
        self._claimed: OrderedDict[ContestSeat, set[Claim]] = OrderedDict()

    async def done(self, command: Command[_T]) -> _T:
        """Wait until a command is committed; return its result or raise its refusal.

        A caller who goes away does not undo it.
        """
        return await asyncio.shield(asyncio.wrap_future(self._store.submit(command)))

    def note_claim(self, seat: ContestSeat, claim: Claim) -> None:
        """Have written some time soon what a player claims to expect; each claim once a seat.

        Raises StoreBusyError where there is no room for it: what is not noted must not be answered.
        """
        claimed = self._claimed.setdefault(seat, set())
        if claim in claimed:
            return
        noted = self._store.submit(NoteClaims(seat.contest_id, seat.player, (claim,)))

        def forget_failure(future: "Future[None]") -> None:
            error = future.exception()
            if error is not None:
                # The same claim is noted when it is made again.
                claimed.discard(claim)
                _log.warning("claim not noted", contest=seat.contest_id, why=str(error))

        noted.add_done_callback(forget_failure)
        if len(claimed) >= _CLAIMS_REMEMBERED:
            claimed.clear()
        claimed.add(claim)
        self._claimed.move_to_end(seat)
        while len(self._claimed) > _SEATS_REMEMBERED:
            self._claimed.popitem(last=False)

    def note_uses(self, seat: ContestSeat, library: Library, pattern_ids: Iterable[int]) -> None:
        """Have uses of patterns written some time soon; each once a seat. Nothing is waited for."""
        noted = self._noted.get((seat, library), set())
        fresh = [pattern_id for pattern_id in pattern_ids if pattern_id not in noted]
        if not fresh:
            return
        command = NoteUses(seat.contest_id, seat.player, library, fresh)
        try:
            self._store.submit(command).add_done_callback(_tell_failure)
        except StoreError as error:
            # The count of uses is worth less than the answer.
            _log.warning("uses not noted", contest=seat.contest_id, why=str(error))
            return
        noted.update(fresh)
        self._noted[seat, library] = noted
        self._noted.move_to_end((seat, library))
        self._remembered += len(fresh)
        while len(self._noted) > _SEATS_REMEMBERED or (
            self._remembered > _USES_REMEMBERED and len(self._noted) > 1
        ):
            self._remembered -= len(self._noted.popitem(last=False)[1])


def _tell_failure(future: "Future[None]") -> None:
    error = future.exception()
    if error is not None:
        _log.warning("uses not noted", why=str(error))
