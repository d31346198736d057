"""The attach stream, cut anywhere."""

from hypothesis import given
from hypothesis import strategies as st

from m3bench.sandboxes.backends.docker.stream import Frames

FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=300)), max_size=20)


@given(FRAMES, st.integers(1, 50))
def test_what_was_written_comes_out_however_it_arrives(written: list[tuple[int, bytes]], size: int) -> None:
    stream = b"".join(bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data for kind, data in written)
    frames = Frames()
    read = [frame for begin in range(0, len(stream), size) for frame in frames.feed(stream[begin : begin + size])]
    assert read == written
