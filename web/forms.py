"""Forms that change something: where they come from, whose they are, and what they may hold."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from web.failures import PageError
from web.query import Query
from web.refused_form import SENT
from web.sessions import Session
from web.settings import WebSettings

__all__ = ["ACTIONS", "FORM_KEY", "Action", "carry_out", "check_origin", "check_role", "go_to", "read_form"]

# Where forms are sent: nothing else takes anything but questions.
ACTIONS: Final = "/actions/"
FORM_KEY: Final = "form_key"
_KIND: Final = "application/x-www-form-urlencoded"
_SEE_OTHER: Final = 303
_MOST_FIELDS: Final = 500


@dataclass(frozen=True)
class Action:
    """Something that a visitor who signed in may do.

    Attributes:
        run: Does it, notes in the session what was done, and returns the address to go on from.
        fields: What its form may have.
        needs: Whether a session may do it; the service looks at the token all the same.
        role: Who may, for people.
    """

    run: Callable[[Session, Query], Awaitable[str]]
    fields: Sequence[str]
    needs: Callable[[Session], bool]
    role: str


def go_to(address: str) -> Response:
    """Return an answer that leads to a page of this site."""
    return RedirectResponse(address, _SEE_OTHER)


def check_origin(request: Request, settings: WebSettings) -> None:
    """Check that a form was sent from one of these pages.

    Raises PageError, also for a browser that does not say who sent it.
    """
    own = f"{'https' if settings.encrypted else 'http'}://{request.headers.get('host', '')}"
    origin = request.headers.get("origin", "")
    site = request.headers.get("sec-fetch-site", "same-origin")
    if origin.lower() != own.lower() or site != "same-origin":
        raise PageError(
            403,
            "This form was not sent from these pages",
            f"It says that it comes from {origin[:200] or 'nowhere'!r}; forms are taken from {own!r} alone.",
            "Open the page here and send the form again. A proxy must pass the header Host as it is.",
        )


async def read_form(request: Request, fields: Sequence[str], settings: WebSettings) -> Query:
    """Return what a form holds. Raises PageError for what is none, is too large, or has other fields."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _KIND:
        raise PageError(415, "This is not a form", f"{kind[:80]!r} came; forms are {_KIND}.")
    most = settings.limits.form_bytes
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > most:
                why = f"It has more than {most:,} bytes."
                raise PageError(413, "This form is too long", why, "Send less.")
    except ClientDisconnect:
        # Nobody reads this answer.
        raise PageError(400, "This form did not arrive", "Its sender left.") from None
    try:
        pairs = parse_qsl(
            content.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(content),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        why = "It is not written as forms are, or has too many fields."
        raise PageError(400, "This form cannot be read", why, "Go back, and send it from its page.") from None
    return Query(QueryParams(pairs), (*fields, FORM_KEY), longest=most)


async def carry_out(
    request: Request, action: Action, session: Session | None, settings: WebSettings
) -> Response:
    """Do what a form asks for, and lead to where its effect is seen. Raises PageError."""
    check_origin(request, settings)
    if session is None:
        why = "Nobody is signed in, or the session is over."
        raise PageError(403, "Sign in first", why, "Sign in, and send the form again.")
    form = await read_form(request, action.fields, settings)
    if not session.has_form_key(form.text(FORM_KEY)):
        why = "It has not the key of this session."
        raise PageError(403, "This form is an old one", why, "Load its page again, and send it from there.")
    check_role(session, action.needs, action.role)
    request.scope[SENT] = [(name, value) for name, value in form.items if name != FORM_KEY]
    return go_to(await action.run(session, form))


def check_role(session: Session, needs: Callable[[Session], bool], role: str) -> None:
    """Check that a visitor may do something; `role` is who may, for people. Raises PageError."""
    if not needs(session):
        why = f"This is for {role}; you are signed in as {session.names}."
        raise PageError(403, "Your token is not for this", why, f"Sign in with the token of {role}.")
