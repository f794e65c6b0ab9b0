"""The rules of the libraries: pure functions and values, no I/O, no clock, no randomness."""
