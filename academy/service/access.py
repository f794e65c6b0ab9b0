"""Which contest, seat and arena a caller may act for."""

from contextvars import ContextVar
from dataclasses import dataclass

from academy.knowledge.claims import ClaimsContradictError
from academy.knowledge.fair_use import FairUse, PlaysAloneError
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.service.errors import AnalysisDuringContestError, InvalidFieldError, require
from academy.service.limits import Limits
from academy.service.permissions import BOTS
from academy.service.store_cache import VersionedCache
from academy.store import arenas, sources
from academy.store.codec.games import fair_use_in_force
from academy.store.contest_tables import (
    as_given,
    contest_record,
    games_with_open_contests,
    open_contest_of_player,
)
from academy.store.environment import Transaction
from academy.store.errors import ContestOverError, UnknownArenaError, UnknownContestError
from academy.store.game_tables import find_elo
from academy.store.keys import arena_number, given_contest_id, kept_contest_id
from academy.store.library_store import Store
from academy.store.tokens import Caller, Role
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2
from academy.wire.errors import NotPermittedError

# The caller of the call that the running task answers.
current_caller: ContextVar[Caller] = ContextVar("current_caller")


@dataclass(frozen=True, slots=True)
class ContestSeat:
    """A player's place in an open contest (by its stored id), with the arena's rating.

    `rules` are the contest's; None for one that was opened before contests had any.
    """

    contest_id: str
    player: int
    elo: float
    rules: FairUse | None = None


class ContestAccess:
    """Finds the seat a caller may speak for."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._cache = VersionedCache(store)
        self._contest_seconds = limits.contest_seconds

    def find_asking_seat(
        self, caller: Caller, spec: GameSpec, contest_id: str, player: int, field: str = "player"
    ) -> ContestSeat | None:
        """Return the seat a consultation is made from, None for analysis outside a contest.

        `field` is where the request names the player.

        Raises NotPermittedError for another's seat or contest, AnalysisDuringContestError for analysis of a
        game the caller is playing or one that has contests in common with it, InvalidFieldError for a player
        or game that does not fit, ContestOverError, PlaysAloneError, and ClaimsContradictError.
        """
        require(
            1 <= player <= spec.players,
            field,
            f"{player}: {spec.game_id} has players 1 to {spec.players}",
            value=player,
            players=spec.players,
        )
        return self._cache.recall(
            (caller, spec.game_id, contest_id, player),
            lambda: self._find_asking_seat(caller, spec, contest_id, player),
        )

    def _find_asking_seat(
        self, caller: Caller, spec: GameSpec, contest_id: str, player: int
    ) -> ContestSeat | None:
        if not contest_id:
            self._check_analysis(caller, spec)
            return None
        record = self.find_record(caller, contest_id)
        contest = record.contest
        if contest.game_id != spec.game_id:
            raise InvalidFieldError(
                "game_id", f"contest {contest_id!r} is one of {contest.game_id!r}, not {spec.game_id!r}"
            )
        if player not in _seats_of(caller, contest):
            raise NotPermittedError(
                f"{caller.name!r} does not play seat {player} of contest {contest_id!r}", seat=player
            )
        if contest.state != contests_pb2.CONTEST_STATE_OPEN:
            raise ContestOverError(contest_id)
        rules = fair_use_in_force(contest)
        if player in contest.seats_alone:
            raise PlaysAloneError(contest_id, player, rules.consult_share if rules else 1.0)
        if record.seats[player - 1].claims_contradict:
            raise ClaimsContradictError(contest_id, player)
        return ContestSeat(contest.contest_id, player, contest.players[player - 1].elo, rules)

    def elo(self, caller: Caller, seat: ContestSeat | None, game_id: str) -> float | None:
        """Return the arena's rating of the caller's player, in analysis of a bot's last contest; or None."""
        if seat is not None:
            return seat.elo
        if caller.role is not Role.BOT:
            return None
        return self._cache.recall(
            (caller.name, game_id), lambda: self._store.read(find_elo, game_id, caller.name)
        )

    def least_elo(
        self, caller: Caller, seat: ContestSeat | None, game_id: str, rules: FairUse
    ) -> float | None:
        """Return the Elo above which the caller accepts knowledge; None where it accepts all."""
        elo = self.elo(caller, seat, game_id)
        return None if elo is None else rules.least_elo(elo)

    def find_proposing_seat(self, caller: Caller, contest_id: str) -> tuple[contests_pb2.Contest, int]:
        """Return the stored contest, open or reported, and the seat for a caller's proposals.

        Raises NotPermittedError for a caller that has no seat, or several seats and no ticket.
        """
        require(bool(contest_id), "contest_id", "must be given: proposals belong to a contest")
        contest = self.find_record(caller, contest_id).contest
        seats = _seats_of(caller, contest)
        if len(seats) != 1:
            what = "plays several seats: use the ticket of the one meant" if seats else "does not play it"
            raise NotPermittedError(f"contest {contest_id!r}: {caller.name!r} {what}", contest_id=contest_id)
        return contest, seats[0]

    def find_contest(self, caller: Caller, contest_id: str, arena: str = "") -> contests_pb2.Contest:
        """Return a contest to show. Raises NotPermittedError for a bot that does not play it."""
        record = self.find_record(caller, contest_id, arena)
        if caller.role in BOTS and not _seats_of(caller, record.contest):
            raise NotPermittedError(
                f"contest {contest_id!r}: {caller.name!r} does not play it", contest_id=contest_id
            )
        return as_given(record)

    def arena(self, caller: Caller, named: str) -> str:
        """Return the arena for which a caller acts, named or its own. Admins may act for any, or for none.

        Raises NotPermittedError for an arena that may not act for this one, UnknownArenaError for an admin.
        """
        if caller.role is Role.ADMIN:
            if named and self._store.read(arenas.number_of, named) is None:
                raise UnknownArenaError(named)
            return named
        if named in ("", caller.name):
            return caller.name
        # The same error for an arena that does not exist.
        if not self._store.read(arenas.may_act, caller.name, named):
            raise NotPermittedError(
                f"{caller.name!r} may not act for arena {named!r}: an admin can allow it "
                "(academy arenas allow)",
                arena=named,
            )
        return named

    def find_arena_of_report(self, caller: Caller, contest: contests_pb2.Contest) -> str:
        """Return the arena whose contest a caller reports.

        An admin must name it only if several arenas have such a contest. Raises InvalidFieldError then.
        """
        if caller.role is Role.ADMIN and not contest.arena:
            records = self._store.read(arenas.contests_of_id, contest.contest_id)
            if len(records) > 1:
                raise _ambiguous_contest(records, contest.contest_id, "contest.arena")
            return records[0].arena if records else ""
        return self.arena(caller, contest.arena)

    def find_contest_to_list(self, caller: Caller, contest_id: str, arena: str) -> str:
        """Return the stored id of the contest whose proposals a caller lists; empty for all contests.

        A caller that may not see a contest gets an empty listing, as of a contest without proposals. Raises
        UnknownContestError.
        """
        if not contest_id:
            return ""
        if caller.contest_id:
            return kept_contest_id(contest_id, arena_number(caller.contest_id))
        try:
            return self.find_record(caller, contest_id, arena).contest.contest_id
        except NotPermittedError:
            if caller.role not in BOTS:
                raise
            return contest_id

    def find_record(self, caller: Caller, contest_id: str, arena: str = "") -> records_pb2.ContestRecord:
        """Find a contest by the id that its arena gave it, which is not the stored one.

        A ticket finds its own contest, an arena one of its own. An admin must name the arena if several have
        such a contest. A bot finds the one it plays, an open one first.
        """
        if caller.contest_id:
            given = given_contest_id(caller.contest_id)
            if given != contest_id:
                raise NotPermittedError(
                    f"this ticket is for contest {given!r}, not for {contest_id!r}", contest_id=contest_id
                )
            return self._store.read(contest_record, caller.contest_id)
        if caller.role is Role.ARENA or arena:
            return self._store.read(arenas.contest_of_arena, self.arena(caller, arena), contest_id)
        records = self._store.read(arenas.contests_of_id, contest_id)
        if caller.role in BOTS:
            records = [record for record in records if _seats_of(caller, record.contest)]
            records.sort(key=lambda record: record.contest.state != contests_pb2.CONTEST_STATE_OPEN)
            if not records:
                # A bot cannot find out which contests of others there are.
                raise NotPermittedError(
                    f"contest {contest_id!r}: {caller.name!r} does not play it", contest_id=contest_id
                )
        elif not records:
            raise UnknownContestError(contest_id)
        elif len(records) > 1:
            raise _ambiguous_contest(records, contest_id, "arena")
        return records[0]

    def _check_analysis(self, caller: Caller, spec: GameSpec) -> None:
        if caller.contest_id:
            contest = as_given(self._store.read(contest_record, caller.contest_id))
            if contest.game_id != spec.game_id:
                raise NotPermittedError(
                    f"this ticket is for contest {contest.contest_id!r}, not for analysis of {spec.game_id}",
                    contest_id=contest.contest_id,
                )
            raise AnalysisDuringContestError(caller.name, spec.game_id, contest.contest_id, spec.game_id)
        if caller.role in BOTS:
            # An arena may never report: its players may analyse again after a time.
            since = self._store.clock() - self._contest_seconds
            related = self._store.read(_find_related_contest, caller.name, spec.game_id, since)
            if related is not None:
                raise AnalysisDuringContestError(caller.name, spec.game_id, *related)


def _find_related_contest(
    transaction: Transaction, player: str, game_id: str, since: float
) -> tuple[str, str] | None:
    """Return an open contest of a player that was opened at `since` or later, by its id and its game.

    It is of this game, or else of one whose libraries have contests in common with it; None where there
    is none.
    """
    contest_id = open_contest_of_player(transaction, player, game_id, since)
    if contest_id is not None:
        return given_contest_id(contest_id), game_id
    own: list[bytes] | None = None
    for played in games_with_open_contests(transaction, player):
        contest_id = open_contest_of_player(transaction, player, played, since)
        if contest_id is not None:
            own = sources.of_libraries(transaction, game_id, Library) if own is None else own
            if not set(own).isdisjoint(sources.of_libraries(transaction, played, Library)):
                return given_contest_id(contest_id), played
    return None


def _seats_of(caller: Caller, contest: contests_pb2.Contest) -> list[int]:
    if caller.contest_id:
        return [caller.seat]
    return [seat for seat, player in enumerate(contest.players, 1) if player.name == caller.name]


def _ambiguous_contest(
    records: list[records_pb2.ContestRecord], contest_id: str, field: str
) -> InvalidFieldError:
    names = ", ".join(repr(record.arena) for record in records)
    return InvalidFieldError(field, f"several arenas have a contest {contest_id!r}; name one of {names}")
