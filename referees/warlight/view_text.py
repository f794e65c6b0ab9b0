"""What a seat sees, as JSON in the words of the records, for players that dial in from elsewhere."""

import json
from typing import Any, Final

from referees.api import UnreadableMoveError, UnreadableViewError
from referees.warlight.orders import read_order
from referees.warlight.position import (
    UNSEEN,
    Attacked,
    Deployed,
    Event,
    RefusedOrder,
    Transferred,
    WarPosition,
)
from referees.warlight.record import KEYS, KINDS, event_of, standing_of

_CLASSES: Final = {kind: made for made, kind in KINDS.items()}


def write(view: WarPosition) -> str:
    """The view's text: `turn`, `standing`, and of the turn before `first` and `events`."""
    content = {
        "turn": view.turn,
        "standing": standing_of(view),
        "first": view.first,
        "events": [_event_content(event) for event in view.events],
    }
    return json.dumps(content, separators=(",", ":"))


def _event_content(event: Event) -> dict[str, Any]:
    content = event_of(event)
    return content | {"sound": event.sound} if isinstance(event, RefusedOrder) else content


def read(text: str, territories: int) -> WarPosition:
    """Read a view of a map with this number of territories. Raises UnreadableViewError."""
    try:
        content = json.loads(text)
        standing = content["standing"]
        owners = bytes(_counts(standing["owners"], "owners"))
        armies = tuple(_counts(standing["armies"], "armies"))
        events = tuple(map(_read_event, content["events"]))
        turn, first = _counts([content["turn"], content["first"]], "turn and first")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableViewError(f"{text[:80]!r} is not a view of WarLight: {error!r:.200}") from None
    if not len(owners) == len(armies) == territories:
        raise UnreadableViewError(
            f"a view has {len(owners)} owners and {len(armies)} numbers of armies, the map {territories} "
            "territories: both sides must have the same map"
        )
    if max(owners) > UNSEEN:
        raise UnreadableViewError(f"{max(owners)} is not an owner: 0 to {UNSEEN} are")
    return WarPosition(turn, owners, armies, 0, events, first)


def _counts(values: object, name: str) -> list[int]:
    """A list of whole numbers. Raises ValueError."""
    if not isinstance(values, list) or not all(type(value) is int and value >= 0 for value in values):
        raise ValueError(f"{name}: {values!r:.60} are not whole numbers from 0")
    return values


def _read_event(content: dict[str, Any]) -> Event:
    """An event that the seat could see. Raises KeyError, TypeError and ValueError for what is none."""
    if content["kind"] == "illegal":
        try:
            order = read_order(str(content["order"]))
        except UnreadableMoveError as error:
            raise ValueError(str(error)) from None
        (seat,) = _counts([content["seat"]], "seat")
        return RefusedOrder(seat, order, str(content["why"]), bool(content["sound"]), seen=True)
    made: type[Deployed | Transferred | Attacked] = _CLASSES[content["kind"]]
    values = {name: name == "seen" or content[KEYS.get(name, name)] for name in made._fields}
    if not all(isinstance(value, int) for value in values.values()):
        raise ValueError(f"{content!r:.100} has something else than whole numbers")
    return made(**values)
