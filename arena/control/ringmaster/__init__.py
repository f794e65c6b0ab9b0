"""Control files of Gomill's ringmaster: executed in a process of their own, and read."""
