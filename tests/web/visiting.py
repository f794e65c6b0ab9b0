"""A visitor of the pages over real HTTP."""

import gzip
import http.client
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import ClassVar
from urllib.parse import urlencode, urlsplit


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

    def get(self, path: str, method: str = "GET", content: str | None = None, **headers: str) -> Answer:
        """Ask for a page, or send something."""
        place = urlsplit(self.base)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, content, headers={"Accept-Encoding": "gzip"} | named)
            response = connection.getresponse()
            raw = response.read()
        finally:
            connection.close()
        known = {name.lower(): value for name, value in response.getheaders()}
        text = gzip.decompress(raw) if known.get("content-encoding") == "gzip" else raw
        page = text.decode()
        return Answer(response.status, known, page, len(raw), _Reader.of(page).links)


class SignedIn:
    """A visitor with a session, whose forms come from the pages."""

    def __init__(self, visitor: Visitor, token: str, following: str = "") -> None:
        self.visitor = visitor
        self.cookie = self.form_key = ""
        self.answer = self.send("sign-in", token=token, next=following)
        if self.answer.status == 303:
            self.cookie = self.answer.headers["set-cookie"].partition(";")[0]
            # The button that ends the session has the key.
            page = elements_of(self.get("/account").text)
            fields = (known for tag, known in page if tag == "input" and known.get("name") == "form_key")
            self.form_key = next(fields)["value"] or ""

    def get(self, path: str) -> Answer:
        """Ask for a page."""
        return self.visitor.get(path, cookie=self.cookie)

    def send(self, action: str, **fields: object) -> Answer:
        """Send a form."""
        return send_form(self.visitor, action, {"form_key": self.form_key, **fields}, cookie=self.cookie)

    def do(self, action: str, **fields: object) -> Answer:
        """Send a form, and look at the page that it leads to."""
        answer = self.send(action, **fields)
        assert answer.status == 303, answer.words
        return self.get(answer.headers["location"])


def send_form(visitor: Visitor, action: str, fields: Mapping[str, object], **headers: str) -> Answer:
    """Send a form as a browser does that shows these pages."""
    known = {"origin": visitor.base, "content_type": "application/x-www-form-urlencoded", **headers}
    filled = {name: value for name, value in fields.items() if name != "form_key" or value}
    return visitor.get(f"/actions/{action}", "POST", urlencode(filled, doseq=True), **known)


def elements_of(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """All elements with their attributes."""
    return _Reader.of(page).elements
