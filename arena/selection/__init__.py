"""Who plays next."""
