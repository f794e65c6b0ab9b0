"""Generated code of the protocol between games and the lobby."""
