"""The rules of games, one folder a game, behind the interface of `referees.api`."""
