"""Results: the database of games, and what it tells of a competition."""
