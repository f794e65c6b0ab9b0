"""Games of Diplomacy as JSON: every phase with its position, orders and what became of each."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from referees.api import GameRecord, PlayedMove, RecordedGame, UnreadableRecordError
from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.game import GamePosition
from referees.diplomacy.map import NOBODY, shipped_maps
from referees.diplomacy.notation import order_text
from referees.diplomacy.openings import opening_name
from referees.diplomacy.position import Position
from referees.diplomacy.settings import DiplomacySettings, map_id
from referees.exact_json import doubt, exact, parse, recorded_game


def centre_shares(centres: Sequence[float]) -> tuple[float, ...]:
    """Each power's share of all owned supply centres; nothing for anyone where none is owned."""
    whole = sum(centres)
    return tuple(count / whole if whole else 0.0 for count in centres)


FORMAT: Final = "diplomacy-1"
MAX_BYTES: Final = 50_000_000

Play = Callable[[GamePosition, Mapping[int, Any]], GamePosition]
Seats = Callable[[GamePosition], tuple[int, ...]]


def write(
    game: GameRecord, settings: DiplomacySettings, start: GamePosition, to_move: Seats, play: Play
) -> str:
    """The record's text; the moves are played again from the first position."""
    board = settings.map
    codes = [power.code for power in board.powers]
    standing, phases = start, []
    waiting = list(game.moves)
    while waiting:
        seats = to_move(standing)
        turn, waiting = waiting[: len(seats)], waiting[len(seats) :]
        phase = _phase(standing, turn)
        phases.append(phase)
        if len(turn) < len(seats):
            break
        before, standing = standing, play(standing, {played.seat: played.move for played in turn})
        if standing.last is not None and standing.last is not before.last:
            phase["results"] = _results(standing.last)
    outcome = game.outcome
    content = {
        "format": FORMAT,
        "game": "diplomacy",
        "name": game.game_name,
        "event": game.event,
        "date": game.date,
        "map": map_id(board),
        **({} if board.name in shipped_maps() else {"map_text": board.text}),
        "edition": settings.edition,
        "choices": asdict(settings.choices),
        "stasis_limit": settings.stasis_limit,
        "impasse_limit": settings.impasse_limit,
        "year_limit": settings.year_limit,
        "players": dict(zip(codes, game.players, strict=False)),
        "seed": exact(game.seed),
        "phases": phases,
        "final": position_content(standing.position),
        "result": "void" if outcome is None else outcome.summary,
        "remarks": [*game.remarks, *game.final_remarks],
    }
    if outcome is not None:
        content |= {
            "termination": outcome.termination.value,
            "detail": outcome.detail,
            "winners": [codes[seat - 1] for seat in outcome.winners],
            "centre_shares": dict(zip(codes, centre_shares(outcome.points), strict=False)),
        }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _phase(game: GamePosition, turn: Sequence[PlayedMove]) -> dict[str, Any]:
    powers = game.position.map.powers
    content: dict[str, Any] = {
        **position_content(game.position),
        "moves": {powers[played.seat - 1].code: played.text for played in turn},
    }
    values = {played.seat: played.values[played.seat] for played in turn if played.seat in played.values}
    comments = {played.seat: played.comment for played in turn if played.comment}
    for name, entry in (("values", values), ("comments", comments)):
        if entry:
            content[name] = {powers[seat - 1].code: what for seat, what in entry.items()}
    if game.position == Position.start(game.position.map):
        openings = {
            powers[played.seat - 1].code: opening_name(game.position, played.seat - 1, played.move.orders)
            for played in turn
        }
        if any(openings.values()):
            content["openings"] = {code: name for code, name in openings.items() if name}
    return content


def _results(adjudication: PhaseAdjudication) -> dict[str, list[dict[str, Any]]]:
    position = adjudication.position
    results: dict[str, list[dict[str, Any]]] = {}
    for result in adjudication.results:
        entry: dict[str, Any] = {"order": order_text(position, result.order), "outcome": result.outcome.value}
        if result.reason:
            entry["reason"] = result.reason
        if result.dislodged_by != NOBODY:
            entry["dislodged_by"] = position.map.codes[result.dislodged_by]
        results.setdefault(position.map.powers[result.power].code, []).append(entry)
    return results


def position_content(position: Position) -> dict[str, Any]:
    """A position as JSON: its phase's name, units, dislodged units with their options, and centres."""
    board = position.map
    units: dict[str, list[str]] = {}
    for unit in position.units:
        units.setdefault(board.powers[unit.power].code, []).append(board.unit_text(unit))
    centres: dict[str, list[str]] = {}
    for centre, owner in zip(board.centres, position.owners, strict=True):
        if owner >= 0:
            centres.setdefault(board.powers[owner].code, []).append(board.codes[centre])
    content: dict[str, Any] = {"phase": position.name, "units": units, "centres": centres}
    if position.dislodged:
        content["dislodged"] = [
            {
                "power": board.powers[entry.unit.power].code,
                "unit": board.unit_text(entry.unit),
                "options": [board.location_codes[option] for option in entry.options],
            }
            for entry in position.dislodged
        ]
    return content


def parse_record(content: bytes) -> dict[str, Any]:
    """The JSON of a record of this format. Raises UnreadableRecordError."""
    if len(content) > MAX_BYTES:
        raise UnreadableRecordError(f"a record of {len(content)} bytes: at most {MAX_BYTES} are read")
    record = parse(content)
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise UnreadableRecordError(f"not a record of Diplomacy: its format is not {FORMAT!r}")
    return record


def read(content: bytes, settings: DiplomacySettings) -> list[RecordedGame]:
    """The game of a record, with every power's moves in the order of play. Raises UnreadableRecordError.

    A record of a game that was interrupted can so be the opening of another. A game whose edition chose
    otherwise has a doubt.
    """
    record = parse_record(content)
    if record.get("map") != map_id(settings.map):
        raise UnreadableRecordError(f"its map is {record.get('map')!r:.60}, not {map_id(settings.map)!r}")
    codes = [power.code for power in settings.map.powers]
    moves: list[str] = []
    try:
        for phase in record["phases"]:
            texts = phase["moves"]
            moves += [texts[code] for code in codes if code in texts]
    except (KeyError, TypeError):
        raise UnreadableRecordError("a phase without moves") from None
    for text in moves:
        if not isinstance(text, str):
            raise UnreadableRecordError(f"a move {text!r:.40}: each power's moves are one text")
    players, winners = record.get("players", {}), record.get("winners", ())
    try:
        by_seat = {
            "players": [players[code] for code in codes] if players else [],
            "winners": sorted(codes.index(code) + 1 for code in winners),
        }
    except (LookupError, TypeError, ValueError):
        raise UnreadableRecordError("its players and winners are not powers of the map") from None
    choices = doubt(record.get("choices"), asdict(settings.choices))
    return [recorded_game(record | by_seat, moves)._replace(doubt=choices)]
