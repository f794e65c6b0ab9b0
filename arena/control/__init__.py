"""Control files: what a competition is to do, written down by people."""
