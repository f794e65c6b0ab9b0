"""How well the evaluation foretells results, and the tesujis moves, that they have not seen.

They learn from the first four fifths of a population's contests. The log loss of results is that of the other
fifth, over all positions in which a move was made: 0.693 for even odds, less is better. The log likelihood of
moves is that of players strong enough to be learnt from, beside one of any move: more is better.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.contests import ContestReport, Ply, Result
from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.position_evaluator import PositionEvaluator
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.surroundings import surroundings
from academy.knowledge.tesujis.table import TesujiTable
from academy.store.codec.contests import report_from_proto
from academy.v1 import events_pb2
from research.learning.games import POPULATIONS, STUDY, TRIALS
from research.learning.population import Population, Records, alone

LEARNT: Final = 0.8
# Four to learn from, and one held out.
FEWEST: Final = 5
SETTINGS: Final = {
    "features": LibrarySettings(evaluation=True),
    "and 1,000 patterns": LibrarySettings(evaluation=True, evaluation_patterns=1_000),
    "and 5,000 patterns": LibrarySettings(evaluation=True, evaluation_patterns=5_000),
    "and 50,000 patterns": LibrarySettings(evaluation=True, evaluation_patterns=50_000),
}
TESUJIS: Final = 1_000
# Odds beyond are counted as these: nobody is so sure.
SUREST: Final = 0.98
_SCORES: Final = {Result.WIN: 1.0, Result.DRAW: 0.5, Result.LOSS: 0.0}

_Floats = NDArray[np.float64]


def held_out_losses(name: str, contests: int, data: Path) -> list[str]:
    """Play what is missing of a population's contests, and return a line for each way to foretell results.

    Raises PopulationBusyError, and GnuGoMissingError of a population that has players of it.
    """
    first = POPULATIONS[0]
    folder = data / STUDY / first / name
    spec = TRIALS[name].referee().spec()
    with alone(folder):
        population = Population(name, TRIALS[name], first, Records(folder / "contests"))
        reports = [
            report_from_proto(events_pb2.ContestReported(report=population.contest(number)), spec)
            for number in range(1, contests + 1)
        ]
    learnt, held_out = reports[: int(LEARNT * contests)], reports[int(LEARNT * contests) :]
    results = np.array([_SCORES[report.results[0]] for report in held_out for _ in _positions(report)])
    lines = [
        f"{TRIALS[name].title}: {len(learnt)} contests learnt from, {len(held_out)} held out",
        f"  even odds                {_loss(np.zeros(len(results)), results):.3f}",
        f"  the players themselves   {_loss(_stated_by_players(held_out), results):.3f}",
    ]
    for title, settings in SETTINGS.items():
        table, began = EvaluationTable(), time.process_time()
        for report in learnt:
            table = table.learn(report, spec, settings)
        milliseconds = 1e3 * (time.process_time() - began) / len(learnt)
        loss = _loss(_foretold(table, spec, held_out), results)
        lines.append(
            f"  {title:24} {loss:.3f}   {table.patterns:6,} patterns, {milliseconds:.1f} ms a contest"
        )
    return [*lines, *_likelihood_of_moves(learnt, held_out, spec)]


def _likelihood_of_moves(
    learnt: Sequence[ContestReport], held_out: Sequence[ContestReport], spec: GameSpec
) -> list[str]:
    if surroundings(spec) is None:
        return []
    table, began = TesujiTable.empty(), time.process_time()
    for report in learnt:
        table = table.learn(report, spec, TESUJIS)
    milliseconds = 1e3 * (time.process_time() - began) / len(learnt)
    moves = np.concatenate([table.log_likelihoods(report, spec) for report in held_out])
    if not len(moves):
        return ["  moves: none that tesujis could foretell"]
    tesujis, any_move = moves.mean(axis=0)
    return [
        f"  moves: {len(moves):,}, any {any_move:.3f}, tesujis {tesujis:.3f}   {len(table):,} tesujis, "
        f"{milliseconds:.1f} ms a contest"
    ]


def _positions(report: ContestReport) -> list[tuple[bytes, Ply]]:
    """Return the board before each move, with the move."""
    return [(states, ply) for states, ply in zip(report.boards, report.plies, strict=False) if states]


def _stated_by_players(reports: Sequence[ContestReport]) -> _Floats:
    stated = []
    for report in reports:
        for _, ply in _positions(report):
            value = ply.values_before.get(ply.player, ply.values.get(ply.player, 0.5))
            stated.append(value if ply.player == 1 else 1.0 - value)
    values = np.clip(stated, 1.0 - SUREST, SUREST)
    log_odds: _Floats = np.log(values / (1.0 - values))
    return log_odds


def _foretold(table: EvaluationTable, spec: GameSpec, reports: Sequence[ContestReport]) -> _Floats:
    evaluator = PositionEvaluator(spec, table.codes, table.weight_millionths / 1e6)
    return np.array(
        [
            evaluator.log_odds([Board(spec.geometry, states)], ply.player, [ply.legal_moves])[0]
            for report in reports
            for states, ply in _positions(report)
        ]
    )


def _loss(log_odds: _Floats, results: _Floats) -> float:
    return float(np.mean(np.logaddexp(0.0, log_odds) - results * log_odds))
