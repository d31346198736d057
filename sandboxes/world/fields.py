"""Value noise over many points at once, for terrain, weather and pictures.

The same idea as `noise.value_noise`, on numpy arrays: hashed values at the corners of a grid, eased between.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def value_noise(x: Array, y: Array, seed: int) -> Array:
    """Value noise in [-1, 1] with one hill or valley per unit square."""
    left, bottom = np.floor(x), np.floor(y)
    along, up = _ease(x - left), _ease(y - bottom)
    low = _corner(left, bottom, seed) * (1 - along) + _corner(left + 1, bottom, seed) * along
    high = _corner(left, bottom + 1, seed) * (1 - along) + _corner(left + 1, bottom + 1, seed) * along
    return np.asarray(low + (high - low) * up)


def fractal_noise(x: Array, y: Array, octaves: int, seed: int) -> Array:
    """Fractal noise (fBm) in [-1, 1]: octaves of value noise, each half as high."""
    total = np.zeros(np.shape(x))
    for octave in range(octaves):
        total += 0.5**octave * value_noise(x * 2**octave, y * 2**octave, seed + octave)
    return total / (2 - 0.5 ** (octaves - 1))


def ridged_noise(x: Array, y: Array, octaves: int, seed: int) -> Array:
    """Ridged multifractal noise in [0, 1], with sharp crests and wide valleys."""
    total = np.zeros(np.shape(x))
    for octave in range(octaves):
        total += 0.5**octave * (1 - np.abs(value_noise(x * 2**octave, y * 2**octave, seed + octave))) ** 2
    return total / (2 - 0.5 ** (octaves - 1))


def _ease(t: Array) -> Array:
    return np.asarray(t * t * (3 - 2 * t))


def _corner(x: Array, y: Array, seed: int) -> Array:
    with np.errstate(over="ignore"):
        bits = x.astype(np.int64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits ^= y.astype(np.int64).view(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
        bits ^= np.uint64(seed) * np.uint64(0x165667B19E3779F9)
        for shift, factor in ((33, 0xFF51AFD7ED558CCD), (29, 0xC4CEB9FE1A85EC53)):
            bits ^= bits >> np.uint64(shift)
            bits *= np.uint64(factor)
        bits ^= bits >> np.uint64(32)
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) / 2**52 - 1)
