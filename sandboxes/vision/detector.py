"""Things and people in a photograph, found by two trained networks.

SSDLite-MobileNetV2 proposes boxes with a score for each kind of thing; non-maximum suppression (NMS) by their
intersection over union (IoU) keeps the best of those that lie over one another. MoveNet Lightning then finds the 17
keypoints of one body in the square around each person.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from m3bench.sandboxes.vision import weights
from m3bench.sandboxes.vision.network import Network
from m3bench.tasks.scene import Box, Keypoint, SceneObject

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
