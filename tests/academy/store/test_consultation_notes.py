"""Questions, uses and claims are counted once each, whatever is repeated."""

import random

import pytest

from academy.knowledge.claims import Claim, contradict
from academy.knowledge.fair_use import FairUseExceededError
from academy.knowledge.settings import Library
from academy.store import contest_tables, keys
from academy.store.codec.packing import unpack_message
from academy.store.consultation_notes import CountConsultation, NoteAnswer, NoteClaim, NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import TableName
from academy.store.errors import (
    ConsultationOrderError,
    ContestOverError,
    InvalidRecordError,
    UnknownContestError,
)
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.v1 import contests_pb2
from tests.academy.store.examples import (
    contest,
    count_keys_read,
    endgame_proposal,
    keep_notes,
    report,
    submission,
)

# Consultations


@pytest.mark.threat("leaks")
def test_consultations_are_counted_under_the_rule(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    moves = ["E5", "D3", "G7", "C4", "C6", "F3", "D8", "G4"]
    assert store.note(CountConsultation("c1", 1, moves[:2], own_move=2)) == 1
    with pytest.raises(FairUseExceededError):
        store.note(CountConsultation("c1", 1, moves[:4], own_move=3))
    assert store.note(CountConsultation("c1", 1, moves[:8], own_move=5)) == 2
    assert store.note(CountConsultation("c1", 2, moves[:1], own_move=1)) == 1
    keep_notes(store)
    assert [seat.consultations for seat in store.read(contest_tables.contest_record, "c1").seats] == [2, 1]


def test_the_same_question_again_is_not_counted(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    for _ in range(3):
        assert store.note(CountConsultation("c1", 1, [], own_move=1)) == 1


@pytest.mark.parametrize(
    ("moves", "common"), [([], 0), (["E5"], 1), (["E5", "C3"], 1), (["C3", "D3", "E3"], 0)]
)
def test_a_question_about_another_game_is_refused(store: Store, moves: list[str], common: int) -> None:
    store.run(OpenContest(contest("c1")))
    store.note(CountConsultation("c1", 1, ["E5", "D3"], own_move=2))
    with pytest.raises(ConsultationOrderError) as refused:
        store.note(CountConsultation("c1", 1, moves, own_move=50))
    assert refused.value.details() == {"common": str(common)}


def test_consultations_need_an_open_contest_and_a_seat_in_it(store: Store) -> None:
    with pytest.raises(UnknownContestError):
        store.note(CountConsultation("c1", 1, [], own_move=1))
    store.run(OpenContest(contest("c1")))
    for seat in (0, 3):
        with pytest.raises(InvalidRecordError, match="must be from 1 to 2"):
            store.note(CountConsultation("c1", seat, [], own_move=1))
    store.run(ReportContest(report("c1"), "arena"))
    with pytest.raises(ContestOverError):
        store.note(CountConsultation("c1", 1, [], own_move=1))


def test_a_list_of_moves_too_long_to_be_kept_is_refused(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    with pytest.raises(InvalidRecordError, match="moves: 262,145 characters in all; at most 262,144"):
        store.note(CountConsultation("c1", 1, ["E" * 1_024] * 256 + ["E"], own_move=129))
    assert store.note(CountConsultation("c1", 1, ["E" * 1_024] * 256, own_move=129)) == 1


# Uses


def test_uses_are_counted_by_the_report_once_a_contest(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    store.run(submission("c1", 1, [endgame_proposal(request)], "gnugo 1"))
    store.run(ReportContest(request, "arena"))
    (number,) = store.follow().refresh("go-9x9").libraries[Library.ENDGAME]
    for contest_id, wins in (("c2", True), ("c3", False)):
        store.run(OpenContest(contest(contest_id)))
        for _ in range(2):
            store.note(NoteUses(contest_id, 1, Library.ENDGAME, [number, 999]))
        keep_notes(store)
        # A contest that ends meanwhile has no part in it.
        store.run(ReportContest(report(f"beside/{contest_id}"), "arena"))
        store.run(ReportContest(report(contest_id, first_wins=wins), "arena"))
    # Too late, and for no contest at all: nothing is kept.
    store.note(NoteUses("c3", 1, Library.ENDGAME, [number]))
    store.note(NoteUses("none", 1, Library.ENDGAME, [number]))
    entry = store.follow().refresh("go-9x9").libraries[Library.ENDGAME][number]
    assert (entry.uses, entry.successes, entry.last_contest_id) == (2, 1, "c3")
    assert not list(check(store.environment))


def test_what_a_player_got_is_read_at_its_own_seat(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    for seat, number in ((2, 7), (1, 8)):
        store.note(NoteUses("c1", seat, Library.ENDGAME, [number]))
    store.run(ReportContest(report("c1"), "arena"))
    record = store.read(contest_tables.contest_record, "c1")
    seats = store.read(contest_tables.read_consultations, record).seats
    assert [[list(given.pattern_ids) for given in seat.patterns] for seat in seats] == [[[8]], [[7]]]


# Claims


def test_a_claim_contradicts_if_it_does_so_with_any_before_it(store: Store) -> None:
    chance = random.Random(5)
    outcomes = set()
    for number in range(300):
        claims: list[Claim] = []
        for _ in range(chance.randint(1, 6)):
            # Mostly one board, as an honest player has it; none is that of claims of long ago.
            board = chance.choices([bytes(8), b"a" * 8, b"b" * 8], [4, 12, 1])[0]
            claims.append(Claim(4, board, 0.2 + chance.randint(0, 11) / 1_000))
            # Those of another position have no part in it.
            beside = Claim(chance.choice([3, 5, None]), b"c" * 8, chance.random())
            contradicts = store.note(NoteClaim(f"c{number}", 1, claims[-1]))
            assert contradicts == contradict(claims)
            outcomes.add(contradicts)
            store.note(NoteClaim(f"c{number}", 2, beside))
            store.note(NoteClaim(f"c{number}/other", 1, beside))
    assert outcomes == {False, True}


def test_a_claim_costs_the_same_however_many_there_are_of_its_position(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    again = NoteClaim("c1", 1, Claim(4, b"a" * 8, 0.2))
    costs = []
    for first in (0, 200):
        for number in range(first, first + 200):
            store.note(NoteClaim("c1", 1, Claim(4, b"a" * 8, 0.2 + number / 100_000)))
        keep_notes(store)
        costs.append(count_keys_read(lambda: store.note(again)))
    assert costs[0] == costs[1] <= 10


def test_a_claim_that_contradicts_another_is_noted_without_an_answer(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    short = contests_pb2.PatternAnswer(patterns=3)

    def answer(value: float, number: int) -> NoteAnswer:
        claim = NoteClaim("c1", 1, Claim(4, b"a" * 8, value))
        return NoteAnswer(claim, short, [NoteUses("c1", 1, Library.ENDGAME, [number])])

    assert not store.note(answer(0.2, 7))
    assert store.note(answer(0.3, 8))
    keep_notes(store)
    with store.environment.reading() as transaction:
        answers = [value for _, value in transaction.scan(TableName.CLAIMS)]
        uses = [key for key, _ in transaction.scan(TableName.USES)]
    assert [unpack_message(contests_pb2.PatternAnswer, value) for value in answers if value] == [short]
    assert len(answers) == 2
    assert uses == [keys.use("c1", 1, Library.ENDGAME, 7)]


def test_a_question_that_comes_again_when_it_is_stored_is_counted_once_and_keeps_its_answer(
    store: Store,
) -> None:
    store.run(OpenContest(contest("c1")))
    claim = NoteClaim("c1", 1, Claim(4, b"a" * 8, 0.2))
    store.note(NoteAnswer(claim, contests_pb2.PatternAnswer(patterns=3)))
    keep_notes(store)
    store.note(claim)
    keep_notes(store)
    store.run(ReportContest(report("c1"), "arena"))
    (seat, _) = store.read(contest_tables.contest_record, "c1").seats
    assert (seat.claims, [question.answer.patterns for question in seat.questions]) == (1, [3])


def test_what_a_player_asked_stays_counted_when_it_contradicts_itself_later(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    store.note(CountConsultation("c1", 1, ["E5"], own_move=1))
    keep_notes(store)
    assert not store.note(NoteClaim("c1", 1, Claim(4, b"a" * 8, 0.2)))
    assert store.note(NoteClaim("c1", 1, Claim(4, b"a" * 8, 0.3)))
    keep_notes(store)
    (seat, _) = store.read(contest_tables.contest_record, "c1").seats
    assert seat.claims_contradict
    assert (seat.consultations, list(seat.consulted_moves), list(seat.opening_plies)) == (1, ["E5"], [1])
