"""What a client may write, and which error it gets for anything else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.proxy.protocol.messages import InvalidMessage, Message, message, read

PARSE, INVALID, PARAMS = -32700, -32600, -32602


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"hello", PARSE, None),
        (b'{"jsonrpc":"2.0"', PARSE, None),
        (b"\xff\xfe", PARSE, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}\x00', PARSE, None),
        (b"[" * 100_000, PARSE, None),
        (b"1" * 5000, PARSE, None),
        (b"null", INVALID, None),
        (b"17", INVALID, None),
        (b"{}", INVALID, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', INVALID, 7),
        (b'{"jsonrpc":"2.0","id":"a"}', INVALID, "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":9}', INVALID, 7),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID, 1.5),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}', INVALID, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', PARAMS, 7),
        (b'{"jsonrpc":"2.0","id":7,"result":5}', INVALID, None),
        (b'{"jsonrpc":"2.0","result":{}}', INVALID, None),
    ],
    ids=range(22),
)
def test_what_is_no_message_gets_the_error_that_json_rpc_asks_for(line: bytes, code: int, id: object) -> None:
    found = read(line)
    assert isinstance(found, InvalidMessage)
    error = json.loads(found.line())
    assert (error["jsonrpc"], error["id"], error["error"]["code"]) == ("2.0", id, code)
    assert error["error"]["message"]


@pytest.mark.parametrize(
    ("value", "method", "id"),
    [
        ({"id": 1, "method": "ping"}, "ping", 1),
        ({"id": "é\ud800", "method": "ping", "params": None}, "ping", "é\ud800"),
        ({"method": "notifications/x", "params": {}}, "notifications/x", None),
        ({"id": 1, "result": {}}, None, 1),
        ({"id": 1, "error": {"code": 1, "message": "no"}}, None, 1),
    ],
)
def test_messages_are_told_apart(value: dict[str, object], method: str | None, id: object) -> None:
    found = message({"jsonrpc": "2.0", **value})
    assert isinstance(found, Message)
    assert (found.method, found.id) == (method, id)


@pytest.mark.parametrize("id", [[1], {}, None, True, 1.5])
def test_a_cancellation_of_no_request_cancels_nothing(id: object) -> None:
    found = message({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    assert isinstance(found, Message)
    assert found.cancels is None


def test_a_byte_order_mark_is_read_over() -> None:
    assert isinstance(read(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}'), Message)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_reading_never_raises_and_always_has_an_answer(line: bytes) -> None:
    found = read(line)
    if isinstance(found, InvalidMessage):
        assert json.loads(found.line())["error"]["code"] in (PARSE, INVALID, PARAMS)
