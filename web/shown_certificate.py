"""The certificate of the pages, which is renewed while they are served."""

import logging
import ssl
from pathlib import Path
from typing import Final

_log: Final = logging.getLogger(__name__)


class ShownCertificate:
    """Has a server's TLS context show files that were replaced, in connections from then on."""

    def __init__(self, context: ssl.SSLContext, certificate: Path, key: Path) -> None:
        """The context has loaded the files already."""
        self._context = context
        self._files = certificate, key
        self._seen = self._stamps()

    def renew(self) -> None:
        """Load the files if they were replaced. Those that cannot be used are named in the log."""
        stamps = self._stamps()
        if stamps == self._seen:
            return
        self._seen = stamps
        try:
            # Another context first: of two files that do not belong together one would be taken.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*self._files, password="")
            self._context.load_cert_chain(*self._files, password="")
        except OSError as error:
            # A file may be half written, or one of two: the next change is looked at again.
            _log.warning("the renewed certificate cannot be used, the one before is shown: %s", error)

    def _stamps(self) -> list[tuple[int, ...]]:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
