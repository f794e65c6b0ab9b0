"""Games that no arena played, as files to look at."""

import json
from collections.abc import Iterable, Mapping, Sequence

from arena.v1 import competitions_pb2
from web.replay_file import ShownGame, make_file


def file_of(
    game: str,
    moves: Iterable[competitions_pb2.GameMove],
    settings: Mapping[str, object] | None = None,
    players: Sequence[competitions_pb2.GamePlayer] = (competitions_pb2.GamePlayer(name="ann"),),
    result: str = "",
) -> str:
    """The page of a game of these moves."""
    whole = competitions_pb2.GetGameResponse(
        game=competitions_pb2.Game(game_id="0_1", players=players, result=result),
        moves=moves,
        settings_json=json.dumps(settings or {}),
        seed=3,
    )
    return make_file(ShownGame(competitions_pb2.Competition(name="cup", game=game), whole))
