"""Who may sign in, what a session is good for, and which forms are taken."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast
from urllib.parse import urlencode

import pytest
from starlette.requests import Request

from academy.service.server import ServerSettings
from academy.store.tokens import CreateToken, RevokeToken, Role, tokens
from academy.v1 import contests_pb2
from academy.wire.addresses import ServerAddress
from tests.academy.service.examples import contest
from tests.academy.service.running import Running, serving
from tests.web.conftest import served_pages
from tests.web.filling import GO, HOSTILE_NAME, fill_little
from tests.web.visiting import Answer, SignedIn, Visitor, elements_of, send_form
from web.failures import PageError
from web.forms import read_form
from web.sessions import Holder, Notice, Session, Sessions
from web.settings import WebSettings
from web.sign_in import SignIn, local_address


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose tokens and libraries this module changes."""
    folder = tmp_path_factory.mktemp("own")
    settings = ServerSettings(address=ServerAddress.parse("127.0.0.1:0"), backups=folder / "backups")
    with serving(folder / "data", settings) as running:
        fill_little(running)
        yield running


@pytest.fixture(scope="module")
def open_pages(own: Running) -> Iterator[Visitor]:
    """Pages that everybody on this machine reads."""
    with served_pages("--academy", own.address, token=own.token("pages", Role.ADMIN)) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def members_pages(own: Running) -> Iterator[Visitor]:
    """Pages that ask each visitor for a token, behind a proxy, and have no token themselves."""
    with served_pages("--academy", own.address, "--sign-in", "--behind-proxy") as visitor:
        yield visitor


class ThroughProxy(Visitor):
    """What a proxy that speaks TLS passes on."""

    def get(self, path: str, method: str = "GET", content: str | None = None, **headers: str) -> Answer:
        """Ask under the name of the proxy."""
        if "origin" in headers:
            headers["origin"] = "https://games.example.org"
        return super().get(path, method, content, host="games.example.org", **headers)


@pytest.mark.threat("sessions")
def test_a_session_begins_and_ends_and_its_cookie_is_for_these_pages_alone(
    own: Running, open_pages: Visitor
) -> None:
    admin = SignedIn(open_pages, own.token("admin", Role.ADMIN), "/admin/tokens")
    attributes = {part.strip().lower() for part in admin.answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= attributes
    assert admin.answer.headers["location"] == "/admin/tokens"
    assert admin.get("/admin").status == 200
    assert open_pages.get("/admin").headers["location"] == "/sign-in?next=%2Fadmin"
    again = SignedIn(open_pages, own.token("admin", Role.ADMIN))
    assert again.cookie != admin.cookie
    assert admin.send("sign-out").headers["location"] == "/sign-in"
    assert admin.get("/admin").status == 303 and again.get("/admin").status == 200


@pytest.mark.threat("sessions")
def test_behind_a_proxy_the_cookie_is_sent_over_tls_alone(own: Running, members_pages: Visitor) -> None:
    pages = ThroughProxy(members_pages.base, members_pages.process)
    reader = SignedIn(pages, own.token("reader"))
    assert reader.cookie.startswith("__Host-academy=") and "Secure" in reader.answer.headers["set-cookie"]
    # Without the proxy, in the clear, no form is taken.
    assert SignedIn(members_pages, own.token("reader")).answer.status == 403


@pytest.mark.threat("sessions")
def test_signing_in_leads_to_these_pages_alone() -> None:
    assert local_address("/admin?x=1") == "/admin?x=1"
    strange = (
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/\nx",
        "/ x",
    )
    assert [local_address(text) for text in strange] == [""] * len(strange)


@pytest.mark.threat("sessions")
@pytest.mark.parametrize(
    "token", ["", "guess", "acd_0123456789abcdef_" + "A" * 43, "acdt_YQ.1." + "A" * 43, "ü", "x" * 600]
)
def test_a_text_that_is_not_a_token_lets_nobody_in(open_pages: Visitor, token: str) -> None:
    answer = SignedIn(open_pages, token).answer
    assert answer.status == 403 and "set-cookie" not in answer.headers
    assert 'role="alert"' in answer.text and (not token or token not in answer.text)


@pytest.mark.threat("sessions")
def test_tries_are_counted_by_the_address_that_the_proxy_saw(own: Running, members_pages: Visitor) -> None:
    pages = ThroughProxy(members_pages.base, members_pages.process)

    def tried(token: str, address: str) -> Answer:
        return send_form(pages, "sign-in", {"token": token}, x_forwarded_for=f"{len(token)}.1.1.1, {address}")

    answers = [tried("wrong" * (number + 1), "198.51.100.7") for number in range(12)]
    assert [answer.status for answer in answers[:10]] == [403] * 10
    assert answers[11].status == 429 and int(answers[11].headers["retry-after"]) > 0
    # Nobody else waits for that, and who has a token is not counted.
    assert [tried(own.token("reader"), "198.51.100.8").status for _ in range(12)] == [303] * 12
    # As a proxy that listens on `::` sees addresses of the fourth version.
    mapped = [tried("wrong", "::ffff:203.0.113.7").status for _ in range(11)]
    assert mapped[-1] == 429
    assert tried("wrong", "::ffff:203.0.113.8").status == 403
    # Some proxies write the port of each connection, or a name.
    for one_visitor, another in (
        ("203.0.113.9:{}", "203.0.113.10:1"),
        ("[2001:db8::7]:{}", "[2001:db8:1::7]:1"),
        ("unknown", "hidden"),
    ):
        statuses = [tried("wrong", one_visitor.format(4_711 + number)).status for number in range(11)]
        assert statuses[-1] == 429 and tried("wrong", another).status == 403


def test_an_address_that_is_too_long_to_come_back_to_can_still_be_signed_in_for(
    members_pages: Visitor,
) -> None:
    pages = ThroughProxy(members_pages.base, members_pages.process)
    answer = pages.get(f"/games/{GO}/openings?" + "&".join(["m=C3"] * 900))
    assert answer.status == 303 and pages.get(answer.headers["location"]).status == 200


def test_tries_while_academy_is_away_are_not_wrong_tokens() -> None:
    with served_pages("--academy", "127.0.0.1:1", "--sign-in") as visitor:
        token = "acd_0123456789abcdef_" + "A" * 43
        assert {SignedIn(visitor, token).answer.status for _ in range(12)} == {503}


def test_the_page_for_unknown_addresses_knows_who_is_signed_in(own: Running, open_pages: Visitor) -> None:
    admin = SignedIn(open_pages, own.token("admin", Role.ADMIN))
    missing = admin.get("/nowhere")
    assert missing.status == 404 and "/admin" in missing.links and "/sign-in" not in missing.links


@pytest.mark.threat("sessions")
def test_no_form_from_elsewhere_is_taken(own: Running, open_pages: Visitor) -> None:
    admin = SignedIn(open_pages, own.token("admin", Role.ADMIN))
    fields = {"form_key": admin.form_key, "name": "forged", "role": "bot"}
    port = open_pages.base.rpartition(":")[2]
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": f"http://localhost:{port}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ):
        for action in ("create-token", "sign-in", "sign-out"):
            answer = send_form(open_pages, action, fields, cookie=admin.cookie, **headers)
            assert answer.status == 403 and "not sent from these pages" in answer.words
    for key in ("", "x" * 32, SignedIn(open_pages, own.token("admin", Role.ADMIN)).form_key):
        assert (
            send_form(open_pages, "create-token", fields | {"form_key": key}, cookie=admin.cookie).status
            == 403
        )
    assert send_form(open_pages, "create-token", fields).status == 403
    assert "forged" not in {token.name for token in own.store.read(tokens)}
    assert admin.get("/admin").status == 200


def test_forms_have_limits_and_wrong_ones_say_what_is_wrong(own: Running, open_pages: Visitor) -> None:
    admin = SignedIn(open_pages, own.token("admin", Role.ADMIN))
    for fields, status, words in (
        ({"other": "1"}, 400, "no such parameter"),
        ({"name": "x", "role": "admin"}, 400, "none of bot"),
        ({"name": "x", "days": "0"}, 400, "not a whole number"),
        ({"name": " "}, 400, "must be 1 to 128"),
        ({"name": "x" * 300_000}, 413, "262,144 bytes"),
        ({"name": ["x"] * 600}, 400, "too many fields"),
    ):
        answer = admin.send("create-token", **fields)
        assert answer.status == status and words in answer.words, answer.words
    # What was written comes back to be corrected, and can be sent again from there.
    answer = admin.send("create-token", name="kept", role="analyst", days="many")
    inputs = [known for tag, known in elements_of(answer.text) if tag == "input"]
    again = {str(known["name"]): known["value"] for known in inputs}
    assert (again["name"], again["role"], again["days"]) == ("kept", "analyst", "many")
    assert [known["name"] for known in inputs if known.get("aria-invalid")] == ["days"]
    assert "kept, shown only now" in admin.do("create-token", **again | {"days": "7"}).words
    as_json = send_form(open_pages, "create-token", {}, cookie=admin.cookie, content_type="application/json")
    assert as_json.status == 415
    assert admin.get("/actions/create-token").status == 405
    assert admin.send("nonsense").status == 404
    assert open_pages.get("/admin", "POST").status == 405


def test_a_visitor_who_leaves_while_it_sends_a_form_is_not_a_failure_of_the_page() -> None:
    async def leave() -> dict[str, str]:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "headers": [(b"content-type", b"application/x-www-form-urlencoded")]}
    settings = WebSettings(ServerAddress.parse("127.0.0.1:0"))
    with pytest.raises(PageError, match="did not arrive"):
        asyncio.run(read_form(Request(scope, leave), (), settings))


@pytest.mark.threat("sessions")
def test_a_role_does_on_the_pages_what_it_may_do_over_grpc(own: Running, open_pages: Visitor) -> None:
    played = contest("roles/1", GO, ("roland", "olive"), (1500.0, 1500.0))
    ticket = own.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
    assert "is a ticket" in SignedIn(open_pages, ticket).answer.words
    bot = SignedIn(open_pages, own.token("teacher-1"))
    for path in (
        "/admin",
        "/admin/tokens",
        "/admin/events",
        f"/games/{GO}/admin",
        f"/games/{GO}/admin/prune",
    ):
        assert bot.get(path).status == 403
    assert bot.send("mute-player", player="teacher-2").status == 403
    assert bot.send("create-backup").status == 403
    mine = bot.get("/player")
    assert mine.status == 200 and "taught/1" in mine.words and "Mute" not in mine.words
    assert re.findall(r'<tr><th scope="row"><a href="/games/([^"]+)"', mine.text) == [GO]
    # The verdict, and the rule that decided.
    assert any(word in mine.words for word in ("Inserted", "Matched", "Generalised"))
    assert bot.get("/player?name=teacher-2").status == 403
    assert "teacher-1" in bot.get("/").words and 'href="/admin"' not in bot.get("/").text
    admin = SignedIn(open_pages, own.token("admin", Role.ADMIN))
    hostile = admin.get(f"/player?{urlencode({'name': HOSTILE_NAME})}")
    assert hostile.status == 200 and "<script>alert" not in hostile.text and "Inserted" in hostile.words


@pytest.mark.threat("sessions")
def test_a_revoked_token_ends_what_its_session_could_do(own: Running, members_pages: Visitor) -> None:
    pages = ThroughProxy(members_pages.base, members_pages.process)
    token, secret = own.store.run(CreateToken("short lived", Role.BOT))
    reader = SignedIn(pages, secret)
    assert reader.get(f"/games/{GO}").status == 200
    own.store.run(RevokeToken(token.token_id))
    refused = reader.get(f"/games/{GO}")
    assert refused.status == 403 and "no longer accepts your token" in refused.words


@pytest.mark.threat("sessions")
def test_members_read_as_their_tokens_may_and_strangers_nothing(own: Running, members_pages: Visitor) -> None:
    pages = ThroughProxy(members_pages.base, members_pages.process)
    for path in ("/", f"/games/{GO}", f"/games/{GO}/openings?m=A1", "/account"):
        answer = pages.get(path)
        assert answer.status == 303 and answer.headers["location"].startswith("/sign-in?next=%2F")
        assert GO not in answer.text
    reader, admin = SignedIn(pages, own.token("reader")), SignedIn(pages, own.token("admin", Role.ADMIN))
    assert reader.get(f"/games/{GO}/openings").status == 200
    refused = reader.get(f"/games/{GO}/patterns")
    assert refused.status == 403 and "for the role admin; your token has the role bot" in refused.words
    # What a token does not open is not offered either.
    for path in (f"/games/{GO}", f"/games/{GO}/openings"):
        assert not [link for link in reader.get(path).links if "/patterns" in link]
        assert [link for link in admin.get(path).links if link.endswith("/patterns")]
    assert admin.get(f"/games/{GO}/patterns").status == 200
    # The figures that an admin's token brought are not another's.
    rated = ">Elo</th>"
    assert rated in admin.get(f"/games/{GO}").text and rated not in reader.get(f"/games/{GO}").text
    # Who plays a game reads nothing of it meanwhile.
    played = contest("members/1", GO, ("reader", "olive"), (1500.0, 1500.0))
    assert "Latest contests" in reader.get(f"/games/{GO}").words
    own.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
    assert reader.get(f"/games/{GO}/openings").status == 400
    assert "Latest contests" not in reader.get(f"/games/{GO}").words


@pytest.mark.threat("access")
@pytest.mark.threat("sessions")
def test_a_token_is_in_no_page_address_or_log_but_once_when_it_is_made(own: Running, tmp_path: Path) -> None:
    secret, of_the_pages = own.token("admin", Role.ADMIN), own.token("pages", Role.ADMIN)
    file = tmp_path / "token"
    file.write_text(of_the_pages)
    with served_pages("--academy", own.address, "--academy-token-file", file) as visitor:
        admin = SignedIn(visitor, secret)
        shown = admin.do("create-token", name="fresh", role="bot", days="2")
        made = next(word for word in shown.words.split() if word.startswith("acd_"))
        assert made not in admin.get("/admin/tokens").text
        paths = (
            "/account",
            "/admin",
            "/admin/tokens",
            "/player",
            "/sign-in",
            "/",
            f"/games/{GO}",
            "/nowhere",
        )
        answers = [admin.get(path) for path in paths]
        answers += [visitor.get(path) for path in ("/", f"/games/{GO}", "/nowhere")]
        texts = [answer.text + str(answer.headers) for answer in (*answers, admin.answer)]
        assert SignedIn(visitor, made).answer.status == 303
        visitor.process.terminate()
        texts += visitor.process.communicate(timeout=120)
    assert visitor.process.returncode == 0
    assert not any(token in text for text in texts for token in (secret, of_the_pages, made))


def test_a_token_that_is_shown_once_waits_for_its_own_page() -> None:
    session = Session()
    session.note(Notice("done"))
    session.note(Notice("a token", secret="acd_1", page="/admin/tokens"))
    assert [notice.text for notice in session.take_notices("/games/go-9x9")] == ["done"]
    assert [notice.text for notice in session.take_notices("/admin/tokens")] == ["a token"]
    assert not session.take_notices("/admin/tokens")


class Refusing:
    """A service that fails whenever it is asked whose token it is."""

    def __init__(self, status: int) -> None:
        self.status, self.service = status, SimpleNamespace(GetCaller=None)

    async def ask(self, *_: object) -> NoReturn:
        raise PageError(self.status, "No", "For a reason.")


@pytest.mark.parametrize(("arena", "watches_on"), [(403, False), (503, True)])
def test_a_revoked_token_ends_what_its_holder_follows_while_the_other_service_is_away(
    arena: int, watches_on: bool
) -> None:
    now = [100.0]
    sessions = Sessions(lambda: now[0])
    academy, watched = (Holder("eve", "watcher", cast(Any, Refusing(status))) for status in (503, arena))
    cookie = sessions.open(Session(academy, watched))
    settings = WebSettings(ServerAddress.parse("127.0.0.1:0"), members=True)
    sign_in = SignIn(settings, None, None, sessions)
    request = Request({"type": "http", "headers": [(b"cookie", f"academy={cookie}".encode())]})
    assert asyncio.run(sign_in.lets_in(request))
    now[0] += 61
    assert asyncio.run(sign_in.lets_in(request)) is watches_on
    assert (sessions.known(cookie) is not None) is watches_on


def test_sessions_end_by_the_clock_and_one_holder_has_few() -> None:
    now = [100.0]
    sessions = Sessions(lambda: now[0])
    cookies = []
    for _ in range(25):
        now[0] += 1
        cookies.append(sessions.open(Session()))
    assert len(sessions) == 20 and sessions.find(cookies[4]) is None
    assert sessions.find(cookies[-1]) is not None and sessions.find("guess") is None
    for _ in range(11):
        now[0] += 3_600
        assert sessions.find(cookies[-1]) is not None
    assert sessions.find(cookies[-2]) is None
    now[0] += 3_600
    assert sessions.find(cookies[-1]) is None
