"""Contests of the learning experiment: rules lifted one by one, and nobody measured without ACADEMY."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from academy.knowledge.fair_use import SEED_RULES
from academy.knowledge.settings import LibrarySettings
from arena.academy.client import AcademyClient, contest_message
from arena.academy.embedded import EmbeddedAcademy
from clients import Academy, Connection, FairUseError
from clients.bots.strength import Strength
from clients.seat import Seat
from referees.api import referee
from research.learning import contests
from research.learning.contests import (
    EVERYTHING,
    AcademyLostError,
    Entrant,
    Hall,
    Rule,
    UnlimitedOpeningsAcademy,
    UnlimitedPatternsSeat,
    play,
)

TIC_TAC_TOE = referee("openspiel").from_settings({"game": "tic_tac_toe"})
SPEC = TIC_TAC_TOE.spec()
WEAK = Strength("monte-carlo", playouts=4)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """An ACADEMY that learnt from players of Elo 1000 and 1500."""
    folder = tmp_path_factory.mktemp("academy")
    server = EmbeddedAcademy(folder / "academy", folder / "server.log")
    try:
        connection = replace(server.start(), timeout=60.0)
        hall = Hall(TIC_TAC_TOE, connection, LibrarySettings(analysed_patterns=10))
        for number in range(6):
            entrants = [Entrant("weak", WEAK, 1000.0), Entrant("strong", WEAK, 1500.0)]
            order = entrants if number % 2 else entrants[::-1]
            hall.teach(play(TIC_TAC_TOE, f"learnt/{number}", order, str(number)).report)
        hall.close()
        yield connection
    finally:
        server.close()


@pytest.mark.parametrize(("elo", "known"), [(1000.0, True), (1300.0, None), (2000.0, False)])
def test_openings_asked_always_are_those_that_fair_use_would_tell(
    connection: Connection, elo: float, known: bool | None
) -> None:
    link = AcademyClient(connection)
    contest_id = f"asking/{elo}"
    contest = contest_message(contest_id, SPEC, ["one", "two"], [elo, elo])
    for number, ticket in enumerate(link.open_contest(contest), 1):
        seat = Seat(SPEC.game_id, SPEC.geometry, number, contest_id)
        own = replace(connection, token=ticket)
        with Academy(own) as fair, UnlimitedOpeningsAcademy(own, connection, elo) as unlimited:
            moves = [] if number == 1 else [_first_move(connection)]
            openings = fair.opening(seat, moves, 0)
            assert known in (None, bool(openings))
            for _ in range(3):
                with pytest.raises(FairUseError):
                    fair.opening(seat, moves, 0)
                assert unlimited.opening(seat, moves, 0) == openings
    link.close()


def _first_move(connection: Connection) -> str:
    """One that both have played."""
    with Academy(connection) as academy:
        known = academy.opening(Seat(SPEC.game_id, SPEC.geometry, 1), [], 0)
        return max(known, key=lambda each: each.visits).move


def test_patterns_asked_always_are_asked_as_where_little_is_expected(connection: Connection) -> None:
    link = AcademyClient(connection)
    contest_id = "asking-for-patterns"
    ticket, _ = link.open_contest(contest_message(contest_id, SPEC, ["one", "two"], [1000.0, 1000.0]))
    start = TIC_TAC_TOE.start(0)
    first = next(iter(TIC_TAC_TOE.legal_moves(start, 1) or ()))
    board = TIC_TAC_TOE.board(TIC_TAC_TOE.play(start, {1: first}), 1)
    fair = Seat(SPEC.game_id, SPEC.geometry, 1, contest_id)
    always = UnlimitedPatternsSeat(SPEC.game_id, SPEC.geometry, 1, contest_id)
    with Academy(replace(connection, token=ticket)) as academy:
        told = academy.patterns(fair, [board], SEED_RULES.pattern_value_limit, both_players=True)
        assert told != [[]]
        for value in (0.1, SEED_RULES.pattern_value_limit, 0.5, 1.0):
            assert academy.patterns(always, [board], value, both_players=True) == told
        with pytest.raises(FairUseError):
            academy.patterns(fair, [board], 0.5, both_players=True)
        # Openings stay what they are: one before the first four moves.
        always.build_opening_request([], 0)
        assert not any(always.allows_opening(move) for move in range(4))
    link.close()


@pytest.mark.parametrize("lifted", [(), (Rule.OPENINGS,), (Rule.PATTERNS,), tuple(Rule)])
def test_contests_are_played_under_each_rule_and_nothing_is_learnt_from_them(
    connection: Connection, lifted: tuple[Rule, ...]
) -> None:
    hall = Hall(TIC_TAC_TOE, connection, LibrarySettings(analysed_patterns=10))
    student = Entrant("with", WEAK, 1000.0, EVERYTHING, lifted)
    contest_id = f"measured/{'-'.join(rule.name for rule in lifted)}"
    played = hall.meet(contest_id, (student, Entrant("without", WEAK, 1000.0)), "seed", time.process_time)
    assert played.score(1) + played.score(2) == 1.0
    assert played.seconds[1] > 0.0
    assert not hall.knows(contest_id)
    hall.close()


def test_who_went_on_without_academy_is_not_measured(tmp_path: Path) -> None:
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
