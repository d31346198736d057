"""Whatever is done to a bundle, the verifier says what it is: it never crashes, and nothing gets above its level."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.scoring import Encoder
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from tests.server.lab.interchange.tampering import Members, index_again, packed, unpacked

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**53, 2**63, 10**400, 1e308, float("nan"), "", "x" * 5000, "\x1b[2J", "\u202e", "\ud800",
    "../..", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", [], {}, [[]], {"a": {}}, "0" * 64,
)  # fmt: skip


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
        document = chance.choice(documents)
        holder, key = chance.choice(list(_places(document)))
        match chance.randrange(3):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1:
                holder[key] = [holder[key], holder[key]]
            case _:
                holder[key] = chance.choice(ODD)
    members[name] = b"".join(json.dumps(document).encode() + b"\n" for document in documents)
    if name != "bundle.json":
        index_again(members)


def _by_bytes(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 4, 30))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.1:
        del data[chance.randrange(len(data)) :]
    path.write_bytes(bytes(data))


def mutated(seed: int, bundle: Path, honest: Members, path: Path) -> None:
    """Write what a seed makes of a bundle."""
    chance = random.Random(seed)
    if seed % 2:
        path.write_bytes(bundle.read_bytes())
        _by_bytes(path, chance)
    else:
        members = dict(honest)
        _by_structure(members, chance)
        packed(members, path)


def survives(path: Path, place: Path, library: Library, encoder: Encoder) -> str:
    """What the verifier says of a bundle; what holds is put on a board, which must come out whole."""
    try:
        verdict = verify_bundle(path, LocalInstallation(library), encoder)
    except InputFileError:
        return "no bundle"
    assert verdict.level in ("refuted", "consistent")
    if verdict.confirmed:
        board = BundleBoard(place, library, encoder)
        if board.accept(path, verdict, "consistent").outcome != "accepted":
            return "not comparable"
        board.write()
        rmtree(place)
    return verdict.level


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutations",
    [12, pytest.param(100, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.night)],
)
def test_no_mutation_of_an_honest_bundle_crashes_the_verifier_or_gets_above_its_level(
    mutations: int, bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    honest, path = unpacked(bundle), tmp_path / "mutated.m3run"
    for seed in range(mutations):
        mutated(seed, bundle, honest, path)
        try:
            survives(path, tmp_path / "board", library, encoder)
        except Exception as error:
            raise AssertionError(f"mutation {seed}") from error
