"""Whatever a bot may send more than once has a bound by name, looked at before anything is done with it."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import grpc
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from academy.service.limits import Limits
from academy.service.permissions import ROLES
from academy.store.tokens import Role
from academy.v1 import (
    consultation_pb2,
    contests_pb2,
    history_pb2,
    libraries_pb2,
    proposals_pb2,
    tokens_pb2,
)
from academy.v1.consultation_pb2 import CandidateMove, MatchPatternsRequest, MatchSuccessorsRequest
from tests.academy.service.examples import EMPTY, position
from tests.academy.service.running import Client, Running, refusal

SERVICES = {
    service.full_name: service
    for module in (consultation_pb2, contests_pb2, history_pb2, libraries_pb2, proposals_pb2, tokens_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
}
# Neither a library, nor a move, nor a cell: looking at any one of them would give another refusal.
NO_LIBRARY, NO_CELL = 99, 2**32 - 1


class Bound(NamedTuple):
    """A repeated field, the limit that bounds it, and a request that has a given number of entries of it."""

    limit: str
    field: str
    method: str
    request: Callable[[int], Message]


def patterns(**fields: Any) -> MatchPatternsRequest:
    return MatchPatternsRequest(**({"game_id": "nowhere", "positions": [position(EMPTY)]} | fields))


def successors(**fields: Any) -> MatchSuccessorsRequest:
    required: dict[str, Any] = {"position": position(EMPTY), "moves": [CandidateMove(cells=[0], letters="x")]}
    return MatchSuccessorsRequest(**({"game_id": "nowhere"} | required | fields))


# Their games and contests are nowhere, and their entries are nothing: work on any of them would be noticed.
BOUNDS = {
    "academy.v1.ListProposalsRequest.verdicts": Bound(
        "verdicts_per_call",
        "verdicts",
        "ListProposals",
        lambda count: proposals_pb2.ListProposalsRequest(
            player="somebody else", verdicts=[proposals_pb2.VERDICT_HELD] * count
        ),
    ),
    "academy.v1.LookUpOpeningRequest.moves": Bound(
        "moves_per_list",
        "moves",
        "LookUpOpening",
        lambda count: consultation_pb2.LookUpOpeningRequest(game_id="nowhere", player=9, moves=[""] * count),
    ),
    "academy.v1.ExploreOpeningRequest.moves": Bound(
        "moves_per_list",
        "moves",
        "ExploreOpening",
        lambda count: history_pb2.ExploreOpeningRequest(game_id="nowhere", player=9, moves=[""] * count),
    ),
    "academy.v1.MatchPatternsRequest.positions": Bound(
        "positions_per_call",
        "positions",
        "MatchPatterns",
        lambda count: patterns(positions=[consultation_pb2.Position()] * count),
    ),
    "academy.v1.MatchPatternsRequest.libraries": Bound(
        "libraries_per_call",
        "libraries",
        "MatchPatterns",
        lambda count: patterns(libraries=[NO_LIBRARY] * count),
    ),
    "academy.v1.MatchSuccessorsRequest.moves": Bound(
        "successors_per_call",
        "moves",
        "MatchSuccessors",
        lambda count: successors(moves=[CandidateMove(cells=[NO_CELL])] * count),
    ),
    "academy.v1.MatchSuccessorsRequest.libraries": Bound(
        "libraries_per_call",
        "libraries",
        "MatchSuccessors",
        lambda count: successors(libraries=[NO_LIBRARY] * count),
    ),
    "academy.v1.AdviseRequest.cells": Bound(
        "cells_per_call",
        "cells",
        "Advise",
        lambda count: consultation_pb2.AdviseRequest(game_id="nowhere", cells=[NO_CELL] * count),
    ),
    "academy.v1.AdviseRequest.moves": Bound(
        "successors_per_call",
        "moves",
        "Advise",
        lambda count: consultation_pb2.AdviseRequest(
            game_id="nowhere", moves=[CandidateMove(cells=[NO_CELL])] * count
        ),
    ),
    "academy.v1.AdviseOpening.moves": Bound(
        "moves_per_list",
        "opening.moves",
        "Advise",
        lambda count: consultation_pb2.AdviseRequest(
            game_id="nowhere", opening=consultation_pb2.AdviseOpening(moves=[""] * count)
        ),
    ),
    "academy.v1.CandidateMove.cells": Bound(
        "changes_per_call",
        "moves",
        "MatchSuccessors",
        lambda count: successors(moves=[CandidateMove(cells=[NO_CELL] * count)]),
    ),
    "academy.v1.SubmitProposalsRequest.proposals": Bound(
        "proposals_per_call",
        "proposals",
        "SubmitProposals",
        lambda count: proposals_pb2.SubmitProposalsRequest(
            contest_id="nowhere", proposals=[proposals_pb2.NewProposal()] * count
        ),
    ),
}


def repeated(message: Descriptor, seen: set[str]) -> Iterator[str]:
    """The repeated fields of a message and of those in it."""
    if message.full_name in seen:
        return
    seen.add(message.full_name)
    for field in message.fields:
        if field.is_repeated:
            yield field.full_name
        if field.message_type is not None:
            yield from repeated(field.message_type, seen)


def sent_by_bots() -> set[str]:
    """The repeated fields in all that a bot may send, reflection's protocol aside: that has none."""
    seen: set[str] = set()
    fields: set[str] = set()
    for path, roles in ROLES.items():
        service, method = path[1:].split("/")
        if Role.BOT in roles and service in SERVICES:
            fields |= set(repeated(SERVICES[service].methods_by_name[method].input_type, seen))
    return fields


def call(client: Client, method: str, request: Message) -> Any:
    services = (client.proposals, client.consultation, client.history)
    return getattr(next(service for service in services if hasattr(service, method)), method)(request)


@pytest.mark.threat("bad_input")
def test_every_repeated_field_that_a_bot_may_send_has_a_bound() -> None:
    assert sent_by_bots() == set(BOUNDS)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.threat("bad_input")
def test_one_entry_too_many_is_refused_before_any_is_looked_at(academy: Running, name: str) -> None:
    limit, field, method, request = BOUNDS[name]
    most = getattr(Limits(), limit)

    refused = refusal(lambda: call(academy.bot("sender"), method, request(most + 1)))

    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert refused.fields == [field]
    assert refused.metadata == {"field": field, "value": str(most + 1), "limit": str(most)}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_allowed_number_is_accepted(academy: Running, name: str) -> None:
    limit, field, method, request = BOUNDS[name]

    refused = refusal(lambda: call(academy.bot(name), method, request(getattr(Limits(), limit))))

    # Something is wrong with the first of them, or with where they belong, and nothing with their number.
    assert refused.fields != [field]


@pytest.mark.parametrize("method", ["MatchPatterns", "MatchSuccessors"])
def test_a_message_full_of_libraries_is_refused_for_their_number(academy: Running, method: str) -> None:
    libraries = [2] * 4_180_000
    request = patterns(libraries=libraries) if method == "MatchPatterns" else successors(libraries=libraries)

    refused = refusal(lambda: call(academy.bot(f"full {method}"), method, request))

    assert refused.message.startswith("libraries: 4,180,000 libraries: at most 16")


def test_a_message_full_of_libraries_on_a_stream_is_refused_and_the_stream_goes_on(academy: Running) -> None:
    full = consultation_pb2.PlayRequest(request_id=1, patterns=patterns(libraries=[2] * 4_180_000))
    small = consultation_pb2.PlayRequest(request_id=2, patterns=patterns())

    first, second = academy.bot("full stream").consultation.Play(iter([full, small]))

    assert (first.refusal.reason, first.refusal.metadata["value"]) == ("INVALID_FIELD", "4180000")
    assert (second.request_id, second.refusal.reason) == (2, "UNKNOWN_GAME")
