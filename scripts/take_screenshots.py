"""Takes the pictures in docs/ in a real browser, of what `make demo` leaves. `make screenshots` does both."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from tests.chromium import CHROMIUM

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
LIBRARY: Final = ROOT / "build" / "demo-library"
COMPETITION: Final = ROOT / "build" / "demo-competition"
BIN: Final = Path(sys.executable).parent
WIDTH: Final = 1_200


def main() -> None:
    """Take all pictures."""
    control = next(COMPETITION.glob("*.toml"), None)
    if CHROMIUM is None or control is None:
        sys.exit(
            "Pictures need Chromium (Debian's chromium-headless-shell) and what `make demo` leaves in build/."
        )
    command: list[str | Path] = [BIN / "academy-web", "--address", "127.0.0.1:0"]
    options: list[str | Path] = ["--library", LIBRARY, "--competitions", COMPETITION]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as pages,
        sync_playwright() as started,
    ):
        try:
            assert pages.stdout is not None
            base = pages.stdout.readline().split()[1].rstrip("/")
            browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": 800})
            competition = f"{base}/competition?name={control.stem}"
            take(page, competition, "web-competition", 900)
            page.goto(competition)
            game = page.locator("a[href*='/competition/game?']").first.get_attribute("href")
            take(page, f"{base}{game}&ply=40", "web-game", 1_000)
            page.goto(base)
            played = page.locator("a[href^='/games/']").first.get_attribute("href")
            take(page, f"{base}{played}/openings", "web-openings", 800)
            take(page, f"{base}{played}/position", "web-position", 800)
            report = Path(folder) / "report.html"
            subprocess.run(
                [BIN / "arena", "report", control, "--html", report], check=True, stdout=subprocess.DEVNULL
            )
            take(page, report.as_uri(), "report", 1_000)
            browser.close()
        finally:
            pages.terminate()


def take(page: Page, address: str, name: str, height: int) -> None:
    """Take a picture of the upper part of a page."""
    page.goto(address)
    page.screenshot(
        path=DOCS / f"{name}.png", clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, full_page=True
    )
    print(DOCS / f"{name}.png")


if __name__ == "__main__":
    main()
