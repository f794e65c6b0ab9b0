"""The page, as a real browser reads it."""

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from playwright.sync_api import sync_playwright

from arena.reports.html_page import html_page
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, PLAYOFF, report_of
from tests.chromium import CHROMIUM, needs_browser

A_GENEROUS_TIME = 180.0


class Page(HTMLParser):
    """The texts of a page: of its tables by id, cell by cell, and of everything."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.elements: list[str] = []
        self.text = ""
        self._rows: list[list[str]] = []
        self._cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag == "table":
            self._rows = self.tables.setdefault(dict(attributes)["id"] or "", [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell:
            self._rows[-1][-1] += data


def page_of(tmp_path: Path, control: str, games: list[tuple[str, str, str, str]]) -> str:
    return html_page(report_of(tmp_path, control, games))


@needs_browser
def test_a_browser_shows_the_tables_and_the_plot(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    file = tmp_path / "cup.html"
    file.write_text(page_of(tmp_path, ALL_PLAY_ALL, list(ALL_PLAYED)), encoding="utf-8")
    arguments = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(
        [CHROMIUM, *arguments], capture_output=True, text=True, timeout=A_GENEROUS_TIME, check=True
    ).stdout
    page = Page(shown)
    assert page.tables["standings"][1] == [
        "alpha", "5", "3", "1", "1", "0", "0", "0", "0", "3.5", "1025", "1092", "206",
    ]  # fmt: skip
    assert page.tables["cross-table"] == [
        ["", "A", "B", "C"],
        ["A alpha", "", "2-1", "1-0=1"],
        ["B beta", "1-2", "", "0-1"],
        ["C gamma", "0-1=1", "1-0", ""],
    ]
    assert "matchups" not in page.tables
    games = page.tables["games-list"]
    assert games[0] == ["game", "players", "result", "ended by"] and len(games) == 1 + len(ALL_PLAYED)
    assert games[1][0] == ALL_PLAYED[-1][0]
    assert page.tables["usage"][1] == ["alpha", "1.250", "2.500", "12.5", "", "alpha & <co>"]
    assert page.elements.count("circle") == 3 and page.elements.count("svg") == 1
    assert "Three <of> them" in page.text and "7/9 games" in page.text


@needs_browser
def test_in_a_narrow_window_the_plot_stays_large_enough_to_be_read(tmp_path: Path) -> None:
    file = tmp_path / "cup.html"
    file.write_text(page_of(tmp_path, ALL_PLAY_ALL, list(ALL_PLAYED)), encoding="utf-8")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(file.as_uri())
        plot = page.locator("svg.ratings").bounding_box()
        assert plot is not None and plot["width"] >= 600
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        browser.close()


def test_the_page_needs_no_other_file_and_runs_no_script(tmp_path: Path) -> None:
    html = page_of(tmp_path, ALL_PLAY_ALL, list(ALL_PLAYED))
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.elements)
    assert re.findall(r"""(?:src|href)=|url\(|@import|https?://""", html) == []


def test_texts_of_others_are_escaped(tmp_path: Path) -> None:
    nasty = ALL_PLAY_ALL.replace("Three <of> them", "<script>alert(1)</script>")
    page = Page(page_of(tmp_path, nasty, list(ALL_PLAYED)))
    assert "script" not in page.elements
    assert "<script>alert(1)</script>" in page.text


def test_a_removed_matchup_and_unknown_results_are_shown(tmp_path: Path) -> None:
    games = [("gone_0", "alpha", "gamma", "W"), ("handy_0", "beta", "gamma", "?")]
    page = Page(page_of(tmp_path, PLAYOFF, games))
    assert "?? (missing from control file)" in page.text
    assert "unknown results: 1" in page.text and "board size: 13 · komi: 7.5" in page.text
    assert len(page.tables["matchups"]) == 3


def test_each_game_leads_to_its_record(tmp_path: Path) -> None:
    report = report_of(tmp_path, ALL_PLAY_ALL, list(ALL_PLAYED))
    page = html_page(report, "../two words/cup.games")
    assert f'href="../two%20words/cup.games/{ALL_PLAYED[-1][0]}.sgf"' in page


def test_before_the_first_game_there_is_no_plot(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, ALL_PLAY_ALL, []))
    assert "svg" not in page.elements and "0/9 games" in page.text
