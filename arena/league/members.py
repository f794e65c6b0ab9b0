"""Members of a league: players that claim a name, with their tokens, bans and quotas; and invitations."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, Table, delete, exists, func, insert, or_, select, update

from academy.wire.tokens import digest_of
from arena.league.database import LeagueDatabase
from arena.league.errors import (
    InvalidMembershipError,
    InvitationError,
    MemberPlayedError,
    NameClaimedError,
    UnknownInvitationError,
    UnknownMemberError,
)
from arena.league.names import complaint_about_name, skeleton
from arena.league.players import Entrant, enter
from arena.league.tables import GAME, INVITATION, MEMBER, PLAYER, SEAT
from arena.lobby.errors import TooManyError
from arena.results.database import utc_now

MOST_MEMBERS: Final = 100_000
MOST_INVITATIONS: Final = 100_000
MOST_USES: Final = 10_000
KEPT_UNPLAYED: Final = 10
"""A member's latest versions without a game: one of theirs may be in progress."""
MOST_GAMES: Final = 32
LONGEST_TEXT: Final = 200
LONGEST_BAN_DAYS: Final = 36_500
GRACE: Final = timedelta(minutes=10)
"""How long the token before a new one is good."""
REPEATABLE: Final = timedelta(days=1)
"""How long a registration may be sent again."""
# A version or a family; both may be empty.
_NAMED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?")
_WORD: Final = "write at most 64 letters of ASCII, digits, '.', '_', '+' and '-', a letter or digit first"
_GAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}(/[A-Za-z0-9._+-]{1,64}){0,3}")
_KEY: Final = re.compile(r"[A-Za-z0-9._~+/=-]{16,64}")


@dataclass(frozen=True)
class Application:
    """What a player says of itself when it registers."""

    name: str
    version: str = ""
    family: str = ""
    contact: str = ""
    games: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises InvalidMembershipError."""
        if complaint := complaint_about_name(self.name):
            raise InvalidMembershipError("name", complaint)
        if not _NAMED.fullmatch(self.family):
            raise InvalidMembershipError("family", f"{self.family[:80]!r}: {_WORD}")
        check_version(self.version)
        _check_text("contact", self.contact)
        check_games(self.games)


@dataclass(frozen=True)
class Member:
    """A member. Times are in UTC; a quota of 0 is no limit."""

    member_id: int
    name: str
    version: str
    family: str
    contact: str
    games: tuple[str, ...]
    registered: datetime
    digest: bytes | None
    old_digest: bytes | None
    old_until: datetime | None
    banned: bool
    ban_reason: str
    ban_until: datetime | None
    games_at_once: int
    games_a_day: int

    def is_banned(self, now: datetime) -> bool:
        """Whether a ban is in force."""
        return self.banned and (self.ban_until is None or now < self.ban_until)

    def digests(self, now: datetime) -> tuple[bytes, ...]:
        """The digests of the tokens that are good now."""
        old = self.old_digest if self.old_until is not None and now < self.old_until else None
        return tuple(digest for digest in (self.digest, old) if digest is not None)

    def plays(self, *names: str) -> bool:
        """Whether it plays a game that has these names: its referee's, its own, its pool's."""
        return not self.games or not set(self.games).isdisjoint(names)


@dataclass(frozen=True)
class Invitation:
    """A code with which players register, without the code itself."""

    invitation_id: int
    note: str
    name: str
    uses: int
    used: int
    created: datetime
    expires: datetime | None
    revoked: bool

    def is_good(self, now: datetime) -> bool:
        """Whether somebody may register with it."""
        return not self.revoked and self.used < self.uses and (self.expires is None or now < self.expires)


class Members:
    """The members and invitations of a league. Methods wait for the database."""

    def __init__(self, league: LeagueDatabase) -> None:
        self.league = league

    def all(self) -> list[Member]:
        """All members, by name."""
        with self.league.transaction() as connection:
            members = [_member(row) for row in connection.execute(_members()).mappings()]
        # A database may have an order of its own, by its locale.
        return sorted(members, key=lambda member: member.name)

    def named(self, name: str) -> Member:
        """The member of a name. Raises UnknownMemberError."""
        with self.league.transaction() as connection:
            return _by_name(connection, name)

    def register(
        self, application: Application, code: str, key: str, *, open_to_all: bool, taken: Sequence[str] = ()
    ) -> tuple[Member, str]:
        """Enter a player as a member; return it with its token.

        `taken` are names that others have besides the league's players. The same name and key within a day
        give the member, which is entered already, another token. Raises InvalidMembershipError,
        InvitationError and NameClaimedError.
        """
        application.check()
        if not _KEY.fullmatch(key):
            raise InvalidMembershipError("key", "make up 16 to 64 random letters, digits or signs of base64")
        token, now = secrets.token_urlsafe(32), utc_now()
        with self.league.sole_transaction() as connection:
            query = select(MEMBER).where(MEMBER.c.Name == application.name)
            known = connection.execute(query).mappings().first()
            if known is not None and _is_repeated(known, key, now):
                _change(connection, known["MemberId"], Digest=digest_of(token))
                return _by_name(connection, application.name), token
            invitation = _good_invitation(connection, code, application.name, now)
            if invitation is None and not open_to_all:
                raise InvitationError("this service registers by invitation; give its code")
            promised = invitation is not None and invitation.name == application.name
            _claim(connection, application.name, taken, promised=promised)
            if not promised:
                _check_promises(connection, application.name, now)
            _check_room(connection, MEMBER, MOST_MEMBERS)
            if invitation is not None:
                table = INVITATION.c
                used = update(INVITATION).where(table.InvitationId == invitation.invitation_id)
                connection.execute(used.values(Used=table.Used + 1))
            enter(connection, Entrant(application.name, application.version, application.family))
            connection.execute(
                insert(MEMBER).values(
                    Name=application.name,
                    Skeleton=skeleton(application.name),
                    Version=application.version,
                    Contact=application.contact,
                    Games="\n".join(application.games),
                    Registered=now,
                    KeyDigest=digest_of(key),
                    Digest=digest_of(token),
                    Banned=False,
                    BanReason="",
                    GamesAtOnce=0,
                    GamesADay=0,
                )
            )
            return _by_name(connection, application.name), token

    def change(
        self, name: str, *, version: str | None, contact: str | None, games: Sequence[str] | None
    ) -> Member:
        """Change what is not None; a new version is entered as a player. Raises InvalidMembershipError."""
        values: dict[str, Any] = {}
        if contact is not None:
            values["Contact"] = _check_text("contact", contact)
        if games is not None:
            values["Games"] = "\n".join(check_games(games))
        if version is not None:
            values["Version"] = check_version(version)
        with self.league.sole_transaction() as connection:
            member = _by_name(connection, name)
            if version is not None:
                enter(connection, Entrant(name, version))
                _forget_unplayed(connection, name, version)
            if values:
                _change(connection, member.member_id, **values)
            return _by_name(connection, name)

    def rotate(self, name: str, *, at_once: bool) -> str:
        """Give a member another token, and return it; the one before is good for a while, or ends at once."""
        token = secrets.token_urlsafe(32)
        with self.league.sole_transaction() as connection:
            member = _by_name(connection, name)
            grace = not at_once and member.digest is not None
            _change(
                connection,
                member.member_id,
                Digest=digest_of(token),
                OldDigest=member.digest if grace else None,
                OldUntil=utc_now() + GRACE if grace else None,
                KeyDigest=None,
            )
        return token

    def revoke(self, name: str) -> None:
        """End a member's tokens."""
        self._set(name, Digest=None, OldDigest=None, OldUntil=None, KeyDigest=None)

    def ban(self, name: str, reason: str, duration: timedelta | None) -> Member:
        """Keep a member out. Raises InvalidMembershipError."""
        _check_text("reason", reason)
        _check_duration(duration)
        until = None if duration is None else utc_now() + duration
        return self._set(name, Banned=True, BanReason=reason, BanUntil=until)

    def unban(self, name: str) -> Member:
        """Let a member play again."""
        return self._set(name, Banned=False, BanReason="", BanUntil=None)

    def set_quota(self, name: str, games_at_once: int, games_a_day: int) -> Member:
        """Bound what a member plays; 0 for no limit."""
        return self._set(name, GamesAtOnce=games_at_once, GamesADay=games_a_day)

    def remove(self, name: str) -> None:
        """Free the name of a member that has not played. Raises MemberPlayedError."""
        with self.league.sole_transaction() as connection:
            member = _by_name(connection, name)
            own = select(PLAYER.c.PlayerId).where(PLAYER.c.Name == name)
            if connection.execute(select(SEAT.c.GameId).where(SEAT.c.PlayerId.in_(own)).limit(1)).first():
                raise MemberPlayedError(f"{name} has played, so its name stays its own")
            connection.execute(delete(MEMBER).where(MEMBER.c.MemberId == member.member_id))
            # Versions point to those before them.
            connection.execute(update(PLAYER).where(PLAYER.c.Name == name).values(PredecessorId=None))
            connection.execute(delete(PLAYER).where(PLAYER.c.Name == name))

    def _set(self, name: str, **values: Any) -> Member:
        with self.league.sole_transaction() as connection:
            member = _by_name(connection, name)
            _change(connection, member.member_id, **values)
            return _by_name(connection, name)

    def invite(self, note: str, name: str, uses: int, duration: timedelta | None) -> tuple[Invitation, str]:
        """Make an invitation; return it with its code. Raises InvalidMembershipError."""
        _check_text("note", note)
        if name and (complaint := complaint_about_name(name)):
            raise InvalidMembershipError("name", complaint)
        most = 1 if name else MOST_USES
        if not 1 <= uses <= most:
            raise InvalidMembershipError("uses", f"{uses}: write 1 to {most}")
        _check_duration(duration)
        code, now = secrets.token_urlsafe(16), utc_now()
        row = {
            "Digest": digest_of(code), "Note": note, "Name": name, "Uses": uses, "Used": 0, "Created": now,
            "Expires": None if duration is None else now + duration, "Revoked": False,
        }  # fmt: skip
        with self.league.sole_transaction() as connection:
            if _count(connection, INVITATION) >= MOST_INVITATIONS:
                table = INVITATION.c
                dead = or_(table.Revoked, table.Used >= table.Uses, table.Expires <= now)
                connection.execute(delete(INVITATION).where(dead))
            _check_room(connection, INVITATION, MOST_INVITATIONS)
            added = connection.execute(insert(INVITATION).values(row)).inserted_primary_key
            assert added is not None
            query = _invitations().where(INVITATION.c.InvitationId == added[0])
            return Invitation(*connection.execute(query).one()), code

    def invitations(self, before: int | None, limit: int) -> list[Invitation]:
        """The newest invitations, those below a number."""
        table = INVITATION.c
        query = _invitations().order_by(table.InvitationId.desc()).limit(limit)
        if before is not None:
            query = query.where(table.InvitationId < before)
        return [Invitation(*row) for row in self.league.rows(query)]

    def revoke_invitation(self, invitation_id: int) -> None:
        """End an invitation. Raises UnknownInvitationError."""
        with self.league.sole_transaction() as connection:
            key = INVITATION.c.InvitationId == invitation_id
            if not connection.execute(update(INVITATION).where(key).values(Revoked=True)).rowcount:
                raise UnknownInvitationError(f"there is no invitation {invitation_id}")


def _forget_unplayed(connection: Connection, name: str, version: str) -> None:
    """Take a member's older versions without a game out of the players: nothing is known of them."""
    table = PLAYER.c
    query = (
        select(table.PlayerId, table.PredecessorId)
        .where(
            table.Name == name, table.Version != version, ~exists().where(SEAT.c.PlayerId == table.PlayerId)
        )
        # Without a version before it the family would be lost.
        .where(table.PredecessorId.is_not(None))
        .order_by(table.PlayerId.desc())
        .offset(KEPT_UNPLAYED)
    )
    for player in connection.execute(query).all():
        followers = update(PLAYER).where(table.PredecessorId == player.PlayerId)
        connection.execute(followers.values(PredecessorId=player.PredecessorId))
        connection.execute(delete(PLAYER).where(table.PlayerId == player.PlayerId))


def versions_of(league: LeagueDatabase, names: Sequence[str]) -> dict[str, str]:
    """The versions that play now of those names that are members."""
    query = select(MEMBER.c.Name, MEMBER.c.Version).where(MEMBER.c.Name.in_(names))
    return {row.Name: row.Version for row in league.rows(query)}


def games_between(
    league: LeagueDatabase, names: Sequence[str], since: datetime, before: datetime
) -> dict[str, int]:
    """How many games of all versions of these players ended since a time, and before another one."""
    if not names:
        return {}
    query = (
        select(PLAYER.c.Name, func.count())
        .join_from(SEAT, GAME, GAME.c.GameId == SEAT.c.GameId)
        .join(PLAYER, PLAYER.c.PlayerId == SEAT.c.PlayerId)
        .where(PLAYER.c.Name.in_(names), GAME.c.Finished >= since, GAME.c.Finished < before)
        .group_by(PLAYER.c.Name)
    )
    return {row[0]: row[1] for row in league.rows(query)}


def check_version(version: str) -> str:
    """The version, if it is one. Raises InvalidMembershipError."""
    if not _NAMED.fullmatch(version):
        raise InvalidMembershipError("version", f"{version[:80]!r}: {_WORD}")
    return version


def check_games(games: Sequence[str]) -> Sequence[str]:
    """The games, if they can be. Raises InvalidMembershipError."""
    if len(games) > MOST_GAMES:
        raise InvalidMembershipError("games", f"{len(games)}: at most {MOST_GAMES}; without any it plays all")
    wrong = next((game for game in games if not _GAME.fullmatch(game)), None)
    if wrong is not None:
        raise InvalidMembershipError("games", f"{wrong[:80]!r}: write a game (go, go-9x9) or a pool's name")
    return games


def _check_duration(duration: timedelta | None) -> None:
    if duration is not None and not timedelta(0) < duration <= timedelta(days=LONGEST_BAN_DAYS):
        raise InvalidMembershipError("duration", f"write a time up to {LONGEST_BAN_DAYS} days, or none")


def _check_text(field: str, text: str) -> str:
    if len(text) > LONGEST_TEXT or not (text.isprintable() or not text):
        raise InvalidMembershipError(field, f"write at most {LONGEST_TEXT} characters in one line")
    return text


def _members() -> Any:
    table = MEMBER.c
    same = (PLAYER.c.Name == table.Name) & (PLAYER.c.Version == table.Version)
    return select(MEMBER, PLAYER.c.Family).join_from(MEMBER, PLAYER, same)


def _by_name(connection: Connection, name: str) -> Member:
    row = connection.execute(_members().where(MEMBER.c.Name == name)).mappings().first()
    if row is None:
        raise UnknownMemberError(f"there is no member {name[:80]!r}", name=name)
    return _member(row)


def _member(row: RowMapping) -> Member:
    return Member(
        row["MemberId"], row["Name"], row["Version"], row["Family"], row["Contact"],
        tuple(row["Games"].split()), row["Registered"], row["Digest"], row["OldDigest"], row["OldUntil"],
        row["Banned"], row["BanReason"], row["BanUntil"], row["GamesAtOnce"], row["GamesADay"],
    )  # fmt: skip


def _change(connection: Connection, member_id: int, **values: Any) -> None:
    connection.execute(update(MEMBER).where(MEMBER.c.MemberId == member_id).values(values))


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _check_room(connection: Connection, table: Table, most: int) -> None:
    if _count(connection, table) >= most:
        raise TooManyError(f"the league has {most} of them already", most=most)


def _is_repeated(member: RowMapping, key: str, now: datetime) -> bool:
    """Whether a registration is sent again, and may be."""
    same: bool = member["KeyDigest"] == digest_of(key)
    return same and now < member["Registered"] + REPEATABLE


def _claim(connection: Connection, name: str, taken: Sequence[str], *, promised: bool) -> None:
    """Check that a name is free. One that is `promised` may be that of a player from control files."""
    alike = skeleton(name)
    holder = connection.execute(select(MEMBER.c.Name).where(MEMBER.c.Skeleton == alike)).scalar()
    others = [*connection.execute(select(PLAYER.c.Name).distinct()).scalars(), *taken]
    if holder is None:
        holder = next((other for other in others if skeleton(other) == alike), None)
        if promised and holder == name:
            holder = None
    if holder is not None:
        looks = "is claimed" if holder == name else f"looks like {holder}, which is claimed"
        raise NameClaimedError(f"name: {name} {looks}", name=name, holder=holder)


def _check_promises(connection: Connection, name: str, now: datetime) -> None:
    """Check that no invitation promises the name, or one that looks like it, to somebody else."""
    table = INVITATION.c
    open_ones = _invitations().where(table.Name != "", table.Used < table.Uses, ~table.Revoked)
    for invitation in (Invitation(*row) for row in connection.execute(open_ones)):
        if invitation.is_good(now) and skeleton(invitation.name) == skeleton(name):
            raise NameClaimedError(
                f"name: {name} is, or looks like, {invitation.name}, which an invitation promises",
                name=name,
                holder=invitation.name,
            )


def _invitations() -> Any:
    table = INVITATION.c
    return select(
        table.InvitationId, table.Note, table.Name, table.Uses, table.Used, table.Created, table.Expires,
        table.Revoked,
    )  # fmt: skip


def _good_invitation(connection: Connection, code: str, name: str, now: datetime) -> Invitation | None:
    """The invitation of a code; None without a code. Raises InvitationError."""
    if not code:
        return None
    row = connection.execute(_invitations().where(INVITATION.c.Digest == digest_of(code))).first()
    invitation = None if row is None else Invitation(*row)
    if invitation is None or not invitation.is_good(now):
        raise InvitationError("the invitation is unknown, used up, expired or revoked")
    if invitation.name not in ("", name):
        raise InvitationError(f"the invitation is for the name {invitation.name}, not for {name}")
    return invitation
