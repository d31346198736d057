"""What is stated of runs: signed, in a log that only grows, and about what it says it is about."""

from dataclasses import replace
from pathlib import Path

from m3bench.server.runs.attestation.keys import FILE as KEY
from m3bench.server.runs.attestation.keys import make_key
from m3bench.server.runs.attestation.statements import FILE, Attestor, Envelope, entries, state_tally
from m3bench.server.store.records import CallRecord, RunRecord

RUN = RunRecord(
    id="a1", seat="seat", task="sum-1", state="submitted", mode="ranked", started="2026-01-01T00:00:00", ended=None,
    answer="5", seal="1:abc", manifest={"profile": "full", "event": "cup", "participant": "Ada"}, scorecard=None,
)  # fmt: skip
CALL = CallRecord(
    id=1, run="a1", seat="seat", tool="math/sum", request_id="1", request=b"{}", revision="2026-07-28", client="one 1",
    wall="", received_ns=1, outcome="success", owner="agent", result=b"5", error=None, full=None, forwarded_ns=2,
    returned_ns=3, sent_ns=4,
)  # fmt: skip


def attestor(data: Path) -> Attestor:
    """One that knows of its clients how they overlap calls."""
    return Attestor(data, lambda run: {"overlap": "together"} if run.id == "a1" else None)


def test_a_sealed_run_is_stated_once_and_by_everything_it_consists_of(tmp_path: Path) -> None:
    key = make_key(tmp_path / KEY)
    attestor(tmp_path).sealed(RUN, [CALL], {"a.txt": "00"}, lambda: {"submitted": 2, "void": 1})
    attestor(tmp_path).sealed(replace(RUN, id="b2"), [], {}, dict)
    first, second = (Envelope.model_validate_json(line).statement(key.public) for line in entries(tmp_path))
    assert first is not None
    assert second is not None
    assert first["predicate"]["counts"] == {"started": 3, "submitted": 2, "void": 1}
    assert (first["predicate"]["client"], first["predicate"]["participant"]) == ("one 1", "Ada")
    assert (second["predicate"]["run"], second["predicate"]["client"]) == ("b2", "")
    assert (first["predicate"]["capabilities"], second["predicate"]["capabilities"]) == ({"overlap": "together"}, None)
    subjects = [[part["digest"] for part in stated["subject"]] for stated in (first, second)]
    assert subjects[0] != subjects[1]


def test_a_line_that_was_torn_off_does_not_spoil_the_next(tmp_path: Path) -> None:
    make_key(tmp_path / KEY)
    (tmp_path / FILE).write_bytes(b'{"torn')
    attestor(tmp_path).sealed(RUN, [], {}, dict)
    torn, whole = entries(tmp_path)
    assert torn == b'{"torn'
    assert Envelope.model_validate_json(whole)


def test_nothing_is_stated_without_a_key(tmp_path: Path) -> None:
    attestor(tmp_path).sealed(RUN, [], {}, dict)
    assert entries(tmp_path) == []


def test_a_tally_accounts_for_every_run(tmp_path: Path) -> None:
    key = make_key(tmp_path / KEY)
    attestor(tmp_path).sealed(RUN, [], {}, lambda: {"submitted": 1})
    runs = [RUN, replace(RUN, id="b2", state="void", seal=None, ended="2026-01-02T00:00:00")]
    stated = state_tally(key, runs, entries(tmp_path), seat="seat").statement(key.public)
    assert stated is not None
    assert stated["predicate"]["counts"] == {"started": 2, "submitted": 1, "void": 1}
    assert stated["predicate"]["sealed"] == {"a1": "abc"}
    assert (stated["predicate"]["seat"], stated["predicate"]["log"]["size"]) == ("seat", 1)
    assert stated["predicate"]["last"] == "2026-01-02T00:00:00"
