"""Admins look into libraries, mend, prune and move them."""

import io
import json
import random
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

import grpc
import pytest

from academy.knowledge.settings import Library
from academy.service import libraries, paging
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import Environment
from academy.store.event_log import read_page
from academy.store.maintenance.backup import last_backup, open_copy
from academy.v1 import game_pb2, libraries_pb2, pattern_pb2
from tests.academy.service import examples
from tests.academy.service.examples import (
    ENDGAME,
    OPENING,
    contest,
    download_weights,
    report,
    teach,
    teach_weights,
)
from tests.academy.service.running import Client, Running, pages, refusal
from tests.academy.store.examples import go_game, learn

PATTERNS = [
    ("ann", "x", 0.9),
    ("ann", "xx", 0.8),
    ("bob", "xo-", 0.2),
    ("bob", "x-\n-o", 0.6),
    ("carl", "---", 0.5),
    ("carl", "ooo", 0.01),
    ("ann", "ooo", 0.02),
]


@pytest.fixture(scope="module")
def admin(academy: Running) -> Client:
    """An admin of a server whose game `go` has patterns and openings."""
    academy.register(examples.tiny_go("go"))
    teach(academy, "go", "go", PATTERNS)
    return academy.admin()


@pytest.fixture
def grown(fresh: Running) -> Running:
    """The same on a server of its own, to be changed."""
    fresh.register(examples.tiny_go("go"))
    teach(fresh, "go", "go", PATTERNS)
    return fresh


def listed(client: Client, **fields: Any) -> list[pattern_pb2.PatternRecord]:
    request = libraries_pb2.ListPatternsRequest(game_id="go", library=ENDGAME, **fields)
    return list(client.libraries.ListPatterns(request).patterns)


class TestListing:
    @pytest.mark.parametrize(
        ("order_by", "key", "descending"),
        [
            ("", lambda pattern: pattern.strength, True),
            ("strength", lambda pattern: pattern.strength, False),
            ("strength desc", lambda pattern: pattern.strength, True),
            ("value", lambda pattern: pattern.signature.value, False),
            (" elo   asc ", lambda pattern: pattern.signature.elo, False),
            ("proposers desc", lambda pattern: pattern.signature.proposers, True),
            ("uses", lambda pattern: pattern.uses, False),
            ("successes desc", lambda pattern: pattern.successes, True),
            ("pattern_id desc", lambda pattern: pattern.pattern_id, True),
        ],
    )
    def test_patterns_are_listed_in_the_requested_order(
        self, admin: Client, order_by: str, key: Callable[[Any], float], descending: bool
    ) -> None:
        patterns = listed(admin, order_by=order_by)

        keys = [key(pattern) for pattern in patterns]
        assert len(patterns) == 6
        assert keys == sorted(keys, reverse=descending)

    def test_uses_are_counted_as_of_the_last_contest(self, grown: Running) -> None:
        admin = grown.admin()
        numbers = [pattern.pattern_id for pattern in listed(admin, order_by="pattern_id")]
        for contest_id, used, moves in (("u1", numbers[2:4], ["c3", "b2"]), ("u2", numbers[3:5], ["c3"])):
            played = contest(contest_id, "go")
            grown.store.run(OpenContest(played))
            grown.store.note(NoteUses(contest_id, 1, Library.ENDGAME, used))
            grown.store.run(ReportContest(report(played, moves), "arena"))

            patterns = listed(admin, order_by="uses desc")

            assert {
                pattern.pattern_id for pattern in patterns if pattern.last_contest_id == contest_id
            } == set(used)
        assert [(pattern.pattern_id, pattern.uses) for pattern in patterns] == [
            (numbers[3], 2),
            (numbers[2], 1),
            (numbers[4], 1),
            *((number, 0) for number in (numbers[0], numbers[1], numbers[5])),
        ]

    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    @pytest.mark.parametrize("order_by", ["", "proposers", "uses desc"])
    def test_pages_hold_every_pattern_once(self, admin: Client, size: int, order_by: str) -> None:
        request = libraries_pb2.ListPatternsRequest(
            game_id="go", library=ENDGAME, page_size=size, order_by=order_by
        )
        seen: list[int] = []
        for page in pages(admin.libraries.ListPatterns, request):
            assert page.total_size == 6
            assert len(page.patterns) <= size
            seen += [pattern.pattern_id for pattern in page.patterns]
        assert seen == [pattern.pattern_id for pattern in listed(admin, order_by=order_by)]

    def test_a_page_that_is_too_large_is_cut_to_the_most_there_is(self, admin: Client) -> None:
        assert len(listed(admin, page_size=2**31 - 1)) == 6

    def test_page_token_of_another_request_is_refused(self, admin: Client) -> None:
        request = libraries_pb2.ListPatternsRequest(game_id="go", library=ENDGAME, page_size=2)
        token = admin.libraries.ListPatterns(request).next_page_token
        for change in (
            {"order_by": "value"},
            {"filter": libraries_pb2.PatternFilter(player=1)},
            {"library": examples.MIDDLE_GAME},
        ):
            other = libraries_pb2.ListPatternsRequest(
                **({"game_id": "go", "library": ENDGAME, "page_token": token} | change)  # type: ignore[arg-type]
            )
            refused = refusal(partial(admin.libraries.ListPatterns, other))
            assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "STALE_PAGE_TOKEN")
        # Another size is no other request.
        request.page_token, request.page_size = token, 4
        assert len(admin.libraries.ListPatterns(request).patterns) == 4

    def test_a_token_with_anything_changed_is_refused_or_harmless(self, admin: Client) -> None:
        request = libraries_pb2.ListPatternsRequest(game_id="go", library=ENDGAME, page_size=2)
        token = admin.libraries.ListPatterns(request).next_page_token
        chance = random.Random(1)
        for _ in range(200):
            place = chance.randrange(len(token))
            request.page_token = token[:place] + chance.choice('AZaz09-_=[{"\n') + token[place + 1 :]
            try:
                admin.libraries.ListPatterns(request)
            except grpc.RpcError as error:
                assert error.code() is grpc.StatusCode.INVALID_ARGUMENT

    def test_pages_go_on_where_they_ended_though_the_library_changes(self, grown: Running) -> None:
        admin = grown.admin()
        request = libraries_pb2.ListPatternsRequest(
            game_id="go", library=ENDGAME, page_size=3, order_by="pattern_id"
        )
        before = [pattern.pattern_id for pattern in listed(admin, order_by="pattern_id")]
        page = admin.libraries.ListPatterns(request)
        for gone in (before[0], before[3]):
            admin.libraries.DeletePattern(
                libraries_pb2.DeletePatternRequest(game_id="go", library=ENDGAME, pattern_id=gone)
            )
        request.page_token = page.next_page_token

        assert [pattern.pattern_id for pattern in admin.libraries.ListPatterns(request).patterns] == before[
            4:
        ]


class TestMending:
    def test_a_deleted_tesuji_advises_nobody_until_it_is_restored(self, fresh: Running) -> None:
        teach_weights(fresh, "go")
        admin = fresh.admin()

        def advising() -> list[int]:
            return sorted(download_weights(admin, "go").tesujis.codes)

        before = advising()
        request = libraries_pb2.DeleteTesujiRequest(game_id="go", code=before[-1])
        removal = admin.libraries.DeleteTesuji(request).removal
        assert advising() == before[:-1]
        admin.libraries.RestoreRemoval(libraries_pb2.RestoreRemovalRequest(game_id="go", removal=removal))
        assert advising() == before

    @pytest.mark.parametrize("order", ["strength desc", "strength", "weight desc", "weight"])
    def test_pages_of_tesujis_lose_and_double_none_when_some_are_deleted_meanwhile(
        self, fresh: Running, order: str
    ) -> None:
        teach_weights(fresh, "go")
        admin, request = fresh.admin(), libraries_pb2.ListTesujisRequest(game_id="go", order_by=order)
        request.page_size = 1_000
        all_codes = [tesuji.code for tesuji in admin.libraries.ListTesujis(request).tesujis]
        request.page_size = 7
        listed: list[int] = []
        for page in pages(admin.libraries.ListTesujis, request):
            listed += [tesuji.code for tesuji in page.tesujis]
            if len(listed) <= 3 * 7:
                # The first of this page, and the last, after which the next page begins.
                for code in (listed[-7], listed[-1]):
                    admin.libraries.DeleteTesuji(libraries_pb2.DeleteTesujiRequest(game_id="go", code=code))
        assert len(all_codes) > 5 * 7
        assert listed == all_codes

    def test_settings_change_by_name_and_lowering_a_capacity_removes_the_weakest(
        self, grown: Running
    ) -> None:
        admin = grown.admin()
        before = listed(admin)

        changed = admin.libraries.UpdateSettings(
            libraries_pb2.UpdateSettingsRequest(
                game_id="go",
                settings=game_pb2.LibrarySettings(endgame_capacity=2, prune_below=0.1),
                fields=["endgame_capacity"],
            )
        )

        assert changed.removed == 4
        assert (changed.settings.endgame_capacity, changed.settings.prune_below) == (2, 0.33)
        assert listed(admin) == before[:2]
        everything = libraries_pb2.UpdateSettingsRequest(
            game_id="go", settings=game_pb2.LibrarySettings(opening_capacity=5)
        )
        settings = admin.libraries.UpdateSettings(everything).settings
        # Without names all are set: what is not given is the default again.
        assert (settings.opening_capacity, settings.endgame_capacity) == (5, 5_000)

    def test_settings_that_are_not_given_become_the_defaults_of_such_a_game(self, fresh: Running) -> None:
        game = go_game("stones")
        game.move_forms.append("*")
        fresh.register(game)
        everything = libraries_pb2.UpdateSettingsRequest(
            game_id="stones", settings=game_pb2.LibrarySettings(opening_capacity=5)
        )

        settings = fresh.admin().libraries.UpdateSettings(everything).settings

        assert (settings.opening_capacity, settings.tesuji_capacity) == (5, 1_000), "as it was registered"

    @pytest.mark.parametrize(
        ("changed", "removes"),
        [
            ({"opening_capacity": 5}, True),
            ({"endgame_capacity": 1}, True),
            ({"tesuji_capacity": 5}, True),
            ({"evaluation_patterns": 5}, True),
            ({"opening_capacity": 0, "endgame_capacity": 0, "tesuji_capacity": 1}, True),
            ({"tesuji_capacity": 0, "evaluation": False}, False),
            ({"endgame_capacity": 4_000, "forget_after": 1}, False),
        ],
        ids=str,
    )
    def test_a_dry_run_of_settings_says_what_they_then_remove(
        self, fresh: Running, changed: dict[str, Any], removes: bool
    ) -> None:
        game = go_game("taught")
        learning = game_pb2.LibrarySettings(tesuji_capacity=100, evaluation=True, evaluation_patterns=100)
        game.settings.MergeFrom(learning)
        fresh.register(game)
        learn(fresh.store, contests=4, game_id="taught")
        admin = fresh.admin()
        request = libraries_pb2.UpdateSettingsRequest(
            game_id="taught", settings=game_pb2.LibrarySettings(**changed), fields=list(changed), dry_run=True
        )
        statistics = libraries_pb2.GetStatisticsRequest(game_id="taught")
        before = admin.libraries.GetStatistics(statistics)
        foreseen = admin.libraries.UpdateSettings(request)
        assert admin.libraries.GetStatistics(statistics) == before, "a look changes nothing"
        assert (foreseen.removed > 0) == removes
        request.dry_run = False
        assert admin.libraries.UpdateSettings(request) == foreseen


@pytest.fixture(scope="module")
def reader(academy: Running) -> Client:
    """An admin of a server whose game `lines` has openings."""
    return with_lines(academy)


def with_lines(academy: Running) -> Client:
    academy.register(examples.tiny_go("lines"))
    for number, moves in enumerate((["c3", "a1"], ["c3", "b2"], ["c3", "e5", "d4"], ["b2", "c3"])):
        academy.report(report(contest(f"lines/{number}", "lines"), moves, first="DRAW"))
    return academy.admin()


class TestOpenings:
    def nodes(self, client: Client, **fields: Any) -> list[pattern_pb2.OpeningNodeRecord]:
        request = libraries_pb2.ListOpeningsRequest(game_id="lines", **fields)
        return list(client.libraries.ListOpenings(request).nodes)

    def test_parents_come_before_children_and_siblings_by_visits(self, reader: Client) -> None:
        nodes = self.nodes(reader)

        placed = {node.node_id: place for place, node in enumerate(nodes)}
        assert all(placed[node.parent_id] < placed[node.node_id] for node in nodes if node.depth)
        assert (nodes[0].depth, nodes[0].visits) == (0, 4)
        assert [node.visits for node in nodes if node.depth == 1] == [3, 1]
        children = [node for node in nodes if node.parent_id == nodes[1].node_id]
        assert sum(node.visits for node in children) == 3

    def test_openings_are_listed_from_a_line_in_any_orientation_to_a_depth(self, reader: Client) -> None:
        corner = self.nodes(reader, moves=["c3", "a5"])
        assert [node.visits for node in corner] == [2, 1]
        assert [node.depth for node in self.nodes(reader, depth=1)] == [0, 1, 1]
        assert {node.depth for node in self.nodes(reader, moves=["c3"])} == {1, 2, 3}
        assert {node.depth for node in self.nodes(reader, moves=["c3"], depth=1)} == {1, 2}

    def test_pages_belong_to_one_state_of_the_tree(self, fresh: Running) -> None:
        reader = with_lines(fresh)
        request = libraries_pb2.ListOpeningsRequest(game_id="lines", page_size=2)
        page = reader.libraries.ListOpenings(request)
        request.page_token = page.next_page_token
        second = reader.libraries.ListOpenings(request)
        assert [*page.nodes, *second.nodes] == self.nodes(reader)[:4]

        fresh.report(report(contest("lines/more", "lines"), ["a1"]))

        assert refusal(lambda: reader.libraries.ListOpenings(request)).reason == "STALE_PAGE_TOKEN"


class TestMoving:
    def exported(self, client: Client, library: int = 0) -> list[libraries_pb2.ExportLibraryResponse]:
        request = libraries_pb2.ExportLibraryRequest(game_id="go", library=library)  # type: ignore[arg-type]
        return list(client.libraries.ExportLibrary(request))

    def test_an_export_is_of_one_moment(self, fresh: Running) -> None:
        game = examples.tiny_go("go")
        fresh.register(game)
        reader, done = fresh.admin(), threading.Event()
        statistics = libraries_pb2.GetStatisticsRequest(game_id="go")

        def play(place: int) -> None:
            number = 0
            while not done.is_set():
                number += 1
                fresh.report(report(contest(f"{place}/{number}", "go"), ["c3"]))

        def look(place: int) -> None:
            # The server's view of the game follows.
            while not done.is_set():
                reader.libraries.GetStatistics(statistics)

        at_once = [threading.Thread(target=task, args=(place,)) for task in (play, look) for place in (1, 2)]
        for thread in at_once:
            thread.start()
        try:
            exports = [self.exported(reader) for _ in range(100)]
        finally:
            done.set()
            for thread in at_once:
                thread.join()

        seen = []
        for records in exports:
            (measures,) = (record.history.measures for record in records if record.history.measures)
            roots = [record.node.visits for record in records if record.HasField("node")][:1] or [0]
            seen.append((json.loads(measures).get("contests", 0), *roots))
        assert [contests for contests, _ in seen] == [visits for _, visits in seen]

    def test_export_begins_with_its_game(self, admin: Client) -> None:
        records = self.exported(admin)

        assert records[0].game.game_id == "go"
        assert {record.WhichOneof("record") for record in records[1:]} == {
            "history",
            "pattern",
            "node",
        }
        known = listed(admin, order_by="pattern_id")
        for record in known:
            # Which event brought a vote means nothing elsewhere; which came first does.
            for order, vote in enumerate(record.votes):
                vote.event, vote.order = 0, order
        assert [record.pattern for record in self.exported(admin, ENDGAME)[2:]] == known
        assert all(record.HasField("node") for record in self.exported(admin, OPENING)[2:])

    def test_replacing_empties_only_what_records_come_for(self, grown: Running) -> None:
        admin = grown.admin()
        before = self.exported(admin, OPENING)[1:]
        header = libraries_pb2.ImportHeader(game_id="go", replace=True)
        kept = libraries_pb2.ImportLibraryRequest(pattern=self.exported(admin, ENDGAME)[2].pattern)

        imported = admin.libraries.ImportLibrary(
            iter((libraries_pb2.ImportLibraryRequest(header=header), kept))
        )

        assert imported.patterns == 1

        assert len(listed(admin)) == 1
        assert self.exported(admin, OPENING)[1:] == before


class TestEvents:
    def test_events_name_their_callers(self, grown: Running) -> None:
        admin = grown.admin()
        admin.libraries.DeletePattern(
            libraries_pb2.DeletePatternRequest(
                game_id="go", library=ENDGAME, pattern_id=listed(admin)[0].pattern_id
            )
        )

        oldest = admin.libraries.ListEvents(libraries_pb2.ListEventsRequest()).events
        newest = admin.libraries.ListEvents(
            libraries_pb2.ListEventsRequest(game_id="go", newest_first=True)
        ).events

        assert [event.sequence for event in oldest] == list(range(1, 10))
        assert list(newest) == list(oldest)[::-1]
        assert oldest[0].WhichOneof("kind") == "game_registered"
        assert [event.WhichOneof("kind") for event in oldest[1:8]] == ["contest_reported"] * 7
        assert (oldest[8].WhichOneof("kind"), oldest[8].actor) == ("pattern_deleted", "admin")

    def test_others_are_answered_while_the_log_is_read(
        self, admin: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answered = threading.Event()

        def read_slowly(*arguments: Any, **options: Any) -> Any:
            assert answered.wait(60)
            return read_page(*arguments, **options)

        monkeypatch.setattr(libraries, "read_page", read_slowly)
        listing = admin.libraries.ListEvents.future(libraries_pb2.ListEventsRequest(game_id="go"))
        admin.libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id="go"))
        answered.set()
        assert len(listing.result().events) == 8

    def test_a_page_of_long_reports_reads_no_more_than_it_shows(
        self, admin: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        places = []

        def count(transaction: Any, most: int, place: int, **options: Any) -> Any:
            places.append(place)
            return read_page(transaction, most, place, **options)

        monkeypatch.setattr(libraries, "read_page", count)
        monkeypatch.setattr(libraries, "_EVENTS_AT_ONCE", 2)
        monkeypatch.setattr(paging, "page_bytes", lambda limits: 1)
        request = libraries_pb2.ListEventsRequest(game_id="go")
        page = admin.libraries.ListEvents(request)
        request.page_token = page.next_page_token
        following = admin.libraries.ListEvents(request)
        assert [event.sequence for event in (*page.events, *following.events)] == [1, 2]
        assert places == [0, 1]


def test_what_people_did_is_listed_without_the_contests(grown: Running) -> None:
    admin = grown.admin().libraries
    for _ in range(3):
        admin.DeletePattern(libraries_pb2.DeletePatternRequest(game_id="go", library=ENDGAME, pattern_id=1))
        admin.RestorePattern(libraries_pb2.RestorePatternRequest(game_id="go", library=ENDGAME, pattern_id=1))
    request = libraries_pb2.ListEventsRequest(newest_first=True, without_contests=True, page_size=3)
    kinds: list[str | None] = []
    for page in pages(admin.ListEvents, request):
        assert len(page.events) <= 3
        kinds += [event.WhichOneof("kind") for event in page.events]
    assert kinds == [*["pattern_restored", "pattern_deleted"] * 3, "game_registered"]


def test_a_download_that_is_cancelled_or_for_comparison_is_not_a_backup(
    fresh: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, client = fresh.store.environment.folder, fresh.admin()
    closed = threading.Event()

    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return bytes(size or 0)

        def fileno(self) -> int:
            return 0

        def close(self) -> None:
            super().close()
            closed.set()

    def open_endless(environment: Environment) -> BinaryIO:
        open_copy(environment).close()
        return Endless()

    with monkeypatch.context() as patched:
        patched.setattr(libraries, "open_copy", open_endless)
        download = client.libraries.DownloadBackup(libraries_pb2.DownloadBackupRequest())
        next(download)
        download.cancel()
        assert closed.wait(60)
    for_comparison = libraries_pb2.DownloadBackupRequest(for_comparison=True)
    assert sum(len(part.content) for part in client.libraries.DownloadBackup(for_comparison))
    assert last_backup(folder) is None
    assert sum(
        len(part.content) for part in client.libraries.DownloadBackup(libraries_pb2.DownloadBackupRequest())
    )
    assert last_backup(folder) is not None
