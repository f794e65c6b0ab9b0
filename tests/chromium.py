"""The browser that tests drive: Debian's Chromium without windows, which starts fast, or another."""

import shutil
from typing import Final

import pytest

_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM: Final = next(filter(None, map(shutil.which, _NAMES)), None)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no browser: Debian's package chromium-headless-shell is not installed"
)
