"""The programs that the compose file and the Kubernetes manifests start, with their ports and mounts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
COMPOSE: Final = DEPLOY / "compose"
KUBERNETES: Final = DEPLOY / "kubernetes"


@dataclass(frozen=True, slots=True)
class Program:
    """A container: what it is, the program and its arguments, where it has something, and its ports."""

    name: str
    image: str
    command: tuple[str, ...]
    folders: tuple[str, ...]
    ports: tuple[int, ...]


@cache
def compose() -> dict[str, Any]:
    """Read the compose file, once for all who only look at it."""
    read: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text(encoding="utf-8"))
    return read


def compose_programs() -> list[Program]:
    """List the services of the compose file. Ports are those inside of the container."""
    return [
        Program(
            name,
            service["image"],
            (*_entry(service.get("entrypoint"), service["image"]), *service.get("command", ())),
            tuple(volume.split(":")[1] for volume in service["volumes"]),
            tuple(int(port.rpartition(":")[2]) for port in service.get("ports", ())),
        )
        for name, service in compose()["services"].items()
    ]


@cache
def objects() -> list[dict[str, Any]]:
    """Read all objects of the Kubernetes manifests, once for all who only look at them."""
    return [
        read
        for path in sorted(KUBERNETES.glob("*.yaml"))
        for read in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]


def pods() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """List the pods that objects make: the object and the pod's specification."""
    for made in objects():
        if made["kind"] == "RayCluster":
            for group in (made["spec"]["headGroupSpec"], *made["spec"]["workerGroupSpecs"]):
                yield made, group["template"]["spec"]
        elif made["kind"] == "CronJob":
            yield made, made["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        elif "template" in made.get("spec", {}):
            yield made, made["spec"]["template"]["spec"]


def kubernetes_programs() -> list[Program]:
    """List the containers of all pods."""
    return [
        Program(
            container["name"],
            container["image"],
            (*_entry(container.get("command"), container["image"]), *container.get("args", ())),
            tuple(mount["mountPath"] for mount in container.get("volumeMounts", ())),
            tuple(port["containerPort"] for port in container.get("ports", ())),
        )
        for _, pod in pods()
        for container in (*pod.get("initContainers", ()), *pod["containers"])
    ]


def _entry(given: list[str] | None, image: str) -> tuple[str, ...]:
    """What an image starts by itself: ours has `academy`."""
    return tuple(given or (("/opt/academy/bin/academy",) if image == "academy" else ()))
