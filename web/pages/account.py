"""Who a visitor is, and where the visitor may go."""

from starlette.requests import Request
from starlette.responses import Response

from web.query import Query, link
from web.rendering import render
from web.sessions import Session

__all__ = ["show_account"]


async def show_account(request: Request, session: Session) -> Response:
    """Show whose tokens the visitor signed in with."""
    Query(request.query_params, ())
    who = [("ACADEMY", session.academy), ("the arena", session.arena)]
    context = {
        "holders": [(service, holder.name, holder.role) for service, holder in who if holder],
        "player": link("/player", {"name": session.academy.name}) if session.academy else "",
    }
    return render(request, "account.html", context)
