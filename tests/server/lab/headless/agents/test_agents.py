"""The baseline agents, played: a ceiling that is 1, a floor that is 0, and nothing to be had by tricks."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.process import HostProcess, ProcessBackend
from m3bench.server.lab.headless.agents.canary import NOTHING
from m3bench.server.lab.headless.agents.idle import draw
from m3bench.server.lab.headless.agents.oracle import INJECTION, VAGUE, muddle
from m3bench.server.lab.headless.agents.player import AgentCell, by_family, next_for, play_cells, play_plan
from m3bench.server.lab.headless.agents.registry import AGENTS, find_agents
from m3bench.server.lab.headless.plan import RunChoice, RunPlan, make_plan
from m3bench.server.lab.results.resultset import DATA, Sample
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.trajectory import Call
from tests.sets import write_set

TASKS = ("barcode_lookup-1", "hugeicons-1")
"""Quick ones, with steps of several calls."""

TEMPLATE = 0.65
"""What playing another task in place of this one may reach by effect on any single task."""
FLOOR = 0.35
"""What an agent that knows nothing may reach on one task by luck: a call or two that any solution has."""

Played = dict[str, tuple[Sample, ScoreCard | None]]


def play(folder: Path, agent: str, *, seed: int = 0, **fields: Any) -> Played:
    """What an agent gets, by task."""
    given = {"sandbox": "inprocess", "profile": "standard", "seed": seed, **fields}
    plan = make_plan(RunChoice(agent=agent, kind="baseline", folder=folder, **given))
    found: list[tuple[Sample, ScoreCard | None]] = []
    with plan.begin():
        anyio.run(play_plan, plan, AGENTS[agent], lambda sample, card: found.append((sample, card)))
    assert {(sample.task, sample.repeat) for sample, _ in found} == set(plan.todo)
    assert len(found) == len(plan.todo)
    return {sample.task: (sample, card) for sample, card in found}


def test_a_family_is_played_in_one_place_until_that_place_is_done(tmp_path: Path) -> None:
    choice = RunChoice(agent="null", kind="baseline", folder=tmp_path, profile="standard", limit=56, parallel=3)
    plan = make_plan(choice)
    parts = by_family(plan)
    families = [{plan.task(attempt).family for attempt in part} for part in parts]
    assert sum(map(len, families)) == len(set().union(*families)) == 28
    assert [next_for(0, parts) for _ in range(len(parts[0]))] == [
        attempt for attempt in plan.todo if plan.task(attempt).family in families[0]
    ]
    left = [attempt for part in parts for attempt in part]
    assert {next_for(0, parts) for _ in left} == set(left)
    assert next_for(0, parts) is None


@pytest.mark.slow
def test_agents_of_one_command_share_sandboxes_and_one_that_fails_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Path] = []
    launch = ProcessBackend.launch

    async def counted(backend: ProcessBackend, workspace: Path) -> HostProcess:
        started.append(workspace)
        return await launch(backend, workspace)

    monkeypatch.setattr(ProcessBackend, "launch", counted)
    found: dict[str, list[float | None]] = {}
    cells = []
    for name in ("null", "oracle", "retry", "oracle-serial"):
        plan = make_plan(
            RunChoice(agent=name, kind="baseline", folder=tmp_path / name, profile="standard", ids=TASKS, parallel=1)
        )

        def done(sample: Sample, card: ScoreCard | None, name: str = name) -> None:
            if name == "retry":
                raise UserError("no room")
            found.setdefault(name, []).append(None if card is None else card.average)

        cells.append(AgentCell(plan=plan, agent=AGENTS[name], done=done, around=partial(_forgiving, plan)))
    anyio.run(play_cells, cells)
    assert found == {"null": [0, 0], "oracle": [1, 1], "oracle-serial": found["oracle-serial"]}
    assert len(started) <= 2, "the sandbox of the cell that failed may not be used again"


@contextmanager
def _forgiving(plan: RunPlan) -> Iterator[None]:
    with suppress(UserError), plan.begin():
        yield


def recorded(folder: Path) -> dict[str, tuple[RunRecord, list[CallRecord]]]:
    """Runs and calls of a result set, by task."""
    store = SqliteStore(folder / DATA)
    try:
        return {run.task: (run, store.calls(run.id)) for run in store.runs()}
    finally:
        store.close()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of an agent's results on a few tasks, played once."""
    folders: dict[str, Path] = {}

    def of(agent: str) -> Path:
        if agent not in folders:
            folders[agent] = tmp_path_factory.mktemp(agent)
            cards[agent] = play(folders[agent], agent, ids=TASKS)
        return folders[agent]

    return of


cards: dict[str, Played] = {}


@pytest.mark.all_sample(4)
@pytest.mark.sample(1)
@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_gets_every_task_scored_within_its_bounds(agent: str, results: Callable[[str], Path]) -> None:
    folder = results(agent)
    for task in TASKS:
        sample, card = cards[agent][task]
        assert card is not None, sample.reason
        average = card.average
        assert average is not None
        match agent:
            case "oracle" | "oracle-prose" | "rehearse" | "careful" | "stubborn":
                assert set(card.numbers.values()) == {1.0}
            case "sibling" | "generic" | "dump":
                assert average < TEMPLATE
            case "oracle-serial":
                assert 0.8 < average < 1
                assert card.metrics["recall"] == card.metrics["precision"] == 1
            case "retry":
                assert card.metrics["recall"] == 1
                assert 0.9 < average < 1
            case "lookalike":
                assert 0.5 < average <= 1
            case "missing":
                assert 0.6 < average < 0.9
            case "half":
                assert 0.4 < average < 0.75
            case "wrong-entity" | "wrong-tools":
                assert 0 < average < TEMPLATE
            case "sloppy" | "injector":
                assert 0.1 < average < 0.95
            case "blind" | "threshold":
                assert 0 <= average <= 1
            case "null":
                assert set(card.metrics.values()) == {0.0}
            case _:
                assert average < FLOOR
        if agent not in ("blind", "threshold"):
            perfect = ("rehearse", "retry", "lookalike", "careful", "stubborn")
            assert card.success is (agent.startswith("oracle") or agent in perfect)
    assert {call.client.split()[0] for _, calls in recorded(folder).values() for call in calls} == {agent}


@pytest.mark.sample(2)
@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_seed_makes_the_same_calls(agent: str, tmp_path: Path) -> None:
    task_set = write_set(tmp_path / "set")
    asked: list[dict[str, list[object]]] = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        play(folder, agent, seed=5, tasks=task_set, profile="task")
        made = recorded(folder)
        asked.append({task: [(call.tool, call.arguments) for call in calls] for task, (_, calls) in made.items()})
        asked[-1] |= {task: [*asked[-1][task], run.answer] for task, (run, _) in made.items()}
    for task, calls in asked[0].items():
        assert sorted(map(str, calls)) == sorted(map(str, asked[1][task]))


def test_other_seeds_and_repeats_throw_other_dice(tmp_path: Path) -> None:
    task_set = write_set(tmp_path / "set")
    answers = set()
    for seed in range(3):
        play(tmp_path / str(seed), "random", seed=seed, tasks=task_set, profile="task", ids=("sum-1",))
        answers |= {str([call.arguments for call in recorded(tmp_path / str(seed))["sum-1"][1]])}
    assert len(answers) == 3


@pytest.mark.slow
def test_words_to_the_graders_move_no_number(results: Callable[[str], Path]) -> None:
    plain, folder = recorded(results("sloppy")), results("injector")
    talking = recorded(folder)
    for task in TASKS:
        one, other = cards["sloppy"][task][1], cards["injector"][task][1]
        assert one is not None
        assert other is not None
        assert one.metrics == other.metrics
        assert [check.passed for check in one.checks] == [check.passed for check in other.checks]
        assert talking[task][0].answer == f"{VAGUE}\n\n{INJECTION}"
        assert INJECTION not in str(plain[task])
    assert any(INJECTION in str(call.arguments) for _, calls in talking.values() for call in calls)


@pytest.mark.slow
def test_the_canary_finds_nothing_and_looks_in_many_places(results: Callable[[str], Path]) -> None:
    for run, calls in recorded(results("canary")).values():
        assert (run.answer or "").startswith(NOTHING), run.answer
        assert len(calls) >= 20
        assert any("passwd" in str(call.arguments) or "tasks.json" in str(call.arguments) for call in calls)


def test_the_canary_tells_when_there_is_something_to_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of tasks is shown to everybody: were its words a secret, the canary would sing."""
    monkeypatch.setattr("m3bench.server.lab.headless.agents.canary.TELLING", ("Call start_task with a task_id",))
    play(tmp_path / "out", "canary", tasks=write_set(tmp_path / "set"), profile="task", ids=("sum-1",))
    answer = recorded(tmp_path / "out")["sum-1"][0].answer
    assert answer == "Found 'Call start_task with a task_id' in list_tasks."


def test_serial_calls_are_steps_of_their_own_and_parallel_ones_are_not(results: Callable[[str], Path]) -> None:
    for task in TASKS:
        reference = [len(step) for step in Library().task(task).references[0].steps]
        for agent, sizes in (("oracle", reference), ("oracle-serial", [1] * sum(reference))):
            results(agent)
            card = cards[agent][task][1]
            assert card is not None
            assert [len(step) for step in card.alignment.actual_steps] == sizes
            assert set(card.evidence[1:]) <= {"dataflow", "arrival"}, "no hints are given"
            assert card.range_of("average")[1] == 1.0


@pytest.mark.sample(27)
@pytest.mark.parametrize("tool", load_catalog().ready.tools, ids=lambda tool: tool.qualified)
def test_random_arguments_fit_the_schema(tool: Tool) -> None:
    for seed in range(5):
        tool.check(draw(tool, random.Random(seed), ["one", "two"], ["./media/a.png"]))


def test_mistakes_leave_the_end_out_and_keep_the_rest_in_sight() -> None:
    calls = [Call(tool=f"math/t{number}", arguments={"a": number, "b": "x"}) for number in range(10)]
    made = muddle(calls, random.Random(1), "note")
    assert {call.tool for call in made} <= {call.tool for call in calls[:7]}
    assert made != calls[:7]


def test_a_call_that_fails_through_no_fault_of_the_agent_makes_the_sample_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from m3bench.server.runs.run import Run
    from m3bench.tasks.errors import SandboxError

    async def broken(self: Run, tool: str, arguments: bytes, seconds: float) -> Any:
        raise SandboxError("The host was killed.")

    monkeypatch.setattr(Run, "call", broken)
    found = play(tmp_path / "out", "oracle", tasks=write_set(tmp_path / "set"), profile="task", ids=("sum-1",))
    sample, card = found["sum-1"]
    assert (sample.state, card) == ("void", None)
    assert sample.reason == (
        "1 call was lost through no fault of the agent: 1 by the sandbox. The benchmark's sandbox failed, not your "
        "call: The host was killed. You may call the tool again."
    )


def test_a_tool_that_crashes_makes_the_sample_void_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from m3bench.sandboxes.backends import inprocess
    from m3bench.sandboxes.toolserver import ToolServer

    math = ToolServer("math")

    @math.tool
    def sum(numbers: list[float]) -> float:
        raise KeyError("no such column")

    monkeypatch.setattr(inprocess, "load", lambda server: math)
    found = play(tmp_path / "out", "oracle", tasks=write_set(tmp_path / "set"), profile="task", ids=("sum-1",))
    sample, card = found["sum-1"]
    assert (sample.state, sample.fault, card) == ("void", "tool", None)
    assert "math/sum crashed: KeyError: 'no such column'" in sample.reason


def test_agents_are_found_by_name() -> None:
    assert [agent.name for agent in find_agents(["all"])] == list(AGENTS)
    assert [agent.name for agent in find_agents(["null", "oracle", "null"])] == ["oracle", "null"]
    with pytest.raises(UserError, match="oracle-serial"):
        find_agents(["orakel"])


def test_process_sandboxes_serve_run_after_run_and_files_go_with_their_run(tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    found = play(tmp_path / "out", "oracle", tasks=tasks, profile="task", sandbox="process", parallel=1, repeats=3)
    assert all(card is not None and card.average == 1 for _, card in found.values())
    folders = list((tmp_path / "out" / DATA / "runs").iterdir())
    assert len(folders) == 6
    for folder in folders:
        assert [path.name for path in (folder / "workspace" / "media").iterdir()] == ["note.png"]
    assert not list((tmp_path / "out" / DATA / "workspaces").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("limit", [9, pytest.param(28, marks=pytest.mark.night)])
def test_the_oracle_is_right_on_a_task_of_every_family(limit: int, tmp_path: Path) -> None:
    """Of nine families, and of all at night: the set's own test plays a task of each by its references."""
    found = play(tmp_path, "oracle", limit=limit)
    wrong = {
        task: (sample.reason, card and json.dumps(card.metrics), card and card.checks)
        for task, (sample, card) in found.items()
        if card is None or set(card.metrics.values()) != {1.0} or card.success is not True
    }
    assert wrong == {}
