"""Addresses as people write them."""

from datetime import datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tls import Certificates
from tests.academy.service.certificates import authority, signed


@pytest.mark.parametrize(
    ("text", "written", "local"),
    [
        ("127.0.0.1:50551", "127.0.0.1:50551", True),
        ("127.9.9.9:0", "127.9.9.9:0", True),
        ("localhost:1", "localhost:1", True),
        ("[::1]:80", "[::1]:80", True),
        ("0.0.0.0:80", "0.0.0.0:80", False),
        ("[::]:80", "[::]:80", False),
        ("192.168.1.5:80", "192.168.1.5:80", False),
        ("academy.example:443", "academy.example:443", False),
        ("localhost.example.org:443", "localhost.example.org:443", False),
        ("unix:/tmp/a", "unix:/tmp/a", True),
        ("unix:///tmp/a", "unix:/tmp/a", True),
        ("unix:here", "unix:here", True),
        ("unix:/tmp/a b/é", "unix:/tmp/a b/é", True),
    ],
)
def test_an_address_is_read_and_written(text: str, written: str, local: bool) -> None:
    address = ServerAddress.parse(text)

    assert str(address) == written
    assert address.is_local is local
    assert ServerAddress.parse(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        ":80",
        "host:",
        "host:x",
        "host:-1",
        "host:65536",
        "host:٣",
        "host:" + "1" * 100,
        "ho st:80",
        "ho/st:80",
        "host\n:80",
        "ho\0st:80",
        "\udcffhost:80",
        "unix:",
        "unix:" + "x" * 108,
        "unix:" + "é" * 54,
        "unix:/tmp/a\0b",
        "unix:/tmp/a\nb",
        "unix:/tmp/\udcff",
    ],
)
def test_invalid_address_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(InvalidAddressError) as caught:
        ServerAddress.parse(text)
    assert repr(text) in str(caught.value)


def test_a_number_too_long_to_be_read_is_refused_as_a_port() -> None:
    with pytest.raises(InvalidAddressError, match=r"write host:port \(port 0 to 65535\)") as caught:
        ServerAddress.parse("host:" + "1" * 5_000)
    assert len(str(caught.value)) < 300


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidAddressError, match="certificate and its key"):
        Certificates(certificate=tmp_path / "cert.pem")
    with pytest.raises(InvalidAddressError, match="mutual TLS needs"):
        Certificates(authority=tmp_path / "ca.pem").server_credentials()


def test_files_that_hold_no_certificate_are_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    with pytest.raises(InvalidAddressError, match=r"missing\.pem: cannot be read"):
        Certificates(tmp_path / "missing.pem", tmp_path / "missing.pem").server_credentials()
    with pytest.raises(InvalidAddressError, match=r"empty\.pem: holds no PEM block 'PRIVATE KEY'"):
        Certificates(empty, empty).server_credentials()


def test_certificates_and_keys_that_tls_cannot_use_are_named(tmp_path: Path) -> None:
    ours = authority(tmp_path, "ours")
    good, other = signed(tmp_path, "good", ours), signed(tmp_path, "other", ours)
    assert good.certificate and good.key and other.key
    torn, torn_key, secret = tmp_path / "torn.pem", tmp_path / "torn.key", tmp_path / "secret.key"
    torn.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    torn_key.write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    secret.write_bytes(
        load_pem_private_key(good.key.read_bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password")
        )
    )
    for certificate, key in ((torn, good.key), (good.certificate, torn_key), (good.certificate, other.key)):
        refused = Certificates(certificate, key)
        for credentials in (refused.server_credentials, refused.channel_credentials):
            with pytest.raises(
                InvalidAddressError,
                match=rf"{key.name}: no certificate with its key",
            ):
                credentials()
    with pytest.raises(InvalidAddressError, match=r"ended\.pem: the certificate has ended; renew it"):
        signed(tmp_path, "ended", ours, datetime(2020, 1, 1)).server_credentials()
    with pytest.raises(InvalidAddressError, match=r"secret\.key.* without a password"):
        Certificates(good.certificate, secret).server_credentials()
    with pytest.raises(InvalidAddressError, match=r"torn\.pem: no certificate of an authority"):
        Certificates(authority=torn).channel_credentials()
