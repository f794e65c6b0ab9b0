"""The referee: start, fog, the end of a game, texts of moves, and the laws of all referees."""

import random
from pathlib import Path

import pytest

from referees.api import IllegalMoveError, InvalidSettingError, UnreadableMoveError
from referees.conformance import check_referee
from referees.warlight import AttackTransfer, Deploy, Orders, WarLight, WarPosition
from referees.warlight.maps import write_map
from referees.warlight.orders import read_orders
from referees.warlight.position import UNSEEN, RefusedOrder
from tests.referees.warlight.positions import chain_of, on_map, standing


def scripted(rules: WarLight, position: WarPosition, seat: int, chance: random.Random) -> Orders:
    """Orders to deploy everything at the border and to attack wherever armies are."""
    own = [at for at, owner in enumerate(position.owners) if owner == seat]
    ids = [territory.id for territory in rules.map.territories]
    border = [at for at in own if any(position.owners[near] != seat for near in rules.map.neighbours[at])]
    orders: list[Deploy | AttackTransfer] = [Deploy(rules.income(position, seat), ids[chance.choice(border)])]
    for at in own:
        target = chance.choice(rules.map.neighbours[at])
        if position.armies[at] > 2:
            orders.append(AttackTransfer(position.armies[at], ids[at], ids[target]))
    return tuple(orders)


def play_out(rules: WarLight, seed: int) -> list[WarPosition]:
    chance = random.Random(seed)
    positions = [rules.start(seed)]
    while rules.to_move(positions[-1]):
        orders = {seat: scripted(rules, positions[-1], seat, chance) for seat in (1, 2)}
        positions.append(rules.play(positions[-1], orders))
    return positions


@pytest.fixture(scope="module")
def small() -> WarLight:
    return WarLight.from_settings({"map": "double_small", "turn_limit": 30})


def test_the_referee_keeps_the_laws_of_referees(small: WarLight) -> None:
    check_referee(
        small, games=4, choose=lambda position, seat, chance: scripted(small, position, seat, chance)
    )


def test_the_start_is_mirrored_and_comes_from_the_seed(small: WarLight) -> None:
    starts = {small.start(seed) for seed in range(20)}
    assert len({start.owners for start in starts}) > 15
    assert small.mirror is not None
    for start in starts:
        held = [at for at, owner in enumerate(start.owners) if owner == 1]
        assert len(held) == 3
        assert all(small.map.territories[at].name.endswith("N") for at in held)
        assert all(start.owners[small.mirror[at]] == 2 for at in held)
        assert sorted(set(zip(start.owners, start.armies, strict=True))) == [(0, 2), (1, 5), (2, 5)]
        assert sum(start.owners) == 9
    assert small.start(3) == small.start(3)


def test_every_number_of_the_start_is_a_setting() -> None:
    settings = {"starts": 4, "start_armies": 2, "neutral_armies": 3, "income": 7, "map": "double_small"}
    rules = WarLight.from_settings(settings)
    start = rules.start(1)
    assert start.owners.count(1) == start.owners.count(2) == 4
    assert set(zip(start.owners, start.armies, strict=True)) == {(0, 3), (1, 2), (2, 2)}
    assert rules.income(start, 1) == 7


def test_on_a_map_without_a_mirror_both_seats_start_anywhere() -> None:
    rules = WarLight.from_settings({"map": "small_world"})
    for seed in range(20):
        start = rules.start(seed)
        assert start.owners.count(1) == start.owners.count(2) == 3
    assert not rules.spec().symmetric


def test_the_same_seed_and_orders_give_the_same_game(small: WarLight) -> None:
    game = play_out(small, 5)
    assert game == play_out(small, 5)
    assert game != play_out(small, 6)
    assert len(game) > 5


def test_in_the_fog_a_seat_sees_its_territories_and_their_neighbours(small: WarLight) -> None:
    position = play_out(small, 1)[8]
    for seat in (1, 2):
        view = small.view(position, seat)
        own = {at for at, owner in enumerate(position.owners) if owner == seat}
        seen = own | {near for at in own for near in small.map.neighbours[at]}
        for at in range(len(position.owners)):
            expected = (position.owners[at], position.armies[at]) if at in seen else (UNSEEN, 0)
            assert (view.owners[at], view.armies[at]) == expected
        assert view.seed == 0
        assert all(event.seat == seat or event.seen for event in view.events)


def test_without_fog_everything_is_seen() -> None:
    rules = WarLight.from_settings({"map": "double_small", "fog": False})
    start = rules.start(1)
    assert rules.view(start, 1).owners == start.owners
    assert rules.view(start, 2).armies == start.armies
    own = rules.map.territories[start.owners.index(2)].id
    after = rules.play(start, {1: (), 2: (Deploy(1, own),)})
    assert not after.events[0].seen
    assert [event._replace(seen=False) for event in rules.view(after, 1).events] == list(after.events)


def test_player_without_territory_has_lost(tmp_path: Path) -> None:
    rules = row_of_four(tmp_path)
    position = standing(rules, {2: (1, 100), 3: (2, 1)})
    after = rules.play(position, {1: (AttackTransfer(99, 2, 3),), 2: ()})
    outcome = rules.outcome(after)
    assert outcome is not None
    assert (outcome.winners, outcome.points, outcome.eliminated) == ((1,), (2.0, 0.0), (None, 1))
    assert outcome.summary == "player 1 wins"
    assert rules.to_move(after) == ()


def row_of_four(folder: Path, **settings: object) -> WarLight:
    return on_map(folder, write_map(chain_of("A", "B", "C", "D")), **settings)


@pytest.mark.parametrize(
    ("held", "winners"),
    [
        ({1: (1, 1), 2: (1, 1), 4: (2, 9)}, (1,)),
        ({1: (1, 3), 4: (2, 4)}, (2,)),
        ({1: (1, 4), 4: (2, 4)}, (1, 2)),
    ],
)
def test_after_the_last_turn_territories_count_and_then_armies(
    tmp_path: Path, held: dict[int, tuple[int, int]], winners: tuple[int, ...]
) -> None:
    rules = row_of_four(tmp_path, turn_limit=9)
    before = standing(rules, held, turn=9)
    assert rules.to_move(before) == (1, 2)
    after = rules.play(before, {1: (), 2: ()})
    assert rules.to_move(after) == ()
    outcome = rules.outcome(after)
    assert outcome is not None
    assert outcome.winners == winners
    assert outcome == rules.adjudicate(after)


def test_orders_are_read_in_any_case_and_from_lines(small: WarLight) -> None:
    start = small.start(1)
    text = "attacktransfer 2  from 5 to 29\nDEPLOY 3 on 4 ; \n"
    read = small.read_move(start, 1, text)
    assert read == (Deploy(3, 4), AttackTransfer(2, 5, 29))
    assert small.move_text(read) == "Deploy 3 on 4; AttackTransfer 2 from 5 to 29"
    assert small.read_move(start, 1, "pass") == small.read_move(start, 1, "") == ()
    assert small.move_text(()) == "pass"


@pytest.mark.parametrize("text", ["Deploy 3", "Deploy x on 4", "Attack 3 from 4 to 5", "pass; pass", "?"])
def test_a_text_that_is_not_an_order_is_unreadable(small: WarLight, text: str) -> None:
    with pytest.raises(UnreadableMoveError, match="neither 'Deploy ARMIES on ID' nor"):
        small.read_move(small.start(1), 1, text)


def test_openings_have_one_deploy_for_each_territory_in_the_order_of_ids(small: WarLight) -> None:
    start = small.start(1)
    low, middle, _ = (small.map.territories[at].id for at, owner in enumerate(start.owners) if owner == 1)
    orders = (Deploy(1, middle), AttackTransfer(9, middle, 1), Deploy(2, low), Deploy(2, middle))
    canonical = small.canonical(start, 1, orders)
    assert canonical == (Deploy(2, low), Deploy(3, middle), AttackTransfer(9, middle, 1))
    first, second = (small.play(start, {1: opening, 2: ()}) for opening in (orders, canonical))
    assert (first.owners, first.armies) == (second.owners, second.armies)
    # Which armies are cut when the income does not suffice depends on the order.
    greedy = (Deploy(4, middle), Deploy(4, low))
    assert small.canonical(start, 1, greedy) == greedy
    # What is refused is not counted.
    refused = (Deploy(4, low), Deploy(-3, low))
    assert small.canonical(start, 1, refused) == refused


def test_nobody_moves_alone_or_after_the_end(small: WarLight) -> None:
    start = small.start(1)
    with pytest.raises(IllegalMoveError, match="both seats move at once"):
        small.play(start, {1: ()})
    with pytest.raises(IllegalMoveError, match="at most 2000"):
        small.check(start, 1, (Deploy(1, 1),) * 2001)
    over = standing(small, {1: (1, 5)})
    with pytest.raises(IllegalMoveError, match="the game is over"):
        small.check(over, 1, ())
    with pytest.raises(UnreadableMoveError, match="at most 2000"):
        small.read_move(start, 1, "Deploy 1 on 1;" * 2001)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fogg": True}, "did you mean 'fog'"),
        ({"colour": 1}, "no such setting; there are map, fog"),
        ({"fog": 1}, "neither true nor false"),
        ({"luck": 1.5}, "not a number from 0 to 1"),
        ({"luck": 0.1234}, "more than three decimals"),
        ({"luck": True}, "not a number from 0 to 1"),
        ({"luck": float("nan")}, "not a number from 0 to 1"),
        ({"rounding": "up"}, "not one of .weighted_random., .straight."),
        ({"move_order": "fast"}, "not one of .random., .cyclic., .fewer_armies., .paired."),
        ({"starts": 0}, "not a whole number from 1"),
        ({"starts": 47, "map": "double_small"}, "on this map each seat can have 46"),
        ({"turn_limit": True}, "not a whole number"),
        ({"map": ""}, "is not text"),
        ({"map": "atlantis"}, "there is no map 'atlantis'"),
    ],
)
def test_a_setting_that_is_not_accepted_says_why(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidSettingError, match=message):
        WarLight.from_settings(settings)


def test_luck_and_rates_are_settings() -> None:
    rules = WarLight.from_settings({"luck": 0.16, "offence": 0.5, "defence": 0.25, "rounding": "straight"})
    combat = rules.settings.combat
    assert (combat.luck, combat.offence, combat.defence, combat.weighted) == (160, 500, 250, False)
    assert WarLight.from_settings({"luck": 1, "starts": 46, "map": "double_small"}).settings.luck == 1


@pytest.mark.parametrize(("turn_limit", "plies"), [(30, 60), (80, 160), (200, 160)])
def test_a_game_is_expected_to_last_its_usual_turns_or_up_to_its_limit(turn_limit: int, plies: int) -> None:
    rules = WarLight.from_settings({"map": "double_small", "turn_limit": turn_limit})
    assert rules.spec().expected_length == plies and rules.longest_game() == 2 * turn_limit


def test_boards_show_owners_and_stacks_and_the_fog(tmp_path: Path) -> None:
    rules = row_of_four(tmp_path, stack_armies=8)
    position = standing(rules, {1: (1, 8), 2: (1, 7), 4: (2, 8)})
    assert rules.board(position, 1).letters == "bx-w"
    assert rules.board(rules.view(position, 1), 1).letters == "bx-+"
    assert rules.board(rules.view(position, 2), 2).letters == "++-w"


def test_exchanging_the_players_mirrors_the_map(small: WarLight) -> None:
    spec = small.spec()
    start = small.board(small.start(4), 1)
    assert spec.reversed_board(start) == start
    assert spec.symmetric
    assert spec.simultaneous


def test_settings_that_change_the_play_make_another_game_at_academy() -> None:
    ids = {
        WarLight.from_settings({"map": "double_small", **settings}).spec().game_id
        for settings in ({}, {"turn_limit": 50}, {"fog": False}, {"income": 7}, {"luck": 0.16})
    }
    assert ids == {
        "warlight-double_small",
        "warlight-double_small-fog.False",
        "warlight-double_small-income.7",
        "warlight-double_small-luck.0.16",
    }
    many = {"fog": False, "luck": 0.16, "rounding": "straight", "move_order": "paired", "income": 7}
    assert len(WarLight.from_settings(many).spec().game_id) == 64


def test_players_interact_where_their_territories_touch(tmp_path: Path) -> None:
    rules = row_of_four(tmp_path)
    assert rules.interaction(standing(rules, {2: (1, 5), 3: (2, 5)}))
    assert not rules.interaction(standing(rules, {1: (1, 5), 3: (2, 5)}))


def test_own_orders_do_not_tell_who_stands_beside_what_they_attack(tmp_path: Path) -> None:
    rules = row_of_four(tmp_path)
    orders = {1: (AttackTransfer(1, 1, 2),), 2: ()}
    beside, away = (rules.play(standing(rules, {1: (1, 9), id_: (2, 9)}), orders) for id_ in (3, 4))
    assert [event.seen for event in (*beside.events, *away.events)] == [True, False]
    assert rules.view(beside, 1) == rules.view(away, 1)


def test_why_an_order_did_nothing_does_not_tell_who_stands_in_the_fog() -> None:
    rules = WarLight.from_settings({"map": "double_small"})
    position = rules.start(5)
    unseen = [at for at, owner in enumerate(rules.view(position, 1).owners) if owner == UNSEEN]
    ids = [rules.map.territories[at].id for at in unseen]
    near = [rules.map.territories[rules.map.neighbours[at][0]].id for at in unseen]
    orders = [f"Deploy 1 on {id_}" for id_ in ids]
    orders += [f"AttackTransfer 1 from {id_} to {to}" for id_, to in zip(ids, near, strict=True)]

    after = rules.play(position, {1: read_orders("; ".join(orders)), 2: ()})

    reasons = {event.why for event in rules.view(after, 1).events if isinstance(event, RefusedOrder)}
    assert reasons == {f"{id_} is not its own" for id_ in ids}
