"""What nobody sees: names of players that differ only in it are refused, and on terminals it is escaped."""

import json
import re
import unicodedata
from typing import Final

# Of Default_Ignorable_Code_Point what `str.isprintable` takes for printable, and the blank of Braille.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def complaint_about(name: str) -> str:
    """Return why a name is invalid, "" if it is valid.

    Names are in Unicode's normal form C, have no blanks at their ends and no characters that cannot be seen:
    controls, formats such as marks that turn text round, ends of lines, fillers. Letters of two alphabets are
    different letters, also where they look alike.
    """
    hidden = next((at for at, sign in enumerate(name) if not sign.isprintable() or _BLANK.match(sign)), None)
    if hidden is not None:
        return f"character {hidden + 1} of the name {name[:140]!a} cannot be seen: write only what people see"
    if name != name.strip():
        return f"the name {name[:140]!a} begins or ends with a blank: leave it out"
    if not unicodedata.is_normalized("NFC", name):
        normal = unicodedata.normalize("NFC", name)
        return f"the name {name[:140]!a} is not in Unicode's normal form C: write {normal[:140]!a}"
    return ""


def visible(text: str) -> str:
    """Return text with what cannot be seen escaped: it might command the terminal it is printed on."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
