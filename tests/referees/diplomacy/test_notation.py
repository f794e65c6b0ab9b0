"""Orders as text: what is written, and what is read."""

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.diplomacy import (
    Map,
    OrderKind,
    Phase,
    Position,
    Season,
    UnreadableOrderError,
    adjudicate,
    all_legal_orders,
    shipped_map,
)
from referees.diplomacy.notation import order_text, read_order
from referees.diplomacy.power_orders import PowerOrders
from tests.referees.diplomacy.positions import STANDARD, play, position
from tests.referees.diplomacy.test_random_play import choose

UNITS = "FRA A PAR, A MAR, F MAO; ENG F ECH, A LON, F NWY; RUS A STP, F BUL/EC; TUR F CON; GER A DEN"
MOVES = position(UNITS)
BEATEN = play("FRA A BUR; GER A MUN, A RUH", "GER A MUN - BUR, A RUH S A MUN - BUR").after
WINTER = position("RUS A MOS", Phase.BUILDS, Season.AUTUMN)


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
        assert order_text(MOVES, order) == standard, text


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
    for text in (*texts, standard, deepmind):
        order = read_order(WINTER, text)
        assert order.kind is kind
        assert order_text(WINTER, order) == standard


@pytest.mark.parametrize(
    ("texts", "standard"),
    [
        (("F PAR - BUR", "fleet paris to burgundy"), "A PAR - BUR"),
        (("A MAO - POR", "army mid atlantic ocean -> portugal"), "F MAO - POR"),
        (("F PAR H", "PAR hold", "The fleet at Paris holds."), "A PAR H"),
        (
            ("A PAR S F MAR - BUR", "A PAR S MAR to BUR", "a par s mar-bur", "Par supports Mar --> Bur"),
            "A PAR S A MAR - BUR",
        ),
        (
            (
                "The army at Paris support move to Burgundy from Marseilles.",
                "FRANCE: A Paris Supports A Marseilles - Burgundy",
                "(FRA AMY PAR) SUP (FRA AMY MAR) MTO BUR",
                "ARMY Paris SUPPORTS ARMY Marseilles MOVE TO Burgundy",
            ),
            "A PAR S A MAR - BUR",
        ),
        (
            (
                "F NWY S F STP",
                "The fleet at Norway support hold to St. Petersburg",
                "NWY supports Saint Petersburg H",
            ),
            "F NWY S A STP",
        ),
        (
            (
                "A LON -> BRE via convoy",
                "The army at London move to Brest via convoy.",
                "A Lon-Eng-Bre",
                "ENG: A LON - ECH - BRE",
                "(ENG AMY LON) CTO BRE VIA (ECH)",
                "F LON - BRE",
                "A LON - BRE by convoy",
                "England: A London \u2013 Brest",
            ),
            "A LON - BRE VIA",
        ),
        (
            (
                "F ECH C F LON - BRE",
                "The fleet at English Channel convoy to Brest from London.",
                "(ENG FLT ECH) CVY (ENG AMY LON) CTO BRE",
                "ENG C LON-BRE",
                "f english channel convoys army london to brest",
            ),
            "F ECH C A LON - BRE",
        ),
        (
            (
                "F MAO - Spain (north coast)",
                "F MAO - SPA (NC)",
                "mao to spa/nc",
                "F MAO-SPA NC",
                "F MAO - Spain North Coast",
                "F Mid-Atlantic Ocean moves to Spain(nc)",
                "(FRA FLT MAO) MTO (SPA NCS)",
            ),
            "F MAO - SPA/NC",
        ),
        (("F BUL (EC) - CON", "F Bulgaria (east coast) -> Constantinople", "F BUL - CON"), "F BUL/EC - CON"),
        (("mao - gulf of lyons",), "F MAO - GOL"),
        (
            (
                "F CON - ANK/SC",
                "F CON - ANK",
                "F CON/NC - ANK",
                "Turkey: F CON > ANK",
                "F CON \u2212 ANK (nc)",
            ),
            "F CON - ANK",
        ),
        (("A PAR - BUR/SC", "A PAR/NC - BUR", "A  PAR  -  BUR", "France :  A PAR - BUR"), "A PAR - BUR"),
        (("A MAR - SPA/NC", "A MAR - Spain (south  coast)"), "A MAR - SPA"),
        (("Russia: F BULEC - CON", "Russia: F BUL/EC - CON"), "F BUL/EC - CON"),
        (("A STP/SC - FIN", "A STP - FIN"), "A STP - FIN"),
        (("A PAR S A LON - BRE VIA", "(FRA AMY PAR) SUP (ENG AMY LON) CTO BRE"), "A PAR S A LON - BRE"),
        (("F MAO - Spain north  coast", "F MAO =>  SPA/NC"), "F MAO - SPA/NC"),
    ],
)
def test_orders_in_the_words_of_other_judges_and_with_a_wrong_kind_of_unit(
    texts: tuple[str, ...], standard: str
) -> None:
    for text in texts:
        assert order_text(MOVES, read_order(MOVES, text)) == standard, text


@pytest.mark.parametrize(
    ("texts", "standard"),
    [
        (
            (
                "retreat A BUR to GAS",
                "A BUR retreats to GAS",
                "BUR - GAS",
                "A Bur Retreat Gascony",
                "F BUR R GAS",
            ),
            "A BUR R GAS",
        ),
        (("The army at Burgundy disband", "disband army burgundy", "(FRA AMY BUR) DSB"), "A BUR D"),
    ],
)
def test_retreats_in_the_words_of_other_judges(texts: tuple[str, ...], standard: str) -> None:
    for text in texts:
        assert order_text(BEATEN, read_order(BEATEN, text)) == standard, text


@pytest.mark.parametrize(
    ("texts", "standard"),
    [
        (
            ("build army paris", "Build an army in Paris", "A Paris B", "(FRA AMY PAR) BLD", "build Paris"),
            "A PAR B",
        ),
        (
            ("build fleet st. petersburg (south coast)", "B F STP SC", "F St Petersburg(sc) build"),
            "F STP/SC B",
        ),
        (("remove army mos", "destroy the unit at Moscow", "REM F MOS", "Army Moscow disbands"), "A MOS D"),
        (("waives", "waive build", "build waive", "WVE"), "WAIVE"),
        (("Russia: A Sevastopol build", "(RUS AMY SEV) BLD"), "A SEV B"),
    ],
)
def test_builds_in_the_words_of_other_judges(texts: tuple[str, ...], standard: str) -> None:
    for text in texts:
        assert order_text(WINTER, read_order(WINTER, text)) == standard, text


def test_an_order_for_a_province_without_a_unit_says_nothing_of_its_kind() -> None:
    for text in ("A BUD - SER", "F TUN - ION", "A SEV - ANK", "F PIE S A TUN - ROM"):
        order = read_order(MOVES, text)
        written = order_text(MOVES, order)
        assert written[:2] not in ("A ", "F ")
        assert read_order(MOVES, written) == order


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty line"),
        ("A PAR", "neither hold, -, S, C, R, D nor B"),
        ("A PAX H", "'PAX' is not a province"),
        ("F PAR - NTH", "'F PAR - NTH': the unit that stands there is an army, which cannot do that"),
        ("F LON C A PAR - BRE", "the unit that stands there is an army, which cannot do that"),
        ("A NWY - BUD", "the unit that stands there is a fleet, which cannot do that"),
        ("A LON - BRE VIA Prague", "'BRE VIA PRAGUE' is not a province"),
        ("F MAO - SPA/EC", "SPA has no coast 'EC'; it has SPA/NC and SPA/SC"),
        ("F MAO - POR/XC", "POR has no coast 'XC'; it has only one"),
        ("A PAR H VIA CONVOY", "only a move goes by convoy"),
        ("F NWY S A STP VIA", "only a move goes by convoy"),
        ("A", "a province is missing"),
        ("VIA", "it names no unit and says nothing to do"),
        ("( )", "it names no unit and says nothing to do"),
        ("(GER AMY PAR) MTO BUR", "the unit in PAR is not Germany's"),
        ("Germany: A PAR/SC H", "the unit in PAR is not Germany's"),
        ("Germany: A PAR - BUR", "the unit in PAR is not Germany's"),
        ("(FRA AMY PAR) SUP (GER AMY MAR) MTO BUR", "the unit in MAR is not Germany's"),
        ("A PAR -", "a province is missing"),
        ("A PAR H BUR", "'BUR' is too much"),
        ("F ECH C A LON", "from where and to where"),
        ("B SEV", "say A or F"),
        ("A PAR H" + " " * 300, "at most 200"),
        ("- S C H", "'-' is not a province"),
    ],
)
def test_a_text_that_is_not_an_order_says_why(text: str, why: str) -> None:
    with pytest.raises(UnreadableOrderError) as raised:
        read_order(MOVES, text)
    assert why in str(raised.value)


@pytest.mark.parametrize("text", ["F CON - ANK/SC", "A PAR/NC H", "F MAO - POR/NC"])
def test_strict_rules_refuse_a_missing_coast(text: str) -> None:
    with pytest.raises(UnreadableOrderError, match=r"has no coast '[NS]C'; it has only one"):
        read_order(MOVES, text, lenient_coasts=False)


def test_a_power_builds_in_its_own_home_centres_only() -> None:
    with pytest.raises(UnreadableOrderError, match="the centre SEV is not Turkey's"):
        read_order(WINTER, "Turkey: F SEV B")


def test_a_retreat_by_convoy_is_refused() -> None:
    with pytest.raises(UnreadableOrderError, match="only a move goes by convoy"):
        read_order(BEATEN, "A BUR - GAS VIA")
    with pytest.raises(UnreadableOrderError, match="the unit in BUR is not Germany's"):
        read_order(BEATEN, "(GER AMY BUR) RTO GAS")


def test_orders_of_daide_in_brackets_need_no_commas() -> None:
    orders = "((FRA AMY PAR) MTO BUR) ((FRA AMY MAR) SUP (FRA AMY PAR) MTO BUR)((FRA FLT MAO) MTO (SPA NCS))"
    assert PowerOrders.read(MOVES, orders).text == "A PAR - BUR, F MAO - SPA/NC, A MAR S A PAR - BUR"


@pytest.mark.parametrize("board", [STANDARD, shipped_map("straits")], ids=lambda board: board.name)
def test_every_legal_order_reads_back(board: Map) -> None:
    chance, place = random.Random(8), Position.start(board)
    for _ in range(24):
        for legal in all_legal_orders(place):
            for choices in legal.values():
                for order in choices:
                    text = order_text(place, order)
                    assert read_order(place, text) == order, text
        place = adjudicate(place, choose(place, chance)).after


WORDS = {
    "H": ("holds", "HOLD", "h"),
    "-": ("->", "-->", "to", "moves to", "\u2014", "=>"),
    "S": ("supports", "S", "sup"),
    "C": ("convoys", "c", "CVY"),
    "R": ("retreats to", "r", "-"),
    "D": ("disbands", "d", "removes"),
    "B": ("build", "b"),
    "VIA": ("via convoy", "VIA", "by convoy"),
    "A": ("army", "A", "The army at", "AMY"),
    "F": ("fleet", "f", "FLT"),
}


def in_other_words(text: str, chance: random.Random) -> str:
    """An order in STANDARD notation with other words for the same, and names for codes."""
    words = []
    for word in text.split():
        code, _, coast = word.partition("/")
        if word in WORDS:
            words.append(chance.choice(WORDS[word]))
        elif code in STANDARD.codes:
            name = chance.choice((code, code.lower(), STANDARD.names[STANDARD.codes.index(code)]))
            quarter = {"N": "north coast", "S": "south coast", "E": "east coast"}[coast[0]] if coast else ""
            words.append(
                name + chance.choice((f"/{coast}", f" ({coast.lower()})", f" ({quarter})")) if coast else name
            )
        else:
            words.append(word.lower())
    return " ".join(words)


def test_every_legal_order_reads_back_in_other_words() -> None:
    chance, place = random.Random(5), Position.start(STANDARD)
    for _ in range(40):
        for legal in all_legal_orders(place):
            for choices in legal.values():
                for order in choices:
                    text = in_other_words(order_text(place, order), chance)
                    assert read_order(place, text) == order, text
        place = adjudicate(place, choose(place, chance)).after


@given(
    st.lists(
        st.sampled_from(
            [*STANDARD.codes[:20], *WORDS, "TO", "FROM", "(", ")", "/NC", "-", "ENG:", "\u2192", "..", "1"]
        ),
        max_size=9,
    )
)
def test_any_words_are_an_order_or_are_refused(words: list[str]) -> None:
    with contextlib.suppress(UnreadableOrderError):
        read_order(MOVES, " ".join(words))


@given(st.text(max_size=60))
def test_any_text_is_an_order_or_is_refused_and_quoted(text: str) -> None:
    try:
        read_order(MOVES, text)
    except UnreadableOrderError as refused:
        assert not text.strip() or repr(text.strip()) in str(refused)
