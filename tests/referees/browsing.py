"""Pages in a real browser."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
NEEDS_BROWSER = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no browser: Debian's package chromium is not installed"
)
A_GENEROUS_TIME = 180.0


def browse(page: str, tmp_path: Path, place: str, *options: str) -> str:
    """What the browser prints of a page that is opened at a place."""
    assert CHROMIUM is not None
    file = tmp_path / "game.html"
    file.write_text(page, encoding="utf-8")
    arguments = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path / 'browser'}", *options, f"{file.as_uri()}#{place}",
    ]  # fmt: skip
    return subprocess.run(
        [CHROMIUM, *arguments], capture_output=True, text=True, timeout=A_GENEROUS_TIME, check=True
    ).stdout


def shown(page: str, tmp_path: Path, place: str = "") -> str:
    """The page's elements after its script has run."""
    return browse(page, tmp_path, place, "--dump-dom")


def operated(page: str, tmp_path: Path, place: str, controls: Sequence[str], seen: str) -> list[str]:
    """What is seen after each use of a page's controls.

    All are written in JavaScript, with `press(key)` for a key and `await seconds(number)` for a pause.
    """
    done = "\n".join(f"{control}; seen.push({seen});" for control in controls)
    script = f"""<script>(async () => {{
      const seen = [], seconds = number => new Promise(done => setTimeout(done, 1000 * number));
      const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", {{key, bubbles: true}}));
      {done}
      document.title = seen.join("|");
    }})()</script></body>"""
    # Time in the browser passes as fast as it can.
    dom = browse(
        page.replace("</body>", script), tmp_path, place, "--virtual-time-budget=300000", "--dump-dom"
    )
    title = re.search("<title>([^<]*)</title>", dom)
    assert title is not None
    return title[1].split("|")
