"""What each kind of caller is refused, with the rule and the numbers, through a real channel."""

import math
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from academy.v1 import consultation_pb2, contests_pb2, game_pb2, libraries_pb2, proposals_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, ENDGAME, MIDDLE_GAME, OPENING, contest, position, report
from tests.academy.service.running import Client, Running, refusal

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
EXISTS = grpc.StatusCode.ALREADY_EXISTS
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
DENIED = grpc.StatusCode.PERMISSION_DENIED
GAME = "refusing"
CONTEST = "refusing/1"
MESSAGES = {
    "consultation": consultation_pb2,
    "contests": contests_pb2,
    "libraries": libraries_pb2,
    "proposals": proposals_pb2,
}

# Calls: each maker fills in what is right, and takes what is wrong.
Call = Callable[[Client], Any]


def asking(service: str, method: str, **fields: Any) -> Call:
    request = getattr(MESSAGES[service], f"{method}Request")(**fields)
    return lambda client: getattr(getattr(client, service), method)(request)


def match(**fields: Any) -> Call:
    required: dict[str, Any] = {"game_id": GAME, "positions": [position(EMPTY)]}
    return asking("consultation", "MatchPatterns", **required | fields)


def look_up(**fields: Any) -> Call:
    return asking("consultation", "LookUpOpening", **{"game_id": GAME, "player": 1} | fields)


def submit(*proposals: proposals_pb2.NewProposal, contest_id: str = CONTEST) -> Call:
    return asking("proposals", "SubmitProposals", contest_id=contest_id, proposals=proposals)


def propose(**fields: Any) -> Call:
    content: dict[str, Any] = {"library": ENDGAME, "cells": "x-\n-o", "ply": 1, "value": 0.5} | fields
    return submit(proposals_pb2.NewProposal(**content))


def register(**fields: Any) -> Call:
    game = examples.tiny_go("strange")
    for name, value in fields.items():
        game.ClearField(name)  # type: ignore[arg-type]
        game.MergeFrom(game_pb2.Game(**{name: value}))
    return asking("contests", "RegisterGame", game=game)


def open_contest(*of: Any, **more: Any) -> Call:
    return asking("contests", "OpenContest", contest=contest(*of, **more))


def report_with(change: Callable[[contests_pb2.ReportContestRequest], object]) -> Call:
    request = report(contest("refusing/report", GAME), ["c3", "b2"])
    change(request)
    return lambda client: client.contests.ReportContest(request)


def rated(*after: float) -> Call:
    return report_with(lambda request: request.elo_after.extend(after))


def ratings(players: list[str]) -> Call:
    return asking("contests", "GetRatings", game_id=GAME, players=players)


def listing(**fields: Any) -> Call:
    return asking("libraries", "ListPatterns", **{"game_id": GAME, "library": ENDGAME} | fields)


def missing(method: str) -> Call:
    return asking("libraries", method, game_id=GAME, library=ENDGAME, pattern_id=77)


def update(**fields: Any) -> Call:
    return asking("libraries", "UpdateSettings", game_id=GAME, **fields)


def imported(*records: libraries_pb2.ImportLibraryRequest) -> Call:
    return lambda client: client.libraries.ImportLibrary(iter(records))


HEADER = libraries_pb2.ImportLibraryRequest(header=libraries_pb2.ImportHeader(game_id=GAME))
NONE = proposals_pb2.NewProposal()
ELEVEN = [proposals_pb2.NewProposal(library=ENDGAME, cells="x-", ply=ply) for ply in range(1, 12)]
LARGE = game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=65, columns=64))
NO_NUMBERS = game_pb2.LibrarySettings(prune_below=math.nan)
BEYOND = game_pb2.LibrarySettings(opening_capacity=1_000_001)

# Who is refused, and how; then what is asked, the field at fault, and words of the message.
REFUSED: dict[tuple[str, grpc.StatusCode, str], dict[str, tuple[Call, str, str]]] = {
    ("reader", INVALID, "INVALID_BOARD"): {
        "a board of another size": (
            match(positions=[position(EMPTY), position("-" * 24)]),
            "positions[1].board",
            "24 letters: this game's has 25",
        ),
        "a letter of no board": (match(positions=[position("?" + EMPTY[1:])]), "positions[0].board", "'?'"),
    },
    ("reader", INVALID, "INVALID_FIELD"): {
        "a position of a player that the game does not have": (
            match(positions=[position(EMPTY), position(EMPTY, 3)]),
            "positions[1].player",
            "players 1 to 2",
        ),
        "advice for a player that the game does not have": (
            asking("consultation", "Advise", game_id=GAME, position=position(EMPTY, 3)),
            "position.player",
            "3: refusing has players 1 to 2",
        ),
        "openings of a player that the game does not have": (look_up(player=0), "player", "players 1 to 2"),
        "no positions": (match(positions=[]), "positions", "0 positions: 1 to 1,024"),
        "too many matches a position": (match(max_matches=65_537), "max_matches", "65,537: at most 65,536"),
        "too many matches a call": (
            match(positions=[position(EMPTY)] * 5, max_matches=65_536),
            "max_matches",
            "327,680: at most 262,144",
        ),
        "too many moves": (look_up(moves=["a1"] * 10_001), "moves", "10,001 moves: at most 10,000"),
        "a move that is too long": (look_up(moves=["a1", "b" * 1_025]), "moves[1]", "1,025 characters"),
        "moves that are too long together": (
            look_up(moves=["b" * 1_024] * 257),
            "moves",
            "263,168 characters in all: at most 262,144",
        ),
        "an empty move": (look_up(moves=[""]), "moves[0]", "0 characters"),
    },
    ("reader", INVALID, "INVALID_RECORD"): {
        "a library without patterns": (match(libraries=[ENDGAME, OPENING]), "libraries[1]", "lines of moves"),
        "an expected value above 1": (
            match(positions=[position(EMPTY, 1, 1.5)]),
            "positions[0].expected_value",
            "1.5",
        ),
    },
    ("reader", NOT_FOUND, "UNKNOWN_GAME"): {
        "a game that is not registered": (match(game_id="chess"), "", "'chess'"),
        "a game id that cannot be one": (match(game_id="../x"), "", "'../x'"),
        "no game at all": (match(game_id=""), "", "''"),
    },
    ("reader", DENIED, "NOT_PERMITTED"): {
        "a proposal for a contest that one does not play": (submit(NONE), "", "does not play it"),
        "another's proposals": (asking("proposals", "ListProposals", player="ann"), "", "'ann'"),
    },
    ("player", NOT_FOUND, "UNKNOWN_GAME"): {
        "a contest of another game": (look_up(game_id="other", contest_id=CONTEST), "", "'other'"),
    },
    ("player", INVALID, "INVALID_FIELD"): {
        "cells of too many characters": (
            propose(cells="-" * 16_385),
            "proposals[0].cells",
            "16,385 characters",
        ),
        "no proposals": (submit(), "proposals", "0 in one call: 1 to 64"),
        "a proposal without contest": (submit(NONE, contest_id=""), "contest_id", "must be given"),
    },
    ("player", INVALID, "INVALID_RECORD"): {
        "an expected value that is not a number": (
            match(positions=[position(EMPTY, 1, math.nan)], contest_id=CONTEST),
            "positions[0].expected_value",
            "nan",
        ),
        "ragged rows": (propose(cells="x--\n--"), "proposals[0].cells", "line 2, column 2"),
        "a pattern larger than the board with its edge": (
            propose(cells="\n".join(["--------"] * 3)),
            "proposals[0].cells",
            "neither may be more than 7",
        ),
        "too many cells": (
            propose(cells="\n".join(["-" * 22] * 22)),
            "proposals[0].cells",
            "at most 441 cells",
        ),
        "a letter of no pattern": (propose(cells="x?\n--"), "proposals[0].cells", "column 2: letter '?'"),
        "a pattern that says nothing": (propose(cells="##\n##"), "proposals[0].cells", "than '#' and '+'"),
        "no pattern": (propose(cells=""), "proposals[0].cells", "no cells"),
        "a value above 1": (propose(value=1.0001), "proposals[0].value", "1.0001"),
        "a value below 0": (propose(value=-0.1), "proposals[0].value", "-0.1"),
        "a value that is not a number": (propose(value=math.nan), "proposals[0].value", "nan"),
        "a value without end": (propose(value=math.inf), "proposals[0].value", "inf"),
        "a wrong value before": (propose(value_before=math.nan), "proposals[0].value_before", "nan"),
        "no value before": (propose(library=MIDDLE_GAME), "proposals[0].value_before", "must be stated"),
        "a proposal for the openings": (propose(library=OPENING), "proposals[0].library", "lines of moves"),
        "a proposal for no library": (propose(library=9), "proposals[0].library", "9 names no library"),
        "a proposal without ply": (propose(ply=0), "proposals[0].ply", "at least 1"),
    },
    ("player", EXHAUSTED, "TOO_MANY_PROPOSALS"): {
        "more than the game allows": (submit(*ELEVEN), "", "max_submissions_per_contest"),
    },
    ("arena", INVALID, "INVALID_FIELD"): {
        "ratings of too many players": (ratings(["a"] * 1_025), "players", "more than 1,024"),
    },
    ("arena", INVALID, "INVALID_GAME"): {
        "a game without an id": (register(game_id=""), "", "1 to 64 letters"),
        "a game without a board": (register(geometry=game_pb2.Geometry()), "", "geometry"),
        "a game without players": (register(players=0), "", "1 to 64"),
        "an unknown symmetry": (register(symmetries=["identity", "rotate 60"]), "", "'rotate 60'"),
        "a length that is not a number": (register(expected_length=math.nan), "", "nan"),
    },
    ("arena", INVALID, "INVALID_BOARD"): {
        "a board that is too large": (register(geometry=LARGE, cell_names=[]), "", "at most 4096"),
    },
    ("arena", INVALID, "INVALID_SETTINGS"): {
        "settings that are not numbers": (register(settings=NO_NUMBERS), "", "prune_below nan"),
    },
    ("arena", EXISTS, "GAME_CONFLICT"): {
        "another game under the same id": (
            register(game_id=GAME, expected_length=31.0),
            "",
            "differs in expected_length",
        ),
    },
    ("arena", NOT_FOUND, "UNKNOWN_GAME"): {
        "a contest of an unknown game": (open_contest("c", "chess"), "", "'chess'"),
        "ratings in an unknown game": (asking("contests", "GetRatings", game_id="chess"), "", "'chess'"),
    },
    ("arena", INVALID, "INVALID_RECORD"): {
        "a contest without id": (open_contest("", GAME), "contest_id", "1 to 128 printable"),
        "a contest id that is too long": (open_contest("c" * 129, GAME), "contest_id", "1 to 128"),
        "too few players": (open_contest("c", GAME, ("ann",)), "players", "1 given"),
        "a player without name": (open_contest("c", GAME, ("ann", "")), "players[1].name", "1 to 128"),
        "a name with a mark that turns text round": (
            open_contest("c", GAME, ("ann", "b\u202eob")),
            "players[1].name",
            "cannot be seen",
        ),
        "a name in another normal form": (
            open_contest("c", GAME, ("ann", "Andre\u0301")),
            "players[1].name",
            "normal form C",
        ),
        "an Elo that is not a number": (
            open_contest("c", GAME, elos=(1500.0, math.nan)),
            "players[1].elo",
            "nan",
        ),
        "an Elo beyond all bounds": (open_contest("c", GAME, elos=(1e9, 0.0)), "players[0].elo", "100000"),
        # The store's tests have all that a report may be refused for.
        "a report with a wrong board": (
            report_with(lambda played: setattr(played.plies[1], "board", "-")),
            "plies[1].board",
            "1 letters",
        ),
        "a rating under what is not a name": (ratings(["a\n"]), "players[0]", "control characters"),
        "too few ratings after a contest": (rated(1_500.0), "elo_after", "1 given for 2 players"),
        "a rating that is not a number": (rated(1_500.0, math.nan), "elo_after[1]", "nan"),
        "a rating that is too high": (rated(1_500.0, 6_001.0), "elo_after[1]", "from -6000 to 6000"),
    },
    ("arena", EXISTS, "CONTEST_CONFLICT"): {
        "other players in the same contest": (
            open_contest(CONTEST, GAME, ("ann", "carl")),
            "",
            "is known already and differs in players: use another id",
        ),
    },
    ("arena", NOT_FOUND, "UNKNOWN_CONTEST"): {
        "a contest that nobody opened": (asking("contests", "GetContest", contest_id="none"), "", "'none'"),
    },
    ("admin", INVALID, "INVALID_FIELD"): {
        "an order that is none": (listing(order_by="beauty"), "order_by", "'beauty': one of strength"),
        "a page of negative size": (listing(page_size=-1), "page_size", "-1"),
        "players' figures of no game": (
            asking("libraries", "ListPlayerStatistics"),
            "game_id",
            "name a game, or a player",
        ),
        "a deletion of no tesuji": (
            asking("libraries", "DeleteTesuji", game_id=GAME),
            "code",
            "name a tesuji by its code",
        ),
        "a setting that is none": (update(fields=["beauty"]), "fields[0]", "'beauty'"),
        "a setting without value": (update(fields=["prune_below"]), "fields[0]", "not given"),
        "an import of nothing": (imported(), "header", "empty"),
        "an import without header": (imported(libraries_pb2.ImportLibraryRequest()), "header", "first"),
        "an import with two headers": (imported(HEADER, HEADER), "record", "after the"),
    },
    ("admin", INVALID, "STALE_PAGE_TOKEN"): {
        "a page token that is none": (listing(page_token="%%"), "", "begin again"),
    },
    ("admin", INVALID, "INVALID_RECORD"): {
        "a library of no name": (listing(library=0), "library", "names no library"),
        "pruning below no number": (
            asking("libraries", "PruneLibrary", game_id=GAME, library=ENDGAME, below=math.nan),
            "below",
            "nan",
        ),
    },
    ("admin", INVALID, "INVALID_SETTINGS"): {
        "a setting beyond its bounds": (update(settings=BEYOND), "", "1,000,000"),
    },
    ("admin", NOT_FOUND, "UNKNOWN_PATTERN"): {
        "a missing pattern": (missing("GetPattern"), "", "77"),
        "a deletion of a missing pattern": (missing("DeletePattern"), "", "77"),
    },
    ("admin", NOT_FOUND, "PATTERN_NOT_DELETED"): {
        "an undo of no deletion": (missing("RestorePattern"), "", "77"),
    },
    ("admin", NOT_FOUND, "UNKNOWN_TESUJI"): {
        "a deletion of a missing tesuji": (
            asking("libraries", "DeleteTesuji", game_id=GAME, code=2**64 - 1),
            "",
            f"{GAME} has no tesuji of code {2**64 - 1}; `academy tesujis {GAME}` lists their codes",
        ),
    },
    ("admin", NOT_FOUND, "UNKNOWN_OPENING"): {
        "a line that the tree does not hold": (
            asking("libraries", "ListOpenings", game_id=GAME, moves=["a1"]),
            "",
            "does not hold the first of these moves",
        ),
    },
    ("admin", NOT_FOUND, "UNKNOWN_GAME"): {
        "events of an unknown game": (asking("libraries", "ListEvents", game_id="chess"), "", "'chess'"),
    },
}
CASES = [(how, what) for how, cases in REFUSED.items() for what in cases]


@pytest.fixture(scope="module")
def everyone(academy: Running) -> dict[str, Client]:
    """An arena, an admin, and a player in an open contest of a registered game."""
    arena = academy.arena()
    academy.register(examples.tiny_go(GAME))
    player, _ = academy.open(contest(CONTEST, GAME))
    return {"arena": arena, "admin": academy.admin(), "reader": academy.bot("reader"), "player": player}


@pytest.mark.parametrize(("how", "what"), CASES, ids=[f"{how[0]}-{what}" for how, what in CASES])
@pytest.mark.threat("bad_input")
@pytest.mark.threat("lies")
@pytest.mark.threat("vote_stuffing")
def test_who_breaks_a_rule_is_refused_by_its_name(
    everyone: dict[str, Client], how: tuple[str, grpc.StatusCode, str], what: str
) -> None:
    (who, code, reason), (call, field, words) = how, REFUSED[how][what]

    refused = refusal(lambda: call(everyone[who]))

    assert (refused.code, refused.reason) == (code, reason), refused.message
    assert words in refused.message
    assert refused.fields == ([field] if field else [])


def test_refused_writes_leave_nothing_behind(everyone: dict[str, Client]) -> None:
    assert not everyone["player"].proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    admin = everyone["admin"]
    games = admin.contests.ListGames(contests_pb2.ListGamesRequest()).games
    assert [game.game_id for game in games] == [GAME]
    statistics = admin.libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=GAME))
    assert (statistics.contests, statistics.generation) == (0, 1)
