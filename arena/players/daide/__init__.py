"""Players of Diplomacy that dial in over TCP and speak DAIDE.

The door stands in the process of the competition: it lets clients in, agrees on the map with them, and
passes their connections to the games that want them. A game conducts its clients in the process that plays
it, without a thread: what they send is read while somebody is waited for.
"""
