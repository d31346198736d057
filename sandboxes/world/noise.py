"""Numbers that look random and are the same everywhere: a hash of the key they are asked for by.

Streams (weather, prices, ratings) are functions of place and time; each value is computed from its key alone,
so that no state is kept and the order of calls does not matter. Keys are strings and numbers.
"""

import math
from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

Key = str | int | float
Item = TypeVar("Item")


def bits(*key: Key) -> int:
    """64 bits for a key."""
    text = "\x1f".join(map(str, key))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def fraction(*key: Key) -> float:
    """Uniform in [0, 1)."""
    return (bits(*key) >> 11) / (1 << 53)


def between(low: float, high: float, *key: Key) -> float:
    """Uniform in [low, high)."""
    return low + (high - low) * fraction(*key)


def integer(low: int, high: int, *key: Key) -> int:
    """Uniform among low … high, both included."""
    return low + bits(*key) % (high - low + 1)


def normal(*key: Key) -> float:
    """Standard normal."""
    radius = math.sqrt(-2 * math.log(1 - fraction(*key, "radius")))
    return radius * math.cos(2 * math.pi * fraction(*key, "angle"))


def pick(options: Sequence[Item], *key: Key) -> Item:
    """One of the options."""
    return options[bits(*key) % len(options)]


def token(length: int, alphabet: str, *key: Key) -> str:
    """A word over an alphabet, for ids."""
    generator = generator_of(*key)
    return "".join(generator.choices(alphabet, k=length))


def generator_of(*key: Key) -> Random:
    """A generator of its own for work that needs many numbers."""
    return Random(bits(*key))


def value_noise_1d(x: float, *key: Key) -> float:
    """Value noise along a line: smooth, in [-1, 1], one hill or valley per unit of x."""
    left = math.floor(x)
    return _blend(_corner(left, *key), _corner(left + 1, *key), _ease(x - left))


def value_noise(x: float, y: float, *key: Key) -> float:
    """Value noise over a plane: smooth, in [-1, 1], one hill or valley per unit square."""
    left, bottom = math.floor(x), math.floor(y)
    along = _ease(x - left)
    low = _blend(_corner(left, bottom, *key), _corner(left + 1, bottom, *key), along)
    high = _blend(_corner(left, bottom + 1, *key), _corner(left + 1, bottom + 1, *key), along)
    return _blend(low, high, _ease(y - bottom))


def fractal_noise(x: float, y: float, octaves: int, *key: Key) -> float:
    """Fractal noise (fBm) over a plane: octaves of `value_noise`, each half as high; in [-1, 1]."""
    total = weight = 0.0
    for octave in range(octaves):
        share = 0.5**octave
        total += share * value_noise(x * 2**octave, y * 2**octave, octave, *key)
        weight += share
    return total / weight


def _corner(*key: Key) -> float:
    return 2 * fraction(*key) - 1


def _ease(t: float) -> float:
    return t * t * (3 - 2 * t)


def _blend(start: float, end: float, share: float) -> float:
    return start + (end - start) * share
