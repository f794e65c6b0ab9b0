"""Players far weaker than the others cannot change what a server recommends, however much they play."""

from collections.abc import Sequence

from academy.v1 import consultation_pb2
from tests.academy.service import examples
from tests.academy.service.examples import contest, report
from tests.academy.service.running import Running

LINES = ((), ("c3",), ("a1",), ("c3", "b2"))


def play(academy: Running, game_id: str, who: str, count: int, elo: float, lines: Sequence[str]) -> None:
    for number in range(count):
        names = f"{who} {number % 10}", f"{who} {(number + 1) % 10}"
        moves = lines[number % len(lines)]
        good = moves.startswith("a1") == (who == "colluder")
        # The strong ones are not sure: of five games by a good move they win three.
        winner = "WIN" if good == (who == "colluder" or number // len(lines) % 5 < 3) else "LOSS"
        academy.report(
            report(
                contest(f"{game_id}/{who}/{number}", game_id, names, (elo, elo)), moves.split(), first=winner
            )
        )


def recommended(academy: Running, game_id: str) -> list[consultation_pb2.BookMove]:
    bot = academy.bot("reader")
    return [
        bot.consultation.LookUpOpening(
            consultation_pb2.LookUpOpeningRequest(game_id=game_id, player=len(moves) % 2 + 1, moves=moves)
        ).recommendation
        for moves in LINES
    ]


def test_ten_colluders_move_no_recommended_move_of_fifty_strong_contests(academy: Running) -> None:
    # As long as the game's average is before contests are known: all are recorded as deep.
    rest = " " + " ".join(["pass"] * 17)
    strong = [line + rest for line in ("c3 b2 d4", "c3 b2 d4", "a1 c3 b2", "c3 a1 d2", "c3 b2 a1")]
    weak = [line + rest for line in ("a1 e5 d4", "c3 a5 d4", "c3 b2 e1")]
    for game_id in ("poisoned-first", "poisoned-last"):
        academy.register(examples.tiny_go(game_id))
    play(academy, "poisoned-first", "colluder", 40, 1000.0, weak)
    of_colluders = recommended(academy, "poisoned-first")
    for game_id in ("poisoned-first", "poisoned-last"):
        play(academy, game_id, "strong", 50, 1500.0, strong)
    honest = recommended(academy, "poisoned-last")
    play(academy, "poisoned-last", "colluder", 40, 1000.0, weak)
    assert recommended(academy, "poisoned-last") == honest
    after_colluders = recommended(academy, "poisoned-first")
    assert [best.move for best in after_colluders] == [best.move for best in honest]
    assert honest[0].move == "c3" != of_colluders[0].move
