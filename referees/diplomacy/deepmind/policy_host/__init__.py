"""The program that runs a policy; a folder of its own, so that nothing else of ours is on its path."""
