"""What an operator does with competitions: start, stop, send a control file."""

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from arena.v1 import competitions_pb2
from web.arena_service import ArenaService
from web.forms import Action
from web.query import Query, link
from web.rendering import render
from web.sessions import Notice, Session

__all__ = ["ACTIONS", "show_upload"]

_GREATEST: Final = 1_000_000
# An interrupted run waits for its players.
_SECONDS: Final = 60.0
_WAYS: Final = {"after-games": False, "at-once": True}


def _own_arena(session: Session) -> ArenaService:
    assert session.arena is not None
    return session.arena.service


async def show_upload(request: Request, session: Session) -> Response:
    """Show the form that takes a control file."""
    Query(request.query_params, ())
    return render(request, "upload.html", {})


async def _start(session: Session, form: Query) -> str:
    own, name = _own_arena(session), form.text("name")
    question = competitions_pb2.StartCompetitionRequest(
        name=name,
        # Browsers send ends of lines as two characters.
        control=form.text("control").replace("\r\n", "\n"),
        max_games=form.whole("max_games", 0, _GREATEST) or 0,
        parallel=form.whole("parallel", 0, _GREATEST) or 0,
    )
    await own.ask(own.service.StartCompetition, question, _SECONDS)
    session.note(Notice(f"{name} is started."))
    return link("/competition", {"name": name})


async def _stop(session: Session, form: Query) -> str:
    own, name = _own_arena(session), form.text("name")
    _, at_once = form.choice("how", _WAYS, "after-games")
    question = competitions_pb2.StopCompetitionRequest(name=name, at_once=at_once)
    await own.ask(own.service.StopCompetition, question, _SECONDS)
    if at_once:
        text = f"{name} is stopped. Interrupted games are played again when it goes on."
    else:
        text = f"{name} stops when its games in progress are over."
    session.note(Notice(text))
    return link("/competition", {"name": name})


ACTIONS: Final[Mapping[str, Action]] = {
    name: Action(run, names, lambda session: session.is_operator, "an operator of the arena")
    for name, run, names in (
        ("start-competition", _start, ("name", "control", "max_games", "parallel")),
        ("stop-competition", _stop, ("name", "how")),
    )
}
