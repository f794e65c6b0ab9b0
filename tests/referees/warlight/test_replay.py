"""The page that plays a game again, as a real browser shows it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from referees.api import GameRecord, PlayedMove, UnreadableRecordError
from referees.warlight.maps import write_map
from referees.warlight.orders import read_orders
from referees.warlight.position import Attacked, Transferred
from referees.warlight.rules import WarLight
from tests.referees.browsing import NEEDS_BROWSER, browse, operated, shown
from tests.referees.pictures import count_of, picture_with
from tests.referees.warlight.positions import chain_of

TURNS = 3
HOSTILE = "</script><b>x"


def record(names: tuple[str, str] = ("alpha", "beta")) -> str:
    """A short game in which each seat attacks from all it has."""
    rules = WarLight.from_settings({"map": "double_small", "turn_limit": TURNS})
    position = rules.start(5)
    moves = []
    for _ in range(TURNS):
        orders = {}
        for seat in (1, 2):
            mine = [at for at, owner in enumerate(position.owners) if owner == seat]
            ids = [territory.id for territory in rules.map.territories]
            text = "; ".join(
                [f"Deploy 5 on {ids[mine[0]]}"]
                + [f"AttackTransfer 99 from {ids[at]} to {ids[rules.map.neighbours[at][0]]}" for at in mine]
            )
            orders[seat] = read_orders(text)
            moves.append(PlayedMove(seat, orders[seat], text))
        position = rules.play(position, orders)
    return rules.record(
        GameRecord("7", "war", "2026-11-21", names, tuple(moves), rules.outcome(position), 5, ("a remark",))
    )


def test_a_page_of_an_earlier_record_holds_the_whole_seed() -> None:
    earlier = {**json.loads(record()), "seed": 2**62 + 1}
    page = WarLight.replay_page(json.dumps(earlier).encode(), {})
    assert f'"seed":"{2**62 + 1}"' in page


def circles(dom: str) -> list[str]:
    return re.findall(r'<circle [^>]*class="([^"]+)"', dom)


def counts(dom: str) -> list[str]:
    part = dom[dom.index('<svg id="map"') : dom.index('<div id="charts"')]
    return re.findall(r"<text[^>]*>([^<]*)</text>", part)


@NEEDS_BROWSER
@pytest.mark.parametrize("turn", [1, TURNS, TURNS + 1])
def test_the_map_is_as_the_record_says(turn: int, tmp_path: Path) -> None:
    text = record()
    game = json.loads(text)
    standing = game["final"] if turn > TURNS else game["turns"][turn - 1]["standing"]

    dom = shown(WarLight.replay_page(text.encode(), {}), tmp_path, f"turn={turn}")

    assert circles(dom) == [f"o{owner}" for owner in standing["owners"]]
    assert counts(dom) == [str(armies) for armies in standing["armies"]]
    assert dom.count("<polyline") == 6
    attacks = [] if turn > TURNS else [e for e in game["turns"][turn - 1]["events"] if "from" in e]
    assert dom.count('class="arrow') == len(attacks)
    assert "a remark" in dom


CONTROLS: Sequence[tuple[str, str]] = (
    ("byId('forward').click()", "turn 2"),
    ("byId('back').click()", "turn 1"),
    ("byId('last').click()", "after the last turn"),
    ("byId('forward').click()", "after the last turn"),
    ("byId('first').click()", "turn 1"),
    ("choose('turn', 2)", "turn 3"),
    ("press('ArrowLeft')", "turn 2"),
    ("choose('grain', 'event')", "turn 2 of 3, order 0"),
    ("press('ArrowRight')", "turn 2 of 3, order 1"),
    ("choose('grain', 'turn'); press('ArrowLeft')", "turn 2"),
    ("press(' '); await seconds(30)", "after the last turn"),
    ("press('Home'); byId('play').click(); byId('play').click(); await seconds(30)", "turn 1"),
    ("byId('play').click(); byId('forward').click(); await seconds(30)", "turn 2"),
    ("byId('speed').value = '20'; byId('play').click(); await seconds(30)", "after the last turn"),
)


@NEEDS_BROWSER
def test_the_controls_step_jump_and_play(tmp_path: Path) -> None:
    choose = """<script>
      const choose = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("change")); };
    </script></body>"""
    page = WarLight.replay_page(record().encode(), {}).replace("</body>", choose)
    where = "byId('where').textContent.replace(/:.*| of \\d+$/, '')"
    seen = operated(page, tmp_path, "turn=1", [control for control, _ in CONTROLS], where)
    assert seen == [ends for _, ends in CONTROLS]


ONE, TWO, NEUTRAL = COLOURS = ("#2563c9", "#c8372d", "#98a1b0")


@NEEDS_BROWSER
@pytest.mark.parametrize(("place", "least"), [("turn=1", (300, 300, 4000)), ("turn=1&view=1", (300, 0, 300))])
def test_a_picture_of_the_page_has_the_colours_of_what_is_seen(
    place: str, least: tuple[int, ...], tmp_path: Path
) -> None:
    picture = tmp_path / "page.png"
    # The map alone: names and charts have the seats' colours as well.
    page = WarLight.replay_page(record().encode(), {}).replace(
        "</style>", "body * { visibility: hidden; } #map, #map * { visibility: visible; }</style>", 1
    )

    def take() -> bytes:
        arguments = (f"--screenshot={picture}", "--window-size=1000,800", "--virtual-time-budget=3000")
        stages = "--run-all-compositor-stages-before-draw"
        browse(page, tmp_path, place, *arguments, stages, "--blink-settings=preferredColorScheme=1")
        return picture.read_bytes()

    def wrong(seen: NDArray[np.uint8]) -> dict[str, int]:
        counts = {colour: count_of(colour, seen) for colour in COLOURS}
        wanted = zip(COLOURS, least, strict=True)
        return {
            colour: counts[colour]
            for colour, expected in wanted
            if (counts[colour] <= expected if expected else counts[colour] > 0)
        }

    assert wrong(picture_with(lambda seen: not wrong(seen), take)) == {}


@NEEDS_BROWSER
def test_a_player_s_view_hides_what_it_could_not_see(tmp_path: Path) -> None:
    text = record()
    rules = WarLight.from_settings({"map": "double_small", "turn_limit": TURNS})
    seen = rules.view(rules.start(5), 1).owners

    dom = shown(WarLight.replay_page(text.encode(), {}), tmp_path, "turn=1&view=1")

    assert [kind == "unseen" for kind in circles(dom)] == [owner == 3 for owner in seen]
    assert counts(dom).count("") == seen.count(3)
    assert re.search(r"\(\d+ orders in the fog\)|\(an order in the fog\)", dom)
    # The charts show only one's own curves.
    assert dom.count('style="display: none;"') == 3


@NEEDS_BROWSER
def test_orders_are_seen_as_the_referee_lets_them_be(tmp_path: Path) -> None:
    rules = WarLight.from_settings({"map": "double_small", "turn_limit": TURNS})
    position = rules.start(5)
    for turn in json.loads(record())["turns"][: TURNS - 1]:
        orders = {seat: read_orders("; ".join(turn["orders"][seat - 1])) for seat in (1, 2)}
        position = rules.play(position, orders)
    turn = json.loads(record())["turns"][TURNS - 1]
    after = rules.play(position, {seat: read_orders("; ".join(turn["orders"][seat - 1])) for seat in (1, 2)})
    for seat in (1, 2):
        dom = shown(WarLight.replay_page(record().encode(), {}), tmp_path, f"turn={TURNS}&view={seat}")
        moves = [
            event for event in rules.view(after, seat).events if isinstance(event, Attacked | Transferred)
        ]
        assert dom.count('class="arrow') == len(moves)


@NEEDS_BROWSER
def test_messages_are_shown_by_turns(tmp_path: Path) -> None:
    texts = {
        "alpha: received": ">> Map\n>> EndMap\n>> Turn 1\n<< first\n>> Turn 2\n<< second\n",
        "beta: received": ">> settings your_bot player2\n>> settings starting_armies 5\n<< one\n"
        ">> settings starting_armies 5\n<< two\n",
    }
    page = WarLight.replay_page(record().encode(), texts)
    first, second, whole = (
        re.findall(r"<pre>(.*?)</pre>", shown(page, tmp_path, place), re.DOTALL)[:2]
        for place in ("turn=1&messages=turn", "turn=2&messages=turn", "turn=2&messages=all")
    )
    assert first == [
        "&gt;&gt; Turn 1\n&lt;&lt; first\n",
        "&gt;&gt; settings starting_armies 5\n&lt;&lt; one\n",
    ]
    assert second == [
        "&gt;&gt; Turn 2\n&lt;&lt; second\n",
        "&gt;&gt; settings starting_armies 5\n&lt;&lt; two\n",
    ]
    assert "EndMap" in whole[0] and "second" in whole[0]


@NEEDS_BROWSER
def test_what_players_say_and_are_called_is_only_text(tmp_path: Path) -> None:
    page = WarLight.replay_page(record((HOSTILE, "beta")).encode(), {"standard error": f"{HOSTILE} help"})
    dom = shown(page, tmp_path, "messages=all")
    assert "<b>x" not in page and "<b>x" not in dom
    assert "&lt;b&gt;x help" in dom


def test_it_needs_nothing_else() -> None:
    page = WarLight.replay_page(record().encode(), {})
    assert re.findall(r"""(?:src|href)=|url\((?!#)|@import|https?://(?!www\.w3\.org)""", page) == []


def test_a_map_without_places_is_laid_out_for_the_page(tmp_path: Path) -> None:
    file = tmp_path / "row.txt"
    file.write_text(write_map(chain_of("A", "B", "C", "D")))
    rules = WarLight.from_settings({"map": str(file), "starts": 1})
    text = rules.record(GameRecord("7", "war", "2026-11-21", ("a", "b"), (), None, 5))
    assert '"x":' not in text
    page = WarLight.replay_page(text.encode(), {})
    places = re.findall(r'"x":([0-9.]+),"y":([0-9.]+)', page)
    assert len(set(places)) == 4
    assert all(0 <= float(number) <= 1000 for place in places for number in place)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("no", "no JSON"),
        ("[]", "a record of one game is a JSON object"),
        ('{"game": "warlight", "version": 9}', "its version is 9, known is 1"),
        ('{"game": "warlight", "version": 1, "players": []}', "it has no 'settings'"),
        (
            record().replace('"settings": {', '"settings": 1, "was": {'),
            "its 'settings' is 1, which is no dict",
        ),
        (record().replace('"neighbours":[', '"neighbours":[999,', 1), "it names territory 999"),
        (record().replace('"owners":[', '"owners":[0,', 1), "a standing is not of the map's 92 territories"),
        (record().replace('"x":', '"u":', 1), "its parts cannot be read: KeyError"),
    ],
)
def test_what_is_no_record_is_refused(content: str, complaint: str) -> None:
    with pytest.raises(UnreadableRecordError, match=complaint):
        WarLight.replay_page(content.encode(), {})
