"""Damage of a data folder's file is found, and ends no process that looks for it."""

import random
import re
import struct
from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest

from academy.store.errors import StoreCorruptError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.backup import restore
from academy.store.page_scan import find_damage
from tests.academy.store.examples import go_game, learn
from tests.academy.store.processes import start_python

PAGE = 4096
# Folders that are damaged in each way.
EACH = 3
Damage = Callable[[random.Random, bytearray], None]


def zeros(chance: random.Random, page: bytearray) -> None:
    page[:] = bytes(PAGE)


def noise(chance: random.Random, page: bytearray) -> None:
    page[:] = chance.randbytes(PAGE)


def header(chance: random.Random, page: bytearray) -> None:
    page[:16] = chance.randbytes(16)


def few_bits(chance: random.Random, page: bytearray) -> None:
    for _ in range(8):
        page[chance.randrange(PAGE)] ^= 1 << chance.randrange(8)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with a little in it, a large record (of several pages) included."""
    folder = tmp_path_factory.mktemp("sound")
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=12)
    # Copied without the pages that are free again: what those hold is not damage.
    copy = tmp_path_factory.mktemp("copy")
    with lmdb.open(str(folder), max_dbs=0) as environment:
        environment.copy(str(copy), compact=True)
    return (copy / "data.mdb").read_bytes()


def damaged(folder: Path, sound: bytes, page: int, how: Damage, seed: int) -> Path:
    content = bytearray(sound)
    piece = content[page * PAGE : (page + 1) * PAGE]
    how(random.Random(seed), piece)
    content[page * PAGE : (page + 1) * PAGE] = piece
    folder.mkdir(exist_ok=True)
    (folder / "data.mdb").write_bytes(content)
    return folder


def test_a_sound_file_gives_no_finding(tmp_path: Path, sound: bytes) -> None:
    (tmp_path / "data.mdb").write_bytes(sound)
    assert find_damage(tmp_path) == []


def test_an_empty_store_gives_no_finding(tmp_path: Path) -> None:
    Store(tmp_path).close()
    assert find_damage(tmp_path) == []


def in_use(sound: bytes) -> list[int]:
    """Pages that say their own number: all but the further pages of large records."""
    return [
        number
        for number in range(2, len(sound) // PAGE)
        if struct.unpack_from("<Q", sound, number * PAGE)[0] == number
    ]


@pytest.mark.parametrize("how", [zeros, noise, header])
def test_lost_pages_are_found_and_the_table_is_named(tmp_path: Path, sound: bytes, how: Damage) -> None:
    pages = random.Random(how.__name__).sample(in_use(sound), 5)
    for page in pages:
        findings = find_damage(damaged(tmp_path / "bad", sound, page, how, seed=page))
        assert any(re.search("table|list of|data.mdb", finding) for finding in findings), page


def test_file_that_was_cut_is_named_with_its_length(tmp_path: Path, sound: bytes) -> None:
    (tmp_path / "data.mdb").write_bytes(sound[: len(sound) // 2 // PAGE * PAGE])
    assert all("the file ends after page" in finding for finding in find_damage(tmp_path))
    with pytest.raises(StoreCorruptError, match="the file ends after page"):
        Store(tmp_path)


def test_file_without_its_beginning_is_damaged(tmp_path: Path, sound: bytes) -> None:
    (tmp_path / "data.mdb").write_bytes(bytes(2 * PAGE) + sound[2 * PAGE :])
    assert len(find_damage(tmp_path)) == 1


CHECK = """
    import sys
    from pathlib import Path
    from academy.cli import main
    for folder in sys.argv[1:]:
        print("checking", folder)
        sys.argv = ["academy", "check", "--data", folder]
        try:
            main()
        except SystemExit as ended:
            print("ended", ended.code)
"""


def test_checking_a_damaged_folder_ends_with_a_verdict_and_never_with_the_process(
    tmp_path: Path, sound: bytes
) -> None:
    kinds = (zeros, noise, header, few_bits)
    folders = []
    for how in kinds:
        chance = random.Random(how.__name__)
        for turn in range(EACH):
            folder = tmp_path / f"{how.__name__}-{turn}"
            folders.append(damaged(folder, sound, chance.choice(in_use(sound)), how, seed=turn))
    process = start_python(CHECK, *map(str, folders))
    output, _ = process.communicate(timeout=180)
    ends = [line.removeprefix("ended ") for line in output.splitlines() if line.startswith("ended ")]
    assert process.returncode == 0, output
    assert len(ends) == len(folders), output
    assert set(ends) <= {"0", "1", "4"}
    for number in range(len(kinds)):
        assert "4" in ends[number * EACH : (number + 1) * EACH]


def test_a_damaged_backup_is_not_restored(tmp_path: Path, sound: bytes) -> None:
    source = damaged(tmp_path / "source", sound, in_use(sound)[0], zeros, seed=1)
    with pytest.raises(StoreCorruptError, match="keep this one for inspection"):
        restore(source, tmp_path / "target")
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize(
    ("content", "finding"),
    [(b"", "^data.mdb is empty$"), (b"something else" * 1_000, "^data.mdb cannot be read: MDB_INVALID")],
)
def test_file_of_another_kind_gives_one_finding(tmp_path: Path, content: bytes, finding: str) -> None:
    (tmp_path / "data.mdb").write_bytes(content)
    (damage,) = find_damage(tmp_path)
    assert re.search(finding, damage) and str(tmp_path) not in damage
