"""The stream that servers share, as it is made or refused."""

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext
from nats.js.api import RetentionPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import APIError, NotFoundError

from academy.store.errors import LogDivergedError, LogRefusedError, LogUnavailableError
from academy.store.library_store import Store
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog
from academy.store.shared_log.stream import Message
from tests.academy.store.shared_log.nats_servers import NatsServer, Place, start_cluster


def test_several_nats_servers_that_are_not_a_cluster_are_named_at_once(nats: NatsServer) -> None:
    with pytest.raises(LogRefusedError, match="NATS refuses: replicas > 1 not supported in non-clustered"):
        JetStreamLog(LogAddress.parse(f"nats://{nats.host},127.0.0.1:1/copies-of-none"))


def test_a_nats_server_without_jetstream_is_answered_with_how_to_turn_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("academy.store.shared_log.connection.PATIENCE", 0.5)
    refused = pytest.raises(LogUnavailableError, match=r"\(JetStream .* is off: nats-server --jetstream")
    with NatsServer(tmp_path / "nats", jetstream=False) as nats, refused:
        JetStreamLog(nats.address("club"))


@pytest.mark.slow
def test_more_copies_than_there_are_nats_servers_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("academy.store.shared_log.connection.PATIENCE", 8.0)
    servers = start_cluster([Place(tmp_path / str(number)) for number in range(2)])
    try:
        with pytest.raises(LogUnavailableError, match=r"fewer NATS servers know each other than the stream"):
            JetStreamLog(LogAddress.parse(f"nats://{servers[0].host}", 3))
    finally:
        for server in servers:
            server.kill()


@pytest.mark.parametrize(
    "change",
    [
        {"max_msgs_per_subject": 3},
        {"max_msgs": 3},
        {"max_bytes": 1_000_000},
        {"max_age": 3600.0},
        {"storage": StorageType.MEMORY},
        {"subjects": ["another-subject"]},
        {"retention": RetentionPolicy.WORK_QUEUE},
        {"retention": RetentionPolicy.INTEREST},
    ],
    ids=["few", "few-in-all", "small", "young", "memory", "others", "read-once", "read"],
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


def test_of_the_stream_that_a_server_makes_nobody_deletes_a_message(log: LogAddress) -> None:
    with closing(JetStreamLog(log)) as made:
        made.publish(Message(1, b"x", "first"), time.monotonic() + 20)
        with pytest.raises(APIError, match="message delete not permitted"):
            made.run(made.stream.delete_msg(log.stream, 1))
        assert made.read(1) == b"x"


def test_a_stream_that_another_server_makes_at_the_same_time_is_taken_as_it_is(
    log: LogAddress, nats: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, tries = JetStreamContext.stream_info, []

    async def find_none_at_first(stream: JetStreamContext, *name: Any, **more: Any) -> StreamInfo:
        tries.append(name)
        if len(tries) == 1:
            raise NotFoundError
        return await find(stream, *name, **more)

    with closing(JetStreamLog(nats.address("any"))) as client:
        other = StreamConfig(log.stream, subjects=[log.subject], description="with another setting")
        client.run(client.stream.add_stream(other))
    monkeypatch.setattr(JetStreamContext, "stream_info", find_none_at_first)
    with closing(JetStreamLog(log)) as joined:
        assert joined.state.last == 0


def test_a_server_warns_where_the_stream_lacks_replicas(
    log: LogAddress, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path / "one", log=log):
        pass
    assert "copies" not in caplog.text
    with Store(tmp_path / "two", log=replace(log, replicas=3)):
        pass
    assert f"1 of 3 copies, until `nats stream edit {log.stream} --replicas 3`" in caplog.text
