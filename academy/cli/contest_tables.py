"""Tables of contests, and of who played in them, asked and proposed."""

from collections.abc import Iterable
from itertools import zip_longest

from rich.table import Table
from rich.text import Text

from academy.cli.library_tables import FAIR_USE_COLUMNS, fair_use_cells
from academy.cli.printing import counted, new_table, shown
from academy.v1 import contests_pb2, libraries_pb2, pattern_pb2, proposals_pb2


def contests_table(contests: Iterable[contests_pb2.Contest], now: float) -> Table:
    """Open contests with their players by seat, and how long ago they were opened.

    `now` is in seconds since 1970. Players in brackets may not consult in the contest.
    """
    table = new_table("Open contests", " contest", " arena", " game", " players", " opened", "hours ago")
    for contest in contests:
        table.add_row(
            Text(contest.contest_id),
            shown(contest.arena),
            contest.game_id,
            shown(
                " - ".join(
                    f"({player.name})" if seat in contest.seats_alone else player.name
                    for seat, player in enumerate(contest.players, 1)
                )
            ),
            contest.open_time.ToJsonString(),
            f"{(now - contest.open_time.ToNanoseconds() / 1e9) / 3_600:,.1f}",
        )
    return table


def contests_fair_use_table(contests: Iterable[contests_pb2.Contest]) -> Table:
    """Open contests with their rules of fair use."""
    table = new_table("Open contests", " contest", " arena", " game", *FAIR_USE_COLUMNS)
    for contest in contests:
        table.add_row(
            Text(contest.contest_id), shown(contest.arena), contest.game_id, *fair_use_cells(contest.fair_use)
        )
    return table


def arenas_table(arenas: Iterable[contests_pb2.Arena]) -> Table:
    """Arenas, where their players' names live, and for whom they may act."""
    table = new_table("Arenas", " arena", " its players are", " may act for")
    for arena in arenas:
        names = f"NAME@{arena.namespace}" if arena.namespace else "NAME"
        table.add_row(shown(arena.name), shown(names), shown(", ".join(arena.acts_for)))
    return table


def players_table(players: Iterable[libraries_pb2.PlayerStatistics]) -> Table:
    """Return a table of players' figures in a game."""
    table = new_table(
        "Players",
        *(" player", "contests", "claims", "false", "false openings", "proposals taken", "dropped"),
        *("new openings", "helped others", "who won or drew", "helped by others", "and won or drew"),
    )
    for player in players:
        table.add_row(
            shown(player.player),
            f"{player.contests:,}",
            f"{player.claims:,}",
            f"{player.false_claims:,}",
            f"{player.contests_with_false_consultations:,}",
            f"{player.accepted_proposals:,}",
            f"{player.dropped_proposals:,}",
            f"{player.new_openings:,}",
            f"{player.helped:,}",
            f"{player.helped_successes:,}",
            f"{player.helped_by_others:,}",
            f"{player.helped_by_others_successes:,}",
        )
    return table


def questions_table(seats: Iterable[contests_pb2.SeatConsultations]) -> Table:
    """What each seat asked: after how many moves, the values that it expected, and what it was answered."""
    table = new_table(
        "Questions",
        "seat",
        "openings",
        " after moves: recommended",
        "moves, patterns",
        " after moves (expecting): answered by",
        " got in all",
    )
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
        table.add_row(
            str(seat.player),
            str(seat.opening_questions),
            shown(", ".join(openings)),
            str(seat.pattern_questions),
            "; ".join(questions),
            _by_kind(
                sum(len(got.pattern_ids) for got in seat.patterns),
                len(seat.tesuji_ids),
                evaluation=seat.evaluation,
                weights=seat.weights,
            ),
        )
    return table


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
    table = new_table(
        "Proposals",
        *(" player", " game", " contest", "ply", " library", " verdict", "pattern", " cells", " reason"),
    )
    table.show_lines = True
    for proposal in proposals:
        table.add_row(
            shown(proposal.player),
            shown(proposal.game_id),
            shown(proposal.contest_id),
            str(proposal.content.ply),
            _word(pattern_pb2.Library.Name(proposal.content.library)),
            _word(proposals_pb2.Verdict.Name(proposal.verdict)),
            str(proposal.pattern_id or ""),
            Text(proposal.content.cells),
            shown(proposal.reason),
        )
    return table


def _word(name: str) -> str:
    """An enum's value in a word: `LIBRARY_MIDDLE_GAME` is `middle-game`."""
    return name.partition("_")[2].lower().replace("_", "-")
