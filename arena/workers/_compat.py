"""Private parts of Ray that have no public counterpart.

Ray 2.60.0: `find_node_ids` looks for the processes of nodes on this machine. Ray itself, which connects to a
cluster through one of them, calls it for a minute. The two calls tell a cluster from other servers at once,
where Ray would try for minutes. `tests/arena/workers/test_ray_workers.py` fails where that changes.
"""

from importlib import import_module
from typing import Final

# The head knows this one.
HEAD_CALL: Final = "/ray.rpc.NodeInfoGcsService/GetClusterId"
# The head's server for clients from outside (`ray://`) knows this one, and cannot read an empty request.
CLIENTS_CALL: Final = "/ray.rpc.RayletDriver/ClusterInfo"


def runs_node() -> bool:
    """Whether Ray finds a node of a cluster on this machine; also where it has another way to look."""
    find = getattr(import_module("ray._private.services"), "find_node_ids", None)
    return find is None or bool(find())
