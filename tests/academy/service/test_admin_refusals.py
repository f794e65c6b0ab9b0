"""What admins are refused, with the rule and the numbers, through a real channel."""

import math

import pytest

from academy.v1 import libraries_pb2
from tests.academy.service.asking import (
    GAME,
    HEADER,
    INVALID,
    NOT_FOUND,
    Case,
    check_refused,
    imported,
    listing,
    settings,
    update,
)
from tests.academy.service.examples import ENDGAME
from tests.academy.service.running import Client

REFUSED: dict[str, Case] = {
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
    "players' figures of no game": (
        "admin",
        lambda client: client.libraries.ListPlayerStatistics(libraries_pb2.ListPlayerStatisticsRequest()),
        INVALID,
        "INVALID_FIELD",
        "game_id",
        "name a game, or a player",
    ),
    "a missing pattern": (
        "admin",
        lambda client: client.libraries.GetPattern(
            libraries_pb2.GetPatternRequest(game_id=GAME, library=ENDGAME, pattern_id=77)
        ),
        NOT_FOUND,
        "UNKNOWN_PATTERN",
        "",
        "77",
    ),
    "a deletion of a missing pattern": (
        "admin",
        lambda client: client.libraries.DeletePattern(
            libraries_pb2.DeletePatternRequest(game_id=GAME, library=ENDGAME, pattern_id=77)
        ),
        NOT_FOUND,
        "UNKNOWN_PATTERN",
        "",
        "77",
    ),
    "a deletion of a missing tesuji": (
        "admin",
        lambda client: client.libraries.DeleteTesuji(
            libraries_pb2.DeleteTesujiRequest(game_id=GAME, code=2**64 - 1)
        ),
        NOT_FOUND,
        "UNKNOWN_TESUJI",
        "",
        f"{GAME} has no tesuji of code {2**64 - 1}; `academy tesujis {GAME}` lists their codes",
    ),
    "a deletion that names no tesuji": (
        "admin",
        lambda client: client.libraries.DeleteTesuji(libraries_pb2.DeleteTesujiRequest(game_id=GAME)),
        INVALID,
        "INVALID_FIELD",
        "code",
        "name a tesuji by its code",
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
        "does not hold the first of these moves",
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
def test_an_admin_that_breaks_a_rule_is_refused_by_name(everyone: dict[str, Client], case: str) -> None:
    check_refused(everyone, REFUSED[case])
