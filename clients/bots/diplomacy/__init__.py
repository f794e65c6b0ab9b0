"""Bots that play Diplomacy without press, and the doors through which they come to a game."""
