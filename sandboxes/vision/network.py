"""A trained network in the format of TensorFlow.js, computed with numpy.

Two files make one: `model.json` says which node takes what from which others, and the weights follow one another in
binary files. Only the operations that the two networks of this room use are known. Numpy computes them in a fraction
of a second, so a sandbox needs no other library and no threads of one.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tensor: TypeAlias = NDArray[Any]

_TYPES = {1: np.float32, 3: np.int32, "DT_FLOAT": np.float32, "DT_INT32": np.int32}


class GraphNode:
    """One operation, with the names of what it takes."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        self.name: str = written["name"]
        self.op: str = written["op"]
        self.inputs: tuple[str, ...] = tuple(name for name in written.get("input") or () if not name.startswith("^"))
        self._attributes: Mapping[str, Any] = written.get("attr", {})

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is a number."""
        return int(self._attributes.get(name, {}).get("i", default))

    def integers(self, name: str) -> list[int]:
        """An attribute that is a list of numbers."""
        return [int(value) for value in self._attributes.get(name, {}).get("list", {}).get("i", ())]

    def text(self, name: str) -> str:
        """An attribute that is a text."""
        return _text(self._attributes[name]["s"])

    def texts(self, name: str) -> list[str]:
        """An attribute that is a list of texts."""
        return [_text(value) for value in self._attributes.get(name, {}).get("list", {}).get("s", ())]

    def real(self, name: str) -> float:
        """An attribute that is a number with a fraction."""
        return float(self._attributes[name]["f"])

    def type(self, name: str) -> "type[np.generic]":
        """An attribute that is a type of numbers."""
        return _TYPES[self._attributes[name]["type"]]


class Network:
    """A network that is read once and run many times."""

    def __init__(self, model: Path) -> None:
        written = json.loads(model.read_bytes())
        self._nodes = {node["name"]: GraphNode(node) for node in written["modelTopology"]["node"]}
        self._weights: dict[str, Tensor] = {}
        for group in written["weightsManifest"]:
            data = b"".join((model.parent / path).read_bytes() for path in group["paths"])
            start = 0
            for weight in group["weights"]:
                self._weights[weight["name"]], start = _weight(weight, data, start)

    def run(self, given: Mapping[str, Tensor], wanted: Sequence[str]) -> list[Tensor]:
        """What some nodes give when others are given."""
        known: dict[str, tuple[Tensor, ...]] = {name: (value,) for name, value in given.items()}
        waiting = list(wanted)
        while waiting:
            node = self._nodes[_source(waiting[-1])[0]]
            missing = [name for name in node.inputs if _source(name)[0] not in known]
            if node.name in known or not missing:
                waiting.pop()
                if node.name not in known:
                    known[node.name] = self._compute(node, known)
            else:
                waiting += missing
        return [known[name][output] for name, output in map(_source, wanted)]

    def _compute(self, node: GraphNode, known: Mapping[str, tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        if node.op == "Const":
            return (self._weights[node.name],)
        result = OPERATIONS[node.op](node, *(known[name][output] for name, output in map(_source, node.inputs)))
        return result if isinstance(result, tuple) else (result,)


def _source(name: str) -> tuple[str, int]:
    """A node and which of its outputs."""
    node, _, output = name.partition(":")
    return node, int(output or 0)


def _text(written: str | list[int]) -> str:
    return (b64decode(written) if isinstance(written, str) else bytes(written)).decode()


def _weight(written: Mapping[str, Any], data: bytes, start: int) -> tuple[Tensor, int]:
    """One tensor of a file of weights, and where the next one begins."""
    packed = written.get("quantization")
    stored = np.dtype(packed["dtype"] if packed else written["dtype"])
    count = prod(written["shape"])
    values = np.frombuffer(data, stored, count, start).reshape(written["shape"])
    if packed:
        values = values.astype(written["dtype"])
        if "scale" in packed:
            values = values * np.float32(packed["scale"]) + np.float32(packed["min"])
    return values, start + count * stored.itemsize


def _windows(values: Tensor, size: tuple[int, int], node: GraphNode) -> Tensor:
    """What a filter sees at each place, as height, width, channels and the two sides of the filter."""
    _, down, across, _ = node.integers("strides")
    if node.text("padding") == "SAME":
        edges = [
            _edges(length, side, stride)
            for length, side, stride in zip(values.shape[1:3], size, (down, across), strict=True)
        ]
        values = np.pad(values, ((0, 0), *edges, (0, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(values[0], size, axis=(0, 1))
    return seen[::down, ::across]


def _edges(length: int, side: int, stride: int) -> tuple[int, int]:
    """What is put before and after a row so that every place has its window."""
    more = max(0, (-(-length // stride) - 1) * stride + side - length)
    return more // 2, more - more // 2


def _conv2d(node: GraphNode, values: Tensor, filters: Tensor) -> Tensor:
    seen = _windows(values, (filters.shape[0], filters.shape[1]), node)
    height, width = seen.shape[:2]
    kernel = filters.transpose(2, 0, 1, 3).reshape(-1, filters.shape[3])
    return (seen.reshape(height * width, -1) @ kernel).reshape(1, height, width, -1)


def _depthwise_conv2d(node: GraphNode, values: Tensor, filters: Tensor) -> Tensor:
    seen = _windows(values, (filters.shape[0], filters.shape[1]), node)
    total = np.zeros(seen.shape[:3], np.float32)
    for row in range(filters.shape[0]):
        for column in range(filters.shape[1]):
            total += seen[..., row, column] * filters[row, column, :, 0]
    return total[None]


def _fused(convolve: Callable[[GraphNode, Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """A convolution with what follows it."""

    def compute(node: GraphNode, values: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
        result = convolve(node, values, filters) + bias
        for step in node.texts("fused_ops")[1:]:
            result = OPERATIONS[step](node, result)
        return result

    return compute


def _batch_norm(node: GraphNode, values: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, spread: Tensor) -> Tensor:
    return (values - mean) * (scale / np.sqrt(spread + np.float32(node.real("epsilon")))) + offset


def _resize_bilinear(node: GraphNode, values: Tensor, size: Tensor) -> Tensor:
    """Bilinear, with the centres of pixels at halves, as the networks were trained."""
    for axis, length in zip((1, 2), size.tolist(), strict=True):
        before = values.shape[axis]
        place = np.clip((np.arange(length) + 0.5) * before / length - 0.5, 0, before - 1)
        low = np.floor(place).astype(int)
        share = (place - low).astype(np.float32).reshape([-1 if dimension == axis else 1 for dimension in range(4)])
        high = np.minimum(low + 1, before - 1)
        values = values.take(low, axis) * (1 - share) + values.take(high, axis) * share
    return values


def _strided_slice(node: GraphNode, values: Tensor, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    """One number of a shape: the only use of it here."""
    part = values[int(start[0]) : int(stop[0]) : int(step[0])]
    return part[0] if node.integer("shrink_axis_mask") else part


def _slice(node: GraphNode, values: Tensor, start: Tensor, size: Tensor) -> Tensor:
    ends = (None if length < 0 else first + length for first, length in zip(start, size, strict=True))
    return values[tuple(slice(first, end) for first, end in zip(start, ends, strict=True))]


def _squeeze(node: GraphNode, values: Tensor) -> Tensor:
    return np.squeeze(values, tuple(node.integers("squeeze_dims")) or None)


def _unpack(node: GraphNode, values: Tensor) -> tuple[Tensor, ...]:
    return tuple(np.moveaxis(values, node.integer("axis"), 0))


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda node, a, b: a + b,
    "AddN": lambda node, *values: sum(values),
    "AddV2": lambda node, a, b: a + b,
    "ArgMax": lambda node, values, axis: np.argmax(values, int(axis)).astype(np.int32),
    "BiasAdd": lambda node, values, bias: values + bias,
    "Cast": lambda node, values: values.astype(node.type("DstT")),
    "ConcatV2": lambda node, *values: np.concatenate(values[:-1], int(values[-1])),
    "Conv2D": _conv2d,
    "DepthwiseConv2dNative": _depthwise_conv2d,
    "Exp": lambda node, values: np.exp(values),
    "ExpandDims": lambda node, values, axis: np.expand_dims(values, int(axis)),
    "FloorDiv": lambda node, a, b: a // b,
    "FusedBatchNorm": _batch_norm,
    "FusedDepthwiseConv2dNative": _fused(_depthwise_conv2d),
    "GatherNd": lambda node, values, places: values[tuple(np.moveaxis(places, -1, 0))],
    "Identity": lambda node, values: values,
    "Mul": lambda node, a, b: a * b,
    "Pack": lambda node, *values: np.stack(values, node.integer("axis")),
    "RealDiv": lambda node, a, b: a / b,
    "Relu": lambda node, values: np.maximum(values, 0),
    "Relu6": lambda node, values: np.clip(values, 0, 6),
    "Reshape": lambda node, values, shape: values.reshape(shape),
    "ResizeBilinear": _resize_bilinear,
    "Shape": lambda node, values: np.array(values.shape, np.int32),
    "Sigmoid": lambda node, values: 1 / (1 + np.exp(-values)),
    "Slice": _slice,
    "Sqrt": lambda node, values: np.sqrt(values),
    "SquaredDifference": lambda node, a, b: (a - b) ** 2,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Sub": lambda node, a, b: a - b,
    "Tile": lambda node, values, times: np.tile(values, times),
    "Transpose": lambda node, values, order: values.transpose(order),
    "Unpack": _unpack,
    "_FusedConv2D": _fused(_conv2d),
}
