"""The referee: whose turn it is, what may be ordered, how games end, and what ACADEMY is shown."""

from collections.abc import Mapping
from typing import Any

import pytest

from academy.knowledge.cells import State
from referees.api import IllegalMoveError, InvalidSettingError, Termination, UnreadableMoveError
from referees.conformance import check_referee
from referees.diplomacy import Diplomacy, Phase, Season
from referees.diplomacy.game import GamePosition, begin
from referees.diplomacy.power_orders import PowerOrders
from tests.referees.diplomacy.positions import position

AUSTRIA, ENGLAND, FRANCE, GERMANY, ITALY, RUSSIA, TURKEY = range(1, 8)


def referee(**settings: Any) -> Diplomacy:
    return Diplomacy.from_settings(settings)


def play(judge: Diplomacy, game: GamePosition, orders: Mapping[int, str] | None = None) -> GamePosition:
    """One phase, in which seats that say nothing order nothing."""
    orders = orders or {}
    moves = {seat: judge.read_move(game, seat, orders.get(seat, "NONE")) for seat in judge.to_move(game)}
    return judge.play(game, moves)


@pytest.mark.parametrize("settings", [{"year_limit": 6}, {"map": "straits"}, {"year_limit": 3, "aoa": False}])
def test_the_referee_keeps_the_laws(settings: dict[str, Any]) -> None:
    report = check_referee(referee(**settings), games=1)
    assert report.finished == 1


def test_all_powers_move_at_once_and_retreats_are_for_the_dislodged_alone() -> None:
    judge = referee()
    game = judge.start(0)
    assert judge.to_move(game) == tuple(range(1, 8))
    game = begin(position("AUS A TRI, A TYR; ITA A VEN"))
    game = play(judge, game, {AUSTRIA: "A TRI - VEN, A TYR S A TRI - VEN"})
    assert (game.position.name, judge.to_move(game)) == ("S1901R", (ITALY,))
    game = play(judge, game, {ITALY: "A VEN R ROM"})
    assert game.position.name == "F1901M"


@pytest.mark.parametrize(
    ("orders", "why"),
    [
        ("A MAR - BUR, A MAR H", "a second order for MAR"),
        ("F LON - NTH", "^F LON - NTH: France has nothing to order there"),
        # As it was written, and not as it would be written of the unit that stands there, or of none.
        ("F Mid-Atlantic Ocean-por", "^F Mid-Atlantic Ocean-por: France has nothing to order there"),
        ("A NAP H", "^A NAP H: France has nothing"),
        ("A PAR - BUR, A Pariss H", "^'A Pariss H': 'PARISS' is not a province"),
        ("A PAR - BUR, WAIVE", "phases of builds"),
        ("DRAW ENG FRA", "partial draws"),
        ("DRAW FRA", "partial draws"),
    ],
)
def test_orders_that_are_refused_say_why(orders: str, why: str) -> None:
    judge = referee()
    game = judge.start(0)
    with pytest.raises((IllegalMoveError, UnreadableMoveError), match=why):
        judge.check(game, FRANCE, judge.read_move(game, FRANCE, orders))


def test_a_draw_of_one_power_is_refused_also_where_some_of_the_survivors_may_draw() -> None:
    judge = referee(pda=True)
    game = judge.start(0)
    judge.check(game, FRANCE, judge.read_move(game, FRANCE, "DRAW ENG FRA"))
    with pytest.raises(IllegalMoveError, match="a draw of one power: at least two draw"):
        judge.check(game, FRANCE, judge.read_move(game, FRANCE, "DRAW FRA"))


def test_orders_that_cannot_be_carried_out_are_accepted_only_with_aoa() -> None:
    game = referee().start(0)
    for order in ("A PAR - MOS", "A PAR S F BRE - ECH", "A MAR - NAF"):
        move = PowerOrders.read(game.position, order)
        referee().check(game, FRANCE, move)
        with pytest.raises(IllegalMoveError, match="cannot be ordered so"):
            referee(aoa=False).check(game, FRANCE, move)


def test_a_wrong_kind_of_unit_is_read_as_the_one_that_stands_there() -> None:
    judge = referee(aoa=False)
    game = judge.start(0)
    move = judge.read_move(game, FRANCE, "F PAR - BUR, A BRE - MAO, A MAR S F PAR - BUR")
    judge.check(game, FRANCE, move)
    assert judge.move_text(move) == "A PAR - BUR, F BRE - MAO, A MAR S A PAR - BUR"


def test_supports_that_name_a_coast_are_legal() -> None:
    judge = referee(aoa=False)
    game = begin(position("FRA F POR, F MAO"))
    judge.check(game, FRANCE, judge.read_move(game, FRANCE, "F MAO - SPA/NC, F POR S F MAO - SPA/NC"))


def test_a_fleet_of_a_chain_may_support_the_move_that_the_others_convoy() -> None:
    judge = referee(aoa=False)
    game = begin(position("ENG A LON, F NTH, F ECH"))
    orders = "A LON - BEL, F NTH C A LON - BEL, F ECH S A LON - BEL"
    judge.check(game, ENGLAND, judge.read_move(game, ENGLAND, orders))


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("map", "standart", "'standart' is not one of 'standard', 'straits'"),
        ("edition", "1999", "not one of '1971'"),
        ("year_limit", 0, "from 1 to 1000"),
        ("sl", -1, "from 0 to 1000"),
        ("pda", "yes", "neither true nor false"),
        ("level", -1, "-1 is not a level of DAIDE's press; those are 0, 10, 20, 30"),
        ("level", 5, "5 is not a level"),
        ("level", 140, "120, 130, 8000"),
        ("level", 8001, "8001 is not a level"),
        ("level", True, "True is not a level"),
        ("mtl", 0, "from 1 to 8191"),
        ("ptl", True, "from 1 to 8191"),
        ("dsd", 1, "neither true nor false"),
        ("adjacent_convoy", "always", "'explicit'"),
        ("yearlimit", 3, "did you mean 'year_limit'"),
    ],
)
def test_settings_that_are_refused_say_why(setting: str, value: object, why: str) -> None:
    with pytest.raises(InvalidSettingError, match=why):
        referee(**{setting: value})


def test_half_of_the_centres_and_one_more_win() -> None:
    # 17 centres and a unit on an eighteenth.
    owned = "GER BER MUN KIE HOL BEL DEN SWE NWY EDI LON LVP PAR BRE MAR WAR MOS VIE; RUS STP SEV; TUR CON"
    start = position("GER A TYR; RUS A SEV; TUR A CON", Phase.MOVES, owned=owned)
    judge = referee()
    game = play(judge, begin(start), {GERMANY: "A TYR - TRI"})
    assert game.outcome is None, "centres are taken in the autumn"
    game = play(judge, game)
    assert game.outcome is not None
    assert game.outcome.winners == (GERMANY,)
    assert game.outcome.termination is Termination.SCORE
    assert game.outcome.points == (0, 0, 0, 18, 0, 2, 1)
    assert game.outcome.eliminated == (0, 0, 0, None, 0, None, None)
    assert game.outcome.rounds == 1
    assert judge.to_move(game) == ()


@pytest.mark.parametrize(
    ("settings", "termination", "years"),
    [
        ({"sl": 2}, Termination.STASIS, 2),
        ({"il": 3}, Termination.IMPASSE, 3),
        ({"year_limit": 4}, Termination.FROZEN, 4),
        ({"sl": 5, "il": 2, "year_limit": 3}, Termination.IMPASSE, 2),
    ],
)
def test_a_game_in_which_nothing_happens_ends(
    settings: dict[str, Any], termination: Termination, years: int
) -> None:
    judge = referee(**settings)
    game = judge.start(0)
    while game.outcome is None:
        game = play(judge, game)
    assert (game.outcome.termination, game.outcome.rounds) == (termination, years)
    assert game.outcome.winners == tuple(range(1, 8))


def test_the_longest_game_has_a_move_of_each_power_in_each_phase_to_the_last_year() -> None:
    assert referee(year_limit=35).longest_game() == 1225
    assert referee(year_limit=2, map="straits").longest_game() == 20


@pytest.mark.parametrize(
    ("owned", "winners", "why"), [("GER", (GERMANY, RUSSIA), "no centres"), ("GER BER", (GERMANY,), "solo")]
)
def test_who_alone_owns_centres_wins_and_where_nobody_does_the_game_is_a_draw(
    owned: str, winners: tuple[int, ...], why: str
) -> None:
    judge = referee()
    game = begin(position("GER A TYR; RUS A UKR", season=Season.AUTUMN, owned=owned))
    game = play(judge, game)
    assert game.outcome is not None
    assert (game.outcome.winners, game.outcome.detail.partition(";")[0]) == (winners, why)
    assert judge.to_move(game) == ()


def test_a_power_stays_eliminated_since_the_year_in_which_it_lost_its_last_centre() -> None:
    judge = referee(year_limit=2)
    game = begin(position("GER A BER; RUS A MOS", season=Season.AUTUMN, owned="GER BER; RUS MOS"))
    while game.outcome is None:
        game = play(judge, game)
    assert game.outcome.rounds == 2
    assert game.outcome.eliminated == (0, 0, 0, None, 0, None, 0)


def test_stasis_begins_again_when_a_count_changes() -> None:
    judge = referee(sl=2)
    game = play(judge, judge.start(0), {GERMANY: "F KIE - DEN"})
    game = play(judge, game)
    assert game.position.name == "W1901A"
    while game.outcome is None:
        game = play(judge, game)
    assert game.outcome.rounds == 3


def test_stasis_begins_again_when_two_powers_exchange_their_counts() -> None:
    judge = referee(sl=2)
    game = begin(position("GER A SIL; RUS A PRU", owned="GER BER MUN; RUS MOS"))
    game = play(judge, game, {RUSSIA: "A PRU - BER"})
    while game.outcome is None:
        game = play(judge, game)
    assert (game.outcome.points[GERMANY - 1], game.outcome.points[RUSSIA - 1]) == (1, 2)
    assert game.outcome.rounds == 3


def test_an_impasse_begins_again_when_a_power_is_eliminated() -> None:
    judge = referee(il=2)
    game = begin(position("GER A BER; RUS A CON; TUR A ARM", owned="GER BER; RUS MOS; TUR CON"))
    while game.outcome is None:
        game = play(judge, game)
    assert game.outcome.winners == (GERMANY, RUSSIA) and game.outcome.rounds == 3


def test_all_survivors_draw_when_all_say_so() -> None:
    judge = referee()
    game = judge.start(0)
    offers = dict.fromkeys(range(1, 8), "DRAW")
    still = play(judge, game, {**offers, ITALY: "A VEN H"})
    assert still.outcome is None
    named = "NONE, DRAW AUS ENG FRA GER ITA RUS TUR"
    drawn = play(judge, game, {**offers, ITALY: named})
    assert drawn.outcome is not None
    assert (drawn.outcome.termination, len(drawn.outcome.winners)) == (Termination.AGREEMENT, 7)
    assert drawn.outcome.detail.startswith("agreed by all;")
    assert drawn.position == game.position, "the orders are not carried out"


def test_some_draw_when_all_say_so_and_the_game_allows_it() -> None:
    judge = referee(pda=True)
    game = judge.start(0)
    drawn = play(judge, game, dict.fromkeys(range(1, 8), "DRAW ENG FRA"))
    assert drawn.outcome is not None
    assert drawn.outcome.winners == (ENGLAND, FRANCE)
    assert drawn.outcome.detail.startswith("agreed between some;")
    with pytest.raises(IllegalMoveError, match="a draw with Germany, eliminated"):
        alive = begin(position("ENG A LON; FRA A PAR", owned="ENG LON; FRA PAR"))
        judge.check(alive, ENGLAND, judge.read_move(alive, ENGLAND, "DRAW ENG GER"))


def test_a_stopped_game_is_a_draw_of_the_survivors() -> None:
    judge = referee()
    # England has a unit alone, France centres alone.
    outcome = judge.adjudicate(begin(position("ENG A LON", owned="FRA PAR BRE")))
    assert outcome is not None
    assert (outcome.winners, outcome.points) == ((ENGLAND, FRANCE), (0, 0, 2, 0, 0, 0, 0))
    # Italy has a dislodged unit alone.
    start = begin(position("ITA A VEN; AUS A TRI, A TYR", owned="AUS TRI"))
    game = play(judge, start, {AUSTRIA: "A TRI - VEN, A TYR S A TRI - VEN"})
    outcome = judge.adjudicate(game)
    assert outcome is not None and outcome.winners == (AUSTRIA, ITALY)


def test_the_board_is_seen_from_each_power() -> None:
    judge = referee()
    game = judge.start(0)
    nodes = {name: number for number, name in enumerate(judge.map.codes)}
    french, english = judge.board(game, FRANCE), judge.board(game, ENGLAND)
    assert french.states[nodes["PAR"]] == State.FIRST_SOLDIER
    assert french.states[nodes["BRE"]] == State.FIRST_KING
    assert english.states[nodes["PAR"]] == State.SECOND_SOLDIER
    assert french.states[nodes["LON"]] == State.SECOND_KING
    assert french.states[nodes["BUR"]] == State.EMPTY
    assert judge.interaction(game), "armies of Munich and Paris could both go to Burgundy"


def test_units_out_of_each_others_reach_do_not_interact() -> None:
    judge = referee()
    assert not judge.interaction(begin(position("FRA F NWG; GER A SYR")))


def stand_ins(judge: Diplomacy, game: GamePosition) -> GamePosition:
    """One phase in which the referee moves for all."""
    moves = {}
    for seat in judge.to_move(game):
        move = judge.stand_in_move(game, seat)
        judge.check(game, seat, move)
        assert judge.read_move(game, seat, judge.move_text(move)) == move
        moves[seat] = move
    return judge.play(game, moves)


def test_in_civil_disorder_units_hold() -> None:
    judge = referee()
    game = judge.start(0)
    after = judge.play(
        game,
        {
            seat: judge.read_move(game, seat, "A VEN - TYR")
            if seat == ITALY
            else judge.stand_in_move(game, seat)
            for seat in judge.to_move(game)
        },
    )
    assert after.outcome is None
    before = {unit for unit in game.position.units if unit.power != ITALY - 1}
    assert before == {unit for unit in after.position.units if unit.power != ITALY - 1}


def test_in_civil_disorder_dislodged_units_disband_and_the_farthest_are_removed() -> None:
    judge = referee()
    beaten = begin(position("FRA A BUR; GER A MUN, A RUH", owned="FRA PAR; GER MUN"))
    after = play(judge, beaten, {GERMANY: "A RUH - BUR, A MUN S A RUH - BUR"})
    assert judge.to_move(after) == (FRANCE,)
    assert [unit.power + 1 for unit in stand_ins(judge, after).position.units] == [GERMANY, GERMANY]
    many = begin(position("FRA A PAR, A MOS; GER A BER", Phase.BUILDS, owned="FRA PAR; GER BER"))
    assert judge.to_move(many) == (FRANCE,)
    left = stand_ins(judge, many).position
    assert [left.map.location_codes[unit.location] for unit in left.units_of(FRANCE - 1)] == ["PAR"]


@pytest.mark.parametrize(("draw", "pda"), [("DRAW", False), ("DRAW ENG FRA", True)])
def test_a_power_in_civil_disorder_agrees_to_no_draw(draw: str, pda: bool) -> None:
    judge = referee(pda=pda)
    game = judge.start(0)
    moves = {seat: judge.read_move(game, seat, draw) for seat in judge.to_move(game)}
    assert judge.play(game, moves).outcome is not None
    assert judge.play(game, {**moves, AUSTRIA: judge.stand_in_move(game, AUSTRIA)}).outcome is None


def test_the_only_power_that_stands_in_has_nobody_to_draw_with() -> None:
    judge = referee()
    alone = begin(position("FRA A PAR", owned="FRA PAR"))
    judge.check(alone, FRANCE, judge.stand_in_move(alone, FRANCE))
