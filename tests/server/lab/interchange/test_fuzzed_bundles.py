"""Whatever is done to a bundle, the verifier says what it is: it never crashes, and nothing gets above its level.

A seed makes one mutation: some values of a document are others, some bytes of a document or of the archive are. Half of
them are of a signed bundle, where nothing may stay attested whose signed parts are others.
"""

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import pytest

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.attesting import attest_bundle
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.verdict import BundleVerdict
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.runs.attestation.keys import PublicKey
from m3bench.server.scoring import Encoder
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from tests.server.lab.interchange.conftest import Signed
from tests.server.lab.interchange.tampering import Members, index_again, packed, unpacked
from tests.server.lab.interchange.test_attacks import verified

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**53, 2**63, 10**400, 1e308, float("nan"), "", "x" * 5000, "\x1b[2J", "\u202e", "\ud800",
    "../..", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", [], {}, [[]], {"a": {}}, "0" * 64,
)  # fmt: skip

TOGETHER = 12
"""Bundles that hold are put on one board, which is written when it has this many."""

REPLAYED = 40
"""One of so many that hold is replayed as well."""


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document that holds something."""
    for key in data if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from _places(data[key])


def _by_structure(members: Members, chance: random.Random) -> None:
    """Some values of a document are others; sums are right again."""
    name = chance.choice(sorted(name for name in members if not name.startswith("values/")))
    lines = members[name].splitlines() if name.endswith("l") else [members[name]]
    if not lines:
        return
    documents = [json.loads(line) for line in lines]
    for _ in range(chance.choice((1, 1, 1, 3))):
        places = list(_places(chance.choice(documents)))
        if not places:
            continue
        holder, key = chance.choice(places)
        match chance.randrange(4):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1:
                holder[key] = [holder[key], holder[key]]
            case 2:
                other, place = chance.choice(places)
                holder[key] = deepcopy(other[place])
            case _:
                holder[key] = deepcopy(chance.choice(ODD))
    members[name] = b"".join(json.dumps(document).encode() + b"\n" for document in documents)
    if name != "bundle.json":
        index_again(members)


def _some_bytes(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice((1, 4, 30)) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if data and chance.random() < 0.1:
        del data[chance.randrange(len(data)) :]
    return bytes(data)


def mutated(seed: int, bundle: bytes, honest: Members, path: Path) -> None:
    """Write what a seed makes of a bundle."""
    chance = random.Random(seed)
    members = dict(honest)
    match seed % 4:
        case 0:
            path.write_bytes(_some_bytes(bundle, chance))
            return
        case 1:
            name = chance.choice(sorted(members))
            members[name] = _some_bytes(members[name], chance)
            if name != "bundle.json" and chance.random() < 0.8:
                index_again(members)
        case _:
            _by_structure(members, chance)
    packed(members, path)


def signed_parts(members: Members) -> dict[str, Any]:
    """By run, what its server signed: what was asked, called, answered and left."""
    found: dict[str, Any] = {}
    for name in members:
        if name.endswith("/run.json"):
            place, run = name.removesuffix("/run.json"), json.loads(members[name])
            calls = [json.loads(line) for line in members[f"{place}/calls.jsonl"].splitlines()]
            files = [json.loads(line) for line in members[f"{place}/files.jsonl"].splitlines()]
            record = {key: run.get(key) for key in ("id", "task", "seal", "answer", "fields", "manifest", "started")}
            parts = ("id", "tool", "request", "result", "outcome", "owner", "received_ns", "forwarded_ns")
            agents = [{part: call[part] for part in parts} for call in calls if "/" in call["tool"]]
            found[place] = (record, agents, {file["path"]: file["value"] for file in files})
    return found


class Target(NamedTuple):
    """A bundle to be mutated, and what it is held against."""

    bundle: bytes
    members: Members
    installation: LocalInstallation
    keys: tuple[PublicKey, ...]


class Fuzzer:
    """Mutates bundles, has them verified and puts what holds on a board, which must come out whole.

    Args:
        targets: The bundles.
        folder: Where mutated ones and the board lie meanwhile.
        encoder: To score with.
    """

    def __init__(self, targets: list[Target], folder: Path, encoder: Encoder) -> None:
        self._targets = targets
        self._path, self._place = folder / "mutated.m3run", folder / "board"
        self._encoder = encoder
        self._held = 0
        self._boards: dict[int, BundleBoard] = {}

    def try_one(self, seed: int) -> str:
        """What the verifier says of the bundle that a seed makes."""
        number = seed // 4 % len(self._targets)
        target = self._targets[number]
        mutated(seed, target.bundle, target.members, self._path)
        try:
            verdict = verify_bundle(self._path, target.installation, self._encoder)
            attest_bundle(self._path, verdict, target.keys)
        except InputFileError:
            return "no bundle"
        assert verdict.level != "attested" or target.keys
        if verdict.confirmed:
            self._holds(number, target, verdict)
        return verdict.level

    def _holds(self, number: int, target: Target, verdict: BundleVerdict) -> None:
        if verdict.level == "attested":
            honest, here = signed_parts(target.members), signed_parts(unpacked(self._path))
            assert {run: honest.get(run) for run in here} == here
            assert verdict.coverage.scored + verdict.coverage.void + verdict.coverage.missing >= len(honest)
        self._held += 1
        if self._held % REPLAYED == 0:
            again = verified(self._path, target.installation, self._encoder, *target.keys)
            assert again.level in ("consistent", "replayed", "attested")
        if number not in self._boards:
            self._boards[number] = BundleBoard(
                self._place / str(number), target.installation.library, self._encoder, mixed=True
            )
        self._boards[number].accept(self._path, verdict, "consistent")
        if len(self._boards[number].bundles) >= TOGETHER:
            self.show(number)

    def show(self, number: int) -> None:
        """Write a board, and begin another one."""
        board = self._boards.pop(number)
        if board.bundles:
            assert len(board.write().entries) == len(board.bundles)
        rmtree(board.folder, ignore_errors=True)

    def end(self) -> None:
        """Write what is left."""
        for number in list(self._boards):
            self.show(number)


@pytest.fixture(scope="session")
def targets(bundle: Path, library: Library, signed: Signed) -> list[Target]:
    """An unsigned bundle and a signed one."""
    given = [(bundle, library, ()), (signed.bundle, signed.library, (signed.key,))]
    return [Target(path.read_bytes(), unpacked(path), LocalInstallation(tasks), keys) for path, tasks, keys in given]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 160), *(pytest.param(first, 10_000, marks=pytest.mark.night) for first in range(0, 100_000, 10_000))],
)
def test_no_mutation_of_an_honest_bundle_crashes_the_verifier_or_gets_above_its_level(
    first: int, count: int, targets: list[Target], tmp_path: Path, encoder: Encoder
) -> None:
    fuzzer = Fuzzer(targets, tmp_path, encoder)
    levels = set()
    for seed in range(first, first + count):
        try:
            levels.add(fuzzer.try_one(seed))
        except Exception as error:
            raise AssertionError(f"mutation {seed}") from error
    fuzzer.end()
    assert levels >= {"no bundle", "refuted", "consistent"}
