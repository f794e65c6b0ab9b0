"""Which patterns of a library occur on a board, and where: `index.PatternIndex`.

A pattern hangs on one of its own cells, its anchor (`anchoring`). A board's cells that can be an anchor are
the bits of machine words. For every test, a code wanted at an offset from the anchor, a query computes
the word of those anchors around which it holds (`table`). A pattern is stored as a row of tests
(`rows`), and lies where the AND of its tests' words has a bit left (`sieve`). Symmetries exchange offsets
(`images`), so a pattern is stored once for all of them.
"""
