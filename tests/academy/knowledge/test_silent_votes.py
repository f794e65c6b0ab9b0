"""Votes of players far below a pattern's label: kept, shown to nobody, counted once the players come near."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.contests import Proposal, Verdict
from academy.knowledge.fair_use import acceptable
from academy.knowledge.game import PATTERN_LIBRARIES, GameKnowledge
from academy.knowledge.game_records import StoredKnowledge
from academy.knowledge.library import PatternLibrary
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.votes import MAX_SEPARATE_VOTES, MAX_SILENT_VOTES, Signature, Vote, VoteTally
from academy.store.game_tables import records

from .games import DRAUGHTS, DRAW, GO, LOSS, WIN, cast, cells, contest, endgame, tally_of

ENDGAME = Library.ENDGAME


def votes(*elos: float, value: float = 0.9, name: str = "strong") -> VoteTally:
    return VoteTally(
        tuple(Vote.of(f"{name} {place}", elo, value, 1, place) for place, elo in enumerate(elos))
    )


def report(
    game: GameKnowledge, number: int, name: str, elo: float, *proposals: Proposal, value: float = 0.0
) -> list[tuple[Verdict, str]]:
    """A contest that `name` loses at once and proposes in, against somebody who never proposes."""
    played_contest = contest(
        ["pass"],
        (LOSS, WIN),
        names=(name, "opponent"),
        elos=(elo, 1600),
        proposals=proposals,
        values={1: {1: value}},
    )
    return [(judgement.verdict, judgement.reason) for judgement in game.learn(played_contest, number)]


def known(game: GameKnowledge, *texts: str, count: int = 3, elo: float = 1600) -> None:
    """Patterns of the endgame library that `count` players of an Elo proposed."""
    for number, text in enumerate(texts, 1):
        pattern = game.spec.canonical(cells(text, game.spec))
        game.libraries[ENDGAME].put(PatternEntry(number, pattern, 1, votes(*[elo] * count)))
    game.counters = replace(game.counters, next_pattern_id=len(texts) + 1)


def seen(game: GameKnowledge) -> dict[int, tuple[Signature, float, int, str]]:
    """All that answers show of patterns, and all that decides which of them stay."""
    return {
        entry.pattern_id: (entry.signature, entry.strength, entry.last_contest, entry.last_contest_id)
        for library in PATTERN_LIBRARIES
        for entry in game.libraries[library]
    }


# One vote


@pytest.mark.parametrize(("elo", "silent"), [(1400, True), (1400.01, False), (0, True), (-500, True)])
def test_a_match_of_200_or_more_below_the_label_is_silent(elo: float, silent: bool) -> None:
    heard = votes(1600, 1600, 1600)
    after = heard.cast(Vote.of("weak", elo, 0.0, 2))
    assert [vote.player for vote in after.silent] == (["weak"] if silent else [])
    assert (after.signature(1) == heard.signature(1)) is silent
    assert (after.strength == heard.strength) is silent


def test_a_vote_that_counts_is_no_more_than_a_match_and_keeps_the_pattern_from_being_forgotten() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o")
    assert report(game, 1, "equal", 1600, endgame(cells("x - o"), 0.0)) == [
        (Verdict.MATCHED, "the same as pattern 1")
    ]
    assert game.libraries[ENDGAME].entries[1].last_contest == 1


@pytest.mark.parametrize(("elo", "verdict"), [(1123.0, Verdict.INSERTED), (1124.0, Verdict.GENERALISED)])
def test_a_vote_that_would_be_silent_changes_no_cell_of_a_pattern(elo: float, verdict: Verdict) -> None:
    """The mean Elo of the pattern's players is 1300; weighted by Elo it is 1323."""
    library, free = PatternLibrary(DRAUGHTS), LibrarySettings(least_information=0)
    label = votes(1200, 1200, 1200, 1600)
    library.put(PatternEntry(1, DRAUGHTS.canonical(cells("x - o", DRAUGHTS)), 1, label))
    learnt = library.learn(cells("b - o", DRAUGHTS), 1, Vote.of("ann", elo, 0.9, 2), 2, free)
    assert learnt.verdict is verdict


def test_the_proposer_reads_that_the_vote_waits() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o")
    ((verdict, reason),) = report(game, 1, "weak", 0, endgame(cells("x - o"), 0.0))
    assert verdict is Verdict.MATCHED
    assert reason == (
        "the same as pattern 1; Elo 0 is 200 or more below 1600, the mean of the votes that count, weighted "
        "by Elo: the vote counts once the proposer's Elo comes nearer"
    )


def test_a_silent_vote_counts_with_the_first_contest_in_which_the_elo_has_come_near_and_with_that_elo() -> (
    None
):
    game = GameKnowledge(GO)
    known(game, "x - o")
    before = seen(game)
    report(game, 1, "riser", 900, endgame(cells("x - o"), 0.5), value=0.5)
    for number, elo in enumerate((1100, 1300, 1400), 2):
        report(game, number, "riser", elo)
        assert seen(game) == before
    report(game, 5, "riser", 1400.01)
    (entry,) = game.libraries[ENDGAME]
    assert entry.votes.silent == ()
    # Its value is the one it proposed: 0.5, squared as the contest was lost; its place in time too.
    assert Vote.of("riser", 1400.01, 0.25, 1) in entry.votes.counted
    assert entry.signature.elo == pytest.approx((3 * 1600 + 1400.01) / 4)


def test_a_silent_vote_counts_as_soon_as_the_label_has_come_down_to_it() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o", count=1)
    report(game, 1, "weak", 1300, endgame(cells("x - o"), 0.0))
    assert len(game.libraries[ENDGAME].entries[1].votes.silent) == 1
    for number in range(2, 4):
        report(game, number, f"honest {number}", 1410, endgame(cells("x - o"), 0.0))
    assert len(game.libraries[ENDGAME].entries[1].votes.counted) == 4


def test_a_vote_that_counted_falls_silent_when_the_label_rises_and_counts_again_with_its_player() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o", count=1, elo=1000)
    for number in range(1, 5):
        report(game, number, f"strong {number}", 2000, endgame(cells("x - o"), 0.0))
    assert seen(game)[1][0] == Signature(4, 2000, 0.0, 1)
    report(game, 5, "strong 0", 1900)
    assert seen(game)[1][0].elo == (4 * 2000 + 1900) / 5


def test_a_player_has_one_vote_though_it_has_become_weak_since_the_one_before() -> None:
    after = votes(1600, 1600).cast(Vote.of("fallen", 1600, 0.9, 2)).cast(Vote.of("fallen", 0, 0.0, 3))
    assert after.signature(1) == votes(1600, 1600).signature(1)
    again = after.cast(Vote.of("fallen", 1550, 0.7, 4))
    assert (again.counted[-1], again.silent, again.proposers) == (Vote.of("fallen", 1550, 0.7, 4), (), 3)


def test_a_late_proposal_counts_with_the_elo_that_its_player_has_by_now() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o")
    played_contest = contest(
        ["pass"],
        names=("riser", "opponent"),
        elos=(1000, 1600),
        proposals=(endgame(cells("x - o"), 0.9),),
    )
    report(game, 1, "riser", 1600)
    game.judge_late(played_contest, 2)
    assert {vote.player: vote.elo for vote in game.libraries[ENDGAME].entries[1].votes.counted}[
        "riser"
    ] == 1600


# Many


@pytest.mark.threat("vote_stuffing")
def test_ten_bots_of_elo_0_change_nothing_of_what_fifty_players_know() -> None:
    game = GameKnowledge(GO)
    texts = ("x - o", "x x o / - o -", "o - - / - x -")
    known(game, *texts, count=50)
    before = seen(game)
    for number in range(1, 101):
        proposals = [endgame(cells(text), 0.0) for text in texts]
        report(game, number, f"bot {number % 10}", 0, *proposals)
    assert seen(game) == before
    assert [len(entry.votes.silent) for entry in game.libraries[ENDGAME]] == [10, 10, 10]


SHAPES = [f"{a} {b} {c}" for a in "xo-" for b in "xo" for c in "xob"]


def proposed_in(contest: int) -> list[Proposal]:
    """Ten of the shapes, others in the next contest."""
    return [endgame(cells(SHAPES[(10 * contest + place) % len(SHAPES)]), 0.0) for place in range(10)]


@pytest.mark.threat("vote_stuffing")
def test_forty_games_lost_on_purpose_hide_no_pattern_from_a_player_of_1500() -> None:
    game = GameKnowledge(GO, LibrarySettings(least_information=0))
    known(game, *SHAPES)

    def shown() -> list[int]:
        return [
            entry.pattern_id for entry in game.libraries[ENDGAME] if acceptable(entry.signature.elo, 1300)
        ]

    before, verdicts = shown(), seen(game)
    assert len(before) >= 10
    for number in range(40):
        report(game, number + 1, "loser", 0, *proposed_in(number))
    assert shown() == before
    assert {number: seen(game)[number] for number in verdicts} == verdicts


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-500, 800), st.floats(0, 1)), max_size=40))
@settings(max_examples=30)
def test_proposals_of_weak_players_change_no_label(
    proposed: Sequence[tuple[int, float, float]],
) -> None:
    game = GameKnowledge(GO)
    known(game, "x - o", "x x o / - o -", "o - - / - x -")
    before = seen(game)
    for number, (bot, elo, value) in enumerate(proposed, 1):
        text = ("x - o", "x x o / - o -", "o - - / - x -")[number % 3]
        report(game, number, f"bot {bot}", elo, endgame(cells(text), value), value=value)
    assert seen(game) == before


@pytest.mark.threat("vote_stuffing")
def test_silent_votes_beyond_64_lapse_from_the_least_elo_on() -> None:
    crowd = votes(1600, 1600)
    near = Vote.of("near", 1390, 0.9, 2)
    after = crowd.cast(near)
    for number in range(3 * MAX_SILENT_VOTES):
        after = after.cast(Vote.of(f"weak {number}", number % 100, 0.0, 3 + number))
    assert len(after.silent) == MAX_SILENT_VOTES
    assert near in after.silent
    assert after.counted == crowd.counted


@pytest.mark.threat("vote_stuffing")
def test_folding_takes_in_no_silent_vote() -> None:
    crowd = cast(*(Vote.of(f"player {number}", 1600, 0.9, number) for number in range(MAX_SEPARATE_VOTES)))
    folded = crowd.cast(Vote.of("weak", 0, 0.0, 0)).cast(Vote.of("one more", 1600, 0.9, 302))
    assert (folded.proposers, folded.folded.votes) == (257, 1)
    assert [vote.player for vote in folded.silent] == ["weak"]
    assert folded.value == pytest.approx(0.9)
    # What was folded stands: no later vote of the same player can take its place.
    assert folded.cast(Vote.of("player 0", 0, 0.0, 303)) == folded


# The order in which they come


LATEST = st.lists(
    st.tuples(st.integers(-500, 2000) | st.sampled_from([0, 1300, 1400, 1600]), st.floats(0, 1)),
    min_size=1,
    max_size=5,
)


@given(LATEST)
@settings(max_examples=25)
@pytest.mark.threat("vote_stuffing")
def test_in_all_orders_the_same_votes_count(proposed: Sequence[tuple[int, float]]) -> None:
    chosen = [Vote.of(f"p{place}", elo, value, place) for place, (elo, value) in enumerate(proposed)]

    @cache
    def cast_in(order: tuple[int, ...]) -> VoteTally:
        return cast_in(order[:-1]).cast(chosen[order[-1]]) if order else VoteTally()

    straight = cast(*chosen)
    for order in permutations(range(len(chosen))):
        assert cast_in(order) == straight
        for cut in range(1, len(order)):
            assert cast_in(order[:cut]).unite_with(cast_in(order[cut:])) == straight
    # And those that do not count change nothing.
    assert cast(*straight.counted) == VoteTally(straight.counted)
    for vote in straight.silent:
        assert straight.without(vote.player).weighted_elo - vote.elo >= 200 or len(straight.silent) > 1


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("bots", "honest"), [(1, 3), (10, 50), (10, 1), (60, 3)])
@pytest.mark.threat("vote_stuffing")
def test_bots_of_elo_0_come_first_in_vain(first: bool, bots: int, honest: int) -> None:
    weak = [Vote.of(f"bot {number}", 0, 0.0, number) for number in range(bots)]
    strong = [Vote.of(f"honest {number}", 1600, 0.9, 100 + number) for number in range(honest)]
    tally = cast(*weak, *strong) if first else cast(*strong, *weak)
    assert (tally.signature(1), len(tally.silent)) == (Signature(honest, 1600, 0.9, 1), bots)


@pytest.mark.parametrize(
    ("elo", "names"), [(400, 22), (800, 8), (1200, 3)], ids=lambda number: f"{number:.0f}"
)
def test_enough_votes_of_lower_players_count_beside_one_of_1600(elo: int, names: int) -> None:
    """The figures that `how-learning-works.md` tells."""
    crowd = [Vote.of(f"p{number}", elo, 0.5, number) for number in range(names)]
    strong = Vote.of("strong", 1600, 0.9, 99)
    assert cast(*crowd, strong).proposers == names + 1
    assert cast(*crowd[1:], strong).proposers == 1


def test_one_strong_newcomer_does_not_silence_a_crowd() -> None:
    crowd = [Vote.of(f"p{number}", 1300, 0.8, number) for number in range(50)]
    tally = cast(*crowd).cast(Vote.of("master", 2400, 0.2, 60))
    assert (tally.proposers, tally.silent) == (51, ())


@pytest.mark.threat("vote_stuffing")
def test_a_player_that_loses_on_purpose_before_the_others_propose_hides_nothing() -> None:
    game = GameKnowledge(GO, LibrarySettings(least_information=0, max_merged_cells=0))
    for number in range(40):
        report(game, number + 1, "loser", 0, *proposed_in(number))
    for number in range(3):
        report(game, 50 + number, f"ann {number}", 1600, *(endgame(cells(text), 0.0) for text in SHAPES))
    assert all(acceptable(entry.signature.elo, 1300) for entry in game.libraries[ENDGAME])


@pytest.mark.threat("vote_stuffing")
def test_a_plant_of_the_weak_is_silent_once_it_is_merged_with() -> None:
    library, free = PatternLibrary(DRAUGHTS), LibrarySettings(least_information=0)
    library.learn(cells("1 x o - o", DRAUGHTS), 1, Vote.of("bot", 0, 0.0, 1), 1, free)
    learnt = library.learn(cells("x x o - o", DRAUGHTS), 1, Vote.of("ann", 1600, 0.9, 2), 2, free)
    assert learnt.verdict is Verdict.SPECIALISED
    (entry,) = library
    assert entry.signature == Signature(1, 1600, 0.9, 1)
    assert [vote.player for vote in entry.votes.silent] == ["bot"]


def test_muting_the_strong_lets_the_others_count() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o", count=1)
    report(game, 1, "weak", 900, endgame(cells("x - o"), 0.0))
    game.mute("strong 0")
    assert seen(game)[1][0].elo == 900


def test_what_was_decided_about_stored_votes_stands_until_the_next_vote() -> None:
    stored = votes(1600, 1600, 1600, 0)
    assert stored.proposers == 4
    assert stored.cast(Vote.of("one more", 1600, 0.9, 9)).signature(1) == votes(*[1600] * 4).signature(1)


# Two patterns become one


def test_votes_that_come_in_from_another_pattern_are_silent_where_a_match_would_be() -> None:
    united = votes(1600, 1600).unite_with(votes(0, 1450, name="other"))
    assert sorted(vote.elo for vote in united.counted) == [1450, 1600, 1600]
    assert [vote.elo for vote in united.silent] == [0]


@pytest.mark.threat("vote_stuffing")
def test_a_planted_pattern_does_not_pull_down_one_that_comes_to_be_the_same() -> None:
    library, free = PatternLibrary(DRAUGHTS), LibrarySettings(least_information=0)

    def learn(text: str, player: str, elo: float, number: int) -> Verdict:
        vote = Vote.of(player, elo, 0.5, number)
        return library.learn(cells(text, DRAUGHTS), 1, vote, number, free).verdict

    assert learn("B - o", "bot", 0, 1) is Verdict.INSERTED
    assert learn("b - o", "ann", 1600, 2) is Verdict.SPECIALISED  # as LUDAE has it
    library.clear()
    assert learn("b - o", "ann", 1600, 2) is Verdict.INSERTED
    assert learn("B - o", "bot", 0, 3) is Verdict.INSERTED
    library.put(replace(library.entries[2], votes=votes(1600, 1600, value=0.9)))
    # Bob's would make pattern 2 what the bot planted; their labels lie too far apart, so the next is taken.
    assert learn("x - o", "bob", 1590, 4) is Verdict.SPECIALISED
    assert library.entries[2].signature.elo == 1600
    assert library.entries[2].pattern == cells("b - o", DRAUGHTS)


def test_the_mean_of_many_folded_votes_decides() -> None:
    weak, near = (
        VoteTally(tuple(Vote.of(f"{elo} {n}", elo, 0.1, 1, n) for n in range(300))) for elo in (100.0, 1500.0)
    )
    weak, near = VoteTally().unite_with(weak), VoteTally().unite_with(near)
    strong = votes(*[1600] * 50)
    assert strong.unite_with(weak).signature(1) == strong.signature(1) == weak.unite_with(strong).signature(1)
    assert strong.unite_with(near).proposers == 350


def test_an_imported_librarys_weak_votes_wait_like_others() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o")
    before = seen(game)[1][:2]
    game.import_patterns(
        ENDGAME, [PatternEntry(1, cells("x - o"), 1, tally_of((100, 0.1), (1200, 0.4), first=50))], False, 9
    )
    assert seen(game)[1][:2] == before
    report(game, 10, "player 51", 1500)
    assert seen(game)[1][0].proposers == 4


# The same from what is stored


def test_restored_knowledge_goes_on_as_if_never_stopped() -> None:
    def lived(number: int, game: GameKnowledge) -> None:
        report(game, number, "riser", 150.0 * number, endgame(cells("x - o"), 0.5), value=0.5)
        report(game, 100 + number, "weak", 0, endgame(cells("x - o"), 0.1), value=0.1)

    straight, halved = GameKnowledge(GO), GameKnowledge(GO)
    for game in (straight, halved):
        known(game, "x - o")
    for number in range(1, 11):
        lived(number, straight)
        lived(number, halved)
        halved = GameKnowledge.restore(
            StoredKnowledge(
                GO,
                halved.settings,
                [(library, entry) for library in PATTERN_LIBRARIES for entry in halved.libraries[library]],
                halved.openings.nodes.values(),
                halved.counters,
                halved.measures,
                list(halved.ratings),
            )
        )
    assert sorted(records(straight, 1), key=str) == sorted(records(halved, 1), key=str)
    assert "riser" in [vote.player for vote in straight.libraries[ENDGAME].entries[1].votes.counted]
    assert straight.libraries[ENDGAME].entries[1].votes.silent[0].player == "weak"


def test_drawn_games_too_bring_silent_votes() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o")
    played_contest = contest(
        ["pass"], (DRAW, DRAW), names=("weak", "b"), elos=(0, 1), proposals=(endgame(cells("x - o"), 0.9),)
    )
    game.learn(played_contest, 1)
    assert len(game.libraries[ENDGAME].entries[1].votes.silent) == 1


# Players that are taken out


CHEAT = Vote.of("cheat", 1900, 0.0, 1)
HONEST = tuple(Vote.of(f"honest {number}", 1500, 0.9, number) for number in range(2, 5))


def with_cheat() -> GameKnowledge:
    """A cheat proposed a pattern first; three honest players match it, far below its Elo."""
    game = GameKnowledge(GO)
    pattern = game.spec.canonical(cells("x - o"))
    game.libraries[ENDGAME].put(PatternEntry(1, pattern, 1, cast(CHEAT, *HONEST)))
    game.counters = replace(game.counters, next_pattern_id=2)
    return game


def test_muting_who_proposed_first_lets_the_silent_votes_of_others_count() -> None:
    game = with_cheat()
    taken = game.mute("cheat")
    (entry,) = game.libraries[ENDGAME]
    assert (entry.pattern_id, entry.signature.proposers, entry.signature.elo) == (1, 3, 1500)
    assert entry.signature.value == pytest.approx(0.9)

    assert game.unmute("cheat", taken) == 0
    (entry,) = game.libraries[ENDGAME]
    assert {vote.player for vote in (*entry.votes.counted, *entry.votes.silent)} == {
        "cheat",
        *(vote.player for vote in HONEST),
    }


def test_a_removed_pattern_comes_back_with_the_silent_votes_of_who_is_not_muted() -> None:
    game = with_cheat()
    (entry,) = game.libraries[ENDGAME]
    removed = game.libraries[ENDGAME].remove(1)
    game.mute("cheat")
    assert game.restore_pattern(ENDGAME, removed) == 1
    assert game.libraries[ENDGAME].entries[1].signature.proposers == 3
    game.libraries[ENDGAME].remove(1)
    game.import_patterns(ENDGAME, [entry], False, 9)
    (imported,) = game.libraries[ENDGAME]
    assert {vote.player for vote in imported.votes.counted} == {vote.player for vote in HONEST}


@pytest.mark.parametrize("how", ["restored", "put back", "imported"])
def test_a_muted_players_silent_vote_does_not_come_back_with_a_pattern(how: str) -> None:
    game = GameKnowledge(GO)
    known(game, "x - o", count=2)
    report(game, 1, "eve", 0, endgame(cells("x - o"), 0.5), value=0.5)
    entry = game.libraries[ENDGAME].remove(1)
    assert [vote.player for vote in entry.votes.silent] == ["eve"]
    game.mute("eve")
    match how:
        case "restored":
            game.restore_pattern(ENDGAME, entry)
        case "put back":
            game.put_back([(ENDGAME, entry)], [], {})
        case "imported":
            game.import_patterns(ENDGAME, [entry], False, 9)
    report(game, 2, "eve", 1600)
    (back,) = game.libraries[ENDGAME]
    assert {vote.player for vote in (*back.votes.counted, *back.votes.silent)} == {"strong 0", "strong 1"}


def test_a_silent_vote_of_a_muted_player_that_is_still_there_never_counts() -> None:
    game = GameKnowledge(GO)
    known(game, "x - o", count=2)
    report(game, 1, "eve", 0, endgame(cells("x - o"), 0.5), value=0.5)
    before = seen(game)
    game.muted = frozenset({"eve"})
    report(game, 2, "eve", 1600)
    assert seen(game) == before


def test_what_only_muted_players_proposed_is_not_imported() -> None:
    game = with_cheat()
    entry = replace(game.libraries[ENDGAME].remove(1), votes=VoteTally((CHEAT,)))
    game.mute("cheat")
    assert game.import_patterns(ENDGAME, [entry], False, 9) == 0
    assert not list(game.libraries[ENDGAME])
