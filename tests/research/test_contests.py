"""Contests of the learning study: rules as of each condition, and nobody measured without ACADEMY."""

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from academy.v1 import contests_pb2, contests_pb2_grpc
from arena.academy.client import AcademyClient, contest_message
from arena.academy.embedded import EmbeddedAcademy
from clients import Academy, AcademyRefusedError, Connection
from clients.bots.strength import Strength
from clients.seat import Seat
from referees.api import referee
from research import contests
from research.contests import AcademyLostError, Entrant, play
from research.learning.conditions import CONDITIONS, EVERYTHING
from research.learning.gnu_go import GnuGo
from research.learning.hall import Hall

TIC_TAC_TOE = referee("openspiel").from_settings({"game": "tic_tac_toe"})
SPEC = TIC_TAC_TOE.spec()
WEAK = Strength("monte-carlo", playouts=4)


def test_each_condition_is_measured_by_its_rules_and_teaches_nothing(tmp_path: Path) -> None:
    with closing(EmbeddedAcademy(tmp_path / "academy", tmp_path / "server.log")) as server:
        connection = replace(server.start(), timeout=60.0)
        hall = Hall(TIC_TAC_TOE, connection)
        for number in range(6):
            entrants = [Entrant("weak", WEAK, 1000.0), Entrant("strong", WEAK, 1500.0)]
            hall.teach(play(TIC_TAC_TOE, f"learnt/{number}", entrants, str(number)).report)
        for name, condition in CONDITIONS.items():
            hall.change_settings(condition.rules)
            _check_weights(connection, name)
            asking = Entrant("with", WEAK, 1000.0, condition.libraries)
            played = hall.meet(name, (asking, Entrant("without", WEAK, 1000.0)), name, time.process_time)
            assert played.score(1) + played.score(2) == 1.0
            assert played.seconds[1] > 0.0
            assert hall.knows("learnt/5") and not hall.knows(name)
        hall.close()


def test_a_game_whose_run_was_killed_before_it_had_settings_learns_the_same(tmp_path: Path) -> None:
    with closing(EmbeddedAcademy(tmp_path / "academy", tmp_path / "server.log")) as server:
        connection = server.start()
        link = AcademyClient(connection)
        link.register_game(SPEC)
        link.close()
        Hall(TIC_TAC_TOE, connection, evaluation_patterns=7).close()
        with connection.channel() as channel:
            answer = contests_pb2_grpc.ContestServiceStub(channel).GetGame(
                contests_pb2.GetGameRequest(game_id=SPEC.game_id), metadata=connection.metadata
            )
        learnt = answer.game.settings
        assert (learnt.evaluation, learnt.evaluation_patterns) == (True, 7)


def _check_weights(connection: Connection, condition: str) -> None:
    """In contests weights are given where the condition's rules say so, and nowhere else."""
    link = AcademyClient(connection)
    contest_id = f"asking/{condition}"
    ticket, _ = link.open_contest(contest_message(contest_id, SPEC, ["one", "two"], [1000.0, 1000.0]))
    seat = Seat(SPEC.game_id, SPEC.geometry, 1, contest_id)
    with Academy(replace(connection, token=ticket)) as academy:
        if condition in ("open", "open-own", "open-evaluated", "open-no-openings"):
            assert academy.weights(seat, SPEC).contests == 6
        else:
            with pytest.raises(AcademyRefusedError):
                academy.weights(seat, SPEC)
    link.close()


def test_a_player_that_went_on_without_academy_is_not_measured(tmp_path: Path) -> None:
    nobody = Academy(Connection(f"unix:{tmp_path}/nobody", "token", timeout=10.0))
    entrants = (Entrant("without", WEAK, 1000.0), Entrant("with", WEAK, 1000.0, EVERYTHING))
    with (
        nobody,
        pytest.raises(AcademyLostError, match="contest lost, seat 2: it went on without"),
    ):
        play(TIC_TAC_TOE, "lost", entrants, "seed", {2: nobody})


def test_an_endless_contest_is_adjudicated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contests, "LONGEST", 0)
    go = referee("go").from_settings({"board_size": 5, "komi": 7.5})
    entrants = (Entrant("black", WEAK, 1000.0), Entrant("white", WEAK, 1000.0))
    # Nobody has moved: White has the komi.
    assert play(go, "endless", entrants, "seed").winners == (2,)


def test_gnu_go_teaches_by_contests_that_are_the_same_each_time() -> None:
    go = referee("go").from_settings({"board_size": 5, "komi": 0.5})
    entrants = (Entrant("GNU Go", GnuGo(1), 1500.0), Entrant("weak", WEAK, 1000.0))
    played = play(go, "taught", entrants, "seed")
    assert played.winners == (1,)
    assert played.report.plies[-1].values[0].value != 0.5
    assert play(go, "taught", entrants, "seed").report == played.report
