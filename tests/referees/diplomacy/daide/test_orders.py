"""Orders as tokens, both ways, and the notes on them."""

import random

import pytest

from referees.diplomacy import Diplomacy, Phase, Position, Season, adjudicate
from referees.diplomacy.daide.grammar import check_message
from referees.diplomacy.daide.messages import ACCEPTED, note_of
from referees.diplomacy.daide.orders import meant, order_tokens, read_order, tree_of, turn_tokens
from referees.diplomacy.daide.table import OrderBook
from referees.diplomacy.daide.tokens import FIXED, vocabulary
from referees.diplomacy.legal import all_legal_orders, legal_orders
from tests.referees.diplomacy.daide.words import STANDARD, text, tokens
from tests.referees.diplomacy.positions import orders, position


@pytest.mark.parametrize(("name", "years"), [("standard", 5), ("straits", 12)])
def test_every_legal_order_of_a_game_is_written_and_understood(name: str, years: int) -> None:
    rules = Diplomacy.from_settings({"map": name, "year_limit": years})
    words, chance, game = vocabulary(rules.map), random.Random(6), rules.start(0)
    while seats := rules.to_move(game):
        for power, legal in enumerate(all_legal_orders(game.position)):
            for order in (order for choices in legal.values() for order in choices):
                written = order_tokens(words, game.position, power, order)
                check_message(words, (FIXED["SUB"], *written), 0)
                assert words.tokens(words.text(written)) == written
                read = read_order(words, tree_of(written)[0])
                assert meant(rules.map, read) == order
                assert note_of(game.position, power, read, legal) == ACCEPTED, words.text(written)
        game = rules.play(game, {seat: rules.random_move(game, seat, chance) for seat in seats})


def note(standing: Position, power: str, text: str, earlier: int = 0) -> str:
    number = standing.map.power(power)
    order = read_order(STANDARD, tree_of(tokens(text))[0])
    return STANDARD.names[note_of(standing, number, order, legal_orders(standing, number), earlier)]


MOVES = position(
    "ENG F LON, F NTH, A YOR, F NWY, A EDI; FRA A BRE, F ECH, F MAO; RUS F STP/SC, F GOB; ITA F WES"
)


@pytest.mark.parametrize(
    ("power", "order", "expected"),
    [
        ("ENG", "((ENG FLT LON) HLD)", "MBV"),
        ("ENG", "((ENG FLT LON) MTO WAL)", "MBV"),
        ("ENG", "((ENG FLT LON) MTO NWG)", "FAR"),
        ("ENG", "((ENG FLT LON) MTO PAR)", "FAR"),
        ("ENG", "((ENG FLT NWY) MTO (STP NCS))", "MBV"),
        ("ENG", "((ENG FLT NWY) MTO STP)", "CST"),
        ("ENG", "((ENG FLT NWY) MTO (STP SCS))", "FAR"),
        ("ENG", "((ENG FLT NWY) MTO (STP ECS))", "CST"),
        ("ENG", "((ENG AMY YOR) MTO NWY)", "FAR"),
        ("ENG", "((ENG AMY YOR) CTO NWY VIA (NTH))", "MBV"),
        ("ENG", "((ENG AMY YOR) CTO BRE VIA (NTH ECH))", "MBV"),
        ("ENG", "((ENG AMY YOR) CTO BRE VIA (ECH NTH))", "FAR"),
        ("ENG", "((ENG AMY YOR) CTO YOR VIA (NTH))", "FAR"),
        ("ENG", "((ENG AMY YOR) CTO NWY VIA (NWG))", "NSF"),
        ("ENG", "((ENG AMY YOR) CTO NWY VIA (LON))", "NSF"),
        ("ENG", "((ENG FLT LON) CTO NWY VIA (NTH))", "NSA"),
        ("ENG", "((ENG FLT NTH) CVY (ENG AMY YOR) CTO NWY)", "MBV"),
        ("ENG", "((ENG FLT NTH) CVY (ENG AMY LVP) CTO NWY)", "NSA"),
        ("ENG", "((ENG FLT NTH) CVY (FRA FLT ECH) CTO NWY)", "NSA"),
        ("ENG", "((ENG FLT LON) CVY (ENG AMY YOR) CTO NWY)", "NAS"),
        ("ENG", "((ENG AMY EDI) CVY (ENG AMY YOR) CTO NWY)", "NSF"),
        ("ENG", "((ENG FLT NTH) CVY (FRA AMY BRE) CTO VIE)", "FAR"),
        ("ENG", "((ENG FLT NTH) SUP (FRA FLT ECH))", "MBV"),
        ("ENG", "((ENG FLT NTH) SUP (FRA FLT ECH) MTO BEL)", "MBV"),
        ("ENG", "((ENG FLT NTH) SUP (FRA FLT MAO))", "FAR"),
        ("ENG", "((ENG FLT NTH) SUP (FRA FLT BEL))", "NSU"),
        ("ENG", "((ENG FLT NTH) SUP (ENG FLT NTH))", "FAR"),
        ("ENG", "((ENG FLT NWY) SUP (RUS FLT (STP SCS)))", "MBV"),
        ("ENG", "((ENG FLT NWY) SUP (RUS FLT (STP NCS)))", "NSU"),
        ("ENG", "((ENG FLT NWY) SUP (RUS FLT STP))", "NSU"),
        ("ENG", "((ENG AMY LON) HLD)", "NSU"),
        ("ENG", "((ENG FLT EDI) HLD)", "NSU"),
        ("ENG", "((FRA FLT ECH) HLD)", "NYU"),
        ("ENG", "((ENG FLT LON) BLD)", "NRS"),
        ("ENG", "(ENG WVE)", "NRS"),
        ("ENG", "((ENG FLT LON) RTO WAL)", "NRS"),
        ("RUS", "((RUS FLT (STP SCS)) MTO FIN)", "MBV"),
        ("RUS", "((RUS FLT (STP NCS)) MTO NWY)", "NSU"),
        ("ITA", "((ITA FLT WES) MTO (SPA SCS))", "MBV"),
        ("ITA", "((ITA FLT WES) MTO (SPA NCS))", "FAR"),
    ],
)
def test_notes_on_orders_in_a_phase_of_moves(power: str, order: str, expected: str) -> None:
    assert note(MOVES, power, order) == expected


@pytest.mark.parametrize(
    ("power", "order", "expected"),
    [
        ("ENG", "((ENG FLT NTH) RTO EDI)", "MBV"),
        ("ENG", "((ENG FLT NTH) DSB)", "MBV"),
        ("ENG", "((ENG FLT NTH) RTO SKA)", "NVR"),
        ("ENG", "((ENG FLT NTH) RTO (STP ECS))", "CST"),
        ("ENG", "((ENG AMY LVP) RTO EDI)", "NRN"),
        ("ENG", "((ENG AMY NTH) RTO EDI)", "NSU"),
        ("GER", "((ENG FLT NTH) DSB)", "NYU"),
        ("ENG", "((ENG FLT NTH) HLD)", "NRS"),
    ],
)
def test_notes_on_orders_in_a_phase_of_retreats(power: str, order: str, expected: str) -> None:
    before = position("ENG F NTH, A LVP; GER F SKA, F DEN")
    after = adjudicate(before, orders(before, "GER F SKA - NTH, F DEN S F SKA - NTH")).after
    assert after.phase is Phase.RETREATS
    assert note(after, power, order) == expected


@pytest.mark.parametrize(
    ("power", "order", "earlier", "expected"),
    [
        ("RUS", "((RUS FLT (STP NCS)) BLD)", 0, "MBV"),
        ("RUS", "((RUS AMY STP) BLD)", 1, "MBV"),
        ("RUS", "((RUS AMY STP) BLD)", 2, "NMB"),
        ("RUS", "(RUS WVE)", 1, "MBV"),
        ("RUS", "(RUS WVE)", 2, "NMB"),
        ("RUS", "(ENG WVE)", 0, "NYU"),
        ("RUS", "((RUS FLT STP) BLD)", 0, "CST"),
        ("RUS", "((RUS FLT MOS) BLD)", 0, "CST"),
        ("RUS", "((RUS AMY BLA) BLD)", 0, "CST"),
        ("RUS", "((RUS AMY UKR) BLD)", 0, "NSC"),
        ("RUS", "((RUS AMY SWE) BLD)", 0, "HSC"),
        ("RUS", "((RUS AMY WAR) BLD)", 0, "YSC"),
        ("RUS", "((RUS AMY MOS) BLD)", 0, "ESC"),
        ("RUS", "((RUS AMY MOS) REM)", 0, "NMR"),
        ("RUS", "((RUS AMY MOS) HLD)", 0, "NRS"),
        ("ENG", "((ENG FLT NTH) REM)", 0, "MBV"),
        ("ENG", "((ENG FLT NTH) REM)", 1, "NMR"),
        ("ENG", "((ENG AMY NTH) REM)", 0, "NSU"),
        ("ENG", "((ENG AMY LON) BLD)", 0, "NMB"),
    ],
)
def test_notes_on_orders_in_a_phase_of_builds(power: str, order: str, earlier: int, expected: str) -> None:
    standing = position(
        "RUS A MOS; ENG F NTH, F NWG; GER A WAR", Phase.BUILDS, Season.AUTUMN, "RUS MOS STP SWE; ENG LON"
    )
    assert note(standing, power, order, earlier) == expected


def order_book(standing: Position, power: str, *, any_order: bool = False) -> OrderBook:
    return OrderBook(STANDARD, standing, standing.map.power(power), any_order=any_order)


def submit(order_book: OrderBook, orders: str) -> list[str]:
    return [STANDARD.names[order_book.submit(order)] for order in tree_of(tokens(orders))]


def test_a_desk_is_settled_when_every_unit_has_an_order() -> None:
    of_france = order_book(MOVES, "FRA")
    assert text(of_france.missing()) == "MIS (FRA FLT ECH) (FRA FLT MAO) (FRA AMY BRE)"
    assert submit(of_france, "((FRA FLT ECH) HLD) ((FRA FLT MAO) MTO PAR)") == ["MBV", "FAR"]
    assert text(of_france.missing()) == "MIS (FRA FLT MAO) (FRA AMY BRE)" and not of_france.settled
    assert submit(of_france, "((FRA FLT MAO) MTO BRE) ((FRA AMY BRE) MTO PAR)") == ["MBV", "MBV"]
    assert text(of_france.missing()) == "MIS" and of_france.settled
    of_france.waits = True
    assert not of_france.settled


def test_a_later_order_takes_the_place_of_an_earlier_one_and_orders_are_withdrawn() -> None:
    of_france = order_book(MOVES, "FRA")
    submit(of_france, "((FRA FLT ECH) HLD) ((FRA AMY BRE) MTO PAR) ((FRA FLT ECH) MTO BEL)")
    assert of_france.orders(None).text == "F ECH - BEL, A BRE - PAR"
    (held, moved) = tree_of(tokens("((FRA FLT ECH) HLD) ((FRA FLT ECH) MTO BEL)"))
    assert (of_france.withdraw(held), of_france.withdraw(moved), of_france.withdraw(moved)) == (
        *(False, True),
        False,
    )
    assert of_france.orders(None).text == "A BRE - PAR"
    of_france.clear()
    assert of_france.orders(None).text == "NONE"


def test_where_any_order_is_accepted_the_unit_of_an_impossible_one_holds() -> None:
    of_france = order_book(MOVES, "FRA", any_order=True)
    orders = "((FRA FLT ECH) MTO PAR) ((FRA AMY BRE) MTO LON) ((ENG FLT LON) HLD) ((FRA AMY PAR) HLD)"
    assert submit(of_france, orders) == ["MBV", "MBV", "NYU", "NSU"]
    assert of_france.orders(None).text == "F ECH H, A BRE H"
    assert [STANDARD.names[order.note] for order in of_france.submitted.values()] == ["FAR", "FAR"]


def test_builds_that_there_is_no_room_for_are_waived_too() -> None:
    standing = position("TUR A CON, A SMY, A BUL", Phase.BUILDS, Season.AUTUMN, "TUR CON SMY ANK BUL SER")
    of_turkey = order_book(standing, "TUR")
    assert text(of_turkey.missing()) == "MIS (-1)"
    assert submit(of_turkey, "((TUR FLT ANK) BLD) (TUR WVE) (TUR WVE)") == ["MBV", "MBV", "NMB"]
    assert of_turkey.settled and of_turkey.orders(None).text == "F ANK B"
    assert of_turkey.withdraw(tree_of(tokens("((TUR FLT ANK) BLD)"))[0])
    assert of_turkey.orders(None).text == "WAIVE"


def test_missing_removals_are_counted() -> None:
    standing = position("ENG F NTH, F NWG", Phase.BUILDS, Season.AUTUMN, "RUS MOS")
    of_england = order_book(standing, "ENG")
    assert text(of_england.missing()) == "MIS (2)"
    submit(of_england, "((ENG FLT NTH) REM)")
    assert text(of_england.missing()) == "MIS (1)"


def test_turns_have_a_name_for_each_phase() -> None:
    for phase, season, name in [
        (Phase.MOVES, Season.SPRING, "SPR"),
        (Phase.RETREATS, Season.SPRING, "SUM"),
        (Phase.MOVES, Season.AUTUMN, "FAL"),
        (Phase.RETREATS, Season.AUTUMN, "AUT"),
        (Phase.BUILDS, Season.AUTUMN, "WIN"),
    ]:
        assert text(turn_tokens(position("ENG F NTH", phase, season))) == f"({name} 1901)"
