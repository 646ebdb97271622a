"""What is in `deploy/` agrees with the engine it deploys and with itself; no tool is needed to see that."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from aster.engine_core.engine import Engine
from aster.infra.settings import Settings, load, variable
from aster.server.app import create_app
from aster.server.guard import OPEN_PATHS
from tests.deploy.reading import (
    DEPLOY,
    ENGINES,
    MANIFESTS,
    demanded,
    dockerfile,
    document,
    engine_container,
    filled,
    image_environment,
    manifest,
    seconds,
)

VAULT_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
GIVEN = {"POSTGRES_PASSWORD": "5ecret", "ENGINE_API_KEY": "k", "AD_ENCRYPTION_KEY": VAULT_KEY}
VARIABLES = {variable(name) for name in Settings.model_fields}


def compose_environment(service: str) -> dict[str, str]:
    given: dict[str, str] = document("compose.yaml")["services"][service]["environment"]
    return {**image_environment(), **{name: filled(value, GIVEN) for name, value in given.items()}}


def kubernetes_environment() -> dict[str, str]:
    secret: dict[str, str] = manifest("Secret")["stringData"]
    values = {name: GIVEN.get(name, value) for name, value in secret.items()}
    return {**image_environment(), **manifest("ConfigMap")["data"], **values}


def environments() -> Iterator[tuple[str, dict[str, str]]]:
    yield from ((name, compose_environment(name)) for name in ENGINES)
    yield "kubernetes", kubernetes_environment()


@pytest.mark.parametrize(("where", "environ"), list(environments()))
def test_an_engine_understands_all_it_is_given(where: str, environ: dict[str, str]) -> None:
    about_the_process = {"PATH", "PYTHONUNBUFFERED"}
    assert set(environ) - about_the_process <= VARIABLES
    settings = load(environ, None)
    assert settings.host == "0.0.0.0"
    assert isinstance(settings.database_url, SecretStr)
    assert settings.database_url.get_secret_value().startswith("postgresql://aster:")
    assert settings.ad_encryption_key is not None, "each replica would make a key of its own"
    assert settings.engine_api_key is not None, "an engine that others reach needs a key"
    assert settings.data_dir == Path("/data")


def test_the_port_is_one_and_the_same_everywhere() -> None:
    port = image_environment()["PORT"]
    assert dockerfile("EXPOSE") == [port]
    assert f":{port}/health" in dockerfile("HEALTHCHECK")[0]
    assert manifest("ConfigMap")["data"]["PORT"] == port
    (published,) = engine_container()["ports"]
    assert str(published["containerPort"]) == port
    (served,) = manifest("Service")["spec"]["ports"]
    assert served["targetPort"] == published["name"]
    (rule,) = manifest("Ingress")["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert (backend["name"], backend["port"]["name"]) == (manifest("Service")["metadata"]["name"], served["name"])
    upstreams = [f"{name}:{port}" for name in ENGINES]
    assert document("compose.yaml")["services"]["balancer"]["environment"]["ASTER_REPLICAS"].split() == upstreams
    assert f"{{$ASTER_REPLICAS:{' '.join(upstreams)}}}" in (DEPLOY / "Caddyfile").read_text()


def test_what_is_probed_is_a_route_that_needs_no_key(tmp_path: Path) -> None:
    settings = Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite", "llm_provider": "demo"})
    routes = create_app(Engine(settings)).openapi()["paths"]
    container = engine_container()
    probed = {container[name]["httpGet"]["path"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    asked = [line.split()[1] for line in (DEPLOY / "Caddyfile").read_text().splitlines() if "health_uri" in line]
    assert probed == set(asked) == {"/health"}
    assert "get" in routes["/health"]
    assert "/health" in OPEN_PATHS


def test_there_is_time_to_hand_turns_over() -> None:
    drain = float(manifest("ConfigMap")["data"]["DRAIN_SECONDS"])
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    container = engine_container()
    assert (
        pod["terminationGracePeriodSeconds"] >= container["lifecycle"]["preStop"]["sleep"]["seconds"] + drain + 10
    )
    alive = container["livenessProbe"]
    assert alive["periodSeconds"] * alive["failureThreshold"] > 2 * drain, "a drain would be taken for a hang"
    ready = container["readinessProbe"]
    assert (
        ready["periodSeconds"] * ready["failureThreshold"] <= container["lifecycle"]["preStop"]["sleep"]["seconds"]
    )
    for name in ENGINES:
        service = document("compose.yaml")["services"][name]
        assert seconds(service["stop_grace_period"]) >= float(service["environment"]["DRAIN_SECONDS"]) + 10


def test_an_engine_has_no_privileges() -> None:
    uid = dockerfile("USER")[0].split(":")[0]
    assert int(uid) > 0
    pod = manifest("Deployment")["spec"]["template"]["spec"]["securityContext"]
    assert (str(pod["runAsUser"]), str(pod["fsGroup"]), pod["runAsNonRoot"]) == (uid, uid, True)
    inside = engine_container()["securityContext"]
    assert inside["capabilities"]["drop"] == ["ALL"]
    assert not inside["allowPrivilegeEscalation"]
    assert inside["readOnlyRootFilesystem"]
    for name in ENGINES:
        service = document("compose.yaml")["services"][name]
        assert service["cap_drop"] == ["ALL"]
        assert service["read_only"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert "ports" not in service, "only the balancer is reached from outside"
    assert "NOSUPERUSER NOBYPASSRLS" in (DEPLOY / "postgres" / "role.sh").read_text()


def test_files_are_shared_and_all_else_is_read_only() -> None:
    assert manifest("PersistentVolumeClaim")["spec"]["accessModes"] == ["ReadWriteMany"]
    mounts = {mount["mountPath"]: mount["name"] for mount in engine_container()["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in manifest("Deployment")["spec"]["template"]["spec"]["volumes"]}
    claim = manifest("PersistentVolumeClaim")["metadata"]["name"]
    assert volumes[mounts["/data"]]["persistentVolumeClaim"]["claimName"] == claim
    assert "emptyDir" in volumes[mounts["/tmp"]]
    services = document("compose.yaml")["services"]
    assert {tuple(services[name]["volumes"]) for name in ENGINES} == {("data:/data",)}


def test_secrets_are_in_no_file() -> None:
    secrets = {
        variable(name) for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)
    }
    assert not secrets & set(manifest("ConfigMap")["data"])
    for value in manifest("Secret")["stringData"].values():
        assert "CHANGE-ME" in value
    given: dict[str, str] = document("compose.yaml")["services"][ENGINES[0]]["environment"]
    for name in secrets & set(given):
        assert "${" in given[name], f"{name} is written down"
    needed = {name for value in given.values() for name in demanded(value)}
    assert needed == set(GIVEN)
    example = (DEPLOY / "env.example").read_text().splitlines()
    assert {line.removesuffix("=") for line in example if line and line[0] != "#"} >= needed
    assert all(line.endswith("=") for line in example if line and line[0] != "#")


def test_every_manifest_is_applied_but_the_example_of_a_secret() -> None:
    listed = set(document("kubernetes/kustomization.yaml")["resources"])
    assert listed == {path.name for path in MANIFESTS} - {"secret.example.yaml"}


def test_the_autoscaler_and_the_budget_mean_the_engine() -> None:
    name = manifest("Deployment")["metadata"]["name"]
    assert manifest("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == name
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    for selector in (
        manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        manifest("Service")["spec"]["selector"],
        manifest("Deployment")["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels.items()


def test_the_image_has_what_a_replica_needs() -> None:
    locked = {
        line.split("==")[0] for line in (DEPLOY.parent / "requirements-postgres.lock").read_text().splitlines()
    }
    assert {"psycopg", "dbos"} <= locked
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    for name in ("requirements-postgres.lock", "pyproject.toml", "README.md", "LICENSE", "src"):
        assert f"!{name}" in kept
    assert json.loads(dockerfile("ENTRYPOINT")[0]) == ["aster"]
    assert json.loads(dockerfile("CMD")[0]) == engine_container()["args"] == ["serve"]


def test_namespaces_are_opened_for_engines_alone() -> None:
    opened = document("compose.namespaces.yaml")["services"]
    assert set(opened) == set(ENGINES)
    for name in ENGINES:
        assert load({**compose_environment(name), **opened[name]["environment"]}, None).sandbox == "bubblewrap"
        assert "seccomp:unconfined" in opened[name]["security_opt"]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_a_manifest_names_no_namespace_of_its_own(path: Path) -> None:
    for resource in yaml.safe_load_all(path.read_text()):
        assert "namespace" not in resource["metadata"], "the kustomization says where it all goes"
