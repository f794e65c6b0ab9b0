"""Pages for the browser: what ACADEMY knows of every game, asked over gRPC alone."""
