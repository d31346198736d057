"""Synthesized tasks: executed, proved, asked for by somebody in plain words, and the same bytes for the same seed."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import combinations, islice, permutations
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp_types import RequestParamsMeta

from m3bench.proxy.steps.hints import HINT
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.app import App
from m3bench.server.lab.authoring.curation.task_folder import write_set
from m3bench.server.lab.authoring.fairness import solves
from m3bench.server.lab.authoring.replay import Performance, perform
from m3bench.server.lab.authoring.synthesis.errand import LONGEST, MOTIFS, errands, usable, wants
from m3bench.server.lab.authoring.synthesis.lexicon import kinds, links
from m3bench.server.lab.authoring.synthesis.pipeline import SynthesisRequest, make_set
from m3bench.server.lab.authoring.synthesis.rows import number, rows
from m3bench.server.lab.authoring.synthesis.usefulness import MOST_CALLS, MOST_WORDS, named, same_calls, same_words
from m3bench.server.lab.authoring.synthesis.wording import ModelRewording, Rewording
from m3bench.server.lab.authoring.verification import verify
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.settings import Settings
from m3bench.tasks.answers.fields import Choice, judge
from m3bench.tasks.answers.reading import read
from m3bench.tasks.catalog import expose, load_catalog
from m3bench.tasks.checks import Evidence
from m3bench.tasks.errors import M3Error
from m3bench.tasks.facts import Held
from m3bench.tasks.levels import shortest
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.task import Task
from tests.art import art
from tests.server.lab.authoring.scripted_asker import asker

# Inspect calls tenacity in a way that tenacity would rather not be called.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

SAMPLE, MANY = 2, 100
SERVERS = tuple(server for server in usable() if server != "ocr")


async def make(servers: Sequence[str], count: int, seed: int, rewording: Rewording | None = None) -> MadeLibrary:
    request = SynthesisRequest(servers=servers, count=count, seed=seed, name="made")
    return await make_set(request, art=art(), backend=InProcessBackend(), rewording=rewording)


@cache
def made(servers: tuple[str, ...], count: int, seed: int) -> MadeLibrary:
    return anyio.run(make, servers, count, seed)


@pytest.fixture(params=[SAMPLE, pytest.param(MANY, marks=pytest.mark.night)], ids=["few", "a hundred"])
def library(request: pytest.FixtureRequest) -> MadeLibrary:
    """Tasks about everything: a sample, and a hundred where there is time."""
    return made(SERVERS, request.param, 1)


def hashes(library: MadeLibrary) -> dict[str, str]:
    return {name: sha256(data).hexdigest() for name, data in library.files()}


def played(library: MadeLibrary, task: Task) -> Performance:
    return anyio.run(partial(perform, library, task, task.references[0], InProcessBackend()))


def servers_of(task: Task) -> set[str]:
    return {call.tool.partition("/")[0] for step in shortest(task) for call in step}


@pytest.mark.slow
def test_a_seed_gives_tasks_that_are_proved(library: MadeLibrary) -> None:
    assert anyio.run(partial(verify, library, InProcessBackend())) == []
    assert all(plan.played for task in library.tasks.values() for plan in library.plans(task))
    assert all(task.fields and not task.checks for task in library.tasks.values())


@pytest.mark.slow
def test_three_in_five_tasks_need_three_servers_without_what_can_be_worked_out_by_head(library: MadeLibrary) -> None:
    needed = [servers_of(task) for task in library.tasks.values()]
    assert all("math" not in servers for servers in needed)
    assert sum(len(servers) >= 3 for servers in needed) >= int(0.6 * len(needed))


@pytest.mark.slow
def test_no_two_tasks_are_near_duplicates(library: MadeLibrary) -> None:
    for one, other in combinations(library.tasks.values(), 2):
        assert same_words(one.question, other.question) < MOST_WORDS, (one.id, other.id)
        assert same_calls(one.references[0].steps, other.references[0].steps) < MOST_CALLS, (one.id, other.id)


@pytest.mark.slow
def test_no_question_names_a_service_or_a_tool_or_what_is_on_the_card(library: MadeLibrary) -> None:
    for task in library.tasks.values():
        assert named(task.question) is None, task.id
        assert "{" not in task.question
        assert "|" not in task.question
        lines = [text.text for scene in library.scenes(task) for text in scene.texts][2:]
        assert lines
        assert not [line for line in lines if line.casefold() in task.question.casefold()], task.id


def test_every_task_is_asked_by_somebody(library: MadeLibrary) -> None:
    roles = Counter(task.role for task in library.tasks.values())
    assert "" not in roles
    assert len(roles) >= min(12, len(library.tasks) // 2)


def test_the_answer_to_another_task_solves_none(library: MadeLibrary) -> None:
    assert not [(one.id, other.id) for one, other in permutations(library.tasks.values(), 2) if solves(other, one)]


def test_whoever_calls_all_tools_and_hands_in_what_they_said_solves_none(library: MadeLibrary) -> None:
    nothing = Evidence(answer="", workspace=Path("nowhere"))
    for task in library.tasks.values():
        heard = "\n".join(call.text for call in played(library, task).calls)
        for given in (None, {field.name: heard for field in task.fields}):
            findings = judge(task.fields, read(task.fields, heard, given), nothing)
            assert not all(finding.passed for finding in findings), task.id


def test_all_steps_but_the_last_do_not_say_the_answer(library: MadeLibrary) -> None:
    for task in library.tasks.values():
        *earlier, _ = task.references[0].steps
        texts = [call.text for call in played(library, task).calls]
        before = Held("\n".join(texts[: sum(map(len, earlier))]))
        told = [
            all(before.holds(fact) for fact in field.value.facts())
            for field in task.fields
            if not isinstance(field.value, Choice)
        ]
        assert not all(told), task.id


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    servers = ("nasa-mcp", "tmdb")
    one, again, other = (anyio.run(make, servers, 2, seed) for seed in (3, 3, 4))
    assert hashes(one) == hashes(again)
    assert dict(one.files()) != dict(other.files())


@pytest.mark.slow
@pytest.mark.anyio
async def test_playing_each_reference_through_a_server_scores_one_and_succeeds(tmp_path: Path) -> None:
    write_set(await anyio.to_thread.run_sync(made, SERVERS, SAMPLE, 1), tmp_path / "set")
    app = App(Settings.of(data=tmp_path / "data", sandbox="inprocess", tasks=tmp_path / "set"))
    async with app.lifespan():
        for id, task in app.library.tasks.items():
            card = await _card(app, id, task)
            assert card.success is True, (id, card.checks)
            assert card.average == 1, id


async def _card(app: App, id: str, task: Task) -> ScoreCard:
    seat = app.open_seat(profile=f"task:{id}")

    async def seat_of(context: object) -> Any:
        return seat

    async with Client(sdk_server(app.front, seat_of), mode="2026-07-28") as client:
        await client.call_tool("start_task", {"task_id": id})
        for number_of_step, step in enumerate(task.references[0].steps):
            async with anyio.create_task_group() as together:
                for call in step:
                    meta = cast("RequestParamsMeta", {HINT: number_of_step})
                    together.start_soon(partial(client.call_tool, expose(call.tool), call.arguments, meta=meta))
        await client.call_tool("submit", {"answer": task.answer})
        (run,) = app.store.runs(seat.id)
        return await app.score(run)


def test_errands_have_every_motif_and_none_is_longer_than_allowed() -> None:
    some = list(islice(errands(SERVERS, random.Random(1)), 400))
    assert {errand.motif for errand in some} == set(MOTIFS)
    assert {errand.together for errand in some if errand.motif == "join"} == {"more", "total", "road", "buys"}
    for errand in some:
        for want in (*errand.wants, *errand.either):
            assert len(want.path) <= LONGEST
        if errand.motif == "condition":
            one, other = errand.either
            assert one.ask.kind == other.ask.kind, "the type of what is handed in would tell which case it is"


def test_only_chosen_servers_are_used() -> None:
    for errand in islice(errands(("nasa-mcp", "tmdb"), random.Random(2)), 40):
        tools = [link.tool for want in errand.wants for link in want.path]
        assert {tool.partition("/")[0] for tool in tools} <= {"nasa-mcp", "tmdb"}


def test_answers_are_read_in_every_form() -> None:
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


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_models_words_are_taken_unless_they_name_a_service_or_lose_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = [
        "Ask NASA for whatever flew by when the films on my card came out.",
        "x",
        "Film night, card attached! Whatever whizzed past on the release days, tell me all about it.",
    ]
    scripted, sent = asker(monkeypatch, json.dumps({"questions": versions}))
    (task,) = (await make(("nasa-mcp", "tmdb"), 1, 5, ModelRewording(scripted))).tasks.values()
    (plain,) = (await make(("nasa-mcp", "tmdb"), 1, 5)).tasks.values()
    assert task.question == versions[2]
    assert plain.question in sent[1]
    assert task.fields == plain.fields
    assert task.references == plain.references


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_model_that_only_names_services_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted, _ = asker(monkeypatch, json.dumps({"questions": ["Use the movie database and NASA's feed for my card."]}))
    (task,) = (await make(("nasa-mcp", "tmdb"), 1, 5, ModelRewording(scripted))).tasks.values()
    assert named(task.question) is None


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.slow
def test_a_card_can_be_read_with_a_tool_when_there_is_one() -> None:
    (task,) = made(("nasa-mcp", "tmdb", "ocr"), 1, 5).tasks.values()
    by_eye, *_, with_tool = task.references
    assert [call.tool for call in with_tool.steps[0]] == ["ocr/perform_ocr"]
    assert with_tool.steps[1:] == by_eye.steps


@pytest.mark.parametrize("servers", [("nowhere",), ("ppt",), ("wiki",)])
def test_servers_that_give_no_tasks_are_said_so(servers: tuple[str, ...]) -> None:
    with pytest.raises(M3Error):
        anyio.run(make, servers, 5, 1)


def test_the_lexicon_speaks_of_tools_that_exist_and_of_asks_that_are_told() -> None:
    known = {tool.qualified for tool in load_catalog().ready.tools}
    for link in links():
        assert not link.tool or link.tool in known
        assert {ask.fact for ask in link.asks} <= set(link.take)
        assert not link.to or (link.noun and link.that and link.nouns), link.name
    for kind in kinds().values():
        assert kind.lookup is None or kind.lookup.tool in known
        assert {ask.fact for ask in kind.asks} <= set(kind.lookup.take if kind.lookup else ())
        assert wants(kind, SERVERS)
        for persona in kind.personas:
            assert persona.one
            assert all(named(sentence) is None for sentence in (*persona.one, *persona.many))
