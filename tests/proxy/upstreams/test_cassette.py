"""Recordings: what they keep whatever happens, and what each run gets from them."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.cassette import Cassette, Found, Take, question
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.tasks.errors import CassetteError, InputFileError, UpstreamError
from tests.pictures import assert_same_bytes
from tests.proxy.upstreams.test_servers import FAR, call, text

INFO = {"serverInfo": {"name": "far", "version": "1"}, "capabilities": {"tools": {}}}
COUNT = {"name": "count", "arguments": {}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def record(path: Path, *answers: Found, stateful: bool = True, info: dict[str, Any] = INFO) -> None:
    """One run's answers to one question."""
    cassette = Cassette(path, replaying=False)
    cassette.open()
    cassette.note_server("far", info, stateful=stateful)
    cassette.note_list("far", "tools/list", [{"name": "count"}])
    take = Take(cassette)
    for answer in answers:
        take.keep("far", "tools/call", COUNT, answer)
    cassette.close()


def replay(*paths: Path, times: int = 1) -> list[Found | None]:
    """What one run gets."""
    take = Take(Cassette(*paths, replaying=True))
    return [take.answer("far", "tools/call", COUNT) for _ in range(times)]


def test_every_run_gets_the_answers_in_their_order(tmp_path: Path) -> None:
    record(tmp_path / "tape", b"1", b"2", b"3")
    cassette = Cassette(tmp_path / "tape", replaying=True)
    for _ in range(2):
        take = Take(cassette)
        assert [take.answer("far", "tools/call", COUNT) for _ in range(3)] == [b"1", b"2", b"3"]


def test_who_asks_more_often_gets_the_same_again_only_where_that_is_known_to_be_true(tmp_path: Path) -> None:
    record(tmp_path / "counts", b"1", b"2")
    assert replay(tmp_path / "counts", times=3) == [b"1", b"2", None]
    record(tmp_path / "steady", b"1", b"1")
    assert replay(tmp_path / "steady", times=3) == [b"1", b"1", b"1"]
    record(tmp_path / "clock", b"1", b"2", stateful=False)
    assert replay(tmp_path / "clock", times=3) == [b"1", b"2", b"2"]


def test_what_is_missing_is_said_clearly(tmp_path: Path) -> None:
    record(tmp_path / "tape", b"1", b"2")
    take = Take(Cassette(tmp_path / "tape", replaying=True))
    assert "it has 2 answers to far/count" in take.missing("far/count", "far", "tools/call", COUNT)
    other = {"name": "count", "arguments": {"from": 1}}
    assert "not in the recording: it has no answer" in take.missing("far/count", "far", "tools/call", other)
    assert take.answer("near", "tools/call", COUNT) is None


def test_a_second_recording_adds_to_the_first(tmp_path: Path) -> None:
    record(tmp_path / "tape", b"1", b"2", b"3")
    first = (tmp_path / "tape").read_bytes()
    record(tmp_path / "tape", b"1", b"2")
    assert (tmp_path / "tape").read_bytes().startswith(first)
    assert replay(tmp_path / "tape", times=3) == [b"1", b"2", b"3"]
    assert Cassette(tmp_path / "tape", replaying=True).entries("far", "tools/list") == [{"name": "count"}]


def test_recordings_are_read_as_one_and_the_newest_of_equals_counts(tmp_path: Path) -> None:
    record(tmp_path / "old", b"old")
    record(tmp_path / "new", b"new")
    assert replay(tmp_path / "old", tmp_path / "new") == [b"new"]
    (tmp_path / "both").write_bytes((tmp_path / "old").read_bytes() + (tmp_path / "new").read_bytes())
    assert replay(tmp_path / "both") == [b"new"]


def test_answers_of_another_version_of_a_server_do_not_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "tape", b"1", b"2")
    record(tmp_path / "tape", b"one", info=INFO | {"serverInfo": {"name": "far", "version": "2"}})
    assert replay(tmp_path / "tape") == [b"one"]
    assert "recorded again in another version" in capfd.readouterr().err


@given(cut=st.integers(min_value=0))
def test_a_recording_that_was_cut_off_anywhere_gives_what_was_whole(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "tape"
    record(path, b"1", b"2", "3 é".encode())
    whole = path.read_bytes()
    kept = cut % len(whole)
    path.write_bytes(whole[:kept])
    lines = set(whole.split(b"\n")[3:])
    answers = [json.loads(line)["result"] for line in whole[:kept].split(b"\n") if line and line in lines]
    expected: list[Found | None] = [answer.encode() for answer in answers]
    assert replay(path, times=len(expected) + 1) == [*expected, expected[0] if len(expected) == 1 else None]
    # Whoever records on it loses nothing, neither of the old nor of the new.
    record(path, b"a", b"b", b"c", b"d")
    assert replay(path, times=4) == [b"a", b"b", b"c", b"d"]


def test_what_was_cut_off_is_said_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "tape", b"1", b"2")
    (tmp_path / "tape").write_bytes((tmp_path / "tape").read_bytes()[:-9])
    assert replay(tmp_path / "tape") == [b"1"]
    assert capfd.readouterr().err == f"m3bench: {tmp_path / 'tape'}: 1 line was cut off and left out\n"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_what_was_answered_before_a_kill_is_on_the_recording(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from m3bench.proxy.upstreams.cassette import Cassette, Take\n"
        "c = Cassette(Path(sys.argv[1]), replaying=False); c.open(); c.note_server('far', {}, stateful=True)\n"
        "t = Take(c)\n"
        "for n in range(10**9):\n"
        "    t.keep('far', 'tools/call', {'name': 'count', 'arguments': {}}, str(n).encode() * 2000)\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "tape")], stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(50):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    last = [line for line in process.stdout.read().split(b"\n") if line][-1:]
    process.wait()
    process.stdout.close()
    seen = int(last[0]) + 1 if last else 50
    found = replay(tmp_path / "tape", times=seen)
    assert found == [str(number).encode() * 2000 for number in range(seen)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"hello", "is not a cassette"),
        (b'{"a": 1}\n', "is not a cassette"),
        (b'{\n "format": "m3bench/cassette",\n "version": 1\n}', "is not a cassette of this version"),
        (b'{"format":"m3bench/cassette","version":9}\n', "line 1"),
        (b'{"format":"m3bench/cassette","version":2}\n[1]\n', "line 2"),
        (b'{"format":"m3bench/cassette","version":2}\n{"server":"x","list":"tools/list","entries":[]}\n', "line 2"),
    ],
)
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "tape"
    path.write_bytes(content)
    for replaying in (True, False):
        with pytest.raises(InputFileError, match=problem):
            Cassette(path, replaying=replaying)
    assert_same_bytes(path.read_bytes(), content, "tape")


def test_a_recording_that_cannot_be_begun_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot be read"):
        Cassette(tmp_path / "none", replaying=True)
    with pytest.raises(InputFileError, match="cannot be written"):
        Cassette(tmp_path / "none" / "tape", replaying=False).open()


def test_an_answer_that_cannot_be_written_is_said_and_the_next_line_is_whole(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path / "tape", b"1")
    cassette = Cassette(tmp_path / "tape", replaying=False)
    cassette.open()
    take, write = Take(cassette), __import__("os").write
    monkeypatch.setattr("os.write", lambda file, data: write(file, data[:20]))
    take.keep("far", "tools/call", COUNT, b"1")
    monkeypatch.undo()
    take.keep("far", "tools/call", COUNT, b"1")
    take.keep("far", "tools/call", COUNT, b"2")
    cassette.close()
    assert "cannot be written" in capfd.readouterr().err
    assert replay(tmp_path / "tape", times=2) == [b"1", b"2"]


@pytest.mark.anyio
async def test_tools_prompts_and_resources_are_recorded_and_given_again_without_the_server(tmp_path: Path) -> None:
    path, seat = tmp_path / "tape", Seat(id="seat", profile="full")

    async def play(upstreams: UpstreamServers, run: str) -> list[object]:
        found: list[object] = [text(await call(upstreams, seat, run, "count")) for _ in range(3)]
        found += [(await call(upstreams, seat, run, "refuse")).error]
        found += [await upstreams.prompts(seat), await upstreams.resources(seat), await upstreams.templates(seat)]
        asked: list[tuple[str, dict[str, object]]] = [
            ("prompts/get", {"name": "greet", "arguments": {"who": "you"}}),
            ("prompts/get", {"name": "greet", "arguments": {}}),
            ("resources/read", {"uri": "far://one"}),
            ("resources/read", {"uri": "far://none/size"}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"value": "y"}}),
        ]
        for method, params in asked:
            try:
                found.append(await upstreams.ask(seat, method, params, None, 20))
            except UpstreamError as error:
                found.append((error.code, str(error), error.data))
        return found

    with anyio.fail_after(60):
        async with UpstreamServers({"far": FAR}, cassette=Cassette(path, replaying=False)) as upstreams:
            live = await play(upstreams, "a")
            await call(upstreams, seat, "a", "grow")
            assert text(await call(upstreams, seat, "a", "new")) == "this is new"
            assert upstreams.versions == {"far": {"name": "far", "version": "1"}}
        async with UpstreamServers({}, cassette=Cassette(path, replaying=True)) as upstreams:
            assert await play(upstreams, "a") == live
            upstreams.stop("seat")
            assert await play(upstreams, "b") == live
            assert text(await call(upstreams, seat, "b", "new")) == "this is new"
            assert upstreams.versions == {"far": {"name": "far", "version": "1"}}
            missed = await call(upstreams, seat, "b", "count", more=True)
            assert (missed.outcome, missed.owner) == ("failed", "cassette")
            assert "not in the recording: it has no answer to far/count" in text(missed)
            with pytest.raises(CassetteError, match="no answer to far://two"):
                await upstreams.ask(seat, "resources/read", {"uri": "far://two"}, None, 20)
        async with UpstreamServers({"far": FAR}, cassette=Cassette(path, replaying=True, live=True)) as upstreams:
            assert text(await call(upstreams, seat, "c", "count")) == "1"
            assert text(await call(upstreams, seat, "c", "count", more=True)) == "1"
    assert live[:4] == ["1", "2", "3", (-5, "not today", {"when": "tomorrow"})]


def test_questions_are_the_same_whatever_the_order_of_keys() -> None:
    assert question("t", {"a": 1, "b": [1.0, "x"]}) == question("t", {"b": [1, "x"], "a": 1.0})
    assert question("t", {"a": 1}) != question("t", {"a": "1"})
    assert question("t", {"a": True}) != question("t", {"a": 1})
