"""The door where DAIDE clients dial in: who is let in, what they are answered, and what is done to others."""

import socket
import struct

import pytest

from clients.bots.diplomacy.daide import DaideClient, ServerDisconnectedError
from referees.diplomacy.daide.frames import FrameReader, message_frame
from referees.diplomacy.daide.tokens import text_tokens
from referees.diplomacy.daide_server.connection import DaideLimits
from referees.diplomacy.daide_server.listener import Seek, receive_passed, send
from tests.referees.diplomacy.daide_server.rooms import PATIENCE, Hand, hands, open_door
from tests.waiting import until

INITIAL = bytes.fromhex("00 00 0004 0001 DA10")


def converse(address: tuple[str, int], sent: bytes, *, finish: bool = False) -> bytes:
    """All that the door says to somebody who says these bytes, until it closes the connection."""
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(sent)
        if finish:
            connection.shutdown(socket.SHUT_WR)
        heard = b""
        try:
            while data := connection.recv(4096):
                heard += data
        except ConnectionResetError:
            pass
        return heard


def test_the_bytes_of_a_client_that_introduces_itself() -> None:
    with open_door("A", board="standard") as door, socket.create_connection(door.address, PATIENCE) as client:
        client.sendall(INITIAL)
        assert client.recv(4, socket.MSG_WAITALL) == bytes.fromhex("01 00 0000")
        client.sendall(bytes.fromhex("02 00 000E 480C 4000 4B41 4001 4000 4B31 4001"))
        yes = bytes.fromhex("02 00 0014 481C 4000 480C 4000 4B41 4001 4000 4B31 4001 4001")
        assert client.recv(len(yes), socket.MSG_WAITALL) == yes
        name = b"".join(b"\x4b" + bytes([letter]) for letter in b"standard")
        map_message = struct.pack(">BBH", 2, 0, 2 * 11) + b"\x48\x09\x40\x00" + name + b"\x40\x01"
        assert client.recv(len(map_message), socket.MSG_WAITALL) == map_message


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"GET / HTTP/1.1\r\n", 0x08),
        (bytes.fromhex("02 00 0002 480F"), 0x02),
        (bytes.fromhex("00 00 0004 0100 10DA"), 0x03),
        # A client that writes the low byte first says its length so, too: nothing more is waited for.
        (bytes.fromhex("00 00 0400 0100 10DA"), 0x03),
        (bytes.fromhex("00 00 0400"), 0x03),
        (bytes.fromhex("00 00 0006 0001 DA10 0000"), 0x09),
        (bytes.fromhex("00 00 0002 0001"), 0x09),
        (bytes.fromhex("00 00 0004 0001 BEEF"), 0x04),
        (bytes.fromhex("00 00 0004 0009 DA10"), 0x05),
    ],
)
def test_a_client_that_breaks_the_protocol_gets_an_error_and_is_sent_away(sent: bytes, code: int) -> None:
    with open_door("A", board="standard") as door:
        # An error message is the last one: no final message follows.
        assert converse(door.address, sent) == struct.pack(">BBHH", 4, 0, 2, code)


@pytest.mark.parametrize("sent", [bytes.fromhex("03 00 0000"), bytes.fromhex("04 00 0002 0009")])
def test_a_final_or_an_error_message_is_not_answered(sent: bytes) -> None:
    with open_door("A", board="standard") as door:
        assert converse(door.address, sent) == b""
        now = bytes.fromhex("02 00 0002 480E")
        assert converse(door.address, INITIAL + sent + now) == bytes.fromhex("01 00 0000")


@pytest.mark.parametrize(
    ("sent", "code"), [(INITIAL, 0x06), (bytes.fromhex("01 00 0000"), 0x0D), (b"\x02\0\0\x02\x5f\0", 0x0E)]
)
def test_a_client_that_breaks_the_protocol_after_the_greeting_gets_an_error(sent: bytes, code: int) -> None:
    with open_door("A", board="standard") as door:
        heard = converse(door.address, INITIAL + sent)
        assert heard == bytes.fromhex("01 00 0000") + struct.pack(">BBHH", 4, 0, 2, code)


def test_a_silent_client_learns_that_the_timer_ran_out() -> None:
    with open_door("A", board="standard", limits=DaideLimits(greeting_seconds=0.2)) as door:
        assert converse(door.address, b"") == bytes.fromhex("04 00 0002 0001")
        # So is who begins and does not end.
        assert converse(door.address, INITIAL[:5]) == bytes.fromhex("04 00 0002 0001")
        # Who then says no name is sent away as well, with the final message. A busy machine can keep it from
        # speaking in time.
        until(lambda: converse(door.address, INITIAL) == bytes.fromhex("01 00 0000 03 00 0000"))


def test_a_client_for_which_there_is_no_room_gets_the_final_message() -> None:
    with open_door("A", limits=DaideLimits(clients=1)) as door, hands(door, "A"):
        assert converse(door.address, b"") == bytes.fromhex("03 00 0000")
    with (
        open_door("A", limits=DaideLimits(clients=1)) as door,
        socket.create_connection(door.address, PATIENCE) as silent,
        hands(door, "A"),
    ):
        assert silent.recv(100) == bytes.fromhex("03 00 0000")


def test_unknown_names_are_rejected_and_another_may_be_tried() -> None:
    with open_door("Albert") as door, hands(door) as _:
        hand = Hand(door)
        assert hand.ask("NME ('Victoria') ('2')") == "REJ (NME ('Victoria') ('2'))"
        assert hand.introduce("Albert")
        assert hand.ask("NME ('Albert') ('2')") == "REJ (NME ('Albert') ('2'))"
        hand.close()


def test_any_name_is_taken_where_a_player_takes_any() -> None:
    with open_door("Albert", "*") as door, hands(door, "Victoria", "Albert", "Victoria"):
        pass


@pytest.mark.parametrize(("name", "version"), [("\x1b[2J", "1"), ("Bell\x07", "1"), ("Victoria", "1\n2")])
def test_names_that_would_steer_a_terminal_are_rejected(name: str, version: str) -> None:
    with open_door("*") as door:
        hand = Hand(door)
        tokens = hand.words.tokens
        introduction = (
            *tokens("NME ("),
            *text_tokens(name),
            *tokens(") ("),
            *text_tokens(version),
            *tokens(")"),
        )
        hand.client.send(introduction)
        assert hand.client.receive(PATIENCE) == (*tokens("REJ ("), *introduction, *tokens(")"))
        assert hand.introduce("Victoria")
        hand.close()


def test_while_they_wait_clients_can_learn_all_about_the_map() -> None:
    with open_door("A") as door, hands(door, "A") as (hand,):
        assert hand.ask("MAP") == "MAP ('straits')"
        assert hand.ask("MDF").startswith("MDF (NOR SOU) (((NOR NCA NPO)")
        assert hand.ask("SCO") == "SCO (NOR NCA NPO) (SOU SCA SPO) (UNO ISL MID)"
        assert hand.ask("NOW").startswith("NOW (SPR 1) (NOR AMY NCA)")
        assert hand.ask("HLO") == "REJ (HLO)"
        assert hand.ask("SUB ((NOR AMY NCA) HLD)") == "REJ (SUB ((NOR AMY NCA) HLD))"
        assert hand.ask("SUB ((NOR AMY NCA) MTO)") == "HUH (SUB ((NOR AMY NCA) MTO ERR))"
        assert hand.ask("NOW (") == "PRN (NOW ()"


def test_the_tokens_of_a_map_of_our_own_come_with_the_greeting() -> None:
    with open_door("A") as door, hands(door, "A") as (hand,):
        assert hand.client.words("straits") is hand.words
    with open_door("A", board="standard") as door, DaideClient(*door.address) as client:
        client.send((0x480F,))
        assert client.receive(PATIENCE)
        assert client.words("standard").map.name == "standard"


def test_a_client_that_cannot_play_the_map_is_sent_away() -> None:
    with open_door("A") as door:
        hand = Hand(door)
        hand.ask("NME ('A') ('1')")
        hand.say(f"REJ ({hand.hear()})")
        with pytest.raises(ServerDisconnectedError):
            hand.hear()


def test_nothing_is_lost_of_what_a_client_sends_with_its_return() -> None:
    with (
        open_door("A", board="standard") as door,
        hands(door, "A", board="standard") as (hand,),
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as game,
    ):
        game.connect(door.games)
        game.settimeout(PATIENCE)
        send(game, Seek("game", {3: "A"}))
        passed, connection = receive_passed(game)
        connection.close()
        orders = message_frame(hand.words.tokens("SUB" + " ((FRA AMY PAR) MTO BUR)" * 60))
        iam = message_frame(hand.words.tokens(f"IAM (FRA) ({passed.passcode})"))
        with socket.create_connection(door.address, PATIENCE) as client:
            client.sendall(INITIAL)
            assert client.recv(4, socket.MSG_WAITALL) == bytes.fromhex("01 00 0000")
            client.sendall(iam + orders * 40)
            passed, connection = receive_passed(game)
            with connection:
                connection.settimeout(PATIENCE)
                heard = bytes.fromhex(passed.rest)
                while len(heard) < 40 * len(orders):
                    heard += connection.recv(40 * len(orders) - len(heard))
                assert heard == orders * 40


def test_a_passcode_of_no_game_is_rejected() -> None:
    with open_door("A") as door:
        hand = Hand(door)
        assert hand.ask("IAM (NOR) (1234)") == "REJ (IAM (NOR) (1234))"
        hand.close()


def test_when_the_door_closes_all_are_sent_off() -> None:
    with open_door("A") as door:
        hand = Hand(door).introduce("A")
        assert hand.ask("MAP") == "MAP ('straits')"
    assert hand.hear() == "OFF"
    with pytest.raises(ServerDisconnectedError):
        hand.hear()


def test_silent_clients_keep_nobody_out() -> None:
    with open_door("A", limits=DaideLimits(clients=3)) as door:
        silent = [socket.create_connection(door.address, PATIENCE) for _ in range(10)]
        try:
            with hands(door, "A") as (hand,):
                assert hand.ask("MAP") == "MAP ('straits')"
        finally:
            for connection in silent:
                connection.close()


def test_a_client_that_floods_the_listener_is_sent_away_and_others_are_served() -> None:
    limits = DaideLimits(messages_per_second=1, message_burst=50)
    with open_door("A", limits=limits) as door, hands(door, "A") as (hand,):
        flood = INITIAL + bytes.fromhex("02 00 0002 480F") * 5_000
        heard = converse(door.address, flood)
        reader = FrameReader(at_server=False)
        assert len(list(reader.feed(heard))) <= 60
        assert hand.ask("MAP") == "MAP ('straits')"


def test_a_client_that_reads_nothing_is_sent_away() -> None:
    limits = DaideLimits(unsent_bytes=20_000, message_burst=1e6)
    with open_door("A", limits=limits) as door, hands(door, "A") as (hand,):
        with socket.create_connection(door.address, PATIENCE) as greedy:
            greedy.sendall(INITIAL)
            requests = bytes.fromhex("02 00 0002 480A") * 1000
            try:
                for _ in range(10_000):
                    greedy.sendall(requests)
            except OSError:
                pass
            else:
                pytest.fail("it was served for ever")
        assert hand.ask("MAP") == "MAP ('straits')"


def test_a_message_that_is_too_long_is_not_read() -> None:
    with open_door("A", limits=DaideLimits(message_bytes=64)) as door:
        heard = converse(door.address, INITIAL + bytes.fromhex("02 00 0100"))
        assert heard.endswith(bytes.fromhex("03 00 0000"))
