"""The bundles of an event: one for each participant, of all their runs, and a signed tally of everything."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from m3bench.server.lab.interchange.bundle import pack_set
from m3bench.server.lab.results.documents import file_name
from m3bench.server.lab.results.resultset import ResultSet, Sample, read_record
from m3bench.server.runs.attestation.keys import key_of
from m3bench.server.runs.attestation.statements import counted, entries, state_tally
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import RunRecord
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

TALLY = "tally.json"


@dataclass(frozen=True, kw_only=True)
class Packed:
    """What was packed for a participant."""

    name: str
    file: Path | None
    """Their bundle; None when they submitted nothing."""
    counts: Mapping[str, int]
    """Their runs, by what became of them."""


def pack_participants(
    place: RecordLocation, seats: Mapping[str, str], tasks: Sequence[str], folder: Path
) -> list[Packed]:
    """Write a bundle for each participant of an event whose runs are scored.

    Args:
        place: Where the event's record is.
        seats: The seat of each participant, by their name.
        tasks: What everybody was to play.
        folder: Where the bundles go.

    Raises:
        InputFileError: There is no record, or something cannot be written.
    """
    everything = read_record(place)
    store = open_store(place)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        runs = store.runs()
        made = []
        for name, seat in sorted(seats.items()):
            mine = [run for run in runs if run.seat == seat]
            file = None
            if any(run.scorecard is not None for run in mine):
                file = folder / f"{file_name(name)}.m3run"
                pack_set(_of(everything, name, mine, tasks), store, file, seat=seat)
            made.append(Packed(name=name, file=file, counts=counted(_states(mine))))
        _write_tally(folder, place.folder, runs, made)
    except OSError as error:
        raise InputFileError(folder, f"cannot be written ({error.strerror or error})") from error
    finally:
        store.close()
    return made


def _of(everything: ResultSet, name: str, mine: Sequence[RunRecord], tasks: Sequence[str]) -> ResultSet:
    """What one participant did, out of everything there was to do."""
    own = {run.id for run in mine}
    results = tuple(
        replace(result, sample=result.sample.model_copy(update={"repeat": 1}))
        for result in everything.results
        if result.run.id in own
    )
    done = {result.sample.task for result in results}
    void = {sample.task: sample for sample in everything.void if sample.run in own and sample.task not in done}
    clients = dict.fromkeys(result.card.client.name for result in results if result.card.client is not None)
    header = everything.header.model_copy(
        update={
            "name": name,
            "agent": ", ".join(clients) or "unknown client",
            "repeats": 1,
            "tasks": tuple(tasks),
            "profile": ", ".join(dict.fromkeys(str(run.manifest.get("profile")) for run in mine)),
            "started": min(run.started for run in mine),
        }
    )
    lost: tuple[Sample, ...] = tuple(sample.model_copy(update={"repeat": 1}) for sample in void.values())
    return replace(everything, header=header, results=results, void=lost)


def _states(runs: Sequence[RunRecord]) -> dict[str, int]:
    return {state: sum(run.state == state for run in runs) for state in sorted({run.state for run in runs})}


def _write_tally(folder: Path, data: Path, runs: Sequence[RunRecord], made: Sequence[Packed]) -> None:
    """Every run of the event, counted, and signed where there is a key."""
    key = key_of(data)
    signed = state_tally(key, runs, entries(data)).model_dump(mode="json") if key is not None else None
    tally = {
        "counts": counted(_states(runs)),
        "participants": {participant.name: dict(participant.counts) for participant in made},
        "key": None if key is None else key.public.line,
        "signed": signed,
    }
    write_atomically(folder / TALLY, f"{json.dumps(tally, ensure_ascii=False, indent=1)}\n".encode())
