"""What the benchmarks load a server with."""
