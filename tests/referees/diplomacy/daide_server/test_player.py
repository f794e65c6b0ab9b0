"""Games of players that speak DAIDE, over sockets: a test speaks for the clients."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest

from arena.jobs import Fault, PlayerSetup
from arena.match.game import play
from clients.bots.diplomacy.daide import ServerDisconnectedError
from referees.api import Termination
from referees.diplomacy.daide.orders import flat, tree_of
from referees.diplomacy.daide.tokens import FIXED, bracketed
from referees.diplomacy.daide_server.listener import DaideListener
from referees.diplomacy.game import GamePosition
from tests.referees.diplomacy.daide_server.rooms import (
    HOLD,
    NORTH,
    SOUTH,
    Hand,
    Played,
    daide_player,
    game_of,
    hands,
    moves_of,
    open_door,
)


@pytest.fixture
def door() -> Iterator[DaideListener]:
    with open_door("n", "s") as opened:
        yield opened


def begun(hand: Hand) -> tuple[str, int]:
    """The power and the passcode that it receives when the game begins, up to the first time."""
    hello, owners, now, *_, last = hand.until("TME")
    assert owners.startswith("SCO (NOR NCA NPO)") and now.startswith("NOW (SPR 1)") and last
    words = hello.split()
    assert words[0] == "HLO"
    return words[1].strip("()"), int(words[2].strip("()"))


def hold_to_the_end(clients: Mapping[str, Hand]) -> None:
    """In both turns of the year all units hold, and each client hears how the turn ends."""
    for turn in ("NOW (FAL 1)", "OFF"):
        for power, hand in clients.items():
            hand.say(f"SUB {HOLD[power]}")
        for hand in clients.values():
            hand.until(turn)


def test_a_game_is_played_from_the_greeting_to_the_end(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n"), daide_player(door, "s"), year_limit=1, mtl=50, level=10)
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        assert begun(north)[0] == "NOR" and begun(south)[0] == "SOU"
        assert north.ask("HLO").endswith("((LVL 10) (MTL 50) (RTL 60) (BTL 60) (AOA))")
        assert north.ask("SUB ((NOR AMY NCA) MTO NMO)") == "THX ((NOR AMY NCA) MTO NMO) (MBV)"
        assert north.hear() == "MIS (NOR FLT NPO)"
        north.say("SUB ((NOR FLT NPO) MTO WSE)")
        south.say("SND (NOR) (PRP (PCE (NOR SOU)))")
        assert north.until("FRM")[-1] == "FRM (SOU) (NOR) (PRP (PCE (NOR SOU)))"
        south.say(f"SUB {HOLD['SOU']}")
        messages = north.until("TME")
        assert messages[:4] == [
            "ORD (SPR 1) ((NOR AMY NCA) MTO NMO) (SUC)",
            "ORD (SPR 1) ((NOR FLT NPO) MTO WSE) (SUC)",
            "ORD (SPR 1) ((SOU AMY SCA) HLD) (SUC)",
            "ORD (SPR 1) ((SOU FLT SPO) HLD) (SUC)",
        ]
        assert messages[4] == "NOW (FAL 1) (NOR AMY NMO) (NOR FLT WSE) (SOU AMY SCA) (SOU FLT SPO)"
        assert messages[5] == "TME (50)"
        north.say("SUB ((NOR AMY NMO) MTO MID) ((NOR FLT WSE) MTO ISL)")
        south.until("NOW")
        south.say(f"SUB {HOLD['SOU']}")
        owners, draw, summary, now, off = north.until("OFF")[-5:]
        assert owners == "SCO (NOR NCA NPO ISL MID) (SOU SCA SPO)"
        assert (draw, now[:11], off) == ("DRW", "NOW (WIN 1)", "OFF")
        assert summary == "SMR (WIN 1) (NOR ('n') ('1') 4) (SOU ('s') ('1') 2)"
        with pytest.raises(ServerDisconnectedError):
            north.hear()
    result = played.result
    assert result.outcome is not None and result.outcome.winners == (NORTH, SOUTH)
    assert moves_of(result, NORTH) == ["A NCA - NMO, F NPO - WSE", "A NMO - MID, F WSE - ISL"]
    assert [(usage.engine_name, usage.fault) for usage in result.usage] == [
        ("n:1", Fault.NONE),
        ("s:1", Fault.NONE),
    ]
    assert not result.warnings


def test_a_draw_that_all_offer_ends_the_game_at_once(door: DaideListener) -> None:
    with (
        hands(door, "n", "s") as (north, south),
        Played(game_of(daide_player(door, "n"), daide_player(door, "s"))) as played,
    ):
        for hand in (north, south):
            begun(hand)
            hand.say("DRW")
        messages = north.until("OFF")
        assert messages[0] == "YES (DRW)" and messages[-3:-1] == [
            "DRW",
            "SMR (SPR 1) (NOR ('n') ('1') 2) (SOU ('s') ('1') 2)",
        ]
    assert played.result.outcome is not None
    assert played.result.outcome.termination is Termination.AGREEMENT


def test_at_the_deadline_units_without_orders_hold_and_the_power_is_in_disorder(door: DaideListener) -> None:
    patient = {"late_turns": 100_000, "reconnect_seconds": 0}
    job = game_of(
        daide_player(door, "n", **patient), daide_player(door, "s", **patient), mtl=1, year_limit=1000
    )
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        south.until("CCD (NOR)")
        # It is out of it with its next orders, which are the same in every turn.
        north.say(f"SUB {HOLD['NOR']}")
        south.until("NOT (CCD (NOR))")
        north.close()
        south.close()
    result = played.result
    assert [usage.fault for usage in result.usage] == [Fault.DISCONNECTED] * 2
    # What ended its part, and the first turn in which it was in disorder.
    assert result.usage[0].turns == 0
    assert result.moves[0].text == "NONE" and result.moves[0].stand_in
    assert "player n: S1M: orders were missing at the deadline" in result.warnings


def test_a_client_that_is_late_too_often_is_sent_off_and_the_other_has_won(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", late_turns=2), daide_player(door, "s", late_turns=100), mtl=1)
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        assert "SLO (SOU)" in south.until("OFF")
        assert "OFF" in north.until("OFF")
    result = played.result
    assert result.outcome is not None and result.outcome.winners == (SOUTH,)
    assert result.usage[0].fault is Fault.LATE
    assert result.usage[0].remark == "player n: late in 2 turns one after the other"


def test_a_disconnected_client_comes_back_with_its_passcode(door: DaideListener) -> None:
    job = game_of(
        daide_player(door, "n", reconnect_seconds=600), daide_player(door, "s"), dsd=True, year_limit=1
    )
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        power, passcode = begun(north)
        begun(south)
        north.close()
        messages = south.until("NOT")
        assert messages[-2] == "CCD (NOR)" and messages[-1].startswith("NOT (TME (")
        # The clock has stopped: nobody is late however long this takes.
        south.say(f"SUB {HOLD['SOU']}")
        assert south.until("THX")
        wrong = Hand(door)
        other = passcode % 8000 + 1
        assert wrong.ask(f"IAM ({power}) ({other})") == f"REJ (IAM ({power}) ({other}))"
        wrong.say(f"IAM ({power}) ({passcode})")
        wrong.say("NOW")
        assert wrong.hear() == f"YES (IAM ({power}) ({passcode}))"
        back = wrong
        assert "NOW (SPR 1)" in "".join(back.until("NOW (SPR 1)"))
        messages = south.until("TME")
        assert "NOT (CCD (NOR))" in messages
        again = Hand(door)
        assert again.ask(f"IAM ({power}) ({passcode})") == f"REJ (IAM ({power}) ({passcode}))"
        again.close()
        for hand in (back, south):
            hand.say(f"SUB {HOLD['NOR' if hand is back else 'SOU']}")
            hand.until("NOW (FAL 1)")
            hand.say(f"SUB {HOLD['NOR' if hand is back else 'SOU']}")
        assert back.until("OFF")
        back.close()
    result = played.result
    assert result.outcome is not None and result.outcome.winners == (NORTH, SOUTH)
    assert not any(move.stand_in for move in result.moves)
    assert any("came back" in warning for warning in result.warnings)
    assert [(usage.fault, usage.turns) for usage in result.usage] == [
        (Fault.DISCONNECTED, 0),
        (Fault.NONE, None),
    ]


@pytest.mark.threat("impersonation")
def test_nobody_guesses_the_passcode_of_a_lost_client(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=2), daide_player(door, "s"), year_limit=1)
    with hands(door, "n", "s") as (north, south), Played(job):
        power, passcode = begun(north)
        begun(south)
        north.close()
        south.until("CCD (NOR)")
        guesses = [code for code in range(1, 20) if code != passcode]
        strangers = [Hand(door), Hand(door)]
        for guess, stranger in zip(guesses, itertools.cycle(strangers), strict=False):
            assert stranger.ask(f"IAM ({power}) ({guess})").startswith("REJ (IAM")
        # From now on nobody is believed: of 8,191 passcodes too many would have been tried.
        assert strangers[0].ask(f"IAM ({power}) ({passcode})").startswith("REJ (IAM")
        for stranger in strangers:
            stranger.close()
        south.say(f"SUB {HOLD['SOU']}")
        assert "SLO (SOU)" in south.until("OFF")


@pytest.mark.threat("impersonation")
def test_a_few_wrong_passcodes_do_not_keep_the_client_out(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=600), daide_player(door, "s"), year_limit=1)
    with hands(door, "n", "s") as (north, south), Played(job):
        power, passcode = begun(north)
        begun(south)
        north.close()
        south.until("CCD (NOR)")
        back = Hand(door)
        for guess in [code for code in range(1, 9) if code != passcode][:7]:
            assert back.ask(f"IAM ({power}) ({guess})").startswith("REJ (IAM")
        assert back.ask(f"IAM ({power}) ({passcode})").startswith("YES (IAM")
        hold_to_the_end({"NOR": back, "SOU": south})
        back.close()


def test_disorder_counts_from_the_first_turn_of_it_and_not_from_when_it_is_given_up(
    door: DaideListener,
) -> None:
    job = game_of(
        daide_player(door, "n", late_turns=2), daide_player(door, "s", late_turns=100), mtl=1, year_limit=1000
    )
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        # South lets the time of the first turn pass, and so north's orders are in.
        north.say(f"SUB {HOLD['NOR']}")
        assert "SLO (SOU)" in south.until("OFF")
    late = [move.stand_in for move in played.result.moves if move.seat == NORTH]
    assert played.result.usage[0].fault is Fault.LATE
    assert played.result.usage[0].turns == (late.index(True) if True in late else len(late))
    assert played.result.usage[1].turns == 0


def test_without_dsd_the_game_goes_on_at_the_deadline_while_somebody_is_disconnected(
    door: DaideListener,
) -> None:
    job = game_of(
        daide_player(door, "n", reconnect_seconds=600), daide_player(door, "s"), year_limit=1, mtl=4
    )
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        north.close()
        south.until("CCD")
        hold_to_the_end({"SOU": south})
    result = played.result
    assert result.outcome is not None and result.outcome.termination is Termination.FROZEN
    of_north = [move for move in result.moves if move.seat == NORTH]
    assert all(move.stand_in for move in of_north)
    assert [move.text for move in of_north] == ["NONE"] * 2
    assert result.usage[0].fault is Fault.DISCONNECTED


def test_a_turn_waits_for_a_lost_client_and_it_takes_up_the_game_where_it_was(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=600), daide_player(door, "s"), year_limit=1)
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        power, passcode = begun(north)
        begun(south)
        north.close()
        south.until("CCD (NOR)")
        south.say(f"SUB {HOLD['SOU']}")
        south.until("THX")
        back = Hand(door)
        assert back.ask(f"IAM ({power}) ({passcode})") == f"YES (IAM ({power}) ({passcode}))"
        assert back.hear() == "NOT (CCD (NOR))"
        assert back.ask("MAP") == "MAP ('straits')"
        assert back.ask("HLO").startswith(f"HLO ({power}) ({passcode})")
        assert back.ask("SCO").startswith("SCO (NOR NCA NPO)")
        assert back.ask("NOW").startswith("NOW (SPR 1) (NOR AMY NCA)")
        assert back.ask("MIS") == "MIS (NOR AMY NCA) (NOR FLT NPO)"
        assert back.ask("TME").startswith("TME (")
        for hand, power in ((back, "NOR"), (south, "SOU")):
            hand.say(f"SUB {HOLD[power]}")
            hand.until("NOW (FAL 1)")
        for hand, power in ((back, "NOR"), (south, "SOU")):
            hand.say(f"SUB {HOLD[power]}")
            hand.until("OFF")
        back.close()
    assert not any(move.stand_in for move in played.result.moves)


def test_the_clock_stops_while_no_client_is_left_and_the_turn_goes_on_afterwards(
    door: DaideListener,
) -> None:
    patient = {"reconnect_seconds": 600}
    job = game_of(daide_player(door, "n", **patient), daide_player(door, "s", **patient), mtl=4, year_limit=1)
    watcher = Hand(door)
    assert watcher.ask("OBS") == "YES (OBS)"
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        passcodes = dict([begun(north), begun(south)])
        north.close()
        south.close()
        assert watcher.until("NOT (TME")[-2].startswith("CCD")
        # Longer than the turn has; when the first is back it has all its time again.
        time.sleep(4.1)
        back = {}
        for power, passcode in passcodes.items():
            back[power] = Hand(door)
            assert back[power].ask(f"IAM ({power}) ({passcode})").startswith("YES (IAM")
        back["SOU"].say("NOW")
        assert back["SOU"].until("NOW (SPR 1)")
        assert watcher.until("TME")[-1] == "TME (4)"
        hold_to_the_end(back)
        for hand in back.values():
            hand.close()
    watcher.close()
    result = played.result
    assert result.outcome is not None and result.outcome.termination is Termination.FROZEN


def test_a_game_that_all_clients_have_left_for_good_is_void_whatever_they_agreed_to(
    door: DaideListener,
) -> None:
    short = {"reconnect_seconds": 1.0}
    job = game_of(daide_player(door, "n", **short), daide_player(door, "s", **short))
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        lost = time.monotonic()
        for hand in (north, south):
            hand.say(f"SUB {HOLD['NOR' if hand is north else 'SOU']}")
        for hand in (north, south):
            hand.close()
        result = played.result
    assert time.monotonic() - lost >= 1.0
    assert result.outcome is None
    assert result.void_reason.startswith("nobody plays any more: ")
    assert "player n: " in result.void_reason and "player s: " in result.void_reason
    assert [usage.fault for usage in result.usage] == [Fault.DISCONNECTED] * 2


def test_a_client_that_does_not_come_back_in_time_is_out(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=0), daide_player(door, "s"))
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        _, passcode = begun(north)
        begun(south)
        north.close()
        south.until("CCD")
        south.say(f"SUB {HOLD['SOU']}")
        assert "SLO (SOU)" in south.until("OFF")
    assert played.result.outcome is not None and played.result.outcome.winners == (SOUTH,)
    late = Hand(door)
    assert late.ask(f"IAM (NOR) ({passcode})") == f"REJ (IAM (NOR) ({passcode}))"
    late.close()


def test_time_goes_on_when_a_disconnected_client_is_given_up(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=0.3), daide_player(door, "s"), mtl=1, dsd=True)
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        north.close()
        # It orders nothing either: without a clock the game would not end.
        assert "SLO (SOU)" in south.until("OFF")
    assert played.result.outcome is not None and played.result.outcome.winners == (SOUTH,)


def hold_all(hand: Hand) -> None:
    """Have all units hold that have no orders."""
    hand.say("MIS")
    units = tree_of(hand.words.tokens(hand.until("MIS")[-1]))[1:]
    holds = (bracketed(*flat((unit,)), FIXED["HLD"]) for unit in units)
    hand.client.send((FIXED["SUB"], *itertools.chain.from_iterable(holds)))


@pytest.mark.parametrize("offered", [False, True])
@pytest.mark.threat("unproven_results")
def test_a_lost_client_agrees_to_no_draw(door: DaideListener, offered: bool) -> None:
    job = game_of(
        daide_player(door, "n", reconnect_seconds=600), daide_player(door, "s"), year_limit=1, mtl=1
    )
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        if offered:
            north.say("DRW")
            assert "YES (DRW)" in north.until("YES")
        north.close()
        south.until("CCD")
        for turn in ("NOW (FAL 1)", "OFF"):
            south.say("DRW")
            south.say(f"SUB {HOLD['SOU']}")
            south.until(turn)
    result = played.result
    assert result.outcome is not None and result.outcome.termination is Termination.FROZEN


@pytest.mark.threat("unproven_results")
def test_a_client_that_is_out_of_the_game_agrees_to_no_draw() -> None:
    others = ("ENG", "FRA", "GER", "ITA", "RUS", "TUR")
    with open_door("a", "*", board="standard") as wide:
        players = [daide_player(wide, "a", reconnect_seconds=0)]
        players += [daide_player(wide, f"p{number}", client="*") for number in range(6)]
        job = game_of(*players, map="standard", year_limit=1)
        with (
            hands(wide, "a", *others, board="standard") as (lost, *left),
            Played(job) as played,
        ):
            for hand in (lost, *left):
                hand.until("TME")
            lost.close()
            for hand in left:
                hand.until("CCD (AUS)")
            for turn in ("NOW (FAL 1901)", "OFF"):
                for hand in left:
                    hand.say("DRW")
                    hold_all(hand)
                for hand in left:
                    hand.until(turn)
    result = played.result
    assert result.outcome is not None and result.outcome.termination is Termination.FROZEN
    assert result.usage[0].fault is Fault.DISCONNECTED


def test_observers_listen_but_cannot_speak(door: DaideListener) -> None:
    watcher = Hand(door)
    assert watcher.ask("OBS") == "YES (OBS)" and watcher.hear() == "MAP ('straits')"
    job = game_of(daide_player(door, "n"), daide_player(door, "s"), year_limit=1)
    with hands(door, "n", "s") as (north, south), Played(job):
        assert begun(north) and begun(south)
        assert watcher.until("NOW (SPR 1)")[0].startswith("HLO (UNO) (0)")
        watcher.say("SUB ((NOR AMY NCA) HLD)")
        assert "REJ (SUB ((NOR AMY NCA) HLD))" in watcher.until("REJ")
        assert watcher.ask("DRW") == "REJ (DRW)"
        hold_to_the_end({"NOR": north, "SOU": south})
        for turn in ("NOW (FAL 1)", "OFF"):
            watcher.until(turn)
    watcher.close()


def test_a_client_that_breaks_the_protocol_in_the_game_hurts_only_itself(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=0), daide_player(door, "s"))
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        north.client.send((0x5FFF,))
        with pytest.raises(ServerDisconnectedError, match="error 14"):
            north.until("OFF")
        assert south.until("CCD")[-1] == "CCD (NOR)"
        south.say(f"SUB {HOLD['SOU']}")
        assert "SLO (SOU)" in south.until("OFF")
    assert "is not a token" in played.result.usage[0].remark


def test_the_only_power_that_moves_receives_its_results(door: DaideListener) -> None:
    """Only the north has a centre to build in, so nobody else hears of that phase."""
    job = game_of(daide_player(door, "n"), daide_player(door, "s"), year_limit=3, sl=2)
    with hands(door, "n", "s") as (north, south), Played(job):
        begun(north)
        begun(south)
        north.say("SUB ((NOR AMY NCA) MTO NMO) ((NOR FLT NPO) MTO WSE)")
        south.say(f"SUB {HOLD['SOU']}")
        north.until("TME")
        south.until("TME")
        north.say("SUB ((NOR AMY NMO) HLD) ((NOR FLT WSE) MTO ISL)")
        south.say(f"SUB {HOLD['SOU']}")
        assert north.until("TME")[-2].startswith("NOW (WIN 1)")
        assert south.until("NOW")[-1].startswith("NOW (WIN 1)")
        north.say("SUB ((NOR FLT NPO) BLD)")
        messages = north.until("TME")
        assert messages[:3] == [
            "THX ((NOR FLT NPO) BLD) (MBV)",
            "ORD (WIN 1) ((NOR FLT NPO) BLD) (SUC)",
            "NOW (SPR 2) (NOR FLT NPO) (NOR AMY NMO) (NOR FLT ISL) (SOU AMY SCA) (SOU FLT SPO)",
        ]
        assert "ORD (WIN 1) ((NOR FLT NPO) BLD) (SUC)" in south.until("NOW (SPR 2)")
        for hand in (north, south):
            hand.say("DRW")


def southern_invader(*_: object) -> Callable[[GamePosition], str]:
    """A Python player that drives the north out of the middle, and then builds."""
    orders = {
        "S1M": "A SCA - SMO, F SPO H",
        "F1M": "A SMO H, F SPO - WSE",
        "F2M": "A SMO - MID, F WSE S A SMO - MID",
        "W2A": "A SCA B",
    }
    return lambda view: orders.get(view.position.name, "NONE")


def test_a_retreat_of_one_power_alone_comes_before_the_builds_of_others(door: DaideListener) -> None:
    """The north alone retreats in autumn; then the south alone, a Python player, builds."""
    south = PlayerSetup("s", (f"{__name__}:{southern_invader.__name__}",), protocol="python")
    with (
        hands(door, "n") as (north,),
        Played(game_of(daide_player(door, "n"), south, year_limit=3, sl=0)),
    ):
        begun(north)
        north.say("SUB ((NOR AMY NCA) MTO NMO) ((NOR FLT NPO) HLD)")
        north.until("TME")
        north.say("SUB ((NOR AMY NMO) MTO MID) ((NOR FLT NPO) HLD)")
        north.until("TME")
        north.say("SUB (NOR WVE)")
        for _ in ("spring", "autumn"):
            north.until("TME")
            north.say("SUB ((NOR AMY MID) HLD) ((NOR FLT NPO) HLD)")
        north.until("TME")
        north.say("SUB ((NOR AMY MID) RTO NMO)")
        results = [message for message in north.until("TME") if message.startswith(("ORD", "NOW"))]
        assert results == [
            "ORD (AUT 2) ((NOR AMY MID) RTO NMO) (SUC)",
            "NOW (WIN 2) (NOR FLT NPO) (NOR AMY NMO) (SOU AMY MID) (SOU FLT WSE)",
            "ORD (WIN 2) ((SOU AMY SCA) BLD) (SUC)",
            "NOW (SPR 3) (NOR FLT NPO) (NOR AMY NMO) (SOU AMY SCA) (SOU AMY MID) (SOU FLT WSE)",
        ]
        north.say("SUB ((NOR AMY NMO) HLD) ((NOR FLT NPO) HLD)")
        north.until("TME")
        north.say("SUB ((NOR AMY NMO) HLD) ((NOR FLT NPO) HLD)")


def test_a_game_whose_door_has_gone_goes_on_to_its_end() -> None:
    with ExitStack() as doors, ExitStack() as stack:
        door = doors.enter_context(open_door("n", "s"))
        north, south = stack.enter_context(hands(door, "n", "s"))
        job = game_of(daide_player(door, "n"), daide_player(door, "s"), year_limit=1)
        played = stack.enter_context(Played(job))
        begun(north)
        begun(south)
        doors.close()
        hold_to_the_end({"NOR": north, "SOU": south})
        outcome = played.result.outcome
    assert outcome is not None and outcome.winners == (NORTH, SOUTH)


def test_a_client_for_whom_nobody_dials_in_makes_the_game_void(door: DaideListener) -> None:
    with hands(door, "n") as (north,):
        result = play(game_of(daide_player(door, "n"), daide_player(door, "s", start_seconds=0.3)))
        assert north.hear() == "OFF"
    assert result.outcome is None and result.absent == SOUTH
    assert result.void_reason == "player s: no client 's' dialled in within 0.3 s"
    assert result.usage[1].fault is Fault.LATE


def test_a_game_with_one_of_two_clients_of_a_name_is_void(door: DaideListener) -> None:
    # The second is asked for only when the first is there, so no time is too short.
    first, second = (
        daide_player(door, "one", client="n"),
        daide_player(door, "two", client="n", start_seconds=0.3),
    )
    with hands(door, "n"):
        result = play(game_of(first, second))
    assert result.outcome is None and result.absent is None
    assert result.void_reason == "player two: 1 of 2 clients 'n' dialled in within 0.3 s"


def test_a_game_whose_client_went_before_it_names_no_time_to_wait(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n"), daide_player(door, "s"), level=10)
    with hands(door, "s") as (south,), Played(job) as played:
        # The door rejects what the game, which waits for the other, passes on.
        while south.ask("ADM ('s') ('here')").startswith("REJ"):
            pass
        south.close()
        with hands(door, "n"):
            assert played.result.void_reason == (
                "player s: its client went before the game: it announced that it goes"
            )


def test_bots_sit_beside_players_of_other_kinds(door: DaideListener) -> None:
    other = PlayerSetup("r", ("arena.players.random_moves:random_moves",), protocol="python")
    with (
        hands(door, "n") as (north,),
        Played(game_of(daide_player(door, "n"), other, year_limit=1)) as played,
    ):
        begun(north)
        north.say(f"SUB {HOLD['NOR']}")
        north.until("NOW (FAL 1)")
        north.say(f"SUB {HOLD['NOR']}")
        assert "(SOU ('r') ()" in next(line for line in north.until("OFF") if line.startswith("SMR"))
    assert played.result.outcome is not None and len(moves_of(played.result, SOUTH)) == 2


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        (PlayerSetup("n", (), protocol="daide"), "no listener"),
        (PlayerSetup("n", ("bot",), protocol="daide", parameters={"listener": "x"}), "dials in"),
        (PlayerSetup("n", (), protocol="daide", parameters={"port": 1}), "'port' is not a parameter"),
        (PlayerSetup("n", (), protocol="daide", parameters={"listener": "/no/door"}), "cannot be reached"),
    ],
)
def test_a_setup_that_makes_no_sense_makes_the_game_void(setup: PlayerSetup, says: str) -> None:
    result = play(game_of(setup, setup))
    assert result.outcome is None and says in result.void_reason


def test_a_flood_in_the_game_costs_its_sender_the_game_and_nobody_else_anything(door: DaideListener) -> None:
    job = game_of(daide_player(door, "n", reconnect_seconds=0), daide_player(door, "s"))
    with hands(door, "n", "s") as (north, south), Played(job) as played:
        begun(north)
        begun(south)
        with pytest.raises(ServerDisconnectedError):
            while True:
                north.say("NOW " + "(SPR 1901) " * 10)
        assert south.until("CCD")[-1] == "CCD (NOR)"
        assert south.ask("TME").startswith("TME (")
        south.say(f"SUB {HOLD['SOU']}")
        assert "SLO (SOU)" in south.until("OFF")
    assert played.result.outcome is not None and played.result.outcome.winners == (SOUTH,)
