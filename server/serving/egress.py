"""Internet access for containers that ask for it, to public addresses only.

A network of its own with rules on the machine's packet filter: nothing from that network reaches a private, link-local
or otherwise special address, this machine, or a neighbour. What a server does with names does not matter, because
addresses are judged where packets pass. Where rules cannot be set there is no way out.
"""

import os
import shutil
import subprocess
from contextlib import suppress
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

from m3bench.sandboxes.backends.docker.engine import Client
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from docker import errors
else:
    errors = LazyModule("docker.errors")

NETWORK = "m3bench-egress"
BRIDGE = "m3bench0"
CHAIN = "M3BENCH-EGRESS"

SPECIAL = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip
"""Ranges that hold no public address."""

NO_IPV6 = {"net.ipv6.conf.all.disable_ipv6": "1"}
"""Kernel settings of a container with a way out: the rules are about IPv4, so there is nothing else."""

_OPTIONS = {"com.docker.network.bridge.name": BRIDGE, "com.docker.network.bridge.enable_icc": "false"}
_RESOLVERS = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))
_SECONDS = 30


def open_way(client: Client, address: str) -> str:
    """The name of the network; its rules are in place before it exists.

    Args:
        client: The engine's.
        address: Where the engine is.

    Raises:
        SandboxError: The rules cannot be set; the message says why.
    """
    _require_rules(client, address)
    _set_rules()
    if not any(network["Name"] == NETWORK for network in client.networks(names=[NETWORK])):
        # Somebody else may be making it at this moment.
        with suppress(errors.APIError):
            client.create_network(
                NETWORK, driver="bridge", options=_OPTIONS, enable_ipv6=False, check_duplicate=True,
                labels={"io.m3bench.egress": "1"},
            )  # fmt: skip
    (network,) = client.networks(names=[f"^{NETWORK}$"])
    if network["Options"].get("com.docker.network.bridge.name") != BRIDGE:
        raise SandboxError(f"The engine has a network {NETWORK} that is not ours: remove it.")
    return NETWORK


def close_way(client: Client) -> None:
    """Remove the network unless somebody uses it. The rules stay: they concern nothing else."""
    with suppress(errors.APIError):
        client.remove_network(NETWORK)


def _require_rules(client: Client, address: str) -> None:
    """Refuse where the rules would not hold."""
    if not address.startswith("unix:"):
        raise SandboxError("egress needs an engine on this machine: only here can its way out be filtered.")
    if shutil.which("iptables") is None or shutil.which("iptables-restore") is None:
        raise SandboxError("egress needs iptables to keep private addresses out of reach: install it.")
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise SandboxError("egress needs rules that only root can set: run m3bench as root, or leave egress out.")
    if any(option.startswith("name=rootless") for option in client.info().get("SecurityOptions") or ()):
        raise SandboxError("egress cannot be filtered for an engine without root: use another, or leave egress out.")
    if not _holds("--list", "DOCKER-USER", "--numeric"):
        raise SandboxError("egress needs an engine that sets rules: start it without --iptables=false.")


def _set_rules() -> None:
    """Fill our chain in one go, then have everything from the bridge pass through it."""
    rules = [
        f"-A {CHAIN} -d {server} -p {kind} --dport 53 -j RETURN" for server in _resolvers() for kind in ("udp", "tcp")
    ]
    rules += [f"-A {CHAIN} -d {network} -j REJECT" for network in SPECIAL]
    text = "\n".join(["*filter", f":{CHAIN} - [0:0]", *rules, "COMMIT", ""])
    _run("iptables-restore", "--wait", "--noflush", given=text)
    for chain, target in (("DOCKER-USER", CHAIN), ("INPUT", "REJECT")):
        rule = (chain, "--in-interface", BRIDGE, "--jump", target)
        if not _holds("--check", *rule):
            _run("iptables", "--wait", "--insert", *rule)


def _resolvers() -> list[str]:
    """The name servers of this machine that the rules would hide."""
    found = []
    for path in _RESOLVERS:
        with suppress(OSError):
            found += [line.split()[1] for line in path.read_text().splitlines() if line.startswith("nameserver ")]
    return sorted({server for server in found if _is_private(server)})


def _is_private(server: str) -> bool:
    try:
        address = IPv4Address(server)
    except ValueError:
        return False
    return not address.is_global and not address.is_loopback


def _holds(*arguments: str) -> bool:
    command = ["iptables", "--wait", *arguments]
    return subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False).returncode == 0


def _run(*command: str, given: str = "") -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise SandboxError(f"egress cannot be filtered here, {command[0]} says: {said}. Leave egress out.")
