"""The files of a competition: all beside its control file, all beginning with its name."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import URL

from academy.wire.files import write_whole
from arena.control.database_urls import database_url
from arena.match.game_seeds import KEY_BYTES, new_key
from arena.match.live_game import SUFFIX as LIVE_SUFFIX
from arena.results.database import ResultsError, sqlite_url
from arena.results.games import FinishedGame
from arena.results.run_lock import lock_file
from arena.results.series_reader import StoredRecord
from referees.legible_text import legible

STOP_WORD: Final = "stop"
_RESULTS: Final = (".results.sqlite", ".results.sqlite-wal", ".results.sqlite-shm")
_FILES: Final = (".log", ".hist", ".report", ".cmd", ".academy.log", ".secret")
_FOLDERS: Final = (".games", ".void", ".protocol", ".tokens", ".live")


class SecretFileError(ValueError):
    """The file of a competition's secret cannot be used."""


class CompetitionRunningError(RuntimeError):
    """The competition is being run by another process."""


class CompetitionFiles:
    """Where a competition keeps what. Two control files in a folder must differ before the extension."""

    def __init__(self, control: Path, results: URL | str | None = None) -> None:
        """Results are kept beside the control file, or in the database whose URL is `results`.

        Raises ValueError for a control file whose extension is one of the outputs' own, and for a
        URL that `database_url` refuses.
        """
        if control.suffix in (*_FILES, *_RESULTS, *_FOLDERS, ".sqlite", ".lock", ".academy"):
            raise ValueError(f"{control}: a control file may not end in {control.suffix}, an output does")
        self.name = control.stem
        self._base = control.with_suffix("")
        self.results = sqlite_url(self._at(".results.sqlite")) if results is None else database_url(results)
        self.own_results = results is None
        self.log = self._at(".log")
        self.history = self._at(".hist")
        self.report = self._at(".report")
        self.academy_log = self._at(".academy.log")
        self.games = self._at(".games")
        self.protocol = self._at(".protocol")
        self.live = self._at(".live")
        self._secret = self._at(".secret")
        self.tokens = self._at(".tokens")
        self._stop_request = self._at(".cmd")
        self._lock = self._at(".lock")

    def _at(self, extension: str) -> Path:
        return self._base.with_name(self._base.name + extension)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from running the competition, until the block or this process ends.

        Raises CompetitionRunningError, naming the process that runs it.
        """
        with self._lock.open("a+", encoding="ascii") as lock:
            if not lock_file(lock.fileno()):
                lock.seek(0)
                raise CompetitionRunningError(
                    f"the competition {self.name} is already running (process {lock.read().strip() or '?'})"
                )
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            yield

    def check_results(self) -> None:
        """Raise ResultsError if the competition has not been run."""
        if not self.results_exist():
            raise ResultsError(
                f"there are no results of {self.name!r} yet: {self.results.database} does not exist"
            )

    def results_exist(self) -> bool:
        """Whether there may be results: a database that is not a file is taken to have some."""
        file = self.results.database
        return self.results.get_backend_name() != "sqlite" or (file is not None and Path(file).exists())

    def running(self) -> bool:
        """Whether a process runs the competition now."""
        try:
            with self._lock.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    # The secret

    def seed_key(self) -> bytes:
        """The competition's secret, from which the seeds of its games come; made when it is first wanted.

        It is 64 hexadecimal digits in a file that only its owner may read. Raises SecretFileError where the
        file is another one, or may be read by others.
        """
        try:
            with self._secret.open(encoding="ascii") as file:
                mode, text = os.fstat(file.fileno()).st_mode, file.read(1 + 2 * KEY_BYTES + 1).strip()
        except FileNotFoundError:
            return self._new_seed_key()
        except UnicodeDecodeError:
            mode, text = 0, ""
        if not re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", text):
            raise SecretFileError(
                f"{self._secret}: not the secret of a competition ({2 * KEY_BYTES} hexadecimal digits); put "
                "back the file that was here, or delete it: games not yet played will have other seeds then"
            )
        if mode & 0o077:
            raise SecretFileError(
                f"{self._secret}: others may read it (mode {mode & 0o777:o}), and with it know all hands and "
                f"dice; delete it for a new secret, or if only you can have read it: chmod 600 {self._secret}"
            )
        return bytes.fromhex(text)

    def _new_seed_key(self) -> bytes:
        key = new_key()
        write_whole(self._secret, [f"{key.hex()}\n".encode()], private=True)
        return key

    # Stopping from outside

    def request_stop(self) -> None:
        """Ask the process that runs the competition to stop when its games are over."""
        self._stop_request.write_text(STOP_WORD, encoding="ascii")

    def stop_requested(self) -> bool:
        """Whether that was asked."""
        try:
            return self._stop_request.read_text(encoding="ascii", errors="replace").strip() == STOP_WORD
        except FileNotFoundError:
            return False

    def forget_stop(self) -> None:
        """Remove a request to stop."""
        self._stop_request.unlink(missing_ok=True)

    # Records

    def write_record(self, record: StoredRecord, void: bool = False) -> None:
        """Write a game's record file, whole or not at all."""
        folder = self._at(".void") if void else self.games
        folder.mkdir(exist_ok=True)
        file = folder / f"{record.game_id}.{record.extension}"
        # Waiting for the disk would cost each game; `recorded_games` knows a file that it lost.
        write_whole(file, [record.content.encode()], durable=False)

    def recorded_games(self) -> set[str]:
        """The ids of the finished games whose record files are there, with content."""
        return {file.stem for file in self.games.glob("*") if file.is_file() and file.stat().st_size}

    # Games in progress

    def live_game(self, game_id: str, attempt: int) -> Path:
        """The file that grows while a game is played; each attempt has its own."""
        return self.live / f"{game_id}.{attempt}{LIVE_SUFFIX}"

    def clear_live(self) -> None:
        """Make an empty folder for the games in progress: a run that was killed may have left some."""
        shutil.rmtree(self.live, ignore_errors=True)
        self.live.mkdir(mode=0o700, exist_ok=True)

    def delete_live(self) -> None:
        """Delete that folder."""
        shutil.rmtree(self.live, ignore_errors=True)

    def rewrite_history(self, lines: Iterable[str]) -> None:
        """Write the whole history file."""
        write_whole(self.history, (f"{line}\n".encode() for line in lines))

    def add_to_history(self, lines: Iterable[str]) -> None:
        """Add lines to the history file."""
        with self.history.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

    def write_report(self, text: str) -> None:
        """Write the report file, whole or not at all."""
        write_whole(self.report, [text.encode()])

    def delete_results(self) -> None:
        """Delete the results file beside the control file, with all that others keep in it."""
        for extension in _RESULTS:
            self._at(extension).unlink(missing_ok=True)

    def reset(self) -> None:
        """Delete all files the competition wrote but its results. What ACADEMY has learnt stays, too."""
        for extension in _FILES:
            self._at(extension).unlink(missing_ok=True)
        for extension in _FOLDERS:
            shutil.rmtree(self._at(extension), ignore_errors=True)


def history_line(game: FinishedGame, remark: str) -> str:
    """A game's line in the history file."""
    # Earlier releases stored what players wrote without escaping it.
    line = f"{game.game_id:>7} {legible(game.describe())}"
    return f"{line}  {legible(remark)}" if remark else line
