"""What an admin may change in a game: its settings, weak knowledge, single patterns, lines and tesujis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.settings import GREATEST, LEAST, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.v1 import game_pb2, libraries_pb2, pattern_pb2
from academy.wire.games import read_spec
from web.academy_service import AcademyService
from web.drawing import BoardMarks, draw_board
from web.failures import PageError
from web.forms import Action
from web.pages.admin import own_academy
from web.pages.patterns import LIBRARIES, draw_record
from web.pages.played_lines import board_after
from web.query import Query, check_game_id, link
from web.rendering import format_time, render
from web.sessions import Notice, Session, Undo

__all__ = ["ACTIONS", "show_change", "show_pruning", "show_settings"]

_ALL_LIBRARIES: Final[Mapping[str, pattern_pb2.Library.ValueType]] = {
    "opening": pattern_pb2.LIBRARY_OPENING,
    **LIBRARIES,
}
_MEANINGS: Final = {
    "opening_capacity": "Positions that the opening tree may hold",
    "middle_game_capacity": "Patterns that the middle-game library may hold",
    "endgame_capacity": "Patterns that the endgame library may hold",
    "max_merged_cells": "Cells that a merge may change",
    "prune_below": "Opening lines are pruned below the value",
    "prune_factor": "What pruning multiplies a value by",
    "forget_after": "Contests until an unused pattern counts half; 0: never",
    "max_submissions_per_contest": "Patterns that a player may propose in a contest",
    "analysed_patterns": "Patterns that ACADEMY cuts itself for each player of a contest",
    "least_information": "Bits that a pattern must say at least",
    "opening_plies_ahead": "Plies that follow a recommended move",
    "tesuji_capacity": "Tesujis to learn; 0: none",
    "evaluation": "Learn what positions are worth; 0: no, 1: yes",
    "evaluation_patterns": "Anchored patterns in that; 0: none",
    "local_weights": "Players may download weights; 0: no, 1: yes",
    "opening_moves_per_consultation": "Fair use: openings before one own move in this number",
    "pattern_value_limit": "Fair use: patterns where the player expects this or less",
    "elo_margin": "Fair use: only knowledge of players at most this far below the player's own Elo",
    "consult_share": "Fair use: the share of contests with consultation",
    "removed_days": "Days for which what was removed can be restored; 0: not at all",
    "removed_records": "Removed records that are kept for that",
}
_CAPACITIES: Final = {
    "opening_capacity": "opening_nodes",
    "middle_game_capacity": "middle_game_patterns",
    "endgame_capacity": "endgame_patterns",
    "tesuji_capacity": "tesujis",
}
_TYPES: Final[Mapping[str, Any]] = {setting.name: setting.type for setting in fields(LibrarySettings)}
_GREATEST_NUMBER: Final = 1e12
_MOST_MOVES: Final = 400
_BOARDS: Final = 12
_NODES_PER_PAGE: Final = 1_000
_MOST_NODES: Final = 10_000


@dataclass(frozen=True)
class _Setting:
    """A setting with its value as forms write it."""

    name: str
    meaning: str
    value: str
    least: float
    greatest: float
    step: str


@dataclass(frozen=True)
class _Change:
    """A setting that would change."""

    name: str
    meaning: str
    before: str
    after: str
    warning: str


@dataclass(frozen=True)
class _PrunedLine:
    """A line that would go, with the board at its end."""

    moves: str
    visits: int
    drawing: Markup | None


async def show_settings(request: Request, session: Session) -> Response:
    """Show a game's settings, what can be pruned, and what can be restored."""
    Query(request.query_params, ())
    own, game_id = own_academy(session), check_game_id(request.path_params["game_id"])
    figures = await own.figures((await own.game(game_id)).game)
    removals = await own.ask(own.libraries.ListRemovals, libraries_pb2.ListRemovalsRequest(game_id=game_id))
    context = {
        "game_id": game_id,
        "settings": [_setting(name, figures.statistics.settings) for name in _MEANINGS],
        "libraries": list(_ALL_LIBRARIES),
        "removals": [(removal, format_time(removal.time)) for removal in removals.removals],
    }
    return render(request, "game_settings.html", context)


def _setting(name: str, settings: game_pb2.LibrarySettings) -> _Setting:
    is_share = _TYPES[name] is float
    return _Setting(
        name,
        _MEANINGS[name],
        _text(settings, name),
        LEAST.get(name, 0),
        1 if _TYPES[name] is bool or is_share else GREATEST.get(name, 1_000_000),
        "any" if is_share else "1",
    )


def _text(settings: game_pb2.LibrarySettings, name: str) -> str:
    value = getattr(settings, name)
    return str(int(value)) if _TYPES[name] is not float else repr(value)


async def show_change(request: Request, session: Session) -> Response:
    """Show what new settings would change, before they do."""
    query = Query(request.query_params, tuple(_MEANINGS))
    own, game_id = own_academy(session), check_game_id(request.path_params["game_id"])
    figures = await own.figures((await own.game(game_id)).game)
    now, wanted = figures.statistics.settings, _read_settings(query)
    changes = []
    changed = [name for name in _names_of(wanted) if _text(wanted, name) != _text(now, name)]
    if changed:
        # What ACADEMY would refuse it refuses here, with its reason.
        question = libraries_pb2.UpdateSettingsRequest(
            game_id=game_id, settings=wanted, fields=changed, dry_run=True
        )
        await own.ask(own.libraries.UpdateSettings, question)
    for name in changed:
        warning = ""
        if name in _CAPACITIES:
            too_many = getattr(figures.statistics, _CAPACITIES[name]) - getattr(wanted, name)
            warning = f"The weakest {too_many:,} leave at once." if too_many > 0 else ""
        changes.append(_Change(name, _MEANINGS[name], _text(now, name), _text(wanted, name), warning))
    return render(request, "settings_change.html", {"game_id": game_id, "changes": changes})


def _read_settings(query: Query) -> game_pb2.LibrarySettings:
    """The settings that a form names. Raises PageError for a value that is not a number."""
    settings = game_pb2.LibrarySettings()
    for name in _MEANINGS:
        number = query.number(name, 0, _GREATEST_NUMBER)
        if number is None:
            continue
        kind = _TYPES[name]
        most = 1 if kind is bool else 2**32 - 1
        if kind is not float and (number != int(number) or number > most):
            why = f"{name}: {number:g} is not a whole number from 0 to {most:,}."
            raise PageError(400, "This setting cannot be read", why, "Go back and correct it.")
        setattr(settings, name, kind(number))
    return settings


def _names_of(settings: game_pb2.LibrarySettings) -> list[str]:
    """The settings that are given."""
    return [field.name for field, _ in settings.ListFields()]


async def _change_settings(session: Session, form: Query) -> str:
    own, game_id, settings = own_academy(session), check_game_id(form.text("game_id")), _read_settings(form)
    names = _names_of(settings)
    if not names:
        raise PageError(400, "Nothing would change", "The form names no setting.", "Go back and name one.")
    before = (await own.figures((await own.game(game_id)).game)).statistics.settings
    names = [name for name in names if _text(settings, name) != _text(before, name)]
    if not names:
        session.note(Notice(f"{game_id}: the settings had these values already."))
        return link(f"/games/{game_id}/admin")
    question = libraries_pb2.UpdateSettingsRequest(game_id=game_id, settings=settings, fields=names)
    done = await own.ask(own.libraries.UpdateSettings, question)
    now = (f"{name} is {_text(done.settings, name)}, it was {_text(before, name)}" for name in names)
    text = f"{game_id}: {'; '.join(now)}."
    if done.removed:
        text += f" {done.removed:,} records were removed; they can be restored once there is room."
    old = {name: _text(before, name) for name in names}
    session.note(Notice(text, undo=Undo("change-settings", {"game_id": game_id, **old})))
    return link(f"/games/{game_id}/admin")


async def _undo_of_removal(own: AcademyService, game_id: str) -> Undo | None:
    """The undo of what was removed last; None where it is not kept."""
    kept = await own.ask(own.libraries.ListRemovals, libraries_pb2.ListRemovalsRequest(game_id=game_id))
    if not kept.removals:
        return None
    return Undo("restore-removal", {"game_id": game_id, "removal": kept.removals[0].event})


async def show_pruning(request: Request, session: Session) -> Response:
    """Show what pruning would remove: a dry run, drawn."""
    query = Query(request.query_params, ("library", "below"))
    own, game_id = own_academy(session), check_game_id(request.path_params["game_id"])
    spec = read_spec((await own.game(game_id)).game)
    library, number = query.choice("library", _ALL_LIBRARIES, "endgame")
    below = query.number("below", 0, _GREATEST_NUMBER) or 0.0
    question = libraries_pb2.PruneLibraryRequest(game_id=game_id, library=number, below=below, dry_run=True)
    dry = await own.ask(own.libraries.PruneLibrary, question)
    patterns: list[tuple[pattern_pb2.PatternRecord, Markup]] = [
        (record, draw_record(record, spec.geometry)) for record in dry.patterns
    ]
    context = {
        "game_id": game_id,
        "library": library,
        "below": repr(below),
        "removed": dry.removed,
        "patterns": patterns,
        "lines": await _draw_lines(own, spec, dry.nodes) if dry.nodes else [],
        "shown": len(patterns) + len(dry.nodes),
    }
    return render(request, "pruning.html", context)


async def _draw_lines(
    own: AcademyService, spec: GameSpec, nodes: Sequence[pattern_pb2.OpeningNodeRecord]
) -> list[_PrunedLine]:
    """The lines that end in some nodes, the shortest first, without those that go on from another."""
    question = libraries_pb2.ListOpeningsRequest(game_id=spec.game_id, page_size=_NODES_PER_PAGE)
    listed = await own.list_all(own.libraries.ListOpenings, question, "nodes", _MOST_NODES)
    tree = {node.node_id: node for node in listed}
    ending = {node.node_id for node in nodes}
    firsts = sorted((node for node in nodes if node.parent_id not in ending), key=lambda node: node.depth)
    lines: list[_PrunedLine] = []
    for node in firsts:
        moves = _moves_to(node, tree)
        drawing = None
        if moves and len(lines) < _BOARDS:
            replayed, _ = await board_after(spec, moves, 1)
            if replayed is not None:
                label = f"The board after {' '.join(moves)}"
                drawing = draw_board(replayed.drawing, BoardMarks(replayed.last), label).whole
        lines.append(_PrunedLine(" ".join(moves) or f"… {node.move}", node.visits, drawing))
    return lines


def _moves_to(
    node: pattern_pb2.OpeningNodeRecord, tree: Mapping[int, pattern_pb2.OpeningNodeRecord]
) -> tuple[str, ...]:
    """The moves from the root to a node; none where the tree was not read so far."""
    moves = []
    at: pattern_pb2.OpeningNodeRecord | None = node
    while at is not None and at.depth:
        moves.append(at.move)
        at = tree.get(at.parent_id)
    return () if at is None else tuple(reversed(moves))


async def _prune(session: Session, form: Query) -> str:
    own, game_id = own_academy(session), check_game_id(form.text("game_id"))
    library, number = form.choice("library", _ALL_LIBRARIES, "")
    below = form.number("below", 0, _GREATEST_NUMBER) or 0.0
    question = libraries_pb2.PruneLibraryRequest(game_id=game_id, library=number, below=below)
    removed = (await own.ask(own.libraries.PruneLibrary, question)).removed
    text = f"{game_id}: pruning removed {removed:,} records of the {library} library."
    session.note(Notice(text, undo=await _undo_of_removal(own, game_id) if removed else None))
    return link(f"/games/{game_id}/admin")


async def _restore_removal(session: Session, form: Query) -> str:
    own, game_id = own_academy(session), check_game_id(form.text("game_id"))
    question = libraries_pb2.RestoreRemovalRequest(
        game_id=game_id, removal=form.whole("removal", 0, 2**63 - 1) or 0
    )
    back = await own.ask(own.libraries.RestoreRemoval, question)
    text = f"{game_id}: {back.patterns:,} patterns and {back.nodes:,} positions came back."
    if back.tesujis or back.weights:
        text += f" So did {back.tesujis:,} tesujis and {back.weights:,} weights of the evaluation."
    if back.no_room:
        text += f" {back.no_room:,} found no room, or only muted players voted for them: they are kept."
    if back == libraries_pb2.RestoreRemovalResponse():
        text = f"{game_id}: nothing came back: what was removed is known again, and stays as it is now."
    session.note(Notice(text))
    return link(f"/games/{game_id}/admin")


def _pattern_fields(form: Query) -> dict[str, Any]:
    return {
        "game_id": check_game_id(form.text("game_id")),
        "library": form.choice("library", LIBRARIES, "")[1],
        "pattern_id": form.whole("pattern_id", 0, 2**63 - 1) or 0,
    }


async def _delete_pattern(session: Session, form: Query) -> str:
    own, named = own_academy(session), _pattern_fields(form)
    await own.ask(own.libraries.DeletePattern, libraries_pb2.DeletePatternRequest(**named))
    game_id, library = named["game_id"], form.text("library")
    given = {"game_id": game_id, "library": library, "pattern_id": named["pattern_id"]}
    text = f"{game_id}: pattern {named['pattern_id']} is deleted."
    session.note(Notice(text, undo=Undo("restore-pattern", given)))
    return link(f"/games/{game_id}/patterns", {"library": library})


async def _restore_pattern(session: Session, form: Query) -> str:
    own, named = own_academy(session), _pattern_fields(form)
    back = await own.ask(own.libraries.RestorePattern, libraries_pb2.RestorePatternRequest(**named))
    game_id, library, number = named["game_id"], form.text("library"), named["pattern_id"]
    if not back.HasField("pattern"):
        text = (
            f"{game_id}: pattern {number} is not back, but still kept: the library is full of stronger "
            "patterns, or only muted players voted for it."
        )
        session.note(Notice(text))
        return link(f"/games/{game_id}/patterns", {"library": library})
    session.note(Notice(f"{game_id}: pattern {number} is back."))
    return link(f"/games/{game_id}/patterns/{library}/{back.pattern.pattern_id}")


async def _delete_opening(session: Session, form: Query) -> str:
    own, game_id = own_academy(session), check_game_id(form.text("game_id"))
    moves = form.texts("m", _MOST_MOVES)
    question = libraries_pb2.DeleteOpeningRequest(game_id=game_id, moves=moves)
    done = await own.ask(own.libraries.DeleteOpening, question)
    given = {"game_id": game_id, "removal": done.removal}
    text = f"{game_id}: the line {' '.join(moves)} is deleted, with {done.removed:,} positions."
    session.note(Notice(text, undo=Undo("restore-removal", given)))
    return link(f"/games/{game_id}/openings", [("m", move) for move in moves[:-1]])


async def _delete_tesuji(session: Session, form: Query) -> str:
    own, game_id = own_academy(session), check_game_id(form.text("game_id"))
    code = form.whole("code", 0, 2**63 - 1)
    question = libraries_pb2.DeleteTesujiRequest(game_id=game_id, code=code)
    done = await own.ask(own.libraries.DeleteTesuji, question)
    given = {"game_id": game_id, "removal": done.removal}
    session.note(Notice(f"{game_id}: tesuji {code} is deleted.", undo=Undo("restore-removal", given)))
    return link(f"/games/{game_id}/tesujis")


_PATTERN: Final = ("game_id", "library", "pattern_id")
ACTIONS: Final[Mapping[str, Action]] = {
    name: Action(run, names, lambda session: session.is_admin, "an admin of ACADEMY")
    for name, run, names in (
        ("change-settings", _change_settings, ("game_id", *_MEANINGS)),
        ("prune", _prune, ("game_id", "library", "below")),
        ("restore-removal", _restore_removal, ("game_id", "removal")),
        ("delete-pattern", _delete_pattern, _PATTERN),
        ("restore-pattern", _restore_pattern, _PATTERN),
        ("delete-opening", _delete_opening, ("game_id", "m")),
        ("delete-tesuji", _delete_tesuji, ("game_id", "code")),
    )
}
