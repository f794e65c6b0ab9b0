"""Players as the arena sees them, one module for each protocol: their processes, clocks and faults."""
