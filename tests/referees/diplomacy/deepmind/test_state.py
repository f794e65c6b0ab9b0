"""The state that DeepMind's runner plays on."""

import copy
import itertools
import random
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from referees.diplomacy import InvalidPositionError, Phase, Position, Unit, UnitKind, shipped_map
from referees.diplomacy import Season as HalfYear
from referees.diplomacy.deepmind import (
    DiplomacyState,
    GameOverError,
    IllegalActionError,
    Season,
    mila_action,
    parts,
)
from tests.referees.diplomacy.deepmind.random_actions import random_actions
from tests.referees.diplomacy.positions import position

STANDARD = shipped_map("standard")
POWERS = range(7)
AUSTRIA, ENGLAND, FRANCE, GERMANY, ITALY, RUSSIA, TURKEY = POWERS


def actions(state: DiplomacyState, **ordered: str) -> list[list[int]]:
    """Actions by power: `FRA="A PAR - BUR, A MAR H"`."""
    board = state.position.map
    given: list[list[int]] = [[] for _ in POWERS]
    for power, texts in ordered.items():
        given[board.power(power)] = [
            mila_action(text.strip(), state.observation().season) for text in texts.split(",")
        ]
    return given


def test_the_first_phase() -> None:
    state = DiplomacyState()
    seen = state.observation()
    assert seen._fields == ("season", "board", "build_numbers", "last_actions")
    assert seen.season is Season.SPRING_MOVES
    assert seen.build_numbers.tolist() == [0] * 7
    assert seen.last_actions == []
    assert not state.is_terminal()
    assert state.returns().tolist() == [0] * 7


def test_legal_actions_are_lists_in_rising_order() -> None:
    for legal in DiplomacyState().legal_actions():
        assert isinstance(legal, list)
        assert legal == sorted(set(legal))
        assert {type(action) for action in legal} == {int}


@pytest.mark.parametrize(
    ("units", "text", "legal"),
    [
        ("ENG A LON, F NTH", "A LON - NWY VIA", True),
        ("ENG A LON, F NTH", "A LON - BRE VIA", False),
        ("ENG A LON; FRA F ECH", "A LON - BRE VIA", True),
        ("ENG F NTH, A LON", "F NTH C A LON - NWY", True),
        # Not the shortest way, but one without a sea twice.
        ("ITA A ALB, F ION, F ADR", "F ADR C A ALB - TUN", True),
        ("ITA A ALB, F ION", "F ION C A ALB - TUN", True),
        ("ENG A EDI, F NTH; FRA A BEL", "A BEL - EDI VIA", True),
        ("FRA A PAR; GER A MUN", "A PAR S A MUN - BUR", True),
        ("FRA A PAR", "A PAR S A BUR", False),
        ("ENG A LON, F NTH, A EDI", "F NTH S A LON - YOR", True),
        # Only the supporter itself could convoy it.
        ("ENG A LON, F NTH", "F NTH S A LON - NWY", False),
    ],
)
def test_an_orders_legality_depends_on_the_units_present(units: str, text: str, legal: bool) -> None:
    state = DiplomacyState(position(units))
    actions = {action for by_power in state.legal_actions() for action in by_power}
    assert (mila_action(text, Season.SPRING_MOVES) in actions) is legal


def test_a_step_plays_a_phase_and_keeps_the_actions() -> None:
    state = DiplomacyState()
    given: list[list[int] | None] = list(actions(state, FRA="A PAR - BUR, A MAR H", GER="A MUN - BUR"))
    given[TURKEY] = None
    state.step(given)
    assert state.observation().season is Season.AUTUMN_MOVES
    assert state.observation().last_actions == [*(given[FRANCE] or []), *(given[GERMANY] or [])]
    assert {unit.location for unit in state.position.units} == {
        unit.location for unit in Position.start(state.position.map).units
    }


def test_actions_may_be_arrays() -> None:
    state, other = DiplomacyState(), DiplomacyState()
    given = actions(state, FRA="A PAR - BUR, A MAR H, F BRE - MAO")
    state.step([np.array(by_power, np.int64) for by_power in given])
    other.step(given)
    assert same(state, other)
    assert {type(action) for action in state.last_actions} == {int}


def test_an_observation_is_a_copy() -> None:
    state = DiplomacyState()
    seen = state.observation()
    seen.board[:] = 9
    seen.build_numbers[:] = 9
    seen.last_actions.append(9)
    state_after = state.observation()
    assert state_after.board.max() == 1
    assert state_after.build_numbers.tolist() == [0] * 7
    assert state_after.last_actions == []


def builds() -> DiplomacyState:
    units = "RUS A MOS; TUR F BUL/SC, A CON, A ANK; FRA A PAR"
    owned = "RUS MOS STP WAR SEV; TUR CON ANK; FRA PAR SPA POR BRE"
    return DiplomacyState(position(units, Phase.BUILDS, HalfYear.AUTUMN, owned))


def test_build_numbers_are_what_there_is_room_for() -> None:
    # France has three centres more than units, but one free home.
    assert builds().observation().build_numbers.tolist() == [0, 0, 1, 0, 0, 3, -1]


def test_in_builds_each_free_home_a_waive_or_each_unit_to_remove_is_legal() -> None:
    state = builds()
    legal = state.legal_actions()
    season = Season.BUILDS
    expected = {
        FRANCE: "A BRE B, F BRE B, WAIVE",
        RUSSIA: "A STP B, F STP/NC B, F STP/SC B, A WAR B, A SEV B, F SEV B, WAIVE",
        TURKEY: "F BUL/SC D, A CON D, A ANK D",
    }
    for power in POWERS:
        texts = expected[power].split(", ") if power in expected else []
        assert legal[power] == sorted(mila_action(text, season) for text in texts)


def test_removals_stay_in_the_build_numbers_until_the_next_builds_and_builds_do_not() -> None:
    state = builds()
    state.step(actions(state, RUS="F STP/NC B, WAIVE", TUR="A CON D"))
    assert state.observation().season is Season.SPRING_MOVES
    assert state.observation().build_numbers.tolist() == [0, 0, 0, 0, 0, 0, -1]
    assert len(state.position.units_of(RUSSIA)) == 2
    state.step([[]] * 7)
    assert state.observation().build_numbers.tolist() == [0, 0, 0, 0, 0, 0, -1]


def test_retreats_are_legal_to_the_options_and_disbanding_always() -> None:
    state = DiplomacyState(position("FRA A PAR; GER A BUR, A PIC"))
    state.step(actions(state, GER="A BUR - PAR, A PIC S A BUR - PAR"))
    assert state.observation().season is Season.SPRING_RETREATS
    season = Season.SPRING_RETREATS
    texts = ["A PAR D", "A PAR R BRE", "A PAR R GAS"]
    assert state.legal_actions()[FRANCE] == sorted(mila_action(text, season) for text in texts)
    assert not any(legal for power, legal in enumerate(state.legal_actions()) if power != FRANCE)
    state.step(actions(state, FRA="A PAR R GAS"))
    assert [state.position.map.codes[unit.location] for unit in state.position.units_of(FRANCE)] == ["GAS"]


@pytest.mark.parametrize(
    ("ordered", "why"),
    [
        ({"FRA": "A BRE B, F BRE B"}, "BUILD_FLEET BRE: the power has nothing to order there"),
        ({"FRA": "A BRE B, WAIVE"}, "2 actions, 1 are due"),
        ({"FRA": "A PAR B"}, "BUILD_ARMY PAR: the power has nothing to order"),
        ({"FRA": "A PAR D"}, "the power has nothing to order"),
        ({"TUR": "WAIVE"}, "WAIVE, but it removes 1"),
        ({"TUR": "A CON D, A ANK D"}, "2 actions, 1 are due"),
        ({"TUR": "A CON H"}, "HOLD CON is not an action of W1901A"),
        ({"ITA": "WAIVE"}, "1 actions, 0 are due"),
    ],
)
def test_an_action_that_is_not_a_build_of_the_power_is_refused_and_changes_nothing(
    ordered: dict[str, str], why: str
) -> None:
    state = builds()
    before = state.position
    with pytest.raises(IllegalActionError, match=why):
        state.step(actions(state, **ordered))
    assert state.position is before


@pytest.mark.parametrize(
    ("ordered", "why"),
    [
        ({"FRA": "A BER H"}, "FRA: HOLD BER: the power has nothing to order"),
        ({"FRA": "A PAR H, A PAR - BUR"}, "already"),
        ({"FRA": "A PAR B"}, "not an action of S1901M"),
    ],
)
def test_an_action_that_is_not_a_move_of_the_power_is_refused(ordered: dict[str, str], why: str) -> None:
    state = DiplomacyState()
    with pytest.raises(IllegalActionError, match=why):
        state.step(actions(state, **ordered))


def test_a_number_that_is_not_an_action_is_refused() -> None:
    with pytest.raises(IllegalActionError, match="0x7 is not an action"):
        DiplomacyState().step([[7], *[[]] * 6])
    with pytest.raises(IllegalActionError, match="actions of 2 powers"):
        DiplomacyState().step([[], []])


def test_the_winner_has_all_and_nothing_follows() -> None:
    homes = "ANK CON SMY SER BEL DEN GRE HOL NWY POR RUM SWE TUN VIE BUD TRI ROM"
    start = position(
        "TUR A APU; FRA A PAR", season=HalfYear.AUTUMN, owned=f"TUR {homes}; FRA PAR; ITA NAP VEN"
    )
    state = DiplomacyState(start)
    state.step(actions(state, TUR="A APU - NAP"))
    assert state.is_terminal()
    assert state.returns().tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert state.legal_actions() == [[]] * 7
    with pytest.raises(GameOverError):
        state.step([[]] * 7)


def test_another_map_is_refused() -> None:
    with pytest.raises(InvalidPositionError, match="straits"):
        DiplomacyState(Position.start(shipped_map("straits")))
    with pytest.raises(InvalidPositionError, match="2 build numbers"):
        DiplomacyState(build_numbers=(0, 1))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"build_numbers": "0000000"}, "build_numbers are '0000000': give a list"),
        ({"build_numbers": (1.5,) * 7}, "build_numbers: 1.5 is not a whole number"),
        ({"build_numbers": (0,) * 8}, "build_numbers are more than 7"),
        ({"last_actions": ["x"]}, "last_actions: 'x' is not a whole number"),
        ({"last_actions": 5}, "last_actions are 5: give a list"),
    ],
)
def test_a_states_history_must_be_whole_numbers(given: dict[str, Any], why: str) -> None:
    with pytest.raises(IllegalActionError, match=why):
        DiplomacyState(**given)


def test_seasons_may_be_another_enumeration() -> None:
    class Theirs(IntEnum):
        SPRING_MOVES = 0

    assert DiplomacyState(seasons=Theirs).observation().season is Theirs.SPRING_MOVES


def same(state: DiplomacyState, other: DiplomacyState) -> bool:
    left, right = state.observation(), other.observation()
    return (
        left.season is right.season
        and np.array_equal(left.board, right.board)
        and np.array_equal(left.build_numbers, right.build_numbers)
        and left.last_actions == right.last_actions
        and state.position == other.position
    )


def units_read(board: NDArray[np.uint8], first: int) -> list[Unit]:
    """Units as agents read them: the kind from a province's own row, a fleet's coast from the others."""
    units = []
    for main, coasts in zip(STANDARD.main_location, STANDARD.coasts, strict=True):
        row = board[main, first : first + 11]
        if row[2]:
            continue
        kind = UnitKind.ARMY if row[0] else UnitKind.FLEET
        location = main
        if coasts and kind is UnitKind.FLEET:
            location = next(coast for coast in coasts if board[coast, first + 1])
        units.append(Unit(int(np.flatnonzero(row[3:])[0]), kind, location))
    return units


def test_random_games_keep_what_agents_count_on() -> None:
    chance = random.Random(0)
    state, replay = DiplomacyState(), DiplomacyState()
    for _ in range(60):
        if state.is_terminal():
            break
        seen = state.observation()
        board = seen.board
        for first, last in ((0, 3), (3, 11), (13, 16), (16, 24), (24, 27)):
            assert (board[:, first:last].sum(axis=1) == 1).all()
        assert set(np.unique(board[:, 27:35].sum(axis=1)).tolist()) == {0, 1}
        assert int(board[:72, 27:35].sum()) + int(board[72::3, 27:35].sum()) == 34
        assert units_read(board, 0) == list(state.position.units)
        assert units_read(board, 13) == [entry.unit for entry in state.position.dislodged]
        legal = state.legal_actions()
        for power in POWERS:
            assert len(legal[power]) <= 11_900
            ordered = {parts(action).province for action in legal[power]}
            if seen.season.is_moves():
                assert ordered == {
                    state.position.map.province_of[unit.location] for unit in state.position.units_of(power)
                }
            if seen.season.is_builds() and seen.build_numbers[power]:
                assert legal[power]
            if not seen.season.is_builds():
                assert seen.build_numbers[power] <= 0
        chosen = random_actions(state, chance)
        again = DiplomacyState(
            state.position, build_numbers=state.build_numbers, last_actions=state.last_actions
        )
        assert same(again, state)
        branch = copy.deepcopy(state)
        assert branch.legal_actions() == again.legal_actions() == legal
        for other in (state, replay, again, branch):
            other.step(chosen)
        assert same(state, replay) and same(state, again) and same(state, branch)


def numbers() -> st.SearchStrategy[object]:
    legal = st.sampled_from([action for power in DiplomacyState().legal_actions() for action in power])
    rubbish = st.one_of(
        st.integers(), st.floats(), st.text(max_size=3), st.none(), st.booleans(), st.binary(max_size=3)
    )
    return st.one_of(legal, legal.map(np.int64), rubbish)


def rubbish_steps() -> st.SearchStrategy[object]:
    lists = st.one_of(
        st.lists(numbers(), max_size=4),
        st.tuples(numbers()),
        st.none(),
        numbers(),
        st.lists(st.lists(numbers(), max_size=2), max_size=2),
        st.dictionaries(st.integers(), numbers(), max_size=2),
    )
    return st.one_of(
        numbers(),
        st.lists(lists, max_size=9),
        st.lists(lists, min_size=7, max_size=7),
        st.tuples(*[lists] * 7),
    )


@settings(max_examples=40)
@given(rubbish_steps())
def test_whatever_a_step_is_given_is_played_or_refused_with_nothing_changed(given_actions: object) -> None:
    state, untouched = DiplomacyState(), DiplomacyState()
    try:
        state.step(given_actions)  # type: ignore[arg-type]
    except IllegalActionError as refused:
        assert str(refused)
        assert same(state, untouched)
    else:
        assert state.observation().season is not Season.SPRING_MOVES


@pytest.mark.parametrize(
    ("given_actions", "why"),
    [
        (None, "actions_per_player are None: give a list"),
        ("x", "actions_per_player are 'x': give a list"),
        (7, "actions_per_player are 7: give a list"),
        ([], "actions of 0 powers: give a list for each of 7"),
        ([[]] * 8, "actions_per_player are more than 7"),
        ([5] * 7, "AUS's actions are 5: give a list"),
        ([[], "A LON H", [], [], [], [], []], "ENG's actions are 'A LON H': give a list"),
        ([[1.5], *[[]] * 6], "AUS's actions: 1.5 is not a whole number"),
        ([[np.zeros(3)], *[[]] * 6], "AUS's actions: array.*is not a whole number"),
        (np.zeros((), object), "actions_per_player are array"),
        ([itertools.count(), *[[]] * 6], "AUS's actions are more than 34"),
        ([[10**100], *[[]] * 6], "0x1249ad2594c37ceb0b2784c4ce0bf38ace408e is not an action"),
    ],
)
def test_a_step_that_is_not_seven_lists_of_numbers_says_what_is_wrong(
    given_actions: object, why: str
) -> None:
    state = DiplomacyState()
    with pytest.raises(IllegalActionError, match=why):
        state.step(given_actions)  # type: ignore[arg-type]
    assert same(state, DiplomacyState())
