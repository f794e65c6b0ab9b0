"""What the programs on both sides of a socket need: messages that both write, and how calls are ended."""
