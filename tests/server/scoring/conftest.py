"""A cheap encoder and short ways to write trajectories."""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from m3bench.tasks.trajectory import Call, Step, Trajectory


class TrigramEncoder:
    """Counts hashed trigrams: similar texts get similar vectors, and nothing has to be loaded."""

    id = "trigrams"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def key(self, text: str) -> str:
        return text

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.encoded += texts
        vectors = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            padded = f"^{text}$$"
            for start in range(len(padded) - 2):
                vectors[row, zlib.crc32(padded[start : start + 3].encode()) % 64] += 1
        unit: npt.NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


@pytest.fixture
def encoder() -> TrigramEncoder:
    return TrigramEncoder()


def call(tool: str, **arguments: Any) -> Call:
    return Call(tool=tool, arguments=arguments)


def trajectory(*steps: Sequence[Call]) -> Trajectory:
    return Trajectory(steps=tuple(Step(calls=tuple(calls)) for calls in steps))
