"""Contests are opened at ACADEMY before their games, and what stops that is named with the way out."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from academy.store.tokens import Role
from academy.v1 import libraries_pb2
from arena.academy.lifecycle import ContestLifecycle
from arena.academy.session import AcademySession
from arena.control.settings import AcademySettings
from arena.results.database import ResultsDatabase, sqlite_url
from clients.connection import AcademyRefusedError
from referees.go import Go
from tests.academy.service.running import serving
from tests.arena.results.examples import registered

SPEC = Go.from_settings({"board_size": 9, "komi": 7.5}).spec()


def test_a_run_whose_rule_an_admin_made_too_loose_says_how_it_goes_on(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "data") as academy,
        closing(ResultsDatabase.open(sqlite_url(tmp_path / "results.sqlite"))) as database,
    ):
        settings = AcademySettings.model_construct(
            address=str(academy.address), data=tmp_path / "data", token=academy.token("arena", Role.ARENA)
        )
        with closing(AcademySession(settings, SPEC, tmp_path / "academy.log")) as session:
            outbox = registered(database).outbox
            contests = ContestLifecycle(session, outbox, print, {"pattern_value_limit": 0.2})
            now = time.monotonic()
            first, second = (
                contests.contest(name, SPEC, ("a", "b"), (1000.0, 1000.0)) for name in ("first", "second")
            )
            assert contests.open(first, now) is not None
            changed = libraries_pb2.UpdateSettingsRequest(
                game_id=SPEC.game_id, fields=["pattern_value_limit"]
            )
            changed.settings.pattern_value_limit = 0.1
            academy.admin().libraries.UpdateSettings(changed)
            with pytest.raises(
                AcademyRefusedError, match=r"the game has 0.1, .* give at most 0.1"
            ) as refused:
                contests.open(second, now)
            (note,) = refused.value.__notes__
            assert "change [fair_use] in the control file, and `arena run` goes on" in note
