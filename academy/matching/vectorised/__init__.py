"""The sieve in NumPy: all patterns at once, for where Numba is not installed (see `kernels`)."""
