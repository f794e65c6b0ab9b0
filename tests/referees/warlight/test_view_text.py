"""Views as text: a bot elsewhere is shown what a bot of the arena's own is shown."""

import json
import random

import pytest

from referees.api import UnreadableViewError
from referees.dialogues import LineDialogue
from referees.warlight import WarLight, WarPosition
from referees.warlight.orders import AttackTransfer, Deploy, Order

RULES = WarLight.from_settings({"map": "double_small"})


def some_orders(chance: random.Random, position: WarPosition, seat: int) -> tuple[Order, ...]:
    """Deploys and moves from its territories, and an order that cannot be carried out."""
    places = RULES.map.territories
    own = [at for at, owner in enumerate(position.owners) if owner == seat]
    orders: list[Order] = [Deploy(5, places[chance.choice(own)].id), Deploy(1, 99_999)]
    for at in own:
        near = chance.choice(RULES.map.neighbours[at])
        orders.append(AttackTransfer(position.armies[at] + 2, places[at].id, places[near].id))
    return tuple(orders)


def shown(words: LineDialogue[WarPosition], view: WarPosition, seat: int) -> list[object]:
    """All that a dialogue says of a view."""
    return [*(prompt.lines(1000) for prompt in words.turn(view, seat)), words.refusals(view, seat)]


def test_both_dialogues_say_the_same_of_a_view_that_was_sent_as_text() -> None:
    chance = random.Random(4)
    position = RULES.start(7)
    kinds = set()
    while RULES.to_move(position) and position.turn < 25:
        for seat in (1, 2):
            view = RULES.view(position, seat)
            read = RULES.read_view(RULES.view_text(view))
            assert (read.turn, read.owners, read.armies, read.seed) == (
                view.turn, view.owners, view.armies, 0,
            )  # fmt: skip
            for name in ("lines", "lines:ai-challenge-2"):
                words = RULES.dialogue(name)
                assert words is not None
                assert shown(words, read, seat) == shown(words, view, seat)
            kinds |= {(type(event).__name__, event.seat == seat) for event in view.events}
        position = RULES.play(position, {seat: some_orders(chance, position, seat) for seat in (1, 2)})
    # The game had all that a view can hold, the opponent's orders included.
    assert {("Deployed", True), ("Attacked", False), ("Transferred", True), ("RefusedOrder", True)} <= kinds


def test_text_of_a_view_does_not_give_the_seed_or_what_lies_in_the_fog_away() -> None:
    position = RULES.start(7_654_321)
    text = RULES.view_text(RULES.view(position, 1))
    assert "7654321" not in text
    owners = json.loads(text)["standing"]["owners"]
    assert 2 not in owners and owners.count(3) > 10


WHOLE = json.loads(RULES.view_text(RULES.view(RULES.start(1), 1)))

ILLEGAL = {"kind": "illegal", "seat": 1, "order": "Deploy 1 on 3", "why": "no", "sound": True}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a view of WarLight"),
        ("[" * 100_000, "is not a view of WarLight"),
        ("[]", "is not a view of WarLight"),
        (json.dumps(WHOLE | {"turn": "soon"}), "soon"),
        (json.dumps(WHOLE | {"turn": float("inf")}), "turn"),
        (json.dumps(WHOLE | {"turn": 1.5}), "turn"),
        (json.dumps(WHOLE | {"first": -1}), "first"),
        (json.dumps(WHOLE | {"events": {"kind": "rest"}}), "is not a view"),
        (json.dumps(WHOLE | {"events": [{"kind": "rest", "seat": 1}]}), "rest"),
        (json.dumps(WHOLE | {"events": [ILLEGAL | {"order": 5}]}), "is not a view"),
        (json.dumps(WHOLE | {"events": [ILLEGAL | {"seat": "me"}]}), "is not a view"),
        (
            json.dumps(WHOLE | {"events": [{"kind": "deploy", "seat": 1, "to": [], "asked": 1, "sent": 1}]}),
            "to",
        ),
        (json.dumps(WHOLE | {"events": [{"kind": "illegal", "seat": 1, "order": "go"}]}), "go"),
        (json.dumps(WHOLE | {"standing": {"owners": [1], "armies": [5]}}), "the same map"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"owners": [9] * 92}}), "9 is not an owner"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"owners": [4] * 92}}), "4 is not an owner"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"armies": [5] * 91}}), "the same map"),
        (json.dumps(WHOLE | {"turn": True}), "turn"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"owners": [-1] * 92}}), "is not a view"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"owners": 92}}), "is not a view"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"armies": [-1] * 92}}), "is not a view"),
        (json.dumps(WHOLE | {"standing": WHOLE["standing"] | {"armies": [2.5] * 92}}), "is not a view"),
    ],
)
def test_text_that_is_not_a_view_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(UnreadableViewError, match=why):
        RULES.read_view(text)
