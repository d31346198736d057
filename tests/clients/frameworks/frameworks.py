"""The frameworks for agents that play, at pinned versions, each in an environment of its own.

The players are in `players/`, as few lines as a framework's own documentation would use. Their packages are not ours:
`environment` installs them from PyPI on the first use.
"""

import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
INSTALL_SECONDS = 1800


@dataclass(frozen=True, kw_only=True)
class Framework:
    """A framework at a version."""

    player: str
    """The module in `players/`."""
    packages: tuple[str, ...]
    """What to install; nothing for a framework that m3bench itself needs."""
    session_per_call: bool = False
    """Whether it opens a session, or starts a process, for every call: it is given a seat with a handle."""


FRAMEWORKS = {
    "openai-agents": Framework(player="openai_agents", packages=("openai-agents==0.24.0",)),
    "pydantic-ai": Framework(player="pydantic_ai", packages=("pydantic-ai-slim[openai,mcp]==2.66.0",)),
    "langgraph": Framework(
        player="langgraph",
        packages=("langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"),
    ),
    "google-adk": Framework(player="google_adk", packages=("google-adk[mcp]==2.13.0",)),
    "strands": Framework(player="strands", packages=("strands-agents[openai]==1.62.0",)),
    "autogen": Framework(
        player="autogen",
        packages=("autogen-agentchat==0.7.5", "autogen-ext[openai,mcp]==0.7.5", "mcp==1.30.0"),
    ),
    "crewai": Framework(player="crewai", packages=("crewai==1.15.30", "crewai-tools[mcp]==1.15.30")),
    "mcp-use": Framework(player="mcp_use", packages=("mcp-use==1.7.1", "langchain-openai==1.7.3")),
    "smolagents": Framework(player="smolagents", packages=("smolagents[mcp,openai]==1.26.0", "mcp==1.30.0")),
    "llama-index": Framework(
        player="llama_index",
        packages=(
            "llama-index-tools-mcp==0.6.0",
            "llama-index-core==0.14.25",
            "llama-index-llms-openai-like==0.8.1",
        ),
        session_per_call=True,
    ),
    "semantic-kernel": Framework(player="semantic_kernel", packages=("semantic-kernel[mcp]==1.45.0",)),
    "fastmcp": Framework(player="fastmcp", packages=()),
}
"""By name."""


class NotInstalled(Exception):
    """A framework's packages cannot be had; the text is the last line that pip said."""


def command(name: str) -> list[str]:
    """The beginning of the command line that has a framework play.

    Raises:
        NotInstalled: It cannot be installed.
    """
    player = HERE / "players" / f"{FRAMEWORKS[name].player}.py"
    return [str(environment(name)), "-P", str(HERE / "play.py"), str(player)]


def environment(name: str) -> Path:
    """The Python of a framework's environment, which is made unless it is there.

    Raises:
        NotInstalled: It cannot be.
    """
    return installed(name, FRAMEWORKS[name].packages)


def installed(name: str, packages: tuple[str, ...]) -> Path:
    """The Python of an environment with packages, which is made unless it is there.

    Raises:
        NotInstalled: It cannot be.
    """
    if not packages:
        return Path(sys.executable)
    folder = Path(sys.prefix) / "frameworks" / sha256(repr(packages).encode()).hexdigest()[:16]
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", *packages]
        try:
            done = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise NotInstalled(f"{name} could not be installed within {INSTALL_SECONDS} s") from None
        if done.returncode:
            raise NotInstalled(f"{name} could not be installed: {done.stderr.strip().rpartition(chr(10))[2]}")
        stamp.touch()
    return python
