"""The errors of the store: refused records, and faults of its folder."""

import errno
from typing import Final

from academy.knowledge.error_details import WithDetails

# What the system answers where a disk or a quota is full.
NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class StoreError(WithDetails, OSError):
    """The data folder cannot be used; the message says why and what to do."""


class StoreFullError(StoreError):
    """There is no room for more data. Nothing of the refused write was kept."""


class StoreReadOnlyError(StoreError):
    """The data folder cannot be written."""


class StoreCorruptError(StoreError):
    """The data folder holds something that is not, or no longer, a sound store."""


class SchemaMismatchError(StoreError):
    """The data were written under another version of the records' schema."""


class SchemaOutdatedError(SchemaMismatchError):
    """The data were written under an earlier version that this program can bring up to date."""

    def __init__(self, what: str, version: int) -> None:
        super().__init__(what, version=version)
        self.version = version


class StoreBusyError(StoreError):
    """More writes are waiting than the queue may hold. Nothing was done; try again later."""


class StoreClosedError(StoreError):
    """The store was closed."""


class LogUnavailableError(StoreError):
    """The log that servers share does not answer. Whether the write was done is not known: try again."""


class LogRefusedError(LogUnavailableError):
    """NATS does not let this server do something, and will not later either."""


class LogHostUnknownError(LogUnavailableError):
    """No name in the log's address is known: they may be mistyped, or their machines are starting."""


class LogDivergedError(StoreError):
    """The data folder and the log that servers share do not belong together, or no longer."""


class LogCutError(LogDivergedError):
    """The shared log begins after what a folder needs next."""


class LogUnreadableError(LogDivergedError):
    """The shared log has a message that no server can read, such as one that another program wrote."""


class LogUpgradingError(StoreError):
    """Servers of a newer version write to the shared log, or will soon: this one only answers questions."""


class LogMessageTooLargeError(StoreError):
    """A write is larger than a message of the shared log may be. Nothing was done."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the write makes a message of {size:,} bytes, NATS takes {limit:,}: write less at once, or "
            "raise max_payload in the configuration of the NATS servers, as a fork needs (8MB is enough for "
            "large libraries)",
            bytes=size,
            limit=limit,
        )


class UnknownRecordError(WithDetails, LookupError):
    """There is nothing under this name."""


class UnknownGameError(UnknownRecordError):
    """No game of this id is registered."""

    def __init__(self, game_id: str) -> None:
        super().__init__(
            f"game {game_id!r} is not registered; `academy games list` shows the registered games, "
            "`academy games create` registers one",
            game_id=game_id,
        )


class UnknownContestError(UnknownRecordError):
    """No contest of this id was opened or reported."""

    def __init__(self, contest_id: str) -> None:
        contest_id = contest_id.partition(" ")[0]
        super().__init__(
            f"contest {contest_id!r} was neither opened nor reported; "
            "`academy contests list` shows the open contests",
            contest_id=contest_id,
        )


class UnknownArenaError(UnknownRecordError):
    """No arena of this name has opened or reported a contest."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no arena {name[:140]!r} has opened or reported a contest; list the arenas", arena=name
        )


class NotDeletedError(UnknownRecordError):
    """There is no deleted pattern of this number to restore."""

    def __init__(self, pattern_id: int) -> None:
        super().__init__(
            f"no deleted pattern {pattern_id} is kept: there is nothing to restore", pattern_id=pattern_id
        )


class UnknownTesujiError(UnknownRecordError):
    """The game has no tesuji of this code."""

    def __init__(self, game_id: str, code: int) -> None:
        super().__init__(
            f"{game_id} has no tesuji of code {code}; `academy tesujis {game_id}` lists their codes",
            game_id=game_id,
            code=code,
        )


class UnknownRemovalError(UnknownRecordError):
    """Nothing is kept of what an event removed, or `muted` is a player whose unmuting alone restores it."""

    def __init__(self, removal: int, muted: str) -> None:
        why = (
            f"removal {removal} is what muting {muted!r} took out: unmute this player to bring it back"
            if muted
            else f"nothing is kept of a removal {removal}: list the removals to see what can be restored "
            "(the settings removed_days and removed_records say for how long)"
        )
        super().__init__(why, removal=removal)


class UnknownTokenIdError(UnknownRecordError):
    """No token has this id."""

    def __init__(self, token_id: str) -> None:
        super().__init__(
            f"there is no token {token_id!r}; list the tokens to see their ids", token_id=token_id
        )


class InvalidRecordError(WithDetails, ValueError):
    """A value given to the store breaks a rule; `field` is the path to it, as in `plies[3].board`."""

    def __init__(self, field: str, what: str, **details: object) -> None:
        super().__init__(f"{field}: {what}", field=field, **details)
        self.field = field


class ConflictError(WithDetails, ValueError):
    """The same id was used before for something else; `field` names what differs."""

    def __init__(self, what: str, identity: str, field: str, remedy: str = "") -> None:
        super().__init__(
            f"{what} {identity!r} is known already and differs in {field}{remedy}",
            identity=identity,
            field=field,
        )
        self.field = field


class GameConflictError(ConflictError):
    """Another game is registered under this id."""

    def __init__(self, game_id: str, field: str) -> None:
        super().__init__(
            "game",
            game_id,
            field,
            ": register this one under another id, or, while the other has no contests, have it deleted "
            f"where the data are (academy games delete {game_id})",
        )


class GameInUseError(WithDetails, ValueError):
    """A game with contests or patterns cannot be deleted."""

    def __init__(self, game_id: str, why: str) -> None:
        super().__init__(
            f"game {game_id!r} {why}: only a game that was never played can be deleted", game_id=game_id
        )


class ImportedBeforeError(WithDetails, ValueError):
    """The same records were imported before, by the event of number `event`.

    With a `section`, such as a library: an export has contests in common with it. The event registered the
    game, whose own they are, or took them in.
    """

    def __init__(self, game_id: str, event: int, section: str = "") -> None:
        what = f"these records, or some of them, were imported into {game_id!r} before, by event {event}, and"
        if section:
            what = f"this export and {game_id!r} have contests in common ({section}, event {event}), which"
        super().__init__(
            f"{what} would count twice; import with `replace`, or with `again` if they should",
            game_id=game_id,
            event=event,
        )


class ContestConflictError(ConflictError):
    """Another contest was opened or reported under this id."""

    def __init__(self, contest_id: str, field: str) -> None:
        remedy = ": use another id for another contest"
        super().__init__("contest", contest_id.partition(" ")[0], field, remedy)


class ContestOverError(WithDetails, RuntimeError):
    """The contest has been reported: it takes no more consultations and cannot be opened again."""

    def __init__(self, contest_id: str) -> None:
        contest_id = contest_id.partition(" ")[0]
        super().__init__(f"contest {contest_id!r} is over: it was reported", contest_id=contest_id)


class TooManyProposalsError(WithDetails, RuntimeError):
    """A player would propose more patterns in one contest than the game's settings allow."""

    def __init__(self, held: int, more: int, allowed: int) -> None:
        super().__init__(
            f"{held} patterns proposed in this contest and {more} more: "
            f"a player may propose {allowed} (max_submissions_per_contest)",
            held=held,
            more=more,
            allowed=allowed,
        )


class ConsultationOrderError(WithDetails, RuntimeError):
    """A consultation of the opening tree does not continue the game that the one before it was about."""

    def __init__(self, common: int) -> None:
        super().__init__(
            "in a contest each list of moves must extend the one consulted before; "
            f"these part after {common} moves",
            common=common,
        )


class AnalysisExceededError(WithDetails, RuntimeError):
    """The answer to a question outside of a contest would exceed the different patterns allowed in an hour.

    `returned` were given in this hour, which ends in `retry_after` seconds; the answer has `more`.
    """

    def __init__(self, returned: int, more: int, limit: int, retry_after: float) -> None:
        room = "come again then" if returned else "ask about fewer positions, or with max_matches"
        super().__init__(
            f"outside of a contest {limit} different patterns are given in an hour: {returned} were, "
            f"this answer has {more} more; the hour ends in {retry_after:.0f} seconds; {room}",
            returned=returned,
            more=more,
            limit=limit,
        )
        self.retry_after = retry_after
