"""What one process commits, the server of another one tells; the benchmark notices where it does not."""

from pathlib import Path

import grpc
import pytest

from academy.store.library_store import Store
from academy.v1 import consultation_pb2_grpc
from benchmarks import following
from benchmarks.following import NotFollowedError, Reader, changes, reports, until
from benchmarks.load import full_game
from benchmarks.load.processes import Server


def test_a_reader_sees_reports_and_changed_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "WRITES", 4)
    # The kernel does not matter here, and Numba's may have to be compiled first.
    monkeypatch.setenv("ACADEMY_MATCHING_KERNEL", "numpy")
    with Store(tmp_path) as store:
        game_id = full_game.teach(store, share=0.02)
        token, _ = full_game.tokens(store)
        with Server(tmp_path) as server, grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            reader = Reader(consultation_pb2_grpc.ConsultationServiceStub(channel), token, game_id)
            assert len(reports(store, reader, game_id, first=0)) == 4
            assert reader.visits() == 4
            pattern_ids = list(reader.patterns().pattern_ids)
            assert len(changes(store, reader, game_id)) == 4
            assert list(reader.patterns().pattern_ids) == pattern_ids


def test_commit_that_is_never_shown_gives_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LONGEST", 0.0)
    with pytest.raises(NotFollowedError, match="not shown"):
        until(lambda: False)
