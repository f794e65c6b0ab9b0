"""The channel that a command calls a server over: opened with its token, and with TLS to other machines."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import grpc

from academy.cli.commands import CommandError, ExitCode
from academy.cli.services import Server
from academy.v1 import (
    consultation_pb2_grpc,
    contests_pb2_grpc,
    history_pb2_grpc,
    libraries_pb2_grpc,
    proposals_pb2_grpc,
    tokens_pb2_grpc,
)
from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tls import Certificates

_CALL_SECONDS: Final = 60.0
_TRANSFER_SECONDS: Final = 3_600.0


@contextmanager
def connect(
    address: str, token: str, tls_ca: Path | None, tls_cert: Path | None, tls_key: Path | None, insecure: bool
) -> Iterator[Server]:
    """The services at an address. Raises CommandError for options that cannot be meant."""
    try:
        place = ServerAddress.parse(address)
        certificates = Certificates(tls_cert, tls_key, tls_ca)
        secure = tls_ca is not None or tls_cert is not None
        if not secure and not place.is_local and not insecure:
            raise CommandError(
                f"{address} is another machine: give --tls-ca, or --insecure to send the token in clear",
                ExitCode.USAGE,
            )
        channel = (
            grpc.secure_channel(str(place), certificates.channel_credentials())
            if secure
            else grpc.insecure_channel(str(place))
        )
    except InvalidAddressError as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    with channel:
        introduced = grpc.intercept_channel(channel, _TokenInterceptor(token))
        yield Server(
            contests_pb2_grpc.ContestServiceStub(introduced),
            libraries_pb2_grpc.LibraryServiceStub(introduced),
            proposals_pb2_grpc.ProposalServiceStub(introduced),
            consultation_pb2_grpc.ConsultationServiceStub(introduced),
            tokens_pb2_grpc.TokenServiceStub(introduced),
            history_pb2_grpc.HistoryServiceStub(introduced),
        )


class _TokenInterceptor(
    grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamUnaryClientInterceptor
):
    """Adds the token and a deadline to every call."""

    def __init__(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(self._with_token(client_call_details, _CALL_SECONDS), request)

    def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(self._with_token(client_call_details, _TRANSFER_SECONDS), request)

    def intercept_stream_unary(
        self, continuation: Any, client_call_details: Any, request_iterator: Any
    ) -> Any:
        return continuation(self._with_token(client_call_details, _TRANSFER_SECONDS), request_iterator)

    def _with_token(self, details: Any, seconds: float) -> Any:
        return details._replace(metadata=self._metadata, timeout=details.timeout or seconds)
