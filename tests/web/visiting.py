"""A visitor of the pages over real HTTP."""

import gzip
import http.client
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import ClassVar
from urllib.parse import urlsplit


@dataclass
class Answer:
    """What came back, and what the page consists of."""

    status: int
    headers: dict[str, str]
    text: str
    packed: int
    links: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        """The page's text as it is read."""
        return " ".join(_Reader.of(self.text).words)

    def link(self, part: str) -> str:
        """The first link whose address has this part."""
        return next(link for link in self.links if part in link)


class _Reader(HTMLParser):
    SILENT: ClassVar = {"script", "style"}

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._silent = False

    @classmethod
    def of(cls, text: str) -> "_Reader":
        reader = cls()
        reader.feed(text)
        return reader

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent = tag in self.SILENT
        self.elements.append((tag, dict(attrs)))
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words += data.split()


@dataclass
class Visitor:
    """A browser without eyes."""

    base: str
    process: "subprocess.Popen[str]"

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Ask for a page."""
        place = urlsplit(self.base)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers={"Accept-Encoding": "gzip"} | named)
            response = connection.getresponse()
            raw = response.read()
        finally:
            connection.close()
        known = {name.lower(): value for name, value in response.getheaders()}
        text = gzip.decompress(raw) if known.get("content-encoding") == "gzip" else raw
        page = text.decode()
        return Answer(response.status, known, page, len(raw), _Reader.of(page).links)


def elements_of(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """All elements with their attributes."""
    return _Reader.of(page).elements
