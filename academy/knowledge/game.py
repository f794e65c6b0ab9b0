"""Everything that ACADEMY knows about one game: a fold over its events.

A method takes in one event; those about one part alone, such as the opening tree, that part takes in. The
same events in the same order make the same knowledge anywhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from academy.knowledge import own_proposals, postmortem
from academy.knowledge.contests import Contestant, ContestReport, Judgement, Proposal, Result, Use, Verdict
from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.game_records import ChangedRecords, Counters, KnowledgeUpdate, StoredKnowledge
from academy.knowledge.library import PatternLibrary
from academy.knowledge.measures import Measures, Rating, Ratings
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import OpeningTree
from academy.knowledge.pattern_entry import PatternEntry, check_entry
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import Description, GameSpec
from academy.knowledge.tesujis.shapes import InvalidTesujiError
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.uses import uses_by_kind
from academy.knowledge.votes import Vote, VoteTally

__all__ = ["PATTERN_LIBRARIES", "RULES_VERSION", "GameKnowledge"]

PATTERN_LIBRARIES: Final = (Library.MIDDLE_GAME, Library.ENDGAME)


# Raise it with every change of the rules that would give an old event a different result, and SCHEMA_VERSION
# with it; `store.maintenance.upgrade` then keeps the libraries that the old rules made.
RULES_VERSION: Final = 5


@dataclass(frozen=True, slots=True)
class _JudgingContext:
    """The basis for judging a contest's proposals.

    `event` brought them, `number` counts the contest among the game's; `average_length` is that before it. Of
    proposals that come late both are those of the time when they come.
    """

    report: ContestReport
    event: int
    number: int
    average_length: float


class GameKnowledge:
    """The libraries, measures and players' ratings of one game.

    Args:
        spec: The game.
        settings: Its settings; None for the defaults.
    """

    def __init__(self, spec: GameSpec, settings: LibrarySettings | None = None) -> None:
        self.spec = spec
        self.settings = settings or LibrarySettings()
        self.openings = OpeningTree(spec)
        self.libraries = {library: PatternLibrary(spec) for library in PATTERN_LIBRARIES}
        self.measures = Measures()
        self.ratings = Ratings()
        self.counters = Counters()
        self.tesujis = self._tesujis_before = TesujiTable.empty()
        self.evaluation = self._evaluation_before = EvaluationTable()
        # Players whose proposals are dropped.
        self.muted: frozenset[str] = frozenset()

    @classmethod
    def restore(cls, stored: StoredKnowledge) -> "GameKnowledge":
        """Build a game's knowledge from its stored records.

        Args:
            stored: The records.

        Returns:
            Knowledge that goes on as the stored one would have; `take_changes` returns nothing yet.
        """
        game = cls(stored.spec, stored.settings)
        for library, entry in stored.patterns:
            game.libraries[library].put(entry)
        game.openings.restore(stored.nodes)
        game.counters = stored.counters
        game.measures = stored.measures
        game.ratings = Ratings(stored.ratings)
        game.muted = frozenset(stored.muted)
        game.tesujis = stored.tesujis
        game.evaluation = stored.evaluation
        game.take_changes()
        return game

    @property
    def average_length(self) -> float:
        """Plies of an average game, as known now."""
        return self.measures.average_length(self.spec.expected_length)

    def take_changes(self) -> ChangedRecords:
        """Return what changed since the last call."""
        touched = {library: patterns.take_changes() for library, patterns in self.libraries.items()}
        before, self._tesujis_before = self._tesujis_before, self.tesujis
        evaluation_before, self._evaluation_before = self._evaluation_before, self.evaluation
        return ChangedRecords(
            frozenset((library, number) for library, changes in touched.items() for number in changes.learnt),
            frozenset((library, number) for library, changes in touched.items() for number in changes.used),
            self.openings.take_changes(),
            self.ratings.take_changes(),
            self.tesujis is not before,
            self.evaluation is not evaluation_before,
        )

    def follow(self, news: KnowledgeUpdate) -> None:
        """Follow what another copy of this knowledge learnt.

        Args:
            news: What differs, as the other copy has it.
        """
        self.describe(news.description)
        self.settings, self.counters, self.measures = news.settings, news.counters, news.measures
        self.ratings.follow(news.ratings)
        self.muted = news.muted
        self.tesujis = news.tesujis
        self.evaluation = news.evaluation
        # All that change before any is put: they may have exchanged their patterns.
        for library, pattern_id in (
            *news.patterns_gone,
            *((library, entry.pattern_id) for library, entry in news.patterns),
        ):
            if pattern_id in self.libraries[library].entries:
                self.libraries[library].remove(pattern_id)
        for library, entry in news.patterns:
            self.libraries[library].put(entry)
        for library, count in news.uses:
            self.libraries[library].count(count)
        self.openings.follow(news.nodes, news.nodes_gone)
        self.take_changes()

    # Contests

    def learn(
        self,
        report: ContestReport,
        event: int,
        give_way: Callable[[], None] = lambda: None,
        note_cut: Callable[[Proposal, Judgement], None] = lambda proposal, judgement: None,
    ) -> list[Judgement]:
        """Learn from a contest: uses, proposals, openings, tesujis, the evaluation, measures.

        Args:
            report: The contest's report.
            event: The number of the event that brought it.
            give_way: Called between steps, which may take some milliseconds together.
            note_cut: Called with each pattern that ACADEMY itself cuts from the contest, and its judgement.

        Returns:
            A judgement for each proposal of the report, by the average length known before this contest.

        Raises:
            InvalidVoteError: An Elo or value is out of range.
        """
        average_length = self.average_length
        number = self.measures.contests + 1
        for use in report.uses:
            self._count_use(use, report, number)
        context = _JudgingContext(report, event, number, average_length)
        judgements = []
        for order, proposal in enumerate(report.proposals):
            judgements.append(self._judge(proposal, context, order))
            give_way()
        analysed = own_proposals.propose_from(
            report, self.spec, average_length, self.settings.analysed_patterns, give_way
        )
        for order, proposal in enumerate(analysed):
            note_cut(proposal, self._judge(proposal, context, order, own_proposals.ACADEMY_PROPOSER))
            give_way()
        next_node_id = self.openings.learn(report, self.counters.next_node_id, average_length, self.settings)
        self.counters = replace(self.counters, next_node_id=next_node_id)
        self.tesujis = self.tesujis.learn(
            report, self.spec, self.settings.tesuji_capacity, self.muted, give_way
        )
        self.evaluation = self.evaluation.learn(report, self.spec, self.settings, self.muted, give_way)
        judgements = list(map(self._without_evicted, judgements))
        elos = report.elo_after or tuple(contestant.elo for contestant in report.contestants)
        names = (contestant.name for contestant in report.contestants)
        self.ratings.set_after_contest(map(Contestant, names, elos))
        self._count_silent((contestant.name for contestant in report.contestants), give_way)
        self.measures.learn(report, self.ratings)
        return judgements

    def judge_late(self, report: ContestReport, event: int) -> list[Judgement]:
        """Judge proposals that come after their contest was learnt from.

        They are judged by the average length known now, and their patterns count as proposed in the game's
        newest contest.

        Args:
            report: The contest's report with these proposals.
            event: The number of the event that brought them.

        Returns:
            A judgement for each proposal.

        Raises:
            InvalidVoteError: An Elo or value is out of range.
        """
        context = _JudgingContext(report, event, self.measures.contests, self.average_length)
        judgements = [
            self._judge(proposal, context, order) for order, proposal in enumerate(report.proposals)
        ]
        self.tesujis = self.tesujis.fit_settings(self.settings)
        judgements = list(map(self._without_evicted, judgements))
        # Their Elo may have risen since the contest.
        self._count_silent(report.contestants[proposal.seat - 1].name for proposal in report.proposals)
        return judgements

    def _count_silent(self, players: Iterable[str], give_way: Callable[[], None] = lambda: None) -> None:
        """Let silent votes of players count where their present Elo is high enough."""
        for player in dict.fromkeys(players):
            if player in self.ratings and player not in self.muted:
                for library in self.libraries.values():
                    for _ in library.count_silent(player, self.ratings[player]):
                        give_way()

    def _judge(self, proposal: Proposal, context: _JudgingContext, order: int, voter: str = "") -> Judgement:
        """Judge a proposal of a contestant's, or one that `voter` makes in the same seat and with its Elo.

        `order` is its place among the proposals of the event.
        """
        report = context.report
        against = postmortem.objection(
            proposal, report, self.spec, context.average_length, self.settings.least_information
        )
        if against is not None:
            return Judgement(Verdict.DROPPED, against)
        contestant = report.contestants[proposal.seat - 1]
        if contestant.name in self.muted:
            return Judgement(Verdict.DROPPED, "an admin has muted the proposer")
        if proposal.marked is not None:
            return self._judge_marked(proposal, report)
        value = proposal.value
        if proposal.library is Library.ENDGAME:
            value = postmortem.endgame_value(value, report.results[proposal.seat - 1])
        pattern, player = self._orient(proposal.pattern, proposal.seat)
        library = self.libraries[proposal.library]
        fresh_id = self.counters.next_pattern_id
        vote = Vote.of(voter or contestant.name, contestant.elo, value, context.event, order)
        if voter:
            known = library.find(pattern, player)
            elo = vote.elo_hundredths
            vote = own_proposals.move_own_vote(vote, known)
            # It has no Elo of its own that could rise, so there is nothing to wait for.
            if known is not None and not known.votes.admits(min(elo, vote.elo_hundredths)):
                return Judgement(Verdict.DROPPED, "the player's Elo is 200 or more below the pattern's")
        learnt = library.learn(pattern, player, vote, fresh_id, self.settings, contestant.name)
        if learnt.silent:
            return Judgement(learnt.verdict, learnt.reason, learnt.pattern_id)
        if learnt.verdict is Verdict.INSERTED:
            self.counters = replace(self.counters, next_pattern_id=fresh_id + 1)
        library.put(
            replace(
                library.entries[learnt.pattern_id],
                last_contest=context.number,
                last_contest_id=report.contest_id,
            )
        )
        if learnt.pattern_id in self._evict(proposal.library):
            return Judgement(Verdict.EVICTED, "weaker than every pattern of the full library")
        return Judgement(learnt.verdict, learnt.reason, learnt.pattern_id)

    def _judge_marked(self, proposal: Proposal, report: ContestReport) -> Judgement:
        """Judge a proposal that marks the cell of its move, and that nothing else speaks against."""
        if not self.settings.tesuji_capacity:
            return Judgement(Verdict.DROPPED, "tesujis are off in this game (tesuji_capacity is 0)")
        try:
            code, elo = self.tesujis.read_proposal(proposal, report, self.spec)
        except InvalidTesujiError as error:
            return Judgement(Verdict.DROPPED, str(error))
        known, self.tesujis = self.tesujis, self.tesujis.propose(code, elo)
        if self.tesujis is known:
            return Judgement(Verdict.MATCHED, "the tesuji is known", tesuji=code)
        return Judgement(Verdict.INSERTED, "a new tesuji, learnt from every contest from now on", tesuji=code)

    def _without_evicted(self, judgement: Judgement) -> Judgement:
        """Return a judgement as it is once the contest was learnt from and the table cut to its room."""
        if not judgement.tesuji or judgement.tesuji in self.tesujis.proposed:
            return judgement
        return Judgement(Verdict.EVICTED, "weaker than the other proposed tesujis, which leave no room")

    def _orient(self, pattern: Pattern, player: int) -> tuple[Pattern, int]:
        """Return a pattern and the player addressed as the library keeps them."""
        if self.spec.symmetric and player == 2:
            return self.spec.reversed_pattern(pattern), 1
        return pattern, player

    def _count_use(self, use: Use, report: ContestReport, number: int) -> None:
        library = self.libraries[use.library]
        succeeded = report.results[use.seat - 1] is not Result.LOSS
        given = uses_by_kind(use.pattern_ids)
        if given.evaluation:
            self.evaluation = self.evaluation.count_use(succeeded)
        self.tesujis = self.tesujis.count_uses(given.tesujis, succeeded)
        for pattern_id in given.patterns:
            entry = library.entries.get(pattern_id)
            if entry is not None:
                library.put(
                    replace(
                        entry,
                        uses=entry.uses + 1,
                        successes=entry.successes + succeeded,
                        last_contest=number,
                        last_contest_id=report.contest_id,
                    )
                )

    def _evict(self, library: Library) -> list[int]:
        return self.libraries[library].evict_beyond(
            self.settings.capacity(library), self.measures.contests, self.settings.forget_after
        )

    # Administration

    def describe(self, description: Description) -> None:
        """Set what became known of the game after it was registered.

        Of what was learnt only the tesujis depend on it: with other shapes they begin again.

        Args:
            description: The whole of it.
        """
        before, self.spec = self.spec, self.spec.described(description)
        if (before.placement, before.winning_row) != (self.spec.placement, self.spec.winning_row):
            self.tesujis = TesujiTable.empty()

    def change_settings(self, settings: LibrarySettings) -> int:
        """Change the settings; a lowered capacity evicts at once.

        Args:
            settings: The new settings.

        Returns:
            How many patterns of all kinds, opening nodes and tesujis were removed.
        """
        removed = self.count_beyond(settings)
        self.settings = settings
        self.openings.evict_beyond(settings.opening_capacity)
        self.tesujis = self.tesujis.fit_settings(settings)
        self.evaluation = self.evaluation.fit_settings(settings)
        for library in PATTERN_LIBRARIES:
            self._evict(library)
        return removed

    def count_beyond(self, settings: LibrarySettings) -> int:
        """Return how much `change_settings` would remove.

        Args:
            settings: The new settings.

        Returns:
            How many patterns of all kinds, opening nodes and tesujis there is no room for.
        """
        beyond = len(self.tesujis) - len(self.tesujis.fit_settings(settings))
        beyond += self.evaluation.patterns - self.evaluation.fit_settings(settings).patterns
        beyond += max(0, len(self.openings) - settings.opening_capacity)
        return beyond + sum(
            max(0, len(patterns) - settings.capacity(library)) for library, patterns in self.libraries.items()
        )

    def delete_tesuji(self, code: int) -> int:
        """Remove a tesuji. Contests may teach it again, from weight 0, as players may propose it again.

        Args:
            code: The tesuji's code.

        Returns:
            How many were removed: 0 if the table does not have it.
        """
        before, self.tesujis = self.tesujis, self.tesujis.without(code)
        return len(before) - len(self.tesujis)

    def restore_pattern(self, library: Library, entry: PatternEntry) -> int:
        """Put a deleted pattern back.

        Args:
            library: Its library, not the openings.
            entry: The pattern. Where it has become known again, the votes are united.

        Returns:
            The number it has now; 0 where a full library has no room or only muted players voted for it.
        """
        entry = self._without_muted(entry)
        if not entry.votes.proposers:
            return 0
        pattern_id = self.libraries[library].add(entry)
        return 0 if pattern_id in self._evict(library) else pattern_id

    def prunable(self, library: Library, below: float) -> list[PatternEntry] | list[OpeningNode]:
        """Return what `prune` would remove.

        Args:
            library: As in `prune`.
            below: As in `prune`.
        """
        if library is Library.OPENING:
            return self.openings.prunable(below, self.settings.prune_factor)
        weak = [entry for entry in self.libraries[library] if entry.strength < below]
        return sorted(weak, key=lambda entry: (entry.strength, entry.pattern_id))

    def prune(self, library: Library, below: float) -> list[PatternEntry] | list[OpeningNode]:
        """Remove weak patterns, or prune the opening tree.

        Args:
            library: The section.
            below: Patterns of less strength go. For openings the threshold of `OpeningTree.prune`.

        Returns:
            The removed patterns or nodes.
        """
        if library is Library.OPENING:
            return self.openings.prune(below, self.settings.prune_factor)
        weak = self.prunable(library, below)
        for entry in weak:
            if isinstance(entry, PatternEntry):
                self.libraries[library].remove(entry.pattern_id)
        return weak

    def put_back(
        self,
        patterns: Iterable[tuple[Library, PatternEntry]],
        nodes: Iterable[OpeningNode],
        values_taken: Mapping[int, Mapping[int, Sequence[int]]],
    ) -> tuple[list[tuple[Library, PatternEntry]], list[OpeningNode]]:
        """Put removed records back as far as there is room, the strongest patterns first.

        Args:
            patterns: The patterns. Where one has become known again, the votes are united.
            nodes: The opening nodes.
            values_taken: As in `OpeningTree.put_back`.

        Returns:
            The patterns and the nodes that are back.
        """
        back = []
        for library, entry in sorted(patterns, key=lambda pair: (-pair[1].strength, pair[1].pattern_id)):
            known = self.libraries[library]
            left = self._without_muted(entry)
            has_room = len(known) < self.settings.capacity(library)
            if left.votes.proposers and (has_room or known.find(entry.pattern, entry.player)):
                known.add(left)
                back.append((library, entry))
        return back, self.openings.put_back(nodes, values_taken, self.settings.opening_capacity)

    def put_tables_back(self, tesujis: TesujiTable, evaluation: EvaluationTable) -> None:
        """Put removed tesujis and patterns of the evaluation back as far as there is room.

        Args:
            tesujis: As in `TesujiTable.put_back`.
            evaluation: As in `EvaluationTable.put_back`.
        """
        self.tesujis = self.tesujis.put_back(tesujis, self.settings)
        self.evaluation = self.evaluation.put_back(evaluation, self.settings)

    def muted_votes(self, entry: PatternEntry) -> list[tuple[str, PatternEntry]]:
        """Return what a pattern comes back without: the votes of muted players that counted.

        Args:
            entry: The pattern.

        Returns:
            Each such player, with the pattern of this player's vote alone.
        """
        return [
            (vote.player, _with_votes_alone(entry, (vote,)))
            for vote in entry.votes.counted
            if vote.player in self.muted
        ]

    def admits(self, entry: PatternEntry) -> bool:
        """Return whether a pattern may come in: a vote of somebody who is not muted counts.

        Args:
            entry: The pattern.
        """
        return bool(self._without_muted(entry).votes.proposers)

    def _without_muted(self, entry: PatternEntry) -> PatternEntry:
        votes = entry.votes
        for player in {vote.player for vote in (*votes.counted, *votes.silent)} & self.muted:
            votes = votes.without(player)
        return replace(entry, votes=votes)

    def mute(self, player: str) -> list[tuple[Library, PatternEntry]]:
        """Drop a player's proposals from now on, and take its votes out of all patterns.

        Args:
            player: The player's name.

        Returns:
            As `take_votes_out`.
        """
        self.muted |= {player}
        return self.take_votes_out(player)

    def take_votes_out(self, player: str) -> list[tuple[Library, PatternEntry]]:
        """Take a player's votes out of all patterns. A pattern that no other player proposed is removed.

        Args:
            player: The player's name.

        Returns:
            The removed patterns, and the others with this player's votes alone. The player's silent votes go
            too, but did not count and are not returned.
        """
        taken = []
        for library, patterns in self.libraries.items():
            for entry in list(patterns):
                own = tuple(vote for vote in entry.votes.counted if vote.player == player)
                left = entry.votes.without(player)
                if not own:
                    if left != entry.votes:
                        patterns.put(replace(entry, votes=left))
                elif left.proposers:
                    patterns.put(replace(entry, votes=left))
                    taken.append((library, _with_votes_alone(entry, own)))
                else:
                    patterns.remove(entry.pattern_id)
                    taken.append((library, entry))
        return taken

    def unmute(self, player: str, taken: Iterable[tuple[Library, PatternEntry]]) -> int:
        """Accept a player's proposals again and put back the votes that muting took out.

        Args:
            player: The player's name.
            taken: What `mute` returned.

        Returns:
            How many patterns have no room.
        """
        self.muted -= {player}
        no_room = 0
        for library, entry in taken:
            patterns = self.libraries[library]
            # Its cells may be other ones by now: votes stay with the number.
            known = patterns.entries.get(entry.pattern_id)
            if known is not None:
                patterns.put(replace(known, votes=known.votes.unite_with(entry.votes)))
            elif len(patterns) < self.settings.capacity(library) or patterns.find(
                entry.pattern, entry.player
            ):
                patterns.add(entry)
            else:
                no_room += 1
        return no_room

    def put_others(
        self, removed: Iterable[tuple[Library, int]], patterns: Sequence[tuple[Library, PatternEntry]]
    ) -> None:
        """Replace patterns by others, as a replay without a player made them.

        Args:
            removed: The libraries and numbers of the patterns to remove.
            patterns: The patterns to store under their own numbers.

        Raises:
            UnknownPatternError: A library has no pattern of one of the numbers to remove.
        """
        for library, pattern_id in removed:
            self.libraries[library].remove(pattern_id)
        for library, entry in patterns:
            self.libraries[library].put(entry)
        self._count_on_from(max((entry.pattern_id for _, entry in patterns), default=0))

    def _count_on_from(self, pattern_id: int) -> None:
        fresh_id = max(self.counters.next_pattern_id, pattern_id + 1)
        self.counters = replace(self.counters, next_pattern_id=fresh_id)

    def import_history(self, measures: Measures, ratings: Iterable[Rating]) -> None:
        """Import the measures and ratings of contests that were reported elsewhere.

        Args:
            measures: The sums over these contests.
            ratings: Each player's name and Elo in hundredths.

        Raises:
            ValueError: A contest of the game is known here.
        """
        if self.measures.contests:
            raise ValueError("measures and ratings are taken in only where no contest of the game is known")
        self.measures = measures
        self.ratings.follow(ratings)

    def import_patterns(
        self,
        library: Library,
        entries: Sequence[PatternEntry],
        replace_all: bool,
        event: int,
        moved: bool = False,
    ) -> int:
        """Import another library's patterns; known patterns get the votes.

        Votes of muted players stay out, and patterns that only they proposed. In a symmetric game a pattern
        for the second player is kept reversed, for the first.

        Args:
            library: The library, not the openings.
            entries: The patterns.
            replace_all: Whether to empty the library first.
            event: The number of the event that brought them.
            moved: Whether numbers and last contests stay as they are; else new patterns get fresh numbers.

        Returns:
            How many patterns were evicted for lack of room.

        Raises:
            InvalidPatternError: `check_entry` refuses a pattern; nothing has changed then.
        """
        for entry in entries:
            check_entry(entry, self.spec)
        entries = [left for entry in entries if (left := self._without_muted(entry)).votes.proposers]
        patterns = self.libraries[library]
        if replace_all:
            patterns.clear()
        fresh_id = self.counters.next_pattern_id
        for entry, votes in zip(entries, _renumber_votes(entries, event), strict=True):
            pattern, player = self._orient(entry.pattern, entry.player)
            if moved:
                fresh_id = entry.pattern_id
            patterns.add(
                replace(
                    entry,
                    pattern_id=fresh_id,
                    pattern=self.spec.canonical(pattern),
                    player=player,
                    # United with nothing, so that of a player's votes one is left.
                    votes=VoteTally().unite_with(votes),
                    last_contest=entry.last_contest if moved else self.measures.contests,
                )
            )
            self._count_on_from(fresh_id)
            fresh_id += 1
        return len(self._evict(library))

    def import_tesujis(self, tesujis: TesujiTable, replace_all: bool) -> int:
        """Unite another table's tesujis with this one's.

        Args:
            tesujis: The other table.
            replace_all: Whether to forget those known first.

        Returns:
            How many were removed for lack of room.
        """
        known = TesujiTable.empty() if replace_all else self.tesujis
        united = known.unite(tesujis)
        self.tesujis = united.fit_settings(self.settings)
        return len(united) - len(self.tesujis)

    def import_evaluation(self, evaluation: EvaluationTable, replace_all: bool) -> int:
        """Unite another evaluation with this one, as far as the game's settings have one.

        Args:
            evaluation: The other one.
            replace_all: Whether to forget the one known first.

        Returns:
            How many weights were removed for lack of room.
        """
        known = EvaluationTable() if replace_all else self.evaluation
        united = known.unite(evaluation)
        self.evaluation = united.fit_settings(self.settings)
        return len(united) - len(self.evaluation)

    def import_openings(self, nodes: Sequence[OpeningNode], replace_all: bool, moved: bool = False) -> int:
        """Add another opening tree's figures to this one's.

        Args:
            nodes: The other tree's nodes.
            replace_all: Whether to empty the tree first.
            moved: Whether nodes keep their numbers.

        Returns:
            How many nodes were removed for lack of room.

        Raises:
            UnknownLineError: A node comes without its parent.
        """
        if replace_all:
            self.openings.clear()
        next_node_id = self.openings.unite(nodes, self.counters.next_node_id, moved)
        self.counters = replace(self.counters, next_node_id=next_node_id)
        return len(self.openings.evict_beyond(self.settings.opening_capacity))


def _with_votes_alone(entry: PatternEntry, votes: tuple[Vote, ...]) -> PatternEntry:
    """Return some votes of a pattern as it is kept for unmuting: the uses stay with the others."""
    return replace(entry, votes=VoteTally(votes), uses=0, successes=0)


def _renumber_votes(entries: Sequence[PatternEntry], event: int) -> list[VoteTally]:
    """Return the entries' votes, all renumbered as one event's, in the order of casting."""
    votes = [vote for entry in entries for vote in (*entry.votes.counted, *entry.votes.silent)]
    casts = sorted({(vote.event, vote.order) for vote in votes})
    orders = {cast: order for order, cast in enumerate(casts)}

    def renumber(votes: Iterable[Vote]) -> tuple[Vote, ...]:
        return tuple(replace(vote, event=event, order=orders[vote.event, vote.order]) for vote in votes)

    return [
        VoteTally(renumber(entry.votes.counted), entry.votes.folded, renumber(entry.votes.silent))
        for entry in entries
    ]
