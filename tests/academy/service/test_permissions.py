"""Which methods there are, and what a refusal tells; test_authorisation shows who may call them."""

from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from academy.service.permissions import OPEN_METHODS, ROLES
from academy.service.server import SERVICES
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2, history_pb2, libraries_pb2, proposals_pb2, tokens_pb2
from tests.academy.service.running import Running, refusal

METHODS = [
    method
    for module in (consultation_pb2, proposals_pb2, contests_pb2, libraries_pb2, history_pb2, tokens_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


def test_the_table_names_every_method_once_and_nothing_else() -> None:
    paths = {f"/{method.containing_service.full_name}/{method.name}" for method in METHODS}
    reflection = {path for path in ROLES if path.startswith("/grpc.reflection.")}

    assert paths | reflection == set(ROLES)
    assert not set(ROLES) & OPEN_METHODS


@pytest.mark.parametrize("role", [Role.BOT, Role.ANALYST, Role.ARENA])
def test_refusal_does_not_reveal_what_exists(academy: Running, role: Role) -> None:
    client = academy.client(academy.token(f"a {role}", role))
    request = libraries_pb2.GetPatternRequest(game_id="no such game", pattern_id=1)

    refused = refusal(lambda: client.libraries.GetPattern(request))

    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
    assert (refused.metadata["role"], refused.metadata["needed"]) == (role.value, "admin")


def test_a_method_that_does_not_exist_is_unimplemented(academy: Running) -> None:
    call: Any = academy.admin().channel.unary_unary("/academy.v1.ContestService/Undo")

    assert refusal(lambda: call(b"")).code is grpc.StatusCode.UNIMPLEMENTED


def test_reflection_names_the_services(academy: Running) -> None:
    # Its published types know nothing of its methods.
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(academy.admin().channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    answer = next(stub.ServerReflectionInfo(iter([request])))
    names = {service.name for service in answer.list_services_response.service}
    assert names == {*SERVICES, "grpc.reflection.v1alpha.ServerReflection"}
