"""Generated code of the arena's protocol."""
