"""A player of ACADEMY, for itself and for admins: what it did in each game, and its proposals' verdicts."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import libraries_pb2, proposals_pb2
from academy.wire.games import read_spec
from web.academy_service import AcademyService
from web.drawing import draw_pattern
from web.failures import PageError
from web.forms import Action
from web.pages.admin import own_academy
from web.pages.patterns import LIBRARY_NAMES
from web.query import Query, link
from web.rendering import format_time, render
from web.sessions import Notice, Session, Undo

__all__ = ["ACTIONS", "show_player"]

_PAGE: Final = 24
_VERDICTS: Final[Mapping[str, proposals_pb2.Verdict.ValueType]] = {
    "waiting": proposals_pb2.VERDICT_HELD,
    "matched": proposals_pb2.VERDICT_MATCHED,
    "specialised": proposals_pb2.VERDICT_SPECIALISED,
    "generalised": proposals_pb2.VERDICT_GENERALISED,
    "inserted": proposals_pb2.VERDICT_INSERTED,
    "evicted": proposals_pb2.VERDICT_EVICTED,
    "dropped": proposals_pb2.VERDICT_DROPPED,
}
_VERDICT_NAMES: Final = {number: name for name, number in _VERDICTS.items()}


@dataclass(frozen=True)
class _Proposal:
    """A proposal with its picture; `address` leads to the pattern that it is a part of."""

    proposal: proposals_pb2.Proposal
    verdict: str
    library: str
    when: str
    drawing: Markup | None
    address: str


async def show_player(request: Request, session: Session) -> Response:
    """Show the player `name` over all games, and a page of its proposals."""
    query = Query(request.query_params, ("name", "verdict", "page"))
    if session.academy is None:
        why = f"You are signed in as {session.names}, with a token of the arena alone."
        raise PageError(403, "This page needs a token of ACADEMY", why, "Sign in with one, too.")
    own, name = own_academy(session), query.text("name") or session.academy.name
    verdict, number = query.choice("verdict", {"all": None, **_VERDICTS}, "all")
    question = proposals_pb2.ListProposalsRequest(
        player=name,
        page_size=_PAGE,
        page_token=query.text("page"),
        verdicts=[] if number is None else [number],
    )
    listed = await own.ask(own.proposals.ListProposals, question)
    specs = await _specs(own, {proposal.game_id for proposal in listed.proposals})
    here = {"name": name, "verdict": verdict if number is not None else None}
    context = {
        "name": name,
        "is_self": name == session.academy.name,
        "statistics": await _statistics(own, name),
        "is_muted": await _is_muted(own, name) if session.is_admin else False,
        "verdict": verdict,
        "verdicts": {
            label: link("/player", {"name": name, "verdict": label if label != "all" else None})
            for label in ("all", *_VERDICTS)
        },
        "proposals": [_proposal(proposal, specs[proposal.game_id]) for proposal in listed.proposals],
        "first": link("/player", here) if query.text("page") else "",
        "next": link("/player", {**here, "page": listed.next_page_token}) if listed.next_page_token else "",
    }
    return render(request, "player.html", context)


async def _specs(own: AcademyService, game_ids: set[str]) -> dict[str, GameSpec]:
    names = sorted(game_ids)
    games = await asyncio.gather(*map(own.game, names))
    return {name: read_spec(known.game) for name, known in zip(names, games, strict=True)}


async def _statistics(own: AcademyService, name: str) -> list[libraries_pb2.PlayerStatistics]:
    """What the player did in each game that it played; none where the token may not see it."""
    question = libraries_pb2.ListPlayerStatisticsRequest(player=name)
    listed = await own.ask_if_allowed(own.libraries.ListPlayerStatistics, question)
    # Imported patterns may have helped in games that it did not play.
    return [figures for figures in listed.players if figures.contests] if listed else []


async def _is_muted(own: AcademyService, name: str) -> bool:
    muted = await own.ask(own.libraries.ListMutedPlayers, libraries_pb2.ListMutedPlayersRequest())
    return any(player.player == name for player in muted.players)


def _proposal(proposal: proposals_pb2.Proposal, spec: GameSpec) -> _Proposal:
    library = LIBRARY_NAMES.get(proposal.content.library, "")
    drawing = None
    # One that was kept from before a rule that it breaks is shown as text.
    with suppress(ValueError):
        pattern = read_cells(proposal.content.cells, spec.geometry)
        drawing = draw_pattern(pattern, spec.geometry, "The proposed pattern")
    address = ""
    if proposal.pattern_id and library:
        address = link(f"/games/{proposal.game_id}/patterns/{library}/{proposal.pattern_id}")
    return _Proposal(
        proposal,
        _VERDICT_NAMES.get(proposal.verdict, ""),
        library.replace("-", " "),
        format_time(proposal.create_time),
        drawing,
        address,
    )


async def _mute_player(session: Session, form: Query) -> str:
    own, player = own_academy(session), form.text("player")
    question = libraries_pb2.MutePlayerRequest(player=player)
    done = await own.ask(own.libraries.MutePlayer, question)
    text = f"{player} is muted (games: {done.games:,}); its votes for {done.patterns:,} patterns are out."
    session.note(Notice(text, undo=Undo("unmute-player", {"player": player})))
    return link("/player", {"name": player})


async def _unmute_player(session: Session, form: Query) -> str:
    own, player = own_academy(session), form.text("player")
    question = libraries_pb2.UnmutePlayerRequest(player=player)
    back = await own.ask(own.libraries.UnmutePlayer, question)
    text = f"{player} may propose again: its votes for {back.patterns:,} patterns are back."
    if back.no_room:
        text += f" {back.no_room:,} patterns have no room and are lost."
    session.note(Notice(text if back.was_muted else f"{player} was not muted."))
    return link("/player", {"name": player})


ACTIONS: Final[Mapping[str, Action]] = {
    name: Action(run, ("player",), lambda session: session.is_admin, "an admin of ACADEMY")
    for name, run in (("mute-player", _mute_player), ("unmute-player", _unmute_player))
}
