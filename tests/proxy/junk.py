"""What no client should send: bytes, JSON that is no message, and messages that are nearly right."""

import json

from hypothesis import strategies as st

KEYS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "_meta", "name", "arguments"])
WORDS = st.sampled_from(
    ["2.0", "ping", "tools/call", "tools/list", "initialize", "notifications/cancelled", "requestId", "\ud800", "\x00"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner),
    max_leaves=12,
)
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"id": LEAVES | VALUES, "method": WORDS | LEAVES, "params": VALUES, "result": VALUES, "error": VALUES},
)
DEEP = b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":%b%b}}'
JUNK = st.one_of(
    st.binary(max_size=60).filter(lambda line: b"\n" not in line),
    (VALUES | REQUESTS | st.lists(REQUESTS, max_size=4)).map(lambda value: json.dumps(value).encode()),
    st.integers(1, 1200).map(lambda depth: DEEP % (b"[" * depth, b"]" * depth)),
    st.integers(1, 1200).map(lambda depth: DEEP % (b'{"a":' * depth, b"")),
)
