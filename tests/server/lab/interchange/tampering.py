"""Changes to a bundle, as somebody with an archive program and some patience would make them."""

import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES, claims_of
from m3bench.server.lab.interchange.submission import Submission
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.building import score_run
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import Client
from m3bench.server.scoring import Encoder
from m3bench.server.store.capability import client_facts
from m3bench.server.store.records import OWN_TOOLS
from m3bench.server.store.seal import seal

Members = dict[str, bytes]


def unpacked(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Members, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def change_json(members: Members, name: str, change: Callable[[Any], None]) -> None:
    data = json.loads(members[name])
    change(data)
    members[name] = json.dumps(data).encode()


def change_lines(members: Members, name: str, change: Callable[[list[Any]], None]) -> None:
    lines = [json.loads(line) for line in members[name].splitlines()]
    change(lines)
    members[name] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def run_of(members: Members, task: str) -> str:
    """The folder of a task's run."""
    return next(
        name.removesuffix("/run.json")
        for name in sorted(members)
        if name.endswith("/run.json") and json.loads(members[name])["task"] == task
    )


def put_value(members: Members, content: bytes) -> str:
    digest = sha256(content).hexdigest()
    members[f"values/{digest}"] = content
    return digest


def index_again(members: Members) -> None:
    """Make the hashes of the index fit."""
    hashes = {name: sha256(content).hexdigest() for name, content in members.items() if name != "bundle.json"}
    change_json(members, "bundle.json", lambda index: index.update(members=hashes))


def seal_again(members: Members, run: str, folder: Path) -> None:
    """Make the seal of a run fit."""
    with Archive(packed(members, folder / "sealing.m3run"), NAMES) as archive:
        found = Submission(archive).run(run.removeprefix("runs/"))
    files = {file.path: file.value for file in found.files}
    calls = [call for call in found.calls if call.tool not in OWN_TOOLS]
    made = seal(found.record, calls, files, found.record.answer or "", found.record.fields)
    change_json(members, f"{run}/run.json", lambda record: record.update(seal=made))


def claim_again(
    members: Members,
    installation: LocalInstallation,
    encoder: Encoder,
    folder: Path,
    capabilities: dict[str, Any] | None = None,
) -> None:
    """Make everything fit that can be computed from the log: the cards, the claims, the seals, the hashes."""
    for run in sorted({name.rpartition("/")[0] for name in members if name.endswith("/run.json")}):
        seal_again(members, run, folder)
        if f"{run}/card.json" in members:
            card = card_of(members, run, installation, encoder, folder, capabilities)
            members[f"{run}/card.json"] = json.dumps(card).encode()
    index_again(members)
    with Archive(packed(members, folder / "claiming.m3run"), NAMES) as archive:
        submission = Submission(archive)
        scored = [sample for sample in submission.samples if sample.state == "scored" and sample.run is not None]
        records = {sample.run: submission.run(sample.run).record for sample in scored if sample.run}
    cards = {id: read_card(record.scorecard or {}) for id, record in records.items()}
    results = [Result(sample=sample, run=records[sample.run], card=cards[sample.run]) for sample in scored]
    planned = len(submission.header.tasks) * submission.header.repeats
    void = len(submission.samples) - len(scored)
    claims = claims_of(
        [result.row for result in results],
        [result.paper_row for result in results],
        sum(result.card.success is True for result in results),
        void,
        planned - len(submission.samples),
    )
    change_json(members, "bundle.json", lambda index: index.update(claims=claims.model_dump(mode="json")))


def card_of(
    members: Members,
    run: str,
    installation: LocalInstallation,
    encoder: Encoder,
    folder: Path,
    capabilities: dict[str, Any] | None = None,
) -> Any:
    """The score card of a run, by what is known of its client or is said to be."""
    with Archive(packed(members, folder / "scoring.m3run"), NAMES) as archive:
        submission = Submission(archive)
        found = submission.run(run.removeprefix("runs/"))
        with TemporaryDirectory(dir=folder) as name:
            submission.furnish(found, Path(name))
            library, last = installation.library, found.calls[-1]
            task = library.task(found.record.task)
            facts = client_facts(folder / "nothing", last.client, last.revision, installation.clients)
            facts["capabilities"] = capabilities or facts["capabilities"]
            client = Client(**facts)
            calls = [call for call in found.calls if call.tool not in OWN_TOOLS]
            known = (library.plans(task), library.scenes(task))
            return score_run(found.record, task, calls, Path(name), encoder, client, *known).to_json()
