"""Shelves kept beside the data: used where they are as written, passed over where they are not."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from academy.knowledge.boards import Board
from academy.knowledge.settings import Library
from academy.matching.matches import MatchQuery
from academy.service import game_cache, pattern_cache
from academy.service.game_cache import CachedGame, GameCache
from academy.service.pattern_cache import PatternCache
from academy.store import game_tables
from academy.store.environment import PATTERN_CACHES
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeletePattern
from academy.store.library_store import Store
from academy.store.maintenance import backup
from tests.academy.store.examples import go_game, learn

GAME = "go-9x9"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "data") as store:
        store.run(RegisterGame(go_game(GAME), "arena"))
        yield store


def loaded(store: Store, *, from_file: bool) -> CachedGame:
    """A game as a server that starts now has it: made from its file, or from the store."""

    async def load() -> CachedGame:
        games = GameCache(store)
        game = await games.game(GAME)
        await games.close(0.0)
        return game

    with patch.object(PatternCache, "restore", autospec=True, side_effect=PatternCache.restore) as restore:
        game = asyncio.run(load())
    assert restore.call_count == from_file
    assert is_right(game)
    return game


def served(store: Store) -> None:
    """Serve until a stop that keeps all shelves."""

    async def serve() -> None:
        games = GameCache(store)
        await games.load(60.0)
        await games.close(60.0)

    asyncio.run(serve())


def is_right(game: CachedGame) -> bool:
    """Whether a patterns holds what one holds that is filled pattern by pattern."""
    spec = game.view.spec
    afresh = PatternCache(spec)
    for library, entries in game.view.libraries.items():
        for entry in entries.values():
            afresh.put(library, entry)
    boards = [Board.from_letters(spec.geometry, cells * 81) for cells in "-xo"]
    boards.append(Board.from_letters(spec.geometry, ("xo-" * 27)))
    answers = [
        [
            matches
            for board in boards
            for occurrences in [patterns.ranked.snapshot.match(MatchQuery(board))]
            for matches in zip(
                occurrences.pattern_ids.tolist(),
                occurrences.symmetries.tolist(),
                occurrences.rows.tolist(),
                strict=True,
            )
        ]
        for patterns in (game.patterns, afresh)
    ]
    kinds = [
        {name: (array.dtype, array.ndim, str(array.flags)) for name, array in patterns.to_arrays().items()}
        for patterns in (game.patterns, afresh)
    ]
    # Other kinds would cost another compilation, of half a minute.
    assert kinds[0] == kinds[1]
    return answers[0] == answers[1] and game.patterns.figures.tolist() == afresh.figures.tolist()


def file(folder: Path) -> Path:
    (saved_file,) = (folder / PATTERN_CACHES).iterdir()
    return saved_file


def test_a_game_that_is_loaded_first_is_kept_for_the_next_start(store: Store) -> None:
    learn(store, contests=5)
    loaded(store, from_file=False)
    assert loaded(store, from_file=True).saved == 1 + 5


def test_patterns_learnt_after_saving_are_added(store: Store) -> None:
    learn(store, contests=5)
    first = next(iter(loaded(store, from_file=False).view.libraries[Library.ENDGAME]))
    learn(store, contests=5, first=5)
    store.run(DeletePattern(GAME, Library.ENDGAME, first, "admin"))
    game = loaded(store, from_file=True)
    assert (game.saved, game.view.generation) == (1 + 5, 1 + 5 + 5 + 1)
    assert first not in game.patterns.ranked.pattern_ids


def test_stop_saves_changed_caches(store: Store) -> None:
    learn(store, contests=5)
    served(store)
    learn(store, contests=2, first=5)
    served(store)
    assert loaded(store, from_file=True).saved == 1 + 7


def test_a_server_that_runs_writes_the_file_again_now_and_then(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_cache, "_SECONDS_BETWEEN_ROUNDS", 0.01)
    monkeypatch.setattr(game_cache, "_GENERATIONS_NOT_KEPT", 3)
    learn(store, contests=2)

    async def serve() -> None:
        games = GameCache(store)
        keeping = asyncio.create_task(games.save_for_restarts())
        kept = 0
        for turn in range(1, 4):
            learn(store, contests=3, first=10 * turn)
            while (await games.game(GAME)).saved <= kept:
                await asyncio.sleep(0.01)
            kept = (await games.game(GAME)).saved
        keeping.cancel()
        await games.close(0.0)

    asyncio.run(asyncio.wait_for(serve(), 60.0))
    loaded(store, from_file=True)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def one_bit_other(place: int) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(content)

    return spoil


def test_damaged_cache_file_is_rebuilt(store: Store, tmp_path: Path) -> None:
    learn(store, contests=5)
    served(store)
    written = file(tmp_path / "data").read_bytes()
    places = (0, 9, 13, 17, 30, 60, 1_000, -1)
    for number, spoil in enumerate((truncated, emptied, *map(one_bit_other, places))):
        spoil(file(tmp_path / "data"))
        loaded(store, from_file=False)
        assert file(tmp_path / "data").read_bytes() == written, number


def test_cache_file_of_another_layout_is_rebuilt(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    learn(store, contests=5)
    with monkeypatch.context() as other:
        other.setattr(pattern_cache, "CACHE_LAYOUT", f"{pattern_cache.CACHE_LAYOUT} of another time")
        served(store)
    loaded(store, from_file=False)
    loaded(store, from_file=True)


def test_cache_file_older_than_the_feed_is_rebuilt(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_tables, "GENERATIONS_KEPT", 4)
    learn(store, contests=5)
    served(store)
    learn(store, contests=10, first=5)
    loaded(store, from_file=False)


@pytest.mark.parametrize("contests", [1, 4, 9])
def test_files_of_before_a_restore_are_not_used(tmp_path: Path, contests: int) -> None:
    """After it the game learns other things under the same numbers."""
    folder, saved = tmp_path / "data", tmp_path / "backup"
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=2)
        backup.backup(store.environment, saved)
        learn(store, contests=4, first=100)
        served(store)
    for part in ("data.mdb", "lock.mdb"):
        (folder / part).unlink()
    shutil.copy(saved / "data.mdb", folder / "data.mdb")
    with Store(folder) as store:
        learn(store, contests=contests, first=100)
        loaded(store, from_file=False)


def test_a_folder_that_takes_no_files_is_served_all_the_same(store: Store, tmp_path: Path) -> None:
    learn(store, contests=5)
    (tmp_path / "data" / PATTERN_CACHES).write_text("in the way")
    assert loaded(store, from_file=False).saved == 0


def test_games_beyond_the_memory_limit_are_loaded_on_use(store: Store) -> None:
    names = [GAME, "go-9x9.b", "go-9x9.c"]
    for name in names[1:]:
        store.run(RegisterGame(go_game(name), "arena"))
    for name in names:
        learn(store, contests=3, game_id=name)

    async def ask() -> None:
        games = GameCache(store, most_patterns=1)
        for name in (*names, *reversed(names)):
            assert (await games.game(name)).view.spec.game_id == name
            assert {size.game_id for size in games.sizes()} == {name}
        everything = GameCache(store)
        # Those who wait for the same game wait for one load of it.
        games_loaded = await asyncio.gather(*(everything.game(name) for name in names * 5))
        assert len({id(game) for game in games_loaded}) == len(names)
        for cache in (games, everything):
            await cache.close(0.0)

    asyncio.run(ask())
