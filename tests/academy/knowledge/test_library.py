"""Where a new pattern goes, and which one leaves a full library."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from academy.knowledge.boards import Board
from academy.knowledge.cells import Code, State
from academy.knowledge.contests import Verdict
from academy.knowledge.game import GameKnowledge
from academy.knowledge.library import PatternLibrary, TouchedPatterns, UnknownPatternError, VoteOutcome
from academy.knowledge.merging import generalised_cell, information
from academy.knowledge.pattern_entry import PatternEntry, UseCount
from academy.knowledge.patterns import InvalidPatternError, Pattern, grid_pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import write_cells
from academy.knowledge.votes import Vote, VoteTally

from . import strategies
from .games import DRAUGHTS, GO, HEX, MAP, cells, contest, endgame, tally_of
from .test_occurrence import occurs_plainly

MATCHED, SPECIALISED, GENERALISED, INSERTED = (
    Verdict.MATCHED,
    Verdict.SPECIALISED,
    Verdict.GENERALISED,
    Verdict.INSERTED,
)


class Shelf:
    """A library that numbers its patterns 1, 2, ... and takes each vote from a new player."""

    def __init__(self, spec: GameSpec = DRAUGHTS, **settings: Any) -> None:
        self.spec = spec
        self.library = PatternLibrary(spec)
        # Small patterns are easier to read.
        self.settings = LibrarySettings(**({"least_information": 0} | settings))
        self.event = 0

    def learn(
        self, text: str | Pattern, elo: float, value: float = 0.5, *, player: int = 1, by: str = ""
    ) -> VoteOutcome:
        self.event += 1
        pattern = cells(text, self.spec) if isinstance(text, str) else text
        vote = Vote.of(by or f"player {self.event}", elo, value, self.event)
        fresh = 1 + max(self.library.entries, default=0)
        return self.library.learn(pattern, player, vote, fresh, self.settings)

    def know(self, text: str, elo: float, value: float = 0.5, *, player: int = 1) -> int:
        """Put a pattern in without letting it meet the others."""
        self.event += 1
        number = 1 + max(self.library.entries, default=0)
        pattern = self.spec.canonical(cells(text, self.spec))
        votes = tally_of((elo, value), first=1000 + self.event)
        self.library.put(PatternEntry(number, pattern, player, votes))
        return number

    @property
    def texts(self) -> dict[int, str]:
        return {
            number: write_cells(entry.pattern, self.spec.geometry).replace("\n", " / ")
            for number, entry in self.library.entries.items()
        }


# The four ways in


@pytest.mark.parametrize("elo", [800.01, 1000.0, 3000.0])
def test_same_cells_match_for_every_proposer(elo: float) -> None:
    shelf = Shelf()
    shelf.know("x - o", 1000, 0.6)
    learnt = shelf.learn("x - o", elo, 0.9)
    assert (learnt.verdict, learnt.pattern_id) == (MATCHED, 1)
    assert shelf.texts == {1: "x - o"}
    votes = shelf.library.entries[1].votes
    assert len(votes.counted) + len(votes.silent) == 2


def test_a_better_players_pattern_specialises() -> None:
    shelf = Shelf()
    shelf.know("B - o", 1000)
    learnt = shelf.learn("x - o", 1200.01)
    assert (learnt.verdict, learnt.reason) == (SPECIALISED, "specialised pattern 1 of Elo 1000")
    assert shelf.texts == {1: "x - o"}


def test_an_equal_players_pattern_generalises() -> None:
    shelf = Shelf()
    shelf.know("b - o", 1000)
    learnt = shelf.learn("x - o", 1199.99)
    assert (learnt.verdict, learnt.reason) == (GENERALISED, "generalised with pattern 1 of Elo 1000")
    assert shelf.texts == {1: "B - o"}


@pytest.mark.parametrize(
    ("elo", "why"), [(1200, "exactly 200 above"), (800, "exactly 200 below"), (300, "weak")]
)
@pytest.mark.parametrize(("known", "new"), [("b - o", "x - o"), ("B - o", "x - o")])
def test_pattern_that_merges_with_none_enters_alone(elo: float, why: str, known: str, new: str) -> None:
    shelf = Shelf()
    shelf.know(known, 1000)
    learnt = shelf.learn(new, elo)
    assert (learnt.verdict, learnt.pattern_id) == (INSERTED, 2), why
    assert shelf.texts == {1: known, 2: new}
    entry = shelf.library.entries[2]
    assert (entry.signature.proposers, entry.uses, entry.successes) == (1, 0, 0)


def test_the_vote_counts_for_the_merged_pattern() -> None:
    shelf = Shelf()
    shelf.know("b - o", 1000, 0.5)
    shelf.learn("x - o", 1000, 0.8)
    entry = shelf.library.entries[1]
    assert (entry.signature.proposers, entry.signature.elo) == (2, 1000)
    assert entry.signature.value == pytest.approx(0.65)


def test_a_match_comes_before_a_specialisation() -> None:
    shelf = Shelf()
    shelf.know("B - o", 500)
    shelf.know("x - o", 1000)
    assert shelf.learn("x - o", 1000).pattern_id == 2
    assert shelf.texts[1] == "B - o"


def test_a_specialisation_comes_before_a_nearer_generalisation() -> None:
    shelf = Shelf(max_merged_cells=2)
    shelf.know("b - o", 1000)
    shelf.know("B - W", 500)
    learnt = shelf.learn("x - o", 1000)
    assert (learnt.verdict, learnt.pattern_id) == (SPECIALISED, 2)
    assert shelf.texts == {1: "b - o", 2: "x - o"}


# Which of several candidates


def test_the_candidate_with_fewest_merged_cells_is_taken() -> None:
    shelf = Shelf(max_merged_cells=2)
    shelf.know("b - w", 1150, 1.0)
    shelf.know("x - w", 1000, 0.5)
    assert shelf.learn("x - o", 1000, 0.5).pattern_id == 2
    assert shelf.texts == {1: "b - w", 2: "x - W"}


def test_the_strongest_candidate_is_taken_among_those_with_as_few_merged_cells() -> None:
    shelf = Shelf()
    shelf.know("b - o", 1000, 0.6)
    shelf.know("x - w", 1000, 0.1)
    assert shelf.learn("x - o", 1000).pattern_id == 2


def test_the_oldest_of_equal_candidates_is_taken() -> None:
    for first, second in (("b - o", "x - w"), ("x - w", "b - o")):
        shelf = Shelf()
        shelf.know(first, 1000, 0.6)
        shelf.know(second, 1000, 0.6)
        assert shelf.learn("x - o", 1000).pattern_id == 1


# What can merge at all


@pytest.mark.parametrize(
    ("known", "new", "most", "verdict"),
    [
        ("b b o", "x x o", 1, INSERTED),
        ("b b o", "x x o", 2, GENERALISED),
        ("b - o", "x - o", 0, INSERTED),
        # Other shapes, other edges.
        ("b - o -", "x - o", 9, INSERTED),
        ("b / - / o", "x - o", 9, INSERTED),
        ("b - +", "x - o", 9, INSERTED),
        ("b - +", "x - +", 9, GENERALISED),
        # Pairs outside the tables.
        ("1 - o", "x - o", 9, INSERTED),
        ("+ x -", "# x -", 9, INSERTED),
        ("# - o", "x - o", 9, INSERTED),
        # Only vague cells would be left.
        ("x # 2", "- # 2", 9, INSERTED),
    ],
)
def test_near_enough_to_merge(known: str, new: str, most: int, verdict: Verdict) -> None:
    shelf = Shelf(max_merged_cells=most)
    shelf.know(known, 1000)
    assert shelf.learn(new, 1000).verdict is verdict


@pytest.mark.parametrize(
    ("known", "value", "verdict"),
    [(0.67, 0.9, GENERALISED), (0.66, 0.9, INSERTED), (0.1, 0.32, GENERALISED), (0.1, 0.9, INSERTED)],
)
def test_colours_do_not_matter_where_both_values_are_decisive(
    known: float, value: float, verdict: Verdict
) -> None:
    shelf = Shelf()
    shelf.know("o - x", 1000, known)
    assert shelf.learn("x - x", 1000, value).verdict is verdict
    assert ("# - x" in shelf.texts.values()) is (verdict is GENERALISED)


def test_patterns_for_different_players_do_not_meet() -> None:
    shelf = Shelf(MAP)
    shelf.know("b PAR / x MAR", 1000, player=1)
    assert shelf.learn("b PAR / x MAR", 1000, player=2).verdict is INSERTED
    assert shelf.learn("x PAR / x MAR", 1000, player=2).verdict is GENERALISED
    assert shelf.library.entries[1].votes.proposers == 1


@pytest.mark.parametrize(
    ("new", "verdict", "result"),
    [
        ("o - - / - - - / x - -", MATCHED, "x - -/- - -/o - -"),
        ("b - - / - - - / o - -", GENERALISED, "B - -/- - -/o - -"),
        ("- - - / - - - / o - b", GENERALISED, "B - -/- - -/o - -"),
        ("- - b / - - - / - - o", GENERALISED, "B - -/- - -/o - -"),
    ],
)
def test_images_of_a_pattern_match_and_merge_too(new: str, verdict: Verdict, result: str) -> None:
    shelf = Shelf(GO)
    shelf.know("x - - / - - - / o - -", 1000)
    learnt = shelf.learn(new, 1000)
    assert (learnt.verdict, learnt.pattern_id) == (verdict, 1)
    assert shelf.library.entries[1].pattern == GO.canonical(cells(result))


# What a name may change, and how much may be lost

# One bot's way from nine cells to nearly nothing: each differs in one cell from what the one before left.
VAGUER = (
    "x x o / - o x / o - -",
    "o x o / - o x / o - -",
    "# o o / - o x / o - -",
    "# # x / - o x / o - -",
    "# # # / x o x / o - -",
    "# # # / 1 x x / o - -",
    "# # # / 1 # o / o - -",
    "# # # / 1 # # / x - -",
    "# # # / 1 # # / # x -",
)


@pytest.mark.parametrize("at_once", [True, False], ids=["in one contest", "over many contests"])
@pytest.mark.threat("vote_stuffing")
def test_one_name_cannot_turn_a_pattern_into_everything(at_once: bool) -> None:
    game = GameKnowledge(GO)
    proposals = [endgame(cells(text), 0.9) for text in VAGUER]
    for number, part in enumerate([proposals] if at_once else [[proposal] for proposal in proposals], 1):
        played_contest = contest(["pass"], names=("bot", "b"), values={1: {1: 0.9}}, proposals=tuple(part))
        game.learn(played_contest, number)
    known = game.libraries[Library.ENDGAME].entries[1]
    assert known.pattern == GO.canonical(cells("# x o / - o x / o - -"))
    assert min(information(entry.pattern.codes) for entry in game.libraries[Library.ENDGAME]) >= 8


@pytest.mark.parametrize(("least", "left"), [(0, 1.83), (8, 8.415), (15, 15.0)])
@pytest.mark.threat("vote_stuffing")
def test_many_names_together_leave_as_much_information_as_is_set(least: int, left: float) -> None:
    shelf = Shelf(GO, least_information=least)
    for text in VAGUER:
        shelf.learn(text, 1000, 0.9)
    assert information(shelf.library.entries[1].pattern.codes) == pytest.approx(left)


def test_what_a_name_proposes_near_a_pattern_that_it_changed_enters_alone_or_matches() -> None:
    shelf = Shelf(GO)
    shelf.learn("x x x x / o o o o", 1000, 0.5, by="ann")
    assert shelf.learn("x x x b / o o o o", 1000, 0.5, by="bob").verdict is GENERALISED
    assert shelf.learn("x x b B / o o o o", 1000, 0.5, by="bob").verdict is INSERTED
    assert shelf.learn("x x x B / o o o o", 1000, 0.5, by="bob").verdict is MATCHED
    # The first proposer changed nothing yet, and others may.
    assert shelf.learn("x b x B / o o o o", 1000, 0.5, by="ann").verdict is GENERALISED
    assert shelf.learn("b B x B / o o o o", 1000, 0.5, by="ann").verdict is INSERTED
    assert shelf.learn("x B x B / o o o w", 1000, 0.5, by="cy").verdict is GENERALISED


def test_narrowing_is_a_change_and_allows_no_further_one() -> None:
    shelf = Shelf()
    shelf.know("B B o", 1000)
    assert shelf.learn("x B o", 1500, by="ann").verdict is SPECIALISED
    assert shelf.learn("x x o", 1800, by="ann").verdict is INSERTED
    assert shelf.learn("x b o", 1800, by="bob").verdict is SPECIALISED


def test_the_next_candidate_is_taken_where_the_nearest_would_be_vague_or_was_changed() -> None:
    shelf = Shelf(least_information=7)
    shelf.know("B - W -", 900, 0.9)  # `1 - W -` would have 4.4 bits, `B - 2 -` as many
    shelf.know("x - o x", 900, 0.6)  # `x - o 1` has 7.4
    assert shelf.learn("x - o -", 1000, 0.9).pattern_id == 2
    assert shelf.texts == {1: "B - W -", 2: "x - o 1"}
    again = shelf.learn("x - o -", 1000, 0.9)
    assert again.verdict is INSERTED


def test_where_no_specialisation_may_be_made_a_generalisation_is() -> None:
    shelf = Shelf()
    shelf.know("B - W", 500)
    assert shelf.learn("B - o", 1000, by="ann").verdict is SPECIALISED
    shelf.know("x - w", 1250)
    assert shelf.learn("x - o", 1300, by="ann").verdict is GENERALISED
    assert shelf.texts == {1: "B - o", 2: "x - W"}


@pytest.mark.parametrize(
    ("text", "bits"),
    [("x", 3), ("b - W", 3 + 1 + 2), ("1 2 #", 0.83), ("x + +", 3), ("# # # / 1 # # / # 1 -", 1.83)],
)
def test_information_is_what_would_not_fit_by_chance(text: str, bits: float) -> None:
    assert information(cells(text).codes) == pytest.approx(bits)


def test_the_proposer_of_a_pattern_is_known_after_a_union_too() -> None:
    library = PatternLibrary(DRAUGHTS)
    library.put(PatternEntry(1, cells("x"), 1, tally_of((1, 1)), changers=frozenset({1, 2})))
    library.add(PatternEntry(2, cells("x"), 1, tally_of((2, 1), first=2), changers=frozenset({2, 3})))
    assert library.entries[1].changers == {1, 2, 3}


# Two patterns become one


def test_patterns_whose_labels_lie_200_apart_do_not_become_one() -> None:
    shelf = Shelf()
    shelf.know("B - o", 1500)
    shelf.know("b - o", 1000)
    assert shelf.learn("x - o", 1000).verdict is INSERTED
    assert shelf.texts == {1: "B - o", 2: "b - o", 3: "x - o"}


def test_a_merge_that_equals_another_pattern_unites_their_votes_under_the_older_number() -> None:
    shelf = Shelf()
    shelf.know("B - o", 1199)
    shelf.know("b - o", 1000, 0.9)
    learnt = shelf.learn("x - o", 1000)
    assert (learnt.verdict, learnt.pattern_id) == (GENERALISED, 1)
    assert shelf.texts == {1: "B - o"}
    assert shelf.library.entries[1].signature.proposers == 3
    assert shelf.learn("B - o", 1000).verdict is MATCHED


def test_the_later_of_a_players_votes_on_both_counts() -> None:
    shelf = Shelf()
    shelf.learn("B - o", 1190, 0.5, by="ann")
    shelf.know("b - o", 1000, 0.9)
    shelf.learn("b - o", 1000, 0.9, by="bob")
    shelf.learn("x - o", 1000, 0.2, by="ann")
    (entry,) = shelf.library
    votes = {vote.player: (vote.elo, vote.value) for vote in entry.votes.counted}
    assert (votes["ann"], votes["bob"]) == ((1000, 0.2), (1000, 0.9))


def test_uses_are_added_and_the_later_contest_is_kept() -> None:
    library = PatternLibrary(DRAUGHTS)
    library.put(PatternEntry(1, cells("x"), 1, tally_of((1, 1)), 5, 3, 7, "seventh"))
    kept = library.add(PatternEntry(2, cells("x"), 1, tally_of((2, 1), first=2), 10, 4, 9, "ninth"))
    entry = library.entries[kept]
    assert (kept, entry.uses, entry.successes) == (1, 15, 7)
    assert (entry.last_contest, entry.last_contest_id) == (9, "ninth")
    assert len(library) == 1


def test_a_deleted_pattern_takes_its_older_number_back_with_the_votes_it_got_since() -> None:
    shelf = Shelf()
    shelf.learn("x - o", 1000, by="ann")
    deleted = shelf.library.remove(1)
    shelf.know("o - o", 1000)
    shelf.know("x - o", 1000)
    assert shelf.library.add(deleted) == 1
    votes = shelf.library.entries[1].votes
    assert len(votes.counted) + len(votes.silent) == 2
    assert 2 not in shelf.library.entries


def test_an_unknown_pattern_is_named() -> None:
    with pytest.raises(UnknownPatternError, match="no pattern 7 in this library"):
        PatternLibrary(GO).remove(7)


# Room


def fill(library: PatternLibrary, *strengths: tuple[float, float], last: tuple[int, ...] = ()) -> None:
    """Patterns 1, 2, ... of the given Elo and value."""
    for number, (elo, value) in enumerate(strengths, 1):
        pattern = grid_pattern([(0, column, Code.FIRST_SOLDIER) for column in range(number)])
        entry = PatternEntry(
            number, pattern, 1, tally_of((elo, value)), last_contest=last[number - 1] if last else 0
        )
        library.put(entry)


@pytest.mark.parametrize(
    ("strengths", "capacity", "leave"),
    [
        # 1000·.16 = 160, 2000·.04 = 80, 1500·.01 = 15
        ([(1000, 0.9), (2000, 0.3), (1500, 0.6)], 2, [3]),
        ([(1000, 0.9), (2000, 0.3), (1500, 0.6)], 1, [3, 2]),
        ([(1000, 0.9), (2000, 0.3), (1500, 0.6)], 0, [3, 2, 1]),
        ([(1000, 0.9), (2000, 0.3), (1500, 0.6)], 3, []),
        # Equally weak: the oldest goes.
        ([(1000, 0.6), (1000, 0.4), (1000, 0.6)], 2, [1]),
        ([(1000, 0.6), (1000, 0.4), (1000, 0.6)], 1, [1, 2]),
        ([(3000, 0.5), (0, 0.6), (2000, 0.5)], 1, [1, 3]),
        # Elo 0 and below count as 1.
        ([(-700, 1.0), (0, 0.99), (2, 0.9)], 1, [2, 1]),
    ],
)
def test_the_weakest_leave(strengths: list[tuple[float, float]], capacity: int, leave: list[int]) -> None:
    library = PatternLibrary(GO)
    fill(library, *strengths)
    assert library.evict_beyond(capacity, contests=0, forget_after=0) == leave
    assert len(library) == len(strengths) - len(leave)


@pytest.mark.parametrize(
    ("contests", "forget_after", "leaves"),
    [
        # Strengths 160, 80, 15; last used in contests 10, 100, 100.
        (100, 0, 3),
        (100, 91, 3),
        (100, 45, 3),  # halved twice: 40
        (100, 22, 1),  # four times: 10
        (100, 90, 3),
        (10_000, 1, 1),  # all forgotten entirely: the oldest
    ],
)
def test_forgetting_halves_what_was_not_used(contests: int, forget_after: int, leaves: int) -> None:
    library = PatternLibrary(GO)
    fill(library, (1000, 0.9), (2000, 0.3), (1500, 0.6), last=(10, 100, 100))
    assert library.evict_beyond(2, contests, forget_after) == [leaves]


def test_what_was_used_in_the_latest_contest_is_not_halved() -> None:
    library = PatternLibrary(GO)
    fill(library, (1500, 0.6), (2000, 0.6), last=(7, 6))  # 15, and 20 halved once
    assert library.evict_beyond(1, contests=7, forget_after=1) == [2]


# What it tells of itself


def touched(learnt: list[int], used: list[int]) -> TouchedPatterns:
    return TouchedPatterns(frozenset(learnt), frozenset(used))


def test_changes_are_what_is_new_different_or_gone() -> None:
    shelf = Shelf()
    for text in ("x - o", "o - o", "b b"):
        shelf.know(text, 1000)
    assert shelf.library.take_changes() == touched([1, 2, 3], [])
    shelf.learn("x - o", 1000)
    shelf.library.remove(2)
    assert shelf.library.take_changes() == touched([1, 2], [])
    assert shelf.library.take_changes() == touched([], [])


def test_patterns_that_were_only_used_are_listed_separately() -> None:
    shelf = Shelf()
    for text in ("x - o", "o - o", "b b"):
        shelf.know(text, 1000)
    shelf.library.take_changes()
    shelf.library.count(UseCount(1, 3, 2, 7, "c7"))
    shelf.library.count(UseCount(2, 1, 0, 7, "c7"))
    shelf.learn("o - o", 1000)
    entry = shelf.library.entries[1]
    assert (entry.uses, entry.successes, entry.last_contest, entry.last_contest_id) == (3, 2, 7, "c7")
    assert shelf.library.take_changes() == touched([2], [1])
    with pytest.raises(UnknownPatternError, match="no pattern 4"):
        shelf.library.count(UseCount(4, 1, 1, 8, "c8"))


def test_what_ends_as_it_began_has_not_changed() -> None:
    shelf = Shelf()
    shelf.know("x - o", 1000)
    shelf.library.take_changes()
    entry = shelf.library.remove(1)
    shelf.library.put(entry)
    shelf.know("b b", 1000)
    shelf.library.remove(2)
    assert shelf.library.take_changes() == touched([], [])


# Laws


def a_board_with(pattern: Pattern, draw: Any, spec: GameSpec) -> Board:
    """A board in whose corner the pattern lies, anything around it."""
    board = bytearray(draw(strategies.boards(spec.geometry)).states)
    for (row, column), code in zip(pattern.cells, pattern.codes, strict=True):
        place = column if spec is MAP else row * spec.geometry.columns + column  # type: ignore[union-attr]
        board[place] = draw(st.sampled_from([state for state in State if state & code]))
    return Board(spec.geometry, bytes(board))


@given(st.data(), strategies.games, st.sampled_from([0.1, 0.5, 0.9]))
def test_a_generalised_pattern_lies_wherever_either_parent_lay(
    data: st.DataObject, spec: GameSpec, value: float
) -> None:
    known = data.draw(strategies.patterns(spec.geometry))
    place = data.draw(st.integers(0, len(known.codes) - 1))
    partners = [code for code in Code if generalised_cell(known.codes[place], code, value != 0.5) is not None]
    assume(partners)
    codes = bytearray(known.codes)
    codes[place] = data.draw(st.sampled_from(partners))
    new = Pattern(known.cells, bytes(codes))
    shelf = Shelf(spec)
    shelf.learn(known, 1000, value)
    learnt = shelf.learn(new, 1000, value)
    assume(learnt.verdict is GENERALISED)
    result = shelf.library.entries[1].pattern
    for parent in (known, new):
        board = a_board_with(parent, data.draw, spec)
        assert occurs_plainly(parent, board)
        assert any(occurs_plainly(image, board) for image in spec.images(result))


@given(st.data(), st.sampled_from([GO, HEX, MAP]))
def test_which_image_is_proposed_makes_no_difference(data: st.DataObject, spec: GameSpec) -> None:
    sequence = data.draw(
        st.lists(st.tuples(near_patterns(spec), st.sampled_from([800.0, 1000.0, 1250.0])), max_size=6)
    )
    straight, turned = Shelf(spec), Shelf(spec)
    for pattern, elo in sequence:
        image = data.draw(st.sampled_from(spec.images(pattern)))
        assert straight.learn(pattern, elo, 0.8) == turned.learn(image, elo, 0.8)
    assert straight.library.entries == turned.library.entries


@st.composite
def near_patterns(draw: st.DrawFn, spec: GameSpec) -> Pattern:
    """Patterns that often differ in one cell only."""
    codes = draw(st.lists(st.sampled_from([Code.EMPTY, *Code]), min_size=4, max_size=4))
    try:
        if spec is MAP:
            return Pattern(tuple((0, node) for node in range(4)), bytes(codes))
        return grid_pattern((place // 2, place % 2, code) for place, code in enumerate(codes))
    except InvalidPatternError:
        return cells("x", spec) if spec is not MAP else cells("x PAR", spec)


@given(st.data())
def test_no_two_patterns_of_a_library_are_the_same(data: st.DataObject) -> None:
    shelf = Shelf(GO, max_merged_cells=2)
    for pattern in data.draw(st.lists(near_patterns(GO), max_size=12)):
        shelf.learn(pattern, data.draw(st.sampled_from([700, 900, 1000, 1300])), 0.8)
    kept = [entry.pattern for entry in shelf.library]
    assert len({GO.canonical(pattern) for pattern in kept}) == len(kept)
    assert all(GO.canonical(pattern) == pattern for pattern in kept)
    assert all(entry.votes != VoteTally() for entry in shelf.library)
