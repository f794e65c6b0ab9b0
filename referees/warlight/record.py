"""Records of games as JSON: the map, and for each turn the standing, the orders and what they did.

docs/reference/warlight.md describes the format.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from referees.api import GameRecord, PlayedMove, RecordedGame, UnreadableRecordError
from referees.exact_json import doubt, exact, read_games, recorded_game
from referees.warlight.maps import WarMap
from referees.warlight.orders import PASS
from referees.warlight.position import Attacked, Deployed, Event, RefusedOrder, Transferred, WarPosition
from referees.warlight.settings import WarSettings

VERSION: Final = 1
MAX_GAMES: Final = 10_000


def write(
    war_map: WarMap,
    mirror: Sequence[int] | None,
    settings: WarSettings,
    positions: Sequence[WarPosition],
    game: GameRecord,
) -> str:
    """The record's text; `positions` are those before each turn and after the last."""
    outcome = game.outcome
    head = {
        "game": "warlight",
        "version": VERSION,
        "name": game.game_name,
        "event": game.event,
        "date": game.date,
        "players": list(game.players),
        "seed": exact(game.seed),
        "settings": asdict(settings),
        "result": outcome
        and {
            "winners": list(outcome.winners),
            "termination": outcome.termination.value,
            "summary": outcome.summary,
            "points": list(outcome.points),
            "detail": outcome.detail,
        },
        "remarks": list(game.remarks),
        "final_remarks": list(game.final_remarks),
        "map": _map(war_map, mirror),
        "final": standing_of(positions[-1]),
    }
    turns = [
        _turn(war_map, settings, positions[number], positions[number + 1], game.moves[2 * number :][:2])
        for number in range(len(positions) - 1)
    ]
    # A line for each key and each turn: a record can be looked through, and two compared.
    lines = [f"{json.dumps(key)}: {_packed(value)}" for key, value in head.items()]
    rows = ",\n".join(_packed(turn) for turn in turns)
    return "{\n" + ",\n".join(lines) + f',\n"turns": [\n{rows}\n]\n}}\n'


def _packed(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _map(war_map: WarMap, mirror: Sequence[int] | None) -> dict[str, Any]:
    territories = []
    for territory in war_map.territories:
        entry = {"id": territory.id, "name": territory.name, "neighbours": territory.neighbours}
        territories.append(
            entry if territory.place is None else entry | {"x": territory.place[0], "y": territory.place[1]}
        )
    ids = [territory.id for territory in war_map.territories]
    return {
        "name": war_map.name,
        "territories": territories,
        "bonuses": [asdict(bonus) for bonus in war_map.bonuses],
        "mirror": None if mirror is None else [[ids[a], ids[b]] for a, b in enumerate(mirror) if a < b],
    }


def standing_of(position: WarPosition) -> dict[str, Any]:
    """The owners and armies, by index."""
    return {"owners": list(position.owners), "armies": list(position.armies)}


def _turn(
    war_map: WarMap,
    settings: WarSettings,
    before: WarPosition,
    after: WarPosition,
    played: Sequence[PlayedMove],
) -> dict[str, Any]:
    by_seat = sorted(played, key=lambda move: move.seat)
    return {
        "turn": before.turn,
        "standing": standing_of(before),
        "income": [war_map.income(before.owners, seat, settings.income) for seat in (1, 2)],
        "first": after.first,
        "orders": [[order.text for order in move.move] for move in by_seat],
        "events": [event_of(event) for event in after.events],
        "seconds": [None if move.seconds is None else round(move.seconds, 6) for move in by_seat],
        "values": [move.values.get(move.seat) for move in by_seat],
        "comments": [move.comment for move in by_seat],
    }


KINDS: Final = {Deployed: "deploy", Transferred: "transfer", Attacked: "attack"}
KEYS: Final = {"source": "from", "ordered": "asked"}


def event_of(event: Event) -> dict[str, Any]:
    """What an order did, by the record's keys."""
    if isinstance(event, RefusedOrder):
        return {"seat": event.seat, "kind": "illegal", "order": event.order.text, "why": event.why}
    content = {KEYS.get(name, name): value for name, value in event._asdict().items() if name != "seen"}
    return {"seat": event.seat, "kind": KINDS[type(event)], **content}


Start = Callable[[int], WarPosition]


def read(content: bytes, map_name: str, settings: WarSettings, start: Start) -> list[RecordedGame]:
    """The games of one record or a list of them; `start` gives a seed's first position.

    A game of another map, or that began otherwise, has a fault, one of other settings a doubt. Raises
    UnreadableRecordError.
    """

    def read_one(record: Any) -> RecordedGame:
        _check_head(record, map_name)
        try:
            heading = record | (record.get("result") or {})
            recorded = recorded_game(heading, _moves(record, settings, start))
        except UnreadableRecordError:
            raise
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise UnreadableRecordError(f"its turns cannot be read: {error!r:.200}") from None
        return recorded._replace(doubt=doubt(record.get("settings"), asdict(settings)))

    return read_games(content, MAX_GAMES, read_one)


def _check_head(record: Any, map_name: str) -> None:
    if not isinstance(record, dict) or record.get("game") != "warlight":
        raise UnreadableRecordError('it has no "game": "warlight"')
    if record.get("version") != VERSION:
        raise UnreadableRecordError(f"its version is {record.get('version')!r:.40}, known is {VERSION}")
    played_on = record.get("map")
    name = played_on.get("name") if isinstance(played_on, dict) else played_on
    if name != map_name:
        raise UnreadableRecordError(f"its map is {name!r:.60}, not {map_name!r}")


def _moves(record: dict[str, Any], settings: WarSettings, start: Start) -> list[str]:
    """The moves of a record's turns. Raises LookupError, TypeError and ValueError for what has none."""
    turns, seed = record["turns"], int(record["seed"])
    if turns and turns[0]["standing"] != standing_of(start(seed)):
        its, these = _starts(record["settings"]), _starts(asdict(settings))
        raise UnreadableRecordError(
            f"it does not begin as a game of seed {seed} does under these settings: "
            f"it has {its}, these settings have {these}"
        )
    return ["; ".join(orders) or PASS for turn in turns for orders in _orders_of_seats(turn["orders"])]


def _starts(settings: Mapping[str, Any]) -> str:
    """What the first position depends on, but for the map and the seed."""
    names = ("starts", "start_armies", "neutral_armies")
    return ", ".join(f"{name} {settings[name]!r:.20}" for name in names)


def _orders_of_seats(orders: Any) -> list[list[str]]:
    """The orders of both seats in a turn. Raises TypeError."""
    lists = [own for own in orders if isinstance(own, list) and all(isinstance(order, str) for order in own)]
    if not isinstance(orders, list) or not len(orders) == len(lists) == 2:
        raise TypeError(f"{orders!r:.60} is not two lists of texts, one for each seat")
    return lists
