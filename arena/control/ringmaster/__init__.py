"""Control files of Gomill's ringmaster, read as they are."""
