"""Diplomacy over DAIDE: tokens, frames, the grammar of messages, and the table that a server conducts.

Nothing here opens a connection or looks at a clock.
"""
