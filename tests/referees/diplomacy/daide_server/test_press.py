"""Games with press over TCP, from the first byte to the last; the test writes and reads the frames itself."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from arena.jobs import Fault, GameJob, PlayerSetup
from referees.diplomacy.daide_server.listener import DaideListener
from tests.referees.diplomacy.daide_server.rooms import (
    PATIENCE,
    Played,
    RawClient,
    daide_player,
    game_of,
    open_door,
)

ORDERS = {
    "AUS": "((AUS AMY VIE) HLD) ((AUS AMY BUD) HLD) ((AUS FLT TRI) HLD)",
    "ENG": "((ENG AMY LVP) HLD) ((ENG FLT LON) HLD) ((ENG FLT EDI) HLD)",
    "FRA": "((FRA AMY PAR) HLD) ((FRA FLT BRE) HLD)",
}
PEACE = "(PRP (PCE (ENG FRA)))"
# Nothing in these games waits for a time to pass.
AMPLE = {"mtl": 600, "rtl": 600, "btl": 600}


def job(door: DaideListener, names: Sequence[str], **settings: Any) -> GameJob:
    others = [
        PlayerSetup(name, ("clients.bots.diplomacy.in_process:hold",), protocol="python")
        for name in ("g", "i", "r", "t")
    ]
    players = [daide_player(door, name, reconnect_seconds=600, exit_seconds=PATIENCE) for name in names]
    return game_of(*players, *others, **{"map": "standard", "year_limit": 1, **AMPLE, **settings})


@contextmanager
def table(**settings: Any) -> Iterator[tuple[Played, DaideListener, list[RawClient]]]:
    """A game that begins, with Austria, England and France played over the wire."""
    names = ["a", "e", "f"]
    with ExitStack() as stack:
        door = stack.enter_context(open_door(*names, board="standard"))
        clients = [RawClient(door.address).introduce(name) for name in names]
        for client in clients:
            stack.callback(client.close)
        yield stack.enter_context(Played(job(door, names, **settings))), door, clients


def order(clients: dict[str, RawClient], of_france: str = "((FRA AMY MAR) HLD)") -> None:
    """All orders of a phase of moves; France's southern army does something of its own."""
    for power, client in clients.items():
        client.say(f"SUB {ORDERS[power]} {of_france if power == 'FRA' else ''}")


def draw(clients: dict[str, RawClient], of_france: str = "((FRA AMY MAR) HLD)") -> None:
    """The game's end, to which the bots that hold agree."""
    for client in clients.values():
        client.say("DRW")
    order(clients, of_france)
    for client in clients.values():
        assert client.is_sent_off()


def test_press_of_the_level_reaches_its_receivers_and_no_other() -> None:
    with table(level=20) as (_, _, (austria, england, france)):
        assert "(LVL 20) (MTL 600) (RTL 600) (BTL 600) (AOA)" in france.until("HLO")
        for client in (austria, england, france):
            client.until("TME")
        message = "SND (FRA AUS) (PRP (PCE (ENG FRA AUS)))"
        assert england.ask(message) == f"YES ({message})"
        assert france.hear() == austria.hear() == "FRM (ENG) (FRA AUS) (PRP (PCE (ENG FRA AUS)))"
        for press in (
            f"(YES {PEACE})",
            f"(REJ {PEACE})",
            f"(CCL {PEACE})",
            "(PRP (XDO ((FRA FLT BRE) MTO MAO)))",
            "(HUH (PRP (ERR PCE (ENG FRA))))",
        ):
            assert france.ask(f"SND (ENG) {press}") == f"YES (SND (ENG) {press})"
            assert england.hear() == f"FRM (FRA) (ENG) {press}"
        # To a power that no DAIDE client plays, it goes to nobody.
        assert england.ask("SND (RUS) (PRP (PCE (ENG RUS)))").startswith("YES")
        # TRY keeps the tokens of the level.
        assert england.ask("SND (FRA) (TRY (PRP PCE ALY AND))").startswith("YES")
        assert france.hear() == "FRM (ENG) (FRA) (TRY (PRP PCE ALY))"
        england.say("ADM ('e') ('hello')")
        assert austria.hear() == england.hear() == france.hear() == "ADM ('e') ('hello')"
        powers = {"AUS": austria, "ENG": england, "FRA": france}
        order(powers)
        for client in powers.values():
            client.until("NOW (FAL 1901)")
        draw(powers)


def test_a_message_that_is_not_press_of_the_level_is_answered_with_its_place() -> None:
    with table(level=20) as (_, _, (austria, england, france)):
        england.until("TME")
        for message, answer in {
            "SND (FRA) (PRP (AND (PCE (ENG FRA)) (PCE (ENG AUS))))": (
                "HUH (SND (FRA) (PRP (ERR AND (PCE (ENG FRA)) (PCE (ENG AUS)))))"
            ),
            "SND (FRA) (THK (PCE (ENG FRA)))": "HUH (SND (FRA) (ERR THK (PCE (ENG FRA))))",
            f"SND (ENG) {PEACE}": f"REJ (SND (ENG) {PEACE})",
            f"FRM (FRA) (ENG) {PEACE}": f"HUH (ERR FRM (FRA) (ENG) {PEACE})",
            "SND (FRA) (PRP (PCE (ENG FRA)": "PRN (SND (FRA) (PRP (PCE (ENG FRA))",
        }.items():
            assert england.ask(message) == answer
        draw({"AUS": austria, "ENG": england, "FRA": france})


def test_the_clock_stops_while_a_power_is_away_and_press_does_not_reach_it() -> None:
    with table(level=10, dsd=True) as (played, door, (austria, england, france)):
        passcode = austria.until("HLO").split()[2]
        for client in (austria, england, france):
            client.until("TME")
        austria.close()
        assert [england.hear(), england.hear()[:9]] == ["CCD (AUS)", "NOT (TME "]
        assert england.ask("SND (AUS) (PRP (PCE (ENG AUS)))") == "CCD (AUS)"
        assert england.ask("SND (FRA AUS) (PRP (PCE (ENG AUS)))") == "CCD (AUS)"
        watcher = RawClient(door.address)
        watcher.say("OBS")
        watcher.until("NOW")
        assert watcher.hear() == "CCD (AUS)" and watcher.hear().startswith("NOT (TME (")
        back = RawClient(door.address)
        assert back.ask(f"IAM (AUS) {passcode}") == f"YES (IAM (AUS) {passcode})"
        assert england.hear() == "NOT (CCD (AUS))" and england.hear().startswith("TME (")
        powers = {"AUS": back, "ENG": england, "FRA": france}
        order(powers)
        watcher.until("NOW (FAL 1901)")
        for client in powers.values():
            client.until("NOW (FAL 1901)")
        draw(powers)
        assert watcher.is_sent_off()
    assert [(usage.fault, usage.turns) for usage in played.result.usage[:3]] == [
        (Fault.DISCONNECTED, 0),
        (Fault.NONE, None),
        (Fault.NONE, None),
    ]
    assert not any(move.stand_in for move in played.result.moves)


def test_press_is_refused_in_builds_and_shortly_before_the_deadline() -> None:
    with table(level=10, npb=True, npr=True, ptl=600, year_limit=2) as (_, _, (austria, england, france)):
        assert "(AOA) (NPR) (NPB) (PTL 600)" in england.until("HLO")
        powers = {"AUS": austria, "ENG": england, "FRA": france}
        for client in powers.values():
            client.until("TME")
        # Press must stop as long before the deadline as the phase has time.
        assert england.ask(f"SND (FRA) {PEACE}") == f"REJ (SND (FRA) {PEACE})"
        order(powers, "((FRA AMY MAR) MTO SPA)")
        for client in powers.values():
            client.until("NOW (FAL 1901)")
        order(powers, "((FRA AMY SPA) HLD)")
        for client in powers.values():
            client.until("NOW (WIN 1901)")
        england.say(f"SND (FRA) {PEACE}")
        assert england.until("REJ") == f"REJ (SND (FRA) {PEACE})"
        france.say("SUB ((FRA AMY MAR) BLD)")
        for client in powers.values():
            client.until("NOW (SPR 1902)")
        draw(powers, "((FRA AMY SPA) HLD) ((FRA AMY MAR) HLD)")
