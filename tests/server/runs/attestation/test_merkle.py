"""The tree of a log is that of RFC 6962, held against other code than ours: a stack of complete subtrees, and the
verification of RFC 9162, which walks up from a leaf without ever building the tree."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.runs.attestation import merkle


def other_root(entries: list[bytes]) -> bytes:
    stack: list[tuple[int, bytes]] = []
    for entry in entries:
        height, node = 0, sha256(b"\x00" + entry).digest()
        while stack and stack[-1][0] == height:
            node = sha256(b"\x01" + stack.pop()[1] + node).digest()
            height += 1
        stack.append((height, node))
    if not stack:
        return sha256().digest()
    _, top = stack.pop()
    while stack:
        top = sha256(b"\x01" + stack.pop()[1] + top).digest()
    return top


def proved(entry: bytes, index: int, size: int, path: list[bytes], root: bytes) -> bool:
    """RFC 9162, 2.1.3.2."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, sha256(b"\x00" + entry).digest()
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = sha256(b"\x01" + p + r).digest()
            while not fn & 1 and fn:
                fn >>= 1
                sn >>= 1
        else:
            r = sha256(b"\x01" + r + p).digest()
        fn >>= 1
        sn >>= 1
    return sn == 0 and r == root


@given(st.lists(st.binary(max_size=8), max_size=40))
def test_roots_and_paths_are_those_of_the_standard(entries: list[bytes]) -> None:
    leaves = [merkle.leaf(entry) for entry in entries]
    root = other_root(entries)
    assert merkle.root(leaves) == root
    for index, entry in enumerate(entries):
        path = merkle.path(leaves, index)
        assert proved(entry, index, len(entries), path, root)
        assert merkle.leads_to(entry, index, len(entries), path) == root


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9])
def test_no_other_entry_place_size_or_path_leads_to_the_root(size: int) -> None:
    entries = [bytes([number]) for number in range(size)]
    leaves = [merkle.leaf(entry) for entry in entries]
    root, path = other_root(entries), merkle.path(leaves, size - 1)
    assert merkle.leads_to(b"other", size - 1, size, path) != root
    assert merkle.leads_to(entries[-1], size, size, path) is None
    assert merkle.leads_to(entries[-1], -1, size, path) is None
    assert merkle.leads_to(entries[-1], size - 1, size, [*path, root]) is None
    assert all(merkle.leads_to(entries[-1], size - 1, size, path[:cut]) is None for cut in range(len(path)))
    assert all(merkle.leads_to(entries[-1], other, size, path) != root for other in range(size - 1))
