"""The page that plays a game again, as a real browser shows it."""

import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from referees.api import GameRecord, PlayedMove, UnreadableRecordError
from referees.diplomacy import Diplomacy, Phase
from tests.referees.browsing import NEEDS_BROWSER, browse, operated, shown
from tests.referees.pictures import count_of, picture_with

HOSTILE = "</script><b>x"
AUSTRIA, ENGLAND, FRANCE, GERMANY, ITALY, RUSSIA, TURKEY = range(1, 8)
MOVES: Sequence[Mapping[int, str]] = (
    {
        ENGLAND: "F LON - NTH, F EDI - NWG, A LVP - YOR",
        FRANCE: "A PAR - BUR, A MAR S A PAR - BUR, F BRE S A PAR - PIC",
        GERMANY: "A MUN - BUR, A BER - KIE, F KIE - DEN",
        TURKEY: "A CON - BUL, F ANK - BLA",
        RUSSIA: "F SEV - BLA",
    },
    {
        ENGLAND: "A YOR - NWY VIA, F NTH C A YOR - NWY, F NWG S A YOR - NWY",
        FRANCE: "A BUR - MUN, A MAR S A BUR",
        GERMANY: "A MUN - TYR, A KIE - MUN, F DEN - SWE",
        AUSTRIA: "A VIE - TYR, A BUD S A VIE - GAL",
        TURKEY: "A BUL - SER",
        ITALY: "A ROM - TUN VIA",
    },
)


def record(names: Sequence[str] = tuple("abcdefg"), comment: str = "") -> str:
    """A short game with orders of every kind."""
    judge = Diplomacy.from_settings({"year_limit": 1})
    game, moves, orders = judge.start(0), [], list(MOVES)
    while seats := judge.to_move(game):
        ordered = orders.pop(0) if game.position.phase is Phase.MOVES else {}
        turn = {seat: judge.read_move(game, seat, ordered.get(seat, "NONE")) for seat in seats}
        moves += [
            PlayedMove(seat, move, move.text, values={seat: 0.25}, comment=comment)
            for seat, move in turn.items()
        ]
        game = judge.play(game, turn)
    outcome = judge.outcome(game)
    return judge.record(
        GameRecord("0_7", "cup", "2026-11-21", tuple(names), moves, outcome, 0, ("a remark",))
    )


def small_record() -> str:
    judge = Diplomacy.from_settings({"map": "straits", "year_limit": 1})
    game, moves = judge.start(0), []
    while seats := judge.to_move(game):
        turn = {seat: judge.stand_in_move(game, seat) for seat in seats}
        moves += [PlayedMove(seat, move, move.text) for seat, move in turn.items()]
        game = judge.play(game, turn)
    return judge.record(GameRecord("0_1", "small", "", ("a", "b"), moves, judge.outcome(game), 0))


@NEEDS_BROWSER
def test_the_map_shows_units_centres_and_orders_with_what_became_of_them(tmp_path: Path) -> None:
    text = record()
    phase = json.loads(text)["phases"][0]
    dom = shown(Diplomacy.replay_page(text.encode(), {}), tmp_path, "phase=S1901M")

    for power, units in phase["units"].items():
        for unit in units:
            assert f"<title>{power}: {unit}</title>" in dom
    assert len(re.findall(r'class="unit "', dom)) == 22
    assert len(re.findall(r'class="star"', dom)) == 34
    drawn = re.findall(r'<g class="of (\w+)">.*?<title>(\w+): ([^<]+?): ([^<]+)</title></g>', dom)
    tones = {(power, order): tone for tone, power, order, _ in drawn}
    expected = {
        ("FRA", "A PAR - BUR"): "succeeded",
        ("FRA", "A MAR S A PAR - BUR"): "succeeded",
        ("FRA", "F BRE S A PAR - PIC"): "void",
        ("GER", "A MUN - BUR"): "bounced",
        ("RUS", "F SEV - BLA"): "bounced",
    }
    assert {order: tones[order] for order in expected} == expected
    assert "bounced by Russia's F SEV" in dom
    assert "Spring 1901, moves" in dom and "a remark" in dom and "cup, 0_7" in dom
    assert len(re.findall("<polyline", dom)) == 7


@NEEDS_BROWSER
def test_the_head_says_everything_once(tmp_path: Path) -> None:
    content = json.loads(record())
    result = f"{content['result']} ({content['detail']})" if content["detail"] else content["result"]
    content |= {"name": "cup 0_7", "event": "cup"}
    content["remarks"] = [
        "Event: cup", "Game id: 0_7", "Date: 2026-11-21 13:00 +0000", f"Result: {result}", "a remark", result,
    ]  # fmt: skip
    dom = shown(Diplomacy.replay_page(json.dumps(content).encode(), {}), tmp_path, "phase=1")
    facts = f"map standard · rules {content['edition']} · {result} · Date: 2026-11-21 13:00 +0000 · a remark"
    assert '<h1 id="title">cup 0_7</h1>' in dom
    assert re.findall(r'id="facts">(.*?)</p>', dom) == [html.escape(facts, quote=False)]


@NEEDS_BROWSER
def test_later_phases_show_what_came_of_it(tmp_path: Path) -> None:
    text = record()
    content = json.loads(text)
    page = Diplomacy.replay_page(text.encode(), {})
    dom = shown(page, tmp_path, "phase=2")
    assert 'class="order via"' in dom and 'class="order convoy"' in dom
    assert "convoy" in dom and "<title>ENG: A YOR</title>" in dom
    end = shown(page, tmp_path, "phase=99")
    assert f"The end: {content['result']}" in end
    for power, units in content["final"]["units"].items():
        for unit in units:
            assert f"<title>{power}: {unit}</title>" in end


CONTROLS: Sequence[tuple[str, str]] = (
    ("byId('forward').click()", "Autumn 1901, moves"),
    ("byId('back').click()", "Spring 1901, moves"),
    ("byId('last').click()", "The end"),
    ("byId('forward').click()", "The end"),
    ("byId('first').click()", "Spring 1901, moves"),
    ("byId('phase').value = '1'; byId('phase').dispatchEvent(new Event('change'))", "Autumn 1901, moves"),
    ("byId('slider').value = '0'; byId('slider').dispatchEvent(new Event('input'))", "Spring 1901, moves"),
    ("press('ArrowRight')", "Autumn 1901, moves"),
    ("press('ArrowLeft')", "Spring 1901, moves"),
    ("press(' '); await seconds(30)", "The end"),
    ("press('Home'); byId('play').click(); byId('play').click(); await seconds(30)", "Spring 1901, moves"),
    ("byId('play').click(); byId('forward').click(); await seconds(30)", "Autumn 1901, moves"),
    ("byId('speed').value = '20'; byId('play').click(); await seconds(30)", "The end"),
)


@NEEDS_BROWSER
def test_the_controls_step_jump_and_play(tmp_path: Path) -> None:
    page = Diplomacy.replay_page(record().encode(), {})
    where = "byId('where').textContent.split(':')[0]"
    seen = operated(page, tmp_path, "phase=1", [control for control, _ in CONTROLS], where)
    assert seen == [ends for _, ends in CONTROLS]


@NEEDS_BROWSER
def test_an_order_that_is_pointed_at_is_picked_out(tmp_path: Path) -> None:
    page = Diplomacy.replay_page(record().encode(), {})
    over = "document.querySelector('#powers li').dispatchEvent(new MouseEvent('mouseenter'));"
    dom = shown(page.replace("</body>", f"<script>{over}</script></body>"), tmp_path, "phase=1")
    assert len(re.findall(r'class="of \w+ now"', dom)) == 1 and 'class="picked"' in dom


@NEEDS_BROWSER
def test_a_void_game_shows_how_it_stood(tmp_path: Path) -> None:
    judge = Diplomacy.from_settings({})
    text = judge.record(GameRecord("0_0", "cup", "", tuple("abcdefg"), (), None, 0, (), ("it crashed",)))
    dom = shown(Diplomacy.replay_page(text.encode(), {}), tmp_path, "phase=1")
    assert "The end: void" in dom and "it crashed" in dom and "<title>FRA: A PAR</title>" in dom


@NEEDS_BROWSER
def test_a_map_without_coordinates_is_shown_too(tmp_path: Path) -> None:
    dom = shown(Diplomacy.replay_page(small_record().encode(), {}), tmp_path, "phase=1")
    assert "<title>NOR: A NCA</title>" in dom and 'class="link"' in dom


@NEEDS_BROWSER
def test_what_players_say_and_are_called_is_only_text(tmp_path: Path) -> None:
    text = record((HOSTILE, *"bcdefg"), comment=HOSTILE)
    page = Diplomacy.replay_page(text.encode(), {"standard error": f"{HOSTILE} help"})
    dom = shown(page, tmp_path, "phase=1")
    assert "<b>x" not in page and "<b>x" not in dom
    assert "&lt;b&gt;x help" in dom


@NEEDS_BROWSER
def test_a_picture_of_the_page_has_land_sea_and_every_power_s_colour(tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    page = Diplomacy.replay_page(record().encode(), {})
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    drawn_map = json.loads(data[1])["map"]
    least = {power["colour"]: 30 for power in drawn_map["powers"]} | {"#b5d3e7": 20_000, "#f1e8d2": 10_000}

    def take() -> bytes:
        arguments = (f"--screenshot={picture}", "--window-size=640,640", "--virtual-time-budget=3000")
        browse(page, tmp_path, "phase=2", *arguments, "--run-all-compositor-stages-before-draw")
        return picture.read_bytes()

    def missing(seen: NDArray[np.uint8]) -> list[str]:
        return [colour for colour, expected in least.items() if count_of(colour, seen) <= expected]

    seen = picture_with(lambda seen: not missing(seen), take)
    assert missing(seen) == [], "these colours are hardly to be seen"


def test_it_needs_nothing_else() -> None:
    page = Diplomacy.replay_page(record().encode(), {})
    assert re.findall(r"""(?:src|href)=|url\((?!#)|@import|https?://(?!www\.w3\.org)""", page) == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("no", "no JSON"),
        ("[]", "not a record of Diplomacy"),
        ('{"format": "diplomacy-1"}', "no map 'None'; there are standard, straits"),
        ('{"format": "diplomacy-1", "map": "straits"}', "its parts cannot be read: KeyError"),
        (record().replace('"A LVP"', '"A XXX"', 1), "XXX"),
        (record().replace('"A LVP"', '"A NTH"', 1), "an army can't be there"),
        (record().replace('"A LVP"', "7", 1), "its parts cannot be read: AttributeError"),
        (record().replace('"LVP"', '"YOR"', 1), "'YOR' in S1901M is no supply centre"),
        (record().replace('"succeeded"', "1", 1), "1 stands where a text should"),
        (record().replace('"TUR": 0.25', '"TUR": "x"', 1), "a value in S1901M is no number"),
    ],
)
def test_what_is_no_record_is_refused(content: str, complaint: str) -> None:
    with pytest.raises(UnreadableRecordError, match=complaint):
        Diplomacy.replay_page(content.encode(), {})
