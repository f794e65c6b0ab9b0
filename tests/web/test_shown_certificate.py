"""When a renewed certificate is loaded, and what is logged where it cannot be."""

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from web.shown_certificate import ShownCertificate


class Context(ssl.SSLContext):
    """A server's context that counts what it loads, and may load nothing for want of open files."""

    loaded = 0
    has_files = True

    def load_cert_chain(self, *files: Any, **more: Any) -> None:
        """Load files."""
        if not self.has_files:
            raise OSError(24, "Too many open files")
        super().load_cert_chain(*files, **more)
        self.loaded += 1


def test_files_that_cannot_be_used_are_tried_until_they_can_and_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = trustme.CA()
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def make() -> None:
        made = authority.issue_cert("localhost")
        # Files of their own: times of files that were written over may be alike.
        for file, made_file in ((certificate, made.cert_chain_pems[0]), (key, made.private_key_pem)):
            made_file.write_to_path(tmp_path / "new.pem")
            (tmp_path / "new.pem").replace(file)

    make()
    context = Context(ssl.PROTOCOL_TLS_SERVER)
    shown = ShownCertificate(context, certificate, key)
    shown.renew()
    make()
    context.has_files = False
    for _ in range(3):
        shown.renew()
    assert [record.getMessage().rpartition("] ")[2] for record in caplog.records] == ["Too many open files"]
    # The files are the same as before, and can be loaded now.
    context.has_files = True
    for _ in range(3):
        shown.renew()
    assert context.loaded == 1
    key.unlink()
    for _ in range(3):
        shown.renew()
    assert context.loaded == 1 and len(caplog.records) == 2
