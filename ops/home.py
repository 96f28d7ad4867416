"""The folder of a local stack: what runs, its secrets, its ports, its processes."""

import http.client
import json
import os
import secrets
import xmlrpc.client
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from engine.settings import Settings
from ops.ports import free_port

MARK = "PENTIMENTO_STACK"  # in the environment of every process of a stack: the stack's folder
RPC_SECONDS = 5.0


@dataclass(frozen=True)
class Stack:
    """Addresses and credentials of a running stack, as `run/stack.json` keeps them."""

    api_url: str
    neo4j_uri: str
    neo4j_user: str
    neo4j_password: str
    browser_url: str | None
    redis_url: str
    supervisor_url: str
    api_key: str | None = None
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Environment variables that connect a process to this stack."""
        return {
            **self.settings,
            "PENTIMENTO_NEO4J_URI": self.neo4j_uri,
            "PENTIMENTO_NEO4J_USER": self.neo4j_user,
            "PENTIMENTO_NEO4J_PASSWORD": self.neo4j_password,
            "PENTIMENTO_REDIS_URL": self.redis_url,
            "PENTIMENTO_API_PORT": self.api_url.rpartition(":")[2],
        }

    def settings_for(self, settings: Settings) -> Settings:
        """These settings, as a process of this stack would have them."""
        own = {
            name.removeprefix("PENTIMENTO_").lower(): value
            for name, value in self.environment().items()
        }
        return settings.model_validate({**settings.model_dump(), **own})


class TransportWithTimeout(xmlrpc.client.Transport):
    """Gives up on a supervisord that hangs."""

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = RPC_SECONDS
        return connection


class Home:
    """The folder of one stack: `.pentimento`, unless PENTIMENTO_HOME names another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.run = self.folder / "run"
        self.logs = self.folder / "logs"
        self.data = self.folder / "data"
        self.password_is_set = self.data / "neo4j" / "password-is-set"

    def running(self) -> Stack | None:
        """The stack that runs here, or None: asks its supervisord."""
        stack = self.last_started()
        if stack is None:
            return None
        try:
            self.supervisor(stack).getPID()
        except (OSError, xmlrpc.client.Error):
            return None
        return stack

    def last_started(self) -> Stack | None:
        """The stack that was started last and not stopped; it may have died since."""
        try:
            return Stack(**json.loads((self.run / "stack.json").read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def save(self, stack: Stack) -> None:
        write_private(self.run / "stack.json", json.dumps(asdict(stack), indent=2))

    def supervisor(self, stack: Stack) -> Any:
        return xmlrpc.client.ServerProxy(
            stack.supervisor_url, transport=TransportWithTimeout()
        ).supervisor

    def processes(self, stack: Stack) -> list[dict[str, Any]]:
        """Name, state, process id, age and log of each process, from supervisord."""
        return [
            {
                "name": info["name"],
                "state": info["statename"].lower(),
                "pid": info["pid"] or None,
                "up_seconds": max(0, info["now"] - info["start"]) if info["pid"] else 0,
                "log": str(self.log(info["name"])),
            }
            for info in self.supervisor(stack).getAllProcessInfo()
        ]

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def pid(self, stack: Stack, name: str) -> int | None:
        """The id of a running process of the stack."""
        pids = {process["name"]: process["pid"] for process in self.processes(stack)}
        return pids.get(name)

    def secrets(self) -> dict[str, str]:
        file = self.folder / "secrets.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def keep_secret(self, name: str, value: str) -> str:
        """Store a secret of this stack in a file that only its owner can read."""
        stored = {**self.secrets(), name: value}
        write_private(self.folder / "secrets.json", json.dumps(stored, indent=2))
        return value

    def secret(self, name: str) -> str:
        """A secret of this stack; the first call generates it."""
        return self.secrets().get(name) or self.keep_secret(name, secrets.token_urlsafe(24))

    def port(self, name: str, preferred: int) -> int:
        """The port this stack used before, else the preferred one; another if that is taken."""
        file = self.folder / "ports.json"
        ports: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
        ports[name] = free_port(ports.get(name, preferred), owner=str(self.folder))
        file.write_text(json.dumps(ports, indent=2))
        return ports[name]

    def members(self) -> list[psutil.Process]:
        """Every process of this stack, also those whose parent died."""
        members = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if self.owns(process):
                    members.append(process)
        return members

    def owns(self, process: psutil.Process) -> bool:
        if process.name().startswith("redis-server"):
            # It overwrites its environment with its title, but its working folder is its data.
            return process.cwd() == str(self.data / "redis")
        return process.environ().get(MARK) == str(self.folder)


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read; a reader never sees half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
    part.rename(file)
