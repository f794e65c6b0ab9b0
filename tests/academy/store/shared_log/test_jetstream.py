"""The stream of NATS that servers share, by itself."""

import asyncio
import secrets
import socket
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from nats.aio.client import Client
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg, StorageType, StreamConfig

from academy.store.errors import LogDivergedError, LogRefusedError, LogUnavailableError
from academy.store.library_store import Store
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog, LostRaceError, Message
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
    monkeypatch.setattr("academy.store.shared_log.jetstream._CONNECTING_SECONDS", 0.1)
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


def test_several_nats_servers_that_are_not_a_cluster_are_named_at_once(nats: NatsServer) -> None:
    with pytest.raises(LogRefusedError, match="NATS refuses: replicas > 1 not supported in non-clustered"):
        JetStreamLog(LogAddress.parse(f"nats://{nats.host},127.0.0.1:1/copies-of-none"))


def test_a_nats_server_without_jetstream_is_answered_with_how_to_turn_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("academy.store.shared_log.jetstream.PATIENCE", 0.5)
    nats = NatsServer(tmp_path / "nats", jetstream=False)
    try:
        with pytest.raises(LogUnavailableError, match=r"\(JetStream .* is off: nats-server --jetstream"):
            JetStreamLog(nats.address("club"))
    finally:
        nats.kill()


def publish(stream: JetStreamLog, message: Message) -> str:
    """Publish a message, and return what becomes of it."""
    try:
        stream.publish(message, time.monotonic() + 20)
    except LostRaceError:
        return "lost"
    return "stored"


def test_a_message_that_is_sent_again_is_stored_once_and_has_not_lost_to_itself(log: LogAddress) -> None:
    with closing(JetStreamLog(log)) as stream, closing(JetStreamLog(log)) as other:
        first, second, others = (
            Message(1, b"x", "first"),
            Message(2, b"x", "second"),
            Message(3, b"x", "others"),
        )
        assert [publish(stream, message) for message in (first, first, second, second)] == ["stored"] * 4
        assert publish(other, others) == "stored"
        # NATS may also have taken another server's message before it is asked again.
        assert publish(stream, second) == "stored"
        assert publish(stream, Message(3, b"x", "late")) == "lost"
        assert stream.find_last(time.monotonic() + 20) == 3


def test_a_message_that_is_sent_again_is_looked_for_until_nats_answers(
    log: LogAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A fake of a NATS server that falls silent between two questions.
    tries, get_msg = [], JetStreamContext.get_msg

    async def answer_the_third(stream: JetStreamContext, *place: Any, **more: Any) -> RawStreamMsg:
        tries.append(place)
        if len(tries) < 3:
            raise NatsTimeoutError
        return await get_msg(stream, *place, **more)

    with closing(JetStreamLog(log)) as stream:
        assert publish(stream, Message(1, b"x", "first")) == "stored"
        monkeypatch.setattr(JetStreamContext, "get_msg", answer_the_third)
        assert publish(stream, Message(1, b"x", "first")) == "stored"
        with pytest.raises(LogUnavailableError, match="what was asked may have been done: try again"):
            tries.clear()
            stream.publish(Message(1, b"x", "first"), time.monotonic())
    assert len(tries) == 1


def test_a_message_whose_place_nobody_has_any_more_has_lost(log: LogAddress) -> None:
    with closing(JetStreamLog(log)) as stream:
        for number in (1, 2):
            assert publish(stream, Message(number, b"x", secrets.token_hex(16))) == "stored"
        stream.cut(2)
        # Behind the cut, and beyond the end of a stream that has lost messages.
        assert [publish(stream, Message(number, b"x", "late")) for number in (1, 9)] == ["lost"] * 2


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
        monkeypatch.setattr("academy.store.shared_log.jetstream._ANSWER_SECONDS", 0.5)
        end()

        stream.run(fill(stream))
        closing = threading.Thread(target=stream.close, daemon=True)
        closing.start()
        closing.join(20)
        assert not closing.is_alive() and stream._loop.is_closed()
        own_nats.resume()
        monkeypatch.undo()


def test_a_password_is_sent_to_no_server_that_does_not_encrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("academy.store.shared_log.jetstream._CONNECTING_SECONDS", 2.0)
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
    nats = NatsServer(
        tmp_path / "nats", more=f"tls {{ {files} }}\nauthorization {{ user: bob, password: secret }}\n"
    )
    try:
        with closing(JetStreamLog(LogAddress.parse(f"tls://bob:secret@{nats.host}/club"))) as log:
            assert log.state.last == 0
        monkeypatch.delenv("SSL_CERT_FILE")
        # No wait makes the certificate good.
        with pytest.raises(LogRefusedError, match=r"certificate verify failed"):
            JetStreamLog(LogAddress.parse(f"tls://bob:secret@{nats.host}/club"))
    finally:
        nats.kill()


@pytest.mark.parametrize(
    "change",
    [
        {"max_msgs_per_subject": 3},
        {"max_age": 3600.0},
        {"storage": StorageType.MEMORY},
        {"subjects": ["another-subject"]},
    ],
    ids=["few", "young", "memory", "others"],
)
def test_a_stream_that_may_lose_messages_is_refused(
    nats: NatsServer, log: LogAddress, change: dict[str, Any], tmp_path: Path
) -> None:
    config: dict[str, Any] = {"name": log.stream, "subjects": [log.subject], "storage": StorageType.FILE}
    with closing(JetStreamLog(nats.address("any"))) as client:
        subjects = config["subjects"] + change.get("subjects", [])
        client.run(client.stream.add_stream(StreamConfig(**config | change | {"subjects": subjects})))
    with pytest.raises(LogDivergedError, match=r"must keep all messages of .* in files; name another"):
        Store(tmp_path / "data", log=log)


def test_a_server_warns_where_the_stream_lacks_replicas(
    log: LogAddress, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path / "one", log=log):
        pass
    assert "copies" not in caplog.text
    with Store(tmp_path / "two", log=replace(log, replicas=3)):
        pass
    assert f"1 of 3 copies, until `nats stream edit {log.stream} --replicas 3`" in caplog.text
