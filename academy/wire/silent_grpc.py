"""gRPC loaded so that it writes nothing to standard error: our programs report failures in their own words.

A stranger's failed TLS handshakes are a line each there, without any limit and not of a log's form.

It reads its environment when it is first imported, so this must come before all that uses it. Programs that
are started do not inherit the setting. One that is set already counts.
"""

import os

if "GRPC_VERBOSITY" not in os.environ:
    os.environ["GRPC_VERBOSITY"] = "NONE"
    import grpc  # noqa: F401 - for what it does when it is loaded

    del os.environ["GRPC_VERBOSITY"]
