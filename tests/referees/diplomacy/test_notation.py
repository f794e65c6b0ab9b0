"""Orders as text: what is written, and what is read."""

import random

import pytest

from referees.diplomacy import Notation, OrderKind, Phase, Position, Season, UnreadableOrder, adjudicate
from referees.diplomacy.notation import order_text, read_order
from tests.referees.diplomacy.positions import STANDARD, position
from tests.referees.diplomacy.test_random_play import choose

UNITS = "FRA A PAR, A MAR, F MAO; ENG F ECH, A LON, F NWY; RUS A STP, F BUL/EC; TUR F CON; GER A DEN"
MOVES = position(UNITS)


@pytest.mark.parametrize(
    ("texts", "standard", "mila", "deepmind"),
    [
        (("A Paris holds", "par h"), "A PAR H", "A PAR H", "PAR H"),
        (
            ("a par -> bur", "A PAR-BUR", "PAR M BUR", "A PAR move BUR"),
            "A PAR - BUR",
            "A PAR - BUR",
            "PAR - BUR",
        ),
        (("F mao - spa(nc)",), "F MAO - SPA/NC", "F MAO - SPA/NC", "MAO - SPAmaybe_NC"),
        (("F MAO-SPA/SC",), "F MAO - SPA/SC", "F MAO - SPA/SC", "MAO - SPASC"),
        (
            ("A LON - BRE", "A Lon - Bre via convoy"),
            "A LON - BRE VIA",
            "A LON - BRE VIA",
            "LON - BRE VC",
        ),
        (
            ("F English Channel convoys A London -> Brest",),
            "F ECH C A LON - BRE",
            "F ENG C A LON - BRE",
            "ECH C LON - BRE",
        ),
        (("PAR supports MAR-BUR",), "A PAR S A MAR - BUR", "A PAR S A MAR - BUR", "PAR S MAR - BUR"),
        (("F NWY supports A STP hold",), "F NWY S A STP", "F NWY S A STP", "NWY SH STP"),
        (("F Mid-Atlantic Ocean - Irish Sea",), "F MAO - IRI", "F MAO - IRI", "MAO - IRI"),
        (("f con-bul(sc)",), "F CON - BUL/SC", "F CON - BUL/SC", "CON - BULSC"),
        (("CON S BUL",), "F CON S F BUL/EC", "F CON S F BUL/EC", "CON SH BUL"),
    ],
)
def test_orders_of_moves(texts: tuple[str, ...], standard: str, mila: str, deepmind: str) -> None:
    for text in (*texts, standard, mila, deepmind):
        order = read_order(MOVES, text)
        written = [order_text(MOVES, order, notation) for notation in Notation]
        assert written == [standard, mila, deepmind], text


@pytest.mark.parametrize(
    ("texts", "kind", "standard", "deepmind"),
    [
        (("A SEV B", "build A SEV"), OrderKind.BUILD_ARMY, "A SEV B", "B A SEV"),
        (("F STP/SC B", "build F St Petersburg/SC"), OrderKind.BUILD_FLEET, "F STP/SC B", "B F STPSC"),
        (("A MOS D", "remove A MOS", "disband MOS"), OrderKind.REMOVE, "A MOS D", "R MOS"),
        (("WAIVE", "w"), OrderKind.WAIVE, "WAIVE", "W"),
    ],
)
def test_orders_of_builds(texts: tuple[str, ...], kind: OrderKind, standard: str, deepmind: str) -> None:
    winter = position("RUS A MOS", Phase.BUILDS, Season.AUTUMN)
    for text in (*texts, standard, deepmind):
        order = read_order(winter, text)
        assert order.kind is kind
        assert order_text(winter, order) == standard
        assert order_text(winter, order, Notation.DEEPMIND) == deepmind


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty line"),
        ("A PAR", "neither hold, -, S, C, R, D nor B"),
        ("A PAX H", "'PAX' is no province"),
        ("F PAR H", "the unit that stands there is an army"),
        ("F MAO - SPA/EC", "SPA has no coast 'EC'; it has SPA/NC and SPA/SC"),
        ("F MAO - POR/NC", "POR has no coast 'NC'; it has only one"),
        ("A PAR -", "a province is missing"),
        ("A PAR H BUR", "'BUR' is too much"),
        ("F ECH C A LON", "from where and to where"),
        ("B SEV", "say A or F"),
        ("A PAR H" + " " * 300, "at most 200"),
        ("- S C H", "'-' is no province"),
    ],
)
def test_what_is_no_order_says_why(text: str, why: str) -> None:
    with pytest.raises(UnreadableOrder) as raised:
        read_order(MOVES, text)
    assert why in str(raised.value)


def test_every_notation_reads_back_in_random_play() -> None:
    chance, place = random.Random(8), Position.start(STANDARD)
    for _ in range(60):
        orders = choose(place, chance)
        for given in orders.values():
            for order in given:
                for notation in Notation:
                    assert read_order(place, order_text(place, order, notation)) == order
        place = adjudicate(place, orders).after
