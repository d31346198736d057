"""The file of a ranked event, and whom it lets play when (tests/ranked holds events over HTTP)."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from m3bench.server.runs.event import RankedEvent, make_event, token_hash
from m3bench.tasks.errors import InputFileError, UserError

OPENS = datetime(2026, 11, 20, 9, tzinfo=UTC)
CLOSES = datetime(2026, 11, 20, 18, tzinfo=UTC)


def test_the_schedule_decides_who_plays_when(tmp_path: Path) -> None:
    tokens = make_event(tmp_path / "event.toml", 'a "round"', OPENS, CLOSES, ["ann", "bob"])
    plan = RankedEvent.read(tmp_path / "event.toml").plan
    second = timedelta(seconds=1)
    moments = (OPENS - second, OPENS, CLOSES - second, CLOSES)
    told = [RankedEvent(plan, partial(datetime.fromisoformat, now.isoformat())).shut() for now in moments]
    assert "opens at 2026-11-20 09:00:00 UTC" in str(told[0])
    assert told[1:3] == [None, None]
    assert "closed at 2026-11-20 18:00:00 UTC" in str(told[3])
    event = RankedEvent(plan)
    seats = [event.guests[token_hash(tokens[name])] for name in ("ann", "bob")]
    assert [event.participant(seat) for seat in seats] == ["ann", "bob"]
    assert event.facts(seats[0]) == {"event": 'a "round"', "participant": "ann"}
    with pytest.raises(UserError, match="token that its operator gave you"):
        event.participant("x" * 40)


@pytest.mark.parametrize(
    ("names", "told"),
    [(["ann", "ann"], "two participants are called"), ([], "participants: "), (["a\nb"], "participants.0.name: ")],
)
def test_no_file_is_written_for_an_event_that_cannot_be_held(names: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        make_event(tmp_path / "event.toml", "round", OPENS, CLOSES, names)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputFileError, match="cannot be written"):
        make_event(tmp_path / "no" / "event.toml", "round", OPENS, CLOSES, ["ann"])
    with pytest.raises(InputFileError, match="cannot be read"):
        RankedEvent.read(tmp_path / "event.toml")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("closes = 2026", "closes = 1926"), "it closes before it opens"),
        (('name = "bob"', 'name = "ann"'), "two participants are called 'ann'"),
        (("opens = ", "opens = 'soon' #"), "opens"),
        (("opens = ", "opens = = "), "is not an event"),
        (("[[participants]]", "[[people]]"), "participants"),
    ],
)
def test_what_is_no_event_is_told(change: tuple[str, str], told: str, tmp_path: Path) -> None:
    path, moments = tmp_path / "event.toml", (OPENS, CLOSES)
    tokens = make_event(path, "round", *moments, ["ann", "bob"])
    assert path.stat().st_mode & 0o077 == 0
    assert not any(token in path.read_text() for token in tokens.values())
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(InputFileError, match=told):
        RankedEvent.read(path)
    path.chmod(0o644)
    with pytest.raises(InputFileError, match="read by others"):
        RankedEvent.read(path)
    with pytest.raises(InputFileError, match="never replaced"):
        make_event(path, "round", *moments, ["ann"])
