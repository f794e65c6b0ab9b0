"""Games registered, contests opened and reported, consultations counted: once each, whatever is repeated."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from academy.knowledge.claims import Claim, contradict
from academy.knowledge.fair_use import FairUseExceededError
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import InvalidGameError
from academy.store import arenas, contest_tables, event_log, game_tables
from academy.store.codec.games import settings_to_proto, spec_to_proto
from academy.store.contest_commands import (
    CountConsultation,
    NoteClaims,
    NoteUses,
    OpenContest,
    RegisterGame,
    ReportContest,
)
from academy.store.environment import Transaction
from academy.store.errors import (
    ConsultationOrderError,
    ContestConflictError,
    ContestOverError,
    GameConflictError,
    InvalidRecordError,
    UnknownContestError,
    UnknownGameError,
)
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.proposal_tables import ProposalFilter
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, events_pb2, game_pb2, proposals_pb2
from academy.wire.games import read_spec
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission

# Games


def test_registering_the_same_game_again_changes_nothing(store: Store) -> None:
    game, created = store.run(RegisterGame(go_game(), "another"))
    assert not created
    assert game == store.read(game_tables.game_record, "go-9x9")
    assert store.read(event_log.last_sequence) == 1


def test_settings_of_a_second_registration_do_not_count(store: Store) -> None:
    again = go_game()
    again.settings.CopyFrom(settings_to_proto(LibrarySettings(opening_capacity=1)))
    game, created = store.run(RegisterGame(again, "arena"))
    assert (game.settings.opening_capacity, created) == (1_000, False)


def test_a_game_of_many_begins_with_a_threshold_of_its_own(store: Store) -> None:
    seven = spec_to_proto(replace(read_spec(go_game()), game_id="seven", players=7, symmetric=False))
    game, _ = store.run(RegisterGame(seven, "arena"))
    assert game.settings.prune_below == 0.0943
    seven.game_id = "seven-set"
    seven.settings.prune_below = 0.33
    game, _ = store.run(RegisterGame(seven, "arena"))
    assert game.settings.prune_below == 0.33


@pytest.mark.parametrize(
    ("field", "value"), [("players", 1), ("expected_length", 61.0), ("reversal", "rotate_180")]
)
def test_another_game_of_the_same_id_is_refused_naming_what_differs(
    store: Store, field: str, value: object
) -> None:
    other = go_game()
    setattr(other, field, value)
    with pytest.raises(GameConflictError) as refused:
        store.run(RegisterGame(other, "arena"))
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("field", "value"), [("placement", game_pb2.PLACEMENT_OUTFLANKING), ("winning_row", 3)]
)
def test_a_game_keeps_the_shapes_of_its_tesujis_once_it_has_some(
    store: Store, field: str, value: int
) -> None:
    game = go_game("fighting")
    game.placement = game_pb2.PLACEMENT_CAPTURING
    store.run(RegisterGame(game, "arena"))
    other = go_game("fighting")
    setattr(other, field, value)
    with pytest.raises(GameConflictError) as refused:
        store.run(RegisterGame(other, "arena"))
    assert refused.value.field == field
    # An arena that may not describe games changes nothing, and neither does one that knows less.
    assert store.run(RegisterGame(other, "arena", may_describe=False))[0].placement == game.placement
    assert store.run(RegisterGame(go_game("fighting"), "arena"))[0].placement == game.placement


def ring(nodes: int) -> game_pb2.Game:
    """A game on a ring, that does not change when the ring is turned."""
    game = game_pb2.Game(game_id="ring", players=1, reversal="identity", expected_length=60.0)
    game.geometry.graph.nodes.extend(map(str, range(nodes)))
    for by in range(nodes):
        name = "identity" if by == 0 else f"turn {by}"
        game.symmetries.append(name)
        game.node_symmetries.add(name=name, image=[(node + by) % nodes for node in range(nodes)])
    return game


@pytest.mark.threat("bad_input")
def test_a_game_of_very_many_symmetries_is_refused_before_they_are_put_together(store: Store) -> None:
    assert store.run(RegisterGame(ring(48), "arena"))[1]
    # To put these together would take minutes.
    with pytest.raises(InvalidGameError, match="1,000 node symmetries: there may be 48"):
        store.run(RegisterGame(ring(1_000), "arena"))


def test_a_winning_row_that_does_not_fit_on_the_board_is_refused(store: Store) -> None:
    game = go_game("rows")
    game.geometry.square.rows = game.geometry.square.columns = 7
    game.ClearField("cell_names")
    plain = game_pb2.Game.FromString(game.SerializeToString())
    game.winning_row = 8
    refusal = "a winning row of 8: the longest row of this board has 7 cells"
    with pytest.raises(InvalidGameError, match=refusal):
        store.run(RegisterGame(game, "arena"))
    store.run(RegisterGame(plain, "arena"))
    with pytest.raises(InvalidGameError, match=refusal):
        store.run(RegisterGame(game, "arena"))
    game.winning_row = 7
    assert store.run(RegisterGame(game, "arena"))[0].winning_row == 7


def test_games_are_listed_in_pages(store: Store) -> None:
    for game_id in ("b", "a", "a.1", "z"):
        store.run(RegisterGame(go_game(game_id), "arena"))
    first = [game.game_id for game in store.read(game_tables.list_games, most=3)]
    rest = [game.game_id for game in store.read(game_tables.list_games, after=first[-1])]
    assert first + rest == ["a", "a.1", "b", "go-9x9", "z"]


# Opening


def test_an_open_contest_is_known_with_its_players(store: Store) -> None:
    opened, tickets = store.run(OpenContest(contest("c1")))
    assert opened.state == contests_pb2.CONTEST_STATE_OPEN
    assert [player.name for player in opened.players] == ["gnugo 1", "seki"]
    assert store.read(contest_tables.contest_record, "c1").contest == opened
    assert len(set(tickets)) == 2
    assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9") == "c1"
    assert store.read(contest_tables.open_contest_of_player, "sek", "go-9x9") is None
    assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x") is None


def test_opening_again_gives_new_tickets_and_keeps_the_counts(store: Store) -> None:
    _, first = store.run(OpenContest(contest("c1")))
    store.note(CountConsultation("c1", 1, ["E5"], own_move=1))
    again = contest("c1")
    again.players[0].elo = 9
    opened, second = store.run(OpenContest(again))
    assert set(first).isdisjoint(second)
    assert opened.players[0].elo == 1500
    assert store.note(CountConsultation("c1", 1, ["E5"], own_move=1)) == 1


@dataclass(frozen=True, slots=True)
class EarlierReport:
    """A report as a version took it that refused fewer names."""

    report: contests_pb2.ReportContestRequest

    def execute(self, work: WriteContext) -> None:
        reported = events_pb2.ContestReported(report=self.report)
        event = events_pb2.Event(
            game_id=self.report.contest.game_id, actor="arena", contest_reported=reported
        )
        work.record(event)


NO_LONGER_TAKEN = [
    ("\u265f\ufe0f bot", "character 2 of the name .* cannot be seen"),
    ("bot ", "begins or ends with a blank"),
    ("Andre\u0301", "is not in Unicode's normal form C"),
]


@pytest.mark.parametrize(("name", "refusal"), NO_LONGER_TAKEN)
def test_a_name_that_is_no_longer_taken_plays_on_where_it_has_a_rating(
    store: Store, name: str, refusal: str
) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    with pytest.raises(InvalidRecordError, match=rf"players\[1\]\.name: .*{refusal}"):
        store.run(OpenContest(contest("c1", names=("seki", name))))
    store.run(EarlierReport(report("c1", names=("seki", name))))
    # Another game of its competition has no rating of it yet.
    for game_id in ("go-9x9", "other"):
        names = [
            player.name
            for player in store.run(OpenContest(contest(game_id, game_id, (name, "seki"))))[0].players
        ]
        assert names == [name, "seki"]
    assert store.run(ReportContest(report("c2", names=(name, "seki")), "arena")).counted
    with pytest.raises(InvalidRecordError, match=rf"players\[0\]\.name: .*{refusal}"):
        store.run(OpenContest(contest("c3", names=(name * 2, name))))
    # The names of another arena's players are its own.
    store.run(OpenContest(contest("c4"), "arena"))
    with pytest.raises(InvalidRecordError, match=rf"players\[1\]\.name: .*{refusal}"):
        store.run(OpenContest(contest("c4", names=("seki", name)), "another"))


@pytest.mark.parametrize(
    ("game_id", "names", "field"),
    [("other", ("gnugo 1", "seki"), "game_id"), ("go-9x9", ("seki", "gnugo 1"), "players")],
)
def test_another_contest_of_the_same_id_is_refused(
    store: Store, game_id: str, names: tuple[str, str], field: str
) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    store.run(OpenContest(contest("c1")))
    with pytest.raises(ContestConflictError) as refused:
        store.run(OpenContest(contest("c1", game_id, names)))
    assert refused.value.field == field
    with pytest.raises(ContestConflictError):
        store.run(ReportContest(report("c1", game_id, names=names), "arena"))


def test_a_contest_needs_a_registered_game(store: Store) -> None:
    for game_id in ("chess", "no game", ""):
        with pytest.raises(UnknownGameError):
            store.run(OpenContest(contest("c1", game_id)))
    with pytest.raises(UnknownContestError):
        store.read(contest_tables.contest_record, "c1")


# Reporting


def test_a_report_counts_once(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    first = store.run(ReportContest(request, "arena"))
    again = store.run(ReportContest(request, "arena"))
    assert (first.counted, again.counted) == (True, False)
    assert again.contest == first.contest
    view = store.follow().refresh("go-9x9")
    assert view.measures.contests == 1
    assert view.openings.root.visits == 1
    assert view.openings.root.wins == (1, 0)
    assert store.read(event_log.last_sequence) == 2
    assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9") is None


def test_opening_first_is_not_needed_but_not_possible_after(store: Store) -> None:
    assert store.run(ReportContest(report("c1"), "arena")).counted
    with pytest.raises(ContestOverError):
        store.run(OpenContest(contest("c1")))


def test_report_may_leave_out_what_the_opening_gave(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    request = report("c1")
    request.contest.CopyFrom(contests_pb2.Contest(contest_id="c1"))
    assert store.run(ReportContest(request, "arena")).contest.players[1].name == "seki"


def test_a_wrong_report_leaves_the_contest_open(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    request = report("c1")
    request.plies[59].player = 7
    with pytest.raises(InvalidRecordError, match=r"plies\[59\]"):
        store.run(ReportContest(request, "arena"))
    assert store.read(contest_tables.contest_record, "c1").contest.state == contests_pb2.CONTEST_STATE_OPEN
    assert store.read(event_log.last_sequence) == 1
    assert store.run(ReportContest(report("c1"), "arena")).counted


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (
            lambda request: request.results.__setitem__(1, contests_pb2.RESULT_WIN),
            "results: win and win given",
        ),
        (
            lambda request: request.results.__setitem__(0, contests_pb2.RESULT_LOSS),
            "results: loss and loss given",
        ),
        (
            lambda request: request.results.__setitem__(1, contests_pb2.RESULT_DRAW),
            "results: win and draw given",
        ),
        (
            lambda request: request.results.__setitem__(0, contests_pb2.RESULT_DRAW),
            "one wins and the other loses",
        ),
        (
            lambda request: setattr(request.plies[3], "move", "E5\x1b[2J"),
            r"plies\[3\]\.move: character 3, '\\x1b'",
        ),
        (lambda request: setattr(request.plies[3], "move", "\u2028"), r"plies\[3\]\.move: character 1"),
        (lambda request: setattr(request, "termination", "a\nb"), "termination: character 2"),
        (
            lambda request: setattr(request.plies[3], "legal_moves", 2**32 - 1),
            r"plies\[3\]\.legal_moves: 4,294,967,295 given; at most 100,000 are allowed",
        ),
    ],
)
def test_what_no_contest_can_end_with_is_refused(
    store: Store, spoil: Callable[[contests_pb2.ReportContestRequest], None], complaint: str
) -> None:
    request = report("c1")
    spoil(request)
    with pytest.raises(InvalidRecordError, match=complaint):
        store.run(ReportContest(request, "arena"))
    assert store.read(event_log.last_sequence) == 1


def test_a_report_without_results_is_refused_also_where_something_was_claimed(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    store.note(NoteClaims("c1", 2, [Claim(0, bytes(8), 0.25)]))
    request = report("c1")
    del request.results[:]
    with pytest.raises(InvalidRecordError, match="results: 0 given for 2 players"):
        store.run(ReportContest(request, "arena"))
    assert store.run(ReportContest(report("c1"), "arena")).counted


@pytest.mark.parametrize("results", [("WIN", "LOSS"), ("LOSS", "WIN"), ("DRAW", "DRAW")])
def test_what_a_contest_of_two_can_end_with(store: Store, results: tuple[str, str]) -> None:
    request = report("c1")
    request.results[:] = [contests_pb2.Result.Value(f"RESULT_{result}") for result in results]
    assert store.run(ReportContest(request, "arena")).counted


def test_a_void_contest_teaches_nothing_and_drops_its_proposals(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    request = report("c1")
    store.run(submission("c1", 1, [endgame_proposal(request)], "gnugo 1"))
    void = contests_pb2.ReportContestRequest(contest=contest("c1"), void=True, termination="crash")
    ended = store.run(ReportContest(void, "arena"))
    assert (ended.counted, ended.accepted, ended.dropped) == (True, 0, 1)
    assert ended.contest.state == contests_pb2.CONTEST_STATE_VOID
    (proposal,), _ = store.read(arenas.list_proposals, ProposalFilter("gnugo 1"))
    assert (proposal.verdict, proposal.reason) == (
        proposals_pb2.VERDICT_DROPPED,
        "the contest ended without a result",
    )
    view = store.follow().refresh("go-9x9")
    assert (view.measures.contests, view.openings.root.visits) == (0, 0)
    # It stays void, whatever is reported later.
    assert not store.run(ReportContest(request, "arena")).counted
    assert not list(check(store.environment))


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
    kept = store.keep_notes()
    assert kept is not None
    kept.result()
    assert store.keep_notes() is None
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
    assert refused.value.common == common


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
        store.run(ReportContest(report(contest_id, first_wins=wins), "arena"))
    # Too late, and for no contest at all: nothing is kept.
    store.note(NoteUses("c3", 1, Library.ENDGAME, [number]))
    store.note(NoteUses("none", 1, Library.ENDGAME, [number]))
    entry = store.follow().refresh("go-9x9").libraries[Library.ENDGAME][number]
    assert (entry.uses, entry.successes, entry.last_contest_id) == (2, 1, "c3")
    assert not list(check(store.environment))


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
            contradicts = store.note(NoteClaims(f"c{number}", 1, [claims[-1]]))
            assert contradicts == contradict(claims)
            outcomes.add(contradicts)
            store.note(NoteClaims(f"c{number}", 2, [beside]))
            store.note(NoteClaims(f"c{number}/other", 1, [beside]))
    assert outcomes == {False, True}


def test_a_claim_costs_the_same_however_many_there_are_of_its_position(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.run(OpenContest(contest("c1")))
    read = 0

    def counting(self: Transaction, *arguments: Any, **options: Any) -> Iterator[tuple[bytes, bytes]]:
        nonlocal read
        for entry in scan(self, *arguments, **options):
            read += 1
            yield entry

    scan = Transaction.scan
    costs = []
    for first in (0, 200):
        for number in range(first, first + 200):
            store.note(NoteClaims("c1", 1, [Claim(4, b"a" * 8, 0.2 + number / 100_000)]))
        kept = store.keep_notes()
        assert kept is not None
        kept.result(30)
        with monkeypatch.context() as patched:
            patched.setattr(Transaction, "scan", counting)
            read = 0
            assert not store.note(NoteClaims("c1", 1, [Claim(4, b"a" * 8, 0.2)]))
            costs.append(read)
    assert costs[0] == costs[1] <= 10
