"""Visitors who signed in: what a browser's cookie stands for. Sessions are kept in memory alone."""

import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from academy.wire.tokens import digest_of
from web.academy_service import AcademyService
from web.arena_service import ArenaService

__all__ = ["SESSION", "Holder", "Notice", "Session", "Sessions", "Undo"]

Service = TypeVar("Service", AcademyService, ArenaService)
# Where a request's scope has its session.
SESSION: Final = "web.session"
_SECONDS: Final = 12 * 3_600.0
_IDLE_SECONDS: Final = 2 * 3_600.0
# How long a service's word that a token is good is believed.
_CHECK_SECONDS: Final = 60.0
_MOST: Final = 1_000
# Sessions of one holder: nobody can drive the others out.
_MOST_OF_ONE: Final = 20
_MOST_NOTICES: Final = 8


@dataclass(frozen=True)
class Holder(Generic[Service]):
    """Whose token it is, in which role, such as `admin`, as the service says that is asked with it."""

    name: str
    role: str
    service: Service


@dataclass(frozen=True)
class Undo:
    """How something that was done can be undone: by the action of this name, with a form of these fields."""

    action: str
    fields: Mapping[str, object]


@dataclass(frozen=True)
class Notice:
    """What a page says once about what was done.

    Attributes:
        text: What happened.
        secret: A token that is shown only now; "" for none.
        undo: How it can be undone; None where it cannot.
        page: The path of the only page that says it; "" for the next one, whichever it is.
    """

    text: str
    secret: str = ""
    undo: Undo | None = None
    page: str = ""


@dataclass
class Session:
    """A visitor who signed in.

    Attributes:
        academy: Who the visitor is for ACADEMY; None without a token of it.
        arena: Who the visitor is for the arena; None without a token of it.
        form_key: Stands in every form, so that no other site can send one.
        began: When the first sign-in was, by the clock of the sessions.
        seen: When the last page was asked for.
        checked: When the services were asked last whether the tokens are good.
    """

    academy: Holder[AcademyService] | None = None
    arena: Holder[ArenaService] | None = None
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    began: float = 0.0
    seen: float = 0.0
    checked: float = 0.0
    _notices: list[Notice] = field(default_factory=list, repr=False)

    @property
    def names(self) -> str:
        """Who the visitor is, for people."""
        return " and ".join(dict.fromkeys(who.name for who in (self.academy, self.arena) if who))

    @property
    def holders(self) -> tuple[str | None, str | None]:
        """Who the visitor is for ACADEMY and for the arena."""
        return self.academy.name if self.academy else None, self.arena.name if self.arena else None

    @property
    def is_admin(self) -> bool:
        """Whether the visitor is an admin of ACADEMY."""
        return self.academy is not None and self.academy.role == "admin"

    @property
    def is_operator(self) -> bool:
        """Whether the visitor may start and stop competitions."""
        return self.arena is not None and self.arena.role == "operator"

    @property
    def may_watch(self) -> bool:
        """Whether the arena shows games in progress to the visitor; its players see what is over."""
        return self.arena is not None and self.arena.role in ("operator", "watcher")

    def note(self, notice: Notice) -> None:
        """Say something on the next page."""
        self._notices = [*self._notices, notice][-_MOST_NOTICES:]

    def take_notices(self, page: str) -> Sequence[Notice]:
        """Return what the page of a path has to say; a second call has nothing."""
        taken = [notice for notice in self._notices if notice.page in ("", page)]
        self._notices = [notice for notice in self._notices if notice not in taken]
        return taken

    def has_form_key(self, given: str) -> bool:
        """Return whether a form is one of this session's."""
        return hmac.compare_digest(given.encode(), self.form_key.encode())


class Sessions:
    """The sessions by the digests of their cookies. For one event loop.

    `clock` gives seconds, which only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_digest: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def open(self, session: Session) -> str:
        """Keep a session under a new cookie, which is returned. The one seen longest ago makes room.

        A session that was kept already keeps its time.
        """
        now = self._clock()
        self._drop_old(now)
        same = [digest for digest, known in self._by_digest.items() if known.holders == session.holders]
        if len(same) >= _MOST_OF_ONE:
            self._drop_longest_unseen(same)
        if len(self._by_digest) >= _MOST:
            self._drop_longest_unseen(self._by_digest)
        session.began = session.began or now
        session.seen = session.checked = now
        cookie = secrets.token_urlsafe(32)
        self._by_digest[digest_of(cookie)] = session
        return cookie

    def find(self, cookie: str) -> Session | None:
        """Return the session of a cookie, which is used now; None where there is none, or it is over."""
        session = self.known(cookie)
        if session is None:
            self.close(cookie)
        else:
            session.seen = self._clock()
        return session

    def known(self, cookie: str) -> Session | None:
        """Return the session of a cookie, which is not used by that; None if there is none, or it is over."""
        session = self._by_digest.get(digest_of(cookie))
        return None if session is None or _is_over(session, self._clock()) else session

    def needs_check(self, session: Session) -> bool:
        """Return whether it is time to ask the services about a session's tokens again; then note that."""
        now = self._clock()
        if now - session.checked < _CHECK_SECONDS:
            return False
        session.checked = now
        return True

    def close(self, cookie: str) -> None:
        """Forget a session; one that is unknown changes nothing."""
        self._by_digest.pop(digest_of(cookie), None)

    def _drop_longest_unseen(self, digests: Iterable[bytes]) -> None:
        del self._by_digest[min(digests, key=lambda digest: self._by_digest[digest].seen)]

    def _drop_old(self, now: float) -> None:
        for digest, session in list(self._by_digest.items()):
            if _is_over(session, now):
                del self._by_digest[digest]


def _is_over(session: Session, now: float) -> bool:
    return now - session.began >= _SECONDS or now - session.seen >= _IDLE_SECONDS
