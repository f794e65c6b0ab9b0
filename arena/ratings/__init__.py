"""How strong players are, computed from results: ratings, their errors, and sequential tests."""
