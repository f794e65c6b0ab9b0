"""The table of a game's events, each in a line."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from rich.table import Table

from academy.cli.printing import counted, table_of
from academy.knowledge.node_analysis import SearchKind
from academy.wire.games import unusual_settings


def events_table(events: Iterable[Any]) -> Table:
    """Events with who caused them and what they did."""
    rows = (
        (event.sequence, event.time.ToJsonString(), event.game_id, event.actor, _describe_event(event))
        for event in events
    )
    return table_of("Events", rows, "number", " time", " game", " by", " what")


def _describe_report(body: Any) -> str:
    report = body.report
    names = " - ".join(player.name for player in report.contest.players)
    how = "void" if report.void else f"{counted(len(report.plies), 'ply', 'plies')}, {report.termination}"
    return f"{report.contest.contest_id} {names}, {how}"


def _describe_analyses(body: Any) -> str:
    if not body.nodes:
        return "0 positions"
    first, *others = body.nodes
    # The first analysts did not say how, and played random games.
    kind = SearchKind.PLIES if first.analysis.kind == SearchKind.PLIES else SearchKind.RANDOM_GAMES
    figures = f"{first.analysis.value_millionths / 1e6:.3f} by {first.analysis.budget:,} {kind.unit}"
    return f"{' '.join(first.moves)}: {figures}" + (f", and {len(others):,} more" if others else "")


# What an event of a kind did, by its body.
_EVENT_DETAILS: Final[dict[str, Callable[[Any], str]]] = {
    "contest_reported": _describe_report,
    "settings_changed": unusual_settings,
    "pattern_deleted": lambda body: f"{body.pattern_id}",
    "pattern_restored": lambda body: f"{body.record.pattern_id}",
    "library_pruned": lambda body: f"below {body.below:g}",
    "opening_deleted": lambda body: " ".join(body.moves),
    "tesuji_deleted": lambda body: f"{body.code}, {' / '.join(body.cells.splitlines())}",
    "removal_restored": lambda body: (
        f"{body.removal}, {counted(len(body.patterns), 'pattern')}, {counted(len(body.nodes), 'position')}, "
        f"{counted(len(body.tesujis), 'tesuji')}"
    ),
    "player_muted": lambda body: body.player,
    "player_unmuted": lambda body: body.player,
    "player_forgotten": lambda body: body.player,
    "game_forked": lambda body: f"from {body.from_game_id}",
    "history_imported": lambda body: counted(len(body.ratings), "rating"),
    "patterns_imported": lambda body: f"{len(body.records)}",
    "tesujis_imported": lambda body: f"{len(body.records)}",
    "evaluation_imported": lambda body: f"{sum(len(record.weights) for record in body.records)}",
    "openings_imported": lambda body: f"{len(body.nodes)}",
    "openings_analysed": _describe_analyses,
    "analyses_forgotten": lambda body: body.analyst or "everybody's",
    "proposal_judged": lambda body: f"{body.proposal.proposal_id} by {body.proposal.player}",
}


def _describe_event(event: Any) -> str:
    kind = event.WhichOneof("kind") or "unknown"
    words: str = kind.replace("_", " ")
    describe = _EVENT_DETAILS.get(kind)
    return words if describe is None else f"{words}: {describe(getattr(event, kind))}"
