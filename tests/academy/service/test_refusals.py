"""Every refusal is the right status with the rule and the numbers, through a real channel."""

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from academy.service import logs
from academy.service.addresses import Address
from academy.service.limits import Limits
from academy.service.server import ServerSettings
from academy.store.errors import StoreBusy, StoreCorrupt, StoreError
from academy.v1 import (
    consultation_pb2,
    contests_pb2,
    game_pb2,
    libraries_pb2,
    proposals_pb2,
)
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, ENDGAME, MIDDLE_GAME, OPENING, contest, position, report
from tests.academy.service.running import Client, Running, refusal, serving

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
EXISTS = grpc.StatusCode.ALREADY_EXISTS
PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
GAME = "refusing"
CONTEST = "refusing/1"


@pytest.fixture(scope="module")
def everyone(academy: Running) -> Iterator[dict[str, Client]]:
    """An arena, an admin, and a player in an open contest of a registered game."""
    arena = academy.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)))
    request = contests_pb2.OpenContestRequest(contest=contest(CONTEST, GAME))
    ticket = arena.contests.OpenContest(request).tickets[0]
    yield {
        "arena": arena,
        "admin": academy.admin(),
        "reader": academy.bot("reader"),
        "player": academy.client(ticket),
    }


def match(**fields: Any) -> Callable[[Client], Any]:
    request = {"game_id": GAME, "positions": [position(EMPTY)]} | fields
    return lambda client: client.consultation.MatchPatterns(consultation_pb2.MatchPatternsRequest(**request))


def look_up(**fields: Any) -> Callable[[Client], Any]:
    request = {"game_id": GAME, "player": 1} | fields
    return lambda client: client.consultation.LookUpOpening(consultation_pb2.LookUpOpeningRequest(**request))


def propose(**fields: Any) -> Callable[[Client], Any]:
    content = {"library": ENDGAME, "cells": "x-\n-o", "ply": 1, "value": 0.5} | fields
    proposal = proposals_pb2.NewProposal(**content)
    return lambda client: client.proposals.SubmitProposals(
        proposals_pb2.SubmitProposalsRequest(contest_id=CONTEST, proposals=[proposal])
    )


def register(**fields: Any) -> Callable[[Client], Any]:
    game = examples.tiny_go("strange")
    for name, value in fields.items():
        game.ClearField(name)  # type: ignore[arg-type]
        game.MergeFrom(game_pb2.Game(**{name: value}))
    return lambda client: client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))


def open_contest(told: contests_pb2.Contest) -> Callable[[Client], Any]:
    return lambda client: client.contests.OpenContest(contests_pb2.OpenContestRequest(contest=told))


def report_with(change: Callable[[contests_pb2.ReportContestRequest], object]) -> Callable[[Client], Any]:
    request = report(contest("refusing/report", GAME), ["c3", "b2"])
    change(request)
    return lambda client: client.contests.ReportContest(request)


def listing(**fields: Any) -> Callable[[Client], Any]:
    request = {"game_id": GAME, "library": ENDGAME} | fields
    return lambda client: client.libraries.ListPatterns(libraries_pb2.ListPatternsRequest(**request))


def update(**fields: Any) -> Callable[[Client], Any]:
    request = {"game_id": GAME} | fields
    return lambda client: client.libraries.UpdateSettings(libraries_pb2.UpdateSettingsRequest(**request))


def imported(*records: libraries_pb2.ImportLibraryRequest) -> Callable[[Client], Any]:
    return lambda client: client.libraries.ImportLibrary(iter(records))


def settings(**fields: Any) -> game_pb2.LibrarySettings:
    return game_pb2.LibrarySettings(**fields)


HEADER = libraries_pb2.ImportLibraryRequest(header=libraries_pb2.ImportHeader(game_id=GAME))

# Who asks what; status, reason, field at fault, and words of the message: the rule and the numbers.
REFUSED: dict[str, tuple[str, Callable[[Client], Any], grpc.StatusCode, str, str, str]] = {
    # Boards and positions
    "a board of another size": (
        "reader",
        match(positions=[position(EMPTY), position("-" * 24)]),
        INVALID,
        "INVALID_BOARD",
        "positions[1].board",
        "24 letters: this game's has 25",
    ),
    "a letter that boards do not have": (
        "reader",
        match(positions=[position("?" + EMPTY[1:])]),
        INVALID,
        "INVALID_BOARD",
        "positions[0].board",
        "'?'",
    ),
    "a player the game does not have": (
        "reader",
        match(positions=[position(EMPTY, 3)]),
        INVALID,
        "INVALID_FIELD",
        "player",
        "players 1 to 2",
    ),
    "no positions": (
        "reader",
        match(positions=[]),
        INVALID,
        "INVALID_FIELD",
        "positions",
        "0 positions: 1 to 1,024",
    ),
    "too many positions": (
        "reader",
        match(positions=[position(EMPTY)] * 1_025),
        INVALID,
        "INVALID_FIELD",
        "positions",
        "1,025 positions: 1 to 1,024",
    ),
    "too many matches a position": (
        "reader",
        match(max_matches=65_537),
        INVALID,
        "INVALID_FIELD",
        "max_matches",
        "65,537: at most 65,536",
    ),
    "too many matches a call": (
        "reader",
        match(positions=[position(EMPTY)] * 5, max_matches=65_536),
        INVALID,
        "INVALID_FIELD",
        "max_matches",
        "327,680: at most 262,144",
    ),
    "a library that has no patterns": (
        "reader",
        match(libraries=[ENDGAME, OPENING]),
        INVALID,
        "INVALID_RECORD",
        "libraries[1]",
        "lines of moves",
    ),
    "an expected value above 1": (
        "reader",
        match(positions=[position(EMPTY, 1, 1.5)]),
        INVALID,
        "INVALID_RECORD",
        "positions[0].expected_value",
        "1.5",
    ),
    "an expected value that is no number": (
        "player",
        match(positions=[position(EMPTY, 1, math.nan)], contest_id=CONTEST),
        INVALID,
        "INVALID_RECORD",
        "positions[0].expected_value",
        "nan",
    ),
    "a game that is not registered": (
        "reader",
        match(game_id="chess"),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'chess'",
    ),
    "a game id that cannot be one": (
        "reader",
        match(game_id="../x"),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'../x'",
    ),
    "no game at all": ("reader", match(game_id=""), NOT_FOUND, "UNKNOWN_GAME", "", "''"),
    # Openings
    "a list of too many moves": (
        "reader",
        look_up(moves=["a1"] * 10_001),
        INVALID,
        "INVALID_FIELD",
        "moves",
        "10,001 moves: at most 10,000",
    ),
    "a move that is too long": (
        "reader",
        look_up(moves=["a1", "b" * 1_025]),
        INVALID,
        "INVALID_FIELD",
        "moves[1]",
        "1,025 characters",
    ),
    "an empty move": ("reader", look_up(moves=[""]), INVALID, "INVALID_FIELD", "moves[0]", "0 characters"),
    "a contest of another game": (
        "player",
        look_up(game_id="refusing-too", contest_id=CONTEST),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "refusing-too",
    ),
    # Proposals
    "a ragged pattern": (
        "player",
        propose(cells="x--\n--"),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "line 2, column 2",
    ),
    "a pattern larger than the board with its edge": (
        "player",
        propose(cells="\n".join(["--------"] * 3)),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "neither may be more than 7",
    ),
    "a pattern of too many cells": (
        "player",
        propose(cells="\n".join(["-" * 22] * 22)),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "at most 441 cells",
    ),
    "a text that is no pattern for its length": (
        "player",
        propose(cells="-" * 65_537),
        INVALID,
        "INVALID_FIELD",
        "proposals[0].cells",
        "65,537 characters",
    ),
    "a letter that patterns do not have": (
        "player",
        propose(cells="x?\n--"),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "column 2: letter '?'",
    ),
    "a pattern that says nothing": (
        "player",
        propose(cells="##\n##"),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "other than '#' and '+'",
    ),
    "no pattern": ("player", propose(cells=""), INVALID, "INVALID_RECORD", "proposals[0].cells", "no cells"),
    "a value above 1": (
        "player",
        propose(value=1.0001),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "1.0001",
    ),
    "a value below 0": (
        "player",
        propose(value=-0.1),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "-0.1",
    ),
    "a value that is no number": (
        "player",
        propose(value=math.nan),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "nan",
    ),
    "a value without end": (
        "player",
        propose(value=math.inf),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "inf",
    ),
    "a value before that is no number": (
        "player",
        propose(value_before=math.nan),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value_before",
        "nan",
    ),
    "a middle-game proposal without the value before": (
        "player",
        propose(library=MIDDLE_GAME),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value_before",
        "must be stated",
    ),
    "a proposal for the opening tree": (
        "player",
        propose(library=OPENING),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].library",
        "lines of moves",
    ),
    "a proposal without ply": (
        "player",
        propose(ply=0),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].ply",
        "at least 1",
    ),
    "too many proposals in a call": (
        "player",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(
                contest_id=CONTEST, proposals=[proposals_pb2.NewProposal()] * 65
            )
        ),
        INVALID,
        "INVALID_FIELD",
        "proposals",
        "65 in one call: at most 64",
    ),
    "more proposals than the game allows": (
        "player",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(
                contest_id=CONTEST,
                proposals=[
                    proposals_pb2.NewProposal(library=ENDGAME, cells="x-", ply=ply, value=0.5)
                    for ply in range(1, 12)
                ],
            )
        ),
        EXHAUSTED,
        "TOO_MANY_PROPOSALS",
        "",
        "max_submissions_per_contest",
    ),
    "a proposal without contest": (
        "player",
        lambda client: client.proposals.SubmitProposals(proposals_pb2.SubmitProposalsRequest()),
        INVALID,
        "INVALID_FIELD",
        "contest_id",
        "must be given",
    ),
    "a proposal for a contest one does not play": (
        "reader",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(contest_id=CONTEST)
        ),
        grpc.StatusCode.PERMISSION_DENIED,
        "NOT_PERMITTED",
        "",
        "does not play it",
    ),
    "a look at another's proposals": (
        "reader",
        lambda client: client.proposals.ListProposals(proposals_pb2.ListProposalsRequest(player="ann")),
        grpc.StatusCode.PERMISSION_DENIED,
        "NOT_PERMITTED",
        "",
        "'ann'",
    ),
    # Games
    "a game without an id": ("arena", register(game_id=""), INVALID, "INVALID_GAME", "", "1 to 64 letters"),
    "a game without a board": (
        "arena",
        register(geometry=game_pb2.Geometry()),
        INVALID,
        "INVALID_GAME",
        "",
        "geometry",
    ),
    "a board that is too large": (
        "arena",
        register(
            geometry=game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=65, columns=64)), cell_names=[]
        ),
        INVALID,
        "INVALID_BOARD",
        "",
        "at most 4096",
    ),
    "a game without players": ("arena", register(players=0), INVALID, "INVALID_GAME", "", "1 to 64"),
    "a symmetry the board does not have": (
        "arena",
        register(symmetries=["identity", "rotate 60"]),
        INVALID,
        "INVALID_GAME",
        "",
        "'rotate 60'",
    ),
    "a game whose length is no number": (
        "arena",
        register(expected_length=math.nan),
        INVALID,
        "INVALID_GAME",
        "",
        "nan",
    ),
    "settings that are no numbers": (
        "arena",
        register(settings=settings(prune_below=math.nan)),
        INVALID,
        "INVALID_SETTINGS",
        "",
        "prune_below nan",
    ),
    "another game under the same id": (
        "arena",
        register(game_id=GAME, expected_length=31.0),
        EXISTS,
        "GAME_CONFLICT",
        "",
        "another expected_length",
    ),
    # Contests
    "a contest of an unknown game": (
        "arena",
        open_contest(contest("c", "chess")),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'chess'",
    ),
    "a contest without id": (
        "arena",
        open_contest(contest("", GAME)),
        INVALID,
        "INVALID_RECORD",
        "contest_id",
        "1 to 128 printable",
    ),
    "a contest whose id is too long": (
        "arena",
        open_contest(contest("c" * 129, GAME)),
        INVALID,
        "INVALID_RECORD",
        "contest_id",
        "1 to 128",
    ),
    "a contest of too few players": (
        "arena",
        open_contest(contest("c", GAME, ("ann",))),
        INVALID,
        "INVALID_RECORD",
        "players",
        "1 given",
    ),
    "a player without name": (
        "arena",
        open_contest(contest("c", GAME, ("ann", ""))),
        INVALID,
        "INVALID_RECORD",
        "players[1].name",
        "1 to 128",
    ),
    "an Elo that is no number": (
        "arena",
        open_contest(contest("c", GAME, elos=(1500.0, math.nan))),
        INVALID,
        "INVALID_RECORD",
        "players[1].elo",
        "nan",
    ),
    "an Elo beyond all bounds": (
        "arena",
        open_contest(contest("c", GAME, elos=(1e9, 0.0))),
        INVALID,
        "INVALID_RECORD",
        "players[0].elo",
        "100000",
    ),
    "other players in the same contest": (
        "arena",
        open_contest(contest(CONTEST, GAME, ("ann", "carl"))),
        EXISTS,
        "CONTEST_CONFLICT",
        "",
        "another players",
    ),
    "a contest nobody opened": (
        "arena",
        lambda client: client.contests.GetContest(contests_pb2.GetContestRequest(contest_id="none")),
        NOT_FOUND,
        "UNKNOWN_CONTEST",
        "",
        "'none'",
    ),
    # Reports
    "a report with a wrong board": (
        "arena",
        report_with(lambda told: setattr(told.plies[1], "board", "-")),
        INVALID,
        "INVALID_RECORD",
        "plies[1].board",
        "1 letters",
    ),
    "a report with too few results": (
        "arena",
        report_with(lambda told: told.results.pop()),
        INVALID,
        "INVALID_RECORD",
        "results",
        "1 given",
    ),
    "a report without result": (
        "arena",
        report_with(lambda told: told.results.__setitem__(0, 0)),
        INVALID,
        "INVALID_RECORD",
        "results[0]",
        "0",
    ),
    "a report of a value that is no number": (
        "arena",
        report_with(lambda told: told.plies[0].values.add(player=1, value=math.nan)),
        INVALID,
        "INVALID_RECORD",
        "plies[0].values",
        "nan",
    ),
    "a report of a player who is none": (
        "arena",
        report_with(lambda told: setattr(told.plies[0], "player", 3)),
        INVALID,
        "INVALID_RECORD",
        "plies[0].player",
        "3",
    ),
    "a report of an empty move": (
        "arena",
        report_with(lambda told: setattr(told.plies[0], "move", "")),
        INVALID,
        "INVALID_RECORD",
        "plies[0].move",
        "1 to 1,024",
    ),
    # Libraries
    "a library of no name": (
        "admin",
        listing(library=0),
        INVALID,
        "INVALID_RECORD",
        "library",
        "names no library",
    ),
    "an order that is none": (
        "admin",
        listing(order_by="beauty"),
        INVALID,
        "INVALID_FIELD",
        "order_by",
        "'beauty': one of strength",
    ),
    "a page of negative size": ("admin", listing(page_size=-1), INVALID, "INVALID_FIELD", "page_size", "-1"),
    "a page token that is none": (
        "admin",
        listing(page_token="%%"),
        INVALID,
        "STALE_PAGE_TOKEN",
        "",
        "begin again",
    ),
    "a pattern that is not there": (
        "admin",
        lambda client: client.libraries.GetPattern(
            libraries_pb2.GetPatternRequest(game_id=GAME, library=ENDGAME, pattern_id=77)
        ),
        NOT_FOUND,
        "UNKNOWN_PATTERN",
        "",
        "77",
    ),
    "a deletion of what is not there": (
        "admin",
        lambda client: client.libraries.DeletePattern(
            libraries_pb2.DeletePatternRequest(game_id=GAME, library=ENDGAME, pattern_id=77)
        ),
        NOT_FOUND,
        "UNKNOWN_PATTERN",
        "",
        "77",
    ),
    "an undo of no deletion": (
        "admin",
        lambda client: client.libraries.RestorePattern(
            libraries_pb2.RestorePatternRequest(game_id=GAME, library=ENDGAME, pattern_id=77)
        ),
        NOT_FOUND,
        "PATTERN_NOT_DELETED",
        "",
        "77",
    ),
    "a line the tree does not hold": (
        "admin",
        lambda client: client.libraries.ListOpenings(
            libraries_pb2.ListOpeningsRequest(game_id=GAME, moves=["a1"])
        ),
        NOT_FOUND,
        "UNKNOWN_OPENING",
        "",
        "first 0 of these 1",
    ),
    "a setting that is none": (
        "admin",
        update(fields=["beauty"]),
        INVALID,
        "INVALID_FIELD",
        "fields[0]",
        "'beauty'",
    ),
    "a setting without value": (
        "admin",
        update(fields=["prune_below"]),
        INVALID,
        "INVALID_FIELD",
        "fields[0]",
        "not given",
    ),
    "a setting beyond its bounds": (
        "admin",
        update(settings=settings(opening_capacity=1_000_001)),
        INVALID,
        "INVALID_SETTINGS",
        "",
        "1,000,000",
    ),
    "pruning below no number": (
        "admin",
        lambda client: client.libraries.PruneLibrary(
            libraries_pb2.PruneLibraryRequest(game_id=GAME, library=ENDGAME, below=math.nan)
        ),
        INVALID,
        "INVALID_RECORD",
        "below",
        "nan",
    ),
    "an import of nothing": ("admin", imported(), INVALID, "INVALID_FIELD", "header", "empty"),
    "an import without header": (
        "admin",
        imported(libraries_pb2.ImportLibraryRequest()),
        INVALID,
        "INVALID_FIELD",
        "header",
        "first",
    ),
    "an import with two headers": (
        "admin",
        imported(HEADER, HEADER),
        INVALID,
        "INVALID_FIELD",
        "record",
        "after the",
    ),
    "events of an unknown game": (
        "admin",
        lambda client: client.libraries.ListEvents(libraries_pb2.ListEventsRequest(game_id="chess")),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'chess'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_breaks_a_rule_is_refused_by_name(everyone: dict[str, Client], case: str) -> None:
    who, call, code, reason, field, words = REFUSED[case]

    refused = refusal(lambda: call(everyone[who]))

    assert (refused.code, refused.reason) == (code, reason), refused.message
    assert words in refused.message
    assert refused.fields == ([field] if field else [])


def test_refused_writes_leave_nothing_behind(everyone: dict[str, Client]) -> None:
    assert not everyone["player"].proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    games = everyone["reader"].contests.ListGames(contests_pb2.ListGamesRequest()).games
    assert [game.game_id for game in games] == [GAME]


def test_numbers_stand_in_the_details_of_their_own(everyone: dict[str, Client]) -> None:
    _, too_many, *_ = REFUSED["more proposals than the game allows"]
    _, positions, *_ = REFUSED["too many positions"]

    assert refusal(lambda: too_many(everyone["player"])).metadata == {
        "held": "0",
        "more": "11",
        "allowed": "10",
    }
    assert refusal(lambda: positions(everyone["reader"])).metadata == {
        "field": "positions",
        "value": "1025",
        "limit": "1024",
    }


def test_a_full_store_refuses_and_keeps_answering(tmp_path: Path) -> None:
    with serving(tmp_path, largest_map=4 << 20) as academy:
        arena = academy.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)))
        stored = 0
        refused = None
        while refused is None:
            # Random, so that it takes room.
            told = report(contest(f"full/{stored}", GAME), [os.urandom(500).hex() for _ in range(500)])
            try:
                arena.contests.ReportContest(told)
                stored += 1
                assert stored < 100
            except grpc.RpcError:
                refused = refusal(lambda told=told: arena.contests.ReportContest(told))

        assert (refused.code, refused.reason) == (EXHAUSTED, "STORE_FULL")
        assert str(tmp_path) not in refused.message
        statistics = libraries_pb2.GetStatisticsRequest(game_id=GAME)
        assert academy.admin().libraries.GetStatistics(statistics).contests == stored


@pytest.mark.parametrize(
    ("fault", "code", "reason", "retry"),
    [
        (StoreBusy("4096 writes are waiting"), EXHAUSTED, "STORE_BUSY", 0.25),
        (StoreCorrupt("a page is not sound"), grpc.StatusCode.DATA_LOSS, "STORE_CORRUPT", None),
        (StoreError("the disk failed"), grpc.StatusCode.UNAVAILABLE, "STORE_FAILED", None),
    ],
)
def test_faults_of_the_disk(
    fresh: Running,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    code: grpc.StatusCode,
    reason: str,
    retry: float,
) -> None:
    def failing(command: object) -> None:
        raise fault

    arena = fresh.arena()
    # A disk cannot be made to fail this way on demand.
    monkeypatch.setattr(fresh.store, "submit", failing)

    refused = refusal(
        lambda: arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)))
    )

    assert (refused.code, refused.reason, refused.retry_after) == (code, reason, retry)


def test_an_unexpected_error_is_an_incident_with_its_traceback_in_the_log_alone(
    fresh: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("of the server's own")

    monkeypatch.setattr(fresh.store, "games", broken)
    logs.configure("error", "json")

    refused = refusal(lambda: fresh.admin().contests.ListGames(contests_pb2.ListGamesRequest()))

    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "ZeroDivisionError" not in refused.message and "Traceback" not in refused.message
    logged = "".join(capsys.readouterr())
    assert refused.metadata["incident"] in logged and "ZeroDivisionError" in logged


def test_an_answer_that_no_message_holds_is_refused(tmp_path: Path) -> None:
    limits = Limits(message_bytes=20_000)
    with serving(tmp_path, ServerSettings(address=Address.parse("127.0.0.1:0"), limits=limits)) as academy:
        academy.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)))
        examples.teach(academy, GAME, "large", [("ann", "-", 0.9)])
        request = consultation_pb2.MatchPatternsRequest(
            game_id=GAME, positions=[position(EMPTY)] * 400, include_cells=True
        )

        refused = refusal(lambda: academy.bot("reader").consultation.MatchPatterns(request))

    assert (refused.code, refused.reason) == (EXHAUSTED, "ANSWER_TOO_LARGE")
    assert int(refused.metadata["size"]) > int(refused.metadata["limit"]) == 20_000
