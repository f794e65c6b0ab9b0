"""The lobby: where players dial in over gRPC, and from where games take them."""
