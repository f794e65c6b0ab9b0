"""DAIDE as text in the tests."""

from referees.diplomacy.daide.tokens import Tokens, vocabulary
from referees.diplomacy.map import shipped_map

STANDARD = vocabulary(shipped_map("standard"))
STRAITS = vocabulary(shipped_map("straits"))


def tokens(text: str) -> Tokens:
    return STANDARD.tokens(text)


def text(message: Tokens) -> str:
    return STANDARD.text(message)
