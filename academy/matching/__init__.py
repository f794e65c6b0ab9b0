"""Which patterns of a library occur on a board, and where."""
