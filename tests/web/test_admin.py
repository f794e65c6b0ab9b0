"""Admins and operators at work on the pages: in a real browser, by keys, and what each action leads to."""

import http.client
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from academy.service.server import ServerSettings
from academy.store.maintenance.backup import restore
from academy.store.tokens import Role
from academy.v1 import libraries_pb2, pattern_pb2
from academy.wire.addresses import ServerAddress
from tests.academy.service.examples import contest, report
from tests.academy.service.running import Running, serving
from tests.arena.control_files import RANDOM, write_control
from tests.arena.service.serving import Service
from tests.chromium import needs_browser
from tests.waiting import until
from tests.web.conftest import ENVIRONMENT, Watched, served_pages
from tests.web.filling import GO, HOSTILE_NAME, fill_little
from tests.web.visiting import SignedIn, Visitor

CUP = "rounds = 500"
UNHURRIED = 'protocol = "python"\ncommand = "tests.arena.engines:unhurried"'


@dataclass
class Place:
    """Pages of a server and an arena of this module's own."""

    visitor: Visitor
    academy: Running
    folder: Path
    arena: tuple[str, ...]
    tokens: Mapping[str, str]

    @property
    def admin(self) -> str:
        """An admin's token."""
        return self.academy.token("admin", Role.ADMIN)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    (folder / "arena").mkdir()
    write_control(folder / "arena", {"one": RANDOM, "two": RANDOM}, competition=CUP).rename(
        folder / "arena" / "cup.toml"
    )
    settings = ServerSettings(address=ServerAddress.parse("127.0.0.1:0"), backups=folder / "backups")
    with (
        serving(folder / "data", settings) as academy,
        closing(Service(folder / "arena", environment=ENVIRONMENT)) as service,
    ):
        fill_little(academy)
        (folder / "eye").write_text(service.tokens["eye"])
        arena = ("--arena", service.address, "--arena-token-file", str(folder / "eye"))
        pages = academy.token("pages", Role.ADMIN)
        with served_pages("--academy", academy.address, *arena, token=pages) as visitor:
            yield Place(visitor, academy, folder, arena, service.tokens)


@pytest.fixture(scope="module")
def members(place: Place) -> Iterator[Visitor]:
    """The same for who signs in alone."""
    with served_pages("--academy", place.academy.address, *place.arena, "--sign-in") as visitor:
        yield visitor


@pytest.fixture
def wide(browser: Browser, place: Place) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1400, "height": 850})
    watched = Watched(context.new_page(), place.visitor.base)
    yield watched
    context.close()
    watched.check_behaviour()


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    """Go to an element by the Tab key, and press a key there."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            page.keyboard.press(key)
            return
    raise AssertionError(f"{wanted} is not reached by Tab")


def sign_in(page: Page, token: str) -> None:
    page.locator("#token").fill(token)
    page.keyboard.press("Enter")
    page.wait_for_url("**/account")


@needs_browser
def test_an_admin_prunes_by_keys_sees_before_what_goes_and_takes_it_back(wide: Watched, place: Place) -> None:
    page = wide.open("/sign-in")
    press(page, page.locator("#token"), "End")
    page.keyboard.type(place.admin)
    page.keyboard.press("Enter")
    page.wait_for_url("**/account")
    press(page, page.get_by_role("link", name="Admin").last)
    press(page, page.get_by_role("link", name=GO))
    below = page.locator("#below")
    press(page, below, "Control+a")
    page.keyboard.type("1000000")
    page.keyboard.press("Enter")
    page.wait_for_url("**/prune?**")
    shown = page.locator(".gallery svg").count()
    assert shown > 0 and f"{shown} patterns of the endgame library would go" in page.inner_text("main")
    listing = f"{place.visitor.base}/games/{GO}/patterns?library=endgame"
    assert wide.page.request.get(listing).text().count("Pattern ") >= shown
    press(page, page.get_by_role("button", name=f"Remove {shown}"))
    page.wait_for_url(f"**/games/{GO}/admin")
    expect(page.locator(".notice")).to_contain_text(f"pruning removed {shown} records")
    assert "This library is empty" in wide.page.request.get(listing).text()
    press(page, page.get_by_role("button", name="Undo"))
    expect(page.locator(".notice")).to_contain_text(f"{shown} patterns and 0 positions came back")
    page.reload()
    assert page.locator(".notice").count() == 0


@needs_browser
def test_pages_of_admins_and_operators_are_accessible_and_as_wide_as_the_screen(
    browser: Browser, place: Place
) -> None:
    settings = f"/games/{GO}/admin"
    of_both = (
        "/admin/tokens",
        settings,
        f"{settings}/prune?library=opening&below=1",
        "/player?name=teacher-1",
        "/competition?name=cup",
    )
    of_one = (
        "/account",
        "/admin",
        "/admin/events",
        f"{settings}/change?endgame_capacity=1&prune_below=0.2",
        f"/games/{GO}/patterns/endgame/1",
        f"/games/{GO}/tesujis",
        f"/player?{urlencode({'name': HOSTILE_NAME})}",
        "/competitions/upload",
        "/sign-in",
    )
    for width, theme, paths in ((390, "light", of_both + of_one), (1400, "dark", of_both)):
        context = browser.new_context(
            viewport={"width": width, "height": 850}, color_scheme="light" if theme == "light" else "dark"
        )
        watched = Watched(context.new_page(), place.visitor.base)
        for token in (place.admin, place.tokens["me"]):
            watched.open("/sign-in")
            sign_in(watched.page, token)
        assert "admin and me" in watched.page.inner_text("h1")
        for path in paths:
            page = watched.open(path)
            page.evaluate("for (const hidden of document.querySelectorAll('details')) hidden.open = true")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is too wide"
            report = Axe().run(page)
            assert not report.violations_count, f"{path}: {report.generate_report()}"
        context.close()
        watched.check_behaviour()


@needs_browser
def test_the_first_page_shows_what_is_learnt_while_it_is_open(wide: Watched, place: Place) -> None:
    page = wide.open("/")
    assert "newcomer" not in page.inner_text("#news")
    played = contest("news/1", GO, ("newcomer", "bob"))
    place.academy.arena().contests.ReportContest(report(played, ["C3"], first="WIN"))
    expect(page.locator("#news")).to_contain_text("newcomer won")


@needs_browser
def test_an_operator_sends_a_control_file_and_stops_what_it_started(wide: Watched, place: Place) -> None:
    wide.open("/sign-in")
    sign_in(wide.page, place.tokens["me"])
    page = wide.open("/competitions")
    page.get_by_role("link", name="New competition").click()
    page.wait_for_url("**/upload")
    # Other players would play hundreds of games before it is stopped.
    control = place.folder / "cup.toml"
    control.write_text((place.folder / "arena" / "cup.toml").read_text().replace(RANDOM, UNHURRIED))
    page.locator("#file").set_input_files(control)
    expect(page.locator("#control")).to_have_value(re.compile(r"\[competition\]"))
    expect(page.locator("#name")).to_have_value("cup")
    page.locator("#name").fill("sent/again")
    page.get_by_role("button", name="Send and start").click()
    page.wait_for_url("**/competition?name=sent**")
    # What the run writes at its end may be a notice, too.
    expect(page.locator(".notice[role=status]")).to_contain_text("sent/again is started")
    page.get_by_text("Stop at once").click()
    page.get_by_role("button", name="Interrupt and stop").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("is stopped")
    page.get_by_text("Start", exact=True).click()
    assert page.get_by_role("button", name="Start sent/again").is_visible()


def test_a_competition_is_started_for_some_games_by_operators_alone(place: Place) -> None:
    operator, watcher = (SignedIn(place.visitor, place.tokens[name]) for name in ("me", "eye"))
    assert watcher.send("start-competition", name="cup").status == 403
    assert "Start" not in watcher.get("/competition?name=cup").words.split()
    started = operator.do("start-competition", name="cup", max_games=2)
    assert "cup is started" in started.words
    refused = operator.send("start-competition", name="cup", control="[competition]\nkind = 'swiss'\n")
    assert refused.status == 409 and "already" in refused.words
    assert operator.send("stop-competition", name="nowhere").status == 404
    assert operator.send("start-competition", name="../x", control="x").status == 400


def test_each_change_says_what_it_did_and_can_be_taken_back(place: Place) -> None:
    admin = SignedIn(place.visitor, place.admin)
    settings = f"/games/{GO}/admin"
    lowered = admin.get(f"{settings}/change?endgame_capacity=1")
    assert "The weakest 2 leave at once" in lowered.words and "Change 1 setting" in lowered.words
    # What ACADEMY refuses the preview refuses too; what is so already is not a change.
    refused = admin.get(f"{settings}/change?opening_plies_ahead=7")
    assert refused.status == 400 and "opening_plies_ahead 7: it must be from 0 to 6" in refused.words
    same = admin.do("change-settings", game_id=GO, opening_plies_ahead=0)
    assert "these values already" in same.words and "Undo" not in same.words
    done = admin.do("change-settings", game_id=GO, endgame_capacity=1)
    assert "endgame_capacity is 1, it was 5000" in done.words and "2 records were removed" in done.words
    assert "5000" in admin.do("change-settings", game_id=GO, endgame_capacity=5_000).words
    removal = done.text.partition('name="removal" value="')[2].partition('"')[0]
    assert (
        "2 patterns and 0 positions came back"
        in admin.do("restore-removal", game_id=GO, removal=removal).words
    )

    muted = admin.do("mute-player", player="teacher-1")
    assert "teacher-1 is muted" in muted.words and "Unmute" in muted.words
    assert "teacher-1" in admin.get("/admin").words
    assert "may propose again" in admin.do("unmute-player", player="teacher-1").words
    assert admin.send("mute-player", player="nobody at all").status == 400

    pattern = {"game_id": GO, "library": "endgame", "pattern_id": 1}
    assert "pattern 1 is deleted" in admin.do("delete-pattern", **pattern).words
    assert admin.get(f"/games/{GO}/patterns/endgame/1").status == 404
    # The log has what was done, by whom, and the way back.
    log = admin.get("/admin/events")
    assert "pattern deleted: number 1" in log.words and "admin" in log.words
    assert "settings changed: endgame_capacity=1" in log.words
    assert 'action="/actions/restore-pattern"' in log.text
    assert "pattern 1 is back" in admin.do("restore-pattern", **pattern).words
    # What was undone is not offered again.
    log = admin.get("/admin/events")
    assert "pattern deleted: number 1" in log.words and "player muted: teacher-1" in log.words
    assert "Undo" not in log.words.replace("What Undo", "")

    line = admin.get(f"/games/{GO}/openings").link("?m=").partition("m=")[2].partition("&")[0]
    # What analysts find would bury all of that.
    analysis = libraries_pb2.LineAnalysis(moves=[line], value=0.5, budget=200)
    place.academy.client(place.academy.token("owl", Role.ANALYST)).libraries.AnalyseOpenings(
        libraries_pb2.AnalyseOpeningsRequest(game_id=GO, lines=[analysis])
    )
    assert "openings analysed" not in admin.get("/admin/events").words
    assert "openings analysed" in admin.get("/admin/events?contests=yes").words
    deleted = admin.do("delete-opening", game_id=GO, m=[line])
    assert f"the line {line} is deleted" in deleted.words
    removal = deleted.text.partition('name="removal" value="')[2].partition('"')[0]
    assert "positions came back" in admin.do("restore-removal", game_id=GO, removal=removal).words

    download = http.client.HTTPConnection(urlsplit(place.visitor.base).netloc, timeout=30)
    download.request("HEAD", "/admin/backup", headers={"Cookie": admin.cookie})
    before = download.getresponse()
    assert before.status == 200 and not before.read() and before.getheader("content-length") is None
    download.request("GET", "/admin/backup", headers={"Cookie": admin.cookie})
    answer = download.getresponse()
    (place.folder / "taken").mkdir()
    (place.folder / "taken" / "data.mdb").write_bytes(answer.read())
    download.close()
    assert answer.status == 200
    restore(place.folder / "taken", place.folder / "restored")
    assert not list((place.folder / "data").glob(".download-*"))
    reader = SignedIn(place.visitor, place.academy.token("reader"))
    assert reader.get("/admin/backup").status == 403
    backup = admin.do("create-backup")
    assert "verified" in backup.words and len(list((place.folder / "backups").iterdir())) == 1


def test_an_admin_alone_deletes_a_tesuji_by_a_second_click_and_takes_it_back(place: Place) -> None:
    gallery = f"/games/{GO}/tesujis"
    libraries = place.academy.admin().libraries
    # As a player would propose it: no shape of the game's own.
    proposed = pattern_pb2.TesujiRecord(
        cells="x # *", player=1, offered=9, chosen=9, elo_hundredths=1_350_000, weight_millionths=7_000_000
    )
    header = libraries_pb2.ImportHeader(game_id=GO, again=True)
    parts = [
        libraries_pb2.ImportLibraryRequest(header=header),
        libraries_pb2.ImportLibraryRequest(tesuji=proposed),
    ]
    libraries.ImportLibrary(iter(parts))
    listed = libraries.ListTesujis(libraries_pb2.ListTesujisRequest(game_id=GO, order_by="weight desc"))
    tesuji, form = listed.tesujis[0], {"game_id": GO, "code": listed.tesujis[0].code}
    assert tesuji.code >= 2**62
    admin = SignedIn(place.visitor, place.admin)
    reader = SignedIn(place.visitor, place.academy.token("reader"))
    assert "Delete this tesuji" not in reader.get(gallery).words
    assert reader.send("delete-tesuji", **form).status == 403
    shown = admin.get(gallery)
    assert f'name="code" value="{tesuji.code}"' in shown.text
    assert shown.words.count("Delete this tesuji It stays away until a player proposes it again.") == 1
    assert (
        "Delete this tesuji Contests that have it teach it again, from weight 0. Until then it can"
        in shown.words
    )

    deleted = admin.do("delete-tesuji", **form)
    assert f"tesuji {tesuji.code} is deleted" in deleted.words
    assert f"{listed.total_size - 1:,} tesujis, learnt" in deleted.words
    missing = admin.send("delete-tesuji", **form)
    assert missing.status == 404 and f"{GO} has no tesuji of code {tesuji.code}" in missing.words
    assert admin.send("delete-tesuji", game_id=GO).status == 400
    log = admin.get("/admin/events")
    assert f"tesuji deleted: {' / '.join(tesuji.cells.splitlines())}" in log.words
    assert "Tesuji deleted by admin" in admin.get(f"/games/{GO}/admin").words

    removal = deleted.text.partition('name="removal" value="')[2].partition('"')[0]
    restored = admin.do("restore-removal", game_id=GO, removal=removal)
    assert "So did 1 tesujis" in restored.words
    assert f"{listed.total_size:,} tesujis, learnt" in admin.get(gallery).words
    assert 'name="removal"' not in admin.get("/admin/events").text

    deleted = admin.do("delete-tesuji", **form)
    removal = deleted.text.partition('name="removal" value="')[2].partition('"')[0]
    libraries.ImportLibrary(iter(parts))
    assert (
        "nothing came back: what was removed is known again"
        in admin.do("restore-removal", game_id=GO, removal=removal).words
    )


@pytest.mark.threat("sessions")
def test_members_watch_by_a_token_of_the_arena_until_they_sign_out(place: Place, members: Visitor) -> None:
    assert members.get("/competition/events?name=cup").status == 403
    bot = SignedIn(members, place.academy.token("reader"))
    assert bot.get("/competitions").status == 403
    operator = SignedIn(members, place.tokens["me"])
    # The first page is ACADEMY's, which the arena's token does not open.
    first = operator.get("/")
    assert (first.status, first.headers["location"]) == (303, "/competitions")
    # Its games last to the end of the test, also on a busy machine.
    control = (place.folder / "arena" / "cup.toml").read_text().replace(RANDOM, UNHURRIED)
    operator.do("start-competition", name="watched", control=control)
    # Names of competitions are for watchers alone.
    # A page leaves out what the arena does not say at once.
    until(lambda: "watched" in place.visitor.get("/").words)
    assert "watched" not in bot.get("/").words
    connection = http.client.HTTPConnection(urlsplit(members.base).netloc, timeout=30)
    connection.request("GET", "/competition/events?name=watched", headers={"Cookie": operator.cookie})
    stream = connection.getresponse()
    assert stream.status == 200 and stream.readline() == b"event: wall\n"
    assert operator.send("sign-out").status == 303
    assert stream.read().endswith(b"event: over\ndata: {}\n\n")
    connection.close()
    SignedIn(members, place.tokens["me"]).do("stop-competition", name="watched", how="at-once")


@pytest.mark.threat("sessions")
def test_a_player_reads_what_is_over_and_its_own_texts_and_follows_nothing(
    place: Place, members: Visitor
) -> None:
    control = (place.folder / "arena" / "cup.toml").read_text().replace(RANDOM, UNHURRIED)
    deadline = time.monotonic() + 60
    operator = SignedIn(members, place.tokens["me"])
    operator.do("start-competition", name="own", control=control)
    try:
        player = SignedIn(members, place.tokens["one"])
        assert player.get("/").headers["location"] == "/competitions"
        # A game in progress shows what the opponent expects. It may end at any moment.
        live, records, refused = "", [0], player.get("/competition?name=own")
        while refused.status != 403:
            assert time.monotonic() < deadline, refused.words
            time.sleep(0.1)
            now = operator.get("/competition?name=own")
            live = next((known for known in now.links if "/competition/game?" in known), "")
            if live:
                record = live.replace("/competition/game?", "/competition/record?")
                records = [who.get(record).status for who in (player, operator)]
                refused = player.get(live)
        assert "in progress" in refused.words and records == [403, 404]
        assert player.get("/competition/events?name=own").status == 403
        assert "data-events" not in player.get("/competition?name=own").text
        until(lambda: "In progress" not in operator.get(live).words)
    finally:
        operator.do("stop-competition", name="own", how="at-once")
    texts = place.folder / "arena" / "own.protocol" / f"{live.rpartition('=')[2]}.log"
    texts.parent.mkdir()
    texts.write_text(">> one: genmove b\n>> two: play b A1\n")
    mine = player.get(live)
    assert mine.status == 200 and "genmove b" in mine.words and "play b A1" not in mine.words
    assert "play b A1" in operator.get(live).words
