"""Laws of whole games: the same again, their images, outcomes and records."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import NodeSymmetry
from referees.api import GameRecord, InvalidSettingError, Outcome, PlayedMove, Termination
from referees.conformance.laws import Trial
from referees.conformance.positions import (
    check_boards,
    check_drawing,
    check_end,
    check_moves,
    check_out_of_turn,
    check_turns,
)

_UNKNOWN_SETTING: Final = "a setting that no game has"
_OLD_POSITIONS: Final = 10
_OTHER_SEEDS: Final = 5


@dataclass
class RandomGame:
    """A game so far: its positions, what can be seen of each, and the moves between them."""

    seed: int
    positions: list[Any] = field(default_factory=list)
    sights: list[object] = field(default_factory=list)
    moves: list[dict[int, Any]] = field(default_factory=list)
    outcome: Outcome | None = None


def check_description(trial: Trial) -> None:
    """Check what needs no game: settings and spec."""
    judge = trial.referee
    with trial.law("settings") as breach:
        try:
            type(judge).from_settings({_UNKNOWN_SETTING: 1})
        except InvalidSettingError:
            pass
        else:
            raise breach(f"the setting {_UNKNOWN_SETTING!r} was accepted")
    with trial.law("spec") as breach:
        if judge.spec() != trial.spec:
            raise breach("two descriptions differ")
        if trial.spec.players != judge.seats:
            raise breach(f"{trial.spec.players} players, but {judge.seats} seats")
        if what := _wrong_edge(trial.spec):
            raise breach(what)
        settings = type(judge).settings_of(trial.spec.game_id)
        if settings is not None:
            same = type(judge).from_settings(settings).spec()
            if (same.game_id, same.geometry) != (trial.spec.game_id, trial.spec.geometry):
                raise breach(f"settings_of({trial.spec.game_id!r}) are those of {same.game_id!r}")
        names = [judge.seat_name(seat) for seat in trial.seats]
        if len(set(names)) != len(names) or not all(names):
            raise breach(f"the seats are called {names}")


def _wrong_edge(spec: GameSpec) -> str:
    """What is wrong with the edges of a map, which have no direction; empty where nothing is."""
    graph = spec.geometry
    if not isinstance(graph, GraphGeometry):
        return ""
    touching = set()
    for edge in graph.edges:
        if frozenset(edge) in touching:
            return f"the edge {_edge_text(graph, edge)} is listed twice: list it once, in either direction"
        touching.add(frozenset(edge))
    for symmetry in (*spec.symmetry_group, spec.reversal_symmetry):
        assert isinstance(symmetry, NodeSymmetry)
        for edge in graph.edges:
            image = [symmetry.image[end] for end in edge]
            if frozenset(image) not in touching:
                return (
                    f"symmetry {symmetry.name!r} takes the edge {_edge_text(graph, edge)} to "
                    f"{_edge_text(graph, image)}, which do not touch"
                )
    return ""


def _edge_text(graph: GraphGeometry, edge: Sequence[int]) -> str:
    return " - ".join(repr(graph.nodes[node]) for node in edge)


def play_and_check(trial: Trial, seed: int, max_plies: int) -> RandomGame:
    """Play a random game, checking every position, and then the game."""
    judge = trial.referee
    trial.game_seed, trial.ply = seed, 0
    game = RandomGame(seed)
    chance = random.Random(seed)
    with trial.law("seeds") as breach:
        position = judge.start(seed)
        if trial.sight(position) != trial.sight(judge.start(seed)):
            raise breach("two first positions differ")
    while True:
        seats = check_turns(trial, position)
        check_boards(trial, position)
        check_drawing(trial, position)
        if not game.moves:
            _check_first_reversal(trial, position)
        with trial.law("legal moves"):
            sight = trial.sight(position)
        game.positions.append(position)
        game.sights.append(sight)
        if not seats or len(game.moves) >= max_plies:
            break
        moves = {seat: check_moves(trial, position, seat, chance) for seat in seats}
        check_out_of_turn(trial, position, moves)
        with trial.law("legal moves"):
            after = judge.play(position, moves)
        with trial.law("values") as breach:
            if trial.sight(position) != sight:
                raise breach(f"{trial.described(moves)} changed the position it was played in")
        game.moves.append(moves)
        trial.ply = len(game.moves)
        position = after
    if not seats:
        check_end(trial, position)
    _check_outcomes(trial, game)
    _check_old_positions(trial, game, chance)
    _check_replay(trial, game)
    _check_symmetries(trial, game)
    _check_reversed_game(trial, game)
    _check_records(trial, game)
    return game


def _check_first_reversal(trial: Trial, position: Any) -> None:
    judge, spec = trial.referee, trial.spec
    if not spec.symmetric or spec.players != 2:
        return
    with trial.law("reversal") as breach:
        first = judge.board(position, 1)
        by_chance = any(judge.board(judge.start(seed), 1) != first for seed in range(3))
        images = [spec.board_image(first, symmetry) for symmetry in spec.symmetry_group]
        if not by_chance and spec.reversed_board(first) not in images:
            raise breach("with the players exchanged the first board is another")


def _check_outcomes(trial: Trial, game: RandomGame) -> None:
    judge, last = trial.referee, game.positions[-1]
    with trial.law("outcomes") as breach:
        game.outcome = judge.outcome(last)
        outcomes = [game.outcome, judge.adjudicate(last)]
        if trial.spec.players == 2:
            for seat in trial.seats:
                given = judge.won_by(seat, Termination.RESIGNATION)
                if given.winners != (seat,) or given.termination is not Termination.RESIGNATION:
                    raise breach(f"a game that was resigned to seat {seat} ended as {given}")
                outcomes.append(given)
        for outcome in filter(None, outcomes):
            if what := outcome.contradiction(len(trial.seats)):
                raise breach(what)
            if not outcome.summary:
                raise breach(f"an outcome without a summary: {outcome}")
            if len(outcome.summary.splitlines()) > 1:
                raise breach(f"a summary of several lines: {outcome.summary!r}")


def _check_old_positions(trial: Trial, game: RandomGame, chance: random.Random) -> None:
    """Play again from earlier positions: what is hidden in them must not have changed either."""
    for ply in chance.sample(range(len(game.moves)), min(_OLD_POSITIONS, len(game.moves))):
        trial.ply = ply
        with trial.law("values") as breach:
            again = trial.referee.play(game.positions[ply], game.moves[ply])
            if trial.sight(again) != game.sights[ply + 1]:
                raise breach(f"played again, {trial.described(game.moves[ply])} leads elsewhere")


def _check_replay(trial: Trial, game: RandomGame) -> None:
    judge = trial.referee
    with trial.law("replay") as breach:
        position = judge.start(game.seed)
        for ply, moves in enumerate(game.moves):
            trial.ply = ply
            texts = {seat: judge.move_text(move) for seat, move in moves.items()}
            for seat, move in moves.items():
                reported = judge.opening_move(position, seat, move)
                if not all(map(trial.spec.is_written_as_move, (texts[seat], reported))):
                    raise breach(f"{texts[seat]!r} has none of the forms {trial.spec.move_forms}")
            read = {seat: judge.read_move(position, seat, text) for seat, text in texts.items()}
            position = judge.play(position, read)
            if trial.sight(position) != game.sights[ply + 1]:
                raise breach(f"after {trial.described(moves)} the game is another")


def _check_symmetries(trial: Trial, game: RandomGame) -> None:
    judge = trial.referee
    if trial.spec.simultaneous or not trial.spec.cell_names:
        return
    played = [(seat, judge.move_text(move)) for moves in game.moves for seat, move in moves.items()]
    images = trial.spec.move_images([text for _, text in played])
    for permutation, image in zip(trial.spec.turned_cells, images, strict=True):
        with trial.law("symmetry") as breach:
            position = judge.start(game.seed)
            for ply, ((seat, original), text) in enumerate(zip(played, image, strict=True)):
                trial.ply = ply
                move = judge.read_move(position, seat, text)
                judge.check(position, seat, move)
                position = judge.play(position, {seat: move})
                states = judge.board(position, 1).states
                expected = judge.board(game.positions[ply + 1], 1).states
                if any(states[target] != expected[cell] for cell, target in enumerate(permutation)):
                    raise breach(f"{text!r}, the image of {original!r}, leads to another board")
            if judge.outcome(position) != game.outcome:
                raise breach(f"the image of the game ended with {judge.outcome(position)}")


def _check_reversed_game(trial: Trial, game: RandomGame) -> None:
    """Play the game with the players exchanged, from a position in which seat 2 begins, if there is one."""
    judge, spec = trial.referee, trial.spec
    if not spec.symmetric or spec.players != 2 or spec.simultaneous or not spec.cell_names or not game.moves:
        return
    position = _begun_by_the_other(trial, game)
    if position is None or _depends_on_chance(trial, game):
        return
    for ply, moves in enumerate(game.moves):
        trial.ply = ply
        with trial.law("reversal") as breach:
            ((seat, move),) = moves.items()
            other = 3 - seat
            seats = tuple(judge.to_move(position))
            if not seats:
                # With the pass before it this game is over earlier.
                return
            if seats != (other,):
                raise breach(f"with the players exchanged, seats {seats} are to move, not {other}")
            listed = judge.legal_moves(game.positions[ply], seat)
            mirrored = judge.legal_moves(position, other)
            if listed is not None and mirrored is not None and len(listed) != len(mirrored):
                raise breach(
                    f"seat {seat} has {len(listed)} legal moves; with the players exchanged seat {other} has "
                    f"{len(mirrored)}"
                )
            wanted = spec.reversed_board(judge.board(game.positions[ply + 1], 1))
            after = _mirrored(trial, position, other, spec.reversed_move(judge.move_text(move)), wanted)
            if after is None:
                raise breach(f"with the players exchanged, {trial.described(moves)} leads to another board")
            position = after


def _mirrored(trial: Trial, position: Any, seat: int, text: str, board: Board) -> Any | None:
    """The position after the move of this text or, where texts name players, after one to this board."""
    judge = trial.referee
    legal = judge.legal_moves(position, seat)
    if legal is None:
        move = judge.read_move(position, seat, text)
        judge.check(position, seat, move)
        legal = [move]
    for move in sorted(legal, key=lambda move: judge.move_text(move) != text):
        after = judge.play(position, {seat: move})
        if judge.board(after, 1) == board:
            return after
    return None


def _begun_by_the_other(trial: Trial, game: RandomGame) -> Any | None:
    """A position with the reversed first board and seat 2 to move: of another seed, or after a pass."""
    judge, first = trial.referee, game.positions[0]
    if tuple(judge.to_move(first)) != (1,):
        return None
    board = judge.board(first, 1)
    with trial.law("reversal"):
        passes = (judge.play(first, {1: move}) for move in judge.legal_moves(first, 1) or ())
        seeds = (judge.start(game.seed + later) for later in range(1, _OTHER_SEEDS))
        wanted = trial.spec.reversed_board(board)
        for position in chain(seeds, passes):
            if tuple(judge.to_move(position)) == (2,) and judge.board(position, 1) == wanted:
                return position
    return None


def _depends_on_chance(trial: Trial, game: RandomGame) -> bool:
    """Whether the same moves lead elsewhere from another seed."""
    judge = trial.referee
    position = judge.start(game.seed + 1)
    if trial.sight(position) != game.sights[0]:
        return True
    try:
        for moves, sight in zip(game.moves, game.sights[1:], strict=True):
            position = judge.play(position, moves)
            if trial.sight(position) != sight:
                return True
    except Exception:  # A referee may answer moves of another game in any way.
        return True
    return False


def _check_records(trial: Trial, game: RandomGame) -> None:
    judge = trial.referee
    moves = [
        PlayedMove(seat, move, judge.move_text(move), seconds=0.5, values={seat: 0.5}, comment="spoken")
        for moves in game.moves
        for seat, move in moves.items()
    ]
    names = tuple(f"player {seat}" for seat in trial.seats)
    with trial.law("records") as breach:
        stopped = judge.adjudicate(game.positions[-1])
        for played, outcome in ((moves, game.outcome), (moves, stopped), ((), None)):
            record = GameRecord(
                "trial 1", "trial", "2000-01-01", names, played, outcome, game.seed, ("start",), ("end",)
            )
            text = judge.record(record)
            if not text.strip() or judge.record(record) != text:
                raise breach("a record is empty, or another each time")
