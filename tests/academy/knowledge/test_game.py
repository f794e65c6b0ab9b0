"""All that is known of one game, as a fold over its events."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.contests import Judgement, Ply, Proposal, Result, Use, Verdict
from academy.knowledge.game import PATTERN_LIBRARIES, GameKnowledge
from academy.knowledge.game_records import ChangedRecords, Counters, StoredKnowledge
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.measures import Measures
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.patterns import InvalidPatternError, Pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import Vote, VoteTally

from .events import events, fresh_game, summary, tell
from .games import (
    DIPLOMACY,
    DRAUGHTS,
    DRAW,
    GO,
    HEX,
    LOSS,
    MAP,
    WIN,
    cells,
    contest,
    endgame,
    tally_of,
    tesuji,
)

ENDGAME, MIDDLE_GAME, OPENING = Library.ENDGAME, Library.MIDDLE_GAME, Library.OPENING


def entries(game: GameKnowledge, library: Library = ENDGAME) -> list[PatternEntry]:
    return list(game.libraries[library])


def propose(
    game: GameKnowledge, *proposals: Proposal, results: tuple[Result, ...] = (WIN, LOSS), event: int = 1
) -> list[Judgement]:
    """A contest with a move of the proposer for every value that belongs to the proposals."""
    plies: list[Ply] = []
    placed = []
    for proposal in proposals:
        for value in (proposal.value_before, proposal.value):
            if value is not None:
                plies.append(Ply(proposal.seat, "pass", values={proposal.seat: value}))
        placed.append(replace(proposal, ply=len(plies)))
    names = [f"player {event}-{seat}" for seat in range(len(results))]
    report = contest((), results, names=names, elos=(1500,) * len(results))
    return game.learn(replace(report, plies=tuple(plies), proposals=tuple(placed)), event)


# Judgement and perspective


@pytest.mark.parametrize(
    ("result", "value"), [(WIN, 0.9), (DRAW, 0.655), (LOSS, 0.6561)], ids=["won", "drawn", "lost"]
)
def test_an_endgame_pattern_enters_with_its_value_after_the_post_mortem(result: Result, value: float) -> None:
    game = GameKnowledge(GO)
    (judgement,) = propose(game, endgame(cells("x - o"), 0.81), results=(result, DRAW))
    assert (judgement.verdict, judgement.pattern_id) == (Verdict.INSERTED, 1)
    (entry,) = entries(game)
    assert entry.signature.value == pytest.approx(value)
    assert (entry.signature.elo, entry.player, entry.last_contest) == (1500, 1, 1)


def test_a_tesuji_enters_with_the_value_it_was_given() -> None:
    game = GameKnowledge(GO)
    propose(game, tesuji(cells("x - o"), 0.3, 0.81))
    assert entries(game, MIDDLE_GAME)[0].signature.value == 0.81
    assert entries(game, ENDGAME) == []


@pytest.mark.parametrize(
    ("spec", "pattern", "stored"),
    [
        (GO, "x - o", "o - x"),
        # Turned about as well.
        (DRAUGHTS, "x - - o", "x - - o"),
        (DRAUGHTS, "x - b", "w - o"),
        (HEX, "x", "o"),
    ],
)
def test_in_symmetric_games_a_second_players_pattern_is_kept_as_the_firsts(
    spec: GameSpec, pattern: str, stored: str
) -> None:
    game = GameKnowledge(spec)
    propose(game, endgame(cells(pattern, spec), 0.49, seat=2, ply=2), results=(LOSS, WIN))
    (entry,) = entries(game)
    assert entry.pattern == spec.canonical(cells(stored, spec))
    # The value is the addressed player's, so it stays what it was: here sqrt(0.49).
    assert (entry.player, entry.signature.value) == (1, 0.7)


@pytest.mark.threat("lies")
def test_the_vote_is_the_proposers_own() -> None:
    game = GameKnowledge(GO)
    report = contest(
        ["pass"] * 2,
        (WIN, LOSS),
        names=("ann", "bob"),
        elos=(1200, 1700),
        proposals=(endgame(cells("x - o"), 0.5), endgame(cells("w w"), 0.9, seat=2, ply=2)),
    )
    game.learn(report, 42)
    first, second = entries(game)
    assert first.votes.counted == (Vote.of("ann", 1200, 0.5**0.5, 42),)
    assert second.votes.counted == (Vote.of("bob", 1700, 0.81, 42, order=1),)


def test_both_players_see_the_same_pattern() -> None:
    game = GameKnowledge(GO)
    first, second = propose(
        game, endgame(cells("x - o"), 0.5, seat=1, ply=1), endgame(cells("o - x"), 0.5, seat=2, ply=2)
    )
    assert (first.verdict, second.verdict) == (Verdict.INSERTED, Verdict.MATCHED)
    assert second.pattern_id == first.pattern_id
    assert entries(game)[0].signature.proposers == 2


def test_in_asymmetric_games_a_pattern_keeps_the_player_it_addresses() -> None:
    game = GameKnowledge(MAP)
    pattern = cells("x PAR", MAP)
    first, third = propose(
        game,
        endgame(pattern, 0.5, seat=1, ply=1),
        endgame(pattern, 0.5, seat=3, ply=3),
        results=(WIN, LOSS, LOSS),
    )
    assert [first.verdict, third.verdict] == [Verdict.INSERTED, Verdict.INSERTED]
    # The two capitals may change places; the least of both is kept.
    assert {entry.player: entry.pattern for entry in entries(game)} == {
        1: MAP.canonical(cells("x BUR", MAP)),
        3: MAP.canonical(cells("x BUR", MAP)),
    }


def test_what_does_not_count_is_dropped_with_the_reason() -> None:
    game = GameKnowledge(GO)
    judgements = propose(game, tesuji(cells("x"), 0.8, 0.81), tesuji(cells("o"), 0.3, 0.9))
    assert judgements[0] == Judgement(
        Verdict.DROPPED, "the move raised the expected value by 0.01; 0.20 is needed"
    )
    assert judgements[1].verdict is Verdict.INSERTED
    assert [entry.pattern_id for entry in entries(game, MIDDLE_GAME)] == [1]


def test_judgements_are_in_the_order_of_the_proposals_and_say_where_each_went() -> None:
    game = GameKnowledge(GO, LibrarySettings(least_information=0))
    judgements = propose(
        game,
        endgame(cells("b - o"), 0.5),
        endgame(cells("x - o"), 0.5),
        endgame(cells("B - o"), 0.5),
        endgame(cells("w w w"), 0.5),
    )
    assert [(judgement.verdict, judgement.pattern_id) for judgement in judgements] == [
        (Verdict.INSERTED, 1),
        (Verdict.GENERALISED, 1),
        (Verdict.MATCHED, 1),
        (Verdict.INSERTED, 2),
    ]
    assert judgements[1].reason == "generalised with pattern 1 of Elo 1500"


def test_too_weak_for_a_full_library_is_a_verdict_of_its_own() -> None:
    game = GameKnowledge(GO, LibrarySettings(endgame_capacity=1))
    propose(game, endgame(cells("x x x"), 1.0))
    (judgement,) = propose(game, endgame(cells("w w"), 0.5), results=(DRAW, DRAW), event=2)
    assert (judgement.verdict, judgement.pattern_id) == (Verdict.EVICTED, 0)
    assert [entry.pattern for entry in entries(game)] == [GO.canonical(cells("x x x"))]
    assert game.counters.next_pattern_id == 3, "a number is never given twice"


def test_everything_is_judged_by_the_average_known_before_the_contest() -> None:
    game = GameKnowledge(replace(GO, expected_length=100.0))
    for _ in range(9):
        game.learn(contest(["pass"] * 10), 1)
    late = endgame(cells("x"), 0.5, ply=5)
    # A fifth of 100 is 20 plies: ply 5 of 10 is among them.
    (tenth,) = game.learn(contest(["pass"] * 10, proposals=(late,)), 1)
    # Now the average is 10, a fifth of it 2.
    (eleventh,) = game.learn(contest(["pass"] * 10, proposals=(late,)), 1)
    assert (tenth.verdict, eleventh.verdict) == (Verdict.INSERTED, Verdict.DROPPED)
    assert game.average_length == 10


def test_proposals_that_come_late_are_judged_and_nothing_else_is_learnt() -> None:
    game = GameKnowledge(GO)
    game.learn(contest(["A1", "B2"]), 1)
    nodes, measures = dict(game.openings.nodes), game.measures.as_json()
    late = contest(["A1", "B2"], proposals=(endgame(cells("x"), 0.5, ply=2),))
    assert [judgement.verdict for judgement in game.judge_late(late, 2)] == [Verdict.INSERTED]
    assert (game.openings.nodes, game.measures.as_json()) == (nodes, measures)
    assert entries(game)[0].last_contest == 1


def test_a_report_teaches_openings_and_measures() -> None:
    game = GameKnowledge(GO)
    game.learn(contest(["A1", "B2"], values={2: {2: 0.4}}), 1)
    assert game.openings.find(["E5", "D4"]) is not None
    assert game.measures.contests == 1
    assert game.counters == Counters(1, 3)


# Uses


def test_uses_and_successes() -> None:
    game = GameKnowledge(GO)
    propose(game, endgame(cells("x"), 0.5), endgame(cells("w"), 0.5))
    for number, results in enumerate([(WIN, LOSS), (DRAW, DRAW), (LOSS, LOSS)], 2):
        uses = (Use(1, ENDGAME, (1, 99)), Use(2, ENDGAME, (2,)), Use(1, MIDDLE_GAME, (1,)))
        game.learn(replace(contest((), results), contest_id=f"c{number}", uses=uses), number)
    first, second = entries(game)
    assert (first.uses, first.successes, first.last_contest, first.last_contest_id) == (3, 2, 4, "c4")
    assert (second.uses, second.successes) == (3, 1)


def test_what_is_used_is_not_forgotten() -> None:
    def survivor(used: int) -> Pattern:
        game = GameKnowledge(GO, LibrarySettings(endgame_capacity=2, forget_after=5))
        propose(game, endgame(cells("x"), 0.9), endgame(cells("w"), 0.9))
        for number in range(2, 30):
            uses = (Use(1, ENDGAME, (used,)),)
            game.learn(replace(contest(()), uses=uses), number)
        propose(game, endgame(cells("b b"), 0.9, ply=2), event=30)
        return min(entries(game), key=lambda entry: entry.pattern_id).pattern

    assert survivor(used=1) == cells("x")
    assert survivor(used=2) == cells("w")


# Administration


def test_deleting_and_restoring_a_pattern() -> None:
    game = GameKnowledge(GO)
    propose(game, endgame(cells("x"), 0.9), endgame(cells("w"), 0.9))
    before = summary(game)
    deleted = game.libraries[ENDGAME].remove(1)
    assert [entry.pattern_id for entry in entries(game)] == [2]
    with pytest.raises(UnknownPatternError):
        game.libraries[ENDGAME].remove(1)
    assert game.restore_pattern(ENDGAME, deleted) == 1
    assert summary(game) == before


def test_what_a_full_library_has_no_room_for_is_not_restored() -> None:
    game = GameKnowledge(GO, LibrarySettings(endgame_capacity=1))
    propose(game, endgame(cells("x"), 0.4), results=(DRAW, DRAW))
    weak = game.libraries[ENDGAME].remove(1)
    propose(game, endgame(cells("w"), 0.9), event=2)
    assert game.restore_pattern(ENDGAME, weak) == 0
    assert [entry.pattern for entry in entries(game)] == [cells("w")]


Pruned = list[PatternEntry] | list[OpeningNode]


def numbers(pruned: Pruned) -> list[int]:
    return [record.pattern_id for record in pruned if isinstance(record, PatternEntry)]


def moves(pruned: Pruned) -> list[str]:
    return [record.move for record in pruned if isinstance(record, OpeningNode)]


def test_pruning_patterns_and_what_it_would_remove() -> None:
    game = GameKnowledge(GO)
    values = {"x": 0.9025, "w": 0.64, "b b": 0.25, "o o": 0.36}  # roots .95 .8 .5 .6
    propose(game, *(endgame(cells(text), value) for text, value in values.items()))
    # A strength of 0 is not below 0.
    assert numbers(game.prunable(ENDGAME, 0.0)) == []
    # Strengths 1500·.2025, 1500·.09, 0, 1500·.01, weakest first.
    assert numbers(game.prunable(ENDGAME, 100.0)) == [3, 4]
    assert len(entries(game)) == 4
    assert numbers(game.prune(ENDGAME, 14.0)) == [3]
    assert numbers(game.prune(ENDGAME, 1e9)) == [4, 2, 1]
    assert entries(game) == []


def test_pruning_openings_by_another_threshold() -> None:
    game = GameKnowledge(GO, LibrarySettings(prune_below=0.0))
    for line in (["A1", "B2"], ["A1", "C3"]):
        game.learn(contest(line, values={2: {2: 0.4}}), 1)
    assert game.prune(OPENING, 0.4) == []
    assert moves(game.prunable(OPENING, 0.41)) == ["B2", "C3"]
    assert moves(game.prune(OPENING, 0.41)) == ["B2", "C3"]
    assert len(game.openings) == 1


def test_the_later_proposal_of_a_name_counts_when_two_patterns_become_one() -> None:
    for later_is_wider in (True, False):
        game = GameKnowledge(DRAUGHTS, LibrarySettings(least_information=0))
        library = game.libraries[ENDGAME]
        for number, text in enumerate(["b - o", "B - o"], 1):
            library.put(
                PatternEntry(number, cells(text, DRAUGHTS), 1, tally_of((1500, 0.95 / number), first=50))
            )
        game.counters = Counters(3, 1)
        # Ann votes for both in one contest.
        texts = ["b - o", "B - o"] if later_is_wider else ["B - o", "b - o"]
        values = [0.36, 0.64]
        proposals = [
            endgame(cells(text, DRAUGHTS), value, ply=number)
            for number, (text, value) in enumerate(zip(texts, values, strict=True), 1)
        ]
        game.learn(contest(["pass"] * 2, (WIN, LOSS), proposals=tuple(proposals)), 1)
        # In another Bob's makes one pattern of them.
        merge = endgame(cells("x - o", DRAUGHTS), 0.5)
        game.learn(contest(["pass"], (WIN, LOSS), names=("bob", "cy"), proposals=(merge,)), 2)
        (entry,) = entries(game)
        (vote,) = [vote for vote in entry.votes.counted if vote.player == "ann"]
        assert (vote.value, vote.order) == (0.8, 1), "the square root of the later 0.64"


# Import


def test_imported_patterns_give_known_ones_their_votes_and_enter_with_fresh_numbers() -> None:
    game = GameKnowledge(GO)
    propose(game, endgame(cells("x - o"), 0.5))
    imported = [
        PatternEntry(77, cells("x x o"), 1, tally_of((1000, 0.2), (1090, 0.4))),
        PatternEntry(78, cells("o o x"), 2, tally_of((901, 0.9), first=7)),
        PatternEntry(79, cells("w / - / -"), 1, tally_of((900, 0.9)), uses=4, successes=2),
    ]
    assert game.import_patterns(ENDGAME, imported, False, 5) == 0
    patterns = {entry.pattern_id: entry for entry in entries(game)}
    # The second was for player 2: reversed, it is the first.
    assert patterns.keys() == {1, 2, 4}
    assert patterns[2].votes.proposers == 3
    assert {vote.event for vote in patterns[2].votes.counted} == {5}
    assert patterns[4].pattern == GO.canonical(cells("w - -"))
    assert (patterns[4].uses, patterns[4].successes, patterns[4].last_contest) == (4, 2, 1)
    assert game.counters.next_pattern_id == 5


def test_an_imported_pattern_keeps_one_vote_a_player_and_at_most_256_apart() -> None:
    stuffed = VoteTally(tuple(Vote.of("ann", 1000, 0.9, event) for event in range(5)))
    crowd = VoteTally(tuple(Vote.of(f"{number}", 1000, 0.9, 1) for number in range(300)))
    game = GameKnowledge(GO)
    game.import_patterns(
        ENDGAME, [PatternEntry(1, cells("x"), 1, stuffed), PatternEntry(2, cells("w"), 1, crowd)], False, 9
    )
    first, second = entries(game)
    assert first.votes.proposers == 1
    assert (second.votes.proposers, len(second.votes.counted)) == (300, 256)


def test_an_import_may_replace_all_and_never_exceeds_the_capacity() -> None:
    game = GameKnowledge(GO, LibrarySettings(endgame_capacity=2))
    propose(game, endgame(cells("x"), 1.0))
    imported = [
        PatternEntry(0, cells("w " * width), 1, tally_of((1000, 0.5 + width / 10))) for width in (1, 2, 3)
    ]
    assert game.import_patterns(ENDGAME, imported, True, 2) == 1
    assert [entry.pattern for entry in entries(game)] == [cells("w w"), cells("w w w")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (PatternEntry(3, cells("x"), 3, tally_of((1000, 0.5))), "player 3: this game has players 1 to 2"),
        (PatternEntry(3, cells("x"), 0, tally_of((1000, 0.5))), "player 0"),
        (PatternEntry(3, cells("x"), 1, VoteTally()), "pattern 3 has no vote"),
        (PatternEntry(3, cells("x" * 9), 1, tally_of((1000, 0.5))), "9 columns"),
    ],
)
def test_a_wrong_import_changes_nothing(wrong: PatternEntry, message: str) -> None:
    game = GameKnowledge(GO)
    propose(game, endgame(cells("x"), 0.5))
    before = summary(game)
    right = PatternEntry(1, cells("w"), 1, tally_of((1000, 0.5)))
    with pytest.raises(InvalidPatternError, match=message):
        game.import_patterns(ENDGAME, [right, wrong], True, 2)
    assert summary(game) == before


def test_imported_openings_are_added_trimmed_and_evicted() -> None:
    source = GameKnowledge(replace(GO, expected_length=60.0), LibrarySettings(prune_below=0.0))
    source.learn(contest(["A1", "B2", "C3"] * 4), 1)
    source.learn(contest(["C3"]), 2)
    nodes = list(source.openings.nodes.values())
    assert len(nodes) == 1 + 13
    game = GameKnowledge(GO, LibrarySettings(opening_capacity=4))
    game.learn(contest(["E5"]), 1)
    # Of 30 plies, the third is 10: two of the nodes are too deep, and there is room for four.
    assert game.import_openings(nodes, False) == 13 - 4
    assert len(game.openings) == 4
    assert game.openings.root.visits == 3
    corner = game.openings.find(["A1"])
    assert corner is not None and corner.visits == 2
    assert game.import_openings(nodes, True) == 13 - 4
    assert game.openings.root.visits == 2


# A fold over events


SEEDS = st.integers(0, 2**32)


@settings(max_examples=15)
@given(SEEDS, st.integers(1, 40))
def test_the_same_events_make_the_same_knowledge(seed: int, count: int) -> None:
    first, second = fresh_game(), fresh_game()
    outcomes = [[event.happen(game) for event in events(seed, count)] for game in (first, second)]
    assert outcomes[0] == outcomes[1]
    assert summary(first) == summary(second)
    assert first.measures.measures() == second.measures.measures()


@settings(max_examples=15)
@given(SEEDS, st.integers(1, 40))
@pytest.mark.threat("vote_stuffing")
def test_no_library_ever_exceeds_its_capacity(seed: int, count: int) -> None:
    game = fresh_game()
    for event in events(seed, count):
        event.happen(game)
        assert len(game.openings) <= game.settings.opening_capacity
        for library in PATTERN_LIBRARIES:
            assert len(game.libraries[library]) <= game.settings.capacity(library)


@settings(max_examples=15)
@given(SEEDS, st.integers(1, 30), st.integers(1, 30))
def test_knowledge_put_together_from_its_records_goes_on_the_same(seed: int, before: int, after: int) -> None:
    game = fresh_game()
    history = list(events(seed, before + after))
    for event in history[:before]:
        event.happen(game)
    restored = GameKnowledge.restore(
        StoredKnowledge(
            game.spec,
            game.settings,
            [(library, entry) for library in PATTERN_LIBRARIES for entry in reversed(entries(game, library))],
            reversed(list(game.openings.nodes.values())),
            game.counters,
            Measures.from_json(game.measures.as_json()),
            reversed(list(game.ratings)),
        )
    )
    assert restored.take_changes() == ChangedRecords(frozenset(), frozenset(), frozenset(), frozenset())
    for event in history[before:]:
        assert event.happen(restored) == event.happen(game)
    assert summary(restored) == summary(game)


@settings(max_examples=15)
@given(SEEDS, st.integers(1, 40))
def test_changes_name_exactly_what_differs(seed: int, count: int) -> None:
    game = fresh_game()
    game.take_changes()

    def known() -> dict[tuple[Library, int], PatternEntry]:
        return {
            (library, entry.pattern_id): entry
            for library in PATTERN_LIBRARIES
            for entry in entries(game, library)
        }

    for event in events(seed, count):
        nodes, patterns, ratings = dict(game.openings.nodes), known(), dict(game.ratings)
        event.happen(game)
        after = known()
        touched = {key for key in patterns.keys() | after.keys() if patterns.get(key) != after.get(key)}
        used = {
            key
            for key in touched & patterns.keys() & after.keys()
            if replace(patterns[key], uses=0, successes=0, last_contest=0, last_contest_id="")
            == replace(after[key], uses=0, successes=0, last_contest=0, last_contest_id="")
        }
        assert game.take_changes() == ChangedRecords(
            frozenset(touched - used),
            frozenset(used),
            frozenset(
                number
                for number in nodes.keys() | game.openings.nodes.keys()
                if nodes.get(number) != game.openings.nodes.get(number)
            ),
            frozenset(player for player, elo in game.ratings if ratings.get(player) != elo),
        )


@settings(max_examples=15)
@given(SEEDS, st.integers(1, 40), st.sampled_from(Library), st.sampled_from([0.33, 0.5, 100.0]))
def test_what_would_be_pruned_is_what_is_pruned(
    seed: int, count: int, library: Library, below: float
) -> None:
    game = fresh_game()
    for event in events(seed, count):
        event.happen(game)
    before = summary(game)
    foreseen = game.prunable(library, below)
    assert summary(game) == before
    assert game.prune(library, below) == foreseen


def taught_by_all(seed: int, count: int) -> GameKnowledge:
    """A game that learns all there is, after contests."""
    learning = LibrarySettings(
        analysed_patterns=5, tesuji_capacity=500, evaluation=True, evaluation_patterns=500
    )
    game = GameKnowledge(GO, learning)
    for event in events(seed, count):
        if event.method != "change_settings":
            event.happen(game)
    return game


def sizes(game: GameKnowledge) -> dict[str, int]:
    return {
        "opening_capacity": len(game.openings),
        "middle_game_capacity": len(game.libraries[MIDDLE_GAME]),
        "endgame_capacity": len(game.libraries[ENDGAME]),
        "tesuji_capacity": len(game.tesujis),
        "evaluation_patterns": game.evaluation.patterns,
    }


@pytest.mark.parametrize("capacity", sizes(GameKnowledge(GO)))
def test_each_capacity_that_is_lowered_removes_the_number_that_was_announced(capacity: str) -> None:
    game = taught_by_all(seed=7, count=40)
    known = sizes(game)
    assert known[capacity] > 3
    fewer: dict[str, Any] = {capacity: known[capacity] - 3}
    lowered = replace(game.settings, **fewer)
    assert game.count_beyond(lowered) == 3
    assert sizes(game) == known, "a look changes nothing"
    assert game.change_settings(lowered) == 3
    assert sizes(game) == known | fewer


@pytest.mark.parametrize(
    "changed",
    [{"tesuji_capacity": 0}, {"evaluation": False}, {"evaluation_patterns": 0}, {"forget_after": 1}],
    ids=str,
)
def test_settings_that_switch_something_off_announce_and_remove_nothing(changed: dict[str, Any]) -> None:
    game = taught_by_all(seed=7, count=40)
    known, settings_then = sizes(game), replace(game.settings, **changed)
    assert (game.count_beyond(settings_then), game.change_settings(settings_then)) == (0, 0)
    assert sizes(game) == known


CAPACITIES = st.integers(0, 60)


@settings(max_examples=15)
@given(
    SEEDS,
    st.integers(1, 40),
    st.builds(
        LibrarySettings,
        opening_capacity=CAPACITIES,
        middle_game_capacity=CAPACITIES,
        endgame_capacity=CAPACITIES,
        tesuji_capacity=CAPACITIES,
        evaluation=st.booleans(),
        evaluation_patterns=CAPACITIES,
        forget_after=st.integers(0, 3),
    ),
)
def test_what_new_settings_would_remove_is_what_they_remove(
    seed: int, count: int, changed: LibrarySettings
) -> None:
    game = taught_by_all(seed, count)
    known, before = sizes(game), summary(game)
    foreseen = game.count_beyond(changed)
    assert (sizes(game), summary(game)) == (known, before), "a look changes nothing"
    assert game.change_settings(changed) == foreseen == sum(known.values()) - sum(sizes(game).values())


def test_the_hash_seed_of_the_process_makes_no_difference() -> None:
    program = "from tests.academy.knowledge.events import tell; print(tell(5, 120))"
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    elsewhere = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": seed},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
    ).stdout
    assert elsewhere == f"{tell(5, 120)}\n"
    assert "INSERTED" in elsewhere


# Several players at once


def test_a_game_of_three_with_simultaneous_moves() -> None:
    game = GameKnowledge(DIPLOMACY)
    report = contest(
        ["A PAR-BUR", "hold", "hold"],
        (DRAW, DRAW, LOSS),
        names=("france", "italy", "russia"),
        elos=(1500, 1400, 900),
        values={3: {3: 0.4}},
        proposals=(endgame(cells("x PAR / o BUR", DIPLOMACY), 0.9, ply=3),),
    )
    (judgement,) = game.learn(report, 1)
    assert judgement.verdict is Verdict.INSERTED
    assert entries(game)[0].signature.value == pytest.approx(0.7)
    russia = game.openings.find(["hold"], 3)
    assert russia is not None
    assert (russia.losses, russia.elo) == ((0, 0, 1), 900)
