"""Health as gRPC's clients ask for it."""

from typing import Any

import grpc
from grpc_health.v1 import health_pb2_grpc


def health_of(channel: grpc.Channel) -> Any:
    """The stub of the service, whose methods its published types leave out."""
    return health_pb2_grpc.HealthStub(channel)
