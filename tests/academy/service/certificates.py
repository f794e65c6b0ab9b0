"""Certificates made for a test."""

from datetime import datetime
from pathlib import Path

import trustme

from academy.wire.tls import Certificates


def authority(folder: Path, name: str) -> Path:
    """A certificate authority; its key stands beside it."""
    made = trustme.CA(organization_name=name)
    certificate = folder / f"{name}.pem"
    made.cert_pem.write_to_path(str(certificate))
    made.private_key_pem.write_to_path(str(certificate.with_suffix(".key")))
    return certificate


def signed(folder: Path, name: str, by: Path, until: datetime | None = None) -> Certificates:
    """A certificate for localhost and its key, signed by an authority."""
    signer = trustme.CA.from_pem(by.read_bytes(), by.with_suffix(".key").read_bytes())
    made = signer.issue_cert("localhost", "127.0.0.1", common_name=name, not_after=until)
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    made.cert_chain_pems[0].write_to_path(str(certificate))
    made.private_key_pem.write_to_path(str(key))
    return Certificates(certificate, key)
