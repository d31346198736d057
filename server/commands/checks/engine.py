"""Looks at the Docker engine: whether it answers, has our image, holds containers to their limits, has room and no
leftovers. A container is really started and really tries to break out; its word counts, not the configuration's.
"""

import secrets
import time
from pathlib import Path

from m3bench.sandboxes.backends.docker.container_limits import ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine, EngineFacts, survey
from m3bench.sandboxes.backends.docker.leases import HELD, holdings, marks, new_name
from m3bench.server.commands.checks.diagnostics import Diagnostic, State
from m3bench.server.commands.checks.machine import room
from m3bench.server.settings import Settings
from m3bench.tasks.errors import SandboxError

TRIAL_SECONDS = 60

_LIMITS = ContainerLimits(memory=96 * 1024**2, processes=16)

_TRIAL = """
import os, threading, time
def told(escape):
    print(escape, flush=True)
try:
    open("/escape", "w")
    told("writing")
except OSError:
    pass
if set(os.listdir("/sys/class/net")) - {"lo"}:
    told("network")
if os.getuid() == 0 or "CapEff:\\t0000000000000000" not in open("/proc/self/status").read():
    told("privileges")
try:
    for _ in range(64):
        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
    told("processes")
except RuntimeError:
    pass
print("memory next", flush=True)
block = bytearray(b"x") * (512 * 1024**2)
told("memory")
os._exit(0)
"""
"""Prints what it could do and should not; is killed at its last attempt when all is well."""


def check_engine(settings: Settings) -> list[Diagnostic]:
    """Everything about the engine, or about each of several."""
    return [finding for place in settings.docker_host or (None,) for finding in _check(DockerEngine(place))]


def _check(engine: DockerEngine) -> list[Diagnostic]:
    """Everything about an engine; only that it does not answer, when it does not."""
    try:
        version = engine.answer(lambda client: client.version())
    except SandboxError as error:
        return [_diagnostic("docker engine", "wrong", str(error))]
    try:
        says = f"Version {version['Version']} ({version['Arch']}) answers at {engine.address}."
        return [_diagnostic("docker engine", "ok", says), *_look(engine)]
    finally:
        engine.close()


def _look(engine: DockerEngine) -> list[Diagnostic]:
    found = [*_disk(engine), _leftovers(engine)]
    try:
        facts = engine.answer(survey)
    except SandboxError as error:
        return [_diagnostic("sandbox image", "wrong", str(error)), *found]
    return [_diagnostic("sandbox image", "ok", "Present, and of this version."), _limits(engine, facts), *found]


def _limits(engine: DockerEngine, facts: EngineFacts) -> Diagnostic:
    try:
        escapes = engine.answer(lambda client: _try(client, facts))
    except SandboxError as error:
        return _diagnostic("limits", "wrong", str(error))
    if escapes:
        says = f"A container could still do this: {', '.join(escapes)}. Use another engine, or a newer kernel."
        return _diagnostic("limits", "wrong", says)
    if not facts.cpu_quota:
        return _diagnostic("limits", "note", "All hold but CPU time, which this engine's kernel does not limit.")
    return _diagnostic("limits", "ok", "A container that tried to break out was held back.")


def _try(client: Client, facts: EngineFacts) -> list[str]:
    """What a container could do that it should not."""
    config = {
        "Image": facts.image,
        "Entrypoint": ["python3", "-I", "-c", _TRIAL],
        "Cmd": [],
        "Labels": marks(f"doctor-{secrets.token_hex(4)}"),
        "HostConfig": {
            **host_config(_LIMITS, cpu_quota=facts.cpu_quota), "AutoRemove": False,
            "LogConfig": {"Type": "json-file"},
        },
    }  # fmt: skip
    name = new_name()
    try:
        client.create_container_from_config(config, name)
        client.start(name)
        code = client.wait(name, timeout=TRIAL_SECONDS)["StatusCode"]
        said: list[str] = client.logs(name).decode(errors="replace").split("\n")
    finally:
        client.remove_container(name, force=True, v=True)
        HELD.discard(name)
    if "memory next" not in said:
        raise SandboxError(f"A container ended early ({code}): {' '.join(said).strip()[-300:]}. Rebuild the image.")
    return [line for line in said if line and line != "memory next" and not line.startswith("Traceback")]


def _disk(engine: DockerEngine) -> list[Diagnostic]:
    """The engine's disk, where it is one of ours."""
    root = Path(str(engine.answer(lambda client: client.info()).get("DockerRootDir") or "/nowhere"))
    if not engine.address.startswith(("unix:", "npipe:")) or not root.is_dir():
        return []
    return [room("engine's disk", root, "docker system df shows what is on it, docker system prune makes room.")]


def _leftovers(engine: DockerEngine) -> Diagnostic:
    now = time.time()
    known = engine.answer(holdings)
    found = [(holding, reason) for holding in known if (reason := holding.leftover(now)) is not None]
    if not found:
        return _diagnostic("leases", "ok", "Nothing is left of runs that are over.")
    said = ", ".join(f"{holding.kind} {holding.name}: {reason}" for holding, reason in found[:3])
    return _diagnostic("leases", "note", f"{len(found)} left over ({said}): run m3bench sandboxes reap.")


def _diagnostic(subject: str, state: State, says: str) -> Diagnostic:
    return Diagnostic(subject=subject, state=state, says=says, need="docker")
