"""Names that members claim: what a name is, and which names look alike.

A name is of ASCII, so that letters of other alphabets, which look like ours, are refused. Two names look
alike when their skeletons are the same: small letters, with `0` as `o`, `1` and `i` as `l`, `rn` as `m`, `vv`
as `w`, and without `-`, `_` and `.`.
"""

import re
import unicodedata
from typing import Final

SHORTEST: Final = 2
LONGEST: Final = 32
# The anchor of pools, which plays at random.
RANDOM_PLAYER: Final = "random"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_ALIKE: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "-": "", "_": "", ".": ""})


def complaint_about_name(name: str) -> str:
    """What is wrong with a name; empty for one that may be claimed."""
    foreign = next((sign for sign in name if not sign.isascii()), None)
    if foreign is not None:
        called = unicodedata.name(foreign, f"U+{ord(foreign):04X}")
        return f"{name[:80]!r} has {called}: write letters of ASCII: others look like them"
    if not SHORTEST <= len(name) <= LONGEST or not _NAME.fullmatch(name):
        return (
            f"{name[:80]!r} is not a name: write {SHORTEST} to {LONGEST} letters of ASCII, digits, '-', '_' "
            "and '.', a letter first"
        )
    if skeleton(name) == RANDOM_PLAYER:
        return f"{name!r} looks like {RANDOM_PLAYER!r}, the arena's own player: choose another name"
    return ""


def skeleton(name: str) -> str:
    """What a name has in common with those that look like it."""
    return name.casefold().translate(_ALIKE).replace("rn", "m").replace("vv", "w")
