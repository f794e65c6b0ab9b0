"""Bearer tokens and contest tickets: making, reading and checking them.

A token is `acd_ID_SECRET`; a ticket, good for one seat of one contest, is `acdt_CONTEST.SEAT.SECRET`. Both
name the record they belong to, so that checking one is one look-up, and only a SHA-256 hash of the
secret is stored: 32 random bytes cannot be guessed from it.
"""

import base64
import binascii
import hmac
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from academy.store import keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.errors import InvalidRecordError, StoreCorruptError, UnknownTokenIdError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2
from academy.wire.tokens import digest_of

_TOKEN: Final = re.compile(r"acd_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_TICKET: Final = re.compile(r"acdt_([A-Za-z0-9_-]{2,190})\.([0-9]{1,3})\.([A-Za-z0-9_-]{43})")


class Role(StrEnum):
    """The rights of a token's holder; a ticket's holder is a bot in one contest."""

    BOT = "bot"
    ANALYST = "analyst"
    ARENA = "arena"
    ADMIN = "admin"


class TokenRefusedError(PermissionError):
    """A token or ticket that gives no rights."""


class UnknownTokenError(TokenRefusedError):
    """Neither a token nor a ticket that was ever given, or a ticket that was replaced."""

    def __init__(self) -> None:
        super().__init__("the token is not known here")


class RevokedTokenError(TokenRefusedError):
    """A token that was revoked."""

    def __init__(self) -> None:
        super().__init__("the token was revoked; ask for a new one")


class ExpiredTokenError(TokenRefusedError):
    """A token whose time is over."""

    def __init__(self) -> None:
        super().__init__("the token has expired; ask for a new one")


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret. Times are seconds since 1970; None = never."""

    token_id: str
    name: str
    role: Role
    created: float
    expires: float | None = None
    revoked: float | None = None
    analyst: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a token or ticket.

    Of a ticket `contest_id` and `seat` say what it is good for, `over` whether that contest has been
    reported, and `name` is the player's; of a token they are empty. An `analyst`, with a token made before
    there was the role, may get any number of patterns outside of contests.
    """

    name: str
    role: Role
    token_id: str = ""
    contest_id: str = ""
    seat: int = 0
    over: bool = False
    analyst: bool = False

    @property
    def analyses_freely(self) -> bool:
        """Whether it may see any number of patterns, and weights, outside of contests."""
        return self.analyst or self.role in (Role.ADMIN, Role.ANALYST)


def new_ticket(contest_id: str, seat: int) -> tuple[str, bytes]:
    """Return a fresh ticket, and the hash to keep of it."""
    secret = secrets.token_urlsafe(32)
    contest = base64.urlsafe_b64encode(contest_id.encode()).rstrip(b"=").decode()
    return f"acdt_{contest}.{seat}.{secret}", digest_of(secret)


@dataclass(frozen=True, slots=True)
class CreateToken:
    """Make a token. The result is its record and the text to give to its holder, shown only this once."""

    name: str
    role: Role
    expires: float | None = None

    def execute(self, work: WriteContext) -> tuple[Token, str]:
        """Store it. Raises InvalidRecordError for a bad name or a time of expiry that has passed."""
        keys.check_new_player_name(self.name)
        if self.expires is not None and not self.expires > work.now:
            raise InvalidRecordError("expires", "the time of expiry has passed already")
        secret = secrets.token_urlsafe(32)
        record = records_pb2.TokenRecord(
            token_id=secrets.token_hex(8),
            secret_hash=digest_of(secret),
            name=self.name,
            role=self.role.value,
            create_time=work.now,
            expire_time=self.expires or 0.0,
        )
        work.transaction.put(TableName.TOKENS, record.token_id.encode(), pack_message(record))
        return _token(record), f"acd_{record.token_id}_{secret}"


@dataclass(frozen=True, slots=True)
class RevokeToken:
    """End a token's rights at once; revoking again changes nothing. The result is its record."""

    token_id: str

    def execute(self, work: WriteContext) -> Token:
        """Store the revocation. Raises UnknownTokenIdError."""
        stored = work.transaction.get(TableName.TOKENS, self.token_id.encode()) if self.token_id else None
        if stored is None:
            raise UnknownTokenIdError(self.token_id)
        record = unpack_message(records_pb2.TokenRecord, stored)
        if not record.revoke_time:
            record.revoke_time = work.now
            work.transaction.put(TableName.TOKENS, self.token_id.encode(), pack_message(record))
        return _token(record)


def tokens(transaction: Transaction) -> list[Token]:
    """Return all tokens, oldest first."""
    unsorted = (read(stored) for _, stored in transaction.scan(TableName.TOKENS))
    return sorted(unsorted, key=lambda token: (token.created, token.token_id))


def read(stored: bytes) -> Token:
    """Return a token as stored, without its secret. Raises StoreCorruptError."""
    record = unpack_message(records_pb2.TokenRecord, stored)
    try:
        return _token(record)
    except ValueError as error:
        raise StoreCorruptError(f"a stored token cannot be read: {error}") from error


def authenticate(transaction: Transaction, text: str, now: float) -> Caller:
    """Return whose token or ticket this is.

    Raises UnknownTokenError, RevokedTokenError or ExpiredTokenError.
    """
    if match := _TOKEN.fullmatch(text):
        return _token_caller(transaction, match[1], match[2], now)
    if match := _TICKET.fullmatch(text):
        return _ticket_caller(transaction, match[1], int(match[2]), match[3])
    raise UnknownTokenError


def _token_caller(transaction: Transaction, token_id: str, secret: str, now: float) -> Caller:
    stored = transaction.get(TableName.TOKENS, token_id.encode())
    record = unpack_message(records_pb2.TokenRecord, stored or b"")
    if not hmac.compare_digest(record.secret_hash, digest_of(secret)):
        raise UnknownTokenError
    if record.revoke_time:
        raise RevokedTokenError
    if record.expire_time and record.expire_time <= now:
        raise ExpiredTokenError
    return Caller(record.name, Role(record.role), record.token_id, analyst=record.analyst)


def _ticket_caller(transaction: Transaction, contest: str, seat: int, secret: str) -> Caller:
    try:
        contest_id = base64.urlsafe_b64decode(contest + "=" * (-len(contest) % 4)).decode("ascii")
        stored = transaction.get(TableName.CONTESTS, keys.contest(contest_id))
    except (binascii.Error, UnicodeDecodeError, InvalidRecordError):
        raise UnknownTokenError from None
    record = unpack_message(records_pb2.ContestRecord, stored or b"")
    ticket_hash = record.seats[seat - 1].ticket_hash if 1 <= seat <= len(record.seats) else b""
    if not hmac.compare_digest(ticket_hash, digest_of(secret)):
        raise UnknownTokenError
    over = record.contest.state != contests_pb2.CONTEST_STATE_OPEN
    name = record.contest.players[seat - 1].name
    return Caller(name, Role.BOT, contest_id=contest_id, seat=seat, over=over)


def _token(record: records_pb2.TokenRecord) -> Token:
    return Token(
        token_id=record.token_id,
        name=record.name,
        role=Role(record.role),
        created=record.create_time,
        expires=record.expire_time or None,
        revoked=record.revoke_time or None,
        analyst=record.analyst,
    )
