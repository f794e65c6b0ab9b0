"""Which patterns of a library occur on a board, and where: `index.PatternIndex`.

A pattern is tried at one of its own cells, its anchor (`anchoring`). A board's cells that can be an anchor,
under each symmetry, are the bits of machine words. For every test, a code wanted at an offset from the
anchor, a query computes the word of those around which it holds. A pattern is stored as a row of tests
(`rows`), once for all symmetries, and lies where the AND of its tests' words has a bit left; cells far from
the anchor are looked at one by one where all near ones fit. Queries are answered from a `Snapshot`, by one
of two kernels (`kernels`): `compiled` or `numpy_kernel`.
"""
