"""The certificate of the pages, which is renewed while they are served."""

import logging
import ssl
from pathlib import Path
from typing import Final

_log: Final = logging.getLogger(__name__)


class ShownCertificate:
    """Has a server show files that were replaced, in connections from then on."""

    def __init__(self, context: ssl.SSLContext, certificate: Path, key: Path) -> None:
        """The server's context has loaded the files already."""
        self._files = certificate, key
        self._context = context
        self._seen = self._stamps()
        self._fault = ""
        context.sni_callback = self._show

    def renew(self) -> None:
        """Load the files if they were replaced. Why they cannot be used is logged once, and tried again.

        A file may be half written, one of two, or not readable until its rights are mended.
        """
        stamps = self._stamps()
        if stamps == self._seen:
            self._fault = ""
            return
        # A context keeps a certificate of each kind of key, and may prefer the old one of another kind.
        renewed = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            renewed.load_cert_chain(*self._files, password="")
        except OSError as error:
            if self._fault != str(error):
                _log.warning("the renewed certificate cannot be used, the one before is shown: %s", error)
            self._fault = str(error)
            return
        self._context, self._seen, self._fault = renewed, stamps, ""

    def _show(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _: ssl.SSLContext) -> None:
        """Choose the certificate of a connection, which OpenSSL asks for whatever name the caller gives."""
        connection.context = self._context

    def _stamps(self) -> list[tuple[int, ...]]:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
