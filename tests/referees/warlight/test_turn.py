"""A turn: deploys first, then moves in their order; who may move, and what an order does."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referees.warlight import AttackTransfer, Deploy, Orders, WarLight, WarPosition
from referees.warlight.maps import write_map
from referees.warlight.position import Attacked, Deployed, Event, RefusedOrder, Transferred
from referees.warlight.turn import CombatRules, TurnResult
from tests.referees.warlight.positions import chain_of, on_map, standing

NOTHING: Orders = ()
SIX = chain_of("A", "B", "C", "D", "E", "F")


@pytest.fixture
def six(tmp_path: Path) -> WarLight:
    """Six territories in a row, ids 1 to 6; owning all is worth 3 armies."""
    return on_map(tmp_path, write_map(SIX))


def played(
    rules: WarLight, held: Mapping[int, tuple[int, int]], first: Orders, second: Orders = NOTHING
) -> WarPosition:
    return rules.play(standing(rules, held), {1: first, 2: second})


def at(rules: WarLight, position: WarPosition, id_: int) -> tuple[int, int]:
    """Owner and armies of a territory."""
    index = rules.map.index[id_]
    return position.owners[index], position.armies[index]


def whys(events: tuple[Event, ...]) -> list[str]:
    return [event.why for event in events if isinstance(event, RefusedOrder)]


HELD = {1: (1, 5), 6: (2, 5)}


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (Deploy(1, 99), "the map has no territory 99"),
        (Deploy(1, 2), "2 is not its own"),
        (Deploy(1, 6), "6 is not its own"),
        (Deploy(0, 1), "0 armies: at least 1"),
        (Deploy(-4, 1), "-4 armies: at least 1"),
        (AttackTransfer(1, 99, 1), "the map has no territory 99"),
        (AttackTransfer(1, 1, 99), "the map has no territory 99"),
        (AttackTransfer(1, 6, 5), "6 is not its own"),
        (AttackTransfer(1, 2, 1), "2 is not its own"),
        (AttackTransfer(1, 2, 6), "2 and 6 do not touch"),
        (AttackTransfer(1, 1, 3), "1 and 3 do not touch"),
        (AttackTransfer(1, 1, 1), "1 and 1 do not touch"),
        (AttackTransfer(0, 1, 2), "0 armies: at least 1"),
    ],
)
def test_an_order_that_cannot_be_carried_out_does_nothing_and_says_why(
    six: WarLight, order: Deploy | AttackTransfer, why: str
) -> None:
    after = played(six, HELD, (order,))
    before = standing(six, HELD)
    assert (after.owners, after.armies) == (before.owners, before.armies)
    assert [event.order for event in after.events if isinstance(event, RefusedOrder)] == [order]
    assert why in whys(after.events)[0]
    assert not any(event.sound for event in after.events if isinstance(event, RefusedOrder))


def test_deploys_beyond_the_income_are_cut_and_then_refused(six: WarLight) -> None:
    after = played(six, HELD, (Deploy(4, 1), Deploy(4, 1), Deploy(1, 1)))
    assert after.events[:2] == (Deployed(1, 1, 4, 4, False), Deployed(1, 1, 4, 1, False))
    assert whys(after.events) == ["the income is used up"]
    assert at(six, after, 1) == (1, 10)


def test_unused_income_is_lost(six: WarLight) -> None:
    after = played(six, HELD, (Deploy(1, 1),))
    assert six.income(after, 1) == 5


def test_all_of_a_bonus_is_worth_its_armies(six: WarLight) -> None:
    most = standing(six, dict.fromkeys(range(1, 6), (1, 1)))
    assert six.income(most, 1) == 5
    assert six.income(standing(six, dict.fromkeys(range(1, 7), (1, 1))), 1) == 8


def test_deploys_run_before_moves_wherever_they_stand(six: WarLight) -> None:
    after = played(six, HELD, (AttackTransfer(9, 1, 2), Deploy(5, 1)))
    # Nine always kill two and lose one or two.
    assert isinstance(after.events[0], Deployed)
    attack = after.events[1]
    assert isinstance(attack, Attacked)
    assert (attack.ordered, attack.sent, attack.killed, attack.captured) == (9, 9, 2, True)
    assert at(six, after, 1) == (1, 1)
    assert at(six, after, 2) == (1, 9 - attack.lost)


def test_one_army_stands_guard(six: WarLight) -> None:
    after = played(six, HELD, (AttackTransfer(100, 1, 2),))
    assert isinstance(after.events[0], Attacked)
    assert after.events[0].sent == 4


def test_a_territory_of_one_army_cannot_move(six: WarLight) -> None:
    after = played(six, {1: (1, 1), 6: (2, 5)}, (AttackTransfer(1, 1, 2),))
    assert "one stands guard" in whys(after.events)[0]
    assert not any(event.sound for event in after.events if isinstance(event, RefusedOrder))


def test_arrivals_have_moved(six: WarLight) -> None:
    held = {1: (1, 5), 2: (1, 1), 6: (2, 5)}
    after = played(six, held, (AttackTransfer(4, 1, 2), AttackTransfer(4, 2, 3)))
    assert after.events[0] == Transferred(1, 1, 2, 4, 4, False)
    assert "have moved or arrived" in whys(after.events)[0]
    assert at(six, after, 2) == (1, 5)


def test_conquerors_have_moved(six: WarLight) -> None:
    after = played(six, {1: (1, 50), 6: (2, 5)}, (AttackTransfer(40, 1, 2), AttackTransfer(40, 2, 3)))
    assert at(six, after, 2)[0] == 1
    assert "have moved or arrived" in whys(after.events)[0]
    assert not any(event.sound for event in after.events if isinstance(event, RefusedOrder))


def test_survivors_of_a_failed_attack_have_moved(six: WarLight) -> None:
    # Ten kill 6 of 8, and 4 or 5 of them come back to the one that stood guard.
    held = {1: (1, 5), 2: (1, 11), 3: (2, 8)}
    after = played(six, held, (AttackTransfer(10, 2, 3), AttackTransfer(10, 2, 1)))
    assert isinstance(after.events[0], Attacked)
    assert not after.events[0].captured
    assert "have moved or arrived" in whys(after.events)[0] and at(six, after, 2)[1] >= 5


def test_a_pair_is_used_once_a_turn(six: WarLight) -> None:
    held = {1: (1, 9), 2: (1, 1), 6: (2, 5)}
    after = played(six, held, (AttackTransfer(2, 1, 2), AttackTransfer(3, 1, 2)))
    assert whys(after.events) == ["an order from 1 to 2 was carried out before"]


def test_one_territory_can_send_armies_both_ways(six: WarLight) -> None:
    held = {2: (1, 9), 1: (1, 1), 3: (1, 1), 6: (2, 5)}
    after = played(six, held, (AttackTransfer(3, 2, 1), AttackTransfer(4, 2, 3)))
    assert [at(six, after, id_) for id_ in (1, 2, 3)] == [(1, 4), (1, 2), (1, 5)]


def test_an_attack_on_what_has_become_ones_own_is_a_transfer(six: WarLight) -> None:
    held = {1: (1, 20), 3: (1, 5), 6: (2, 5)}
    after = played(six, held, (AttackTransfer(19, 1, 2), AttackTransfer(4, 3, 2)))
    assert isinstance(after.events[0], Attacked)
    assert isinstance(after.events[1], Transferred)


def test_armies_killed_in_defence_cannot_move_any_more(six: WarLight) -> None:
    # In either order: seat 2's twenty kill 12 of the 30, so at most 17 of seat 1's can go.
    held = {2: (1, 30), 1: (1, 1), 3: (2, 21)}
    for turn in range(1, 21):
        after = six.play(
            standing(six, held, turn), {1: (AttackTransfer(29, 2, 1),), 2: (AttackTransfer(20, 3, 2),)}
        )
        if after.first == 2:
            transfer = after.events[1]
            assert isinstance(transfer, Transferred)
            assert transfer.sent == 30 - 12 - 1
            break
    else:
        pytest.fail("seat 2 never had the first move in 20 turns")


def test_orders_that_fail_for_what_the_opponent_did_were_sound(six: WarLight) -> None:
    # Seat 2's forty conquer 2; its three against 1 kill two of the three there, who wanted to leave.
    held = {1: (1, 3), 2: (1, 2), 3: (2, 41)}
    lost = AttackTransfer(1, 2, 1)
    seen = set()
    for turn in range(1, 21):
        after = six.play(standing(six, held, turn), {1: (lost, lost), 2: (AttackTransfer(40, 3, 2),)})
        seen |= {
            (after.first, event.why, event.sound) for event in after.events if isinstance(event, RefusedOrder)
        }
    assert seen == {
        (2, "2 is not its own", True),
        (1, "2 is not its own", True),
    }


@pytest.mark.parametrize("armies", [2, 3])
def test_an_order_for_armies_that_were_killed_before_they_moved_was_sound(six: WarLight, armies: int) -> None:
    hurt = {1: (1, armies), 2: (2, 4), 5: (1, 9)}
    for turn in range(1, 61):
        after = six.play(
            standing(six, hurt, turn), {1: (AttackTransfer(2, 1, 2),), 2: (AttackTransfer(3, 2, 1),)}
        )
        refused = [event for event in after.events if isinstance(event, RefusedOrder)]
        if after.first == 2 and refused and at(six, after, 1)[0] == 1:
            assert refused[0].sound
            assert "no army of 1 can move" in refused[0].why
            break
    else:
        pytest.fail("in 60 turns no defender was killed before it moved")


def test_an_order_that_would_have_failed_without_the_opponent_too_was_not_sound(six: WarLight) -> None:
    # Seat 2's two kill one of three: the first order sends the one that is left, and wanted both.
    held = {1: (1, 5), 2: (1, 3), 3: (2, 3), 4: (1, 1)}
    for turn in range(1, 61):
        orders = {1: (AttackTransfer(2, 2, 1), AttackTransfer(1, 2, 3)), 2: (AttackTransfer(2, 3, 2),)}
        after = six.play(standing(six, held, turn), orders)
        refused = [event for event in after.events if isinstance(event, RefusedOrder)]
        if after.first == 2 and any(isinstance(event, Transferred) for event in after.events):
            assert [event.sound for event in refused] == [False]
            break
    else:
        pytest.fail("in 60 turns two never killed one of three before they moved")


def movers(position: WarPosition) -> list[int]:
    return [event.seat for event in position.events if isinstance(event, Transferred)]


def rows(tmp_path: Path, **settings: object) -> tuple[WarLight, dict[int, tuple[int, int]], Orders, Orders]:
    """Two rows of five territories; each seat can transfer along its own, four times."""
    rules = on_map(tmp_path, write_map(chain_of(*"ABCDEFGHIJ")), **settings)
    held = {id_: (1 if id_ <= 5 else 2, 5) for id_ in range(1, 11)}
    first = tuple(AttackTransfer(1, id_, id_ + 1) for id_ in range(1, 5))
    second = tuple(AttackTransfer(1, id_, id_ + 1) for id_ in range(6, 10))
    return rules, held, first, second


def test_moves_alternate_as_a_bb_aa_bb_and_a_coin_says_who_begins(tmp_path: Path) -> None:
    rules, held, first, second = rows(tmp_path)
    firsts = []
    for turn in range(1, 31):
        after = rules.play(standing(rules, held, turn), {1: first, 2: second})
        a, b = after.first, 3 - after.first
        assert movers(after) == [a, b, b, a, a, b, b, a]
        firsts.append(a)
    assert set(firsts) == {1, 2}
    assert firsts not in ([1, 2] * 15, [2, 1] * 15)


def test_a_cyclic_order_changes_the_first_mover_every_turn(tmp_path: Path) -> None:
    rules, held, first, second = rows(tmp_path, move_order="cyclic")
    # The one with fewer armies is not first.
    held |= {1: (1, 6)}
    firsts = [rules.play(standing(rules, held, turn), {1: first, 2: second}).first for turn in range(1, 7)]
    assert firsts in ([1, 2] * 3, [2, 1] * 3)


@pytest.mark.parametrize(("extra", "first_movers"), [({1: (1, 6)}, {2}), ({10: (2, 9)}, {1})])
def test_the_player_with_fewer_armies_can_move_first(
    extra: dict[int, tuple[int, int]], first_movers: set[int], tmp_path: Path
) -> None:
    rules, held, first, second = rows(tmp_path, move_order="fewer_armies")
    # Deployed armies do not count.
    orders = {1: (Deploy(5, 1), *first), 2: second}
    firsts = {rules.play(standing(rules, held | extra, turn), orders).first for turn in range(1, 7)}
    assert firsts == first_movers


def test_with_as_many_armies_the_first_mover_changes_every_turn(tmp_path: Path) -> None:
    rules, held, first, second = rows(tmp_path, move_order="fewer_armies")
    firsts = [rules.play(standing(rules, held, turn), {1: first, 2: second}).first for turn in range(1, 7)]
    assert firsts in ([1, 2] * 3, [2, 1] * 3)


def test_paired_moves_have_a_coin_for_each_pair(tmp_path: Path) -> None:
    rules, held, first, second = rows(tmp_path, move_order="paired")
    patterns = set()
    for turn in range(1, 31):
        after = rules.play(standing(rules, held, turn), {1: first, 2: second})
        seats = movers(after)
        assert after.first == 0
        assert all(sorted(seats[pair : pair + 2]) == [1, 2] for pair in range(0, 8, 2))
        patterns.add(tuple(seats))
    assert len(patterns) > 4


def test_an_order_in_which_no_army_moves_takes_no_slot(tmp_path: Path) -> None:
    rules, held, first, second = rows(tmp_path)
    useless = AttackTransfer(1, 1, 9)
    after = rules.play(standing(rules, held), {1: (useless, *first), 2: (useless, useless, *second)})
    a, b = after.first, 3 - after.first
    assert movers(after) == [a, b, b, a, a, b, b, a]


def test_when_one_list_ends_the_other_goes_on(tmp_path: Path) -> None:
    rules, held, first, _ = rows(tmp_path)
    after = rules.play(standing(rules, held), {1: first, 2: ()})
    assert movers(after) == [1, 1, 1, 1]


def test_both_players_see_an_order_that_touches_what_they_see(six: WarLight) -> None:
    held = {1: (1, 9), 2: (1, 9), 4: (2, 9), 5: (2, 9), 6: (2, 9)}
    after = played(
        six, held, (Deploy(1, 1), Deploy(1, 2)), (AttackTransfer(1, 6, 5), AttackTransfer(1, 5, 4))
    )
    # Seat 1 sees 1 to 3, seat 2 sees 3 to 6: nothing but what happens on 3.
    assert not any(event.seen for event in after.events)
    after = played(six, held, (AttackTransfer(8, 2, 3), Deploy(1, 2)), ())
    deploy, attack = after.events
    assert not deploy.seen
    assert attack.seen
    # Seat 2 sees where it begins, and not where it ends.
    (transfer,) = played(six, {1: (1, 9), 2: (1, 9), 3: (1, 9), 4: (2, 9)}, (AttackTransfer(1, 3, 2),)).events
    assert transfer.seen


RANDOM_ORDERS = st.lists(
    st.one_of(
        st.builds(Deploy, st.integers(-1, 9), st.integers(0, 7)),
        st.builds(AttackTransfer, st.integers(-1, 30), st.integers(0, 7), st.integers(0, 7)),
    ),
    max_size=12,
).map(tuple)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 20)), min_size=6, max_size=6),
    RANDOM_ORDERS,
    RANDOM_ORDERS,
    st.integers(1, 1000),
    st.sampled_from(["random", "cyclic", "fewer_armies", "paired"]),
)
def test_armies_come_from_deploys_alone_and_go_in_fights_alone(
    held: list[tuple[int, int]], first: Orders, second: Orders, number: int, move_order: str
) -> None:
    before = WarPosition(number, bytes(owner for owner, _ in held), tuple(armies for _, armies in held), 1)
    turn = TurnResult(SIX, CombatRules(), 5, move_order, before, random.Random(number))
    after = turn.play({1: first, 2: second})
    deployed = {
        seat: sum(e.sent for e in after.events if isinstance(e, Deployed) and e.seat == seat)
        for seat in (1, 2)
    }
    fights = [event for event in after.events if isinstance(event, Attacked)]
    killed = sum(fight.killed + fight.lost for fight in fights)
    assert sum(after.armies) == sum(before.armies) + sum(deployed.values()) - killed
    assert all(armies >= 1 for armies in after.armies)
    assert all(deployed[seat] <= SIX.income(before.owners, seat, 5) for seat in (1, 2))
    taken = {fight.to for fight in fights if fight.captured}
    changed = {
        id_ for id_, (old, new) in enumerate(zip(before.owners, after.owners, strict=True), 1) if old != new
    }
    assert changed <= taken
    assert len(after.events) == len(first) + len(second)
    moves = [(e.source, e.to) for e in after.events if isinstance(e, Attacked | Transferred)]
    assert len(set(moves)) == len(moves)
    # Nobody sends more than was there when the moves began, but for the one that stands guard.
    for id_ in range(1, 7):
        sent = sum(e.sent for e in after.events if isinstance(e, Attacked | Transferred) and e.source == id_)
        there = before.armies[id_ - 1] + sum(
            e.sent for e in after.events if isinstance(e, Deployed) and e.to == id_
        )
        assert sent <= there - 1
