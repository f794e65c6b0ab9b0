"""Starter bots for WarLight: `simple` to copy, `decent` to beat."""
