"""When a renewed certificate is shown, and what is logged where it cannot be."""

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from web.shown_certificate import ShownCertificate

Make = Callable[[trustme.KeyType], str]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Puts a certificate with a key of a kind in place of the one before, and returns it."""
    authority = trustme.CA()

    def issue(kind: trustme.KeyType) -> str:
        made = authority.issue_cert("localhost", key_type=kind)
        # Files of their own: times of files that were written over may be alike.
        for name, content in (("cert.pem", made.cert_chain_pems[0]), ("key.pem", made.private_key_pem)):
            content.write_to_path(tmp_path / "new.pem")
            (tmp_path / "new.pem").replace(tmp_path / name)
        return made.cert_chain_pems[0].bytes().decode()

    return issue


def served(folder: Path) -> tuple[ssl.SSLContext, ShownCertificate]:
    """A server's context, as it starts."""
    files = folder / "cert.pem", folder / "key.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context, ShownCertificate(context, *files)


def shown_by(context: ssl.SSLContext, name: str | None = None) -> str:
    """The certificate that a caller sees, who may name the server."""
    to_server, to_caller = ssl.MemoryBIO(), ssl.MemoryBIO()
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    caller = trusting.wrap_bio(to_caller, to_server, server_hostname=name)
    server = context.wrap_bio(to_server, to_caller, server_side=True)
    for side in (caller, server, caller):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    certificate = caller.getpeercert(binary_form=True)
    assert certificate is not None
    return ssl.DER_cert_to_PEM_cert(certificate)


@pytest.mark.parametrize(
    ("before", "kind", "name"),
    [
        (trustme.KeyType.ECDSA, trustme.KeyType.RSA, None),
        (trustme.KeyType.RSA, trustme.KeyType.ECDSA, "localhost"),
    ],
)
def test_a_renewed_certificate_may_have_another_kind_of_key(
    tmp_path: Path, make: Make, before: trustme.KeyType, kind: trustme.KeyType, name: str | None
) -> None:
    first = make(before)
    context, shown = served(tmp_path)
    shown.renew()
    assert shown_by(context, name) == first
    second = make(kind)
    shown.renew()
    assert shown_by(context, name) == second


def test_files_that_cannot_be_used_are_tried_until_they_can_and_named_once(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    first = make(trustme.KeyType.ECDSA)
    context, shown = served(tmp_path)
    second = make(trustme.KeyType.ECDSA)
    with monkeypatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_cert_chain", fail)
        for _ in range(3):
            shown.renew()
    assert shown_by(context) == first
    assert [record.getMessage().rpartition("] ")[2] for record in caplog.records] == ["Permission denied"]
    # The files are the same as before, and can be loaded now.
    shown.renew()
    assert shown_by(context) == second
    (tmp_path / "key.pem").unlink()
    for _ in range(3):
        shown.renew()
    assert shown_by(context) == second and len(caplog.records) == 2
