"""The messages that both sides of the socket write."""
