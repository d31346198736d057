"""Harbor in an environment of its own: it needs Python 3.12 and libraries that are not ours.

Its requirements are installed by name and Harbor itself without them, because it asks for the newest certifi of the day
that it was released on, which not every mirror has. Containers are those of podman, with podman-compose from PyPI, or
of Docker with compose 2, whichever there is; `M3BENCH_HARBOR_BASE` names the image that m3bench's own was built from.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HARBOR = "harbor==0.25.0"
REQUIREMENTS = (
    "pydantic>=2.12.0", "shortuuid", "typer>=0.16.0", "requests", "pyyaml", "rich", "toml", "tenacity", "python-dotenv",
    "litellm>=1.92.0", "jinja2", "dirhash", "packaging", "semver", "fastapi>=0.128.0", "uvicorn", "pathspec",
    "supabase", "httpx", "filelock", "platformdirs", "pyjwt", "jsonschema", "certifi", "podman-compose==1.6.0",
)  # fmt: skip
INSTALL_SECONDS = 1800
RUN_SECONDS = 3600
PATIENCE = 4
"""How many times longer than a task says containers may take to start: this is about rewards, not about the machine."""
BASE = os.environ.get("M3BENCH_HARBOR_BASE", "m3bench-base:bookworm")


class Missing(Exception):
    """What is needed is not here; the text says what."""


def environment() -> Path:
    """The folder of programs of Harbor's environment, which is made unless it is there.

    Raises:
        Missing: There is no Python 3.12, or the packages cannot be had.
    """
    folder = Path(sys.prefix) / "harbor"
    programs, stamp = folder / "bin", folder / ".installed"
    if not stamp.exists():
        python = os.environ.get("M3BENCH_PYTHON312") or shutil.which("python3.12") or shutil.which("python3.13")
        if python is None:
            raise Missing("Harbor needs Python 3.12 or newer: M3BENCH_PYTHON312 names one")
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        for packages in (REQUIREMENTS, ("--no-deps", HARBOR)):
            _install(programs / "python", packages)
        stamp.touch()
    return programs


def engine() -> str:
    """The engine that runs containers, with m3bench's image in it: `podman` or `docker`.

    Raises:
        Missing: There is none.
    """
    for name in ("podman", "docker"):
        if shutil.which(name) and _works(name, "info") and _works(name, "image", "inspect", BASE):
            return name
    raise Missing(f"neither podman nor Docker answers and has the image {BASE}")


def build(engine: str, dataset: Path, image: str) -> None:
    """Build the image of a dataset."""
    subprocess.run([engine, "build", "-q", "-t", image, str(dataset / "image")], check=True, timeout=RUN_SECONDS)


def run(engine: str, tasks: Path, jobs: Path, *options: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Have Harbor play tasks; the result of each trial by its task."""
    programs = environment()
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "LITELLM_LOCAL_MODEL_COST_MAP": "True", **(env or {})}
    command = [str(programs / "harbor"), "run", "-p", str(tasks), "-e", engine, "-n", "1", "--jobs-dir", str(jobs)]
    for phase in ("environment-build", "agent-setup", "verifier"):
        command += [f"--{phase}-timeout-multiplier", str(PATIENCE)]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=RUN_SECONDS, check=False, env=variables
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = [json.loads(path.read_bytes()) for path in jobs.glob("*/*/result.json")]
    return {one["task_name"]: one for one in found}


def _install(python: Path, packages: tuple[str, ...]) -> None:
    install = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", *packages]
    done = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        raise Missing(f"Harbor could not be installed: {done.stderr.strip().rpartition(chr(10))[2]}")


def _works(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
