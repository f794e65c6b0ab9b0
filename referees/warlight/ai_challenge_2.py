"""WarLight's dialogues: the challenge's own, and theaigames' Warlight AI Challenge 2 for bots written for it.

In the second, each turn has two requests, `go place_armies` and `go attack/transfer`, with nothing new
between them, so that together they are one turn's orders. That challenge let bots pick where they start; here
starts are dealt, so the picks are asked for as a formality and the first `update_map` has the truth.

Regions and super regions are numbered from 1 without gaps, as by that challenge's engine: its bots keep
them in arrays. A region's number is its territory's place in the order of the map's ids; orders are read back
to these ids, which records have, too.
"""

from collections.abc import Sequence
from typing import Final

from referees.api import UnreadableMoveError
from referees.dialogues import BotTime, LineDialogue, Prompt, Reading
from referees.warlight.maps import WarMap, protocol_lines
from referees.warlight.orders import MAX_ORDERS, PASS, AttackTransfer, Deploy, Order, orders_text, read_order
from referees.warlight.position import (
    NEUTRAL,
    UNSEEN,
    Attacked,
    Deployed,
    RefusedOrder,
    Transferred,
    WarPosition,
)
from referees.warlight.settings import WarSettings

END: Final = "end"
EXPECTED_VALUE: Final = "academy-expected_value"


class WarLines(LineDialogue[WarPosition]):
    """What both dialogues say of orders."""

    def passing(self) -> str:
        """No orders."""
        return PASS

    def refusals(self, view: WarPosition, seat: int) -> Sequence[str]:
        """Each order of the turn before that was not carried out by its player's own fault, and why."""
        return [
            f"order '{event.order.text}' was not carried out: {event.why}"
            for event in view.events
            if isinstance(event, RefusedOrder) and event.seat == seat and not event.sound
        ]

    def _reading(self, orders: Sequence[Order], complaints: list[str], *values: float | None) -> Reading:
        if len(orders) > MAX_ORDERS:
            complaints.append(f"{len(orders)} orders: those after the first {MAX_ORDERS} were dropped")
        return Reading(orders_text(orders[:MAX_ORDERS]), tuple(complaints), *values)


class ChallengeLines(WarLines):
    """The challenge's own dialogue, on one map."""

    def __init__(self, war_map: WarMap) -> None:
        self._map_lines = tuple(protocol_lines(war_map))
        self._rows = [f"Territory {territory.id} ownedBy " for territory in war_map.territories]

    def greeting(self, seat: int, time: BotTime) -> Sequence[str]:
        """The map."""
        return self._map_lines

    def standing(self, view: WarPosition, seat: int) -> list[str]:
        """`Turn N`, the territories that the seat sees in the order of their ids, and `EndStanding`."""
        words = {NEUTRAL: "Neutral withArmies ", seat: "You withArmies ", 3 - seat: "Opponent withArmies "}
        lines = [
            f"{row}{words[owner]}{armies}"
            for row, owner, armies in zip(self._rows, view.owners, view.armies, strict=True)
            if owner != UNSEEN
        ]
        return [f"Turn {view.turn}", *lines, "EndStanding"]

    def turn(self, view: WarPosition, seat: int) -> Sequence[Prompt]:
        """The standing, answered up to `end`."""
        lines = self.standing(view, seat)
        return (Prompt(lambda milliseconds: lines, END),)

    def read(self, answers: Sequence[Sequence[str]], seat: int) -> Reading:
        """Read orders line by line; any other line is dropped."""
        orders: list[Order] = []
        complaints: list[str] = []
        before = value = None
        for line in answers[0]:
            try:
                if line.split()[:1] == [EXPECTED_VALUE]:
                    before, value = _expected_values(line)
                elif line.strip():
                    orders.append(read_order(line))
            except UnreadableMoveError as error:
                complaints.append(f"a line was dropped: {error}")
        return self._reading(orders, complaints, value, before)

    def farewell(self) -> Sequence[str]:
        """`GameOver`."""
        return ("GameOver",)


def _expected_values(line: str) -> tuple[float | None, float]:
    """What the bot expected before its orders, if it gives that too, and with them.

    Raises UnreadableMoveError.
    """
    value_text = line.strip().removeprefix(EXPECTED_VALUE).strip()
    try:
        values = [float(word) for word in value_text.split()]
    except ValueError:
        values = []
    if not (1 <= len(values) <= 2 and all(0.0 <= value <= 1.0 for value in values)):
        raise UnreadableMoveError(
            f"'{EXPECTED_VALUE}': {value_text[:80]!a} is not a number from 0 to 1, nor two of them"
        )
    return (values[0] if len(values) == 2 else None), values[-1]


NAME: Final = "ai-challenge-2"
PICK: Final = "pick_starting_region"
PLACE: Final = "place_armies"
MOVE: Final = "attack/transfer"
_SHOWN: Final = 80
_MOST_DIGITS: Final = 12


def player_name(owner: int) -> str:
    """`player1`, `player2` or `neutral`."""
    return f"player{owner}" if owner else "neutral"


class AiChallenge2(WarLines):
    """The second dialogue, on one map under given settings; `mirror` is each territory's image, by index."""

    def __init__(self, war_map: WarMap, settings: WarSettings, mirror: Sequence[int] | None) -> None:
        self._map, self._settings, self._mirror = war_map, settings, mirror
        self._number = {territory.id: at for at, territory in enumerate(war_map.territories, start=1)}
        self._rewards, self._super_region = _super_regions(war_map)
        self._members: list[list[int]] = [[] for _ in self._rewards]
        for at, number in enumerate(self._super_region):
            self._members[number - 1].append(at)

    def greeting(self, seat: int, time: BotTime) -> Sequence[str]:
        """Settings, super regions, regions and neighbours, each pair once."""
        neighbours: dict[int, list[str]] = {}
        for first, second in self._map.edges:
            neighbours.setdefault(first + 1, []).append(str(second + 1))
        rewards = enumerate(self._rewards, start=1)
        return (
            f"settings timebank {time.bank}",
            f"settings time_per_move {time.added}",
            f"settings max_rounds {self._settings.turn_limit}",
            f"settings your_bot {player_name(seat)}",
            f"settings opponent_bot {player_name(3 - seat)}",
            "setup_map super_regions " + " ".join(f"{number} {reward}" for number, reward in rewards),
            "setup_map regions "
            + " ".join(f"{number} {region}" for number, region in enumerate(self._super_region, start=1)),
            "setup_map neighbors "
            + " ".join(f"{number} {','.join(near)}" for number, near in neighbours.items()),
        )

    def preparation(self, view: WarPosition, seat: int) -> Sequence[Prompt]:
        """The picks: as many requests as the seat has territories, each with one fewer on offer."""
        own = [at for at, owner in enumerate(view.owners) if owner == seat]
        offered = self._offered(own)
        # Bots fail without the line, and on an empty one: an ordinary neutral territory is named.
        neutral = next((at for at, owner in enumerate(view.owners) if owner == NEUTRAL), offered[0])
        head = (
            f"setup_map wastelands {neutral + 1}",
            "settings starting_regions " + self._listed(offered),
            f"settings starting_pick_amount {len(own)}",
        )
        prompts = []
        for number, at in enumerate(own):
            prompts.append(_pick(head if number == 0 else (), self._listed(offered)))
            offered.remove(at)
        return prompts

    def _offered(self, own: Sequence[int]) -> list[int]:
        """The seat's own territories, and one of each super region that has none of them."""
        held = set(own)
        offered = []
        for members in self._members:
            offered += [at for at in members if at in held] or members[:1]
        return offered

    def _opponents_starts(self, own: Sequence[int]) -> list[int]:
        if self._mirror is not None:
            return [self._mirror[at] for at in own]
        # Starts that no player may know: others that were on offer keep bots going that need some.
        return [at for at in self._offered(own) if at not in own][: len(own)]

    def _listed(self, indices: Sequence[int]) -> str:
        return " ".join(str(at + 1) for at in indices)

    def turn(self, view: WarPosition, seat: int) -> Sequence[Prompt]:
        """The standing with the orders of the opponent that could be seen, and the two requests."""
        own: list[str] = []
        others: list[str] = []
        for number, (owner, armies) in enumerate(zip(view.owners, view.armies, strict=True), start=1):
            if owner != UNSEEN:
                (own if owner == seat else others).append(f"{number} {player_name(owner)} {armies}")
        starts = [at for at, owner in enumerate(view.owners) if owner == seat]
        lines = [
            f"settings starting_armies {self._map.income(view.owners, seat, self._settings.income)}",
            " ".join(("update_map", *own, *others)),
            " ".join(("opponent_moves", *self._moves_of(view, 3 - seat))),
        ]
        if view.turn == 1 and starts:
            known = self._listed(self._opponents_starts(starts))
            lines.insert(0, f"setup_map opponent_starting_regions {known}")
        return (
            Prompt(lambda milliseconds: (*lines, f"go {PLACE} {milliseconds}"), kind=PLACE),
            Prompt(lambda milliseconds: (f"go {MOVE} {milliseconds}",), kind=MOVE),
        )

    def kind_of(self, line: str) -> str | None:
        """By the verb of the moves, or a lone id; "No moves" may answer each of the two requests."""
        verbs = [verb for verb in (PLACE, MOVE) if verb in line]
        if verbs:
            return verbs[0] if len(verbs) == 1 else ""
        if line.strip().isdecimal():
            return PICK
        return "" if _has_no_moves(line) else None

    def read(self, answers: Sequence[Sequence[str]], seat: int) -> Reading:
        """Read both lines; moves of another phase, name or form are dropped."""
        orders: list[Order] = []
        complaints: list[str] = []
        for verb, answer in zip((PLACE, MOVE), answers, strict=True):
            for line in answer:
                orders += self._read_line(line, player_name(seat), verb, complaints)
        return self._reading(orders, complaints)

    def _read_line(self, line: str, name: str, verb: str, complaints: list[str]) -> list[Order]:
        """Orders between commas. As in that challenge's engine a move with too few words ends the line."""
        orders: list[Order] = []
        if _has_no_moves(line):
            return orders
        territories = self._map.territories
        for move in line.split(","):
            words = move.split()
            if not words:
                continue
            if len(words) < (4 if verb == PLACE else 5) and words[1:2] in ([], [verb]):
                complaints.append(f"{_shown(move)} has too few words: it and what follows it were dropped")
                break
            numbers = [int(word) for word in words[2:] if word.isdecimal() and len(word) <= _MOST_DIGITS]
            if words[:2] != [name, verb] or not len(words) == 2 + len(numbers) == (4 if verb == PLACE else 5):
                complaints.append(
                    f"{_shown(move)} was dropped: it is no '{name} {verb} ...' with whole numbers"
                )
                continue
            *regions, armies = numbers
            if not all(1 <= region <= len(territories) for region in regions):
                complaints.append(f"{_shown(move)} was dropped: regions are numbered 1 to {len(territories)}")
                continue
            ids = [territories[region - 1].id for region in regions]
            orders.append(Deploy(armies, *ids) if verb == PLACE else AttackTransfer(armies, *ids))
        return orders

    def _moves_of(self, view: WarPosition, seat: int) -> list[str]:
        name, number = player_name(seat), self._number
        moves = []
        for event in view.events:
            if event.seat != seat:
                continue
            match event:
                case Deployed():
                    moves.append(f"{name} {PLACE} {number[event.to]} {event.sent}")
                case Transferred() | Attacked():
                    moves.append(f"{name} {MOVE} {number[event.source]} {number[event.to]} {event.sent}")
        return moves


def _pick(head: tuple[str, ...], offered: str) -> Prompt:
    return Prompt(lambda milliseconds: (*head, f"{PICK} {milliseconds} {offered}"), kind=PICK)


def _super_regions(war_map: WarMap) -> tuple[list[int], list[int]]:
    """The reward of each super region from 1, and for each territory the number of its own.

    A territory of several bonuses counts to the first; one of none is a super region without reward. A bonus
    of which earlier ones have all territories is left out: bots do not expect a super region without regions.
    """
    rewards: list[int] = []
    number_of: dict[int, int] = {}
    for armies, region in war_map.regions:
        own = [at for at in region if at not in number_of]
        if own:
            rewards.append(armies)
            number_of |= dict.fromkeys(own, len(rewards))
    for at in range(len(war_map.territories)):
        if at not in number_of:
            rewards.append(0)
            number_of[at] = len(rewards)
    return rewards, [number_of[at] for at in range(len(war_map.territories))]


def _has_no_moves(line: str) -> bool:
    words = line.strip(", \t\r\n")
    return len(words) <= 1 or words.lower() == "no moves"


def _shown(text: str) -> str:
    return ascii(text.strip()[:_SHOWN])
