"""Every method against every role, over a real channel."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass

from academy.service.permissions import OPEN_METHODS, ROLES
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2, history_pb2, libraries_pb2, proposals_pb2, tokens_pb2
from tests.academy.service.running import Running, refusal

BOT = {
    "ConsultationService": {
        "LookUpOpening",
        "MatchPatterns",
        "MatchSuccessors",
        "Advise",
        "DownloadWeights",
        "Play",
    },
    "ProposalService": {"SubmitProposals", "ListProposals"},
    "ContestService": {"GetGame", "ListGames", "GetContest"},
    "LibraryService": {"GetStatistics", "GetMeasures", "ListPlayerStatistics"},
    "HistoryService": {"ExploreOpening", "GetGrowth"},
    "TokenService": {"GetCaller"},
}
TOO = {
    (Role.ARENA, "ContestService"): {
        "RegisterGame",
        "OpenContest",
        "ReportContest",
        "GetRatings",
        "GetConsultations",
    },
    (Role.ANALYST, "LibraryService"): {"AnalyseOpenings"},
}

METHODS = [
    method
    for module in (consultation_pb2, proposals_pb2, contests_pb2, libraries_pb2, history_pb2, tokens_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


def expected(role: Role, service: str, method: str) -> bool:
    if role is Role.ADMIN:
        return True
    return method in BOT[service] | TOO.get((role, service), set())


def test_the_table_names_every_method_once_and_nothing_else() -> None:
    paths = {f"/{method.containing_service.full_name}/{method.name}" for method in METHODS}
    reflection = {path for path in ROLES if path.startswith("/grpc.reflection.")}

    assert paths | reflection == set(ROLES)
    assert not set(ROLES) & OPEN_METHODS


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.full_name.removeprefix("academy.v1."))
def test_a_role_reaches_what_the_table_allows(academy: Running, role: Role, method: Any) -> None:
    service, name = method.containing_service.name, method.name
    client = academy.client(academy.token(f"a {role}", role))
    call = _callable(client.channel, method)

    allowed = expected(role, service, name)
    try:
        call()
    except grpc.RpcError as error:
        denied = error.code() is grpc.StatusCode.PERMISSION_DENIED
        if allowed:
            # Whatever else is wrong with an empty request, it is not the caller.
            assert not denied, error.details()
            return
    else:
        assert allowed
        return
    denial = refusal(call)
    assert denial.code is grpc.StatusCode.PERMISSION_DENIED
    assert denial.reason == "NOT_PERMITTED"
    assert denial.metadata["role"] == role.value
    assert role.value not in denial.metadata["needed"].split(", ")


def _callable(channel: grpc.Channel, method: Any) -> Callable[[], None]:
    requests, responses = method.client_streaming, method.server_streaming
    kind: Any = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }[requests, responses]
    request = GetMessageClass(method.input_type)()
    path = f"/{method.containing_service.full_name}/{method.name}"
    stub = kind(
        path,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )

    def call() -> None:
        # A watch lasts until its caller ends it.
        seconds = 0.5 if method.name == "WatchLibrary" else None
        answer = stub(iter([request]) if requests else request, timeout=seconds)
        if responses:
            list(answer)

    return call


@pytest.mark.parametrize("role", [Role.BOT, Role.ARENA])
def test_refusal_does_not_reveal_what_exists(academy: Running, role: Role) -> None:
    client = academy.client(academy.token(f"a {role}", role))
    request = libraries_pb2.GetPatternRequest(game_id="no such game", pattern_id=1)

    assert refusal(lambda: client.libraries.GetPattern(request)).code is grpc.StatusCode.PERMISSION_DENIED


def test_a_method_that_does_not_exist_is_unimplemented(academy: Running) -> None:
    call: Any = academy.admin().channel.unary_unary("/academy.v1.ContestService/Undo")

    assert refusal(lambda: call(b"")).code is grpc.StatusCode.UNIMPLEMENTED
