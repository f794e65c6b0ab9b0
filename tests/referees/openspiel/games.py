"""The referee of a game of OpenSpiel's."""

from referees.openspiel import OpenSpiel


def judge_of(game: str) -> OpenSpiel:
    return OpenSpiel.from_settings({"game": game})
