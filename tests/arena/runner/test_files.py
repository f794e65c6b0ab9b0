"""The files of a competition."""

import os
from pathlib import Path

from arena.results.series_reader import StoredRecord
from arena.runner.files import CompetitionFiles


def test_a_look_whether_a_competition_runs_changes_nothing(tmp_path: Path) -> None:
    files = CompetitionFiles(tmp_path / "cup.toml")
    assert not files.running()
    assert list(tmp_path.iterdir()) == []
    with files.locked():
        (lock,) = tmp_path.iterdir()
        before = lock.read_text()
        assert files.running()
        assert lock.read_text() == before == f"{os.getpid()}\n"
    assert not files.running()


def test_a_record_that_a_power_cut_emptied_is_written_again_also_while_another_is_edited(
    tmp_path: Path,
) -> None:
    files = CompetitionFiles(tmp_path / "cup.toml")
    for game_id in ("0_0", "0_1"):
        files.write_record(StoredRecord(game_id, "(;GM[1])", "sgf"))
    (files.games / "0_1.sgf").write_text("")
    # As Emacs makes while it edits a record.
    (files.games / ".#0_2.sgf").symlink_to("me@host.123")
    assert files.recorded_games() == {"0_0"}


def test_a_report_is_written_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "cup.report"
    os.mkfifo(pipe)
    # Open for reading and writing, so that neither side waits for the other.
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        CompetitionFiles(tmp_path / "cup.toml").write_report("the standings\n")
        assert os.read(reader, 1000) == b"the standings\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_a_report_that_is_a_link_is_written_where_it_leads(tmp_path: Path) -> None:
    file, link = tmp_path / "elsewhere", tmp_path / "cup.report"
    file.write_text("old")
    link.symlink_to(file)
    CompetitionFiles(tmp_path / "cup.toml").write_report("new")
    assert link.is_symlink() and file.read_text() == "new"
    assert set(tmp_path.iterdir()) == {file, link}
