"""Diplomacy's players that dial in over TCP and speak DAIDE: a plug-in of the arena (`arena.protocols`).

The listener runs in the process of the competition: it lets clients in, agrees on the map with them, and
passes their connections to the games that want them. A game conducts its clients in the process that plays
it, without a thread: it reads what they send while it waits for one of them.
"""
