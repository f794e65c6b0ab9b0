"""Connecting to a Ray cluster: its address, its token, and what went wrong, in a line."""

import contextlib
import logging
import os
import signal
import socket
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from academy.wire.addresses import InvalidAddressError, ServerAddress
from arena.workers._compat import CLIENTS_CALL, HEAD_CALL, runs_node
from arena.workers.interface import WorkersError

LOCAL: Final = "ray"
"""The address of a cluster that is started here and ends with the run."""
_CONNECT_SECONDS: Final = 10.0
# What Ray is to do on the user's terminal, in its reports and its network: nothing, none, and what the user
# has set; and that it copies the whole working folder. It reads these when it is loaded.
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # A call after the run would start another cluster.
    "RAY_ENABLE_AUTO_CONNECT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Notices of nodes that end would be printed among the results.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    # Engines that were built are what Git ignores; others are in virtual environments, which Ray leaves out.
    "RAY_RUNTIME_ENV_IGNORE_GITIGNORE": "1",
    "RAY_OVERRIDE_RUNTIME_ENV_DEFAULT_EXCLUDES": ".git,__pycache__",
    # SIGTERM would be answered with a stack, and a status of 134.
    "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1",
}
# A cluster of one's own is for this machine alone; Ray would put another address in place of the loopback,
# also where a head is called by it, whose nodes have the addresses that they were started with.
_LOCAL_HOSTS: Final = ("127.", "localhost:")
_LOOPBACK: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

_ADDRESSES: Final = (
    "an address is ray, ray://HOST:10001, or HOST:6379 of the cluster that this machine is a node of"
)

_TOKEN: Final = (
    "the cluster asks for a token: set RAY_AUTH_MODE=token here, with the same token in ~/.ray/auth_token"
)
_OTHER_TOKEN: Final = (
    "the cluster has another token than this machine in RAY_AUTH_TOKEN, the file of RAY_AUTH_TOKEN_PATH, "
    "or ~/.ray/auth_token: copy that of the first machine"
)


class RayUnavailableError(WorkersError):
    """Games cannot be played on Ray; the message says why."""


def connect(on: str, runtime_env: dict[str, Any]) -> Any:
    """Ray, connected. Raises RayUnavailableError, and KeyboardInterrupt where SIGTERM comes meanwhile."""
    if on != LOCAL:
        check_listening(on)
    if find_spec("ray") is None:
        raise RayUnavailableError("Ray is not installed: pip install 'academy-arena[ray]'")
    local = on == LOCAL or on.startswith(_LOCAL_HOSTS)
    for name, value in (_QUIET | _LOOPBACK if local else _QUIET).items():
        os.environ.setdefault(name, value)
    import ray

    if on != LOCAL and not on.startswith("ray://") and not runs_node():
        raise RayUnavailableError(
            f"{on}: this machine is not a node of that cluster; `ray start --address {on}` makes it one, "
            "ray://HOST:10001 needs none"
        )
    options: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}
    if runtime_env:
        options["runtime_env"] = runtime_env
    # Without an address Ray would take a cluster that somebody else runs here.
    options["address"] = "local" if on == LOCAL else on
    if on == LOCAL:
        options["include_dashboard"] = False
        options["_node_ip_address"] = "127.0.0.1"
    # Ray takes signals for itself, which are the run's.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with warnings.catch_warnings(action="ignore"):
            ray.init(**options)
        # It logs a warning of its own where the connection is lost.
        logging.getLogger("ray.util.client.logsclient").setLevel(logging.CRITICAL)
    except Exception as error:
        raise RayUnavailableError(f"Ray at {on}: {in_short(error)}") from error
    except SystemExit as error:
        # What Ray makes of SIGTERM while it connects.
        raise KeyboardInterrupt from error
    finally:
        keep_token_private()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return ray


def check_listening(on: str) -> None:
    """Raises RayUnavailableError at once where Ray would try for minutes, as at another server's port."""
    import grpc

    target = on.removeprefix("ray://")
    question, expected = HEAD_CALL, [grpc.StatusCode.OK]
    if target != on:
        question, expected = CLIENTS_CALL, [grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND]
    token = _token()
    answer = grpc.StatusCode.OK
    try:
        address = ServerAddress.parse(target)
        if address.path:
            raise RayUnavailableError(f"{on}: a Ray cluster has no Unix socket; {_ADDRESSES}")
        with socket.create_connection((address.host, address.port), _CONNECT_SECONDS):
            pass
        if os.environ.get("RAY_USE_TLS") == "1":
            return
        # As Ray, which asks no proxy.
        with grpc.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)]) as channel:
            ask: Any = channel.unary_unary(question)
            metadata = [("authorization", f"Bearer {token}")] if token else None
            ask(b"", timeout=_CONNECT_SECONDS, metadata=metadata)
    except grpc.RpcError as error:
        answer = error.code()
    except InvalidAddressError as error:
        raise RayUnavailableError(f"{on}: is not an address of a Ray cluster; {_ADDRESSES}") from error
    except (OSError, UnicodeError) as error:
        raise RayUnavailableError(f"{on}: there is no Ray cluster ({error}); {_ADDRESSES}") from error
    if answer is grpc.StatusCode.UNAUTHENTICATED:
        raise RayUnavailableError(f"{on}: {_OTHER_TOKEN if token else _TOKEN}")
    if answer not in expected:
        raise RayUnavailableError(f"{on}: what listens there is not a Ray cluster of that kind; {_ADDRESSES}")


def _token() -> str:
    """The token that Ray sends to a cluster; empty where it sends none."""
    if os.environ.get("RAY_AUTH_MODE") != "token":
        return ""
    if token := os.environ.get("RAY_AUTH_TOKEN"):
        return token.strip()
    with contextlib.suppress(OSError):
        return _token_file().read_text().strip()
    return ""


def _token_file() -> Path:
    return Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()


def keep_token_private() -> None:
    """Let nobody else read the token that Ray made: who has it runs any program on the cluster."""
    with contextlib.suppress(OSError):
        file = _token_file()
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def in_short(error: Exception) -> str:
    """The line of an error of Ray's that says what is wrong: the last one of a traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    traced = any(line.startswith('File "') for line in lines)
    return (lines[-1] if traced else lines[0]) if lines else type(error).__name__
