"""What a service tells of a competition as it goes on, in lines for people."""

from arena.game_count import count_text
from arena.v1 import competitions_pb2


def event_line(event: competitions_pb2.WatchCompetitionResponse) -> str:
    """A finished game, or the state of the competition."""
    if event.HasField("game"):
        game = event.game
        players = " vs ".join(player.name for player in game.players)
        winners = [player.name for player in game.players if player.winner]
        detail = f" ({game.detail})" if game.detail else ""
        match winners:
            case []:
                told = "result unknown"
            case [winner]:
                told = f"won by {winner}"
            case _:
                told = f"drawn by {' and '.join(winners)}"
        return f"game {game.game_id}: {players}: {game.result}{detail}, {told}"
    now = event.competition
    state = competitions_pb2.CompetitionState.Name(now.state).removeprefix("COMPETITION_STATE_").lower()
    games = count_text(now.games_played, now.games_total if now.HasField("games_total") else None)
    remark = f"; {now.remark}" if now.remark else ""
    return f"{now.name} ({now.kind}, {now.game}): {state}, {games} games played{remark}"
