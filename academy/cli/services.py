"""The services of a server that commands call."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from academy.v1 import (
        consultation_pb2_grpc,
        contests_pb2_grpc,
        history_pb2_grpc,
        libraries_pb2_grpc,
        proposals_pb2_grpc,
        tokens_pb2_grpc,
    )


@dataclass(frozen=True)
class Server:
    """The services that commands call."""

    contests: "contests_pb2_grpc.ContestServiceStub"
    libraries: "libraries_pb2_grpc.LibraryServiceStub"
    proposals: "proposals_pb2_grpc.ProposalServiceStub"
    consultation: "consultation_pb2_grpc.ConsultationServiceStub"
    tokens: "tokens_pb2_grpc.TokenServiceStub"
    history: "history_pb2_grpc.HistoryServiceStub"
