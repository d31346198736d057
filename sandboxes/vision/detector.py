"""Things and people in a photograph, found by two trained networks.

SSDLite-MobileNetV2 proposes boxes with a score for each kind of thing; non-maximum suppression (NMS) by their
intersection over union (IoU) keeps the best of those that lie over one another. MoveNet Lightning then finds the 17
keypoints of one body in the square around each person.

Both are in the format of TensorFlow.js: `model.json` says which node takes what from which others, and the weights
follow one another in binary files. Only the operations of these two are known. Numpy computes them in a fraction of a
second, so a sandbox needs no other library and no threads of one.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from m3bench.sandboxes.vision import weights
from m3bench.tasks.scene import Box, Keypoint, SceneObject

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


LABELS: dict[int, str] = dict(
    enumerate(
        (
            *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light"),
            *("fire hydrant", "", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow"),
            *("elephant", "bear", "zebra", "giraffe", "", "backpack", "umbrella", "", "", "handbag", "tie", "suitcase"),
            *("frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard"),
            *("surfboard", "tennis racket", "bottle", "", "wine glass", "cup", "fork", "knife", "spoon", "bowl"),
            *("banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake"),
            *("chair", "couch", "potted plant", "bed", "", "dining table", "", "", "toilet", "", "tv", "laptop"),
            *("mouse", "remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink", "refrigerator", ""),
            *("book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush"),
        ),
        1,
    )
)
"""An empty name is a gap."""


MIN_SCORE = 0.5
"""The least score that is reported: below it more is wrong than right."""
MAX_IOU = 0.5
"""Two boxes of one kind with a larger intersection over union are one thing."""
MAX_DETECTIONS = 50

_SIDE, _BODY_SIDE = 300, 192
"""Pixels that the networks look at, whatever the picture has."""
MIN_KEYPOINT_SCORE = 0.3
"""The least score of a keypoint that counts as seen."""
_AROUND = 1.25
"""Of a person's longer side: what MoveNet is shown."""


class Detector:
    """Both networks; the one for poses is read when people are first asked for."""

    def __init__(self) -> None:
        self._things = Network(weights.checked(weights.DETECTOR))
        self._bodies: Network | None = None

    def objects(self, image: Image.Image) -> tuple[SceneObject, ...]:
        """The objects in a picture, by falling score."""
        seen = _pixels(image, _SIDE) / np.float32(127.5) - 1
        boxes, scores = self._things.run(
            {"Preprocessor/sub": seen}, ["Postprocessor/ExpandDims_1", "Postprocessor/Slice"]
        )
        return _non_maximum_suppression(boxes[0, :, 0], scores[0], image.size)

    def people(self, image: Image.Image) -> tuple[SceneObject, ...]:
        """The people in a picture, with the keypoints of their bodies."""
        if self._bodies is None:
            self._bodies = Network(weights.checked(weights.POSE))
        found = []
        for person in self.objects(image):
            if person.label == "person":
                points = _body(self._bodies, image, person.box)
                found.append(SceneObject(label="person", box=person.box, score=person.score, keypoints=points))
        return tuple(found)


def _pixels(image: Image.Image, side: int) -> NDArray[np.float32]:
    small = image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(small, np.float32)[None]


def _non_maximum_suppression(
    boxes: NDArray[np.float32], scores: NDArray[np.float32], size: tuple[int, int]
) -> tuple[SceneObject, ...]:
    """Non-maximum suppression: the boxes worth reporting, in pixels of the picture."""
    kinds = scores.argmax(axis=1)
    best = scores.max(axis=1)
    kept: list[tuple[int, Box]] = []
    found: list[SceneObject] = []
    for place in np.argsort(-best, kind="stable"):
        kind, label = int(kinds[place]), LABELS.get(int(kinds[place]) + 1, "")
        if best[place] < MIN_SCORE or len(found) == MAX_DETECTIONS:
            break
        box = _box(boxes[place], size)
        if label and box and all(kind != other or iou(box, better) <= MAX_IOU for other, better in kept):
            kept.append((kind, box))
            found.append(SceneObject(label=label, box=box, score=round(float(best[place]), 2)))
    return tuple(found)


def _box(corners: Sequence[float] | NDArray[np.float32], size: tuple[int, int]) -> Box | None:
    """A box in pixels, cut at the picture's edges; None when nothing is left."""
    top, left, bottom, right = (min(max(float(edge), 0.0), 1.0) for edge in corners)
    box = (left * size[0], top * size[1], right * size[0], bottom * size[1])
    return box if left < right and top < bottom else None


def iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(width, 0) * max(height, 0)
    return both / (_area(one) + _area(other) - both)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _body(network: Network, image: Image.Image, box: Box) -> tuple[Keypoint, ...]:
    """The points of the body in a box, in pixels of the picture; what lies outside counts as not seen."""
    left, top, right, bottom = box
    side = max(right - left, bottom - top) * _AROUND
    across, down = (left + right - side) / 2, (top + bottom - side) / 2
    part = image.crop((round(across), round(down), round(across + side), round(down + side)))
    (points,) = network.run({"input": _pixels(part, _BODY_SIDE).astype(np.int32)}, ["Identity"])
    found = []
    for y, x, seen in points[0, 0].tolist():
        place = (across + x * side, down + y * side)
        inside = 0 <= place[0] <= image.width and 0 <= place[1] <= image.height
        x, y = min(max(place[0], 0.0), image.width), min(max(place[1], 0.0), image.height)
        found.append((x, y, float(inside and seen >= MIN_KEYPOINT_SCORE)))
    return tuple(found)
