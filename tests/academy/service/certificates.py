"""Certificates made for a test, with the openssl command."""

import subprocess
from pathlib import Path

from academy.service.addresses import Certificates


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def authority(folder: Path, name: str) -> Path:
    """A certificate authority; its key stands beside it."""
    certificate = folder / f"{name}.pem"
    openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key", "-out", certificate,
    )  # fmt: skip
    return certificate


def signed(folder: Path, name: str, by: Path) -> Certificates:
    """A certificate for localhost and its key, signed by an authority."""
    certificate, key, request = (folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
    openssl(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", request,
    )  # fmt: skip
    openssl(
        "x509", "-req", "-in", request, "-CA", by, "-CAkey", by.with_suffix(".key"), "-days", "2",
        "-copy_extensions", "copy", "-out", certificate,
    )  # fmt: skip
    return Certificates(certificate, key)
