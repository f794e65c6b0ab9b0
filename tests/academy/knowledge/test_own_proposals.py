"""What ACADEMY itself proposes from contests, and that it is judged like everybody's proposals."""

from dataclasses import replace

import pytest

from academy.knowledge import own_proposals
from academy.knowledge.boards import Board
from academy.knowledge.contests import ContestReport, Result
from academy.knowledge.cutting import around_move
from academy.knowledge.game import GameKnowledge
from academy.knowledge.own_proposals import ACADEMY_PROPOSER, move_own_vote, propose_from
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.text import write_cells
from academy.knowledge.votes import Vote, VoteTally

from .games import DIPLOMACY, GO, HEX, LOSS, MAP, WIN, cells, contest, with_boards

MOVES = ("C3", "A1", "D4", "E1", "B2", "E5")
# Black's second move is a tesuji: from 0.3 to 0.6. White's never are.
VALUES = {1: {1: 0.3}, 2: {2: 0.7}, 3: {1: 0.6}, 4: {2: 0.4}, 5: {1: 0.65}, 6: {2: 0.2}}


def played(
    results: tuple[Result, ...] = (WIN, LOSS), elos: tuple[float, ...] = (1500.0, 1600.0)
) -> ContestReport:
    """Stones put down one after another on a small board of Go."""
    letters, boards = ["-"] * 25, {}
    for number, move in enumerate(MOVES, 1):
        letters[GO.cell_names.index(move)] = "ox"[number % 2]
        boards[number] = Board.from_letters(GO.geometry, "".join(letters)).states
    empty = Board.from_letters(GO.geometry, "-" * 25).states
    return replace(with_boards(contest(MOVES, results, values=VALUES, elos=elos), boards), start_states=empty)


def analysed(
    report: ContestReport, most: int = 10, average_length: float = 5.0
) -> list[tuple[int, str, int]]:
    return [
        (proposal.seat, proposal.library.value, proposal.ply)
        for proposal in propose_from(report, GO, average_length, most)
    ]


def test_the_analysis_cuts_what_a_diligent_player_would_propose() -> None:
    # Two sizes of each; of both players the last 20 %, which is one ply, and White's is the last.
    assert analysed(played()) == [
        (1, "middle-game", 3),
        (1, "middle-game", 3),
        (2, "endgame", 6),
        (2, "endgame", 6),
    ]
    # The longer the game, the more of its end counts: the clearest positions come first.
    ends = analysed(played(), average_length=15.0)
    assert [ply for seat, library, ply in ends if library == "endgame"] == [5, 5, 6, 6, 4, 4]


@pytest.mark.parametrize(
    ("values", "cut"),
    [
        ((0.3, 0.5, 0.5), [3, 3]),
        ((0.3, 0.49, 0.49), []),
        ((0.45, 0.55, 0.55), [3, 3]),
        ((0.45, 0.54, 0.54), []),
        # The largest gain first, of equals the earliest.
        ((0.1, 0.3, 0.7), [5, 5]),
        ((0.1, 0.5, 0.7), [3, 3]),
        ((0.1, 0.3, 0.5), [3, 3]),
    ],
)
def test_the_middle_game_has_the_moves_that_gained_most_of_those_that_gained_enough(
    values: tuple[float, ...], cut: list[int]
) -> None:
    plies = list(played().plies)
    for number, value in zip((0, 2, 4), values, strict=True):
        plies[number] = replace(plies[number], values={1: value})
    made = analysed(replace(played(), plies=tuple(plies)), most=4)
    assert [ply for _, library, ply in made if library == "middle-game"] == cut


@pytest.mark.parametrize(
    ("most", "cut", "tesujis"), [(0, 0, 0), (1, 2, 0), (2, 4, 1), (3, 6, 1), (4, 8, 2), (100, 8, 2)]
)
def test_the_analysis_cuts_no_more_than_it_may_for_each_player_and_half_as_many_tesujis(
    most: int, cut: int, tesujis: int
) -> None:
    made = [library for _, library, _ in analysed(played(), most, average_length=15.0)]
    assert (len(made), made.count("middle-game")) == (cut, tesujis)


@pytest.mark.threat("flood")
def test_a_long_contest_takes_no_more_cuts_than_a_short_one_and_lets_others_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = replace(played(), plies=played().plies * 500)
    cuts: list[int] = []
    pauses: list[int] = []

    def counted(before: Board, after: Board, player: int) -> list[Pattern]:
        cuts.append(player)
        return around_move(before, after, player)

    monkeypatch.setattr(own_proposals, "around_move", counted)
    cut = propose_from(long, GO, 5.0, 6, lambda: pauses.append(len(cuts)))
    libraries = [proposal.library.value for proposal in cut]
    assert libraries == ["middle-game"] * 6 + ["endgame"] * 2
    # Two patterns a move: two moves for three, and White's last.
    assert len(cuts) == 5 and pauses == [0, 1, 2, 3, 5]


def test_the_patterns_lie_around_the_move() -> None:
    small, large = (proposal.pattern for proposal in propose_from(played(), GO, 5.0, 10)[:2])
    assert write_cells(small, GO.geometry).split() == ["-", "-", "-", "-", "x", "-", "x", "-", "-"]
    assert len(large.cells) == 25


@pytest.mark.parametrize("missing", ["values", "boards"])
def test_what_was_not_reported_is_not_analysed(missing: str) -> None:
    played_contest = played()
    plies = tuple(
        replace(ply, values={}) if missing == "values" else replace(ply, states=b"")
        for ply in played_contest.plies
    )
    assert propose_from(replace(played_contest, plies=plies), GO, 15.0, 10) == []


def test_a_board_that_is_missing_costs_the_moves_before_and_after_it() -> None:
    whole = {ply for _, _, ply in analysed(played(), average_length=30.0)}
    for missing in (2, 3, 4):
        plies = list(played().plies)
        plies[missing - 1] = replace(plies[missing - 1], states=b"")
        made = analysed(replace(played(), plies=tuple(plies)), average_length=30.0)
        assert {ply for _, _, ply in made} == whole - {missing, missing + 1}


def test_what_the_opponents_move_gained_does_not_count_as_ones_own() -> None:
    plies = list(played().plies)
    # Black says after White's move what it expects now.
    plies[1] = replace(plies[1], values={1: 0.55, 2: 0.7})
    assert "middle-game" not in {library for _, library, _ in analysed(replace(played(), plies=tuple(plies)))}


def test_games_of_many_players_or_without_turns_are_not_analysed() -> None:
    three = contest(["PAR"] * 3, (WIN, LOSS, LOSS), elos=(1.0,) * 3, names=("a", "b", "c"))
    assert propose_from(three, MAP, 3.0, 10) == propose_from(three, DIPLOMACY, 3.0, 10) == []
    at_once = replace(GO, simultaneous=True, symmetries=("identity",))
    assert propose_from(played(), at_once, 5.0, 10) == []


def learnt(*reports: ContestReport, most: int = 10) -> GameKnowledge:
    knowledge = GameKnowledge(GO, LibrarySettings(analysed_patterns=most))
    for number, report in enumerate(reports, 1):
        assert knowledge.learn(replace(report, contest_id=f"c/{number}"), number) == []
    return knowledge


def test_the_analysis_learns_from_players_who_propose_nothing_under_its_own_name() -> None:
    knowledge = learnt(played())
    middle, end = knowledge.libraries[Library.MIDDLE_GAME], knowledge.libraries[Library.ENDGAME]
    # Twelve were cut for the endgame, of which some are images of each other.
    assert (len(middle), len(end)) == (2, 9)
    votes = [vote for entry in middle for vote in entry.votes.counted]
    assert {(vote.player, vote.elo, vote.value) for vote in votes} == {(ACADEMY_PROPOSER, 1500.0, 0.6)}
    # White lost: its 0.4 counts as 0.16; Black's 0.65 as its root.
    assert {0.16, 0.806226} <= {round(vote.value, 6) for entry in end for vote in entry.votes.counted}


def test_own_proposals_switched_off_learns_nothing() -> None:
    assert not any(map(len, learnt(played(), most=0).libraries.values()))


@pytest.mark.parametrize(
    ("report", "counts"),
    [
        (played(), True),
        (played(results=(LOSS, WIN)), False),  # a lost game has no tesuji
        (played(elos=(1500.0, 1400.0)), False),  # against a much weaker player neither
        (played(elos=(1500.0, 1401.0)), True),
    ],
)
def test_the_rules_for_proposals_hold(report: ContestReport, counts: bool) -> None:
    assert bool(len(learnt(report).libraries[Library.MIDDLE_GAME])) == counts


def test_the_vote_of_the_analysis_moves_a_fifth_of_the_way_with_each_contest() -> None:
    again = played()
    plies = list(again.plies)
    plies[2] = replace(plies[2], values={1: 0.9})
    middle = learnt(played(), replace(again, plies=tuple(plies))).libraries[Library.MIDDLE_GAME]
    assert {entry.signature.proposers for entry in middle} == {1}
    assert {round(entry.signature.value, 6) for entry in middle} == {0.66}  # 0.6 + (0.9 - 0.6) / 5


OWN = Vote.of(ACADEMY_PROPOSER, 1500.0, 0.6, 1, 1)
ANN = Vote.of("ann", 1900.0, 0.1, 1, 0)


@pytest.mark.parametrize("tally", [VoteTally((ANN, OWN)), VoteTally((ANN,), silent=(OWN,))])
@pytest.mark.parametrize(
    ("elo", "value", "moved_elo", "moved_value"),
    [(1000.0, 0.9, 1400.0, 0.66), (2000.0, 0.1, 1600.0, 0.5), (1500.03, 0.600003, 1500.01, 0.600001)],
)
def test_the_analysis_moves_its_own_vote_where_others_have_voted_too(
    tally: VoteTally, elo: float, value: float, moved_elo: float, moved_value: float
) -> None:
    now = Vote.of(ACADEMY_PROPOSER, elo, value, 2, 0)
    moved = move_own_vote(now, PatternEntry(1, cells("x - o"), 1, tally))
    assert (moved.elo, moved.value, moved.event) == (moved_elo, moved_value, 2)
    assert move_own_vote(now, PatternEntry(1, cells("x - o"), 1, VoteTally((ANN,)))) == now


@pytest.mark.parametrize(("elo", "moves"), [(1300.0, False), (1300.01, True)])
def test_a_contest_of_a_player_200_below_a_pattern_moves_nothing(elo: float, moves: bool) -> None:
    once, twice = (
        [(entry.signature, entry.last_contest_id) for entry in knowledge.libraries[Library.MIDDLE_GAME]]
        for knowledge in (learnt(played()), learnt(played(), played(elos=(elo, elo))))
    )
    assert (once != twice) is moves


def test_the_same_contests_make_the_same_libraries() -> None:
    reports = [played(), played(results=(LOSS, WIN)), played(elos=(1000.0, 1250.0))] * 3
    first, second = learnt(*reports), learnt(*reports)
    assert first.counters == second.counters
    for library in (Library.MIDDLE_GAME, Library.ENDGAME):
        assert first.libraries[library].entries == second.libraries[library].entries


def test_hexagonal_boards_are_analysed_too() -> None:
    states = [Board.from_letters(HEX.geometry, "-" * 16).states]
    states += [Board.from_letters(HEX.geometry, letters + "-" * 14).states for letters in ("x-", "xo")]
    played_contest = contest(["a1", "b1"], values={1: {1: 0.6}, 2: {2: 0.3}})
    played_contest = with_boards(played_contest, dict(enumerate(states[1:], 1)))
    cut = propose_from(replace(played_contest, start_states=states[0]), HEX, 10.0, 10)
    assert sorted({len(proposal.pattern.cells) for proposal in cut}) == [7, 19]


def test_nothing_is_learnt_from_the_moves_of_a_muted_player() -> None:
    knowledge = GameKnowledge(GO, LibrarySettings(analysed_patterns=10))
    knowledge.mute("ann")
    knowledge.mute("bob")
    knowledge.learn(played(), 1)
    assert not any(map(len, knowledge.libraries.values()))
    knowledge.unmute("bob", ())
    knowledge.learn(replace(played(), contest_id="c/2"), 2)
    assert len(knowledge.libraries[Library.ENDGAME]) and not len(knowledge.libraries[Library.MIDDLE_GAME])
