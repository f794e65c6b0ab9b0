"""An analyst: searches the most visited positions of an opening tree, and tells ACADEMY what it found.

    academy-analyst hex --set board_size=7 --academy localhost:50551 --playouts 2000 --once
    academy-analyst openspiel --set game=connect_four --when-idle

The token (ACADEMY_TOKEN) must be one of `academy tokens create NAME --role analyst`. The program runs with
the lowest priority (nice 19). What was found is kept at ACADEMY: a run that was ended goes on where it ended.
The same line, search and budget give the same value on any machine.
"""

import argparse
import heapq
import itertools
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import Any, Final

from academy.knowledge.node_analysis import SearchKind
from academy.wire.games import differing_field
from academy.wire.standard_streams import open_closed
from clients.academy import Academy
from clients.bots.alpha_beta import AlphaBetaThinker
from clients.bots.any_game import add_game, chosen_search, read_rules
from clients.bots.search_game import UnsuitableGameError
from clients.bots.strength import Strength
from clients.command_line import ending_with_its_output, program_parser
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
from clients.responses import Analysis
from clients.seat import Seat
from referees.api import IllegalMoveError, Referee, UnknownRefereeError, UnreadableMoveError
from referees.legible_text import legible

# After this number of searches the walk begins again at the root: contests have gone on meanwhile.
SEARCHES_A_WALK: Final = 50
# It takes any of this number of the most visited, by chance: several analysts then rarely search the same.
LINES_TO_CHOOSE_FROM: Final = 16
# Between two walks without anything left to search, and between two looks whether players are busy.
SECONDS_BETWEEN_WALKS: Final = 60.0
SECONDS_BETWEEN_LOOKS: Final = 0.5
_LOWEST_PRIORITY: Final = 19
# How much is searched where the command line does not say it.
_BUDGETS: Final = {"playouts": 2_000, "depth": 8}


class OtherRulesError(ValueError):
    """ACADEMY's game is not the one that these rules play."""


class InterruptedSearchError(Exception):
    """A search must end now; what it found so far is thrown away."""


def most_visited_lines(
    academy: Academy, seat: Seat, count: int
) -> Iterator[tuple[tuple[str, ...], Analysis | None]]:
    """Yield the lines of an opening tree, the most visited first, each with its analysis.

    A line has no more visits than the one that it continues: only lines behind those yielded are asked about.

    Args:
        academy: The connection.
        seat: A seat of the game, outside of a contest.
        count: How many lines to yield at most.
    """
    waiting: list[tuple[int, tuple[str, ...], Analysis | None]] = [(0, (), None)]
    for _ in range(count + 1):
        if not waiting:
            return
        _, line, analysis = heapq.heappop(waiting)
        if line:
            yield line, analysis
        for move in academy.opening(seat, line, 0):
            heapq.heappush(waiting, (-move.visits, (*line, move.move), move.analysis))


@dataclass(frozen=True)
class LineSearcher:
    """Searches the positions after lines of a game.

    Args:
        rules: the game's referee.
        strength: how to search; without seconds, so that the same line gives the same value.
    """

    rules: Referee[Any, Any]
    strength: Strength

    def value(self, line: Sequence[str]) -> float | None:
        """Return what the player of a line's last move may expect, from 0 to 1.

        Args:
            line: The moves from the first position, at least one.

        Returns:
            The value; None where the line cannot be played by these rules, or ends the game.

        Raises:
            UnsuitableGameError: the search cannot play this game.
        """
        position, mover = self.rules.start(0), 0
        for text in line:
            seats = self.rules.to_move(position)
            if len(seats) != 1:
                return None
            (mover,) = seats
            try:
                move = self.rules.read_move(position, mover, text)
                self.rules.check(position, mover, move)
            except (UnreadableMoveError, IllegalMoveError):
                # The tree knows games by their board; these settings forbid the move.
                return None
            position = self.rules.play(position, {mover: move})
        seats = self.rules.to_move(position)
        if len(seats) != 1:
            return None
        chance = random.Random(" ".join((self.rules.spec().game_id, *line)))
        expected = self.strength.thinker(self.rules, chance).think(self.rules, position).value
        return expected if seats[0] == mover else 1.0 - expected

    @cached_property
    def effort(self) -> tuple[SearchKind, int]:
        """How it searches, and how much: random games, or plies of alpha-beta.

        Raises:
            UnsuitableGameError: the search cannot play this game.
            ValueError: it is too little to be worth keeping.
        """
        thinker = self.strength.thinker(self.rules, random.Random())
        kind, budget = SearchKind.RANDOM_GAMES, self.strength.playouts
        if isinstance(thinker, AlphaBetaThinker):
            kind, budget = SearchKind.PLIES, thinker.depth
        if budget < kind.fewest:
            option = "--playouts" if kind is SearchKind.RANDOM_GAMES else "--depth"
            raise ValueError(f"{option} {budget}: it says too little to be kept; give {kind.fewest} or more")
        return kind, budget


class SearchGuard:
    """Ends searches at a deadline, and while contests are open; for the main thread.

    Args:
        count_open_contests: How many contests are open now; None: they do not matter.
        deadline: When to end, by `time.monotonic`; None: never.
    """

    def __init__(self, count_open_contests: Callable[[], int] | None, deadline: float | None) -> None:
        self._count_open_contests = count_open_contests
        self._deadline = deadline
        self._searching = False
        self.open_contests = 0
        # Why they cannot be counted now.
        self._error: AcademyRefusedError | AcademyUnavailableError | None = None
        self._look()
        signal.signal(signal.SIGUSR1, self._end_search)
        if count_open_contests is not None or deadline is not None:
            threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.ends_within(0.0)

    def ends_within(self, seconds: float) -> bool:
        """Return whether the deadline passes in this time.

        Args:
            seconds: The time from now.
        """
        return self._deadline is not None and time.monotonic() + seconds >= self._deadline

    def sleep(self, seconds: float) -> None:
        """Sleep, at most until the deadline.

        Args:
            seconds: How long.
        """
        left = seconds if self._deadline is None else self._deadline - time.monotonic()
        time.sleep(max(0.0, min(seconds, left)))

    def search(self, work: Callable[[], float | None]) -> float | None:
        """Return what the work returns.

        Args:
            work: The search.

        Raises:
            InterruptedSearchError: It must end now.
            AcademyRefusedError: ACADEMY refused to say whether contests are open.
            AcademyUnavailableError: ACADEMY did not say it in time.
        """
        error = self._error
        if error is not None:
            raise error
        if self.is_over or self.open_contests:
            raise InterruptedSearchError
        try:
            self._searching = True
            return work()
        finally:
            self._searching = False

    def _end_search(self, number: int, frame: FrameType | None) -> None:
        if self._searching:
            # Once: the next signal may come while this error is on its way.
            self._searching = False
            raise InterruptedSearchError

    def _look(self) -> None:
        if self._count_open_contests is None:
            return
        try:
            self.open_contests, self._error = self._count_open_contests(), None
        except (AcademyRefusedError, AcademyUnavailableError) as error:
            # The main thread does not rest: its next call meets the same, or its search raises it.
            self.open_contests, self._error = 0, error

    def _watch(self) -> None:
        while not self.is_over:
            self._look()
            if self.open_contests or self._error is not None:
                os.kill(os.getpid(), signal.SIGUSR1)
            self.sleep(SECONDS_BETWEEN_LOOKS)
        os.kill(os.getpid(), signal.SIGUSR1)


def _print_at_once(line: str) -> None:
    print(line, flush=True)


@dataclass(frozen=True)
class Analyst:
    """Walks an opening tree, and searches lines that nobody searched in another way, or for as long.

    Args:
        academy: the connection, with an analyst's token.
        searcher: searches a line.
        guard: ends searches.
        nodes: how many of the most visited lines to look at.
        game_id: what ACADEMY calls the game.
        say: is called with each line of text about what it does.
    """

    academy: Academy
    searcher: LineSearcher
    guard: SearchGuard
    nodes: int
    game_id: str
    say: Callable[[str], None] = _print_at_once

    def run(self, once: bool) -> int:
        """Search until nothing is left to search, or the guard's deadline has passed.

        Args:
            once: Whether to end when nothing is left, or ACADEMY does not answer; else it looks again after a
                minute.

        Returns:
            How many analyses were news to ACADEMY.

        Raises:
            AcademyRefusedError: ACADEMY refused, for good or with `once` or less than a minute before the
                deadline.
            AcademyUnavailableError: ACADEMY did not answer in time, with `once` or less than a minute before
                the deadline.
            OtherRulesError: ACADEMY's game has another board, or is another in any other respect.
            UnsuitableGameError: the search cannot play this game.
        """
        counted = 0
        # These rules say so, whichever server answers. What was searched, the server alone knows.
        unsearchable: set[tuple[str, ...]] = set()
        while True:
            before = counted
            try:
                # What answers after a wait may be another server.
                self._check_rules()
                for line, value in self._walk(unsearchable):
                    counted += 1
                    self.say(legible(f"{' '.join(line)}: {value:.3f}"))
            except InterruptedSearchError:
                self._rest()
            except (AcademyUnavailableError, AcademyRefusedError) as error:
                passes = isinstance(error, AcademyUnavailableError) or error.retry_after is not None
                if once or not passes or self.guard.ends_within(SECONDS_BETWEEN_WALKS):
                    raise
                why = legible(str(error))
                self.say(f"ACADEMY cannot be asked now ({why}): looking again after a minute")
                self.guard.sleep(SECONDS_BETWEEN_WALKS)
            else:
                if counted == before:
                    if once:
                        return counted
                    self.guard.sleep(SECONDS_BETWEEN_WALKS)
            if self.guard.is_over:
                return counted

    def explain_nothing(self) -> str:
        """Return why a run analysed nothing.

        Raises:
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        if self.guard.is_over:
            return "the time is over"
        known = self.academy.statistics(self.game_id).opening_nodes
        if not known:
            return "no contest is in its opening tree yet"
        kind, budget = self.searcher.effort
        return (
            f"each of the {min(known, self.nodes):,} most visited was searched with {budget:,} {kind.unit} "
            "or more or in another way, or cannot be searched by these rules"
        )

    def _check_rules(self) -> None:
        """Raise OtherRulesError where values would be stored at positions that were never searched."""
        spec = self.searcher.rules.spec()
        field = differing_field(spec, self.academy.game(self.game_id))
        if field is not None:
            raise OtherRulesError(
                f"these rules are of {spec.game_id}, and {self.game_id!r} at ACADEMY has another {field}: "
                "give the game and settings (--set) that its contests are played by, or another --game-id"
            )

    def _walk(self, unsearchable: set[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], float]]:
        """Search some lines of the tree as it is now; yield those whose value was news to ACADEMY."""
        kind, budget = self.searcher.effort
        seat = Seat(self.game_id, self.searcher.rules.spec().geometry, player=1)
        unsearched = (
            line
            for line, analysis in most_visited_lines(self.academy, seat, self.nodes)
            if line not in unsearchable and self._improves(analysis)
        )
        choice = list(itertools.islice(unsearched, LINES_TO_CHOOSE_FROM))
        counted = 0
        while choice and counted < SEARCHES_A_WALK:
            line = choice.pop(random.randrange(len(choice)))
            choice += itertools.islice(unsearched, 1)
            if not self._is_unsearched_now(seat, line):
                continue
            value = self.guard.search(lambda line=line: self.searcher.value(line))  # type: ignore[misc]
            if value is None:
                unsearchable.add(line)
            elif self.academy.report_analysis(self.game_id, line, Analysis(value, budget, kind=kind)):
                counted += 1
                yield line, value

    def _improves(self, analysis: Analysis | None) -> bool:
        """Whether a search would be kept in place of what is known of a line."""
        kind, budget = self.searcher.effort
        return analysis is None or (analysis.kind is kind and analysis.budget < budget)

    def _is_unsearched_now(self, seat: Seat, line: tuple[str, ...]) -> bool:
        """Whether a line still lacks this search: another analyst may have reported it meanwhile."""
        *before, last = line
        moves = self.academy.opening(seat, before, 0)
        return any(move.move == last and self._improves(move.analysis) for move in moves)

    def _rest(self) -> None:
        if self.guard.open_contests and not self.guard.is_over:
            self.say("resting: contests are open")
        while self.guard.open_contests and not self.guard.is_over:
            self.guard.sleep(SECONDS_BETWEEN_LOOKS)


def _check_suitable(rules: Referee[Any, Any]) -> None:
    spec = rules.spec()
    if not spec.two_in_turn:
        raise UnsuitableGameError(f"{rules.name}: only games of two that move in turn are analysed")
    if rules.arranger() is not None:
        raise UnsuitableGameError(
            f"{spec.game_id}: a player arranges its first position, and only games that begin alike are "
            "analysed"
        )


def _read_strength(options: argparse.Namespace) -> Strength:
    """Return how to search. Raises ValueError for numbers that this search does not go by."""
    search, given = chosen_search(options)
    return Strength(search, **_BUDGETS | given)


@ending_with_its_output("academy-analyst")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the analyst."""
    open_closed()
    parser = argument_parser()
    options = parser.parse_args(arguments)
    try:
        rules = read_rules(options.game, options.set)
        _check_suitable(rules)
        searcher = LineSearcher(rules, _read_strength(options))
        # Too little is refused before anything is searched.
        _ = searcher.effort
        connection = (
            Connection(options.academy).with_environment()
            if options.academy
            else Connection.from_environment()
        )
        if connection is None:
            raise ValueError("where is ACADEMY? Give --academy ADDRESS, or set ACADEMY_ADDRESS")
    except (OSError, ValueError, UnknownRefereeError) as error:
        parser.error(str(error.args[0] if isinstance(error, UnknownRefereeError) else error))
    os.nice(_LOWEST_PRIORITY)
    game_id = options.game_id or os.environ.get("ACADEMY_GAME") or rules.spec().game_id
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    # Each thread has a connection of its own. The guard's thread may ask until the process ends, and a closed
    # connection would raise in it, so nobody closes that one.
    watched = Academy(connection)
    with Academy(connection) as academy:
        try:
            guard = SearchGuard(
                (lambda: watched.statistics(game_id).open_contests) if options.when_idle else None, deadline
            )
            analyst = Analyst(academy, searcher, guard, options.nodes, game_id)
            counted = analyst.run(options.once)
            why = "" if counted else f": {analyst.explain_nothing()}"
        except AcademyUnavailableError as error:
            remedy = "start one with `academy serve`, or give its address with --academy"
            words = f"academy-analyst: no server answers at {connection.address} ({error}); {remedy}"
            sys.exit(legible(words))
        except AcademyRefusedError as error:
            remedy = ""
            if error.code in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
                remedy = "; give ACADEMY_TOKEN a token of its `academy tokens create NAME --role analyst`"
            words = f"academy-analyst: ACADEMY at {connection.address} refuses: {error}{remedy}"
            sys.exit(legible(words))
        except OtherRulesError as error:
            sys.exit(legible(f"academy-analyst: {error}"))
        except KeyboardInterrupt:
            sys.exit("stopped; what was found is kept")
    print(legible(f"{game_id}: {counted:,} positions analysed{why}"))


_EXAMPLES: Final = """The token of ACADEMY_TOKEN must be an analyst's. Example:
  ACADEMY_TOKEN=$(cat analyst.token) academy-analyst hex --set board_size=7 --once"""


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the program's arguments."""
    parser = program_parser("academy-analyst", (__doc__ or "").partition("\n")[0], _EXAMPLES)
    add_game(parser)
    parser.add_argument(
        "--academy", default="", metavar="ADDRESS", help="host:port or unix:PATH (ACADEMY_ADDRESS)"
    )
    parser.add_argument(
        "--game-id",
        default="",
        metavar="ID",
        help="what ACADEMY calls the game, such as a fork (ACADEMY_GAME, or as the rules call it)",
    )
    parser.add_argument(
        "--search",
        choices=("auto", "alpha-beta", "monte-carlo"),
        default="auto",
        help="how moves are compared; auto: by what --depth or --playouts is for, else alpha-beta where they "
        "are few and the board shows who is ahead, or Monte Carlo tree search (%(default)s)",
    )
    parser.add_argument(
        "--playouts",
        type=int,
        metavar="N",
        help=f"random games a position, at least 200 (monte-carlo; {_BUDGETS['playouts']})",
    )
    parser.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help=f"plies ahead, at least 5 (alpha-beta; {_BUDGETS['depth']})",
    )
    parser.add_argument(
        "--nodes",
        type=_positive(int),
        default=1_000,
        metavar="N",
        help="look at this number of the most visited (%(default)s)",
    )
    parser.add_argument(
        "--seconds",
        type=_positive(float),
        metavar="S",
        help="end after this time, and throw away a search that is not ready",
    )
    parser.add_argument(
        "--once",
        action="store_true",
        help="end when nothing is left to search or no server answers; without it, look again after a minute",
    )
    parser.add_argument(
        "--when-idle", action="store_true", help="rest while any contest is open at the server"
    )
    return parser


def _positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = kind(0)
        if not 0 < number < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r}: it must be a number above 0")
        return number

    return read


if __name__ == "__main__":
    main()
