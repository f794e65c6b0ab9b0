"""The sieve compiled with Numba: imported only where that is installed (see `kernels`)."""
