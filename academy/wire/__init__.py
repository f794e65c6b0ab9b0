"""What programs with a socket need: messages that both sides write, and how servers bear their callers."""
