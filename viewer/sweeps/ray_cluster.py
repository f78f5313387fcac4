"""Connects to a Ray cluster at an address; without an address, a cluster is started on this machine."""

import contextlib
import logging
import os
import signal
import socket
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import SceneError
from ..processes import capture_stderr, import_extra
from .plan import SweepError

_STARTS = 3
"""Number of attempts to start a cluster on this machine."""
_REACH_SECONDS = 5.0
"""Longest wait for a cluster to answer [s]."""
_QUESTIONS = ("/ray.rpc.NodeInfoGcsService/GetClusterId", "/ray.rpc.RayletDriver/ClusterInfo")
"""Methods that are called on a cluster, and through its client server, to see whether it requires a token."""
_REFUSED = "InvalidAuthToken"
"""Answer of a cluster to a missing or wrong token."""
_TOKEN_HINT = "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
_ENVIRONMENT = {
    # Nothing is reported to anyone; a cluster of this machine is reached from this machine alone.
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


@contextlib.contextmanager
def connected(address: str, cores: int) -> Iterator[Any]:
    """Connect Ray to a cluster for the length of a block. `address`: as Ray takes it; if empty, RAY_ADDRESS, or else
    a cluster of this machine with `cores` cores."""
    wanted = address or os.environ.get("RAY_ADDRESS", "")
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    is_here = wanted in ("", "local")
    if not is_here:
        # Before Ray is imported: it reads its settings then.
        _reach(wanted)
    ray = import_extra("ray", "ray", "--ray needs", SweepError)
    if ray.is_initialized():
        # A program's own connection stays.
        yield ray
        return
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    said: list[str] = []
    try:
        with warnings.catch_warnings(), _own_termination():
            warnings.simplefilter("ignore")
            if is_here:
                _start_here(ray, cores, quiet)
            else:
                with capture_stderr() as said:
                    ray.init(address=wanted, **quiet)
        yield ray
    except (ConnectionError, ValueError, RuntimeError) as error:
        if isinstance(error, SceneError) or ray.is_initialized():
            raise
        if any(_REFUSED in line for line in said):
            raise SweepError(f"--ray {wanted}: the cluster refuses our token: {_TOKEN_HINT}") from None
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SweepError(f"--ray {wanted}: no cluster answers ({reason})".replace("  ", " ")) from None
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _own_termination() -> Iterator[None]:
    """Restore this program's own handler of SIGTERM after Ray has connected, so that finished runs are kept."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _start_here(ray: Any, cores: int, quiet: Mapping[str, Any]) -> None:
    for attempt in range(_STARTS):
        try:
            ray.init(address="local", num_cpus=cores, include_dashboard=False, _node_ip_address="127.0.0.1", **quiet)
        except Exception:
            # On a busy machine parts of it may be too late for each other.
            ray.shutdown()
            if attempt == _STARTS - 1:
                raise
            time.sleep(1.0)
        else:
            return


def _reach(address: str) -> None:
    """Raise SweepError soon if nothing listens at an address or a token is missing: Ray itself retries for minutes."""
    host, _, port = address.removeprefix("ray://").partition("/")[0].rpartition(":")
    if address == "auto":
        return
    if not host or not port.isdigit():
        raise SweepError(f"--ray {address}: is not an address such as 10.0.0.1:6379, ray://10.0.0.1:10001 or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACH_SECONDS).close()
    except OSError as error:
        raise SweepError(f"--ray {address}: no cluster answers ({error.strerror or error})") from None
    target = f"{host}:{port}"
    if not _refuses(target, None):
        return
    token = _token()
    if not token or os.environ.get("RAY_AUTH_MODE", "token") != "token" or _refuses(target, token):
        raise SweepError(
            f"--ray {address}: the cluster {'refuses our' if token else 'asks for a'} token: {_TOKEN_HINT}"
        )
    # A token that is only in a file is not used otherwise.
    os.environ["RAY_AUTH_MODE"] = "token"


def _refuses(target: str, token: str | None) -> bool:
    """Return True if a cluster refuses a token, or if `token` is None, a connection without a token."""
    try:
        import grpc
    except ImportError:
        return False
    metadata = () if token is None else (("authorization", f"Bearer {token}"),)
    with grpc.insecure_channel(target) as channel:
        for question in _QUESTIONS:
            try:
                channel.unary_unary(question)(b"", timeout=_REACH_SECONDS, metadata=metadata)
            except grpc.RpcError as error:
                if error.code() is grpc.StatusCode.UNAUTHENTICATED:
                    return True
                if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                    # It answers otherwise, as with TLS: what is wrong, if anything, Ray will say.
                    return False
            else:
                return False
    return False


def _token() -> str:
    """Return the token that Ray would use; empty for none."""
    if token := os.environ.get("RAY_AUTH_TOKEN", "").strip():
        return token
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
