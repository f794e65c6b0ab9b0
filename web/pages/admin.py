"""Pages of ACADEMY's admins: what there is to do, tokens, the event log, backups."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from academy.v1 import events_pb2, libraries_pb2, tokens_pb2
from academy.wire.games import unusual_settings
from web.academy_service import AcademyService
from web.failures import PageError
from web.forms import Action
from web.pages.patterns import LIBRARIES, LIBRARY_NAMES
from web.query import Query, link
from web.rendering import format_time, render
from web.sessions import Notice, Session, Undo
from web.sign_in import ROLE_NAMES

__all__ = [
    "ACTIONS",
    "own_academy",
    "send_backup",
    "show_events",
    "show_overview",
    "show_tokens",
]

_EVENTS: Final = 30
_TOKENS: Final = 100
_BACKUP_SECONDS: Final = 110.0
_MOST_DAYS: Final = 36_500
# Admins' own tokens are made where the data are.
_ROLES: Final = {name: number for number, name in ROLE_NAMES.items() if name != "admin"}


@dataclass(frozen=True)
class _Token:
    """A token as it is listed; `ended` says how it ended, "" for one that is good."""

    token_id: str
    name: str
    role: str
    created: str
    expires: str
    ended: str
    may_be_revoked: bool


@dataclass(frozen=True)
class _Event:
    """An entry of the log, and how it can be undone."""

    number: int
    when: str
    actor: str
    game_id: str
    what: str
    undo: Undo | None


def own_academy(session: Session) -> AcademyService:
    """Return ACADEMY, which is asked with the visitor's own token."""
    assert session.academy is not None
    return session.academy.service


async def show_overview(request: Request, session: Session) -> Response:
    """Show what an admin can do, and who is muted."""
    Query(request.query_params, ())
    own = own_academy(session)
    muted = await own.ask(own.libraries.ListMutedPlayers, libraries_pb2.ListMutedPlayersRequest())
    context = {
        "games": [figures.game.game_id for figures in await own.games()],
        "muted": [(player.player, format_time(player.time)) for player in muted.players],
    }
    return render(request, "admin.html", context)


async def show_tokens(request: Request, session: Session) -> Response:
    """Show a page of tokens, and the form that makes one."""
    query = Query(request.query_params, ("page",))
    own = own_academy(session)
    listed = await own.ask(
        own.tokens.ListTokens,
        tokens_pb2.ListTokensRequest(page_size=_TOKENS, page_token=query.text("page")),
    )
    now = datetime.now(UTC)
    context = {
        "tokens": [_token(token, now) for token in listed.tokens],
        "roles": list(_ROLES),
        "next": link("/admin/tokens", {"page": listed.next_page_token}) if listed.next_page_token else "",
    }
    return render(request, "tokens.html", context)


def _token(token: tokens_pb2.Token, now: datetime) -> _Token:
    role = ROLE_NAMES.get(token.role, "")
    expired = token.HasField("expire_time") and token.expire_time.ToDatetime(UTC) <= now
    ended = f"revoked {format_time(token.revoke_time)}" if token.HasField("revoke_time") else ""
    return _Token(
        token.token_id,
        token.name,
        role,
        format_time(token.create_time),
        format_time(token.expire_time) if token.HasField("expire_time") else "",
        ended or ("expired" if expired else ""),
        role != "admin",
    )


async def _create_token(session: Session, form: Query) -> str:
    role, number = form.choice("role", _ROLES, "bot")
    days = form.whole("days", 1, _MOST_DAYS)
    question = tokens_pb2.CreateTokenRequest(name=form.text("name"), role=number)
    if days is not None:
        question.expire_time.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    own = own_academy(session)
    made = await own.ask(own.tokens.CreateToken, question)
    text = f"A token of the {role} {made.token.name}, shown only now. Copy it:"
    session.note(Notice(text, secret=made.secret, page="/admin/tokens"))
    return "/admin/tokens"


async def _revoke_token(session: Session, form: Query) -> str:
    own = own_academy(session)
    question = tokens_pb2.RevokeTokenRequest(token_id=form.text("token_id"))
    revoked = (await own.ask(own.tokens.RevokeToken, question)).token
    session.note(Notice(f"The token {revoked.token_id} of {revoked.name} is revoked."))
    return "/admin/tokens"


async def send_backup(request: Request, session: Session) -> Response:
    """Send a verified copy of all data as a file."""
    Query(request.query_params, ())
    headers = {
        "Content-Disposition": 'attachment; filename="data.mdb"',
        # It is for the disk: to compress it would cost more than it spares.
        "Content-Encoding": "identity",
    }
    if request.method == "HEAD":
        # A plain answer would say that there are no bytes.
        return StreamingResponse(iter(()), headers=headers, media_type="application/octet-stream")
    parts = own_academy(session).download_backup()
    # Before the answer begins: what fails until then is a page.
    first = await anext(parts)

    async def contents() -> AsyncIterator[bytes]:
        yield first.content
        async for part in parts:
            yield part.content

    headers["Content-Length"] = str(first.size)
    return StreamingResponse(contents(), headers=headers, media_type="application/octet-stream")


async def show_events(request: Request, session: Session) -> Response:
    """Show a page of the event log, the newest first."""
    query = Query(request.query_params, ("game", "contests", "page"))
    own = own_academy(session)
    game_id = query.text("game")
    contests, with_contests = query.choice("contests", {"no": False, "yes": True}, "no")
    question = libraries_pb2.ListEventsRequest(
        game_id=game_id, page_size=_EVENTS, page_token=query.text("page"), newest_first=True
    )
    question.without_contests = question.without_analyses = not with_contests
    listed = await own.ask(own.libraries.ListEvents, question)
    undos = await _possible_undos(own, listed.events)
    here = {"game": game_id, "contests": contests if with_contests else None}
    following = {**here, "page": listed.next_page_token}
    context = {
        "game": game_id,
        "contests": with_contests,
        "events": [_event(event, undo) for event, undo in zip(listed.events, undos, strict=True)],
        "next": link("/admin/events", following) if listed.next_page_token else "",
    }
    return render(request, "events.html", context)


def _undo_of(event: events_pb2.Event) -> Undo | None:
    """How an event was undone, if nobody did it since; None for what cannot be."""
    match event.WhichOneof("kind"):
        case "pattern_deleted":
            deleted = event.pattern_deleted
            fields = {
                "game_id": event.game_id,
                "library": LIBRARY_NAMES.get(deleted.library, ""),
                "pattern_id": deleted.pattern_id,
            }
            return Undo("restore-pattern", fields)
        case "player_muted":
            return Undo("unmute-player", {"player": event.player_muted.player})
        case "opening_deleted" | "library_pruned" | "tesuji_deleted":
            return Undo("restore-removal", {"game_id": event.game_id, "removal": event.sequence})
        case _:
            return None


async def _possible_undos(own: AcademyService, events: Iterable[events_pb2.Event]) -> list[Undo | None]:
    """For each event how it can be undone now; None where that was done, or is not kept."""
    undos: list[Undo | None] = []
    for undo in map(_undo_of, events):
        # The newest of several: an older one has nothing left to undo.
        undos.append(undo if undo not in undos else None)
    possible = await asyncio.gather(*(_is_possible(own, undo) for undo in undos))
    return [undo if can_be else None for undo, can_be in zip(undos, possible, strict=True)]


async def _is_possible(own: AcademyService, undo: Undo | None) -> bool:
    if undo is None:
        return False
    fields = dict(undo.fields)
    if undo.action == "unmute-player":
        muted = await own.ask(own.libraries.ListMutedPlayers, libraries_pb2.ListMutedPlayersRequest())
        return fields["player"] in [player.player for player in muted.players]
    game_id = str(fields["game_id"])
    if undo.action == "restore-removal":
        removals = libraries_pb2.ListRemovalsRequest(game_id=game_id)
        kept = await own.ask(own.libraries.ListRemovals, removals)
        return fields["removal"] in [removal.event for removal in kept.removals]
    library = LIBRARIES.get(str(fields["library"]))
    if library is None:
        return False
    try:
        await own.pattern(game_id, library, int(str(fields["pattern_id"])))
    except PageError as error:
        if error.status == 404:
            return True
        raise
    return False


# What an event of a kind was about, by its body.
_DETAILS: Final[Mapping[str, Callable[[Any], str]]] = {
    "contest_reported": lambda body: body.report.contest.contest_id,
    "settings_changed": unusual_settings,
    "pattern_deleted": lambda body: f"number {body.pattern_id}",
    "player_muted": lambda body: body.player,
    "player_unmuted": lambda body: body.player,
    "opening_deleted": lambda body: " ".join(body.moves),
    "tesuji_deleted": lambda body: " / ".join(body.cells.splitlines()),
}


def _event(event: events_pb2.Event, undo: Undo | None) -> _Event:
    kind = event.WhichOneof("kind") or "something of a later version"
    what = kind.replace("_", " ")
    if kind in _DETAILS:
        what += f": {_DETAILS[kind](getattr(event, kind))}"
    return _Event(event.sequence, format_time(event.time), event.actor, event.game_id, what, undo)


async def _create_backup(session: Session, form: Query) -> str:
    own = own_academy(session)
    made = await own.ask(own.libraries.CreateBackup, libraries_pb2.CreateBackupRequest(), _BACKUP_SECONDS)
    text = f"A backup of {made.bytes:,} bytes, verified, is at the server in {made.folder}."
    session.note(Notice(text))
    return "/admin"


_ADMIN: Final = "an admin of ACADEMY"
ACTIONS: Final[Mapping[str, Action]] = {
    name: Action(run, fields, lambda session: session.is_admin, _ADMIN)
    for name, run, fields in (
        ("create-token", _create_token, ("name", "role", "days")),
        ("revoke-token", _revoke_token, ("token_id",)),
        ("create-backup", _create_backup, ()),
    )
}
