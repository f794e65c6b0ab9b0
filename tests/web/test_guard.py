"""What visitors cannot do, and what they see when ACADEMY does not answer."""

import asyncio
import socket
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.datastructures import QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from academy.service.server import ServerSettings
from academy.v1 import contests_pb2
from academy.wire.addresses import ServerAddress
from tests.academy.service.examples import contest
from tests.academy.service.running import Running, serving
from tests.waiting import until
from tests.web.conftest import served_pages
from tests.web.filling import GO, HEX
from tests.web.visiting import Visitor
from web.failures import PageError
from web.guard import Guard
from web.query import Query
from web.rendering import Sections, render_error
from web.settings import WebLimits, WebSettings


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_pages_can_only_be_read(pages: Visitor, method: str) -> None:
    answer = pages.get("/", method)

    assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD"
    assert "content-security-policy" in answer.headers


def test_a_head_is_the_page_without_its_content(pages: Visitor) -> None:
    answer = pages.get("/", "HEAD", accept_encoding="identity")

    assert answer.status == 200 and answer.text == "" and int(answer.headers["content-length"]) > 1_000


@pytest.mark.threat("access")
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""])
def test_another_name_for_this_machine_is_refused(pages: Visitor, host: str) -> None:
    answer = pages.get("/", host=host)

    assert answer.status == 421 and "go-5x5" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080", "[::1]"])
def test_this_machines_own_names_are_taken(pages: Visitor, host: str) -> None:
    assert pages.get("/", host=host).status == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/static/x/nothing.js", 404),
        ("/static/x/..%2f..%2fapp.py", 404),
        ("/games/no-such-game", 404),
        ("/games/%3Cscript%3E", 404),
        ("/games/" + "a" * 65, 404),
        (f"/games/{GO}/patterns/opening/1", 404),
        (f"/games/{GO}/patterns/endgame/x", 404),
        (f"/games/{GO}/patterns/endgame/99999", 404),
        (f"/games/{GO}/patterns?library=opening", 400),
        (f"/games/{GO}/patterns?order=strength", 400),
        (f"/games/{GO}/patterns?page=nonsense", 400),
        (f"/games/{GO}/patterns?min_value=nan", 400),
        (f"/games/{GO}/patterns?min_elo=1e999", 400),
        (f"/games/{GO}/patterns?min_elo=1_000", 400),
        (f"/games/{GO}/patterns?min_elo=1000.{'0' * 40}x", 400),
        (f"/games/{GO}/patterns?min_elo=abc&min_elo=0", 400),
        (f"/games/{GO}/patterns?player=3", 400),
        (f"/games/{GO}/openings?player=0", 400),
        (f"/games/{GO}/openings?m=", 400),
        (f"/games/{GO}/openings?{'m=A1&' * 401}", 400),
        (f"/games/{GO}/openings?m={'A' * 1025}", 400),
        (f"/games/{GO}/position?board=xyz", 400),
        (f"/games/{GO}/position?board={'-' * 24}q", 400),
        (f"/games/{GO}/position?show=-1&board={'-' * 25}", 400),
        ("/?sort=nonsense", 400),
        ("/?other=1", 400),
        (f"/?sort={'a' * 9_000}", 414),
    ],
)
def test_addresses_that_lead_nowhere_have_a_page_and_the_right_status(
    pages: Visitor, path: str, status: int
) -> None:
    answer = pages.get(path)

    assert answer.status == status, answer.words
    assert "Traceback" not in answer.text and answer.headers["content-type"].startswith("text/html")
    assert "content-security-policy" in answer.headers


def test_many_digits_that_are_not_a_number_hold_up_nobody() -> None:
    # Where digits can be read in two ways this takes many minutes.
    query = Query(QueryParams({"elo": "1" * 200_000 + "x"}), ("elo",), longest=262_144)
    with pytest.raises(PageError, match="is not a number"):
        query.number("elo", 0, 1)


@pytest.mark.parametrize("text", ["1", "1.", "1.5", ".5", "+1e0", "1.5E-3"])
def test_numbers_are_read_as_people_write_them(text: str) -> None:
    assert Query(QueryParams({"elo": text}), ("elo",)).number("elo", 0, 2) == float(text)


def test_files_are_kept_by_browsers_for_as_long_as_they_are_the_same(pages: Visitor) -> None:
    style = next(part for part in pages.get("/").text.split('"') if part.endswith("site.css"))
    answer = pages.get(style)

    assert answer.status == 200 and "immutable" in answer.headers["cache-control"]
    assert pages.get("/").headers["cache-control"] == "no-store"


def test_a_request_head_without_end_is_refused(pages: Visitor) -> None:
    place = urlsplit(pages.base)
    with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
        answer = connection.recv(4_096)
    assert answer.startswith(b"HTTP/1.1 4") and pages.get("/").status == 200


class TestTokens:
    def test_a_bots_token_shows_what_a_bot_may_see_and_no_openings_of_what_it_plays(
        self, academy: Running
    ) -> None:
        token = academy.token("a-bot")
        arena = academy.arena().contests
        played = contest("at-the-board", GO, ("a-bot", "bob"), (1500.0, 1500.0))
        with served_pages("--academy", academy.address, token=token) as visitor:
            game, gallery = visitor.get(f"/games/{GO}"), visitor.get(f"/games/{GO}/patterns")
            assert visitor.get("/").status == visitor.get(f"/games/{GO}/openings").status == 200
            assert game.status == 200 and "Latest contests" in game.words
            assert gallery.status == 403 and "admin" in gallery.words
            assert all(token not in answer.text for answer in (game, gallery))

            assert "Newest contests here" in visitor.get(f"/games/{GO}/openings?elo=0").words
            arena.OpenContest(contests_pb2.OpenContestRequest(contest=played))
            refused = visitor.get(f"/games/{GO}/openings")
            arena.ReportContest(contests_pb2.ReportContestRequest(contest=played, void=True))
            assert refused.status == 400 and "until it is reported" in refused.words
            assert "Newest contests here" not in refused.words
            assert visitor.get(f"/games/{HEX}/openings").status == 200
            assert visitor.get(f"/games/{GO}/openings").status == 200

    def test_a_wrong_token_is_the_pages_fault_and_not_the_visitors(self, academy: Running) -> None:
        with served_pages("--academy", academy.address, token="wrong") as visitor:
            answer = visitor.get("/")
            assert answer.status == 502 and "does not accept the token" in answer.words


def test_without_academy_pages_say_so_and_come_back_with_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    with serving(tmp_path / "data") as running:
        token = running.token("admin")
    with served_pages("--academy", address, token=token) as visitor:
        answer = visitor.get("/")
        assert answer.status == 503 and "ACADEMY is away" in answer.words
        assert int(answer.headers["retry-after"]) > 0 and "Traceback" not in answer.text
        with serving(tmp_path / "data", ServerSettings(address=ServerAddress.parse(address))):
            # gRPC waits a second and more before it connects again.
            until(lambda: visitor.get("/").status == 200)


async def _fails(scope: Scope, receive: Receive, send: Send) -> None:
    raise PageError(400, "This is wrong", "A reason.")


async def _never_ends(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(3_600)


async def visit(guard: Guard, path: str, sent: list[Message]) -> None:
    """Ask for a page, and note what is sent."""

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    method = "POST" if path.startswith("/actions/") else "GET"
    scope = {"type": "http", "method": method, "path": path, "query_string": b""}
    await guard({**scope, "headers": [(b"host", b"localhost")]}, receive, send)


@pytest.mark.parametrize(("page", "status"), [(_fails, 400), (_never_ends, 504)])
def test_pages_that_fail_or_never_end_have_an_answer(page: ASGIApp, status: int) -> None:
    limits = WebLimits(page_seconds=0.05)
    settings = WebSettings(ServerAddress.parse("127.0.0.1:0"), limits=limits)
    guard = Guard(page, settings, render_error, Sections())
    sent: list[Message] = []
    asyncio.run(visit(guard, "/", sent))

    assert sent[0]["status"] == status
    assert b"content-security-policy" in dict(sent[0]["headers"])


@pytest.mark.parametrize(
    ("paths", "at_once", "why"),
    [
        (["/events", "/competition/events", "/competition/game/events"], 2, "2 at a time for pages that"),
        (["/", "/static/x/site.css"], 3, "3 at a time for pages."),
        (["/actions/sign-in", "/actions/sign-out"], 1, "1 at a time for forms."),
    ],
)
def test_visitors_who_come_together_get_no_more_places_than_there_are_and_leave_them_to_others(
    paths: list[str], at_once: int, why: str
) -> None:
    limits = WebLimits(connections=3, forms=1, watchers=2)
    settings = WebSettings(ServerAddress.parse("127.0.0.1:0"), limits=limits)
    leaving = asyncio.Event()
    sent: list[Message] = []

    async def open_page(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})
        await leaving.wait()

    guard = Guard(open_page, settings, render_error, Sections())

    async def visit_all() -> Counter[int]:
        for _ in range(2):
            sent.clear()
            leaving.clear()
            # The others have their own places.
            others = "/events" if "/" in paths else "/"
            visits = [asyncio.create_task(visit(guard, path, sent)) for path in [*paths, *paths, others]]
            async with asyncio.timeout(60):
                while sum("status" in message for message in sent) < len(visits):
                    await asyncio.sleep(0)
            leaving.set()
            await asyncio.gather(*visits)
        return Counter(message["status"] for message in sent if "status" in message)

    assert asyncio.run(visit_all()) == {200: at_once + 1, 503: 2 * len(paths) - at_once}
    assert why in b"".join(message.get("body", b"") for message in sent).decode()
