"""From a competition to what its players taught ACADEMY, and back to the game."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from academy.store.tokens import Role
from academy.v1 import contests_pb2
from tests.academy.service.running import serving
from tests.arena.cli.command import arena
from tests.arena.service.serving import Service
from tests.chromium import needs_browser
from tests.web.conftest import BIN, ENVIRONMENT, served_pages
from tests.web.visiting import Visitor
from web.pages import game_questions

_CONTROL = """\
[competition]
kind = "playoff"
games = 2
check_players = false
[academy]
address = "{address}"
token_env = "CUP_TOKEN"
[game]
name = "go"
board_size = 5
komi = 0.5
[[matchups]]
players = ["one", "two"]
[players.one]
command = "academy-bot go --set board_size=5 --set komi=0.5 --playouts 5 --seed 1 --academy"
[players.two]
command = "academy-bot go --set board_size=5 --set komi=0.5 --playouts 5 --seed 2 --academy"
"""


@dataclass
class Cup:
    """A competition of two players who ask ACADEMY and teach it, and the options of pages that show both."""

    options: tuple[object, ...]
    admin: Path
    reader: str


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    folder = tmp_path_factory.mktemp("cup")
    (folder / "arena").mkdir()
    with serving(folder / "data") as academy, ExitStack() as opened:
        control = folder / "arena" / "cup.toml"
        control.write_text(_CONTROL.format(address=academy.address))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(BIN), prepend=os.pathsep)
            patch.setenv("CUP_TOKEN", academy.token("cup", Role.ARENA))
            assert arena("run", control, "-q").returncode == 0
        admin = folder / "admin"
        admin.write_text(academy.token("admin", Role.ADMIN))
        service = opened.enter_context(closing(Service(folder / "arena", environment=ENVIRONMENT)))
        watcher = folder / "watcher"
        watcher.write_text(service.tokens["eye"])
        options = ("--academy", academy.address, "--arena", service.address, "--arena-token-file", watcher)
        yield Cup(options, admin, academy.token("reader", Role.BOT))


@pytest.fixture(scope="module")
def pages(cup: Cup) -> Iterator[Visitor]:
    with served_pages(*cup.options, "--academy-token-file", cup.admin) as visitor:
        yield visitor


def test_what_players_got_is_shown_by_kind() -> None:
    seat = contests_pb2.SeatConsultations(
        player=1, tesuji_ids=[3, 4], evaluation=True, weights=True, pattern_questions=1
    )
    seat.patterns.add(pattern_ids=[7])
    assert game_questions._all_in_words(seat) == "1 pattern, 2 tesujis, the evaluation, weights to take home"
    assert not game_questions._all_in_words(contests_pb2.SeatConsultations(player=2))
    answer = contests_pb2.PatternAnswer(patterns=0, tesujis=1, evaluation=True, best_cell=1)
    words = game_questions._patterns_in_words(answer, ["a1", "b1"])
    assert words == "0 patterns, 1 tesuji, the evaluation, best at b1"


@needs_browser
def test_five_clicks_lead_from_the_first_page_to_what_the_winner_taught_and_from_which_game(
    browser: Browser, pages: Visitor
) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 850})
    page = context.new_page()
    page.goto(pages.base)
    page.get_by_role("link", name="Competitions").click()
    page.get_by_role("link", name="cup", exact=True).click()
    winner = page.locator("tbody th a").first
    name = winner.inner_text()
    winner.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.get_by_role("link", name="What it taught ACADEMY").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    card = page.locator(".gallery a.card").first
    assert "ply" in card.inner_text() and "cup" in card.inner_text()
    card.click()
    expect(page.get_by_role("row", name=name).first).to_be_visible()
    origin = page.locator("dt", has_text="Came from").locator("xpath=following-sibling::dd")
    expect(origin).to_contain_text("go-5x5")
    origin.get_by_role("link").last.click()
    page.wait_for_url("**/competition/game?name=cup&game=**")
    # What became of proposals stands before the many questions.
    titles = page.locator("section[aria-labelledby=asked] h3").all_inner_texts()
    assert titles == ["Proposals", "Questions"]
    context.close()


def test_a_game_shows_what_its_players_asked_and_what_became_of_their_proposals(
    cup: Cup, pages: Visitor, tmp_path: Path
) -> None:
    game = pages.get(pages.get("/competition?name=cup").link("/competition/game?"))
    assert game.status == 200 and "At ACADEMY" in game.words
    assert "asked the opening tree" in game.words and "proposed an endgame pattern" in game.words
    assert "inserted" in game.words
    # Each question has what ACADEMY answered.
    assert "not in the tree" in game.words or "came here" in game.words
    pattern = pages.get(game.link("/patterns/endgame/"))
    assert pattern.status == 200
    # From what ACADEMY knows each way leads back to the game.
    assert pages.get(pattern.link("/competition/game?name=cup&game=")).status == 200
    for path in ("/", "/games/go-5x5", "/games/go-5x5/openings"):
        assert pages.get(pages.get(path).link("/competition/game?name=cup&game=")).status == 200
    # Who names no library sees one that has patterns.
    gallery = pages.get("/games/go-5x5/patterns")
    assert "Pattern 1" in gallery.words and "of cup" in gallery.words
    # With a token that may not read the contest, the game is shown without it.
    reader = tmp_path / "reader"
    reader.write_text(cup.reader)
    with served_pages(*cup.options, "--academy-token-file", reader) as others:
        game = others.get(others.get("/competition?name=cup").link("/competition/game?"))
        assert game.status == 200 and "At ACADEMY" not in game.words
        # Nothing moves by itself that it may not watch.
        assert "data-events" not in others.get("/").text and others.get("/events").status == 403
        player = others.get("/competition/player?name=cup&player=one")
        assert player.status == 200 and "taught ACADEMY" not in player.words
