"""A network computes what its file says: each operation against the same sum written out plainly."""

import json
from base64 import b64encode
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.sandboxes.vision.detector import OPERATIONS, GraphNode, Network

SAME = {"padding": {"s": b64encode(b"SAME").decode()}}


def node(op: str, **attributes: Any) -> GraphNode:
    return GraphNode({"name": "it", "op": op, "attr": attributes})


def strides(stride: int) -> dict[str, Any]:
    return {"list": {"i": ["1", str(stride), str(stride), "1"]}}


def padded(values: Any, row: int, column: int) -> Any:
    """The pixel at a place, zero outside."""
    inside = 0 <= row < values.shape[1] and 0 <= column < values.shape[2]
    return values[0, row, column] if inside else np.zeros(values.shape[3])


def begin(length: int, side: int, stride: int) -> int:
    """Where the first window of a row begins, as TensorFlow puts `SAME`: what is odd goes to the end."""
    places = -(-length // stride)
    return -(max((places - 1) * stride + side - length, 0) // 2)


@given(
    height=st.integers(1, 7),
    width=st.integers(1, 7),
    side=st.sampled_from([1, 3, 5]),
    stride=st.sampled_from([1, 2]),
    seed=st.integers(0, 99),
)
def test_convolutions_are_sums_over_windows(height: int, width: int, side: int, stride: int, seed: int) -> None:
    dice = np.random.default_rng(seed)
    values = dice.normal(size=(1, height, width, 3)).astype(np.float32)
    filters = dice.normal(size=(side, side, 3, 4)).astype(np.float32)
    whole = OPERATIONS["Conv2D"](node("Conv2D", strides=strides(stride), **SAME), values, filters)
    each = OPERATIONS["DepthwiseConv2dNative"](
        node("DepthwiseConv2dNative", strides=strides(stride), **SAME), values, filters[..., :1]
    )
    assert whole.shape == (1, -(-height // stride), -(-width // stride), 4)
    for row, column in product(range(whole.shape[1]), range(whole.shape[2])):
        top = begin(height, side, stride) + row * stride
        left = begin(width, side, stride) + column * stride
        window = np.array([[padded(values, top + y, left + x) for x in range(side)] for y in range(side)])
        np.testing.assert_allclose(whole[0, row, column], np.einsum("yxc,yxcf->f", window, filters), atol=1e-4)
        np.testing.assert_allclose(each[0, row, column], np.einsum("yxc,yxc->c", window, filters[..., 0]), atol=1e-4)


def test_a_picture_that_is_enlarged_keeps_its_middle_and_its_edges() -> None:
    values = np.array([0.0, 4.0], np.float32).reshape(1, 1, 2, 1)
    larger = OPERATIONS["ResizeBilinear"](node("ResizeBilinear"), values, np.array([1, 4]))
    assert larger.ravel().tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("stored", "packing"),
    [
        (np.array([1.5, -2.0], np.float32), None),
        (np.array([1.5, -2.0], np.float16), {"dtype": "float16"}),
        (np.array([255, 0], np.uint8), {"dtype": "uint8", "min": -2.0, "scale": 3.5 / 255}),
    ],
)
def test_a_file_says_which_node_takes_what(tmp_path: Path, stored: Any, packing: Any) -> None:
    weight = {"name": "w", "shape": [2], "dtype": "float32", **({"quantization": packing} if packing else {})}
    model = {
        "modelTopology": {
            "node": [
                {"name": "out", "op": "Mul", "input": ["sum:0", "w"]},
                {"name": "sum", "op": "AddV2", "input": ["in", "w", "^w"]},
                {"name": "in", "op": "Placeholder"},
                {"name": "w", "op": "Const"},
            ]
        },
        "weightsManifest": [{"paths": ["a.bin"], "weights": [weight]}],
    }
    (tmp_path / "model.json").write_text(json.dumps(model))
    (tmp_path / "a.bin").write_bytes(stored.tobytes())
    result, again = Network(tmp_path / "model.json").run({"in": np.array([1.0, 1.0], np.float32)}, ["out", "sum"])
    np.testing.assert_allclose(result, [3.75, 2.0], atol=1e-6)
    np.testing.assert_allclose(again, [2.5, -1.0], atol=1e-6)
