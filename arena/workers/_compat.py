"""A private part of Ray that has no public counterpart.

Ray 2.60.0: `find_node_ids` looks for the processes of nodes on this machine. Ray itself, which connects to a
cluster through one of them, calls it for a minute. `tests/arena/workers/test_ray_workers.py` fails where that
changes.
"""

from importlib import import_module


def runs_node() -> bool:
    """Whether Ray finds a node of a cluster on this machine; also where it has another way to look."""
    find = getattr(import_module("ray._private.services"), "find_node_ids", None)
    return find is None or bool(find())
