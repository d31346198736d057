"""A recorded run becomes a reference only if it is sound, as short as can be, proved, and accepted by somebody."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.lab.authoring.curation.judge import RuleJudge, RunVerdict
from m3bench.server.lab.authoring.curation.material import CurationMaterial
from m3bench.server.lab.authoring.curation.pipeline import FILE, Candidate, Curated, Ruling, curate, note
from m3bench.server.lab.authoring.curation.proof import Prover
from m3bench.server.lab.authoring.curation.review import Everyone, reference_text
from m3bench.server.lab.authoring.curation.summary import Proposal, RuleSummariser
from m3bench.server.lab.authoring.curation.task_folder import add_references, check_folder
from m3bench.server.lab.authoring.verification import verify
from m3bench.server.scoring import Encoder, open_encoder
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from m3bench.tasks.task import Reference, ReferenceCall, Task
from tests.server.lab.authoring.curation.recording import Called, as_sets, own_calls, record

LIBRARY = Library()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return open_encoder()


@pytest.fixture(scope="module")
def prover(encoder: Encoder) -> Prover:
    return Prover(LIBRARY, InProcessBackend(), encoder)


class Agreeable:
    """A scripted judge that accepts everything."""

    async def judge(self, material: CurationMaterial) -> RunVerdict:
        return RunVerdict(accepted=True, judge="script")


class Watched:
    """A scripted reviewer that answers in turn and remembers what it was shown."""

    def __init__(self, *rulings: Ruling | Callable[[Candidate], Ruling]) -> None:
        self.shown: list[Candidate] = []
        self._rulings = list(rulings)

    def review(self, candidate: Candidate) -> Ruling:
        self.shown.append(candidate)
        ruling = self._rulings.pop(0)
        return ruling if isinstance(ruling, Ruling) else ruling(candidate)


def wasteful(task: Task) -> list[Called]:
    """The reference as a bad planner would play it: nothing together, much of it twice, and with errors."""
    calls = own_calls(task)
    played: list[Called] = [("google-maps/place_details", {"place_id": "ChIJdoesnotexist"}), ("math/nothing", {})]
    for number, (tool, arguments) in enumerate(calls):
        required = {name: value for name, value in arguments.items() if name != next(iter(arguments))}
        played += [(tool, required), (tool, arguments)] if number % 2 else [(tool, arguments)]
        played += [calls[0]] if number else []
    return [*played, calls[-1], calls[-1]]


async def taken(material: CurationMaterial, prover: Prover, reviewer: object = None, **stages: object) -> Curated:
    (curated,) = await curate(
        [material],
        judge=stages.get("judge", Agreeable()),  # type: ignore[arg-type]
        summariser=stages.get("summariser", RuleSummariser()),  # type: ignore[arg-type]
        prover=prover,
        reviewer=reviewer or Everyone("accept", "as proved"),  # type: ignore[arg-type]
        by="tester",
    )
    return curated


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("id", ["barcode_lookup-1", "attraction-1", "travel_comparison-2", "fruit_cal-2"])
async def test_a_wasteful_run_becomes_the_familys_own_reference(id: str, tmp_path: Path, prover: Prover) -> None:
    task = LIBRARY.task(id)
    material = await record(tmp_path, id, wasteful(task))
    assert len(material.acts) > 2 * len(own_calls(task))
    assert any(not act.succeeded for act in material.acts)
    assert len({act.step for act in material.acts}) == len(material.acts)
    curated = await taken(material, prover)
    assert curated.reference is not None, curated.problems
    assert as_sets(curated.reference) == as_sets(task.references[0])
    assert (curated.decision.decision, curated.decision.same_as) == ("accepted", 1)


@pytest.mark.anyio
async def test_the_rules_accept_a_wasteful_run_that_is_sound(tmp_path: Path) -> None:
    material = await record(tmp_path, "barcode_lookup-1", wasteful(LIBRARY.task("barcode_lookup-1")))
    assert await RuleJudge().judge(material) == RunVerdict(accepted=True)


@pytest.mark.anyio
async def test_a_call_that_uses_a_value_before_it_was_given_is_a_causal_error(tmp_path: Path, prover: Prover) -> None:
    scan, first, second, total = own_calls(LIBRARY.task("barcode_lookup-1"))
    material = await record(tmp_path, "barcode_lookup-1", [first, second, scan, total])
    reviewer = Watched()
    curated = await taken(material, prover, reviewer, judge=RuleJudge())
    assert curated.decision.decision == "rejected by the judge"
    assert f"uses {first[1]['isbn']!r} before call 3 gave it" in curated.decision.reason
    assert reviewer.shown == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_value_that_nothing_gave_is_a_causal_error(tmp_path: Path) -> None:
    calls = own_calls(LIBRARY.task("movies-1"))
    material = await record(
        tmp_path, "movies-1", [call for call in calls if call[0] != "google-maps/places_nearby_search"]
    )
    verdict = await RuleJudge().judge(material)
    assert not verdict.accepted
    assert any("which nothing gave" in reason for reason in verdict.reasons)


@pytest.mark.anyio
async def test_what_only_a_failed_call_said_must_not_be_carried_on(tmp_path: Path) -> None:
    material = await record(tmp_path, "barcode_lookup-1", own_calls(LIBRARY.task("barcode_lookup-1")))
    scan, *rest = material.acts
    broken = replace(material, acts=(replace(scan, outcome="failed"), *rest))
    verdict = await RuleJudge().judge(broken)
    assert not verdict.accepted
    assert "which only the failed call 1 said" in verdict.reasons[0]


@pytest.mark.anyio
async def test_a_run_with_a_wrong_outcome_is_rejected(tmp_path: Path) -> None:
    calls = own_calls(LIBRARY.task("barcode_lookup-1"))
    material = await record(tmp_path, "barcode_lookup-1", calls, answer="I could not find out.")
    verdict = await RuleJudge().judge(material)
    assert not verdict.accepted
    assert all(reason.startswith("its outcome is wrong") for reason in verdict.reasons)


class Fixed:
    """A scripted summariser."""

    def __init__(self, *references: Reference) -> None:
        self._references = references

    async def propose(self, material: CurationMaterial) -> AsyncIterator[Proposal]:
        for reference in self._references:
            yield Proposal(reference=reference, author="script")


def steps(*steps: list[Called]) -> Reference:
    return Reference(
        steps=tuple(tuple(ReferenceCall(tool=tool, arguments=arguments) for tool, arguments in step) for step in steps)
    )


def unprovable() -> dict[str, Reference]:
    scan, first, second, total = own_calls(LIBRARY.task("barcode_lookup-1"))
    missing = ("openlibrary_mcp/get_book_info", {"isbn": "0000000000000"})
    return {
        "a call fails": steps([scan], [first, second, missing], [total]),
        "a value comes too early": steps([scan, first, second], [total]),
        "a step needs nothing": steps([scan], [first], [second], [total]),
        "a call is made twice": steps([scan], [first, second], [total, total]),
        "a tool does not exist": steps([scan], [("wiki/nothing", {})], [first, second], [total]),
        "a step is empty": steps([scan], [], [first, second], [total]),
        "there is nothing": Reference(steps=()),
    }


@pytest.mark.sample(2)
@pytest.mark.anyio
@pytest.mark.parametrize("flaw", unprovable())
async def test_what_cannot_be_proved_never_reaches_the_person(flaw: str, tmp_path: Path, prover: Prover) -> None:
    material = await record(tmp_path, "barcode_lookup-1", own_calls(LIBRARY.task("barcode_lookup-1")))
    reviewer = Watched()
    curated = await taken(material, prover, reviewer, summariser=Fixed(unprovable()[flaw]))
    assert reviewer.shown == []
    assert curated.decision.decision == "not proved"
    assert curated.decision.reason
    assert curated.reference is None


@pytest.mark.slow
@pytest.mark.anyio
async def test_the_first_proposal_that_is_proved_is_taken(tmp_path: Path, prover: Prover) -> None:
    task = LIBRARY.task("barcode_lookup-1")
    material = await record(tmp_path, task.id, own_calls(task))
    curated = await taken(material, prover, summariser=Fixed(*unprovable().values(), task.references[0]))
    # The six flawed ones come first, and a run is given up after so many.
    assert curated.reference is None
    curated = await taken(material, prover, summariser=Fixed(unprovable()["a call fails"], task.references[0]))
    assert curated.reference == task.references[0]


@pytest.mark.slow
@pytest.mark.anyio
async def test_an_edit_is_proved_before_it_is_shown_again(tmp_path: Path, prover: Prover) -> None:
    scan, first, second, _ = calls = own_calls(LIBRARY.task("barcode_lookup-1"))
    material = await record(tmp_path, "barcode_lookup-1", calls)
    by_eye = steps([first, second])
    reviewer = Watched(
        Ruling(kind="edit", text="{"),
        Ruling(kind="edit", text='{"steps": 3}'),
        Ruling(kind="edit", text=reference_text(unprovable()["a call fails"])),
        Ruling(kind="edit", text=reference_text(steps([scan], [first, second]))),
        Ruling(kind="accept", reason="two numbers need no tool"),
    )
    curated = await taken(material, prover, reviewer)
    assert [bool(candidate.problems) for candidate in reviewer.shown] == [False, True, True, True, False]
    assert "not JSON" in reviewer.shown[1].problems[0]
    assert reviewer.shown[4].edited
    assert curated.reference == steps([scan], [first, second])
    assert curated.decision.edited
    assert by_eye != curated.reference


@pytest.mark.slow
@pytest.mark.anyio
async def test_accepted_references_make_a_set_that_verifies(tmp_path: Path, prover: Prover) -> None:
    calls = own_calls(LIBRARY.task("barcode_lookup-2"))
    material = await record(tmp_path / "data", "barcode_lookup-2", calls)
    scan, *books, _ = calls
    extra = steps([scan], [*books, ("wiki/search", {"query": "novel"})], [calls[-1]])
    folder = tmp_path / "set"
    check_folder(folder)
    for reference in (LIBRARY.task("barcode_lookup-2").references[0], extra):
        curated = await taken(material, prover, summariser=Fixed(reference))
        assert curated.reference is not None, curated.problems
        add_references(folder, LIBRARY, [(material.task.id, curated.reference)])
        note(folder, curated.decision)
    check_folder(folder)
    made = Library(folder)
    (task,) = made.tasks.values()
    assert task.references == (*LIBRARY.task("barcode_lookup-2").references, extra)
    assert "wiki" in task.servers
    assert await verify(made, InProcessBackend()) == []
    lines = [json.loads(line) for line in (folder / FILE).read_text().splitlines()]
    assert [(line["decision"], line["by"], line["same_as"]) for line in lines] == [
        ("accepted", "tester", 1),
        ("accepted", "tester", None),
    ]
    assert all(line["seal"] == material.seal and line["candidate"] and line["time"] for line in lines)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputFileError, match="not a set of tasks"):
        check_folder(tmp_path)
