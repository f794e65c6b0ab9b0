"""One pattern: its label, votes and history, and boards where it was found."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.boards import Board, GraphGeometry, InvalidBoardError
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import consultation_pb2, history_pb2, pattern_pb2
from academy.wire.games import read_spec
from clients.responses import pattern_matches
from web.academy_service import AcademyService
from web.charts import Curve, Scale, draw_curves
from web.drawing import LETTER_MEANINGS, BoardMarks, draw_board, draw_legend, draw_pattern
from web.failures import PageError
from web.pages.known_contests import ArenaGames, ListedContest, arena_games, list_contests
from web.pages.patterns import LIBRARIES, draw_record
from web.query import Query, check_game_id, link
from web.rendering import format_time, render
from web.replay import draw_letters, seat_names

__all__ = ["show_pattern"]

# What was proposed may be weaker than all that else lies on the board.
_MOST_MATCHES: Final = 4_096
_MOST_VOTES: Final = 200
_CAUSES: Final = {
    "inserted": "entered the library",
    "matched": "was proposed again",
    "specialised": "became narrower",
    "generalised": "became wider",
    "votes counted": "votes count otherwise",
}


async def show_pattern(request: Request, academy: AcademyService) -> Response:
    """Show one pattern with its label and its votes, and where the `proposer` of the address had it."""
    proposer = Query(request.query_params, ("proposer",)).text("proposer")
    game_id = check_game_id(request.path_params["game_id"])
    library, pattern_id = request.path_params["library"], request.path_params["pattern_id"]
    if library not in LIBRARIES or not (
        pattern_id.isascii() and pattern_id.isdigit() and len(pattern_id) < 19
    ):
        why = f"Patterns are in the libraries {' and '.join(LIBRARIES)} and have numbers."
        raise PageError(404, "No such pattern", why, "Look for it in the gallery.")
    spec = read_spec((await academy.game(game_id)).game)
    number = LIBRARIES[library]
    record, history, games = await asyncio.gather(
        academy.pattern(game_id, number, int(pattern_id)),
        academy.pattern_history(game_id, number, int(pattern_id)),
        arena_games(request),
    )
    letters = _letters_of(record, spec)
    context = {
        "game_id": game_id,
        "library": library,
        "record": record,
        "drawing": draw_record(record, spec.geometry),
        "label": _label(record),
        "addressed": seat_names(spec)[(record.signature.player or 1) - 1],
        "votes": [_vote(vote) for vote in record.votes[:_MOST_VOTES]],
        "silent": [_vote(vote) for vote in record.silent_votes[:_MOST_VOTES]],
        "legend": draw_legend(letter for letter in LETTER_MEANINGS if letter in letters),
        "gallery": link(f"/games/{game_id}/patterns", {"library": library}),
        "origins": _origins(history.steps, proposer, spec, games),
        "games": games,
        "last_game": games.address(record.last_contest_id.partition(" ")[0]),
        "charts": _draw_steps(history.steps),
        "steps": [_step(step, spec, games) for step in reversed(history.steps)],
        "found": await _show_found(academy, spec, record, history.examples, games),
    }
    return render(request, "pattern.html", context)


def _letters_of(record: pattern_pb2.PatternRecord, spec: GameSpec) -> set[str]:
    # On a map the names of places stand beside the letters.
    if isinstance(spec.geometry, GraphGeometry):
        return {line[:1] for line in record.cells.splitlines()}
    return set(record.cells)


def _label(record: pattern_pb2.PatternRecord) -> str:
    signature = record.signature
    return f"< {signature.proposers}; {signature.elo:.0f}; {signature.value:.2f}; {signature.player} >"


def _vote(vote: pattern_pb2.Vote) -> dict[str, Any]:
    return {
        "player": vote.player,
        "elo": f"{vote.elo_hundredths / 100:.0f}",
        "value": f"{vote.value_millionths / 1e6:.3f}",
        "event": vote.event,
    }


@dataclass(frozen=True)
class _Step:
    """A change of a pattern for the list, with its picture where the cells changed."""

    when: str
    what: str
    reason: str
    player: str
    ply: int
    contest_id: str
    address: str
    step: history_pb2.PatternStep
    drawing: Markup | None


def _draw_steps(steps: Sequence[history_pb2.PatternStep]) -> list[tuple[str, Markup]]:
    """Return curves of a pattern's value and strength from change to change, with their titles."""
    if len(steps) < 2:
        return []
    right = len(steps) - 1
    ends = ("first", "now")
    values = [(at, step.signature.value) for at, step in enumerate(steps)]
    strengths = [(at, step.strength) for at, step in enumerate(steps)]
    strongest = max(strength for _, strength in strengths) or 1.0
    value = draw_curves(
        [Curve(1, values)], Scale(right, 0, 1, levels=(0.5,), ends=ends), "The value from change to change"
    )
    strength = draw_curves(
        [Curve(2, strengths)],
        Scale(right, 0, strongest, pattern="{:.3g}", ends=ends),
        "The strength from change to change",
    )
    return [("Value: 1 is a win", value), ("Strength: the weakest leave a full library first", strength)]


def _origins(
    steps: Sequence[history_pb2.PatternStep], proposer: str, spec: GameSpec, games: ArenaGames
) -> list[tuple[str, _Step]]:
    """Return where a proposer had the pattern, and where it was had first, with their titles."""
    own = next((step for step in steps if proposer and step.player == proposer), None)
    origins = [] if own is None else [("Came from", _step(own, spec, games))]
    if steps and steps[0] is not own:
        origins.append(("Proposed first by" if origins else "Came from", _step(steps[0], spec, games)))
    return origins


def _step(step: history_pb2.PatternStep, spec: GameSpec, games: ArenaGames) -> _Step:
    drawing = None
    if step.cells:
        drawing = draw_pattern(
            read_cells(step.cells, spec.geometry), spec.geometry, f"After event {step.event}"
        )
    return _Step(
        format_time(step.time),
        _CAUSES.get(step.cause, step.cause),
        step.reason,
        step.player,
        step.ply,
        step.contest_id,
        games.address(step.contest_id, step.ply or None),
        step,
        drawing,
    )


@dataclass(frozen=True)
class _Found:
    """A board on which a pattern was found, with the contest."""

    drawing: Markup | None
    ply: int
    contest: ListedContest
    position: str


async def _show_found(
    academy: AcademyService,
    spec: GameSpec,
    record: pattern_pb2.PatternRecord,
    examples: Sequence[history_pb2.PatternExample],
    games: ArenaGames,
) -> list[_Found]:
    """Return boards on which a pattern was found, the pattern lit up where it still lies there."""
    boards = [(example, board) for example in examples if (board := _board(example.board, spec))]
    if not boards:
        return []
    lit = await _cells_of(academy, spec, record, [example for example, _ in boards])
    shown = []
    for (example, board), cells in zip(boards, lit, strict=True):
        picture = draw_letters(spec, board)
        label = f"The board after ply {example.ply} of {example.contest.contest_id}"
        drawing = draw_board(picture, BoardMarks(lit=cells), label).whole if picture else None
        (contest,) = list_contests([example.contest], games, example.ply)
        position = link(f"/games/{spec.game_id}/position", {"board": example.board, "player": example.seat})
        shown.append(_Found(drawing, example.ply, contest, position))
    return shown


def _board(letters: str, spec: GameSpec) -> Board | None:
    try:
        return Board.from_letters(spec.geometry, letters)
    except InvalidBoardError:
        return None


async def _cells_of(
    academy: AcademyService,
    spec: GameSpec,
    record: pattern_pb2.PatternRecord,
    examples: Sequence[history_pb2.PatternExample],
) -> list[frozenset[int]]:
    """The cells that a pattern covers on each board; none where ACADEMY does not say."""
    request = consultation_pb2.MatchPatternsRequest(
        game_id=spec.game_id,
        positions=[
            consultation_pb2.Position(board=example.board, player=example.seat) for example in examples
        ],
        libraries=[record.library],
        max_matches=_MOST_MATCHES,
        include_cells=True,
    )
    answer = await academy.ask_if_allowed(academy.consultation.MatchPatterns, request)
    if answer is None:
        return [frozenset()] * len(examples)
    return [
        frozenset[int]().union(
            *(
                match.covered_cells(spec, example.seat)
                for match in matches
                if match.pattern_id == record.pattern_id
            )
        )
        for example, matches in zip(examples, pattern_matches(answer), strict=True)
    ]
