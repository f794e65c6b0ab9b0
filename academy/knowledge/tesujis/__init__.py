"""Tesujis: what strong players move into, and how it is learnt, drawn and kept."""
