"""The kernel compiled with Numba: imported only where that is installed (see `kernels`)."""
