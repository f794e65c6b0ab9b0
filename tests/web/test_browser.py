"""The pages in a real browser: both themes, both widths, keyboard, accessibility, nothing from elsewhere."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.chromium import needs_browser
from tests.web.conftest import BIN, ENVIRONMENT, Watched
from tests.web.filling import DIPLOMACY, DRAUGHTS, GO, HEX, HOSTILE, RING
from tests.web.slow_line import slow_line
from tests.web.visiting import Visitor

REPOSITORY = Path(__file__).parents[2]
pytestmark = needs_browser

PAGES = {
    "home": "/?sort=length",
    "game": f"/games/{GO}",
    "openings": f"/games/{GO}/openings",
    "openings by Elo": f"/games/{GO}/openings?elo=1400",
    "openings on hexagons": f"/games/{HEX}/openings",
    "openings of draughts": f"/games/{DRAUGHTS}/openings",
    "openings on a map": f"/games/{DIPLOMACY}/openings",
    "openings without a board": f"/games/{RING}/openings",
    "gallery": f"/games/{GO}/patterns?library=endgame",
    "tesujis": f"/games/{HEX}/tesujis",
    "pattern": f"/games/{HEX}/patterns/endgame/1",
    "pattern with boards": f"/games/{GO}/patterns/endgame/1",
    "contributor": "/contributor?name=teacher-0",
    "position": f"/games/{GO}/position?board={'-' * 12}x{'-' * 12}&show=1",
    "played position": f"/games/{GO}/position?m=C3&look=B2",
    "empty position": f"/games/{DRAUGHTS}/position",
    "hostile": f"/games/{HOSTILE}",
    "error": "/nowhere",
    "competitions": "/competitions",
    "competition": "/competition?name=cup",
    "player": "/competition/player?name=cup&player=one",
    "game of a competition": "/competition/game?name=cup&game=AvB_0&ply=7",
}

NOTE_SHIFTS = (
    "window.moved = 0; new PerformanceObserver((list) => list.getEntries().forEach("
    "(entry) => { window.moved += entry.value; })).observe({type: 'layout-shift', buffered: true});"
)
MOVED = "new Promise((done) => setTimeout(() => done(window.moved), 60))"


@contextmanager
def watched_tab(
    browser: Browser, base: str, width: int = 1400, theme: Literal["light", "dark"] = "light"
) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=theme)
    watched = Watched(context.new_page(), base)
    yield watched
    context.close()
    watched.check_behaviour()


@pytest.fixture
def wide(browser: Browser, pages: Visitor) -> Iterator[Watched]:
    with watched_tab(browser, pages.base) as tab:
        yield tab


# Colours follow from the theme alone, and the layout from the width.
@pytest.mark.parametrize(("width", "theme"), [(320, "light"), (1400, "dark")])
def test_every_page_is_accessible_and_as_wide_as_the_screen(
    browser: Browser, competitions: Visitor, width: int, theme: Literal["light", "dark"]
) -> None:
    with watched_tab(browser, competitions.base, width, theme) as tab:
        tab.page.add_init_script(NOTE_SHIFTS)
        check_pages(tab, theme)


def test_a_table_stays_in_place_while_its_rows_arrive_over_a_slow_line(
    browser: Browser, pages: Visitor
) -> None:
    with slow_line(pages.base) as base, watched_tab(browser, base) as tab:
        tab.page.add_init_script(NOTE_SHIFTS)
        for name in ("home", "openings by Elo"):
            assert tab.open(PAGES[name]).evaluate(MOVED) == 0, f"{name} moves while it loads"


def check_pages(tab: Watched, theme: str) -> None:
    for name, path in PAGES.items():
        page = tab.open(path)
        assert page.evaluate(MOVED) == 0, f"{name} moves while it loads"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
        below = (
            "document.documentElement.scrollHeight - scrollY"
            " - Math.max(innerHeight, document.querySelector('footer').getBoundingClientRect().bottom)"
        )
        assert page.evaluate(below) < 2, f"{name} goes on below its footer"
        touching = (
            "[...document.querySelectorAll('.scroll')].flatMap(table => [...document.querySelectorAll('h2')]"
            ".filter(heading => Math.abs(heading.getBoundingClientRect().top"
            " - table.getBoundingClientRect().bottom) < 8).map(heading => heading.textContent))"
        )
        assert page.evaluate(touching) == [], f"{name} has headings that touch the table above"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(map(int, re.findall(r"\d+", ground)[:3])) > 3 * 128
        assert light == (theme == "light")
        report = Axe().run(page)
        assert not report.violations_count, f"{name}: {report.generate_report()}"


def line_of(page: Page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("m", [])


def test_the_explorer_is_played_by_arrow_keys_alone(wide: Watched) -> None:
    page = wide.open(f"/games/{GO}/openings")
    listed = page.locator("a[data-move]").all_inner_texts()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == listed[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**m=*")
    assert line_of(page) == [listed[0]]
    second = page.locator("a[data-move]").first.inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**m=*m=*")
    assert line_of(page) == [listed[0], second]
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("!location.search.includes('&m=')")
    assert line_of(page) == [listed[0]]
    page.keyboard.press("Home")
    page.wait_for_function("!location.search.includes('m=')")
    page.go_back()
    assert line_of(page) == [listed[0]]


def test_keys_that_are_typed_into_a_field_play_nothing(wide: Watched) -> None:
    page = wide.open(f"/games/{GO}/openings?m=A1")
    page.locator("#m").fill("A2")
    for key in ("ArrowLeft", "Home", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert line_of(page) == ["A1"]
    page.keyboard.press("Enter")
    page.wait_for_url("**m=A1&m=A2")


def test_a_click_on_the_board_plays_a_move_known_or_not(wide: Watched) -> None:
    page = wide.open(f"/games/{GO}/openings")
    known = page.locator(".board a.known").first
    move = (known.get_attribute("aria-label") or "").split(":")[0]
    known.click()
    page.wait_for_url("**m=*")
    assert line_of(page) == [move]
    other = page.locator(".board a.play:not(.known)").first
    played = (other.get_attribute("aria-label") or "").removeprefix("play ")
    other.click()
    page.wait_for_url("**m=*m=*")
    assert line_of(page) == [move, played]
    assert page.locator(".last-mark").count() == 1


@pytest.mark.parametrize("path", [f"/games/{GO}/openings", "/"])
def test_the_tab_key_reaches_every_link_and_shows_where_it_is(wide: Watched, path: str) -> None:
    page = wide.open(path)
    stops = "a[href], button, input, select, textarea, summary, [tabindex='0']"
    reachable = page.evaluate(
        f"[...document.querySelectorAll(`{stops}`)]"
        ".filter((e) => e.tabIndex >= 0 && e.type !== 'hidden' && e.checkVisibility()).length"
    )
    reached = 0
    while reached <= reachable:
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        reached += 1
        visible = page.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e);"
            " const cell = e.querySelector('.cell') ?? e;"
            " return s.outlineStyle !== 'none' || getComputedStyle(cell).strokeWidth === '3px'; })()"
        )
        assert visible, page.evaluate("document.activeElement.outerHTML")
    assert reached == reachable


def test_a_pattern_lights_up_while_it_is_pointed_at_or_focused(wide: Watched) -> None:
    page = wide.open(f"/games/{GO}/position?board={'-' * 12}x{'-' * 12}")
    pointed = page.locator(".board .pointed")
    assert pointed.count() == 0
    page.locator("[data-match='1']").hover()
    lit = pointed.count()
    assert lit > 0
    page.mouse.move(1, 1)
    assert pointed.count() == 0
    page.locator("[data-match='1'] a").first.focus()
    assert pointed.count() == lit


def test_moves_are_played_on_a_position_and_light_up_what_they_change(wide: Watched) -> None:
    page = wide.open(f"/games/{GO}/position")
    page.locator(".board a.play").nth(12).click()
    page.wait_for_url("**m=C3")
    assert page.locator(".board .piece").count() == 1
    row = page.locator("tr[data-cells]").nth(3)
    row.hover()
    cells = (row.get_attribute("data-cells") or "").split()
    assert page.locator(".board .pointed").count() == len(cells) == 1
    page.mouse.move(1, 1)
    assert page.locator(".board .pointed").count() == 0
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/games/{GO}/position")


def test_without_script_the_pages_read_the_same(browser: Browser, pages: Visitor) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{pages.base}/games/{GO}/openings")
    page.locator("a[data-move]").first.click()
    assert len(line_of(page)) == 1
    page.goto(f"{pages.base}/games/{GO}/position?board={'-' * 12}x{'-' * 12}")
    page.locator("[data-match='1'] a").first.click()
    expect(page.locator(".board .lit").first).to_be_visible()
    page.goto(f"{pages.base}/games/{GO}/patterns?library=endgame")
    page.locator("#min_elo").fill("1600")
    page.locator("form.filters button").click()
    assert "min_elo=1600" in page.url and page.locator(".gallery li").count() == 3
    context.close()


@pytest.fixture
def running_cup(tmp_path: Path) -> Iterator[Visitor]:
    """The pages of a competition that `arena run --web` is running, of bots that take their time."""
    bots = "".join(
        f'[players.{name}]\nprotocol = "python"\ncommand = "tests.web.players:slow"\n'
        for name in ("ann", "bob")
    )
    (tmp_path / "cup.toml").write_text(
        '[competition]\nkind = "all-play-all"\nrounds = 60\nparallel = 1\n'
        f'[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\nmove_limit = 24\n{bots}'
    )
    command = [str(BIN / "arena"), "run", "--web", "127.0.0.1:0", str(tmp_path / "cup.toml")]
    run = subprocess.Popen(
        command, cwd=REPOSITORY, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert run.stdout is not None and run.stderr is not None
        line = next((line for line in run.stdout if "http://" in line), "")
        assert line, run.stderr.read()
        yield Visitor(f"http://{line.split('http://')[1].split('/')[0]}", run)
    finally:
        run.terminate()
        run.communicate(timeout=30)


def _show(page: Page, state: Literal["visible", "hidden"]) -> None:
    """Change whether a tab is in sight, which a browser without a screen never does."""
    page.evaluate(
        """state => {
            for (const [name, value] of [["visibilityState", state], ["hidden", state === "hidden"]])
                Object.defineProperty(document, name, {value, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_games_in_progress_move_by_themselves_from_the_wall_to_the_last_move(
    browser: Browser, running_cup: Visitor
) -> None:
    with watched_tab(browser, running_cup.base) as tab:
        watch_to_the_end(tab, running_cup)


def watch_to_the_end(watched: Watched, running_cup: Visitor) -> None:
    watched.page.route("**/competition/events*", lambda route: route.fulfill(status=503))
    page = watched.open("/competition?name=cup")
    # A screen reader tells of changes in what was there before.
    assert 'id="connection"' in running_cup.get("/competition?name=cup").text
    # Who is refused is shown so, and comes back.
    lost = page.get_by_text("The connection is lost")
    expect(lost).to_be_visible()
    page.unroute("**/competition/events*")
    expect(lost).to_be_hidden()
    expect(page.get_by_role("status")).to_have_text("")
    watched.faults.clear()
    page.wait_for_selector(".wall .board .piece")
    note = page.locator(".wall .note").first
    expect(note).not_to_have_text(note.inner_text())
    report = Axe().run(page)
    assert not report.violations_count, report.generate_report()

    # A game that is nearly over would leave no time to look.
    with page.expect_request(lambda request: "/game/events" in request.url):
        page.locator(".wall a").filter(has_text=re.compile("move [1-6]:")).first.click()
    page.wait_for_selector("#rows")
    # A browser keeps six connections to one place: a tab out of sight frees its own, and catches up.
    with page.expect_event("requestfailed", lambda request: "/game/events" in request.url):
        _show(page, "hidden")
    rows = page.locator("#rows tr").count()
    _show(page, "visible")
    page.locator("#rows tr").nth(rows).wait_for()
    # In this order: the game goes on meanwhile.
    assert re.fullmatch(r"Move \d+ of \d+: \w+", page.locator("#note").inner_text())
    pieces = page.locator(".board .piece").count()
    listed = page.locator("#rows tr").count()
    assert pieces <= listed and page.locator(".last-mark").count() <= 1
    numbers = page.locator("#rows td:first-child").all_inner_texts()
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    # Links lead from the newest move, also in a page that was opened before the first one.
    page.evaluate(
        """() => {
            for (const name of ["start", "back"]) {
                const link = document.getElementById(`step-${name}`);
                for (const attribute of ["href", `data-${name}`]) link.removeAttribute(attribute);
                link.setAttribute("aria-disabled", "true");
            }
            document.querySelector("button[data-play]").disabled = true;
        }"""
    )
    page.locator("#rows tr").nth(page.locator("#rows tr").count()).wait_for()
    *plies, newest = page.evaluate(
        """() => [...["step-start", "step-back", "here"].map((place) =>
            Number(new URL(document.getElementById(place).href).searchParams.get("ply"))),
            document.querySelectorAll("#rows tr").length]"""
    )
    assert plies == [0, newest - 1, newest]
    assert page.get_by_role("link", name="One move back").is_enabled()
    assert page.get_by_role("button", name="Play").is_enabled()
    # Who looks at an earlier move is left alone, and comes back with End.
    page.keyboard.press("Home")
    page.wait_for_url("**ply=0")
    assert page.locator(".board .piece").count() == 0 and not page.locator("[data-events]").count()
    page.keyboard.press("End")
    page.wait_for_url(re.compile("game=[^&]*$"))
    # When the game is over its page shows the result.
    page.wait_for_selector("text=Download the record", timeout=120_000)
    assert page.locator("#rows tr").count() >= listed
    page.go_back()


def test_games_of_competitions_are_stepped_through_by_keys(browser: Browser, competitions: Visitor) -> None:
    with watched_tab(browser, competitions.base) as tab:
        page = tab.open(PAGES["game of a competition"])
        for key, ply in (
            ("ArrowRight", "8"),
            ("ArrowLeft", "7"),
            ("ArrowUp", "6"),
            ("Home", "0"),
            ("ArrowDown", "1"),
        ):
            page.keyboard.press(key)
            page.wait_for_url(f"**ply={ply}")
        page.keyboard.press("End")
        page.wait_for_function("!location.search.includes('ply')")
        entries = page.evaluate("history.length")
        # From the end it plays from the beginning, by itself, and Back leaves it at once.
        page.locator("[data-play]").click()
        # It does not wait for this test, which may miss a ply.
        page.wait_for_url(re.compile("ply=[2-7]$"))
        page.get_by_role("button", name="Pause").click()
        # A step that was under way may still arrive. Unpaused, it would play to the end.
        paused = ""
        while page.url != paused:
            paused = page.url
            page.wait_for_timeout(2_000)
        assert "ply=" in paused and page.locator("a[data-forward]").count() == 1
        assert page.evaluate("history.length") == entries
        # A click on a curve leads to its move.
        page.locator("#charts svg.chart").first.click(position={"x": 1, "y": 20})
        page.wait_for_url("**ply=1")
