"""Records as protobuf messages, and back, with every rule checked: games, settings, contests, reports,
proposals, patterns.
"""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any, Final, TypeVar

import numpy as np
from google.protobuf.message import DecodeError, Message

from academy.knowledge.anchored_patterns import AnchoredPatterns, anchored_patterns
from academy.knowledge.boards import (
    Board,
    GraphGeometry,
    InvalidBoardError,
    states_of,
)
from academy.knowledge.claims import Expectation
from academy.knowledge.contests import (
    Contestant,
    ContestReport,
    FalseClaim,
    FalseConsultation,
    Judgement,
    Ply,
    Proposal,
    Result,
    Use,
)
from academy.knowledge.evaluation import FIRST_PATTERN, EvaluationTable, Feature
from academy.knowledge.fair_use import FairUse
from academy.knowledge.measures import Measures
from academy.knowledge.node_analysis import MAX_BUDGET, NodeAnalysis, SearchKind
from academy.knowledge.opening_node import LevelVisits, OpeningNode
from academy.knowledge.openings import ROOT
from academy.knowledge.pattern_entry import PatternEntry, UseCount, check_entry
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesuji_shapes import InvalidTesujiError, Numbers, Tesuji
from academy.knowledge.tesuji_surroundings import surroundings
from academy.knowledge.tesuji_text import MOVED_TO, pattern_after, read_tesuji_cells, write_tesuji_cells
from academy.knowledge.tesujis import TesujiTable
from academy.knowledge.text import read_cells, write_cells
from academy.knowledge.votes import (
    ELO_SCALE,
    MAX_ELO,
    MAX_SEPARATE_VOTES,
    MAX_SILENT_VOTES,
    VALUE_SCALE,
    AggregatedVotes,
    Vote,
    VoteTally,
    digest,
)
from academy.store import keys
from academy.store.columns import pack_columns
from academy.store.errors import InvalidRecordError, StoreCorruptError
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2, events_pb2, game_pb2, pattern_pb2, proposals_pb2
from academy.wire.games import game_message

_FROM_LIBRARY: Final = {library: pattern_pb2.Library.Value(f"LIBRARY_{library.name}") for library in Library}
_TO_LIBRARY: Final = {value: library for library, value in _FROM_LIBRARY.items()}


def library_from_proto(value: pattern_pb2.Library.ValueType, field: str = "library") -> Library:
    """Return the library an enum value stands for. Raises InvalidRecordError for none and unknown ones."""
    if value not in _TO_LIBRARY:
        raise InvalidRecordError(field, f"{value} names no library")
    return _TO_LIBRARY[value]


def pattern_library_from_proto(value: pattern_pb2.Library.ValueType, field: str = "library") -> Library:
    """Return a library that holds patterns.

    Raises InvalidRecordError for others, the opening tree included.
    """
    library = library_from_proto(value, field)
    if library is Library.OPENING:
        raise InvalidRecordError(
            field, "the opening library holds lines of moves; patterns have the other two"
        )
    return library


def library_to_proto(library: Library) -> pattern_pb2.Library.ValueType:
    """Return the enum value of a library."""
    return _FROM_LIBRARY[library]


def settings_from_proto(
    message: game_pb2.LibrarySettings, base: LibrarySettings | None = None
) -> LibrarySettings:
    """Read settings; those not given are `base`'s, or the defaults. Raises InvalidSettingsError."""
    given = {field.name: getattr(base or LibrarySettings(), field.name) for field in fields(LibrarySettings)}
    given.update((field.name, value) for field, value in message.ListFields())
    return LibrarySettings(**given)


def settings_to_proto(settings: LibrarySettings) -> game_pb2.LibrarySettings:
    """Write all settings."""
    return game_pb2.LibrarySettings(
        **{field.name: getattr(settings, field.name) for field in fields(LibrarySettings)}
    )


def measures_from_text(text: str) -> Measures:
    """Read the sums behind a game's measures from JSON. Raises InvalidRecordError."""
    try:
        stored = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(stored, dict) or any(not isinstance(name, str) for name in stored):
            raise ValueError("an object of names and numbers is needed")
        measures = Measures.from_json(stored)
        measures.measures()
        if not isinstance(measures.contests, int) or measures.contests < 0:
            raise ValueError(f"contests {measures.contests!r} must be a whole number from 0")
        if any(not isinstance(value, int | float | None) for value in _plain_values(measures.as_json())):
            raise ValueError("only numbers may stand in it")
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
        raise InvalidRecordError("history.measures", f"cannot be read: {error}") from error
    return measures


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _plain_values(stored: dict[str, Any]) -> Iterator[Any]:
    for value in stored.values():
        yield from value.values() if isinstance(value, dict) else (value,)


def spec_to_proto(spec: GameSpec, settings: LibrarySettings | None = None) -> game_pb2.Game:
    """Write a game's description, with settings where given."""
    message = game_message(spec)
    if settings is not None:
        message.settings.CopyFrom(settings_to_proto(settings))
    return message


def fair_use_from_proto(message: contests_pb2.FairUseRules) -> dict[str, float]:
    """Return the rules that are given, by the names of the settings."""
    return {field.name: value for field, value in message.ListFields()}


def fair_use_in_force(contest: contests_pb2.Contest) -> FairUse | None:
    """Return the rules of a stored contest; None for one that was opened before contests had any."""
    rules: dict[str, Any] = fair_use_from_proto(contest.fair_use)
    return FairUse(**rules) if rules else None


def fair_use_to_proto(rules: FairUse) -> contests_pb2.FairUseRules:
    """Write all rules."""
    return contests_pb2.FairUseRules(**asdict(rules))


PROPOSAL_ID_LENGTH: Final = 24
MAX_PLIES: Final = 100_000
MAX_MOVE_LENGTH: Final = 1_024
MAX_LINE_LENGTH: Final = 262_144
MAX_TERMINATION_LENGTH: Final = 256

_TO_RESULT: Final = {contests_pb2.Result.Value(f"RESULT_{result.name}"): result for result in Result}
_RESULTS_OF_TWO: Final = (
    sorted((contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS)),
    sorted((contests_pb2.RESULT_DRAW, contests_pb2.RESULT_DRAW)),
)
# What a record and its message have by the same names.
_OF_NODE: Final = [
    column.name for column in fields(OpeningNode) if column.name not in ("analysis", "level", "weaker")
]
_OF_LEVEL: Final = [column.name for column in fields(LevelVisits)]
_BY_PLAYER: Final = ("wins", "draws", "losses", "value_millionths")
_OF_VOTE: Final = [column.name for column in fields(Vote)]


# LUDAE's random player has 0; the best programs that are rated on such a scale have less than this.
PLAUSIBLE_ELO: Final = 6_000.0


def check_elos(contest: contests_pb2.Contest) -> None:
    """Check the Elos of a new contest; the log may hold others. Raises InvalidRecordError."""
    for place, player in enumerate(contest.players):
        _check_plausible_elo(f"players[{place}].elo", player.elo)


def _check_plausible_elo(field: str, elo: float) -> None:
    if not abs(elo) <= PLAUSIBLE_ELO:
        raise InvalidRecordError(
            field, f"{elo!r} must be a number from -{PLAUSIBLE_ELO:.0f} to {PLAUSIBLE_ELO:.0f}"
        )


def check_contest(contest: contests_pb2.Contest, spec: GameSpec) -> None:
    """Check a contest as it is kept: id, number of players, identities and Elos.

    Raises InvalidRecordError.
    """
    keys.contest(contest.contest_id)
    if len(contest.players) != spec.players:
        raise InvalidRecordError(
            "players", f"{len(contest.players)} given; {spec.game_id} has {spec.players}"
        )
    for place, player in enumerate(contest.players):
        keys.check_identity(f"players[{place}].name", player.name)
        check_elo(f"players[{place}].elo", player.elo)


def check_elo(field: str, elo: float) -> None:
    """Raise InvalidRecordError for an Elo that is no number, or out of range."""
    if not (math.isfinite(elo) and abs(elo) <= MAX_ELO):
        raise InvalidRecordError(field, f"{elo!r} must be a number from -{MAX_ELO:.0f} to {MAX_ELO:.0f}")


def check_new_names(contest: contests_pb2.Contest) -> None:
    """Check the names of a contest that is not known yet; the log may hold others.

    Raises InvalidRecordError.
    """
    for place, player in enumerate(contest.players):
        keys.check_new_player_name(f"players[{place}].name", player.name)


def check_report(report: contests_pb2.ReportContestRequest, spec: GameSpec) -> None:
    """Check what only new reports must keep to; the log may hold others. Raises InvalidRecordError."""
    known = [result for result in report.results if result in _TO_RESULT]
    if spec.players == len(known) == 2 and sorted(known) not in _RESULTS_OF_TWO:
        given = " and ".join(_TO_RESULT[result].value for result in known)
        raise InvalidRecordError(
            "results",
            f"{given} given; of two players one wins and the other loses, or both draw "
            "(a contest without result is reported void)",
        )
    for place, elo in enumerate(report.elo_after):
        _check_plausible_elo(f"elo_after[{place}]", elo)
    check_printable("termination", report.termination)
    if not "".join(ply.move for ply in report.plies).isprintable():
        for place, ply in enumerate(report.plies):
            check_printable(f"plies[{place}].move", ply.move)
    for place, ply in enumerate(report.plies):
        if not spec.is_written_as_move(ply.move):
            forms = ", ".join(map(repr, spec.move_forms))
            raise InvalidRecordError(
                f"plies[{place}].move",
                f"{ply.move[:80]!r} is no move of {spec.game_id}: its moves are written {forms}",
            )


def check_printable(field: str, text: str) -> None:
    """Raise InvalidRecordError for text with control characters or others that cannot be seen."""
    if not text.isprintable():
        at = next(at for at, letter in enumerate(text) if not letter.isprintable())
        raise InvalidRecordError(
            field, f"character {at + 1}, {text[at]!r}, cannot be seen: only printable text is allowed"
        )


def report_from_proto(reported: events_pb2.ContestReported, spec: GameSpec) -> ContestReport:
    """Read a contest's report with its proposals and uses.

    Raises InvalidRecordError naming the ply and field.
    """
    report = reported.report
    check_contest(report.contest, spec)
    if len(report.plies) > MAX_PLIES:
        raise InvalidRecordError("plies", f"{len(report.plies):,} given; at most {MAX_PLIES:,} are allowed")
    if len(report.results) != spec.players:
        raise InvalidRecordError("results", f"{len(report.results)} given for {spec.players} players")
    if len(report.elo_after) not in (0, spec.players):
        raise InvalidRecordError("elo_after", f"{len(report.elo_after)} given for {spec.players} players")
    for place, elo in enumerate(report.elo_after):
        check_elo(f"elo_after[{place}]", elo)
    if len(report.termination) > MAX_TERMINATION_LENGTH:
        raise InvalidRecordError("termination", f"longer than {MAX_TERMINATION_LENGTH} characters")
    results = []
    for place, result in enumerate(report.results):
        if result not in _TO_RESULT:
            raise InvalidRecordError(f"results[{place}]", f"{result} is neither a win, a draw nor a loss")
        results.append(_TO_RESULT[result])
    return ContestReport(
        contest_id=report.contest.contest_id,
        contestants=tuple(Contestant(player.name, player.elo) for player in report.contest.players),
        plies=tuple(_plies(report.plies, spec)),
        results=tuple(results),
        proposals=tuple(proposal_from_proto(proposal, spec) for proposal in reported.proposals),
        uses=tuple(
            Use(use.player, pattern_library_from_proto(use.library), tuple(use.pattern_ids))
            for use in reported.uses
        ),
        start_states=_states(report.start_board, "start_board", spec),
        false_consultations=tuple(
            FalseConsultation(
                consultation.player, consultation.number, consultation.claimed, consultation.played
            )
            for consultation in reported.false_consultations
        ),
        false_claims=tuple(map(_false_claim, reported.false_claims)),
        elo_after=tuple(report.elo_after),
    )


def _false_claim(message: events_pb2.FalseClaim) -> FalseClaim:
    return FalseClaim(
        seat=message.player,
        plies=message.plies if message.HasField("plies") else None,
        claimed=message.claimed,
        value=message.value if message.HasField("value") else None,
        count=message.false_claims,
        claims=message.claims,
        around=message.around if message.HasField("around") else None,
    )


def false_claim_to_proto(false: FalseClaim) -> events_pb2.FalseClaim:
    """Write a claim that does not hold."""
    return events_pb2.FalseClaim(
        player=false.seat,
        plies=false.plies,
        claimed=false.claimed,
        value=false.value,
        false_claims=false.count,
        claims=false.claims,
        around=false.around,
    )


def expectations(report: contests_pb2.ReportContestRequest, seat: int) -> list[Expectation | None]:
    """Return what a player expected at its next own move after each number of plies, except the last.

    Raises InvalidRecordError.
    """
    expectations: list[Expectation | None] = []
    unanswered, earlier = 0, None
    for place, ply in enumerate(report.plies):
        unanswered += 1
        if ply.player not in (0, seat):
            continue
        stated = next((value for value in ply.values if value.player == seat), None)
        expected = None
        if stated is not None:
            after = check_value(f"plies[{place}].values", stated.value)
            before = check_value(
                f"plies[{place}].values", stated.before if stated.HasField("before") else after
            )
            expected = Expectation(before, after, earlier)
            earlier = after
        expectations += [expected] * unanswered
        unanswered = 0
    return expectations + [None] * unanswered


def _plies(plies: Sequence[contests_pb2.Ply], spec: GameSpec) -> Iterator[Ply]:
    # All boards at once where all are given and valid.
    boards = states_of(spec.geometry, [ply.board for ply in plies])
    for place, ply in enumerate(plies):
        yield _ply(ply, place, spec, None if boards is None else boards[place])


def _ply(ply: contests_pb2.Ply, place: int, spec: GameSpec, states: bytes | None) -> Ply:
    field = f"plies[{place}]"
    # In a game of simultaneous moves a ply may be everybody's: player 0.
    if not (1 <= ply.player <= spec.players or (spec.simultaneous and ply.player == 0)):
        raise InvalidRecordError(f"{field}.player", f"{ply.player} must be from 1 to {spec.players}")
    if not 1 <= len(ply.move) <= MAX_MOVE_LENGTH:
        raise InvalidRecordError(f"{field}.move", f"must have 1 to {MAX_MOVE_LENGTH:,} characters")
    values, values_before = {}, {}
    for stated in ply.values:
        if not 1 <= stated.player <= spec.players or stated.player in values:
            raise InvalidRecordError(f"{field}.values", f"player {stated.player} is no player or given twice")
        values[stated.player] = check_value(f"{field}.values", stated.value)
        if stated.HasField("before"):
            values_before[stated.player] = check_value(f"{field}.values", stated.before)
    if states is None:
        states = _states(ply.board, f"{field}.board", spec)
    return Ply(ply.player, ply.move, states, ply.legal_moves, ply.interaction, values, values_before)


def _states(letters: str, field: str, spec: GameSpec) -> bytes:
    if not letters:
        return b""
    with _naming(field):
        return Board.from_letters(spec.geometry, letters).states


def check_value(field: str, value: float) -> float:
    """Return an expected value. Raises InvalidRecordError outside [0, 1] and for not-a-number."""
    if not 0.0 <= value <= 1.0:
        raise InvalidRecordError(field, f"{value!r} must be a number from 0 to 1")
    return value


def proposal_from_proto(proposal: proposals_pb2.Proposal, spec: GameSpec, field: str = "content") -> Proposal:
    """Read a proposal as the judges see it. Raises InvalidRecordError naming the field."""
    content = proposal.content
    if content.ply < 1:
        raise InvalidRecordError(f"{field}.ply", "must be at least 1, the ply after which the pattern stood")
    before = None
    if content.HasField("value_before"):
        before = check_value(f"{field}.value_before", content.value_before)
    library = pattern_library_from_proto(content.library, f"{field}.library")
    if library is Library.MIDDLE_GAME and before is None:
        raise InvalidRecordError(f"{field}.value_before", "must be stated for a middle-game proposal")
    marked = None
    with _naming(f"{field}.cells"):
        # Names of nodes may have the letter.
        if MOVED_TO in content.cells and not isinstance(spec.geometry, GraphGeometry):
            if library is not Library.MIDDLE_GAME:
                raise InvalidPatternError(f"{MOVED_TO!r} marks a move, for the middle game only")
            marked = read_tesuji_cells(content.cells, proposal.seat, spec)
            pattern = spec.check_pattern(pattern_after(content.cells, proposal.seat, spec))
        else:
            pattern = spec.check_pattern(read_cells(content.cells, spec.geometry))
    return Proposal(
        seat=proposal.seat,
        library=library,
        pattern=pattern,
        ply=content.ply,
        value=check_value(f"{field}.value", content.value),
        value_before=before,
        marked=marked,
    )


@contextmanager
def _naming(field: str) -> Iterator[None]:
    """Raise InvalidRecordError that names a field for a pattern or board which breaks a rule."""
    try:
        yield
    except (InvalidPatternError, InvalidBoardError) as error:
        raise InvalidRecordError(field, str(error)) from error


def set_judgement(proposal: proposals_pb2.Proposal, judgement: Judgement) -> None:
    """Write a verdict into a proposal."""
    proposal.verdict = proposals_pb2.Verdict.Value(f"VERDICT_{judgement.verdict.name}")
    proposal.reason = judgement.reason
    proposal.pattern_id = judgement.pattern_id


def uses_to_proto(uses: list[tuple[int, Library, int]]) -> list[events_pb2.PatternUse]:
    """Gather (seat, library, pattern) into one message a seat and library."""
    gathered: dict[tuple[int, Library], list[int]] = {}
    for seat, library, pattern_id in uses:
        gathered.setdefault((seat, library), []).append(pattern_id)
    return [
        events_pb2.PatternUse(player=seat, library=library_to_proto(library), pattern_ids=ids)
        for (seat, library), ids in gathered.items()
    ]


def count_above(contents: Sequence[proposals_pb2.NewProposal], allowed: int) -> int:
    """Return how many proposals these are, each counted once, if they are more than `allowed`, else 0.

    They are not read: more with different texts could still be the same; fewer could not be
    allowed.
    """
    if len(contents) <= allowed:
        return 0
    count = len({content.SerializeToString(deterministic=True) for content in contents})
    return count if count > allowed else 0


def read_proposal(
    content: proposals_pb2.NewProposal,
    contest_id: str,
    seat: int,
    spec: GameSpec,
    field: str = "proposals[0]",
) -> proposals_pb2.Proposal:
    """Return a proposal for a contest of a game, to be submitted, with its unique id.

    Raises InvalidRecordError naming what is wrong within `field`.
    """
    proposal = proposals_pb2.Proposal(
        contest_id=contest_id,
        game_id=spec.game_id,
        seat=seat,
        content=content,
        verdict=proposals_pb2.VERDICT_HELD,
    )
    read = proposal_from_proto(proposal, spec, field)
    # By the pattern, not its text: blanks between cells make no other proposal.
    cells = repr((read.pattern.cells, read.pattern.codes))
    if read.marked is not None:
        cells += repr(sorted(read.marked.items()))
    identity = repr((contest_id, seat, content.library, content.ply, cells))
    proposal.proposal_id = hashlib.blake2b(identity.encode(), digest_size=PROPOSAL_ID_LENGTH // 2).hexdigest()
    return proposal


_Message = TypeVar("_Message", bound=Message)


def pack_message(message: Message) -> bytes:
    """Return a message's bytes, the same for equal messages."""
    return message.SerializeToString(deterministic=True)


def unpack_message(kind: type[_Message], stored: bytes) -> _Message:
    """Return the message that was packed. Raises StoreCorruptError."""
    try:
        return kind.FromString(stored)
    except DecodeError as error:
        raise StoreCorruptError(f"a stored {kind.__name__} cannot be read: {error}") from error


_MAX_ELO_HUNDREDTHS: Final = round(MAX_ELO * ELO_SCALE)


def entry_to_proto(entry: PatternEntry, library: Library, spec: GameSpec) -> pattern_pb2.PatternRecord:
    """Write a pattern of a library, without derived figures."""
    ballot = entry.ballot
    return pattern_pb2.PatternRecord(
        game_id=spec.game_id,
        library=library_to_proto(library),
        pattern_id=entry.pattern_id,
        cells=write_cells(entry.pattern, spec.geometry),
        player=entry.player,
        votes=map(_vote_to_proto, ballot.votes),
        folded=_folded_to_proto(ballot.folded) if ballot.folded.votes else None,
        uses=entry.uses,
        successes=entry.successes,
        last_contest=entry.last_contest,
        last_contest_id=entry.last_contest_id,
        silent_votes=map(_vote_to_proto, ballot.silent),
        changers=sorted(entry.changers),
    )


def set_votes(record: pattern_pb2.PatternRecord, ballot: VoteTally) -> None:
    """Put the votes that are kept apart, and the silent ones, in place of a record's."""
    del record.votes[:], record.silent_votes[:]
    record.votes.extend(map(_vote_to_proto, ballot.votes))
    record.silent_votes.extend(map(_vote_to_proto, ballot.silent))


def _vote_to_proto(vote: Vote) -> pattern_pb2.Vote:
    return pattern_pb2.Vote(**{name: getattr(vote, name) for name in _OF_VOTE})


def _folded_to_proto(folded: AggregatedVotes) -> pattern_pb2.FoldedVotes:
    return pattern_pb2.FoldedVotes(
        votes=folded.votes,
        elo_hundredths=folded.elo_hundredths,
        weight=folded.weight,
        weighted_value=folded.weighted_value,
        players=sorted(folded.players),
    )


def with_figures(record: pattern_pb2.PatternRecord, entry: PatternEntry) -> pattern_pb2.PatternRecord:
    """Add a pattern's signature and strength to its message, which is returned."""
    signature = entry.signature
    record.signature.proposers = signature.proposers
    record.signature.elo = signature.elo
    record.signature.value = signature.value
    record.signature.player = signature.player
    record.strength = entry.strength
    return record


def proposed_by(stored: bytes, player: str) -> bool:
    """Return whether a stored pattern has a player's vote, silent or not, without reading the rest.

    Raises StoreCorruptError.
    """
    record = unpack_message(pattern_pb2.PatternRecord, stored)
    votes = itertools.chain(record.votes, record.silent_votes)
    return any(vote.player == player for vote in votes) or digest(player) in record.folded.players


def stored_cells(stored: bytes) -> str:
    """Return the cells of a stored pattern in the text language, not read further.

    Raises StoreCorruptError.
    """
    return unpack_message(pattern_pb2.PatternRecord, stored).cells


def use_count(stored: bytes) -> UseCount:
    """Return how often a stored pattern was used; it is not read further. Raises StoreCorruptError."""
    record = unpack_message(pattern_pb2.PatternRecord, stored)
    return UseCount(
        record.pattern_id, record.uses, record.successes, record.last_contest, record.last_contest_id
    )


def entry_from_proto(
    record: pattern_pb2.PatternRecord, spec: GameSpec, field: str = "pattern"
) -> PatternEntry:
    """Read a pattern of a library; derived figures do not matter.

    Raises InvalidRecordError naming the field.
    """
    ballot = ballot_from_proto(record, field)
    if record.successes > record.uses:
        raise InvalidRecordError(f"{field}.successes", f"{record.successes} of only {record.uses} uses")
    with _naming(f"{field}.cells"):
        pattern = read_cells(record.cells, spec.geometry)
    entry = PatternEntry(
        pattern_id=record.pattern_id,
        pattern=pattern,
        player=record.player,
        ballot=ballot,
        uses=record.uses,
        successes=record.successes,
        last_contest=record.last_contest,
        last_contest_id=record.last_contest_id,
        changers=frozenset(record.changers),
    )
    with _naming(field):
        check_entry(entry, spec)
    return entry


def ballot_from_proto(record: pattern_pb2.PatternRecord, field: str = "pattern") -> VoteTally:
    """Read the votes for a pattern, which is not read further. Raises InvalidRecordError naming the field."""
    votes = _votes(record.votes, f"{field}.votes", MAX_SEPARATE_VOTES)
    silent = _votes(record.silent_votes, f"{field}.silent_votes", MAX_SILENT_VOTES)
    return VoteTally(votes, _folded(record.folded, f"{field}.folded"), silent)


def _votes(given: Sequence[pattern_pb2.Vote], field: str, most: int) -> tuple[Vote, ...]:
    if len(given) > most:
        raise InvalidRecordError(field, f"{len(given)} given; at most {most}")
    votes = tuple(_vote(vote, f"{field}[{place}]") for place, vote in enumerate(given))
    if len({vote.player for vote in votes}) != len(votes):
        raise InvalidRecordError(field, "a player has more than one vote")
    return votes


def _vote(vote: pattern_pb2.Vote, field: str) -> Vote:
    keys.check_voter_name(f"{field}.player", vote.player)
    if abs(vote.elo_hundredths) > _MAX_ELO_HUNDREDTHS:
        raise InvalidRecordError(f"{field}.elo_hundredths", f"{vote.elo_hundredths} is out of range")
    if vote.value_millionths > VALUE_SCALE:
        raise InvalidRecordError(
            f"{field}.value_millionths", f"{vote.value_millionths} is above {VALUE_SCALE:,}"
        )
    return Vote(vote.player, vote.elo_hundredths, vote.value_millionths, vote.event, vote.order)


def _folded(folded: pattern_pb2.FoldedVotes, field: str) -> AggregatedVotes:
    if len(set(folded.players)) != folded.votes:
        raise InvalidRecordError(
            f"{field}.players", f"{len(set(folded.players))} digests for {folded.votes} votes"
        )
    if abs(folded.elo_hundredths) > folded.votes * _MAX_ELO_HUNDREDTHS:
        raise InvalidRecordError(f"{field}.elo_hundredths", f"{folded.elo_hundredths} is out of range")
    if not folded.votes * ELO_SCALE <= folded.weight <= folded.votes * _MAX_ELO_HUNDREDTHS:
        raise InvalidRecordError(
            f"{field}.weight", f"{folded.weight} is out of range for {folded.votes} votes"
        )
    if folded.weighted_value > folded.weight * VALUE_SCALE:
        raise InvalidRecordError(
            f"{field}.weighted_value", f"{folded.weighted_value} is more than its weight"
        )
    return AggregatedVotes(
        folded.votes,
        folded.elo_hundredths,
        folded.weight,
        folded.weighted_value,
        frozenset(folded.players),
    )


def node_to_proto(node: OpeningNode, game_id: str) -> pattern_pb2.OpeningNodeRecord:
    """Write a node of the opening tree."""
    record = pattern_pb2.OpeningNodeRecord(
        game_id=game_id, level=node.level, **{name: getattr(node, name) for name in _OF_NODE}
    )
    for part in node.weaker:
        record.weaker.add(**{name: getattr(part, name) for name in _OF_LEVEL})
    if node.analysis is not None:
        record.analysis.CopyFrom(analysis_to_proto(node.analysis))
    return record


def analysis_to_proto(analysis: NodeAnalysis) -> pattern_pb2.NodeAnalysis:
    """Write what a search found out about a node."""
    return pattern_pb2.NodeAnalysis(
        value_millionths=analysis.value_millionths,
        budget=analysis.budget,
        analyst=analysis.analyst,
        kind=analysis.kind.value,  # type: ignore[arg-type]
    )


def analysis_from_proto(message: pattern_pb2.NodeAnalysis, field: str) -> NodeAnalysis:
    """Read what a search found out about a node. Raises InvalidRecordError naming the field."""
    if message.value_millionths > VALUE_SCALE:
        raise InvalidRecordError(
            f"{field}.value_millionths", f"{message.value_millionths} is above {VALUE_SCALE:,}"
        )
    check_budget(f"{field}.budget", message.budget)
    keys.check_voter_name(f"{field}.analyst", message.analyst)
    kind = search_kind_from_proto(message.kind, f"{field}.kind")
    return NodeAnalysis(message.value_millionths, message.budget, message.analyst, kind)


def search_kind_from_proto(kind: int, field: str) -> SearchKind:
    """Read how a position was searched; the first analysts did not say, and played random games.

    Raises InvalidRecordError naming the field.
    """
    try:
        return SearchKind(kind) if kind else SearchKind.RANDOM_GAMES
    except ValueError:
        raise InvalidRecordError(field, f"{kind} is not one of {[*map(int, SearchKind)]}") from None


def check_budget(field: str, budget: int) -> None:
    """Raise InvalidRecordError for what no search has for a budget."""
    if not 1 <= budget <= MAX_BUDGET:
        raise InvalidRecordError(field, f"{budget:,} must be from 1 to {MAX_BUDGET:,}")


def check_results(record: pattern_pb2.OpeningNodeRecord, field: str = "node") -> None:
    """Check that a node from elsewhere has a result for each visit and player. Raises InvalidRecordError."""
    for player, counts in enumerate(zip(record.wins, record.draws, record.losses, strict=False), 1):
        if sum(counts) != record.visits:
            raise InvalidRecordError(
                f"{field}.visits",
                f"{record.visits}, but wins, draws and losses of player {player} add up to {sum(counts)}; "
                "every visit has one result for each player",
            )


def node_from_proto(
    record: pattern_pb2.OpeningNodeRecord, spec: GameSpec, field: str = "node"
) -> OpeningNode:
    """Read a node of the opening tree. Raises InvalidRecordError naming the field."""
    for name in _BY_PLAYER:
        given = len(getattr(record, name))
        if given != spec.players:
            raise InvalidRecordError(f"{field}.{name}", f"{given} numbers given for {spec.players} players")
    if (record.node_id == ROOT) != (record.depth == 0):
        raise InvalidRecordError(
            f"{field}.depth", f"{record.depth} at node {record.node_id}: the root, 0, has 0"
        )
    if record.node_id != ROOT:
        if not 1 <= len(record.move) <= MAX_MOVE_LENGTH:
            raise InvalidRecordError(f"{field}.move", f"must have 1 to {MAX_MOVE_LENGTH:,} characters")
        if not 1 <= record.mover <= spec.players:
            raise InvalidRecordError(f"{field}.mover", f"{record.mover} must be from 1 to {spec.players}")
    if any(value > record.visits * VALUE_SCALE for value in record.value_millionths):
        raise InvalidRecordError(
            f"{field}.value_millionths", f"more than {record.visits} visits can sum up to"
        )
    node = {name: getattr(record, name) for name in _OF_NODE}
    analysis = None
    if record.HasField("analysis"):
        if record.node_id == ROOT or not spec.two_in_turn:
            raise InvalidRecordError(
                f"{field}.analysis", "has no place here: only moves of games of two in turn are analysed"
            )
        analysis = analysis_from_proto(record.analysis, f"{field}.analysis")
    return OpeningNode(
        **node | {name: tuple(node[name]) for name in _BY_PLAYER},
        analysis=analysis,
        level=record.level if record.HasField("level") else None,
        weaker=_levels_from_proto(record, field),
    )


def _levels_from_proto(record: pattern_pb2.OpeningNodeRecord, field: str) -> tuple[LevelVisits, ...]:
    parts = [{name: getattr(part, name) for name in _OF_LEVEL} for part in record.weaker]
    levels = [*(part["level"] for part in parts), record.level]
    if parts and (not record.HasField("level") or levels != sorted(set(levels))):
        raise InvalidRecordError(f"{field}.weaker", "its levels must rise, and end below the node's own")
    for name in ("visits", "values"):
        if sum(part[name] for part in parts) > getattr(record, name):
            raise InvalidRecordError(f"{field}.weaker", f"more {name} than the node's")
    for name in _BY_PLAYER:
        whole = getattr(record, name)
        if any(len(part[name]) != len(whole) for part in parts):
            raise InvalidRecordError(
                f"{field}.weaker", f"{name}: one number for each of {len(whole)} players"
            )
        if any(sum(part[name][player] for part in parts) > most for player, most in enumerate(whole)):
            raise InvalidRecordError(f"{field}.weaker", f"{name} add up to more than the node's")
    return tuple(LevelVisits(**part | {name: tuple(part[name]) for name in _BY_PLAYER}) for part in parts)


_OF_TESUJIS: Final = [column.name for column in fields(TesujiTable) if column.name != "codes"]
# A code is kept as two numbers of this many bits.
_HALF_A_CODE: Final = 32


def tesujis_to_proto(table: TesujiTable) -> records_pb2.Tesujis:
    """Write a game's tesujis."""
    record = records_pb2.Tesujis()
    shapes, codes = np.divmod(table.codes, 2**_HALF_A_CODE)
    columns = {name: getattr(table, name) for name in _OF_TESUJIS} | {"codes": codes}
    if shapes.any():
        columns["shapes"] = shapes
    _pack(record, columns)
    return record


def tesujis_from_proto(record: records_pb2.Tesujis) -> TesujiTable:
    """Read a game's tesujis. Raises ValueError."""
    shapes = record.shapes or [0] * len(record.codes)
    codes = [(shape << _HALF_A_CODE) + code for shape, code in zip(shapes, record.codes, strict=True)]
    return TesujiTable.of(codes, *(getattr(record, name) for name in _OF_TESUJIS))


def evaluation_to_proto(table: EvaluationTable) -> records_pb2.Evaluation:
    """Write a game's evaluation."""
    record = records_pb2.Evaluation()
    _pack(record, dict(zip(table.COLUMNS, table.columns(), strict=True)))
    for name, figure in table.figures().items():
        setattr(record, name, figure)
    return record


def evaluation_from_proto(record: records_pb2.Evaluation) -> EvaluationTable:
    """Read a game's evaluation. Raises ValueError."""
    figures = {name: getattr(record, name) for name in EvaluationTable().figures()}
    return EvaluationTable.of([getattr(record, name) for name in EvaluationTable.COLUMNS], figures)


# These columns take 32 bits a number, the others 64.
_SHORT: Final = {"codes": "<u4", "shapes": "<u4", "weight_millionths": "<i4"}


def _pack(record: records_pb2.Tesujis | records_pb2.Evaluation, columns: Mapping[str, Numbers]) -> None:
    short = _SHORT if isinstance(record, records_pb2.Tesujis) else _SHORT | {"codes": "<i8"}
    pack_columns(record, **{name: column.astype(short.get(name, "<i8")) for name, column in columns.items()})


# How many weights a part of an exported evaluation has.
WEIGHTS_PER_RECORD: Final = 1_000
_PIECES: Final = "-xo"


def evaluation_records(table: EvaluationTable, spec: GameSpec) -> Iterator[pattern_pb2.EvaluationRecord]:
    """Write an evaluation for people, in parts, of which the first has the figures; none of an empty one."""
    patterns = anchored_patterns(spec)
    rows = list(zip(*(column.tolist() for column in table.columns()), strict=True))
    for first in range(0, len(rows), WEIGHTS_PER_RECORD):
        figures = table.figures() if first == 0 else {}
        record = pattern_pb2.EvaluationRecord(**dict[str, Any](figures))
        for code, seen, weight, gradient in rows[first : first + WEIGHTS_PER_RECORD]:
            record.weights.add(
                of=_weight_name(code, patterns),
                seen=seen,
                weight_millionths=weight,
                gradient_millionths=gradient,
            )
        yield record


def _weight_name(code: int, patterns: AnchoredPatterns | None) -> str:
    if code < FIRST_PATTERN or patterns is None:
        return Feature(code).name.lower()
    contents = patterns.contents(code - FIRST_PATTERN)
    return "/".join(f"{cell}{_PIECES[player]}" for cell, player in contents)


def evaluation_from_records(
    records: Sequence[pattern_pb2.EvaluationRecord], spec: GameSpec
) -> EvaluationTable:
    """Read an evaluation that people may have written. Raises InvalidRecordError naming the field."""
    patterns = anchored_patterns(spec)
    columns: list[list[int]] = [[], [], [], []]
    figures = dict.fromkeys(EvaluationTable().figures(), 0)
    for place, record in enumerate(records):
        for name in figures:
            figures[name] += getattr(record, name)
        for number, weight in enumerate(record.weights):
            try:
                code, sign = _weight_code(weight.of, patterns)
            except ValueError as error:
                field = f"evaluation[{place}].weights[{number}].of"
                raise InvalidRecordError(field, f"{weight.of[:80]!r}: {error}") from error
            row = (code, weight.seen, sign * weight.weight_millionths, weight.gradient_millionths)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    try:
        return EvaluationTable.of(columns, figures)
    except ValueError as error:
        raise InvalidRecordError("evaluation", str(error)) from error


_CELL_AND_PIECE: Final = re.compile(r"([0-9]{1,6})([-xo])")


def _weight_code(name: str, patterns: AnchoredPatterns | None) -> tuple[int, int]:
    """Return a weight's code, and -1 where it counts for the other player. Raises ValueError."""
    if name.upper() in Feature.__members__:
        return Feature[name.upper()], 1
    parts = [_CELL_AND_PIECE.fullmatch(part) for part in name.split("/")]
    if patterns is None or None in parts:
        features = ", ".join(feature.name.lower() for feature in Feature)
        raise ValueError(f"is none of {features}, and not cells such as 0x/1-/8o")
    contents = [(int(part[1]), _PIECES.index(part[2])) for part in parts if part is not None]
    if len(dict(contents)) != len(contents):
        raise ValueError("a cell is there twice")
    code, sign = patterns.code(contents)
    if sign == 0:
        raise ValueError("is the same with the colours exchanged, so it says nothing")
    return code + FIRST_PATTERN, sign


_OF_TESUJI: Final = (
    *("offered", "chosen", "elo_hundredths", "weight_millionths", "gradient_millionths"),
    *("uses", "successes"),
)


def tesuji_records(
    table: TesujiTable, spec: GameSpec, rows: Iterable[int]
) -> Iterator[pattern_pb2.TesujiRecord]:
    """Write tesujis for people, by their rows. Those of other shapes than the game's are left out."""
    around = surroundings(spec)
    strengths = table.strengths
    for row in rows:
        try:
            tesuji = around.read(int(table.codes[row])) if around is not None else None
        except InvalidTesujiError:
            continue
        if tesuji is None:
            continue
        figures = {name: int(getattr(table, name)[row]) for name in _OF_TESUJI}
        record = pattern_pb2.TesujiRecord(
            game_id=spec.game_id,
            cells=write_tesuji_cells(tesuji, spec),
            player=tesuji.player,
            place=tesuji.place,
            turned=tesuji.turned,
            strength=strengths[row],
        )
        for name, figure in figures.items():
            setattr(record, name, figure)
        label = record.signature
        label.proposers, label.player = record.offered, record.player
        label.elo, label.value = table.elos[row], table.values[row]
        yield record


def tesujis_from_records(records: Sequence[pattern_pb2.TesujiRecord], spec: GameSpec) -> TesujiTable:
    """Read tesujis that people may have written. Raises InvalidRecordError naming the field."""
    around = surroundings(spec)
    columns: dict[str, list[int]] = {"codes": [], **{name: [] for name in _OF_TESUJI}}
    for number, record in enumerate(records):
        field = f"tesujis[{number}]"
        place = record.place if record.HasField("place") else None
        if around is None:
            raise InvalidRecordError(
                field,
                f"{spec.game_id} has none: it needs two players in turn, a square or hexagonal board "
                "and moves that put a piece on an empty cell",
            )
        try:
            cells = read_tesuji_cells(record.cells, record.player, spec)
            code = around.code(Tesuji(record.player, cells, place, record.turned))
        except (InvalidPatternError, InvalidTesujiError) as error:
            raise InvalidRecordError(f"{field}.cells", str(error)) from error
        columns["codes"].append(code)
        for name in _OF_TESUJI:
            columns[name].append(getattr(record, name))
    try:
        return TesujiTable.of(*columns.values())
    except ValueError as error:
        raise InvalidRecordError("tesujis", str(error)) from error
