"""Names of players, as people read them: two that look alike are one name."""

import unicodedata


def complaint_about(name: str) -> str:
    """Return why a name is invalid, "" if it is valid.

    Names are in Unicode's normal form C, and have no characters that cannot be seen: controls, formats such
    as marks that turn text round, ends of lines.
    """
    if not name.isprintable():
        at = next(at for at, character in enumerate(name) if not character.isprintable())
        return f"character {at + 1} of the name {name[:140]!a} cannot be seen: only printable text is allowed"
    if not unicodedata.is_normalized("NFC", name):
        normal = unicodedata.normalize("NFC", name)
        return f"the name {name[:140]!a} is not in Unicode's normal form C: write {normal[:140]!a}"
    return ""
