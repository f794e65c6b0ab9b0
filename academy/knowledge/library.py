"""Libraries of patterns: looking up, voting, merging, uses and eviction."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import nsmallest
from math import ldexp
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import Code
from academy.knowledge.contests import Verdict
from academy.knowledge.merging import cell_rule, decisive, information, merge_cells, specialised_cell
from academy.knowledge.pattern_entry import PatternEntry, UseCount
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell
from academy.knowledge.votes import ELO_BAND, Vote, VoteTally, digest

__all__ = ["PatternLibrary", "TouchedPatterns", "UnknownPatternError", "VoteOutcome"]


class UnknownPatternError(KeyError):
    """The library holds no pattern of this number.

    Args:
        pattern_id: The number.
        library: The library, where it is known.
        game_id: Its game.
    """

    def __init__(self, pattern_id: int, library: Library | None = None, game_id: str = "") -> None:
        super().__init__(pattern_id, library, game_id)

    def __str__(self) -> str:
        pattern_id, library, game_id = self.args
        if library is None:
            return f"no pattern {pattern_id} in this library"
        return (
            f"no pattern {pattern_id} in the {library.value} library of {game_id}; "
            "the pattern may be in the other library, unless it was merged into another one or removed"
        )


class TouchedPatterns(NamedTuple):
    """Numbers of the patterns that are new, removed or have other votes or cells, and of those only used."""

    learnt: frozenset[int]
    used: frozenset[int]


@dataclass(frozen=True, slots=True)
class VoteOutcome:
    """What became of a vote: the verdict, the pattern that has it, and the reason in words.

    `silent` says that the vote counts for nothing yet.
    """

    verdict: Verdict
    pattern_id: int
    reason: str
    silent: bool = False


# Only patterns of the same player, cells and edge can merge.
_Outline = tuple[int, tuple[Cell, ...], bytes]
_EDGE: Final = bytes(code == Code.OFF_BOARD for code in range(256))


class _Group:
    """Codes of all patterns of one outline, as one array with a row a pattern."""

    def __init__(self, width: int) -> None:
        self.ids: list[int] = []
        self._codes: NDArray[np.uint8] = np.empty((4, width), np.uint8)

    def add(self, pattern_id: int, codes: bytes) -> None:
        row = len(self.ids)
        if row == len(self._codes):
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        self._codes[row] = np.frombuffer(codes, np.uint8)
        self.ids.append(pattern_id)

    def remove(self, pattern_id: int) -> None:
        row = self.ids.index(pattern_id)
        last = self.ids.pop()
        if row < len(self.ids):
            self.ids[row] = last
            self._codes[row] = self._codes[len(self.ids)]

    def near(self, codes: bytes, most: int) -> Iterator[tuple[int, list[int]]]:
        """Yield each pattern that differs in 1 to `most` cells, with the places where it does."""
        unequal = self._codes[: len(self.ids)] != np.frombuffer(codes, np.uint8)
        counts = np.count_nonzero(unequal, axis=1)
        for row in np.flatnonzero((counts >= 1) & (counts <= most)):
            yield self.ids[row], np.flatnonzero(unequal[row]).tolist()


class _Waiting:
    """The patterns in which one player's vote is silent, each with the least Elo that it admits."""

    def __init__(self) -> None:
        self.needed: dict[int, int] = {}
        # No pattern admits less: most contests of a weak player cost one comparison.
        self._least = 0

    def put(self, pattern_id: int, needed: int) -> None:
        self._least = min(self._least, needed) if self.needed else needed
        self.needed[pattern_id] = needed

    def list_admitting(self, elo_hundredths: int) -> list[int]:
        """Return the patterns that admit an Elo, oldest first."""
        if elo_hundredths < self._least:
            return []
        self._least = min((elo for elo in self.needed.values() if elo > elo_hundredths), default=0)
        return sorted(number for number, needed in self.needed.items() if needed <= elo_hundredths)


class PatternLibrary:
    """The patterns of one game's middle-game or endgame library.

    Args:
        spec: The game.
    """

    def __init__(self, spec: GameSpec) -> None:
        self.entries: dict[int, PatternEntry] = {}
        self._spec = spec
        # Entries as they were at the last `take_changes`, of those touched since.
        self._before: dict[int, PatternEntry | None] = {}
        self._known: dict[tuple[int, Pattern], int] = {}
        self._groups: dict[_Outline, _Group] = {}
        self._strengths: dict[int, float] = {}
        self._waiting: dict[str, _Waiting] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, pattern: Pattern, player: int) -> PatternEntry | None:
        """Return the entry of a pattern, or of an image of it.

        Args:
            pattern: The pattern.
            player: The player addressed, from 1.

        Returns:
            The entry; None where the library has none.
        """
        known = self._known.get((player, self._spec.canonical(pattern)))
        return None if known is None else self.entries[known]

    def learn(
        self,
        pattern: Pattern,
        player: int,
        vote: Vote,
        fresh_id: int,
        settings: LibrarySettings,
        changer: str = "",
    ) -> VoteOutcome:
        """Let a vote for a pattern find its place (how-learning-works.md, "The four ways in").

        Args:
            pattern: The pattern, in any of its images.
            player: The player addressed, from 1.
            vote: The vote.
            fresh_id: The number that the pattern gets if it enters alone.
            settings: The game's settings.
            changer: Who changes the cells of a known pattern by it; the voter, if empty.

        Returns:
            What became of it.
        """
        images = sorted(set(self._spec.images(pattern)))
        known = self._known.get((player, images[0]))
        if known is not None:
            return self._match(self.entries[known], vote)
        changer_digest = digest(changer or vote.player)
        merge = self._best_merge(images, player, vote, changer_digest, settings)
        if merge is not None:
            verdict, known, result = merge
            entry = self.entries[known]
            changers = entry.changers if result == entry.pattern else entry.changers | {changer_digest}
            # Its new pattern may unite it with a known entry.
            self.remove(known)
            kept = self.add(replace(entry, pattern=result, votes=entry.votes.cast(vote), changers=changers))
            how = "specialised" if verdict is Verdict.SPECIALISED else "generalised with"
            return VoteOutcome(verdict, kept, f"{how} pattern {known} of Elo {entry.votes.elo:.0f}")
        self.put(PatternEntry(fresh_id, images[0], player, VoteTally((vote,))))
        return VoteOutcome(Verdict.INSERTED, fresh_id, "no known pattern was near enough: entered alone")

    def _match(self, entry: PatternEntry, vote: Vote) -> VoteOutcome:
        votes, known = entry.votes.cast(vote), entry.pattern_id
        self.put(replace(entry, votes=votes))
        if votes.has_counting_vote(vote.player):
            return VoteOutcome(Verdict.MATCHED, known, f"the same as pattern {known}")
        reason = (
            f"the same as pattern {known}; Elo {vote.elo:.0f} is {ELO_BAND:.0f} or more below "
            f"{votes.weighted_elo:.0f}, the mean of the votes that count, weighted by Elo: the vote counts "
            "once the proposer's Elo comes nearer"
        )
        return VoteOutcome(Verdict.MATCHED, known, reason, silent=True)

    def count_silent(self, player: str, elo_hundredths: int) -> Iterator[int]:
        """Let a player's silent votes count where their patterns admit the player's present Elo.

        Args:
            player: The player's name.
            elo_hundredths: The player's Elo now, in hundredths.

        Yields:
            Each pattern's number after changing it; unread patterns stay unchanged. They may be thousands.
        """
        waiting = self._waiting.get(player)
        for pattern_id in waiting.list_admitting(elo_hundredths) if waiting else ():
            entry = self.entries[pattern_id]
            self.put(replace(entry, votes=entry.votes.count_silent(player, elo_hundredths)))
            yield pattern_id

    def _best_merge(
        self, images: list[Pattern], player: int, vote: Vote, changer: int, settings: LibrarySettings
    ) -> tuple[Verdict, int, Pattern] | None:
        """The nearest pattern that a merge may be made with, how, and the result."""
        best: dict[Verdict, tuple[tuple[int, float, int, Pattern], int]] = {}
        for image in images:
            group = self._groups.get(_outline(player, image))
            if group is None:
                continue
            for known, differing in group.near(image.codes, settings.max_merged_cells):
                entry = self.entries[known]
                rule = cell_rule(vote, entry.votes)
                if rule is None or not entry.votes.admits(vote.elo_hundredths):
                    continue
                verdict = Verdict.SPECIALISED if rule is specialised_cell else Verdict.GENERALISED
                is_decisive = decisive(vote.value, entry.votes.value)
                result = merge_cells(image, entry.pattern.codes, differing, rule, is_decisive)
                if result is None or information(result.codes) < settings.least_information:
                    continue
                result = self._spec.canonical(result)
                if not self._may_become(entry, result, changer):
                    continue
                rank = (len(differing), -entry.strength, known, result)
                if verdict not in best or rank < best[verdict][0]:
                    best[verdict] = (rank, known)
        for verdict in (Verdict.SPECIALISED, Verdict.GENERALISED):
            if verdict in best:
                rank, known = best[verdict]
                return verdict, known, rank[3]
        return None

    def _may_become(self, entry: PatternEntry, result: Pattern, changer: int) -> bool:
        """Whether a player may change an entry's cells to these, which may be known."""
        if result == entry.pattern:
            return True
        twin = self._known.get((entry.player, result))
        is_near = twin is None or self.entries[twin].votes.is_near(entry.votes)
        return is_near and changer not in entry.changers

    def add(self, entry: PatternEntry) -> int:
        """Add an entry; where its pattern is known, the two entries become one.

        Args:
            entry: The entry, with its canonical pattern.

        Returns:
            The number it has now, the older of the two.
        """
        twin = self._known.get((entry.player, entry.pattern))
        if twin is not None and twin != entry.pattern_id:
            entry = self.remove(twin).unite_with(entry)
        self.put(entry)
        return entry.pattern_id

    def put(self, entry: PatternEntry) -> None:
        """Store an entry under its number, in place of the earlier one.

        Args:
            entry: The entry, with its canonical pattern.
        """
        old = self.entries.get(entry.pattern_id)
        self._before.setdefault(entry.pattern_id, old)
        if old is None or (old.player, old.pattern) != (entry.player, entry.pattern):
            if old is not None:
                self.remove(entry.pattern_id)
                old = None
            self._known[entry.player, entry.pattern] = entry.pattern_id
            outline = _outline(entry.player, entry.pattern)
            group = self._groups.setdefault(outline, _Group(len(entry.pattern.codes)))
            group.add(entry.pattern_id, entry.pattern.codes)
        if old is None or old.votes is not entry.votes:
            if old is not None:
                self._stop_waiting(old)
            for vote in entry.votes.silent:
                waiting = self._waiting.setdefault(vote.player, _Waiting())
                waiting.put(entry.pattern_id, entry.votes.least_elo)
        self.entries[entry.pattern_id] = entry
        self._strengths[entry.pattern_id] = entry.strength

    def _stop_waiting(self, entry: PatternEntry) -> None:
        for vote in entry.votes.silent:
            waiting = self._waiting[vote.player]
            del waiting.needed[entry.pattern_id]
            if not waiting.needed:
                del self._waiting[vote.player]

    def remove(self, pattern_id: int) -> PatternEntry:
        """Remove an entry.

        Args:
            pattern_id: Its number.

        Returns:
            The entry.

        Raises:
            UnknownPatternError: The library has no pattern of this number.
        """
        if pattern_id not in self.entries:
            raise UnknownPatternError(pattern_id)
        entry = self.entries.pop(pattern_id)
        self._before.setdefault(pattern_id, entry)
        self._stop_waiting(entry)
        del self._strengths[pattern_id]
        del self._known[entry.player, entry.pattern]
        outline = _outline(entry.player, entry.pattern)
        self._groups[outline].remove(pattern_id)
        if not self._groups[outline].ids:
            del self._groups[outline]
        return entry

    def clear(self) -> None:
        """Remove all entries."""
        for pattern_id in list(self.entries):
            self.remove(pattern_id)

    def evict_beyond(self, capacity: int, contests: int, forget_after: int) -> list[int]:
        """Remove the weakest patterns until no more than `capacity` are left; the older of equals goes first.

        Args:
            capacity: How many patterns may stay.
            contests: How many contests the game has had.
            forget_after: An unused pattern's strength is halved every this many contests; 0 for never.

        Returns:
            The numbers of the removed patterns.
        """
        surplus = len(self.entries) - capacity
        if surplus <= 0:
            return []
        strengths = self._strengths
        if forget_after:
            strengths = {
                number: ldexp(strengths[number], -(max(0, contests - entry.last_contest) // forget_after))
                for number, entry in self.entries.items()
            }
        by_strength = zip(strengths.values(), strengths, strict=True)
        weakest = [pattern_id for _, pattern_id in nsmallest(surplus, by_strength)]
        for pattern_id in weakest:
            self.remove(pattern_id)
        return weakest

    def count(self, count: UseCount) -> None:
        """Set how often a pattern was used.

        Args:
            count: The pattern's number and its uses.

        Raises:
            UnknownPatternError: The library has no pattern of this number.
        """
        entry = self.entries.get(count.pattern_id)
        if entry is None:
            raise UnknownPatternError(count.pattern_id)
        self.put(
            replace(
                entry,
                uses=count.uses,
                successes=count.successes,
                last_contest=count.last_contest,
                last_contest_id=count.last_contest_id,
            )
        )

    def take_changes(self) -> TouchedPatterns:
        """Return the numbers of the patterns that changed since the last call, and forget them."""
        learnt: set[int] = set()
        used: set[int] = set()
        for pattern_id, before in self._before.items():
            now = self.entries.get(pattern_id)
            if now == before:
                continue
            only_used = now is not None and before is not None and now.says_the_same_as(before)
            (used if only_used else learnt).add(pattern_id)
        self._before.clear()
        return TouchedPatterns(frozenset(learnt), frozenset(used))

    def __iter__(self) -> Iterator[PatternEntry]:
        return iter(self.entries.values())


def _outline(player: int, pattern: Pattern) -> _Outline:
    return player, pattern.cells, pattern.codes.translate(_EDGE)
