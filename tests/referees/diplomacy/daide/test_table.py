"""A game as its players receive it, message by message."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referees.diplomacy import Diplomacy, adjudicate
from referees.diplomacy.daide.answers import answer
from referees.diplomacy.daide.messages import DaideVariant, Participant, map_definition
from referees.diplomacy.daide.table import DaideTable
from referees.diplomacy.daide.tokens import Tokens, vocabulary
from referees.diplomacy.game import GamePosition
from tests.referees.diplomacy.daide.test_grammar import LEVELS
from tests.referees.diplomacy.daide.words import STANDARD, STRAITS, tokens

AUSTRIA, ENGLAND, FRANCE = 0, 1, 2
POWERS = range(7)


class Client:
    """Somebody at the table, who keeps what it receives."""

    def __init__(self, power: int | None, words: Any = STANDARD) -> None:
        self.power = power
        self._words = words
        self._heard: list[str] = []

    def say(self, tokens: Tokens) -> None:
        self._heard.append(self._words.text(tokens))

    def heard(self) -> list[str]:
        """The messages since the last call."""
        heard, self._heard = self._heard, []
        return heard


class Room:
    """A table with all powers and an observer, and what is needed to play."""

    def __init__(
        self, variant: DaideVariant | None = None, *, begun: bool = True, **settings: object
    ) -> None:
        self.rules = Diplomacy.from_settings(settings)
        self.words = vocabulary(self.rules.map)
        powers = range(len(self.rules.map.powers))
        self.table = DaideTable(
            self.words,
            variant or DaideVariant(),
            [Participant(f"bot {power}", "1") for power in powers],
            {power: 1000 + power for power in powers},
        )
        self.clients = [Client(power, self.words) for power in powers]
        self.observer = Client(None, self.words)
        self.game: GamePosition = self.rules.start(0)
        for client in (*self.clients, self.observer):
            self.table.enter(client, 0.0)
        if begun:
            self.table.begin(self.game)
            self.forget()

    def forget(self) -> None:
        for client in (*self.clients, self.observer):
            client.heard()

    def ask(self, client: Client, message: str, now: float = 0.0) -> list[str]:
        """What somebody is answered."""
        client.heard()
        answer(self.table, client, self.words.tokens(message), now)
        return client.heard()

    def process(self, **elsewhere: str) -> None:
        """The turn is over: all orders are carried out, also of powers that are played elsewhere."""
        seats = self.rules.to_move(self.game)
        moves = {seat: self.table.order_books[seat - 1].orders(None) for seat in seats}
        for code, text in elsewhere.items():
            seat = self.rules.map.power(code) + 1
            moves[seat] = self.rules.read_move(self.game, seat, text)
        orders = {seat - 1: move.orders for seat, move in moves.items()}
        adjudication = adjudicate(self.game.position, orders, self.rules.settings.choices)
        self.game = self.rules.play(self.game, moves)
        self.table.processed(adjudication, self.game)


def test_a_game_begins_with_hello_owners_and_position() -> None:
    room = Room(DaideVariant(level=20, mtl=1200, btl=30, dsd=True, aoa=True, npr=True, ptl=5), begun=False)
    room.forget()
    room.table.begin(room.game)
    room.table.ask(0.0)
    hello, owners, now, time = room.clients[ENGLAND].heard()
    assert hello == "HLO (ENG) (1001) ((LVL 20) (MTL 1200) (BTL 30) (DSD) (AOA) (NPR) (PTL 5))"
    assert owners.startswith("SCO (AUS BUD VIE TRI) (ENG EDI LON LVP) (FRA PAR BRE MAR)")
    assert owners.endswith("(UNO SER BEL DEN GRE HOL NWY POR RUM SWE TUN BUL SPA)")
    assert now.startswith("NOW (SPR 1901) (AUS AMY BUD) (AUS AMY VIE) (AUS FLT TRI) (ENG FLT EDI)")
    assert "(RUS FLT (STP SCS))" in now
    assert time == "TME (1200)"
    assert room.observer.heard()[0].startswith("HLO (UNO) (0) ((LVL 20)")


def test_before_a_game_begins_the_first_position_is_shown_and_orders_are_rejected() -> None:
    room = Room(begun=False)
    england = room.clients[ENGLAND]
    assert room.ask(england, "MAP") == ["MAP ('standard')"]
    assert room.ask(england, "NOW")[0].startswith("NOW (SPR 1901)")
    assert room.ask(england, "SCO")[0].startswith("SCO (AUS")
    for message in ("HLO", "ORD", "MIS", "GOF", "DRW", "TME", "HST (SPR 1901)", "SUB ((ENG FLT LON) HLD)"):
        assert room.ask(england, message) == [f"REJ ({message})"]


def test_a_client_says_whether_it_can_play_the_map() -> None:
    room = Room(begun=False)
    england, france = room.clients[ENGLAND], room.clients[FRANCE]
    assert room.ask(england, "YES (MAP ('standard'))") == []
    assert room.ask(france, "REJ (MAP ('standard'))") == []
    assert room.table.agreed == {england: True, france: False}


def test_the_map_is_defined_by_its_file() -> None:
    definition = STRAITS.text(map_definition(STRAITS))
    assert definition == (
        "MDF (NOR SOU) (((NOR NCA NPO) (SOU SCA SPO) (UNO ISL MID)) (NMO SMO WSE ESE STR)) "
        "((NCA (AMY NPO NMO)) (NPO (AMY NCA NMO) (FLT NMO WSE STR)) "
        "(NMO (AMY NCA NPO MID) (FLT NPO (MID ECS) ESE)) (SCA (AMY SPO SMO)) "
        "(SPO (AMY SCA SMO) (FLT SMO WSE STR)) (SMO (AMY SCA SPO MID) (FLT SPO (MID ECS) ESE)) "
        "(ISL (AMY) (FLT WSE STR)) "
        "(MID (AMY NMO SMO) ((FLT ECS) NMO SMO ESE) ((FLT WCS) WSE)) "
        "(WSE (FLT NPO SPO ISL (MID WCS) STR)) (ESE (FLT NMO SMO (MID ECS) STR)) "
        "(STR (FLT NPO SPO ISL WSE ESE)))"
    )
    standard = STANDARD.text(map_definition(STANDARD))
    assert "(BUL (AMY SER CON GRE RUM) ((FLT ECS) BLA CON RUM) ((FLT SCS) AEG CON GRE))" in standard


def test_each_order_is_thanked_for_and_missing_ones_are_listed() -> None:
    room = Room()
    england = room.clients[ENGLAND]
    assert room.ask(england, "SUB ((ENG FLT LON) MTO NTH) ((ENG FLT EDI) MTO PAR)") == [
        "THX ((ENG FLT LON) MTO NTH) (MBV)",
        "THX ((ENG FLT EDI) MTO PAR) (FAR)",
        "MIS (ENG FLT EDI) (ENG AMY LVP)",
    ]
    assert room.ask(england, "SUB (SPR 1901) ((ENG FLT EDI) HLD) ((ENG AMY LVP) HLD)") == [
        "THX ((ENG FLT EDI) HLD) (MBV)",
        "THX ((ENG AMY LVP) HLD) (MBV)",
    ]
    assert room.ask(england, "MIS") == ["MIS"]
    assert room.table.order_books[ENGLAND].settled
    late = "SUB (FAL 1901) ((ENG FLT EDI) HLD)"
    assert room.ask(england, late) == [f"REJ ({late})"]
    assert room.ask(england, "NOT (SUB ((ENG FLT EDI) HLD))") == ["YES (NOT (SUB ((ENG FLT EDI) HLD)))"]
    assert room.ask(england, "NOT (SUB ((ENG FLT EDI) HLD))") == ["REJ (NOT (SUB ((ENG FLT EDI) HLD)))"]
    assert room.ask(england, "NOT (SUB)") == ["YES (NOT (SUB))"]
    assert room.ask(england, "GOF") == ["YES (GOF)", "MIS (ENG FLT EDI) (ENG FLT LON) (ENG AMY LVP)"]
    assert room.ask(room.observer, "SUB ((ENG FLT EDI) HLD)") == ["REJ (SUB ((ENG FLT EDI) HLD))"]


def test_a_client_that_waits_is_waited_for() -> None:
    room = Room()
    england = room.clients[ENGLAND]
    room.ask(england, "SUB ((ENG FLT LON) HLD) ((ENG FLT EDI) HLD) ((ENG AMY LVP) HLD)")
    assert room.ask(england, "NOT (GOF)") == ["YES (NOT (GOF))"]
    assert not room.table.order_books[ENGLAND].settled
    assert room.ask(england, "GOF") == ["YES (GOF)"]
    assert room.table.order_books[ENGLAND].settled


def test_wrong_messages_are_sent_back_and_answers_to_that_are_not_answered() -> None:
    room = Room()
    england = room.clients[ENGLAND]
    assert room.ask(england, "SUB ((ENG FLT LON) MTO)") == ["HUH (SUB ((ENG FLT LON) MTO ERR))"]
    assert room.ask(england, "SND (FRA) (PRP (DRW))") == ["HUH (ERR SND (FRA) (PRP (DRW)))"]
    assert room.ask(england, "NOW (") == ["PRN (NOW ()"]
    for message in ("HUH (ERR NOW)", "HUH (", "PRN (NOW ()", "YES (SVE ('x'))"):
        assert room.ask(england, message) == []


@pytest.mark.parametrize("message", ["NME ('x') ('1')", "OBS", "IAM (ENG) (1)", "SVE ('x')", "LOD ('x')"])
def test_a_request_for_what_the_server_does_not_do_is_rejected(message: str) -> None:
    room = Room()
    assert room.ask(room.clients[ENGLAND], message) == [f"REJ ({message})"]


def test_results_come_with_their_reasons_then_the_next_position() -> None:
    room = Room()
    orders_by_power = {
        FRANCE: "SUB ((FRA AMY PAR) MTO BUR) ((FRA AMY MAR) SUP (FRA AMY PAR) MTO BUR) "
        "((FRA FLT BRE) MTO ECH)",
        ENGLAND: "SUB ((ENG FLT LON) MTO ECH) ((ENG FLT EDI) MTO NTH)",
        3: "SUB ((GER AMY MUN) MTO BUR)",
    }
    for power, orders in orders_by_power.items():
        room.ask(room.clients[power], orders)
    room.forget()
    room.process()
    messages = room.observer.heard()
    results = messages[:-1]
    assert len(results) == 22 and all(result.startswith("ORD (SPR 1901) ((") for result in results)
    for expected in (
        "ORD (SPR 1901) ((FRA AMY PAR) MTO BUR) (SUC)",
        "ORD (SPR 1901) ((FRA AMY MAR) SUP (FRA AMY PAR) MTO BUR) (SUC)",
        "ORD (SPR 1901) ((FRA FLT BRE) MTO ECH) (BNC)",
        "ORD (SPR 1901) ((ENG FLT LON) MTO ECH) (BNC)",
        "ORD (SPR 1901) ((GER AMY MUN) MTO BUR) (BNC)",
        "ORD (SPR 1901) ((ENG AMY LVP) HLD) (SUC)",
    ):
        assert expected in results
    assert messages[-1].startswith("NOW (FAL 1901)")
    assert room.ask(room.observer, "ORD") == results
    history = room.ask(room.observer, "HST (SPR 1901)")
    assert history[:-2] == results and history[-2].startswith("SCO ") and history[-1] == messages[-1]
    assert room.ask(room.observer, "HST (SPR 1902)") == ["REJ (HST (SPR 1902))"]


def ordered(room: Room, **orders: str) -> list[str]:
    """Plays a turn with some powers' orders; returns what the observer hears."""
    for code, text in orders.items():
        answers = room.ask(room.clients[room.rules.map.power(code)], f"SUB {text}")
        assert all("(MBV)" in answer or answer.startswith("MIS") for answer in answers), answers
    room.forget()
    room.process()
    return room.observer.heard()


def vienna_is_taken(room: Room) -> list[str]:
    """Two turns, after which Austria's army there must retreat; what the observer hears of the second."""
    ordered(room, RUS="((RUS AMY WAR) MTO GAL)", GER="((GER AMY MUN) MTO BOH)")
    return ordered(room, RUS="((RUS AMY GAL) SUP (GER AMY BOH) MTO VIE)", GER="((GER AMY BOH) MTO VIE)")


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        ("A PAR - LON VIA", "((FRA AMY PAR) MTO LON) (FAR)"),
        ("A MAR - NAF", "((FRA AMY MAR) MTO NAF) (FAR)"),
        ("A MAR - PAR VIA", "((FRA AMY MAR) MTO PAR) (FAR)"),
        ("A MAR - SPA VIA", "((FRA AMY MAR) MTO SPA) (NSO)"),
        ("A MAR - MAR VIA", "((FRA AMY MAR) MTO MAR) (FAR)"),
        ("F BRE - PAR VIA", "((FRA FLT BRE) MTO PAR) (FAR)"),
    ],
)
def test_an_impossible_convoy_of_a_player_without_daide_is_shown_with_what_is_wrong(
    order: str, shown: str
) -> None:
    room = Room()
    room.process(FRA=order)
    assert f"ORD (SPR 1901) {shown}" in room.observer.heard()


def test_the_retreats_of_a_dislodged_unit_are_listed_and_centres_change_in_autumn() -> None:
    room = Room()
    messages = vienna_is_taken(room)
    assert "ORD (FAL 1901) ((AUS AMY VIE) HLD) (RET)" in messages
    assert not any(line.startswith("SCO ") for line in messages)
    assert "(AUS AMY VIE MRT (TYR))" in messages[-1] and messages[-1].startswith("NOW (AUT 1901)")
    austria = room.clients[AUSTRIA]
    assert room.ask(austria, "MIS") == ["MIS (AUS AMY VIE MRT (TYR))"]
    messages = ordered(room, AUS="((AUS AMY VIE) RTO TYR)")
    assert messages[0] == "ORD (AUT 1901) ((AUS AMY VIE) RTO TYR) (SUC)"
    assert (
        messages[1].startswith("SCO ") and "(GER" in messages[1] and messages[-1].startswith("NOW (WIN 1901)")
    )
    assert room.ask(austria, "MIS") == ["MIS (1)"]
    messages = ordered(room, AUS="((AUS AMY TYR) REM)", GER="(GER WVE)")
    assert "ORD (WIN 1901) ((AUS AMY TYR) REM) (SUC)" in messages
    assert "ORD (WIN 1901) (GER WVE) (SUC)" in messages
    assert messages[-1].startswith("NOW (SPR 1902)")


def test_the_end_of_a_game_is_announced_between_owners_and_position() -> None:
    room = Room(year_limit=1)
    ordered(room)
    messages = ordered(room)
    owners, draw, summary, now = messages[-4:]
    assert (owners[:4], draw, now[:14]) == ("SCO ", "DRW", "NOW (SPR 1902)")
    assert summary.startswith("SMR (SPR 1902) (AUS ('bot 0') ('1') 3) (ENG ('bot 1') ('1') 3)")
    england = room.clients[ENGLAND]
    for message in ("SUB ((ENG FLT LON) HLD)", "DRW", "GOF", "MIS"):
        assert room.ask(england, message) == [f"REJ ({message})"]
    assert room.ask(england, "NOW") == [now]


def test_a_solo_names_the_winner_and_a_summary_when_others_were_eliminated() -> None:
    room = Room()
    room.table.begin(room.game)
    room.forget()
    room.table.finish((FRANCE,))
    messages = room.observer.heard()
    assert messages[0] == "SLO (FRA)" and messages[1].startswith("SMR (SPR 1901)")
    room.table.finish((ENGLAND,))
    assert room.observer.heard() == []


def test_a_draw_needs_everybody_and_can_be_taken_back() -> None:
    room = Room()
    for client in room.clients[1:]:
        assert room.ask(client, "DRW") == ["YES (DRW)"]
    assert room.table.agreed_draw() is None
    assert room.ask(room.clients[0], "DRW") == ["YES (DRW)"]
    assert room.table.agreed_draw() == frozenset(POWERS)
    assert room.ask(room.clients[0], "NOT (DRW)") == ["YES (NOT (DRW))"]
    assert room.table.agreed_draw() is None
    assert room.ask(room.clients[0], "DRW (ENG FRA)") == ["REJ (DRW (ENG FRA))"]
    assert room.ask(room.observer, "DRW") == ["REJ (DRW)"]


def test_draws_of_some_add_up_where_they_are_allowed() -> None:
    room = Room(DaideVariant(pda=True), pda=True)
    for client in room.clients:
        assert room.ask(client, "DRW (ENG FRA)") == ["YES (DRW (ENG FRA))"]
        if client.power != AUSTRIA:
            assert room.ask(client, "DRW") == ["YES (DRW)"]
    assert room.table.agreed_draw() == frozenset({ENGLAND, FRANCE})
    room.ask(room.clients[AUSTRIA], "DRW")
    assert room.table.agreed_draw() == frozenset(POWERS)


def test_draws_are_forgotten_with_the_turn() -> None:
    room = Room()
    for client in room.clients:
        room.ask(client, "DRW")
    room.process()
    assert room.table.agreed_draw() is None


def test_time_is_sent_on_request_and_at_the_requested_seconds() -> None:
    room = Room(DaideVariant(mtl=60, rtl=20))
    room.table.ask(100.0)
    england = room.clients[ENGLAND]
    assert room.ask(england, "TME", 110.0) == ["TME (50)"]
    assert room.ask(england, "TME (30)") == ["YES (TME (30))"]
    assert room.ask(england, "TME (61)") == ["REJ (TME (61))"]
    assert room.ask(england, "TME (-1)") == ["REJ (TME (-1))"]
    assert room.ask(england, "NOT (TME (31))") == ["REJ (NOT (TME (31)))"]
    room.table.ring(129.0)
    assert england.heard() == []
    room.table.ring(130.5)
    room.table.ring(131.0)
    assert england.heard() == ["TME (30)"]
    room.table.ask(200.0)
    england.heard()
    room.table.ring(230.5)
    assert england.heard() == ["TME (30)"]
    assert room.ask(england, "NOT (TME (30))") == ["YES (NOT (TME (30)))"]
    assert room.ask(england, "TME (5)") and room.ask(england, "NOT (TME)") == ["YES (NOT (TME))"]
    room.table.ask(300.0)
    england.heard()
    room.table.ring(359.0)
    assert england.heard() == []


def test_an_alarm_whose_time_has_passed_does_not_ring() -> None:
    room = Room(DaideVariant(mtl=60, rtl=20))
    england = room.clients[ENGLAND]
    room.table.ask(100.0)
    assert room.ask(england, "TME (30)", 150.0) == ["YES (TME (30))"]
    assert room.ask(england, "TME (5)", 150.0) == ["YES (TME (5))"]
    room.table.ring(150.25)
    assert england.heard() == []
    room.table.ring(155.0)
    assert england.heard() == ["TME (5)"]


def test_an_alarm_longer_than_the_phase_does_not_ring_in_it() -> None:
    room = Room(DaideVariant(mtl=60, rtl=20))
    england = room.clients[ENGLAND]
    for seconds in (50, 30, 20, 10):
        room.ask(england, f"TME ({seconds})")
    vienna_is_taken(room)
    room.table.ask(100.0)
    assert england.heard()[-1] == "TME (20)"
    room.table.ring(100.25)
    assert england.heard() == []
    room.table.ring(110.0)
    assert england.heard() == ["TME (10)"]


def test_an_alarm_rings_after_the_clock_was_stopped() -> None:
    room = Room(DaideVariant(mtl=60, dsd=True))
    england = room.clients[ENGLAND]
    room.table.ask(0.0)
    room.ask(england, "TME (30)", 1.0)
    room.table.stop_time(10.0)
    room.table.ring(90.0)
    room.table.start_time(100.0)
    england.heard()
    room.table.ring(119.0)
    assert england.heard() == []
    room.table.ring(120.0)
    assert england.heard() == ["TME (30)"]


def test_limits_of_press_are_not_sent_without_press() -> None:
    room = Room(DaideVariant(mtl=60, pda=True, npr=True, npb=True, ptl=5))
    hello = room.ask(room.clients[ENGLAND], "HLO")
    assert hello == ["HLO (ENG) (1001) ((LVL 0) (MTL 60) (PDA))"]


def test_without_time_limits_there_is_no_time_to_tell() -> None:
    room = Room()
    room.table.ask(0.0)
    assert room.ask(room.clients[ENGLAND], "TME") == ["REJ (TME)"]
    assert room.ask(room.clients[ENGLAND], "TME (3)") == ["REJ (TME (3))"]


def test_the_clock_stops_while_a_client_is_disconnected() -> None:
    room = Room(DaideVariant(mtl=60, dsd=True))
    room.table.ask(0.0)
    room.forget()
    room.table.set_disorder(FRANCE, True)
    room.table.stop_time(10.0)
    room.table.set_disorder(FRANCE, True)
    assert room.observer.heard() == ["CCD (FRA)", "NOT (TME (50))"]
    assert room.table.deadline is None and room.table.seconds_left(40.0) == 50.0
    room.table.set_disorder(FRANCE, False)
    room.table.start_time(100.0)
    assert room.observer.heard() == ["NOT (CCD (FRA))", "TME (50)"]
    assert room.table.deadline == 150.0


def test_orders_end_civil_disorder() -> None:
    room = Room()
    room.table.set_disorder(FRANCE, True)
    room.forget()
    room.ask(room.clients[FRANCE], "SUB ((FRA AMY PAR) HLD)")
    assert room.observer.heard() == ["NOT (CCD (FRA))"]


PEACE = "(PRP (PCE (ENG FRA)))"


def test_press_is_passed_on_to_those_it_is_for() -> None:
    room = Room(DaideVariant(level=10))
    england, france, germany = room.clients[1:4]
    press = f"SND (FRA GER) {PEACE}"
    room.forget()
    assert room.ask(england, press) == [f"YES ({press})"]
    assert france.heard() == germany.heard() == [f"FRM (ENG) (FRA GER) {PEACE}"]
    assert room.clients[0].heard() == room.observer.heard() == []
    room.ask(france, "SND (SPR 1901) (ENG) (YES (PRP (PCE (ENG FRA))))")
    assert england.heard() == ["FRM (FRA) (ENG) (YES (PRP (PCE (ENG FRA))))"]
    room.ask(france, "SND (ENG) (TRY (PRP PCE XDO FOR))")
    assert england.heard() == ["FRM (FRA) (ENG) (TRY (PRP PCE))"]


def test_press_to_a_power_named_twice_reaches_it_once_and_names_it_once() -> None:
    room = Room(DaideVariant(level=10))
    england, france, germany = room.clients[1:4]
    press = f"SND (FRA GER FRA) {PEACE}"
    room.forget()
    assert room.ask(england, press) == [f"YES ({press})"]
    assert france.heard() == germany.heard() == [f"FRM (ENG) (FRA GER) {PEACE}"]


@pytest.mark.parametrize(
    "press", [f"SND (ENG) {PEACE}", f"SND (FRA ENG) {PEACE}", f"SND (FAL 1901) (FRA) {PEACE}"]
)
def test_press_to_oneself_and_of_another_turn_is_rejected(press: str) -> None:
    room = Room(DaideVariant(level=10))
    assert room.ask(room.clients[ENGLAND], press) == [f"REJ ({press})"]


def test_press_stops_before_the_deadline_and_in_phases_without_it() -> None:
    room = Room(DaideVariant(level=10, mtl=60, ptl=10, npr=True, npb=True))
    room.table.ask(0.0)
    england, press = room.clients[ENGLAND], f"SND (FRA) {PEACE}"
    assert room.ask(england, press, 49.0) == [f"YES ({press})"]
    assert room.ask(england, press, 51.0) == [f"REJ ({press})"]
    vienna_is_taken(room)
    assert room.ask(england, press) == [f"REJ ({press})"]


def test_press_reaches_nobody_in_civil_disorder_or_eliminated() -> None:
    room = Room(DaideVariant(level=10))
    england, germany = room.clients[ENGLAND], room.clients[3]
    room.table.set_disorder(FRANCE, True)
    germany.heard()
    assert room.ask(england, f"SND (GER FRA) {PEACE}") == ["CCD (FRA)"]
    assert germany.heard() == []


def test_messages_of_admins_go_to_everybody_unless_there_is_no_press() -> None:
    message = "ADM ( 'me' ) ( 'I must go' )"
    room = Room(DaideVariant(level=10))
    room.forget()
    room.ask(room.clients[ENGLAND], message)
    assert room.observer.heard() == ["ADM ('me') ('I must go')"]
    quiet = Room()
    assert quiet.ask(quiet.clients[ENGLAND], message) == ["REJ (ADM ('me') ('I must go'))"]


def test_an_observer_who_comes_late_learns_how_the_game_stands() -> None:
    room = Room()
    late = Client(None)
    room.table.enter(late, 0.0)
    assert [line.split()[0] for line in late.heard()] == ["HLO", "SCO", "NOW"]
    room.table.leave(late)
    room.process()
    assert late.heard() == []


def test_an_observer_also_learns_of_the_time_and_of_civil_disorder() -> None:
    room = Room(DaideVariant(mtl=60, dsd=True))
    room.table.ask(100.0)
    late, later = Client(None), Client(None)
    room.table.enter(late, 110.0)
    assert late.heard()[3:] == ["TME (50)"]
    room.table.set_disorder(FRANCE, True)
    room.table.stop_time(120.0)
    room.table.enter(later, 500.0)
    assert later.heard()[3:] == ["CCD (FRA)", "NOT (TME (40))"]


RIGHT = [tokens(message) for level in LEVELS for message in LEVELS[level]]
ANY_TOKEN = st.sampled_from([*STANDARD.names, 0, 1, 1901, 0x3FFF, 0x4AFF, 0x4B41])
SPOILT = st.tuples(st.sampled_from(RIGHT), st.lists(st.tuples(st.integers(0, 40), ANY_TOKEN), max_size=4))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), SPOILT), min_size=20, max_size=60), st.booleans())
def test_game_goes_on_after_any_messages_of_clients(
    messages: list[tuple[int, tuple[Tokens, list[tuple[int, int]]]]], begun: bool
) -> None:
    room = Room(DaideVariant(level=8000, mtl=50, pda=True), begun=begun, pda=True)
    for speaker, (right, spoilings) in messages:
        message = list(right)
        for place, token in spoilings:
            message[place : place + place % 2] = [token]
        client = room.observer if speaker == 7 else room.clients[speaker]
        answer(room.table, client, tuple(message), 1.0)
    if begun:
        room.process()
        assert room.observer.heard()[-1].startswith("NOW (FAL 1901)")
