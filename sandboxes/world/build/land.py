"""`land` from global-land-mask: where the sea ends, on a grid of 30 arc seconds.

One record per degree square that has a coast (packed bits of 120 rows from north to south, compressed) and one
list of the squares that are all land; every other square is sea. The mask was made from the GLOBE elevation model.
"""

import zlib
from base64 import b85encode
from importlib.metadata import version
from importlib.resources import as_file, files

import numpy as np

from m3bench.sandboxes.world.build.writing import write

CELLS = 120


def main() -> None:
    """Write the table."""
    with as_file(files("global_land_mask") / "globe_combined_mask_compressed.npz") as path:
        # In the package's mask True is sea.
        land = ~np.load(path)["mask"]
    coasts: list[dict[str, object]] = []
    full: dict[str, list[int]] = {}
    for row in range(180):
        for column in range(360):
            square = land[row * CELLS : (row + 1) * CELLS, column * CELLS : (column + 1) * CELLS]
            south, west = 89 - row, column - 180
            if square.all():
                full.setdefault(str(south), []).append(west)
            elif square.any():
                bits = b85encode(zlib.compress(np.packbits(square).tobytes(), 9)).decode()
                coasts.append({"south": south, "west": west, "bits": bits})
    inland = [{"south": int(south), "inland": _runs(wests)} for south, wests in full.items()]
    source = (
        f"global-land-mask {version('global-land-mask')}, made from the GLOBE elevation model (NOAA, public domain)."
    )
    write("land", source, "MIT", [*inland, *coasts])


def _runs(wests: list[int]) -> list[list[int]]:
    """Neighbouring squares as [first, last]."""
    runs: list[list[int]] = []
    for west in wests:
        if runs and runs[-1][1] == west - 1:
            runs[-1][1] = west
        else:
            runs.append([west, west])
    return runs


if __name__ == "__main__":
    main()
