"""One game: how it is played, recorded and judged, and that nothing of it is left."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from sgfmill import sgf

from arena.jobs import AcademyAccess, Adjudication, Fault, PlayerSetup, TimeControl
from arena.match.game import InvalidJobError, play
from referees.api import InvalidSettingError, Outcome, Termination, UnknownRefereeError
from referees.go import Go
from tests.arena.engines import gnugo, job, misbehaving, needs_gnugo, noted, python_player
from tests.processes import left_running

# The fault, the player's Fault, and what the reason says. All in seat 1, against one who passes.
DURING_SET_UP = [
    ("hang-at-start", Fault.LATE, "'protocol_version': no answer within 5 s"),
    ("garbage-at-start", Fault.PROTOCOL, "first byte is b'p'"),
    ("wrong-version", Fault.PROTOCOL, "GTP of version '1'"),
    ("gmp", Fault.PROTOCOL, "speaks GMP"),
    ("exit-at-start", Fault.DISCONNECTED, "'protocol_version': exited with status 3"),
    ("refuses-set-up", Fault.REFUSED, "'boardsize 5': answered with a failure: \"out of wood\""),
]
DURING_THE_GAME = [
    ("hang-in-genmove", Fault.LATE, r"'genmove b': no answer within 0\.5 s"),
    ("half-an-answer", Fault.LATE, r"'genmove b': no answer within 0\.5 s"),
    ("garbage-in-genmove", Fault.PROTOCOL, 'must begin with "=" or "\\?", not "A1"'),
    ("exit-in-genmove", Fault.DISCONNECTED, 'exited with status 3; its last words: "no more stones"'),
    ("forking-and-exiting", Fault.DISCONNECTED, "exited with status 3"),
    ("crash-in-genmove", Fault.DISCONNECTED, "was killed by SIGSEGV"),
    ("crash-after-genmove", Fault.DISCONNECTED, "was killed by SIGABRT"),
    ("close-output", Fault.DISCONNECTED, "closed its channel"),
    ("flood-stdout", Fault.PROTOCOL, "response of more than 1048576 bytes"),
    ("huge-answer", Fault.PROTOCOL, "line of more than 1048576 bytes"),
    ("unasked-answer", Fault.PROTOCOL, "spoke without being asked: '= and another thing'"),
    ("illegal-move", Fault.ILLEGAL_MOVE, "attempted illegal move A1"),
    ("unreadable-move", Fault.ILLEGAL_MOVE, "attempted ill-formed move 'A0'"),
    ("refuses-moves", Fault.REFUSED, 'answered with a failure: "out of memory"'),
    ("refuses-genmove", Fault.REFUSED, 'answered with a failure: "no idea"'),
    ("memory-hog", Fault.DISCONNECTED, "exited with status 1"),
]
# The game is played as if nothing were, but for a warning.
HARMLESS = [
    ("none", None),
    ("hang-at-exit", "did not exit within 2 s"),
    ("ignore-sigterm", "did not exit within 2 s"),
    ("flood-stderr", None),
    ("forking", None),
    ("bad-values", "'1.5' is not a number from 0 to 1"),
]
LATE = {"hang-in-genmove", "half-an-answer"}


def villain(fault: str, tmp_path: Path, **setup: Any) -> PlayerSetup:
    return misbehaving(fault, environment={"MISBEHAVING_PIDS": str(tmp_path / "pids")}, **setup)


@pytest.mark.usefixtures("patient_obituary")
@pytest.mark.parametrize(("fault", "kind", "reason"), DURING_SET_UP)
def test_a_player_that_fails_before_the_first_move_is_asked_for_makes_the_game_void(
    fault: str, kind: Fault, reason: str, tmp_path: Path
) -> None:
    # In 5 s the player has noted itself on a busy machine, too.
    limit = 5.0 if fault == "hang-at-start" else 20.0
    result = play(job(villain(fault, tmp_path, start_seconds=limit), python_player("passer")))
    assert result.outcome is None
    assert re.search(reason, result.void_reason)
    assert "player villain" in result.void_reason
    assert result.usage[0].fault is kind
    assert result.usage[1].fault is Fault.NONE
    assert (result.moves, result.record) == ((), "")
    assert len(noted(tmp_path / "pids")) == 1
    assert not left_running(noted(tmp_path / "pids"))


@pytest.mark.parametrize(("fault", "kind", "reason"), DURING_THE_GAME)
def test_a_player_that_fails_during_the_game_forfeits_it(
    request: pytest.FixtureRequest, fault: str, kind: Fault, reason: str, tmp_path: Path
) -> None:
    if fault != "close-output":
        request.getfixturevalue("patient_obituary")
    limit = 0.5 if fault in LATE else 20.0
    result = play(
        job(
            villain(fault, tmp_path, move_seconds=limit, memory_bytes=512 << 20),
            python_player("passer"),
            log_path=str(tmp_path / "log"),
        )
    )

    assert result.outcome is not None
    assert (result.outcome.winners, result.outcome.summary) == ((2,), "W+F")
    assert result.outcome.termination is Termination.FORFEIT
    assert result.outcome.detail.startswith("forfeit by villain: ")
    assert re.search(reason, result.outcome.detail)
    assert result.usage[0].fault is kind
    assert re.search(reason, result.usage[0].remark)
    assert result.outcome.detail in result.warnings
    assert sgf.Sgf_game.from_string(result.record).get_winner() == "w"
    assert not left_running(noted(tmp_path / "pids"))


@pytest.mark.parametrize(("fault", "warning"), HARMLESS)
def test_harmless_fault_is_at_most_a_warning(fault: str, warning: str | None, tmp_path: Path) -> None:
    limit = 2.0 if fault in ("hang-at-exit", "ignore-sigterm") else 20.0
    result = play(
        job(
            villain(fault, tmp_path, exit_seconds=limit),
            python_player("passer"),
            log_path=str(tmp_path / "log"),
        )
    )
    assert result.outcome is not None
    assert result.outcome.summary == "B+24.5"
    assert [move.text for move in result.moves] == ["A1", "pass", "A2", "pass", "pass"]
    assert result.usage[0].fault is Fault.NONE
    assert bool(result.warnings) == (warning is not None)
    assert all(warning is not None and warning in line for line in result.warnings)
    assert len(noted(tmp_path / "pids")) == (2 if fault == "forking" else 1)
    assert not left_running(noted(tmp_path / "pids"))


def test_a_flood_of_errors_leaves_a_log_of_bounded_size(tmp_path: Path) -> None:
    play(job(misbehaving("flood-stderr"), python_player("passer"), log_path=str(tmp_path / "log")))
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0] == "0_1 villain: the fault is flood-stderr"
    assert lines[-1] == "0_1 villain: (more than fits in the log: what follows is dropped)"
    assert (tmp_path / "log").stat().st_size < 4 << 20


@pytest.mark.parametrize("fault", ["rejects-moves", "refuses-moves"])
def test_an_engines_answer_to_the_last_move_changes_nothing(fault: str) -> None:
    passing = python_player("passer")
    result = play(job(misbehaving(fault, "judge"), passing, move_limit=2))
    assert result.outcome is not None and result.outcome.termination is Termination.FORFEIT
    # Here the second pass is the first move the engine receives.
    result = play(job(passing, passing))
    assert result.outcome is not None and result.outcome.summary == "W+0.5"


@pytest.mark.parametrize(
    ("factory", "summary", "fault", "says"),
    [
        ("resigning", "W+R", Fault.NONE, ""),
        ("confused", "W+F", Fault.DISCONNECTED, "crashed with ZeroDivisionError: a bug"),
        ("sleepy", "W+F", Fault.LATE, "above 0.1 s"),
    ],
)
def test_python_players_are_judged_alike(factory: str, summary: str, fault: Fault, says: str) -> None:
    limit = 0.1 if factory == "sleepy" else 60.0
    result = play(
        job(python_player("p", f"tests.arena.engines:{factory}", move_seconds=limit), python_player("passer"))
    )
    assert result.outcome is not None
    assert result.outcome.summary == summary
    assert says in result.outcome.detail
    assert result.usage[0].fault is fault


def test_a_resignation_ends_the_game_with_its_comment_in_the_record() -> None:
    result = play(job(misbehaving("resigns"), python_player("passer")))
    assert result.outcome is not None
    assert (result.outcome.summary, result.outcome.termination) == ("W+R", Termination.RESIGNATION)
    assert "last comment of villain: stone 1" in result.record


def test_an_engine_may_tell_what_it_expected_before_its_move_too() -> None:
    moves = play(job(misbehaving("two-values"), python_player("passer"))).moves
    assert (moves[0].values, moves[0].value_before) == ({1: 0.75}, 0.25)
    assert moves[1].value_before is None


def test_move_holds_the_movers_values_and_the_referees_view() -> None:
    result = play(job(misbehaving("none"), python_player("hopeful", "tests.arena.engines:hopeful")))
    first, second = result.moves[:2]
    assert (first.seat, first.text, first.board) == (1, "A1", "-" * 20 + "x----")
    assert (first.legal_moves, first.values, first.comment) == (26, {1: 0.75}, "stone 1")
    assert (second.seat, second.text, second.legal_moves) == (2, "pass", 25)
    assert (second.values, second.comment) == ({2: 0.625}, "surely won")
    assert not first.interaction
    assert result.start_board == "-" * 25
    assert result.usage[0].cpu_seconds == 12.25
    assert result.usage[0].engine_name == "Misbehaving:1.5"
    assert result.usage[0].peak_memory_bytes is not None
    assert 1 << 20 < result.usage[0].peak_memory_bytes < 100 << 20


def test_the_move_limit_ends_a_game_without_a_result_but_not_one_that_ends_with_it() -> None:
    players = python_player("a"), python_player("b")
    cut = play(job(*players, move_limit=1))
    stopped = cut.outcome
    assert stopped is not None
    # Void is what does not count and is played again; this game counts.
    assert (stopped.winners, stopped.summary, stopped.termination) == ((), "?", Termination.MOVE_LIMIT)
    assert sgf.Sgf_game.from_string(cut.record).get_root().get("RE") == "?"
    finished = play(job(*players, move_limit=2)).outcome
    assert finished is not None and finished.termination is Termination.SCORE


def test_the_record_of_a_game_that_the_move_limit_ends_is_void_by_the_ringmasters_rule() -> None:
    stopped = play(job(python_player("a"), python_player("b"), move_limit=1, ringmaster_rules=True))
    assert stopped.outcome is not None and stopped.outcome.summary == "?"
    record = sgf.Sgf_game.from_string(stopped.record)
    assert record.get_root().get("RE") == "Void"
    assert record.get_last_node().get("C") == "? (hit the move limit of 1 plies)"


@pytest.mark.parametrize(
    ("black", "white", "summary", "detail"),
    [
        (misbehaving("none", "a"), python_player("b"), "B+1.5", ""),
        (python_player("a"), python_player("b"), "?", "no score reported"),
        (
            misbehaving("none", "a", parameters={"reliable_scorer": False}),
            python_player("b"),
            "?",
            "no score reported",
        ),
        (misbehaving("crash-at-score", "a"), python_player("b"), "?", "no score reported"),
    ],
)
def test_players_count_where_they_are_the_scorers(
    black: PlayerSetup, white: PlayerSetup, summary: str, detail: str
) -> None:
    outcome = play(job(black, white, scorer="players")).outcome
    assert outcome is not None
    assert (outcome.summary, outcome.detail) == (summary, detail)


def test_programs_get_their_game_in_their_environment(tmp_path: Path) -> None:
    script = tmp_path / "engine"
    script.write_text('#!/bin/sh\nenv >&2\nexec "$@"\n')
    script.chmod(0o755)
    engine = misbehaving("none", environment={"OWN": "1"})
    engine = type(engine)("e", (str(script), *engine.command), environment={"OWN": "1"})
    academy = AcademyAccess("unix:/run/academy", "c/0_1", ("ticket-b", "ticket-w"))
    log = tmp_path / "log"
    play(job(python_player("passer"), engine, academy=academy, log_path=str(log)), slot=3)
    logged = {line.split(": ", 1)[1] for line in log.read_text().splitlines()}
    assert {
        "OWN=1",
        "GOMILL_GAME_ID=0_1",
        "GOMILL_SLOT=3",
        "ACADEMY_ADDRESS=unix:/run/academy",
        "ACADEMY_CONTEST=c/0_1",
        "ACADEMY_GAME=go-5x5",
        "ACADEMY_PLAYER=2",
        "ACADEMY_TOKEN=ticket-w",
    } <= logged


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        (
            misbehaving("none", protocol="gmp"),
            "protocol 'gmp' is not one of daide, grpc, gtp, lines, policy, python",
        ),
        (misbehaving("none", parameters={"alias": {}}), "'alias' is not a parameter"),
        (misbehaving("none", parameters={"startup_commands": ["a\x01b"]}), "cannot be a word"),
        (misbehaving("none", working_directory="/nowhere"), "bad working directory: '/nowhere'"),
        (python_player("p", "no_colon"), "must be one 'module:factory'"),
        (python_player("p", "no.such.module:f"), "ModuleNotFoundError"),
        (type(misbehaving("none"))("p", ("no-such-engine",)), "'no-such-engine': there is no such program"),
    ],
)
def test_a_player_that_cannot_be_started_makes_the_game_void(setup: PlayerSetup, says: str) -> None:
    result = play(job(python_player("passer"), setup))
    assert result.outcome is None
    assert says in result.void_reason
    assert f"player {setup.name}" in result.void_reason
    assert result.usage[1].fault is not Fault.NONE


def test_unplayable_job_is_refused() -> None:
    first, second = python_player("a"), python_player("b")
    with pytest.raises(InvalidJobError, match="1 players for 2 seats"):
        play(job(first))
    with pytest.raises(InvalidJobError, match="scorer 'me' is not one of internal, players"):
        play(job(first, second, scorer="me"))
    with pytest.raises(InvalidJobError, match="failures 'win' is not one of forfeit, void"):
        play(job(first, second, failures="win"))
    with pytest.raises(InvalidSettingError):
        play(job(first, second, settings={"board_size": 1}))
    with pytest.raises(UnknownRefereeError):
        play(type(job(first))("0_1", "gomoku-on-the-moon", {}, (first, second), 1))


def test_one_name_in_two_seats_is_distinguished_by_the_seat(tmp_path: Path) -> None:
    twin = misbehaving("none", "twin")
    play(job(twin, twin, transcript=str(tmp_path / "t"), move_limit=2))
    speakers = {line.split()[1] for line in (tmp_path / "t").read_text().splitlines()}
    assert speakers == {"twin#1:", "twin#2:"}


@needs_gnugo
def test_gnu_go_plays_whole_games() -> None:
    settings = {"board_size": 9, "komi": 7.5}
    result = play(
        job(gnugo("one"), gnugo("two", 2), settings=settings, event="cup", game_id="0_7", scorer="players")
    )
    assert result.outcome is not None and result.outcome.termination is Termination.SCORE
    assert len(result.outcome.winners) == 1
    assert len(result.moves) > 10
    assert [move.seat for move in result.moves[:4]] == [1, 2, 1, 2]
    assert result.usage[0].engine_name.startswith("GNU Go:")
    assert all(usage.cpu_seconds and usage.peak_memory_bytes for usage in result.usage)
    game = sgf.Sgf_game.from_string(result.record)
    assert game.get_root().get("RE") == result.outcome.summary
    assert game.get_root().get("GN") == "cup 0_7"
    assert game.get_player_name("b").startswith("GNU Go:") and game.get_player_name("w").startswith("GNU Go:")
    assert len(list(game.get_main_sequence())) == len(result.moves) + 1
    assert result.warnings == ()


@needs_gnugo
def test_both_engines_are_given_a_fixed_handicap(tmp_path: Path) -> None:
    settings = {"board_size": 9, "komi": 0.5, "handicap": 3}
    result = play(
        job(gnugo("one"), gnugo("two"), settings=settings, transcript=str(tmp_path / "t"), move_limit=4)
    )
    assert result.void_reason == ""
    assert result.moves[0].seat == 2
    assert result.start_board.count("x") == 3
    lines = (tmp_path / "t").read_text().splitlines()
    assert lines.count(">> one: fixed_handicap 3") == lines.count(">> two: fixed_handicap 3") == 1


# Clocks


CLOCK = TimeControl(main_seconds=60.9, byo_yomi_seconds=5, byo_yomi_stones=3)


def sent_commands(transcript: Path, *commands: str) -> list[str]:
    lines = transcript.read_text().splitlines()
    return [line.split(": ", 1)[1] for line in lines if line.startswith(">>") and line.split()[2] in commands]


def test_engines_get_the_time_and_moves_hold_the_clock(tmp_path: Path) -> None:
    engine = misbehaving("none", time_control=CLOCK)
    result = play(job(engine, python_player("passer"), transcript=str(tmp_path / "t")))
    clock = sent_commands(tmp_path / "t", "time_settings", "time_left", "genmove")
    assert clock[:3] == ["time_settings 60 5 3", "time_left b 60 0", "genmove b"]
    assert clock.count("genmove b") == sum(line.startswith("time_left b") for line in clock) == 3
    mine = [move for move in result.moves if move.seat == 1]
    spent = sum(move.seconds for move in mine)
    assert mine[-1].clock_seconds == pytest.approx(60.9 - spent)
    assert mine[-1].clock_stones == 0
    assert result.moves[1].clock_seconds is None


@pytest.mark.parametrize(
    ("control", "settings"),
    [
        (TimeControl(60.9, increment_seconds=2), ["time_settings 60 0 0"]),
        (TimeControl(byo_yomi_seconds=9.6, byo_yomi_stones=1), ["time_settings 0 9 1"]),
        (TimeControl(byo_yomi_seconds=0.6, byo_yomi_stones=1), ["time_settings 0 1 1"]),
        # No whole second of it: an engine would read that it has no time at all.
        (TimeControl(0.6, increment_seconds=0.4), []),
    ],
)
def test_engines_get_whole_seconds_and_never_none_at_all(
    control: TimeControl, settings: list[str], tmp_path: Path
) -> None:
    play(job(misbehaving("none", time_control=control), python_player("p"), transcript=str(tmp_path / "t")))
    assert sent_commands(tmp_path / "t", "time_settings") == settings


def test_engines_without_clock_commands_get_no_time(tmp_path: Path) -> None:
    player = misbehaving(
        "none", time_control=CLOCK, parameters={"aliases": {"time_settings": "x", "time_left": "y"}}
    )
    play(job(player, python_player("passer"), transcript=str(tmp_path / "t")))
    assert sent_commands(tmp_path / "t", "time_settings", "time_left", "x", "y") == []


@pytest.mark.parametrize(
    ("player", "remark"),
    [
        (
            misbehaving("hang-in-genmove", time_control=TimeControl(2.0, margin_seconds=0.1)),
            r"'genmove b': no answer within [\d.]+ s \(lost on time: 2 s were left, and a margin of 0\.1",
        ),
        (
            python_player("p", "tests.arena.engines:sleepy", time_control=TimeControl(0.1)),
            r"took [\d.]+ s for a move, above 0\.1 s \(lost on time: 0\.1 s were left",
        ),
    ],
)
def test_player_that_oversteps_its_time_loses_with_the_exact_cause(player: PlayerSetup, remark: str) -> None:
    result = play(job(player, python_player("passer")))
    assert result.outcome is not None and result.outcome.summary == "W+F"
    assert re.search(remark, result.outcome.detail)
    assert result.usage[0].fault is Fault.LATE
    assert result.usage[0].own_moves == 1 and result.usage[0].wall_seconds > 0.1
    assert result.usage[1].own_moves == 0


def test_time_is_used_up_over_several_moves() -> None:
    slow = misbehaving("slow", time_control=TimeControl(0.5))
    result = play(job(slow, python_player("passer")))
    assert result.outcome is not None and result.outcome.summary == "W+F"
    assert "lost on time" in result.outcome.detail
    assert len(result.moves) < 5


# How games begin


def test_both_players_get_the_opening_and_the_record_holds_it(tmp_path: Path) -> None:
    result = play(
        job(
            misbehaving("none", "one"),
            misbehaving("none", "two"),
            opening=("c3", "B2", "D4"),
            opening_name="corner",
            transcript=str(tmp_path / "t"),
            move_limit=4,
        )
    )
    lines = (tmp_path / "t").read_text().splitlines()
    for player in ("one", "two"):
        plays = [line for line in lines if line.startswith(f">> {player}: play")]
        assert plays[:3] == [f">> {player}: play {move}" for move in ("b C3", "w B2", "b D4")]
    assert [(move.text, move.seat, move.opening) for move in result.moves] == [
        ("C3", 1, True),
        ("B2", 2, True),
        ("D4", 1, True),
        ("A1", 2, False),
    ]
    assert "Opening: corner (3 moves)" in result.record
    assert len(sgf.Sgf_game.from_string(result.record).get_main_sequence()) == 5


@pytest.mark.parametrize(
    ("opening", "reason"),
    [
        (("C3", "C3"), "opening 'x': move 2: point C3 is occupied"),
        (("C9",), "opening 'x': move 1: 'C9' is neither"),
        (("pass", "pass", "C3"), "opening 'x': move 3: the game is over"),
    ],
)
def test_an_opening_that_cannot_be_played_makes_the_game_void(opening: tuple[str, ...], reason: str) -> None:
    result = play(job(python_player("a"), python_player("b"), opening=opening, opening_name="x"))
    assert result.outcome is None and reason in result.void_reason
    assert result.record == ""


FREE = {"board_size": 5, "komi": 0.5, "handicap": 3, "handicap_style": "free"}


def test_black_places_a_free_handicap_and_white_gets_it(tmp_path: Path) -> None:
    engine = misbehaving("places-its-own-stones", "black")
    result = play(
        job(engine, misbehaving("none", "white"), settings=FREE, transcript=str(tmp_path / "t"), move_limit=2)
    )
    assert sent_commands(tmp_path / "t", "place_free_handicap", "set_free_handicap") == [
        "place_free_handicap 3",
        "set_free_handicap D4 B2",
    ]
    assert result.start_board == "-----" + "---x-" + "-----" + "-x---" + "-----"
    assert result.moves[0].seat == 2
    assert sgf.Sgf_game.from_string(result.record).get_root().get("HA") == 2


def test_where_a_python_player_is_black_the_referee_places_the_stones(tmp_path: Path) -> None:
    game = job(python_player("p"), misbehaving("none"), settings=FREE, transcript=str(tmp_path / "t"))
    assert play(game).start_board.count("x") == 3
    assert len(sent_commands(tmp_path / "t", "set_free_handicap")[0].split()) == 4


def test_bad_handicap_stones_make_the_game_void() -> None:
    result = play(job(misbehaving("places-bad-stones"), python_player("p"), settings=FREE))
    assert result.outcome is None
    assert "player villain: free handicap 'A1 A1': 2 to 3 different points" in result.void_reason
    assert result.usage[0].fault is Fault.PROTOCOL


# How games end


def test_a_claim_is_believed_of_a_player_that_may_claim() -> None:
    may = misbehaving("claims", parameters={"allow_claim": True})
    outcome = play(job(may, python_player("p"))).outcome
    assert outcome is not None
    assert (outcome.summary, outcome.detail, outcome.termination) == ("B+", "claim", Termination.CLAIM)
    may_not = play(job(misbehaving("claims"), python_player("p"))).outcome
    assert may_not is not None and may_not.termination is Termination.SCORE


@pytest.mark.parametrize(
    ("rules", "summary", "moves"),
    [
        (Adjudication(resign_value=0.05, resign_moves=2, two_sided=False), "W+", 3),
        (Adjudication(resign_value=0.05, resign_moves=2), "B+24.5", 5),
        (Adjudication(count_after=1), "B+24.5", 1),
    ],
)
def test_values_and_counts_end_a_game_by_its_rules(rules: Adjudication, summary: str, moves: int) -> None:
    result = play(job(misbehaving("hopeless"), python_player("p"), adjudication=rules))
    assert result.outcome is not None
    assert (result.outcome.summary, len(result.moves)) == (summary, moves)
    adjudicated = result.outcome.termination is Termination.ADJUDICATION
    assert adjudicated == (moves < 5)


@pytest.mark.parametrize(
    ("fault", "void"),
    [
        ("exit-in-genmove", True),
        ("garbage-in-genmove", True),
        ("refuses-genmove", False),
        ("illegal-move", False),
        ("hang-in-genmove", False),
    ],
)
def test_crashes_make_a_game_void_where_the_job_wants_that(fault: str, void: bool) -> None:
    result = play(
        job(
            python_player("p"),
            misbehaving(fault, move_seconds=0.5 if "hang" in fault else 20.0),
            failures="void",
        )
    )
    assert (result.outcome is None) == void
    assert result.usage[1].fault is not Fault.NONE
    if void:
        assert result.void_reason in result.usage[1].remark
        game = sgf.Sgf_game.from_string(result.record)
        assert game.get_root().get("RE") == "Void"
        assert len(game.get_main_sequence()) == 2
        assert result.void_reason.split('"')[0] in game.get_last_node().get("C")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({}, "Misbehaving:1.5"), ({"name_from_gtp": False}, "villain")],
)
def test_records_use_engines_own_names_by_default(parameters: dict[str, Any], name: str) -> None:
    engine = misbehaving("none", parameters=parameters)
    game = sgf.Sgf_game.from_string(play(job(engine, python_player("p"))).record)
    assert (game.get_player_name("b"), game.get_player_name("w")) == (name, "p")


@pytest.mark.parametrize(
    ("record", "error", "why"),
    [(None, TypeError, "is not text: NoneType"), ("\ud800", ValueError, "cannot be UTF-8")],
)
def test_a_record_that_no_file_can_hold_spoils_its_game_and_not_the_run(
    monkeypatch: pytest.MonkeyPatch, record: str | None, error: type[Exception], why: str
) -> None:
    monkeypatch.setattr(Go, "record", lambda self, game: record)
    with pytest.raises(error, match=f"the record of the referee 'go' {why}"):
        play(job(python_player("a"), python_player("b")))


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (
            Outcome((7,), Termination.SCORE, "seven"),
            "the winners (7,) are not seats from 1 to 2, each once, in their order",
        ),
        (
            Outcome((2, 1), Termination.SCORE, "jigo"),
            "the winners (2, 1) are not seats from 1 to 2, each once, in their order",
        ),
        (
            Outcome((1,), Termination.SCORE, "B+", points=(math.inf, 0.0)),
            "points (inf, 0.0) are not all finite",
        ),
    ],
)
def test_an_outcome_that_cannot_be_makes_the_game_void(
    outcome: Outcome, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Go.outcome
    monkeypatch.setattr(Go, "outcome", lambda self, position: counted(self, position) and outcome)
    result = play(job(python_player("passer"), python_player("passer")))
    assert result.void_reason == f"the referee of 'go' gives an outcome that cannot be: {why}"
    assert result.outcome is None


def test_an_adjudicated_outcome_that_cannot_be_makes_the_game_void(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome((7,), Termination.ADJUDICATION, "seven")
    monkeypatch.setattr(Go, "adjudicate", lambda self, position: outcome)
    players = (python_player("passer"), python_player("passer"))
    result = play(job(*players, adjudication=Adjudication(count_after=1)))
    assert result.outcome is None and "the winners (7,) are not seats from 1 to 2" in result.void_reason
