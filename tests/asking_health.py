"""Health as gRPC's clients ask for it."""

from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


def health_of(channel: grpc.Channel) -> Any:
    """The stub of the service, whose methods its published types leave out."""
    return health_pb2_grpc.HealthStub(channel)


def listed_by(health: Any, seconds: float) -> dict[str, Any]:
    """The health of all services by name; the messages are left out of the published types, too."""
    messages: Any = health_pb2
    answer = health.List(messages.HealthListRequest(), timeout=seconds)
    return {name: status.status for name, status in answer.statuses.items()}
