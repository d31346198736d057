"""A tree of hashes over a list that only grows, as RFC 6962 defines it.

The root stands for the whole list; a path shows that an entry is in the list that a root stands for.
"""

from collections.abc import Sequence
from hashlib import sha256


def leaf(entry: bytes) -> bytes:
    """The hash of an entry."""
    return sha256(b"\x00" + entry).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over the hashes of all entries."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = _split(len(leaves))
    return _node(root(leaves[:split]), root(leaves[split:]))


def path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The hashes with which an entry's hash leads to the root, from the bottom up."""
    if len(leaves) <= 1:
        return []
    split = _split(len(leaves))
    if index < split:
        return [*path(leaves[:split], index), root(leaves[split:])]
    return [*path(leaves[split:], index - split), root(leaves[:split])]


def leads_to(entry: bytes, index: int, size: int, hashes: Sequence[bytes]) -> bytes | None:
    """The root that an entry leads to by a path; None when the path does not fit a tree of that size."""
    if not 0 <= index < size:
        return None
    sides = []
    while size > 1:
        split = _split(size)
        sides.append(index < split)
        index, size = (index, split) if index < split else (index - split, size - split)
    if len(sides) != len(hashes):
        return None
    found = leaf(entry)
    for left, other in zip(reversed(sides), hashes, strict=True):
        found = _node(found, other) if left else _node(other, found)
    return found


def _split(size: int) -> int:
    """The largest power of two below a size of two or more."""
    return 1 << ((size - 1).bit_length() - 1)


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()
