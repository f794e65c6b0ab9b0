"""Patterns proposed by bots: held, judged with their contest, and listed."""

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from academy.knowledge.boards import Board
from academy.store import rebuild
from academy.store.environment import Transaction
from academy.store.maintenance.check import check
from academy.store.tokens import Role
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, proposals_pb2
from academy.wire.games import read_spec
from clients import Academy, Connection, Seat
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, ENDGAME, MIDDLE_GAME, board, contest, report
from tests.academy.service.running import SECONDS, Client, Running, refusal

AFTER = board("-----", "-----", "--x--", "-----", "-----")

# What the players expected, ply by ply: ann plays first.
VALUES = (0.4, 0.2, 0.7, 0.2, 0.75)


def opened(academy: Running, game_id: str, contest_id: str) -> list[Client]:
    academy.register(examples.tiny_go(game_id))
    return academy.open(contest(contest_id, game_id))


def submitted(
    client: Client, contest_id: str, *proposals: proposals_pb2.NewProposal
) -> list[proposals_pb2.Proposal]:
    request = proposals_pb2.SubmitProposalsRequest(contest_id=contest_id, proposals=proposals)
    return list(client.proposals.SubmitProposals(request).proposals)


def own(client: Client, **fields: object) -> proposals_pb2.ListProposalsResponse:
    return client.proposals.ListProposals(proposals_pb2.ListProposalsRequest(**fields))  # type: ignore[arg-type]


def tesuji(
    cells: str = "-x-", before: float = 0.4, value: float = 0.7, ply: int = 3
) -> proposals_pb2.NewProposal:
    return proposals_pb2.NewProposal(
        library=MIDDLE_GAME, cells=cells, ply=ply, value=value, value_before=before
    )


def test_proposals_wait_for_the_report_and_are_then_judged(academy: Running) -> None:
    ann, bob = opened(academy, "judged", "judged/1")
    held = submitted(
        ann,
        "judged/1",
        tesuji(),
        tesuji(cells="-o-"),
        tesuji(cells="---\n-x-", before=0.7, value=0.75, ply=5),
        proposals_pb2.NewProposal(library=ENDGAME, cells="x", ply=5, value=0.75),
        tesuji(cells="x-", before=0.1),
    )
    submitted(bob, "judged/1", tesuji())
    assert {proposal.verdict for proposal in held} == {proposals_pb2.VERDICT_HELD}

    played = report(contest("judged/1", "judged"), ["a1", "b2", "c3", "b4", "e5"], [AFTER] * 5, values=VALUES)
    ended = academy.report(played)

    assert (ended.accepted, ended.dropped) == (2, 4)
    # Newest first.
    judged = own(ann, contest_id="judged/1").proposals[::-1]
    verdicts = [(proposal.verdict, proposal.reason) for proposal in judged]
    assert [verdict for verdict, _ in verdicts] == [
        proposals_pb2.VERDICT_INSERTED,
        proposals_pb2.VERDICT_DROPPED,
        proposals_pb2.VERDICT_DROPPED,
        proposals_pb2.VERDICT_INSERTED,
        proposals_pb2.VERDICT_DROPPED,
    ]
    assert "did not stand on the board" in verdicts[1][1]
    assert "0.05" in verdicts[2][1] and "0.20" in verdicts[2][1]
    assert "the proposal gives 0.1 as the value before the move, but the last value stated" in verdicts[4][1]
    (of_bob,) = own(bob, contest_id="judged/1").proposals
    assert of_bob.player == "bob" and "stated no expected value after ply 3" in of_bob.reason


@pytest.mark.threat("vote_stuffing")
def test_a_bot_without_ticket_proposes_for_its_own_seat(academy: Running) -> None:
    opened(academy, "named", "named/1")

    assert submitted(academy.bot("bob"), "named/1", tesuji())[0].seat == 2
    refused = refusal(lambda: submitted(academy.bot("carl"), "named/1", tesuji()))
    assert refused.reason == "NOT_PERMITTED"


def test_player_of_both_seats_needs_a_ticket(academy: Running) -> None:
    academy.register(examples.tiny_go("both"))
    _, second = academy.open(contest("both/1", "both", ("ann", "ann")))

    assert "ticket" in refusal(lambda: submitted(academy.bot("ann"), "both/1", tesuji())).message
    assert submitted(second, "both/1", tesuji())[0].seat == 2


def test_own_proposals_come_in_pages_newest_first(fresh: Running) -> None:
    ann, _ = opened(fresh, "pages", "pages/1")
    cells = ["-x-", "--x", "-\nx", "-\n-\nx", "x"]
    for text in cells:
        submitted(ann, "pages/1", tesuji(cells=text))

    first = own(ann, page_size=2)
    second = own(ann, page_size=2, page_token=first.next_page_token)
    third = own(ann, page_size=2, page_token=second.next_page_token)

    seen = [proposal.content.cells for page in (first, second, third) for proposal in page.proposals]
    assert seen == cells[::-1]
    assert not third.next_page_token
    assert own(ann, contest_id="pages/1", page_size=100).proposals == own(ann, page_size=100).proposals


@pytest.mark.threat("flood")
def test_a_page_of_long_proposals_fits_into_an_answer(fresh: Running) -> None:
    ann, _ = opened(fresh, "long", "long/1")
    settings = game_pb2.LibrarySettings(max_submissions_per_contest=320)
    fresh.admin().libraries.UpdateSettings(
        libraries_pb2.UpdateSettingsRequest(
            game_id="long", settings=settings, fields=["max_submissions_per_contest"]
        )
    )
    for first in range(1, 321, 64):
        submitted(ann, "long/1", *(tesuji("-x-".ljust(16_000), ply=ply) for ply in range(first, first + 64)))

    page = own(ann, page_size=1_000)
    following = own(ann, page_size=1_000, page_token=page.next_page_token)

    plies = [proposal.content.ply for proposal in (*page.proposals, *following.proposals)]
    assert plies == list(range(320, 0, -1)) and not following.next_page_token


@pytest.mark.threat("impersonation")
def test_an_admin_reads_everybodys_proposals_and_others_their_own(academy: Running) -> None:
    ann, _ = opened(academy, "others", "others/1")
    submitted(ann, "others/1", tesuji())

    seen = own(academy.admin(), player="ann", contest_id="others/1").proposals

    assert [proposal.contest_id for proposal in seen] == ["others/1"]
    assert refusal(lambda: own(academy.bot("carl"), player="ann")).reason == "NOT_PERMITTED"
    assert [
        proposal.player for proposal in own(academy.arena(), player="ann", contest_id="others/1").proposals
    ] == ["ann"]


def test_proposals_of_several_games_are_listed_game_by_game(academy: Running) -> None:
    for game_id in ("listed", "beside"):
        ann, _ = opened(academy, game_id, f"{game_id}/1")
        submitted(ann, f"{game_id}/1", tesuji())

    for client, fields in ((academy.admin(), {}), (academy.admin(), {"player": "ann"}), (ann, {})):
        seen = own(client, game_id="listed", **fields).proposals
        assert [proposal.contest_id for proposal in seen] == ["listed/1"]
    refused = refusal(lambda: own(academy.admin(), game_id="lisetd"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_GAME")


def test_a_ticket_shows_its_players_proposals_in_all_contests_of_its_arena(fresh: Running) -> None:
    ann, bob = opened(fresh, "earlier", "earlier/1")
    submitted(ann, "earlier/1", tesuji())
    submitted(bob, "earlier/1", tesuji())
    fresh.report(report(contest("earlier/1", "earlier"), ["c3"]))
    ann, _ = opened(fresh, "earlier", "earlier/2")
    submitted(ann, "earlier/2", tesuji(cells="xx"))
    # Another arena's player who came to have the same identity does not tell this one's ticket more.
    other = fresh.client(fresh.token("other", Role.ARENA)).contests
    link = contests_pb2.LinkArenaRequest(arena="other", other="arena")
    request = contests_pb2.OpenContestRequest(contest=contest("elsewhere", "earlier"))
    other.OpenContest(request)
    fresh.admin().contests.LinkArena(link)
    request.contest.contest_id = "elsewhere/2"
    stranger = fresh.client(other.OpenContest(request).tickets[0])
    submitted(stranger, "elsewhere/2", tesuji(cells="-o-"))

    seen = [(proposal.contest_id, proposal.verdict, proposal.player) for proposal in own(ann).proposals]
    assert seen == [
        ("earlier/2", proposals_pb2.VERDICT_HELD, "ann"),
        ("earlier/1", proposals_pb2.VERDICT_DROPPED, "ann"),
    ]
    assert (
        "stated no expected value" in own(ann).proposals[1].reason or "plies" in own(ann).proposals[1].reason
    )
    dropped = own(ann, verdicts=[proposals_pb2.VERDICT_DROPPED]).proposals
    assert [proposal.contest_id for proposal in dropped] == ["earlier/1"]
    assert [proposal.contest_id for proposal in own(ann, contest_id="earlier/1").proposals] == ["earlier/1"]
    assert {proposal.arena for proposal in own(stranger).proposals} == {"other"}
    everybodys = own(fresh.admin()).proposals
    assert sorted((proposal.contest_id, proposal.player) for proposal in everybodys) == [
        ("earlier/1", "ann"),
        ("earlier/1", "bob"),
        ("earlier/2", "ann"),
        ("elsewhere/2", "ann"),
    ]
    assert len(own(fresh.arena()).proposals) == 3
    assert len(own(fresh.admin(), arena="other").proposals) == 1
    assert not own(fresh.client(fresh.token("new", Role.ARENA))).proposals


def unreadable(count: int) -> list[proposals_pb2.NewProposal]:
    """Different proposals, none of them a pattern."""
    return [
        proposals_pb2.NewProposal(library=ENDGAME, cells="?", ply=ply, value=0.5)
        for ply in range(1, count + 1)
    ]


@pytest.mark.threat("vote_stuffing")
def test_more_than_the_game_allows_are_refused_unread(academy: Running) -> None:
    client, _ = opened(academy, "unread", "unread")

    assert refusal(lambda: submitted(client, "unread", *unreadable(11))).reason == "TOO_MANY_PROPOSALS"
    # The same again is none more.
    assert refusal(lambda: submitted(client, "unread", *unreadable(1) * 11)).reason == "INVALID_RECORD"


@pytest.mark.threat("vote_stuffing")
def test_proposals_are_read_while_somebody_else_writes(academy: Running) -> None:
    client, _ = opened(academy, "read", "read")
    writing, refused = threading.Event(), threading.Event()

    def hold(_: Transaction) -> None:
        writing.set()
        assert refused.wait(SECONDS), "what cannot be read waited for the writer"

    with ThreadPoolExecutor(1) as other:
        held = other.submit(academy.store.environment.write, hold)
        assert writing.wait(SECONDS)
        reason = refusal(lambda: submitted(client, "read", *unreadable(1))).reason
        refused.set()
        held.result()
    assert reason == "INVALID_RECORD"


PAIR = "# # o # #\n# # - # #\nx - * - x"


def between(played: contests_pb2.Contest) -> contests_pb2.ReportContestRequest:
    """The second player moves between two stones of the first's, two cells below one of its own: `PAIR`."""
    boards = [EMPTY]
    for cell, piece in ((10, "x"), (2, "o"), (14, "x"), (12, "o")):
        boards.append(boards[-1][:cell] + piece + boards[-1][cell + 1 :])
    moves, values = ["a3", "c5", "e3", "c3"], [0.5, 0.4, 0.5, 0.7]
    request = report(played, moves, boards[1:], first="LOSS", values=values)
    request.start_board = EMPTY
    return request


def test_a_marked_pattern_becomes_a_tesuji_that_is_advised_and_taken_home(academy: Running) -> None:
    game_id, contest_id = "marked", "marked/1"
    game = examples.tiny_go(game_id)
    game.settings.tesuji_capacity, game.settings.local_weights = 1_000, True
    academy.register(game)
    played = contest(contest_id, game_id)
    _, player = academy.open(played)
    spec = read_spec(game)
    seat = Seat(game_id, spec.geometry, player=2, contest_id=contest_id)
    seat.record_marked_move(PAIR, 4, 0.4, 0.7)
    seat.record_marked_move(PAIR, 2, 0.4, 0.45)
    with Academy(Connection(str(academy.address), player.token)) as bot:
        (held,) = bot.propose(seat, 4)
        assert (held.verdict.value, held.cells) == ("held", PAIR)
        # The seat knows that it is held.
        assert bot.propose(seat, 4) == []
        academy.report(between(played))
        (status,) = bot.own_proposals(contest_id)
        assert (status.verdict.value, status.pattern_id) == ("inserted", 0), status.reason
    listed = academy.admin().libraries.ListTesujis(libraries_pb2.ListTesujisRequest(game_id=game_id)).tesujis
    (record,) = [record for record in listed if len(record.cells.replace("#", "").split()) == 7]
    assert record.chosen == 2 and record.weight_millionths > 0

    # In the same shape turned, and with exchanged colours, the cell is advised; at home, too.
    where = Board.from_letters(spec.geometry, board("--o--", "-----", "x----", "-----", "--o--"))
    with Academy(Connection(str(academy.address), academy.token("reader"))) as reader:
        reading_seat = Seat(game_id, spec.geometry, player=1)
        advice = reader.advise(reading_seat, where, [12, 7])
        weights = reader.weights(reading_seat, spec)
    assert advice.log_odds[0] > advice.log_odds[1]
    assert weights.advise(where, [12, 7], 1) == pytest.approx(list(advice.log_odds), rel=1e-5)
    assert not list(check(academy.store.environment))
    with academy.store.environment.reading() as transaction:
        again = rebuild.rebuild(transaction, game_id)[0].tesujis
    assert again.proposed and again == academy.store.follow().refresh(game_id).tesujis


def test_two_marks_and_marks_of_the_endgame_are_refused(academy: Running) -> None:
    ann, _ = opened(academy, "two-marks", "two-marks/1")
    refused = refusal(lambda: submitted(ann, "two-marks/1", tesuji(cells="* x #\n# - *")))
    assert "line 2, column 5: 2 cells are '*': the move goes to exactly one" in refused.message
    endgame = proposals_pb2.NewProposal(library=ENDGAME, cells="* x", ply=3, value=0.7)
    assert "for the middle game only" in refusal(lambda: submitted(ann, "two-marks/1", endgame)).message
