"""The connection to NATS, by itself."""

import asyncio
import socket
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from nats.aio.client import Client

from academy.store.errors import LogRefusedError, LogUnavailableError
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from tests.academy.store.shared_log.nats_servers import NatsServer


def test_a_server_stops_though_a_cancel_is_lost_as_python_3_11_may_lose_it(log: LogAddress) -> None:
    # A fake of what a race does in one of some 300 closings: `asyncio.wait_for` loses the cancel that comes
    # together with an answer, and its caller asks again.
    async def ask_on() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(ask_on())
        await asyncio.sleep(0)
        return task

    stream = JetStreamLog(log)
    task = stream.run(begin())
    closing = threading.Thread(target=stream.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive() and task.done()


def test_a_server_that_nats_refuses_gives_up_though_a_cancel_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    # A fake of the same race in the client's attempts to connect, which go on without end.
    async def try_on(_client: Client, **_options: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    monkeypatch.setattr(Client, "connect", try_on)
    monkeypatch.setattr("academy.store.shared_log.connection._CONNECTING_SECONDS", 0.1)
    errors: list[Exception] = []

    def connect() -> None:
        try:
            JetStreamLog(LogAddress.parse("nats://127.0.0.1:1/club"))
        except LogUnavailableError as error:
            errors.append(error)

    connecting = threading.Thread(target=connect, daemon=True)
    connecting.start()
    connecting.join(20)
    assert [str(error)[:28] for error in errors] == ["no NATS server lets this one"]


async def fill(stream: JetStreamLog) -> None:
    """Send more than the connection's buffers take."""
    send = stream._client.publish
    await asyncio.wait(
        [asyncio.ensure_future(send("elsewhere", bytes(100_000))) for _ in range(200)], timeout=0.2
    )


def test_a_server_stops_while_nats_takes_nothing_or_is_gone(
    own_nats: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for end in (own_nats.pause, own_nats.kill):
        stream = JetStreamLog(own_nats.address("full"))
        monkeypatch.setattr("academy.store.shared_log.connection._ANSWER_SECONDS", 0.5)
        end()

        stream.run(fill(stream))
        closing = threading.Thread(target=stream.close, daemon=True)
        closing.start()
        closing.join(20)
        assert not closing.is_alive() and stream._loop.is_closed()
        own_nats.resume()
        monkeypatch.undo()


def test_a_password_is_sent_to_no_server_that_does_not_encrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("academy.store.shared_log.connection._CONNECTING_SECONDS", 2.0)
    heard = bytearray()

    def answer(server: socket.socket) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            # A client that refuses may reset the connection; the next one is heard all the same.
            with connection, suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(b'INFO {"server_id": "plain", "version": "2.10.0", "headers": true}\r\n')
                while part := connection.recv(4096):
                    heard.extend(part)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, args=[server], daemon=True).start()
        host = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(LogRefusedError, match=r"does not encrypt, as tls:// demands"):
            JetStreamLog(LogAddress.parse(f"tls://bob:secret@{host}/plain"))
        # The same server hears it of a client that does not mind.
        with pytest.raises(LogUnavailableError):
            JetStreamLog(LogAddress.parse(f"nats://bob:open@{host}/plain"))
    assert b"open" in heard and b"secret" not in heard


def test_a_log_is_shared_over_encrypted_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    server = authority.issue_cert("127.0.0.1")
    server.private_key_pem.write_to_path(tmp_path / "key.pem")
    server.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    files = f'cert_file: "{tmp_path}/cert.pem", key_file: "{tmp_path}/key.pem"'
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    more = f"tls {{ {files} }}\nauthorization {{ user: bob, password: secret }}\n"
    with NatsServer(tmp_path / "nats", more=more) as nats:
        with closing(JetStreamLog(LogAddress.parse(f"tls://bob:secret@{nats.host}/club"))) as log:
            assert log.state.last == 0
        monkeypatch.delenv("SSL_CERT_FILE")
        # No wait makes the certificate good.
        with pytest.raises(LogRefusedError, match=r"certificate verify failed"):
            JetStreamLog(LogAddress.parse(f"tls://bob:secret@{nats.host}/club"))
