"""The compose file and the Kubernetes manifests fit the programs, each other, and the container file."""

import json
import re
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from typer.testing import CliRunner

from academy.cli.app import application
from arena.cli.app import make_application as make_arena
from arena.runner.exit_status import ExitStatus
from docs.generate import metrics
from tests.academy.store.shared_log.nats_servers import BINARY
from tests.deploy.manifests import (
    COMPOSE,
    DEPLOY,
    KUBERNETES,
    Program,
    compose,
    compose_programs,
    kubernetes_programs,
    objects,
    pods,
)
from tests.ports import free_ports
from tests.waiting import until
from web.cli.app import application as web_application

ROOT = DEPLOY.parent
PROGRAMS = [*compose_programs(), *kubernetes_programs()]
NAMED_BY = {"secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}
# What the user and Ray's operator make.
MADE_ELSEWHERE = {"secret tls", "secret nats", "secret cup", "secret games", "secret pages", "configmap cup"}


def ours(program: Program) -> bool:
    return bool(program.command) and Path(program.command[0]).name in ("academy", "arena", "academy-web")


OURS = [program for program in PROGRAMS if ours(program)]


def options(program: Program) -> dict[str, str]:
    split = (word.partition("=") for word in program.command if word.startswith("--"))
    return {name: value for name, _, value in split}


def container_text() -> str:
    return (DEPLOY / "container" / "Containerfile").read_text(encoding="utf-8")


def test_all_programs_are_found() -> None:
    assert [Path(program.command[0]).name for program in OURS] == [
        *("academy", "academy", "academy", "arena", "academy-web"),
        *("academy", "arena", "academy-web", "arena"),
    ]


@pytest.mark.parametrize("program", OURS, ids=lambda program: program.name)
def test_programs_get_options_that_there_are(program: Program) -> None:
    name, *words = program.command
    if name.endswith("academy-web"):
        # It is not a group of commands, so its options are looked up in its help.
        outcome = CliRunner().invoke(web_application, ["--help"], env={"COLUMNS": "200"})
        assert outcome.exit_code == 0
        assert set(options(program)) <= set(re.findall(r"--[a-z-]+", outcome.output))
        return
    known = application if name.endswith("academy") else make_arena()
    # Wrong options are reported before any help.
    outcome = CliRunner().invoke(known, [*words, "--help"])
    assert outcome.exit_code == 0, outcome.output
    outcome = CliRunner().invoke(known, [*words, "--no-such-option", "--help"])
    assert outcome.exit_code == 2


@pytest.mark.parametrize("program", OURS, ids=lambda program: program.name)
def test_programs_find_what_their_arguments_name_where_it_is_mounted(program: Program) -> None:
    for word in program.command[1:]:
        path = word.rpartition("=")[2]
        if path.startswith("/"):
            assert any(path == folder or path.startswith(f"{folder}/") for folder in program.folders), word


@pytest.mark.parametrize("program", OURS, ids=lambda program: program.name)
def test_programs_listen_where_others_reach_them(program: Program) -> None:
    listened = {
        int(value.rpartition(":")[2])
        for name, value in options(program).items()
        if name in ("--address", "--metrics-address")
    }
    # Metrics are scraped inside of the compose file's network.
    assert set(program.ports) <= listened
    assert listened - set(program.ports) <= {9464, 9474}


def test_writable_mounts_belong_to_the_user_of_the_image() -> None:
    made = re.findall(r"install --directory --owner academy --mode 0700 (.*)", container_text())
    writable = {
        volume.split(":")[1]
        for service in compose()["services"].values()
        if service["image"] == "academy"
        for volume in service["volumes"]
        if not volume.endswith(":ro")
    }
    assert writable == set(made[0].split())


def test_the_image_has_what_the_programs_import() -> None:
    (extras,) = re.findall(r"'\.\[(.*)\]'", container_text())
    assert {"arena", "nats", "web"} <= set(extras.split(","))
    (ray,) = re.findall(
        r"'\.\[(.*)\]' '", (DEPLOY / "container" / "ray.Containerfile").read_text(encoding="utf-8")
    )
    assert ray == "ray"


def test_all_nodes_of_a_cluster_and_its_run_have_one_version_of_ray() -> None:
    text = (DEPLOY / "container" / "ray.Containerfile").read_text(encoding="utf-8")
    (cluster,) = (made for made in objects() if made["kind"] == "RayCluster")
    versions = {*re.findall(r"rayproject/ray:([\d.]+)-", text), *re.findall(r"ray\[client\]==([\d.]+)", text)}
    assert versions == {cluster["spec"]["rayVersion"]}
    images = {program.image for program in kubernetes_programs() if "academy-ray" in program.image}
    assert len(images) == 1
    run = next(program for program in PROGRAMS if "run" in program.command)
    assert options(run)["--on"] == f"ray://{cluster['metadata']['name']}-head-svc:10001"


def test_each_server_is_compacted_where_its_processes_are() -> None:
    services = compose()["services"]
    for number in (1, 2, 3):
        made = services[f"compact-{number}"]
        assert made["pid"] == f"service:academy-{number}"
        assert set(made["volumes"]) <= set(services[f"academy-{number}"]["volumes"])
    (servers,) = (
        made for made in objects() if made["kind"] == "StatefulSet" and made["metadata"]["name"] == "academy"
    )
    pods_of_academy = [f"academy-{number}" for number in range(servers["spec"]["replicas"])]
    executed = [program.command for program in kubernetes_programs() if "kubectl:" in program.image]
    assert [command[:3] for command in executed] == [("exec", name, "--") for name in pods_of_academy]
    (role,) = (made for made in objects() if made["kind"] == "Role")
    assert all(rule["resourceNames"] == pods_of_academy for rule in role["rules"])
    in_compose = {tuple(services[f"compact-{number}"]["entrypoint"]) for number in (1, 2, 3)}
    ((_, _, script),) = in_compose
    (words,) = re.findall(r"/opt/academy/bin/(academy .*);", script)
    for command in (words.split(), *(command[3:] for command in executed)):
        assert command[0] == "academy"
        assert CliRunner().invoke(application, [*command[1:], "--help"]).exit_code == 0


def test_volumes_and_networks_of_the_compose_file_are_declared_and_files_are_there() -> None:
    read = compose()
    used = set()
    for service in read["services"].values():
        assert set(service["networks"]) <= set(read["networks"])
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            if not source.startswith("."):
                used.add(source)
            elif source not in ("./tls", "./watch.token"):
                assert (COMPOSE / source).exists(), source
    assert used == set(read["volumes"])
    published = [port for service in read["services"].values() for port in service.get("ports", ())]
    assert len({port.rpartition(":")[0].rpartition(":")[2] for port in published}) == len(published)


def test_only_nats_and_academy_reach_the_log() -> None:
    read = compose()
    on_the_log = {name for name, service in read["services"].items() if "log" in service["networks"]}
    kinds = ("nats", "academy", "compact")
    assert on_the_log == {f"{kind}-{number}" for kind in kinds for number in (1, 2, 3)}
    assert read["networks"]["log"]["internal"]
    assert not any(read["services"][name].get("ports") for name in on_the_log if name.startswith("nats"))
    (policy,) = (made for made in objects() if made["kind"] == "NetworkPolicy")
    clients = [rule for rule in policy["spec"]["ingress"] if {"port": 4222} in rule["ports"]]
    assert [peer["podSelector"]["matchLabels"] for rule in clients for peer in rule["from"]] == [
        {"app": "academy"}
    ]


def test_prometheus_scrapes_the_servers_of_the_compose_file_where_they_have_metrics() -> None:
    read = yaml.safe_load((COMPOSE / "prometheus.yml").read_text(encoding="utf-8"))
    targets = {
        target
        for job in read["scrape_configs"]
        for static in job["static_configs"]
        for target in static["targets"]
    }
    served = {
        f"{program.name}:{options(program)['--metrics-address'].rpartition(':')[2]}"
        for program in compose_programs()
        if "--metrics-address" in options(program)
    }
    assert targets == served
    jobs = {job["job_name"] for job in read["scrape_configs"]}
    alerts = (DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8")
    assert jobs == set(re.findall(r'job="(\w+)"', alerts))


def test_the_dashboard_shows_metrics_that_there_are() -> None:
    dashboard = json.loads((COMPOSE / "grafana" / "dashboards" / "academy.json").read_text(encoding="utf-8"))
    text = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    named = {name.removesuffix("_bucket") for name in re.findall(r"\b(?:academy|arena)_\w+", text)}
    known = set(re.findall(r"^\| `(\w+)`", metrics(), re.MULTILINE))
    assert len(named) > 15
    assert named - known == set()
    sources = {panel["datasource"]["uid"] for panel in dashboard["panels"]}
    provisioned = yaml.safe_load(
        (COMPOSE / "grafana/provisioning/datasources/prometheus.yaml").read_text(encoding="utf-8")
    )
    assert sources == {source["uid"] for source in provisioned["datasources"]}
    providers = yaml.safe_load(
        (COMPOSE / "grafana/provisioning/dashboards/academy.yaml").read_text(encoding="utf-8")
    )
    grafana = next(program for program in compose_programs() if program.name == "grafana")
    assert providers["providers"][0]["options"]["path"] in grafana.folders


def test_pods_mount_volumes_that_they_have_from_what_there_is() -> None:
    names = {f"{made['kind']} {made['metadata']['name']}".lower() for made in objects() if "metadata" in made}
    for made, pod in pods():
        volumes = {volume["name"] for volume in pod.get("volumes", ())}
        volumes |= {claim["metadata"]["name"] for claim in made["spec"].get("volumeClaimTemplates", ())}
        containers = [*pod.get("initContainers", ()), *pod["containers"]]
        mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts", ())}
        assert mounted == volumes, made["metadata"]["name"]
        for volume in pod.get("volumes", ()):
            for kind, field in NAMED_BY.items():
                if kind in volume:
                    assert f"{kind.lower()} {volume[kind][field]}" in names | MADE_ELSEWHERE


def test_secret_files_of_a_volume_stay_their_owners_when_a_pod_is_replaced() -> None:
    # Else Kubernetes lets the group read and write all files at each mount, and no competition goes on.
    contexts = [pod["securityContext"] for _, pod in pods() if "fsGroup" in pod.get("securityContext", {})]
    assert len(contexts) == 5
    assert {context.get("fsGroupChangePolicy") for context in contexts} == {"OnRootMismatch"}


def test_services_and_probes_lead_to_ports_of_their_pods() -> None:
    labelled = {
        made["spec"]["selector"]["matchLabels"]["app"]: pod
        for made, pod in pods()
        if "selector" in made["spec"]
    }
    for made, _ in pods():
        if made["kind"] in ("StatefulSet", "Deployment"):
            assert made["spec"]["template"]["metadata"]["labels"] == made["spec"]["selector"]["matchLabels"]
    services = [made for made in objects() if made["kind"] == "Service"]
    assert {made["metadata"]["name"] for made in services} == set(labelled)
    for made in services:
        (container,) = labelled[made["spec"]["selector"]["app"]]["containers"]
        has = {(port["name"], port["containerPort"]) for port in container["ports"]}
        assert {(port["name"], port["port"]) for port in made["spec"]["ports"]} <= has
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            for kind in ("httpGet", "tcpSocket"):
                if kind in container.get(probe, {}):
                    assert container[probe][kind]["port"] in {name for name, _ in has}


def test_pages_ask_for_servers_by_names_that_there_are() -> None:
    services = {made["metadata"]["name"] for made in objects() if made["kind"] == "Service"}
    read = compose()["services"]
    aliases = {
        alias
        for service in read.values()
        if isinstance(service["networks"], dict)
        for alias in service["networks"]["services"].get("aliases", ())
    }
    for names, programs in ((services, kubernetes_programs()), (set(read) | aliases, compose_programs())):
        ports = {port for program in programs for port in program.ports}
        (web,) = (program for program in programs if program.name == "web")
        for option in ("--academy", "--arena"):
            host, _, port = options(web)[option].partition(":")
            assert host in names and int(port) in ports


def test_each_nats_server_of_a_cluster_knows_the_others() -> None:
    names = {name for name in compose()["services"] if name.startswith("nats")}
    text = (COMPOSE / "nats.conf").read_text(encoding="utf-8")
    assert set(re.findall(r"nats://(nats-\d):6222", text)) == names
    for name in names:
        service = compose()["services"][name]
        assert service["environment"] == {"SERVER_NAME": name}
        assert "./nats.conf:/etc/nats/nats.conf:ro" in service["volumes"]


def nats_environment() -> dict[str, str]:
    """What Kubernetes and Compose give to a NATS server, with a password."""
    (nats,) = (program for _, pod in pods() for program in pod["containers"] if program["name"] == "nats")
    given = {variable["name"]: variable.get("value", "") for variable in nats["env"]}
    password = {"NATS_PASSWORD": "a0"}
    routes = given["NATS_ROUTES"].replace("$(NATS_PASSWORD)", password["NATS_PASSWORD"])
    return given | password | {"POD_NAME": "nats-0", "NATS_ROUTES": routes, "SERVER_NAME": "nats-1"}


def test_nats_takes_its_configurations(tmp_path: Path) -> None:
    (in_kubernetes,) = (made for made in objects() if made["kind"] == "ConfigMap")
    (tmp_path / "kubernetes.conf").write_text(in_kubernetes["data"]["nats.conf"], encoding="utf-8")
    for file in (COMPOSE / "nats.conf", DEPLOY / "nats" / "nats.conf", tmp_path / "kubernetes.conf"):
        assert "sync_interval: always" in file.read_text(encoding="utf-8")
        done = subprocess.run(
            [str(BINARY), "-t", "-c", str(file)],
            env=nats_environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("made_for", ["machines", "kubernetes"])
def test_a_nats_server_without_the_password_does_not_join_the_cluster(tmp_path: Path, made_for: str) -> None:
    client, cluster, http, own_client, own_cluster = map(str, free_ports(5))
    if made_for == "machines":
        text, credentials = (DEPLOY / "nats" / "nats.conf").read_text(encoding="utf-8"), "cluster:CHANGE-ME@"
    else:
        (in_kubernetes,) = (made for made in objects() if made["kind"] == "ConfigMap")
        text, credentials = in_kubernetes["data"]["nats.conf"], "academy:a0@"
    for given, used in (
        ("0.0.0.0:6222", f"127.0.0.1:{cluster}"),
        ("127.0.0.1:8222", f"127.0.0.1:{http}"),
        ("0.0.0.0:8222", f"127.0.0.1:{http}"),
        ("/var/lib/nats", f"{tmp_path}/streams"),
    ):
        text = text.replace(given, used)
    (tmp_path / "nats.conf").write_text(f"listen: 127.0.0.1:{client}\n{text}", encoding="utf-8")
    with ExitStack() as running:

        def start(name: str) -> None:
            log = running.enter_context((tmp_path / f"{name}.log").open("w"))
            command = [str(BINARY), "-c", str(tmp_path / f"{name}.conf")]
            server = subprocess.Popen(command, env=nats_environment(), stdout=log, stderr=log)
            running.callback(server.wait)
            running.callback(server.kill)

        def routes() -> int:
            with suppress(OSError), urlopen(f"http://127.0.0.1:{http}/routez") as answer:
                return int(json.load(answer)["num_routes"])
            return 0

        start("nats")
        for name, known in (("stranger", ""), ("another", credentials)):
            (tmp_path / f"{name}.conf").write_text(
                f"server_name: {name}\nlisten: 127.0.0.1:{own_client}\n"
                f'cluster {{ name: academy, listen: "127.0.0.1:{own_cluster}", '
                f'routes: ["nats://{known}127.0.0.1:{cluster}"] }}\n'
            )
            own_client, own_cluster = map(str, free_ports(2))
            start(name)
            if known:
                until(lambda: routes() > 0)
            else:
                until(lambda: "Authorization Violation" in (tmp_path / "stranger.log").read_text())
                assert routes() == 0


def test_a_run_that_would_end_in_the_same_way_again_is_not_repeated() -> None:
    (job,) = (made for made in objects() if made["kind"] == "Job")
    (rule,) = job["spec"]["podFailurePolicy"]["rules"]
    pod = job["spec"]["template"]["spec"]
    assert rule["action"] == "FailJob" and pod["restartPolicy"] == "Never"
    assert rule["onExitCodes"]["containerName"] in {container["name"] for container in pod["containers"]}
    assert set(rule["onExitCodes"]["values"]) == {2, ExitStatus.HALTED, ExitStatus.WITHOUT_SOME}


def test_all_manifests_are_applied_but_that_of_ray() -> None:
    read = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8"))
    files = {path.name for path in KUBERNETES.iterdir()}
    assert set(read["resources"]) == files - {"kustomization.yaml", "ray.yaml"}
