"""What a bot makes of advice on moves."""

from typing import Any, cast

import pytest

from academy.knowledge.settings import Library
from academy.v1 import game_pb2
from clients import Academy, Seat
from clients.bots.advice import Adviser, as_experience
from clients.responses import Advice
from referees.go import Go


class Listening:
    """Keeps the options of questions for advice, and knows nothing."""

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    def game(self, game_id: str) -> game_pb2.Game:
        return game_pb2.Game(game_id=game_id)

    def advise(self, *question: object, **options: Any) -> Advice:
        self.options.append(options)
        return Advice()


@pytest.mark.parametrize("libraries", [tuple(Library), (Library.MIDDLE_GAME,)])
def test_a_bot_compares_moves_by_the_ply_and_asks_for_the_books_move_only_once(
    libraries: tuple[Library, ...],
) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec, academy = referee.spec(), Listening()
    bot = Adviser(referee, cast(Academy, academy), Seat(spec.game_id, spec.geometry, 1), libraries)
    bot.experience(referee.start(0), ["A1", "B1"], 0.2, [0, 1])
    assert academy.options == [{"plies": 2}]


def test_a_move_that_is_as_good_as_usual_keeps_the_positions_value() -> None:
    known = as_experience(0.25, {"good": 2.0, "usual": 0.0, "bad": -2.0}, 20.0)
    assert known["usual"].value == pytest.approx(0.25)
    assert known["good"].value > 0.25 > known["bad"].value > 0.0
    assert {experience.games for experience in known.values()} == {20.0}


def test_a_lost_position_still_has_better_moves() -> None:
    known = as_experience(0.0, {"good": 2.0, "usual": 0.0}, 20.0)
    assert known["good"].value > 2.0 * known["usual"].value > 0.0
