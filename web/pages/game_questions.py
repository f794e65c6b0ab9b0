"""What players asked ACADEMY during a game of an arena, and the patterns that they proposed from it."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from academy.v1 import contests_pb2, proposals_pb2
from web.academy_service import AcademyService
from web.pages.patterns import LIBRARY_NAMES
from web.query import link
from web.rendering import counted

__all__ = ["AtAcademy", "read_questions"]

_MOST_PROPOSALS: Final = 200
_WORDS: Final = {"middle-game": "a middle-game pattern", "endgame": "an endgame pattern"}


@dataclass(frozen=True)
class AskedAt:
    """A question or a proposal.

    Attributes:
        ply: After which move; None where that is not known.
        by: The player.
        what: What it asked or proposed.
        answer: What became of it.
        address: Where the pattern is that a proposal became part of; "" for none.
    """

    ply: int | None
    by: str
    what: str
    answer: str = ""
    address: str = ""


@dataclass(frozen=True)
class AtAcademy:
    """What a game's players proposed and asked at ACADEMY, by ply, and what each got in all, in words."""

    proposals: Sequence[AskedAt]
    questions: Sequence[AskedAt]
    got: Sequence[str]


async def read_questions(
    academy: AcademyService | None,
    contest_id: str,
    players: Sequence[str],
    plies: int,
    cell_names: Sequence[str] = (),
) -> AtAcademy | None:
    """Return what a game's players asked and proposed; None if the token may not read it or nothing is there.

    `contest_id` is "" for a game that was not reported; `cell_names` are empty where they are not known.
    """
    if academy is None or not contest_id:
        return None

    async def ask() -> tuple[contests_pb2.GetConsultationsResponse, list[proposals_pb2.Proposal]] | None:
        return await asyncio.gather(
            academy.consultations(contest_id), academy.proposals_of_contest(contest_id, _MOST_PROPOSALS)
        )

    answers = await academy.extras.get("consultations", ask)
    if answers is None:
        return None
    consultations, proposals = answers
    proposed = _in_order((_proposal(proposal, players) for proposal in proposals), plies)
    questions = _in_order(_questions(consultations, players, cell_names), plies)
    by_seat = [(seat.player, _all_in_words(seat)) for seat in consultations.seats]
    got = [f"{_name(players, seat)} {words}" for seat, words in by_seat if words]
    return AtAcademy(proposed, questions, got) if proposed or questions or got else None


def _in_order(rows: Iterable[AskedAt], plies: int) -> list[AskedAt]:
    """The rows by ply; those of no ply of the game come last."""
    known = [row if row.ply is None or row.ply <= plies else replace(row, ply=None) for row in rows]
    return sorted(known, key=lambda row: (row.ply is None, row.ply or 0))


def _questions(
    consultations: contests_pb2.GetConsultationsResponse, players: Sequence[str], cell_names: Sequence[str]
) -> Iterator[AskedAt]:
    for seat in consultations.seats:
        name = _name(players, seat.player)
        for plies, opening in zip_longest(seat.opening_plies, seat.opening_answers):
            yield AskedAt(plies, name, "asked the opening tree", _opening_in_words(opening))
        for question in seat.questions:
            known = question.plies if question.HasField("plies") else None
            answer = _patterns_in_words(question.answer, cell_names) if question.HasField("answer") else ""
            yield AskedAt(known, name, f"asked for patterns, expecting {question.value:.2f}", answer)


def _opening_in_words(answer: contests_pb2.OpeningAnswer | None) -> str:
    """What the opening tree answered; "" where that was not kept."""
    if answer is None:
        return ""
    if not answer.visits:
        return f"{answer.move}, worth {answer.value:.2f}" if answer.move else "not in the tree"
    came = f"{counted(answer.visits, 'contest')} came here"
    return f"{answer.move}, worth {answer.value:.2f}; {came}" if answer.move else f"no move; {came}"


def _patterns_in_words(answer: contests_pb2.PatternAnswer, cell_names: Sequence[str]) -> str:
    """What an answer about patterns or moves rested on."""
    some = [f"{number}" for got in answer.some for number in got.pattern_ids]
    more = ", …" if answer.patterns > len(some) else ""
    parts = [counted(answer.patterns, "pattern")]
    if some:
        parts[0] += f" ({', '.join(some)}{more})"
    if answer.tesujis:
        parts.append(counted(answer.tesujis, "tesuji"))
    if answer.evaluation:
        parts.append("the evaluation")
    if answer.HasField("best_cell"):
        cell = answer.best_cell
        parts.append(f"best at {cell_names[cell] if cell < len(cell_names) else f'cell {cell}'}")
    return ", ".join(parts)


def _all_in_words(seat: contests_pb2.SeatConsultations) -> str:
    """What a player got in all; "" for nothing."""
    patterns = sum(len(got.pattern_ids) for got in seat.patterns)
    kinds = (
        counted(patterns, "pattern") if patterns else "",
        counted(len(seat.tesuji_ids), "tesuji") if seat.tesuji_ids else "",
        "the evaluation" if seat.evaluation else "",
        "weights to take home" if seat.weights else "",
    )
    return ", ".join(filter(None, kinds))


def _proposal(proposal: proposals_pb2.Proposal, players: Sequence[str]) -> AskedAt:
    verdict = proposals_pb2.Verdict.Name(proposal.verdict).removeprefix("VERDICT_").lower()
    library = LIBRARY_NAMES.get(proposal.content.library, "")
    address = ""
    if proposal.pattern_id and library:
        address = link(f"/games/{proposal.game_id}/patterns/{library}/{proposal.pattern_id}")
    return AskedAt(
        proposal.content.ply,
        _name(players, proposal.seat),
        f"proposed {_WORDS.get(library, 'a pattern')} of value {proposal.content.value:.2f}",
        f"{verdict}: {proposal.reason}" if proposal.reason else verdict,
        address,
    )


def _name(players: Sequence[str], seat: int) -> str:
    return players[seat - 1] if 0 < seat <= len(players) else f"seat {seat}"
