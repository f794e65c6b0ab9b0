"""The decent bot's plans."""

from fractions import Fraction
from random import Random

import pytest

from clients.bots.warlight import simple
from clients.bots.warlight.advisor import expected_value
from clients.bots.warlight.decent import Memory, TurnPlan, needed
from clients.bots.warlight.dialogue import ME, OPPONENT
from referees.warlight.maps import protocol_lines, read_map
from referees.warlight.orders import Orders, read_order
from referees.warlight.position import NEUTRAL, UNSEEN, WarPosition
from referees.warlight.rules import WarLight
from referees.warlight.turn import CombatRules
from tests.referees.warlight.combat_odds import fight_odds

GAMES = 12
# A line of six, the first three of which are a bonus.
LINE = read_map(
    "\n".join(
        f"TerritoryDefinition {id_} T{id_} {' '.join(str(n) for n in (id_ - 1, id_ + 1) if 1 <= n <= 6)}"
        for id_ in range(1, 7)
    )
    + "\nBonusDefinition 4 Home 1 2 3",
    "line",
)


def view(owners: list[int], armies: list[int]) -> WarPosition:
    return WarPosition(3, bytes(owners), tuple(armies), 0)


def planned(standing: WarPosition) -> list[str]:
    return [order.text for order in TurnPlan(LINE, standing, Memory(), Random(1)).orders()]


@pytest.mark.parametrize("defenders", range(1, 60))
def test_what_is_needed_is_sure_and_one_less_is_not(defenders: int) -> None:
    rules = CombatRules()

    def chance(attackers: int) -> Fraction:
        return sum(
            (odds for fight, odds in fight_odds(rules, attackers, defenders).items() if fight.captured),
            Fraction(),
        )

    assert chance(needed(defenders)) == 1
    assert chance(needed(defenders) - 1) < 1


def test_what_is_begun_is_finished_first() -> None:
    standing = view([ME, ME, NEUTRAL, UNSEEN, UNSEEN, UNSEEN], [1, 1, 2, 0, 0, 0])
    orders = planned(standing)
    assert orders[0] == "Deploy 5 on 2"
    assert "AttackTransfer 4 from 2 to 3" in orders


def test_armies_behind_the_front_are_led_to_it() -> None:
    standing = view([ME, ME, ME, OPPONENT, UNSEEN, UNSEEN], [9, 1, 5, 30, 0, 0])
    orders = planned(standing)
    assert "AttackTransfer 8 from 1 to 2" in orders
    # All that there is goes where the bonus is in danger.
    assert "Deploy 9 on 3" in orders


def test_an_opponent_much_weaker_is_attacked_with_all_there_is() -> None:
    standing = view([ME, ME, ME, OPPONENT, UNSEEN, UNSEEN], [1, 1, 40, 2, 0, 0])
    orders = planned(standing)
    attack = next(
        order for order in orders if order.startswith("AttackTransfer") and order.endswith("from 3 to 4")
    )
    assert int(attack.split()[1]) >= 20


def test_a_player_without_territories_gives_no_orders() -> None:
    assert planned(view([UNSEEN] * 6, [0] * 6)) == []


def test_the_opponent_is_remembered_until_something_else_is_seen_there() -> None:
    memory = Memory()
    memory.note(view([ME, ME, OPPONENT, UNSEEN, UNSEEN, UNSEEN], [1] * 6))
    memory.note(view([ME, UNSEEN, UNSEEN, UNSEEN, UNSEEN, UNSEEN], [1] * 6))
    assert memory.opponent == {2}
    memory.note(view([ME, ME, NEUTRAL, UNSEEN, UNSEEN, UNSEEN], [1] * 6))
    assert not memory.opponent


def test_more_is_expected_of_more() -> None:
    worse = view([ME, OPPONENT, UNSEEN, UNSEEN, UNSEEN, UNSEEN], [2, 9, 0, 0, 0, 0])
    better = view([ME, OPPONENT, UNSEEN, UNSEEN, UNSEEN, UNSEEN], [12, 9, 0, 0, 0, 0])
    assert 0.0 < expected_value(LINE, worse) < expected_value(LINE, better) < 1.0


def simple_orders(rules: WarLight, seen: WarPosition, seat: int, chance: Random) -> Orders:
    neighbours, bonuses = simple.read_map(protocol_lines(rules.map))
    names = {NEUTRAL: "Neutral", seat: "You", 3 - seat: "Opponent"}
    known = [
        (territory.id, at) for at, territory in enumerate(rules.map.territories) if seen.owners[at] != UNSEEN
    ]
    owner = {id_: names[seen.owners[at]] for id_, at in known}
    armies = {id_: seen.armies[at] for id_, at in known}
    return tuple(map(read_order, simple.decide(neighbours, bonuses, owner, armies, chance, {})))


def winner_is_decent(seed: int, decent: int) -> bool:
    rules = WarLight.from_settings({"map": "double_small"})
    position, memory = rules.start(seed), Memory()
    chances = Random(seed), Random(-seed)
    as_dialogue = bytes([NEUTRAL, ME, OPPONENT, UNSEEN] if decent == 1 else [NEUTRAL, OPPONENT, ME, UNSEEN])
    while rules.to_move(position):
        seen = rules.view(position, decent)
        own = WarPosition(seen.turn, bytes(as_dialogue[owner] for owner in seen.owners), seen.armies, 0)
        memory.note(own)
        position = rules.play(
            position,
            {
                decent: tuple(TurnPlan(rules.map, own, memory, chances[0]).orders()),
                3 - decent: simple_orders(rules, rules.view(position, 3 - decent), 3 - decent, chances[1]),
            },
        )
    outcome = rules.outcome(position)
    return outcome is not None and outcome.winners == (decent,)


def test_the_planning_bot_beats_the_simple_bot_in_at_least_nine_games_of_ten() -> None:
    won = sum(winner_is_decent(seed, 1 + seed % 2) for seed in range(GAMES))
    assert won >= 0.9 * GAMES
