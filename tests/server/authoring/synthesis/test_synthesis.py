"""Tasks out of the graph of tools: executed, proved, in plain words, and the same bytes for the same seed."""

import random
import re
from collections.abc import Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from m3bench.proxy.dataflow import distinctive_values
from m3bench.proxy.steps import HINT
from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.app import App
from m3bench.server.authoring.curation.task_folder import write_set
from m3bench.server.authoring.lint import lint
from m3bench.server.authoring.synthesis.graph import Graph, learn
from m3bench.server.authoring.synthesis.instance import is_guessable
from m3bench.server.authoring.synthesis.lexicon import words
from m3bench.server.authoring.synthesis.pipeline import make_set, usable
from m3bench.server.authoring.synthesis.plan import plans
from m3bench.server.authoring.synthesis.rewording import Rewording
from m3bench.server.authoring.synthesis.rows import number, rows
from m3bench.server.authoring.synthesis.trial_sandbox import TrialSandbox
from m3bench.server.authoring.verification import verify
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import expose, load_catalog
from m3bench.tasks.checks import CallMade
from m3bench.tasks.errors import M3Error
from m3bench.tasks.facts import within
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.task import Task
from tests.art import art

COUNT = 20
SERVERS = tuple(server for server in usable() if server != "ocr")


def made(servers: Sequence[str], count: int, seed: int, rewording: Rewording | None = None) -> MadeLibrary:
    return anyio.run(
        partial(make_set, servers, count=count, seed=seed, art=art(), backend=InProcessBackend(), name="made",
                rewording=rewording)
    )  # fmt: skip


@cache
def full() -> MadeLibrary:
    """Twenty tasks about everything."""
    return made(SERVERS, COUNT, 1)


def hashes(library: MadeLibrary) -> dict[str, str]:
    return {name: sha256(data).hexdigest() for name, data in library.files()}


@pytest.mark.seeds
def test_a_seed_gives_twenty_tasks_that_are_proved():
    library = full()
    assert len(library.tasks) == COUNT
    assert anyio.run(partial(verify, library, InProcessBackend())) == []
    assert len({str(task.references[0].steps) for task in library.tasks.values()}) == COUNT
    assert len({frozenset(task.tools) for task in library.tasks.values()}) >= COUNT * 0.6


@pytest.mark.seeds
def test_the_same_seed_gives_the_same_bytes():
    assert hashes(made(SERVERS, COUNT, 1)) == hashes(full())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    servers = ["nasa-mcp", "openlibrary_mcp", "wiki"]
    one, again, other = (made(servers, 2, seed) for seed in (3, 3, 4))
    assert hashes(one) == hashes(again)
    assert dict(one.files()) != dict(other.files())


@pytest.mark.seeds
def test_every_task_has_two_hops_and_something_to_do_together():
    for task in full().tasks.values():
        steps = task.references[0].steps
        assert len(steps) >= 2, task.id
        assert any(len(step) > 1 for step in steps), task.id


@pytest.mark.seeds
def test_every_later_call_uses_what_only_an_earlier_answer_said():
    for task in full().tasks.values():
        answers = anyio.run(_answers, full(), task)
        told = task.question.casefold() + "\n" + "\n".join(
            text.text.casefold() for scene in full().scenes(task) for text in scene.texts
        )  # fmt: skip
        for number_of_step, step in enumerate(task.references[0].steps[1:], 1):
            before = "\n".join(answers[:number_of_step])
            for call in step:
                news = [value for value in distinctive_values(call.arguments) if not within(value, told)]
                names = [str(value).casefold() for value in call.arguments.values() if isinstance(value, str)]
                small = [
                    item
                    for value in call.arguments.values()
                    for item in (value if isinstance(value, list) else [value])
                ]
                known = {found for found in map(number, re.findall(r"-?[\d,]*\.?\d+", before)) if found is not None}
                assert any(within(value, before) for value in (*news, *names) if not within(value, told)) or all(
                    float(item) in known for item in small if isinstance(item, int | float)
                ), (task.id, call)


async def _answers(library: MadeLibrary, task: Task) -> list[str]:
    """What the steps of a reference answer, in one case."""
    from m3bench.server.authoring.performance import perform

    performance = await perform(library, task, task.references[0], InProcessBackend())
    texts = iter(call.text.casefold() for call in performance.calls)
    return ["\n".join(next(texts) for _ in step) for step in task.references[0].steps]


@pytest.mark.seeds
def test_questions_name_no_tool_and_say_nothing_of_the_card_or_the_answer():
    library, catalog = full(), load_catalog().ready
    for task in library.tasks.values():
        assert list(lint(task, library, catalog)) == []
        lines = [text.text for scene in library.scenes(task) for text in scene.texts][2:]
        assert lines
        assert not [line for line in lines if line.casefold() in task.question.casefold()], task.id
        assert "{" not in task.question
        assert len(task.checks) >= 3
        assert any(not isinstance(check, CallMade) for check in task.checks)
    openings = {task.question.split(".")[0].split(":")[0][:14] for task in library.tasks.values()}
    assert len(openings) >= 4


@pytest.mark.slow
@pytest.mark.anyio
async def test_playing_each_reference_through_a_server_scores_one_and_succeeds(tmp_path: Path):
    write_set(await anyio.to_thread.run_sync(full), tmp_path / "set")
    app = App(Settings.of(data=tmp_path / "data", sandbox="inprocess", tasks=tmp_path / "set"))
    async with app.lifespan():
        for id, task in app.library.tasks.items():
            card = await _played(app, id, task)
            assert card.success is True, (id, card.checks)
            assert card.average == 1, id


async def _played(app: App, id: str, task: Task) -> ScoreCard:
    seat = app.open_seat(profile=f"task:{id}")

    async def seat_of(context: object) -> Any:
        return seat

    async with Client(app.front.server(seat_of), mode="2026-07-28") as client:
        await client.call_tool("start_task", {"task_id": id})
        for number_of_step, step in enumerate(task.references[0].steps):
            async with anyio.create_task_group() as together:
                for call in step:
                    together.start_soon(
                        partial(client.call_tool, expose(call.tool), call.arguments, meta={HINT: number_of_step})
                    )
        await client.call_tool("submit", {"answer": task.answer})
        (run,) = app.store.runs(seat.id)
        return await app.score(run)


@cache
def graph() -> Graph:
    async def main() -> Graph:
        with TemporaryDirectory() as name:
            sandbox = await InProcessBackend().open(SandboxSpec(workspace=Path(name)))
            return await learn(
                TrialSandbox(sandbox, Path(name)), ["nasa-mcp", "amazon", "metmuseum-mcp", "wiki"], words()
            )

    return anyio.run(main)


def test_edges_are_learned_from_names_shapes_and_positions():
    found = {(edge.producer, edge.consumer) for edge in graph().edges}
    assert found >= {
        ("nasa-mcp/get_asteroids_feed", "nasa-mcp/get_asteroid_lookup"),
        ("amazon/search_products", "amazon/get_product"),
        ("metmuseum-mcp/search-museum-objects", "metmuseum-mcp/get-museum-object"),
    }
    assert not [pair for pair in found if pair[0] == pair[1]]


def test_no_plan_is_a_single_hop():
    dice = random.Random(1)
    for plan, _ in zip(plans(graph(), ["nasa-mcp", "amazon", "math"], dice), range(40), strict=False):
        assert plan.steps >= 2
        assert plan.is_parallel


@pytest.mark.parametrize(
    ("value", "thing", "guessable"),
    [
        ("yell", "Yellowstone National Park", True),
        ("grca", "Grand Canyon National Park", True),
        ("Joker", "joker", True),
        ("54438346", "2025-01-03", False),
        ("Harry Mulisch", "9780670856688", False),
    ],
)
def test_an_argument_that_stands_on_the_card_or_abbreviates_it_is_guessable(value, thing, guessable):
    assert is_guessable(value, [thing]) is guessable


def test_answers_are_read_in_every_form():
    assert rows('{"total": 2, "parks": [{"name": "Zion", "location": {"lat": 1.5}}, {"name": "Bryce"}]}') == [
        {"name": "Zion", "location.lat": 1.5},
        {"name": "Bryce"},
    ]
    assert rows('{"paper_id": "1"}\n{"paper_id": "2"}') == [{"paper_id": "1"}, {"paper_id": "2"}]
    assert rows("Title: A vase\nMedium: Clay\nYear: 1900") == [{"Title": "A vase", "Medium": "Clay", "Year": 1900}]
    assert rows("- One\n  Score: 3 | Comments: 4\n\n- Two\n  Score: 5 | Comments: 6") == [
        {"name": "One", "Score": 3, "Comments": 4},
        {"name": "Two", "Score": 5, "Comments": 6},
    ]
    assert rows("") == rows("\x00") == rows("[" * 100_000) == []
    assert number("$1,234.50") == 1234.5


class Scripted:
    """A rewording with one version that tells the answer's tool, and one that is right."""

    async def phrasings(self, question: str) -> list[str]:
        return [f"{question} Use get_asteroid_lookup.", f"Quick one, thanks! {question}"]


def test_a_rewording_that_names_a_tool_is_not_taken():
    (task,) = made(["nasa-mcp"], 1, 5, Scripted()).tasks.values()
    assert task.question.startswith("Quick one")


def test_a_card_can_be_read_with_a_tool_when_there_is_one():
    (task,) = made(["nasa-mcp", "ocr"], 1, 5).tasks.values()
    first, by_eye = task.references
    assert [call.tool for call in first.steps[0]] == ["ocr/perform_ocr"]
    assert first.steps[1:] == by_eye.steps


@pytest.mark.parametrize("servers", [["nowhere"], ["ppt"], ["wiki"]])
def test_servers_that_give_no_tasks_are_said_so(servers):
    with pytest.raises(M3Error):
        made(servers, 5, 1)


def test_the_lexicon_speaks_of_tools_that_exist():
    known = {tool.qualified for tool in load_catalog().ready.tools}
    assert words()
    for tool, entry in words().items():
        harvest = {entry.start.harvest.tool} if entry.start is not None and entry.start.harvest is not None else set()
        assert {tool} | harvest <= known
