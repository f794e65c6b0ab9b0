"""The folder: a map that grows, transactions that keep their promises, and clear errors."""

import threading
from pathlib import Path
from typing import Any

import lmdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.store import data_copy
from academy.store import environment as environments
from academy.store.environment import SCHEMA_VERSION, Environment, TableName, Transaction
from academy.store.errors import (
    SchemaMismatchError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
)
from tests.academy.store.processes import run_python
from tests.waiting import until

CHUNK = bytes(1 << 14)
SMALL_MAP = 1 << 20


@pytest.fixture(autouse=True)
def small_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with little, so that growing does not take much."""
    monkeypatch.setattr(environments, "SMALLEST_MAP", SMALL_MAP)


def fill(transaction: Transaction, chunks: int) -> None:
    for number in range(chunks):
        transaction.put(TableName.EVENTS, number.to_bytes(8), CHUNK)


FILLING = """
    import sys
    from pathlib import Path
    from academy.store import environment as environments
    environments.SMALLEST_MAP = 1 << 20
    with environments.Environment(Path(sys.argv[1])) as environment:
        environment.write(lambda transaction: [
            transaction.put(environments.TableName.EVENTS, number.to_bytes(8), bytes(1 << 14))
            for number in range(500)
        ])
"""


def test_the_map_grows_and_the_write_that_made_it_grow_is_complete(tmp_path: Path) -> None:
    with Environment(tmp_path) as environment:
        assert environment.map_size == SMALL_MAP
        environment.write(lambda transaction: fill(transaction, 150))
        assert environment.map_size == 4 * SMALL_MAP
        with environment.reading() as transaction:
            assert transaction.count(TableName.EVENTS) == 150


def test_beyond_the_largest_map_a_write_is_refused_whole_and_others_go_on(tmp_path: Path) -> None:
    with Environment(tmp_path, largest_map=SMALL_MAP) as environment:
        environment.write(lambda transaction: fill(transaction, 10))
        with pytest.raises(StoreFullError, match="reached the limit of 1,048,576 bytes"):
            environment.write(lambda transaction: fill(transaction, 100))
        environment.write(lambda transaction: transaction.put(TableName.META, b"more", b"data"))
        with environment.reading() as transaction:
            assert transaction.count(TableName.EVENTS) == 10


def test_growing_waits_for_readers_of_other_threads(tmp_path: Path) -> None:
    with Environment(tmp_path) as environment:
        environment.write(lambda transaction: transaction.put(TableName.META, b"key", b"before"))
        reading, may_end = threading.Event(), threading.Event()
        seen: list[bytes | None] = []

        def read() -> None:
            with environment.reading() as transaction:
                reading.set()
                may_end.wait(10)
                seen.append(transaction.get(TableName.META, b"key"))

        reader = threading.Thread(target=read)
        reader.start()
        reading.wait(10)
        writer = threading.Thread(
            target=lambda: environment.write(lambda transaction: fill(transaction, 100))
        )
        writer.start()
        writer.join(0.3)
        assert writer.is_alive(), "the map must not move under a reader"
        may_end.set()
        writer.join(10)
        reader.join(10)
        assert not writer.is_alive()
        assert seen == [b"before"]


def test_questions_and_writes_go_on_while_a_backup_is_made_and_the_map_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, began, may_go_on = (tmp_path / name for name in ("data", "began", "go on"))
    # A fake of a slow disk.
    slow = f'touch "{began}"; while [ ! -e "{may_go_on}" ]; do sleep 0.02; done; exec "$@"'
    monkeypatch.setattr(data_copy, "_COMMAND", ("sh", "-c", slow, "slow", *data_copy._COMMAND))
    (tmp_path / "copy").mkdir()
    with Environment(data) as environment:
        copier = threading.Thread(target=lambda: environment.copy(tmp_path / "copy"))
        copier.start()
        until(began.exists)
        # Another process makes the map larger, then this one.
        run_python(FILLING, str(data))
        with environment.reading() as transaction:
            assert transaction.count(TableName.EVENTS) == 500
        size = environment.map_size
        environment.write(lambda transaction: fill(transaction, 1_500))
        assert environment.map_size > size
        assert copier.is_alive()
        may_go_on.touch()
        copier.join(60)
    with Environment(tmp_path / "copy", read_only=True) as copy, copy.reading() as transaction:
        assert transaction.count(TableName.EVENTS) == 1_500


def test_a_backup_is_complete_where_the_map_grew_after_its_process_opened_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, target = tmp_path / "data", tmp_path / "copy"
    target.mkdir()
    with Environment(data) as environment:
        environment.write(lambda transaction: fill(transaction, 10))
    opened, sizes = lmdb.open, []

    def open_then_grow(*arguments: Any, **options: Any) -> lmdb.Environment:
        copied = opened(*arguments, **options)
        sizes.append(copied.info()["map_size"])
        run_python(FILLING, str(data))
        return copied

    monkeypatch.setattr(lmdb, "open", open_then_grow)
    data_copy._copy(data, target)
    monkeypatch.undo()
    assert sizes[0] < (data / "data.mdb").stat().st_size
    with Environment(target, read_only=True) as copy, copy.reading() as transaction:
        assert transaction.count(TableName.EVENTS) == 500


def test_a_copy_that_finds_no_place_is_refused_as_before(tmp_path: Path) -> None:
    with Environment(tmp_path / "data") as environment:
        with pytest.raises(StoreError, match="No such file or directory"):
            environment.copy(tmp_path / "missing")
        environment.close()
        with pytest.raises(StoreClosedError):
            environment.copy(tmp_path / "copy")


def test_a_map_that_another_process_made_larger_is_taken_over(tmp_path: Path) -> None:
    with Environment(tmp_path) as environment:
        run_python(FILLING, str(tmp_path))
        with environment.reading() as transaction:
            assert transaction.count(TableName.EVENTS) == 500
        environment.write(lambda transaction: transaction.put(TableName.META, b"key", b"value"))
        assert environment.map_size > SMALL_MAP


def test_a_transaction_that_raises_leaves_nothing_behind(tmp_path: Path) -> None:
    def half(transaction: Transaction) -> None:
        transaction.put(TableName.META, b"half", b"")
        raise RuntimeError("no further")

    with Environment(tmp_path) as environment:
        with pytest.raises(RuntimeError):
            environment.write(half)
        with environment.reading() as transaction:
            assert transaction.get(TableName.META, b"half") is None


def test_only_the_nested_part_that_raises_is_undone(tmp_path: Path) -> None:
    def parts(transaction: Transaction) -> None:
        transaction.put(TableName.META, b"outer", b"")
        with pytest.raises(RuntimeError), transaction.begin_nested() as part:
            part.put(TableName.META, b"inner", b"")
            raise RuntimeError
        with transaction.begin_nested() as part:
            part.put(TableName.META, b"second", b"")

    with Environment(tmp_path) as environment:
        environment.write(parts)
        with environment.reading() as transaction:
            stored_keys = {key for key, _ in transaction.scan(TableName.META)}
    assert stored_keys == {b"schema", b"outer", b"second"}


@pytest.mark.parametrize("version", ["0", str(SCHEMA_VERSION + 1), "99"])
def test_another_schema_version_is_refused_by_number(tmp_path: Path, version: str) -> None:
    with Environment(tmp_path) as environment:
        environment.write(lambda transaction: transaction.put(TableName.META, b"schema", version.encode()))
    with pytest.raises(
        SchemaMismatchError, match=f"schema version {version}, this program reads {SCHEMA_VERSION}"
    ):
        Environment(tmp_path)
    # The refusal must not have kept the folder open.
    with pytest.raises(SchemaMismatchError):
        Environment(tmp_path)


def test_file_that_is_not_a_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"something else" * 1000)
    with pytest.raises(StoreCorruptError, match="restore a backup") as caught:
        Environment(tmp_path)
    assert str(caught.value).count(str(tmp_path)) == 1


def test_another_programs_lmdb_folder_is_not_read(tmp_path: Path) -> None:
    lmdb.open(str(tmp_path)).close()
    with pytest.raises(StoreCorruptError, match="no data of ACADEMY"):
        Environment(tmp_path, read_only=True)


def test_reading_only_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no data"):
        Environment(tmp_path / "none", read_only=True)
    assert not (tmp_path / "none").exists()


def test_an_empty_file_is_not_a_folder_to_read(tmp_path: Path) -> None:
    with Environment(tmp_path):
        pass
    (tmp_path / "data.mdb").write_bytes(b"")
    with pytest.raises(StoreCorruptError, match=r"data\.mdb is empty; restore a backup"):
        Environment(tmp_path, read_only=True)


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="data folder cannot be made"):
        Environment(tmp_path / "data")


def test_the_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    with Environment(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "data" / "data.mdb").stat().st_mode & 0o777 == 0o600


def test_after_closing_reads_are_refused(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.close()
    environment.close()
    with pytest.raises(StoreClosedError), environment.reading():
        pass


@given(
    keys=st.sets(st.binary(min_size=1, max_size=3).filter(lambda key: key[0] in b"\x00a\xff"), max_size=20),
    prefix=st.sampled_from([b"", b"a", b"aa", b"\xff", b"\xff\xff", b"\x00"]),
    rest=st.binary(max_size=2),
    backwards=st.booleans(),
)
def test_scanning_is_like_sorting(
    tmp_path_factory: pytest.TempPathFactory, keys: set[bytes], prefix: bytes, rest: bytes, backwards: bool
) -> None:
    start = prefix + rest
    expected = sorted((key for key in keys if key.startswith(prefix)), reverse=backwards)
    if rest:
        expected = [key for key in expected if (key <= start if backwards else key >= start)]
    with Environment(tmp_path_factory.mktemp("scan")) as environment:

        def put_all(transaction: Transaction) -> None:
            for key in keys:
                transaction.put(TableName.EVENTS, key, key)

        environment.write(put_all)
        with environment.reading() as transaction:
            scan = transaction.scan(
                TableName.EVENTS, prefix, start=start if rest else b"", backwards=backwards
            )
            assert list(scan) == [(key, key) for key in expected]


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "removed"])
def test_data_that_were_taken_away_take_no_more_writes(tmp_path: Path, replaced: bool) -> None:
    folder, saved = tmp_path / "data", tmp_path / "saved"
    saved.mkdir()
    with Environment(folder) as environment:
        environment.write(lambda transaction: fill(transaction, 2))
        environment.copy(saved)
        for _ in range(3):
            environment.write(lambda transaction: fill(transaction, 4))
        folder.rename(tmp_path / "aside")
        if replaced:
            saved.rename(folder)
        with pytest.raises(StoreError, match=r"data\.mdb was removed or replaced while this process used it"):
            environment.write(lambda transaction: fill(transaction, 6))
        with environment.reading() as transaction:
            assert transaction.count(TableName.EVENTS) == 4


WRITING = """
    import sys
    from pathlib import Path
    from academy.store.environment import Environment
    from academy.store.errors import StoreError
    try:
        Environment(Path(sys.argv[1])).close()
    except StoreError as error:
        print(error)
"""


def test_a_copy_laid_over_data_in_use_is_not_opened_with_their_lock(tmp_path: Path) -> None:
    folder, saved = tmp_path / "data", tmp_path / "saved"
    saved.mkdir()
    with Environment(folder) as environment:
        environment.write(lambda transaction: fill(transaction, 2))
        environment.copy(saved)
        for _ in range(3):
            environment.write(lambda transaction: fill(transaction, 4))
        (saved / "data.mdb").replace(folder / "data.mdb")
        assert "replaced while another process used it; stop all servers" in run_python(WRITING, str(folder))
    with Environment(folder) as environment, environment.reading() as transaction:
        assert transaction.count(TableName.EVENTS) == 2
