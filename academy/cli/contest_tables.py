"""Tables of contests, and of who played in them, asked and proposed."""

from collections.abc import Iterable
from itertools import zip_longest

from rich.table import Table
from rich.text import Text

from academy.cli.library_tables import FAIR_USE_COLUMNS, fair_use_cells
from academy.cli.printing import counted, table_of
from academy.v1 import contests_pb2, libraries_pb2, pattern_pb2, proposals_pb2


def contests_table(contests: Iterable[contests_pb2.Contest], now: float) -> Table:
    """Open contests with their players by seat, and how long ago they were opened.

    `now` is in seconds since 1970. Players in brackets may not consult in the contest.
    """
    rows = []
    for contest in contests:
        players = " - ".join(
            f"({player.name})" if seat in contest.seats_alone else player.name
            for seat, player in enumerate(contest.players, 1)
        )
        hours = f"{(now - contest.open_time.ToNanoseconds() / 1e9) / 3_600:,.1f}"
        what = (contest.contest_id, contest.arena, contest.game_id)
        rows.append((*what, players, contest.open_time.ToJsonString(), hours))
    return table_of("Open contests", rows, " contest", " arena", " game", " players", " opened", "hours ago")


def contests_fair_use_table(contests: Iterable[contests_pb2.Contest]) -> Table:
    """Open contests with their rules of fair use."""
    rows = (
        (contest.contest_id, contest.arena, contest.game_id, *fair_use_cells(contest.fair_use))
        for contest in contests
    )
    return table_of("Open contests", rows, " contest", " arena", " game", *FAIR_USE_COLUMNS)


def arenas_table(arenas: Iterable[contests_pb2.Arena]) -> Table:
    """Arenas, where their players' names live, and for whom they may act."""
    rows = []
    for arena in arenas:
        names = f"NAME@{arena.namespace}" if arena.namespace else "NAME"
        rows.append((arena.name, names, ", ".join(arena.acts_for)))
    return table_of("Arenas", rows, " arena", " its players are", " may act for")


def players_table(players: Iterable[libraries_pb2.PlayerStatistics]) -> Table:
    """Return a table of players' figures in a game."""
    columns = {
        "contests": "contests",
        "claims": "claims",
        "false_claims": "false",
        "contests_with_false_consultations": "false openings",
        "accepted_proposals": "proposals taken",
        "dropped_proposals": "dropped",
        "new_openings": "new openings",
        "helped": "helped others",
        "helped_successes": "who won or drew",
        "helped_by_others": "helped by others",
        "helped_by_others_successes": "and won or drew",
    }
    rows = ((player.player, *(f"{getattr(player, name):,}" for name in columns)) for player in players)
    return table_of("Players", rows, " player", *columns.values())


def questions_table(seats: Iterable[contests_pb2.SeatConsultations]) -> Table:
    """What each seat asked: after how many moves, the values that it expected, and what it was answered."""
    rows = []
    for seat in seats:
        questions = (
            f"{question.plies if question.HasField('plies') else '?'} ({question.value:.2f})"
            + (f": {_answer(question.answer)}" if question.HasField("answer") else "")
            for question in seat.questions
        )
        openings = (
            f"{plies}" + (f": {answer.move or '-'}" if answer is not None else "")
            for plies, answer in zip_longest(seat.opening_plies, seat.opening_answers)
        )
        got = _by_kind(
            sum(len(library.pattern_ids) for library in seat.patterns),
            len(seat.tesuji_ids),
            evaluation=seat.evaluation,
            weights=seat.weights,
        )
        cells = (seat.opening_questions, ", ".join(openings), seat.pattern_questions, "; ".join(questions))
        rows.append((seat.player, *cells, got))
    return table_of(
        "Questions",
        rows,
        *("seat", "openings", " after moves: recommended"),
        *("moves, patterns", " after moves (expecting): answered by", " got in all"),
    )


def _answer(answer: contests_pb2.PatternAnswer) -> str:
    known = _by_kind(answer.patterns, answer.tesujis, evaluation=answer.evaluation) or "nothing"
    return f"{known}, best cell {answer.best_cell}" if answer.HasField("best_cell") else known


def _by_kind(patterns: int, tesujis: int, *, evaluation: bool, weights: bool = False) -> str:
    kinds = (
        counted(patterns, "pattern") if patterns else "",
        counted(tesujis, "tesuji") if tesujis else "",
        "evaluation" if evaluation else "",
        "weights" if weights else "",
    )
    return ", ".join(filter(None, kinds))


def proposals_table(proposals: Iterable[proposals_pb2.Proposal]) -> Table:
    """Proposals with what became of each; `pattern` is the one it became part of."""
    rows = []
    for proposal in proposals:
        content = proposal.content
        whose = (proposal.player, proposal.game_id, proposal.contest_id, content.ply)
        library = _word(pattern_pb2.Library.Name(content.library))
        verdict = _word(proposals_pb2.Verdict.Name(proposal.verdict))
        rows.append(
            (*whose, library, verdict, proposal.pattern_id or "", Text(content.cells), proposal.reason)
        )
    table = table_of(
        "Proposals",
        rows,
        *(" player", " game", " contest", "ply", " library", " verdict", "pattern", " cells", " reason"),
    )
    table.show_lines = True
    return table


def _word(name: str) -> str:
    """An enum's value in a word: `LIBRARY_MIDDLE_GAME` is `middle-game`."""
    return name.partition("_")[2].lower().replace("_", "-")
