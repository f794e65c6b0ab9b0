"""gRPC loaded so that it writes nothing to standard error: the arena reports failures in its own words.

It reads its environment when it is first imported, so this must come before all that uses it. Programs that
the arena starts do not inherit the setting.
"""

import os

if "GRPC_VERBOSITY" not in os.environ:
    os.environ["GRPC_VERBOSITY"] = "NONE"
    import grpc  # noqa: F401 - for what it does when it is loaded

    del os.environ["GRPC_VERBOSITY"]
