"""A game as one file: every board of every referee, and the file of a real game in a real browser."""

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from google.protobuf.duration_pb2 import Duration
from playwright.sync_api import Browser, expect

from arena.v1.competitions_pb2 import GameMove, GamePlayer
from referees.api import Referee, referee
from tests.arena.cli.command import arena
from tests.arena.engines import GNUGO, needs_gnugo
from tests.chromium import needs_browser
from tests.web.game_files import file_of
from web.drawing import BoardMarks, draw_board
from web.replay import GameReplay, GameStart

_CONTROL = """\
[competition]
kind = "playoff"
games = 1
check_players = false

[game]
name = "go"
board_size = 5
komi = 0.5

[[matchups]]
id = "placed"
players = ["one", "two"]
alternating = false
game = { board_size = 7, handicap = 2, handicap_style = "free" }

[players.one]
command = "{gnugo} --mode gtp --level 0 --never-resign --seed {seed}"
[players.two]
command = "{gnugo} --mode gtp --level 0 --never-resign --seed {seed}"
"""
HOSTILE = "</script><img src=x onerror=alert(1)>"


def steps_of(page: str) -> dict[str, Any]:
    (embedded,) = re.findall(r'<script type="application/json" id="steps">(.*?)</script>', page, re.DOTALL)
    steps: dict[str, Any] = json.loads(embedded)
    return steps


def attack(rules: Any, position: Any, seat: int) -> Any:
    """Orders of WarLight, which has too many to choose from by chance."""
    own = position.owners.index(seat)
    here, there = rules.map.territories[own].id, rules.map.territories[own].neighbours[0]
    armies = rules.income(position, seat)
    text = f"Deploy {armies} on {here}; AttackTransfer {armies} from {here} to {there}"
    return rules.read_move(position, seat, text)


def random_game(rules: Referee[Any, Any], turns: int) -> list[tuple[int, str]]:
    chance, position = random.Random(5), rules.start(3)
    moves: list[tuple[int, str]] = []
    for _ in range(turns):
        chosen = {
            seat: rules.random_move(position, seat, chance) or attack(rules, position, seat)
            for seat in rules.to_move(position)
        }
        if not chosen:
            break
        moves += [(seat, rules.move_text(move)) for seat, move in chosen.items()]
        position = rules.play(position, chosen)
    return moves


@pytest.mark.parametrize(
    ("game", "settings", "turns"),
    [
        ("hex", {"board_size": 4}, 6),
        ("draughts", {"variant": "english"}, 8),
        ("openspiel", {"game": "othello"}, 8),
        ("warlight", {"map": "double_small"}, 3),
        ("diplomacy", {"map": "straits"}, 4),
    ],
)
def test_stepping_through_a_file_shows_the_boards_of_the_game(
    game: str, settings: dict[str, object], turns: int
) -> None:
    moves = random_game(referee(game).from_settings(settings), turns)
    commented = [GameMove(seat=seat, text=text, comment=HOSTILE) for seat, text in moves]
    page = file_of(game, commented, settings, [GamePlayer(name=HOSTILE)])
    assert HOSTILE not in page and page.count("<script") == 5
    steps = steps_of(page)

    played = GameReplay(GameStart(game, json.dumps(settings), 3))
    played.add(moves)
    arrows = 0
    # WarLight hides from each seat what it does not see.
    assert len(steps["views"]) == (3 if game == "warlight" else 1)
    for seat, view in enumerate(steps["views"]):
        cells = list(view["first"])
        for ply in range(len(moves) + 1):
            for cell, element in view["changes"][ply - 1] if ply else ():
                cells[cell] = element
            drawing, last = played.after(ply, seat)
            assert (
                tuple(steps["elements"][element] for element in cells)
                == draw_board(drawing, BoardMarks(last), "").cells
            )
            assert not seat or any(mark.off for mark in drawing.marks)
            arrows += len(drawing.arrows)
    assert steps["comments"] == ["", *[HOSTILE] * len(moves)]
    assert (arrows > 0) == (game in ("warlight", "diplomacy"))


def test_a_file_shows_the_last_clock_of_each_seat_after_every_move() -> None:
    moves = [
        GameMove(seat=seat, text="a1", clock=None if seconds is None else Duration(seconds=seconds))
        for seat, seconds in ((1, 50), (2, 40), (1, None), (2, 30))
    ]
    page = file_of("none", moves, players=[GamePlayer(name="ann"), GamePlayer(name="bob")])

    shown = [re.findall(r"0:\d\d\.\d", clocks) for clocks in steps_of(page)["clocks"]]

    assert shown == [[], ["0:50.0"], ["0:50.0", "0:40.0"], ["0:50.0", "0:40.0"], ["0:50.0", "0:30.0"]]


@needs_browser
def test_who_steps_by_the_keyboard_stays_on_the_button(browser: Browser, tmp_path: Path) -> None:
    moves = [GameMove(seat=seat, text=text) for seat, text in ((1, "a1"), (2, "b2"), (1, "c3"))]
    file = tmp_path / "hex.html"
    file.write_text(file_of("hex", moves, {"board_size": 4}))
    page = browser.new_page()
    page.goto(f"{file.as_uri()}#0")
    forward = page.locator("#step-forward")
    forward.focus()
    for ply in (1, 2):
        page.keyboard.press("Enter")
        expect(page.locator("#note")).to_have_text(re.compile(f"^Move {ply} of 3"))
        expect(forward).to_be_focused()
    # After a click into the list of moves the arrow keys are for the game.
    page.locator("#rows a").first.click()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#note")).to_have_text(re.compile("^Move 2 of 3"))
    page.close()


@needs_browser
def test_the_largest_map_can_be_read_at_any_width_and_as_each_seat_saw_it(
    browser: Browser, tmp_path: Path
) -> None:
    settings = {"map": "double_earth"}
    moves = random_game(referee("warlight").from_settings(settings), 2)
    file = tmp_path / "earth.html"
    file.write_text(file_of("warlight", [GameMove(seat=seat, text=text) for seat, text in moves], settings))
    for width in (1400, 390):
        page = browser.new_page(viewport={"width": width, "height": 850})
        page.goto(file.as_uri())
        drawn = page.evaluate(
            "[...document.querySelectorAll('svg.board .on, svg.board .on-cell')].map((text) =>"
            " parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
        )
        assert len(drawn) > 300 and min(drawn) >= 11
        hidden = page.evaluate(
            "(() => { const names = [...document.querySelectorAll('.area-name')];"
            " const boxes = names.map((name) => name.getBBox());"
            " const map = document.querySelector('svg.board').viewBox.baseVal;"
            " const outside = boxes.filter((box) => box.x < 0 || box.x + box.width > map.width"
            " || box.y < 0 || box.y + box.height > map.height);"
            " const pairs = boxes.flatMap((one, at) => boxes.slice(at + 1).filter((other) =>"
            " Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x) > 2"
            " && Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y) > 4));"
            " return [boxes.length, outside.length, pairs.length]; })()"
        )
        assert hidden == [60, 0, 0]
    unseen = page.locator("svg.board .cell.off")
    assert unseen.count() == 0
    page.get_by_role("link", name="player 2").click()
    assert unseen.count() > 100 and page.url.endswith("#4-2")
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith("#3-2") and unseen.count() > 100
    page.get_by_role("link", name="all", exact=True).click()
    assert unseen.count() == 0
    # Who moved the map by the pointer steps on by keys.
    page.locator(".board-frame").click()
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith("#2")
    page.get_by_text("Orders of the turn before").click()
    assert re.search(r"\d+ from \d+:\w+ to \d+:\w+", page.locator("#orders").inner_text())
    page.close()


@needs_gnugo
@needs_browser
def test_a_game_with_placed_stones_and_its_own_board_is_one_file_that_keys_step_through(
    browser: Browser, tmp_path: Path
) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(_CONTROL.replace("{gnugo}", str(GNUGO)))
    assert arena("run", control, "-q", "--log-protocol").returncode == 0
    record = tmp_path / "cup.games" / "placed_0.sgf"
    assert arena("replay", record).returncode == 0
    nowhere = arena("replay", control, "placed_9")
    assert nowhere.returncode == 1 and "no finished game 'placed_9'" in nowhere.stderr
    stray = shutil.copy(record, tmp_path / "stray.sgf")
    alone = arena("replay", stray)
    assert alone.returncode == 1 and "give the control file and the game's id" in alone.stderr

    page = browser.new_page(viewport={"width": 390, "height": 850}, color_scheme="dark")
    requests: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(record.with_suffix(".html").as_uri())
    assert page.locator(".board .at .cell").count() == 49
    page.keyboard.press("Home")
    assert page.locator(".board .piece.side-1").count() == 2
    assert page.locator(".board .piece.side-2").count() == 0
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.inner_text("#note").startswith("Move 5 of ") and page.url.endswith("#5")
    assert page.locator("#rows .chosen").inner_text().startswith("5")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#note")).to_contain_text("Move 4 of ")
    page.go_back()
    expect(page.locator("#note")).to_contain_text("Move 5 of ")
    page.locator("[data-play]").click()
    # It does not wait for this test, which may miss a move.
    expect(page.locator("#note")).to_contain_text(re.compile(r"Move ([7-9]|\d\d) of "))
    page.get_by_text("one: what it received").click()
    assert ">> place_free_handicap 2" in page.locator("details[open] pre").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    report = Axe().run(page)
    assert not report.violations_count, report.generate_report()
    page.close()
    assert not faults and {address.partition("#")[0] for address in requests} == {
        record.with_suffix(".html").as_uri()
    }
