"""Signing in with a token: who its holder is, the cookie, and how often it may be tried."""

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from academy.v1 import tokens_pb2
from academy.wire.rates import Bucket, Buckets
from academy.wire.tokens import check_token
from arena.v1 import competitions_pb2
from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.failures import PageError
from web.forms import FORM_KEY, check_origin, go_to, read_form
from web.query import LONGEST_TEXT, Query, link
from web.rendering import render
from web.sessions import SESSION, Holder, Service, Session, Sessions
from web.settings import WebSettings

__all__ = ["ROLE_NAMES", "SignIn", "local_address", "sign_in_address"]

_log = logging.getLogger(__name__)
_LONGEST_TOKEN: Final = 512
# Tokens of ACADEMY are known by their form. So the arena is not shown them, nor ACADEMY the arena's.
_OF_ACADEMY: Final = re.compile(r"acdt?_.*")
_TICKET: Final = "acdt_"
ROLE_NAMES: Final[Mapping[tokens_pb2.TokenRole.ValueType, str]] = {
    tokens_pb2.TOKEN_ROLE_BOT: "bot",
    tokens_pb2.TOKEN_ROLE_ANALYST: "analyst",
    tokens_pb2.TOKEN_ROLE_ARENA: "arena",
    tokens_pb2.TOKEN_ROLE_ADMIN: "admin",
}
_ARENA_ROLES: Final = {
    competitions_pb2.TOKEN_ROLE_WATCHER: "watcher",
    competitions_pb2.TOKEN_ROLE_OPERATOR: "operator",
    competitions_pb2.TOKEN_ROLE_PLAYER: "player",
}
# A number of tries at once and the seconds until one more: of one address, and of all together.
_TRIES: Final = 10.0
_SECONDS_A_TRY: Final = 6.0
_ALL_TRIES: Final = 200.0
_SECONDS_A_TRY_OF_ALL: Final = 0.2
# The page that comes after it may wait for the same service.
_AGAIN_SECONDS: Final = 2.0
_COOKIE_SECONDS: Final = 12 * 3_600
_BEFORE_PORT: Final = re.compile(r"^(?:\[([^]]*)\](?::\d+)?|([\d.]+):\d+)$")
_UNREADABLE: Final = re.compile(r"[\x00-\x20\x7f\\]")


class SignIn:
    """Lets visitors in and out, and knows them by their cookies."""

    def __init__(
        self,
        settings: WebSettings,
        academy: AcademyService | None,
        arena: ArenaService | None,
        sessions: Sessions,
    ) -> None:
        self._settings = settings
        self._academy = academy
        self._arena = arena
        self._sessions = sessions
        self._tries = Buckets(1 / _SECONDS_A_TRY, _TRIES)
        self._all_tries = Bucket(1 / _SECONDS_A_TRY_OF_ALL, _ALL_TRIES)
        # A name with this beginning is taken only over TLS, and only from this very host.
        self._cookie = "__Host-academy" if settings.encrypted else "academy"

    async def session_of(self, request: Request) -> Session | None:
        """Return the visitor's session, None without one, and put it where pages find it."""
        cookie = request.cookies.get(self._cookie, "")
        session = self._sessions.find(cookie) if cookie else None
        if session is not None and not await self._is_good(cookie, session):
            session = None
        request.scope[SESSION] = session
        return session

    async def _is_good(self, cookie: str, session: Session) -> bool:
        """Ask the services again from time to time whose tokens they are; a revoked one ends the session."""
        if self._sessions.needs_check(session):
            try:
                session.academy, session.arena = await asyncio.gather(
                    _ask_again(session.academy), _ask_again(session.arena)
                )
            except PageError:
                self._sessions.close(cookie)
                return False
        return True

    async def lets_in(self, request: Request) -> bool:
        """Return whether the visitor may still watch the arena, where that takes signing in.

        The request may be of long ago.
        """
        if not self._settings.members:
            return True
        cookie = request.cookies.get(self._cookie, "")
        session = self._sessions.known(cookie)
        if session is None or not await self._is_good(cookie, session):
            return False
        return self._settings.own_arena or session.may_watch

    def academy_for(self, request: Request) -> AcademyService | None:
        """Return ACADEMY as an arena's page asks it; None where it may not be read, or there is none.

        The session of the request was looked up before.
        """
        session: Session | None = request.scope.get(SESSION)
        own = session.academy.service if session is not None and session.academy is not None else None
        if self._settings.members:
            return own
        # Signing in adds: a bot's own token may read less than that of the pages.
        return own if session is not None and session.is_admin else self._academy

    def arena_for(self, request: Request) -> ArenaService | None:
        """Return the arena as the pages ask it; None where there is none, or it is not for the visitor.

        The session of the request was looked up before.
        """
        if not self._settings.members:
            return self._arena
        session: Session | None = request.scope.get(SESSION)
        belongs = session is not None and (self._settings.own_arena or session.arena is not None)
        return self._arena if belongs else None

    def may_follow(self, request: Request) -> bool:
        """Return whether the visitor may see games in progress.

        A player of the arena may not, where visitors sign in: it could read what its opponents expect. The
        session of the request was looked up before.
        """
        session: Session | None = request.scope.get(SESSION)
        watches = session is not None and session.may_watch
        return not self._settings.members or self._settings.own_arena or watches

    async def show(self, request: Request) -> Response:
        """Show the form. Raises PageError."""
        query = Query(request.query_params, ("next",))
        await self.session_of(request)
        return self._form(request, query.text("next"))

    def _form(self, request: Request, following: str, wrong: str = "", status: int = 200) -> Response:
        context = {"next": following, "wrong": wrong}
        return render(request, "sign_in.html", context, status)

    async def sign_in(self, request: Request) -> Response:
        """Open a session for the holder of a token, or add a token to the session that there is.

        Raises PageError.
        """
        check_origin(request, self._settings)
        tries = self._count_try(request)
        following = ""
        try:
            form = await read_form(request, ("token", "next"), self._settings)
            before = await self.session_of(request)
            following = form.text("next")
            session = await self._identify(form.text("token"))
        except PageError as error:
            if error.status != 403:
                self._forget_try(tries)
                raise
            _log.warning("sign-in refused: %s", error.why)
            return self._form(request, following, f"{error.why} {error.remedy}", 403)
        self._forget_try(tries)
        if before is not None:
            session = replace(
                session,
                academy=session.academy or before.academy,
                arena=session.arena or before.arena,
                began=before.began,
            )
            self._sessions.close(request.cookies[self._cookie])
        answer = go_to(local_address(following) or "/account")
        answer.set_cookie(
            self._cookie,
            self._sessions.open(session),
            max_age=_COOKIE_SECONDS,
            path="/",
            secure=self._settings.encrypted,
            httponly=True,
            samesite="strict",
        )
        return answer

    async def sign_out(self, request: Request) -> Response:
        """Forget the session. Raises PageError."""
        check_origin(request, self._settings)
        await read_form(request, (FORM_KEY,), self._settings)
        self._sessions.close(request.cookies.get(self._cookie, ""))
        answer = go_to("/sign-in")
        answer.delete_cookie(
            self._cookie, path="/", secure=self._settings.encrypted, httponly=True, samesite="strict"
        )
        return answer

    def _count_try(self, request: Request) -> Bucket:
        tries = self._tries.of(self._address_of(request))
        wait = tries.take(1) or self._all_tries.take(1)
        if wait:
            seconds = max(1, round(wait))
            why = f"At most {_TRIES:g} tries at once, and one more each {_SECONDS_A_TRY:g} seconds."
            raise PageError(429, "Too many tries to sign in", why, f"Wait {seconds} seconds.", seconds)
        return tries

    def _forget_try(self, tries: Bucket) -> None:
        """Give a try back: only wrong tokens count."""
        tries.take(-1)
        self._all_tries.take(-1)

    def _address_of(self, request: Request) -> str:
        """Whom tries are counted for: an address, of the sixth version its network."""
        text = request.client.host if request.client else ""
        if self._settings.behind_proxy:
            # The last is what the proxy saw; visitors may write what stands before.
            text = (request.headers.getlist("x-forwarded-for") or [text])[-1].rpartition(",")[2].strip()
            # Some proxies write the port of the visitor's connection too.
            text = _BEFORE_PORT.sub(r"\1\2", text)
        try:
            address = ip_address(text)
        except ValueError:
            return text[:_LONGEST_TOKEN]
        if isinstance(address, IPv6Address):
            # A server that listens on `::` sees visitors of the fourth version so.
            return str(address.ipv4_mapped or int(address) >> 64)
        return text

    async def _identify(self, token: str) -> Session:
        """Whose token it is, as a session to begin with. Raises PageError, 403 for a token that is none."""
        try:
            token = check_token(token, "the form")
        except ValueError:
            raise _not_let_in("This is not a token.") from None
        if token.startswith(_TICKET):
            raise _not_let_in("This is a ticket: it is for a program in one contest.")
        if _OF_ACADEMY.fullmatch(token):
            if self._academy is None:
                raise _not_let_in("This is a token of ACADEMY, and these pages show an arena alone.")
            academy = self._academy.with_token(token)
            name, role = await _ask(academy)
            return Session(academy=Holder(name, role, academy))
        if self._arena is None or self._settings.own_arena:
            raise _not_let_in("This is not a token of ACADEMY.")
        arena = self._arena.with_token(token)
        name, role = await _ask(arena)
        return Session(arena=Holder(name, role, arena))


async def _ask(service: AcademyService | ArenaService, seconds: float | None = None) -> tuple[str, str]:
    """Whose token a service is asked with, and in which role. Raises PageError."""
    if isinstance(service, AcademyService):
        me = await service.ask(service.tokens.GetCaller, tokens_pb2.GetCallerRequest(), seconds)
        return me.name, ROLE_NAMES.get(me.role, "bot")
    known = await service.ask(service.service.GetCaller, competitions_pb2.GetCallerRequest(), seconds)
    return known.name, _ARENA_ROLES.get(known.role, "player")


async def _ask_again(holder: Holder[Service] | None) -> Holder[Service] | None:
    """Ask a service again whose token it is. Raises PageError for one that is no longer good."""
    if holder is None:
        return None
    try:
        _, role = await _ask(holder.service, _AGAIN_SECONDS)
    except PageError as error:
        if error.status == 403:
            raise
        # A service that is away looks at the token itself when it is asked for something.
        return holder
    return replace(holder, role=role)


def _not_let_in(why: str) -> PageError:
    remedy = "An admin makes tokens: `academy tokens create`, `arena token`."
    return PageError(403, "This token is not taken", why, remedy)


def local_address(text: str) -> str:
    """Return an address of this site; "" for one that may lead elsewhere."""
    is_local = text.startswith("/") and not text.startswith("//") and not _UNREADABLE.search(text)
    return text if is_local else ""


def sign_in_address(request: Request) -> str:
    """Return the address of the form that leads back to where a visitor wanted to go."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    # Within another address a long one could not be read.
    following = local_address(wanted) if len(quote(wanted, safe="")) <= LONGEST_TEXT else ""
    return link("/sign-in", {"next": following})
