"""What was kept of an index, for queries at once: most games that a server starts with stay as they are."""

from collections.abc import Mapping
from typing import Any, Final

from numpy.typing import NDArray

from academy.matching.anchoring import AnchorKind
from academy.matching.rows import Rows

_KIND, _REACH = range(2)
_COLUMNS: Final = tuple(name for name in Rows._fields if name not in ("of_kind", "reach"))


def kept_rows(kept: Mapping[str, NDArray[Any]]) -> Rows:
    """Return the rows that `PatternRows` would hold if it were filled by `restore`, without doing that."""
    rows, use = kept["rows"], kept["use"]
    kinds, reaches = use[:, _KIND], use[:, _REACH]
    return Rows(
        **{name: kept[name] for name in _COLUMNS},
        of_kind=tuple(rows[kinds == kind] for kind in AnchorKind),
        reach=int(reaches.max(initial=0)),
    )
