"""The life of a run without any process: a client in memory, tools in this process, a real record."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation, PromptReference

from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.sandboxes.pool import Lease
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.commands.ranked import score_all
from m3bench.server.runs.profile_budget import Budget, budget_of
from m3bench.server.runs.resources import PICTURE, SCORECARD, TRAJECTORY
from m3bench.server.scorecard.pages.app_view import URI
from m3bench.server.settings import Settings
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.secret import Secret
from tests.pages import ROOT
from tests.server.runs.seats import seated
from tests.sets import hidden, write_set

pytestmark = pytest.mark.anyio

NUMBERS = [4, 8, 15, 16, 23, 42]


class Playing:
    """A client that sits at a benchmark."""

    def __init__(self, app: App, seat: Seat, client: Client) -> None:
        self.app, self.seat, self.client = app, seat, client

    async def call(self, name: str, /, **arguments: Any) -> Any:
        return await self.client.call_tool(name, arguments)

    async def told(self, name: str, /, **arguments: Any) -> str:
        """The text of a result."""
        result = await self.call(name, **arguments)
        return "\n".join(block.text for block in result.content if block.type == "text")

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """The text of a result that must be an error."""
        result = await self.call(name, **arguments)
        assert result.is_error, result
        return str(result.content[0].text)

    async def uris(self) -> list[str]:
        return [str(resource.uri) for resource in (await self.client.list_resources()).resources]


Play = Callable[..., AbstractAsyncContextManager[Playing]]


@pytest.fixture
def play(task_set: Path, tmp_path: Path) -> Play:
    """Opens a benchmark with some settings and sits down at it."""

    @asynccontextmanager
    async def opened(
        profile: str | None = None, library: Library | None = None, **settings: Any
    ) -> AsyncIterator[Playing]:
        given = {"tasks": task_set, "data": tmp_path / "data", "sandbox": "inprocess", **settings}
        app = App(Settings.of(**given), clients=KnownClients())
        app.library = library or app.library
        async with seated(app, profile) as (seat, client):
            yield Playing(app, seat, client)

    return opened


async def test_a_run_goes_from_start_to_score_and_shows_what_it_may(play: Play) -> None:
    async with play() as playing:
        assert await playing.uris() == []
        assert not playing.app.runs.touched, "who only looks around opens no record"
        opening = await playing.call("start_task", task_id="survey-1")
        assert opening.content[1].type == "image"
        assert "The picture is below and at ./media/note.png." in opening.content[0].text
        assert await playing.uris() == [PICTURE, TRAJECTORY]
        assert await playing.told("math__median", numbers=NUMBERS) == "15.5"
        assert await playing.told("math__mean", numbers=NUMBERS) == "18"
        assert await playing.told("math__subtract", minuend=18, subtrahend=15.5) == "2.5"
        picture = (await playing.client.read_resource(PICTURE)).contents[0]
        assert picture.mime_type == "image/png"
        course = (await playing.client.read_resource(TRAJECTORY)).contents[0]
        assert [call["tool"] for step in json.loads(course.text)["steps"] for call in step["calls"]] == [
            "math/median", "math/mean", "math/subtract",
        ]  # fmt: skip
        assert "Submitted and sealed" in await playing.told("submit", answer="They differ by 2.5.")
        assert await playing.uris() == [TRAJECTORY]
        card = await playing.told("score")
        assert "**solved** (1 of 1 checks)" in card
        assert await playing.told("score") == card, "a run is scored once"
        assert await playing.uris() == [TRAJECTORY, SCORECARD]
        assert "survey-1" in (await playing.client.read_resource(SCORECARD)).contents[0].text
        assert "sum-1" in await playing.told("start_task"), "the next task is one that was not submitted yet"


async def test_mistakes_are_told_what_to_do_next(play: Play) -> None:
    async with play() as playing:
        assert "call start_task first" in await playing.refused("submit", answer="27")
        assert await playing.refused("score")
        assert "There is no family 'surveys'. Did you mean survey?" in await playing.refused(
            "list_tasks", family="surveys"
        )
        assert await playing.refused("start_task", task_id="sum-2")
        assert "Invalid arguments" in await playing.refused("submit", answr="27")
        handle = (await playing.call("start_task", task_id="sum-1")).meta["m3bench/task"]["run"]
        assert "'sum-1' is still running on this seat" in await playing.refused("start_task")
        assert "belongs to another run" in await playing.refused("submit", answer="27", run="f" * 40)
        assert "survey-1" in await playing.told("start_task", task_id="survey-1", abandon=True)
        assert "belongs to another run" in await playing.refused("submit", answer="27", run=handle)
        assert "Submitted" in await playing.told("submit", answer="\ud800 2.5")
        assert "a run takes one answer" in await playing.refused("submit", answer="27")
        (latest, given_up) = playing.app.store.runs(playing.seat.id)
        assert (latest.state, latest.answer, given_up.state) == ("submitted", "? 2.5", "abandoned")


async def test_a_run_ends_at_its_limits_with_the_reason(play: Play) -> None:
    async with play(max_calls=1) as playing:
        await playing.call("start_task", task_id="sum-1")
        assert await playing.told("math__sum", numbers=[1, 2]) == "3"
        assert "has made its 1 calls: submit what you have" in await playing.refused("math__sum", numbers=[1])
    async with play(max_minutes=1e-9) as playing:
        await playing.call("start_task", task_id="sum-1")
        assert "minutes: submit what you have" in await playing.refused("math__sum", numbers=[1])


async def test_a_ranked_run_tells_the_client_that_it_was_scored_and_nothing_more(play: Play) -> None:
    async with play(ranked=True) as playing:
        await playing.call("start_task", task_id="sum-1")
        await playing.call("submit", answer="108")
        told = await playing.told("score")
        assert "average" not in told
        assert await playing.uris() == [TRAJECTORY]
        with pytest.raises(MCPError):
            await playing.client.read_resource(SCORECARD)
        (record,) = playing.app.store.runs()
        assert record.state == "scored"
        assert record.scorecard is not None


async def test_a_ranked_run_is_scored_when_it_is_submitted(play: Play) -> None:
    async with play(ranked=True) as playing:
        await playing.call("start_task", task_id="sum-1")
        told = await playing.told("submit", answer="108")
        assert told.endswith("On this seat: 1 started, 1 submitted, 0 abandoned; all of them are on record.")
        (record,) = playing.app.store.runs()
        assert (record.state, record.scorecard is not None) == ("scored", True)


async def test_a_ranked_task_is_attempted_once_even_when_it_was_given_up(play: Play) -> None:
    async with play(ranked=True) as playing:
        await playing.call("start_task", task_id="sum-1")
        once = "a ranked task is attempted once"
        assert once in await playing.refused("start_task", task_id="sum-1", abandon=True)
        await playing.call("start_task", abandon=True)
        assert once in await playing.refused("start_task", task_id="sum-1", abandon=True)
        told = await playing.told("submit", answer="They differ by 2.5.")
        assert "2 started, 1 submitted, 1 abandoned" in told
        assert once in await playing.refused("start_task")
        assert sorted(run.task for run in playing.app.store.runs()) == ["sum-1", "survey-1"]


async def test_a_server_of_one_task_offers_that_task_alone(play: Play) -> None:
    async with play(ranked=True, task="sum-1") as playing:
        assert await playing.told("list_tasks") == "Call start_task with a task_id to begin one.\n- sum-1"
        assert "offers the task 'sum-1' and no other" in await playing.refused("start_task", task_id="survey-1")
        assert "# Task sum-1" in await playing.told("start_task")
        await playing.call("submit", answer="108")
        assert "a ranked task is attempted once" in await playing.refused("start_task")


async def test_a_practice_task_can_be_played_again(play: Play) -> None:
    async with play() as playing:
        for _ in range(2):
            await playing.call("start_task", task_id="sum-1")
            await playing.call("submit", answer="108")
        assert len(playing.app.store.runs()) == 2


async def test_a_ranked_server_does_not_say_which_family_a_task_is_of(play: Play) -> None:
    async with play(ranked=True) as playing:
        listed = await playing.told("list_tasks")
        assert listed == "Call start_task with a task_id to begin one.\n- survey-1\n- sum-1"
        assert "cannot be chosen by family" in await playing.refused("list_tasks", family="sums")
        assert await playing.refused("start_task", family="sums") == await playing.refused("start_task", family="none")
        opening = await playing.call("start_task", task_id="sum-1")
        assert "family" not in opening.meta["m3bench/task"]


async def test_the_profile_of_a_ranked_server_is_its_operators(play: Play) -> None:
    async with play(ranked=True) as playing:
        said = set()
        for profile in ("task:sum-1", "task:nothing", "mini", "no such profile"):
            with pytest.raises(UserError) as caught:
                playing.app.open_seat(profile=profile)
            said.add(str(caught.value))
        assert len(said) == 1, "an answer that differs would tell which tasks there are"
        assert playing.app.open_seat(profile=playing.app.settings.profile).profile == "full"


async def test_nothing_of_a_secret_set_is_written_down_before_it_is_opened(play: Play, tmp_path: Path) -> None:
    secret = Secret(raw=b"0123456789abcdef0123456789abcdef")
    async with play(ranked=True) as playing:
        library = hidden(playing.app.library, secret)
    async with play(ranked=True, library=library) as playing:
        listed = await playing.told("list_tasks")
        assert "sum" not in listed
        await playing.call("start_task", task_id=secret.name("sum-1"))
        await playing.call("submit", answer="108")
        assert (await playing.told("score")).startswith("Sealed (2:")
        (record,) = playing.app.store.runs()
        assert (record.state, record.scorecard) == ("submitted", None)
    written = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert b"108" in written, "what was answered is there"
    for told in (b"answer_names", b"Add 4, 8, 15", b"sum-1", b"sums", secret.raw):
        assert told not in written, told
    settings = Settings.of(ranked=True, data=tmp_path / "data", sandbox="inprocess")
    app = App(settings, clients=KnownClients(), library=library)
    assert await score_all(app) == (1, 0)
    store = SqliteStore(tmp_path / "data")
    (record,) = store.runs()
    store.close()
    assert (record.state, (record.scorecard or {})["success"]) == ("scored", True)


async def test_whoever_leaves_has_abandoned_the_run(play: Play) -> None:
    async with play() as playing:
        await playing.call("start_task", task_id="sum-1")
        store = playing.app.store
        await playing.app.close_seat(playing.seat)
        assert [run.state for run in store.runs()] == ["abandoned"]
        await playing.app.close_seat(playing.seat)


@pytest.mark.parametrize("broken", [OSError("no space left on device"), PermissionError("read-only")])
async def test_a_workspace_that_cannot_be_made_is_not_the_agents_fault(
    play: Play, monkeypatch: pytest.MonkeyPatch, broken: OSError
) -> None:
    def put(self: Lease, name: str, data: bytes) -> None:
        raise broken

    async with play() as playing:
        monkeypatch.setattr(Lease, "put", put)
        assert f"The run's workspace cannot be made: {broken.strerror or broken}" in await playing.refused("start_task")
        assert playing.app.store.runs() == []
        monkeypatch.undo()
        assert "# Task" in await playing.told("start_task"), "the seat is free for another try"


async def test_a_folder_that_is_in_the_way_is_named(play: Play, tmp_path: Path) -> None:
    async with play() as playing:
        playing.app.store.runs()
        root = playing.app.pool.root
        if root.exists():
            root.rmdir()
        root.parent.mkdir(parents=True, exist_ok=True)
        root.write_text("in the way")
        assert "The run's workspace cannot be made" in await playing.refused("start_task")
        root.unlink()


async def test_prompts_and_completions_lead_to_tasks(play: Play) -> None:
    async with play() as playing:
        client = playing.client
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["run-task", "finish"]
        plain = (await client.get_prompt("run-task")).messages[0].content.text
        chosen = (await client.get_prompt("run-task", {"task_id": "sum-1"})).messages[0].content.text
        assert "call start_task, look" in plain
        assert "call start_task with task_id 'sum-1', look" in chosen
        with pytest.raises(MCPError):
            await client.get_prompt("no-such-prompt")
        found = await client.complete(
            PromptReference(type="ref/prompt", name="run-task"), {"name": "task_id", "value": "s"}
        )
        assert found.completion.values == ["survey-1", "sum-1"]
        assert (await client.list_resource_templates()).resource_templates == []
        assert "<html" in (await client.read_resource(URI)).contents[0].text
        for uri in (PICTURE, "m3bench://run/nothing", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


async def test_tools_are_found_by_what_they_do(play: Play) -> None:
    async with play(profile="retrieve") as playing:
        assert "find_tools finds the tools" in await playing.told("start_task", task_id="sum-1")
        query = {"query": "add numbers", "limit": 3}
        found, again = [json.loads(await playing.told("find_tools", **query)) for _ in range(2)]
        assert len(found) == 3
        assert found == again, "the same tools in the same order"
        assert "No tool fits" in await playing.told("find_tools", query="ζζζ")
        assert await playing.told("call_tool", name="math__sum", arguments={"numbers": [1, 2]}) == "3"


async def test_what_a_profile_cannot_solve_is_not_offered(play: Play, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "other")
    data = json.loads((folder / "tasks.json").read_text())
    survey, sums = data["tasks"]
    looking = {"steps": [[{"tool": "wiki/search", "arguments": {"query": "lighthouse"}}]]}
    sums = {**sums, "servers": ["wiki"], "references": [looking], "pictures": ["note.png", "note2.png"]}
    (folder / "pictures" / "note2.png").write_bytes((folder / "pictures" / "note.png").read_bytes())
    surveys = [{**survey, "id": f"survey-{number}"} for number in range(1, 43)]
    (folder / "tasks.json").write_text(json.dumps({**data, "tasks": [*surveys, sums]}))
    async with play(tasks=folder, profile="task:survey-1") as playing:
        assert "- survey: survey-1 to survey-42" in await playing.told("list_tasks"), (
            "many tasks have a line per family"
        )
        assert "does not show" in await playing.refused("start_task", task_id="sum-1")
        assert "does not show" in await playing.refused("start_task", family="sums")
    async with play(tasks=folder) as playing:
        opening = await playing.told("start_task", family="sums")
        assert "The pictures are below and at ./media/note.png, ./media/note2.png." in opening


@pytest.mark.parametrize(
    ("client", "structured", "tools"),
    [("gemini-cli-mcp-client", True, "loaded"), ("claude-code", False, "by search"), ("new", False, "not known")],
)
async def test_every_answer_is_complete_as_text_and_has_structure_only_where_it_hides_nothing(
    play: Play, client: str, structured: bool, tools: str
) -> None:
    async with play() as playing:
        info = Implementation(name=client, version="1")

        async def seat_of(context: object) -> Seat:
            return playing.seat

        async with Client(sdk_server(playing.app.front, seat_of), mode="legacy", client_info=info) as other:
            tasks = await other.call_tool("list_tasks", {})
            opening = await other.call_tool("start_task", {"task_id": "sum-1"})
            await other.call_tool("math__sum", {"numbers": NUMBERS})
            submitted = await other.call_tool("submit", {"answer": "108"})
            scored = await other.call_tool("score", {})
        assert opening.structured_content is None, "a picture must not be hidden"
        for result, words in ((tasks, "sum-1"), (submitted, "Call score next"), (scored, "**average 1.000**")):
            assert words in result.content[0].text
            assert (result.structured_content is not None) is (structured and result is not tasks)
        assert scored.meta["m3bench/card"]["metrics"]["average"] == 1
        assert scored.content[0].text.startswith("## m3bench: sum-1")
        assert scored.meta["m3bench/card"]["client"]["tools"] == tools
        assert ("its model searches for tools" in scored.content[0].text) is (tools == "by search")


async def test_an_empty_text_is_as_good_as_leaving_an_argument_out(play: Play) -> None:
    """Some frameworks have their models fill in every parameter."""
    async with play() as playing:
        assert "sum-1" in await playing.told("list_tasks", family="")
        assert "sum-1" in await playing.told("start_task", task_id="sum-1", family="", abandon=False)
        await playing.told("math__sum", numbers=NUMBERS)
        assert "Invalid arguments" in await playing.refused("submit", answer="108", speed="")
        assert "Submitted" in await playing.told("submit", answer="108", fields={}, run="")
        assert "**average 1.000**" in await playing.told("score", run="")


async def test_the_whole_list_of_tasks_is_short(tmp_path: Path) -> None:
    app = App(Settings.of(data=tmp_path / "data", sandbox="inprocess"))
    async with seated(app) as (_, client):
        said = (await client.call_tool("list_tasks", {})).content[0].text
    assert len(said) < 2500
    for task in app.library.tasks.values():
        assert task.family in said


@pytest.mark.parametrize("profile", ["full", "wide", "compact", "mini", "retrieve", "max-scale"])
def test_the_documented_budget_of_a_profile_is_true(profile: str) -> None:
    found = budget_of(profile, load_catalog().ready, Library())
    row = next(line for line in (ROOT / "docs" / "proxy.md").read_text("utf-8").splitlines() if f"`{profile}`" in line)
    tools, tokens, tasks = row.split("|")[2:5]
    assert (tools, tasks) == (f" {found.tools} ", f" {_of(found, profile)} ")
    assert abs(int(tokens.strip(" k")) * 1000 - found.tokens) < 1500


def _of(found: Budget, profile: str) -> str:
    return f"{found.tasks} of {found.of}" if profile == "full" else str(found.tasks)


async def test_a_run_is_on_record_with_what_its_tools_cost(play: Play) -> None:
    async with play(profile="task:sum-1") as playing:
        await playing.call("start_task", task_id="sum-1")
        latest = playing.app.runs.latest(playing.seat)
        assert latest is not None
        found = latest.manifest["budget"]
        assert found == {"tools": 26, "tokens": found["tokens"], "tasks": 2, "of": 2}
        assert 800 < found["tokens"] < 4000
